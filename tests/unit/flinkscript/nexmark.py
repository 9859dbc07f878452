"""NEXMark as a script of Flink: tables of files, and each of the project's queries as an INSERT."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

QUERIES = Path(__file__).parents[3] / "benchmarks" / "nexmark" / "models" / "queries"

TABLES: Mapping[str, str] = {
    "person": "id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING, "
    "`dateTime` TIMESTAMP(3), extra STRING, WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND",
    "auction": "id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, "
    "`dateTime` TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING, "
    "WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND",
    "bid": "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3), "
    "extra STRING, WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND",
    "side_input": "key BIGINT, `value` STRING",
}


def script(mode: str, data: str = "data") -> str:
    """The benchmark as a script.

    Args:
        mode: `batch` or `streaming`.
        data: the folder of the events, a JSON file for each table.
    """
    made = [f"SET 'execution.runtime-mode' = '{mode}';", "SET 'table.local-time-zone' = 'UTC';"]
    for name, columns in TABLES.items():
        options = f"'connector' = 'filesystem', 'path' = '{data}/{name}.json', 'format' = 'json'"
        made.append(f"CREATE TABLE {name} (\n  {columns}\n) WITH ({options});")
    made += [f"CREATE TABLE {name} WITH ('connector' = 'blackhole') AS\n{text};" for name, text in queries().items()]
    return "\n\n".join(made) + "\n"


def queries() -> dict[str, str]:
    """Name -> Flink's text of the project's queries."""
    found = {}
    for path in sorted(QUERIES.glob("q*.sql")):
        lines = path.read_text(encoding="utf-8").splitlines()
        text = "\n".join(line for line in lines if not line.startswith(("{{ config", "--")))
        for name in TABLES:
            text = text.replace("{{ ref('" + name + "') }}", name)
        found[path.stem] = text.strip()
    return found
