"""`dbt build` of a project without windows: dbt-sparkstream beside dbt-spark, on one warm server, in turns.

.venv/bin/python -m benchmarks.dbt_build [--models 20] [--runs 5]
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from dbt.adapters.sparkstream.server import Server, ServerConfig

PROJECT = {"name": "plain", "version": "1.0", "config-version": 2, "profile": "plain", "model-paths": ["models"]}


def make_project(folder: Path, models: int, port: int) -> None:
    """A project of views and small tables, each with a test, and a profile with both adapters."""
    (folder / "models").mkdir(parents=True)
    tests = []
    for i in range(models):
        kind = "table" if i % 4 == 0 else "view"
        upstream = f"{{{{ ref('m{i - 1}') }}}}" if i else "range(100)"
        (folder / "models" / f"m{i}.sql").write_text(
            f"{{{{ config(materialized='{kind}') }}}}\nselect id, id % 7 as k from {upstream}\n", encoding="utf-8"
        )
        tests.append({"name": f"m{i}", "columns": [{"name": "id", "data_tests": ["not_null"]}]})
    (folder / "models" / "schema.yml").write_text(json.dumps({"version": 2, "models": tests}), encoding="utf-8")
    (folder / "dbt_project.yml").write_text(json.dumps(PROJECT), encoding="utf-8")
    outputs = {name: output(name, f"plain_{name}", port) for name in ("spark", "sparkstream")}
    profiles = {"plain": {"target": "spark", "outputs": outputs}}
    (folder / "profiles.yml").write_text(json.dumps(profiles), encoding="utf-8")


def output(adapter: str, schema: str, port: int) -> dict[str, object]:
    """What a profile says of an adapter on the server."""
    target = {"method": "thrift", "host": "127.0.0.1", "port": port, "auth": "NOSASL", "user": "dbt", "threads": 1}
    # dbt-spark waits whole seconds between two looks at a statement; one second is the least it takes.
    return {**target, "type": adapter, "schema": schema, "poll_interval": 1}


def run(folder: Path, *command: str) -> float:
    """Seconds of one dbt command in a process of its own, as people run it."""
    dbt = str(Path(sys.executable).with_name("dbt"))
    start = time.perf_counter()
    done = subprocess.run(
        [dbt, "--quiet", *command, "--profiles-dir", "."], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise click.ClickException(done.stdout + done.stderr)
    return time.perf_counter() - start


@click.command(help=__doc__)
@click.option("--models", default=20, show_default=True, help="How many models the project has.")
@click.option(
    "--runs", default=5, show_default=True, help="How often each adapter builds it; the first run is not counted."
)
@click.option("--port", default=10990, show_default=True, help="Port of the server that is started for this.")
def main(models: int, runs: int, port: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        server = Server(ServerConfig(folder=Path(scratch) / "server", port=port, connect_port=None))
        server.start()
        try:
            folder = Path(scratch) / "plain"
            make_project(folder, models, port)
            seconds: dict[str, list[float]] = {"spark": [], "sparkstream": []}
            for turn in range(runs + 1):
                for target, taken in seconds.items():
                    value = run(folder, "build", "--target", target, "--target-path", f"target_{target}")
                    if turn:
                        taken.append(value)
            medians = {target: statistics.median(taken) for target, taken in seconds.items()}
            for target, taken in seconds.items():
                click.echo(f"{target:12} median {medians[target]:6.2f} s of {', '.join(f'{s:.2f}' for s in taken)}")
            click.echo(f"ratio        {medians['sparkstream'] / medians['spark']:.3f}")
        finally:
            server.stop()


if __name__ == "__main__":
    main()
