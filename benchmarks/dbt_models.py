"""`dbt parse` and `dbt compile` of many models: dbt-sparkstream, with windows in some, beside dbt-spark, with none.

    .venv/bin/python -m benchmarks.dbt_models [--models 1000] [--windows 300] [--runs 3]

Both read one table on one warm server. The models with windows stand in three equal parts: macros, `<< ... >>` in Spark
SQL, and Flink SQL. Prints the seconds of each command in a process of its own, in turns, and the ratio of the medians.
`parse` reads every model anew (`--no-partial-parse`); `parse, nothing changed` finds all models as they were.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path

import click
from benchmarks.dbt_build import PROJECT, output, run

from dbt.adapters.sparkstream.server import Server, ServerConfig

PLAIN = "select id, k, max(ts) as last_ts, count(*) as n from {{{{ ref('bid') }}}} where id % {i} = 0 group by id, k\n"
WINDOWS = (
    "select window_start, window_end, k, count(*) as n, sum(v) as v\n"
    "from {{{{ tumble(ref('bid'), 'ts', '{i} minutes') }}}}\ngroup by window_start, window_end, k\n",
    "select window_start, window_end, k, count(*) as n, max(v) as v\n"
    "from << hop({{{{ ref('bid') }}}}, ts, '1 minute', '{i} minutes') >>\ngroup by window_start, window_end, k\n",
    "{{{{ config(sql_dialect='flink') }}}}\nSELECT window_start, window_end, k, COUNT(*) AS n, AVG(v) AS v\n"
    "FROM TABLE(CUMULATE(TABLE {{{{ ref('bid') }}}}, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '{i}' MINUTE))\n"
    "GROUP BY window_start, window_end, k\n",
)
BID = "select id, id % 7 as k, id % 100 as v, timestamp_seconds(id) as ts from range(1000)\n"
COMMANDS = {
    "parse": ["parse", "--no-partial-parse"],
    "parse, nothing changed": ["parse"],
    "compile": ["compile"],
}


def make_project(folder: Path, adapter: str, models: int, windows: int, port: int) -> None:
    """A project of views; the first `windows` of `models` have windows, if the adapter knows them."""
    (folder / "models").mkdir(parents=True)
    (folder / "models" / "bid.sql").write_text("{{ config(materialized='table') }}\n" + BID, encoding="utf-8")
    for i in range(models):
        text = WINDOWS[i % len(WINDOWS)] if i < windows else PLAIN
        (folder / "models" / f"m{i}.sql").write_text(text.format(i=2 + i % 58), encoding="utf-8")
    (folder / "dbt_project.yml").write_text(json.dumps(PROJECT), encoding="utf-8")
    profiles = {"plain": {"target": "dev", "outputs": {"dev": output(adapter, f"many_{adapter}", port)}}}
    (folder / "profiles.yml").write_text(json.dumps(profiles), encoding="utf-8")


@click.command(help=__doc__)
@click.option("--models", default=1000, show_default=True, help="How many models each project has.")
@click.option("--windows", default=300, show_default=True, help="How many of dbt-sparkstream's have windows.")
@click.option("--runs", default=3, show_default=True, help="How often each command runs; one more warms up.")
@click.option("--port", default=10991, show_default=True, help="Port of the server that is started for this.")
def main(models: int, windows: int, runs: int, port: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        server = Server(ServerConfig(folder=Path(scratch) / "server", port=port, connect_port=None))
        server.start()
        try:
            folders = {name: Path(scratch) / name for name in ("spark", "sparkstream")}
            make_project(folders["spark"], "spark", models, 0, port)
            make_project(folders["sparkstream"], "sparkstream", models, windows, port)
            for folder in folders.values():
                run(folder, "run", "--select", "bid")
            for title, command in COMMANDS.items():
                seconds: dict[str, list[float]] = {name: [] for name in folders}
                for turn in range(runs + 1):
                    for name, folder in folders.items():
                        taken = run(folder, *command)
                        if turn:
                            seconds[name].append(taken)
                medians = {name: statistics.median(taken) for name, taken in seconds.items()}
                words = ", ".join(f"{name} {value:.2f} s" for name, value in medians.items())
                click.echo(f"{title}: {words}, ratio {medians['sparkstream'] / medians['spark']:.2f}")
        finally:
            server.stop()


if __name__ == "__main__":
    main()
