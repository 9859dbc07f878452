"""`sparkstream request`: a model's results for rows that aren't stored."""

from __future__ import annotations

import json
from typing import Any

import click

from dbt.adapters.sparkstream.cli.common import complete_models, fail, project_options, run_operation


@click.command()
@click.argument("model", shell_complete=complete_models)
@click.option(
    "--row", "rows", multiple=True, metavar="JSON", help="A row as a JSON object. May be given several times."
)
@click.option(
    "--rows",
    "file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="File with a row on each line (- for standard input).",
)
@project_options
def request(model: str, rows: tuple[str, ...], file: str | None, **options: str | None) -> None:
    """Print what MODEL gives for rows that aren't stored, each on its own.

    One line of JSON for each row, in their order; null where the model has no result for it.
    """
    lines = [(f"--row {text}", text) for text in rows]
    if file is not None:
        name = "<stdin>" if file == "-" else file
        with click.open_file(file, encoding="utf-8-sig") as source:
            lines += [(f"{name}:{i}", line) for i, line in enumerate(source, 1) if line.strip()]
    if not lines:
        raise click.UsageError("no row given; write --row '{\"column\": value}' or --rows FILE")
    arguments = {"model": model, "rows": [_read_row(place, text) for place, text in lines]}
    run_operation("request", arguments, options, click.echo)


def _read_row(place: str, text: str) -> dict[str, Any]:
    try:
        row: Any = json.loads(text)
    except ValueError as error:
        fail(f"{place} is not JSON: {error}")
    if not isinstance(row, dict):
        fail(f'{place} is no row; write an object: {{"column": value, ...}}')
    return row
