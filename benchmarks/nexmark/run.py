"""Builds the dbt project on generated events, compares every table with the recorded one, and says how long it took.

    python -m benchmarks.nexmark.run --events 100000

Spark runs in this process. The numbers of events with recorded results are the names of the files in recorded/.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.nexmark import generator
from benchmarks.nexmark.results import Result, recorded, result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROJECT = Path(__file__).parent
SCHEMA = "nexmark"


def found(spark: SparkSession, schema: str, tables: Iterable[str]) -> dict[str, Result]:
    """The results of tables that dbt has built.

    Raises:
        AnalysisException: a table is not there.
    """
    frames = {name: spark.table(f"{schema}.{name}") for name in tables}
    return {name: result(frame.columns, frame.collect()) for name, frame in frames.items()}


def differences(found: dict[str, Result], expected: dict[str, Result]) -> list[str]:
    """A line for each table that is not as recorded."""
    return [f"{name}: {found[name]}; expected {expected[name]}" for name in expected if found[name] != expected[name]]


def build() -> dict[str, float]:
    """Runs `dbt build` in the project's folder, and returns the seconds that each model took.

    Raises:
        SystemExit: dbt failed; it has said why.
    """
    from dbt.artifacts.schemas.run import RunExecutionResult
    from dbt.cli.main import dbtRunner

    os.chdir(PROJECT)
    done = dbtRunner().invoke(["--no-version-check", "build", "--project-dir", ".", "--profiles-dir", "."])
    if not done.success or not isinstance(done.result, RunExecutionResult):
        sys.exit(2)
    return {r.node.name: r.execution_time for r in done.result if r.node.resource_type == "model"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nexmark.run", description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=generator.EVENTS, help="(%(default)s)")
    events = parser.parse_args().events
    try:
        expected = recorded(events)
    except FileNotFoundError:
        parser.error(f"nothing is recorded for {events} events; run python -m benchmarks.nexmark.record first")

    generator.write(PROJECT / "data", events)
    seconds = build()

    from pyspark.sql import SparkSession

    tables = found(SparkSession.active(), SCHEMA, expected)
    print(f"\n{'table':<12}{'rows':>8}{'seconds':>9}")
    for name, values in tables.items():
        print(f"{name:<12}{values.rows:>8,}{seconds[name]:>9.1f}")
    wrong = differences(tables, expected)
    print("\n".join(wrong) or "\nAll tables are as recorded.", file=sys.stderr if wrong else sys.stdout)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
