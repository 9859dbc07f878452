"""`sparkstream init`: a new project."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from dbt.adapters.sparkstream import starter
from dbt.adapters.sparkstream.cli.common import check_empty, fail, write_files


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Make a dbt project in the new folder FOLDER: a batch model, a streaming model, and a feeder of its stream.

    The project has the folder's name and a profile of its own, with a Spark inside the dbt process.

    Exit code: 0 made, 1 the folder holds files or no project can have its name.
    """
    name = folder.resolve().name
    if fault := starter.name_fault(name):
        fail(f"no project can be named {name!r}: {fault}")
    check_empty(folder, "name a folder that is empty or not there")
    write_files(starter.project_files(name), folder)
    click.echo(
        f"made {folder}: a batch model, a streaming model and its feeder\n"
        "try it; the build takes about a minute:\n"
        f"  cd {shlex.quote(str(folder))}\n"
        "  python feed.py                        # an hour of bids for the stream\n"
        "  dbt build\n"
        "  dbt show --select items_10min         # what the streaming model has appended\n"
        "README.md has what the files are, and what to try next"
    )
