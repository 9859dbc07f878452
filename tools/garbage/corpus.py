"""The statements that mutants are made of: those of the golden data and of the gallery, and some of every construct."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.integration.gallery import examples
from tests.lib.macros import macros

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "golden" / "data"


@dataclass(frozen=True)
class Sample:
    """A statement.

    Attributes:
        dialect: what it is written in.
        schema: table -> column -> Spark type; empty where nobody knows.
    """

    sql: str
    dialect: str
    schema: dict[str, dict[str, str]] = field(default_factory=dict, hash=False)


@lru_cache
def corpus() -> tuple[Sample, ...]:
    """All statements, always in the same order."""
    return (*_golden(), *_gallery(), *_own())


def _golden() -> list[Sample]:
    found = []
    for file in sorted(DATA.glob("*.json")):
        dialect = file.stem.partition("_")[0]
        content = json.loads(file.read_text(encoding="utf-8"))
        for case in content.get("cases", ()):
            tables = [{"name": t, **content["tables"][t]} if isinstance(t, str) else t for t in case["tables"]]
            schema = {table["name"]: _spark_types(table["columns"], dialect) for table in tables}
            found += [Sample(sql, dialect, schema) for sql in (case["sql"], *(case.get("setup") or ()))]
        of_tables = content.get("expressions", {})
        if isinstance(of_tables, list):  # of one table, whose rows differ by the zone
            of_tables, content["tables"] = {"moments": of_tables}, {"moments": {"columns": content["columns"]}}
        for table, expressions in of_tables.items():
            schema = {table: _spark_types(content["tables"][table]["columns"], dialect)}
            found += [Sample(f"SELECT {each['sql']} AS v FROM {table}", dialect, schema) for each in expressions]
    return found


def _spark_types(columns: list[list[str]], dialect: str) -> dict[str, str]:
    """The columns' types as Spark names them; near enough for statements that make no sense."""
    types = {}
    for name, type_ in columns:
        word = type_.lower().removesuffix(" not null")
        if word.startswith("timestamp"):
            word = "timestamp_ntz" if dialect == "flink" and "ltz" not in word else "timestamp"
        types[name] = {"varchar": "string", "integer": "int"}.get(re.sub(r"\(.*", "", word), word)
    return types


def _gallery() -> list[Sample]:
    found = []
    for text in (example.text(door) for example in examples() for door in example.doors):
        dialects: list[str] = []

        def config(*_: Any, dialects: list[str] = dialects, **given: Any) -> str:
            dialects.append({**given.get("meta", {}), **given}.get("sql_dialect", "spark"))
            return ""

        def window_sql(dialect: str = "spark", *_: Any, caller: Any, dialects: list[str] = dialects, **__: Any) -> str:
            dialects.append(dialect)
            return str(caller())

        sql = macros().render(text, config=config, window_sql=window_sql)
        found.append(Sample(sql.strip(), next((d for d in dialects if d != "spark"), "spark")))
    return found


_TABLES = {
    "t": {"k": "string", "ts": "timestamp", "x": "int", "price": "decimal(10,2)", "d": "double", "seq": "bigint"},
    "u": {"k": "string", "ts": "timestamp_ntz", "x": "int", "name": "string"},
}


def _own() -> list[Sample]:
    return [Sample(sql, dialect, _TABLES) for dialect, statements in _STATEMENTS.items() for sql in statements]


_STATEMENTS = {
    "spark": (
        "SELECT * FROM << tumble(t, ts, '10 minutes') >>",
        "SELECT window_start, sum(x) FROM << hop((SELECT * FROM t WHERE x << 2 > 1), ts, '1 minute', '1 hour') >> "
        "GROUP BY window_start",
        "SELECT k, window_end, count(DISTINCT x), avg(price) FROM cumulate(t, ts, '5 minutes', '1 hour', '-1 minute') "
        "GROUP BY GROUPING SETS ((k, window_start, window_end), (window_start, window_end))",
        "SELECT * FROM session(t PARTITION BY (k, x), ts, INTERVAL '1' HOUR, max_duration => '4 hours', "
        "close_on => x > 3 AND k = 'end')",
        "SELECT *, sum(x) OVER (PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN 10s OPEN PRECEDING AND 1s PRECEDING "
        "MAXSIZE 5 EXCLUDE CURRENT_TIME INSTANCE_NOT_IN_WINDOW) FROM t",
        "SELECT count(x) OVER w, max(x) FILTER (WHERE x > 1) OVER w FROM t WINDOW w AS (UNION u, (SELECT * FROM u) "
        "PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN 1d PRECEDING AND CURRENT ROW)",
        "SELECT a.k, b.name FROM t AS a LAST JOIN u AS b ORDER BY b.ts ON a.k = b.k AND b.ts <= a.ts",
        "WITH w AS (SELECT * FROM tumble(t, ts, '1 hour')) SELECT L.k FROM w AS L JOIN w AS R ON L.k = R.k AND "
        "L.window_start = R.window_start AND L.window_end = R.window_end",
        "INSERT INTO target SELECT TUMBLE_START(ts, INTERVAL '1' DAY), TUMBLE_END(ts, INTERVAL '1' DAY), count(*) "
        "FROM t GROUP BY TUMBLE(ts, INTERVAL '1' DAY), k HAVING count(*) > 1",
        "CREATE TABLE a AS SELECT /*+ BROADCAST(t) */ * FROM HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '30' SECONDS, "
        "INTERVAL '1' MINUTE); SELECT 1; MERGE INTO a USING (SELECT * FROM tumble(t, ts, '1 day')) AS s "
        "ON a.k = s.k WHEN MATCHED THEN UPDATE SET *",
        "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY window_start, window_end ORDER BY x DESC) AS n FROM "
        "tumble(TABLE t, ts, interval '1' day)) WHERE n <= 3",
    ),
    "flink": (
        "SELECT TUMBLE_START(ts, INTERVAL '10' MINUTE), SUM(x) FROM t GROUP BY TUMBLE(ts, INTERVAL '10' MINUTE), k",
        "SELECT k, CAST(x AS DECIMAL(10, 2)), TIMESTAMPDIFF(MINUTE, ts, ts + INTERVAL '1' DAY), x / 2, MOD(x, 3), "
        "ARRAY[1, x][1], MAP['a', 1]['a'], CASE WHEN x > 1 THEN 'a' ELSE U&'\\0041' END, EXTRACT(DAY FROM ts), "
        "CEIL(ts TO HOUR), DATE_FORMAT(ts, 'yyyy-MM-dd') FROM t",
        "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM t) WHERE rn = 1",
        "SELECT L.k FROM (SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES))) L LEFT JOIN "
        "(SELECT * FROM TABLE(TUMBLE(TABLE u, DESCRIPTOR(ts), INTERVAL '5' MINUTES))) R ON L.k = R.k AND "
        "L.window_start = R.window_start AND L.window_end = R.window_end",
    ),
    "openmldb": (
        "SELECT id, sum(x) OVER w, top(x, 3) OVER w, sum_cate(x, k) OVER w, lag(x, 1) OVER w, "
        "max_where(x, x > 2) OVER w2 FROM t WINDOW w AS (UNION u PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN 3s "
        "PRECEDING AND CURRENT ROW MAXSIZE 10 EXCLUDE CURRENT_ROW), w2 AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 "
        "PRECEDING AND 1 OPEN PRECEDING)",
        "SELECT t.k, u1.name, u2.name FROM t LAST JOIN u AS u1 ORDER BY u1.ts ON t.k = u1.k LAST JOIN u AS u2 ON "
        "t.x = u2.x WHERE t.x > 1 LIMIT 10",
    ),
    "sqlstream": (
        "SELECT STREAM FLOOR(t.ROWTIME TO HOUR) AS \"h\", STEP(t.ROWTIME BY INTERVAL '5' MINUTE), COUNT(*) FROM t "
        "GROUP BY FLOOR(t.ROWTIME TO HOUR), STEP(t.ROWTIME BY INTERVAL '5' MINUTE), \"k\"",
        "SELECT STREAM *, AVG(x) OVER w, FIRST_VALUE(x) OVER (PARTITION BY k ORDER BY \"ts\" RANGE INTERVAL '1' HOUR "
        "PRECEDING) FROM t WINDOW w AS (PARTITION BY k RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW)",
    ),
}
