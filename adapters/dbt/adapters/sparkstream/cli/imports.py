"""`sparkstream import`: a dbt project of a script for another system."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbt.adapters.sparkstream.cli.common import Commands, check_empty, fail, read_sql, write_files

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.flinkscript import Project


@click.group("import", cls=Commands)
def imports() -> None:
    """Make a dbt project of what is written for another system."""


@imports.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder to write; by default one with the script's name, beside it.",
)
@click.option(
    "--force", is_flag=True, help="Write into a folder that holds files; files of the same names are replaced."
)
def flink(file: str, into: Path | None, force: bool) -> None:
    """Make a dbt project of the Flink SQL script FILE.

    Tables become sources or seeds, views and INSERTs become models in Flink's SQL, and SET becomes settings of the
    profile. The project's README.md says what has no counterpart, and why.

    Exit code: 0 written, 1 the script can't be read or the folder holds files.
    """
    # Imported here, so that `sparkstream --help` does not wait for the SQL parser.
    from dbt.adapters.sparkstream.flinkscript import Project, read
    from dbt.adapters.sparkstream.sql import TranslationError

    name, text = read_sql(file, "flink")
    script = Path(file)
    try:
        project = Project(read(text), script)
    except TranslationError as error:
        fail(error.describe(f"{name}:{error.line}:{error.column}"))
    if not (project.models or project.sources or project.seeds):
        fail(f"{name} makes no table and no view, and asks nothing")
    folder = into or script.parent / project.name
    if not force:
        check_empty(folder, "name a folder that is empty or not there, or write --force")
    write_files(project.files, folder)
    _report(project, folder)


def _report(project: Project, folder: Path) -> None:
    counts = [
        _counted(len(project.sources), "source"),
        _counted(len(project.seeds), "seed"),
        _counted(len(project.models), "model"),
    ]
    click.echo(f"wrote {folder}: {', '.join(count for count in counts if count)}")
    for model in project.disabled:
        click.echo(f"{model.node} is disabled: {model.disabled}", err=True)
    for model in project.models:
        if model.reason:
            click.echo(f"{model.node} is a table, and no stream: {model.reason}", err=True)
    for source in project.sources:
        if source.input is None or source.input.setup:
            click.echo(f"{source.node} has no rows yet: see README.md", err=True)
    if project.variables:
        click.echo(f"set {_counted(len(project.variables), 'variable')} for the script's secrets: see README.md")
    if project.leftovers:
        click.echo(
            f"{_counted(len(project.leftovers), 'statement or setting', 'statements and settings')} of the script "
            "have no counterpart: see README.md"
        )
    click.echo(f"build it: cd {folder} && dbt build")
    sys.stdout.flush()


def _counted(number: int, one: str, several: str | None = None) -> str:
    return "" if not number else f"{number} {one if number == 1 else several or one + 's'}"
