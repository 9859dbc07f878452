"""`sparkstream schemas`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dbt.adapters.sparkstream.cli.common import write_files


@click.command()
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".sparkstream/schemas"),
    show_default=True,
    help="Folder to write to.",
)
def schemas(into: Path) -> None:
    """Write JSON schemas, with which an editor checks and completes profiles and YAML.

    properties.json is for the YAML beside models, project.json for dbt_project.yml, profiles.json for profiles.yml.
    """
    from dbt.adapters.sparkstream.editors.schemas import schemas as all_schemas

    files = {f"{name}.json": json.dumps(schema, indent=2) + "\n" for name, schema in all_schemas().items()}
    write_files(files, into)
    for name in files:
        click.echo(into / name)
