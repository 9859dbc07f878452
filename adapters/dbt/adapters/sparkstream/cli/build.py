"""`sparkstream build`: a project in plain Spark SQL."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from dbt.adapters.sparkstream.cli.common import dbt_arguments, fail, project_options, run_operation


@click.command()
@click.option(
    "--into", type=click.Path(file_okay=False, path_type=Path), required=True, metavar="DIR", help="Folder to write."
)
@click.option("--select", metavar="SELECTION", help="Nodes to write, as dbt's --select names them.")
@click.option("--exclude", metavar="SELECTION", help="Nodes to leave out.")
@click.option(
    "--as-tables",
    is_flag=True,
    help="Write streaming models and models of window_replace as tables, which each run computes from all rows.",
)
@click.option("--skip", is_flag=True, help="Leave out what can't be written, and what reads it.")
@project_options
def build(
    into: Path, select: str | None, exclude: str | None, as_tables: bool, skip: bool, **project: str | None
) -> None:
    """Export the dbt project in plain Spark SQL, for a Spark without this adapter.

    The windows of models and tests become Spark SQL, optimized; ref, source, var and is_incremental stay Jinja. The
    result runs with dbt-spark, dbt-databricks or dbt 2, on `type: spark`. Build the project before, so that the columns
    of its tables are known.

    Exit code: 0 written, 1 something can't be written.
    """
    selected = _selected(select, exclude, project) if select or exclude else None
    options = {"into": str(into.resolve()), "selected": selected, "as_tables": as_tables, "skip": skip}
    lines: list[str] = []
    run_operation("sparkstream_build", {"options": options}, project, lines.append)
    if not lines:
        fail("the target of this project is of another adapter\n  build takes a target of type: sparkstream")
    for line in lines[:-1]:  # what models print
        click.echo(line)
    outcome = json.loads(lines[-1])
    _report(outcome, into, skip)
    if outcome["refused"] and not skip:
        sys.exit(1)


def _report(outcome: Mapping[str, Any], into: Path, skip: bool) -> None:
    for name, notes in outcome["notes"].items():
        for note in notes:
            click.echo(f"{name}: {note}", err=True)
    for name, why in {**outcome["refused"], **outcome["left_out"]}.items():
        if why != "not selected":
            click.echo(f"{name} is {'left out' if skip or name in outcome['left_out'] else 'refused'}: {why}", err=True)
    if outcome["refused"] and not skip:
        click.echo("nothing is written\n  --skip writes the rest, without what reads these", err=True)
        return
    counts = f"{len(outcome['translated'])} models and tests translated, {outcome['unchanged']} as they are"
    click.echo(f"wrote {into}: {outcome['files']} files, {counts}")
    click.echo("its profile needs an output of `type: spark` in the place of `type: sparkstream`")


def _selected(select: str | None, exclude: str | None, project: Mapping[str, str | None]) -> list[str]:
    """The unique ids of the nodes that dbt selects."""
    from dbt.cli.main import dbtRunner

    selection = [
        *(["--select", *select.split()] if select else []),
        *(["--exclude", *exclude.split()] if exclude else []),
    ]
    keys = ["--output", "json", "--output-keys", "unique_id"]
    done = dbtRunner().invoke(["--log-level", "none", "ls", "--quiet", *selection, *keys, *dbt_arguments(project)])
    if not done.success:
        fail(str(done.exception))
    lines: Any = done.result
    return [json.loads(line)["unique_id"] for line in lines]
