"""`sparkstream explain`: what becomes of a model or a statement, as text, as a page or as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbt.adapters.sparkstream.cli.common import (
    arrival_option,
    complete_models,
    dialect_option,
    fail,
    project_options,
    read_schema,
    read_sql,
    run_operation,
    schema_option,
)

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.explain.report import Report, Size

SAMPLE = 60
_PATH = click.Path(dir_okay=False, path_type=Path)


def _hours(context: click.Context, parameter: click.Parameter, hours: float | None) -> float | None:
    if hours is not None and not 0 < hours <= 1e6:  # NaN, too, which FloatRange takes
        raise click.BadParameter(f"{hours} is no number of hours above 0, and at most a million")
    return hours


@click.command()
@click.argument("subject", metavar="MODEL|FILE", shell_complete=complete_models)
@dialect_option
@schema_option
@arrival_option
@click.option("--rows", type=click.IntRange(min=0), metavar="N", help="Rows that the windows read, for the estimates.")
@click.option("--keys", type=click.IntRange(min=1), metavar="N", default=1, help="Groups they form beside the windows.")
@click.option("--hours", type=float, callback=_hours, metavar="N", help="Hours from the first of the rows to the last.")
@click.option("--html", type=_PATH, metavar="PATH", help="Write a page with pictures of the windows.")
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
@click.option(
    "--svg", type=_PATH, metavar="PATH", help="Write the picture alone; PATH-2.svg and so on for further windows."
)
@click.option(
    "--sample",
    type=click.IntRange(1, 500),
    metavar="N",
    default=SAMPLE,
    show_default=True,
    help="Rows that are drawn.",
)
@click.option("--since", metavar="TIME", help="Draw the rows from this time on, not from the first.")
@click.option("--unit-test", metavar="NAME", help="Draw the rows of this unit test of MODEL.")
@click.option(
    "--against",
    metavar="FILE|REVISION",
    help="Compare MODEL with its text in another file, or in a revision of git such as HEAD.",
)
@project_options
def explain(
    subject: str,
    dialect: str,
    schema: Path | None,
    arrival: str | None,
    rows: int | None,
    keys: int,
    hours: float | None,
    html: Path | None,
    show: bool,
    svg: Path | None,
    sample: int,
    since: str | None,
    unit_test: str | None,
    against: str | None,
    **project: str | None,
) -> None:
    """Say what the optimizer does with a model or the SQL in a file, and why; with rows in a picture.

    MODEL is a model of the dbt project, and its rows those of the target. FILE ends in .sql, or is - for standard
    input; its tables are read where a project is named by --project-dir, --profile or the like, else there is no
    picture.
    """
    in_project = any(project.values())
    pictured = bool(html or show or svg)
    is_file = subject == "-" or subject.endswith(".sql") or Path(subject).is_file()
    if is_file and unit_test:
        raise click.BadParameter("a file has no unit tests; name a model", param_hint="--unit-test")
    if is_file and against:
        raise click.BadParameter("two versions are those of a model; name one", param_hint="--against")
    if is_file and not in_project:
        found = _of_file(subject, dialect, schema, arrival)
    else:
        read = pictured or rows is None
        drawn = {
            "unit_test": unit_test,
            "read": read or bool(against),
            "sample": sample if pictured or against else 0,
            "since": since,
        }
        if is_file:
            name, sql = read_sql(subject, dialect)
            options = {"sql": sql, "dialect": dialect, "arrival": arrival, "name": name, **drawn}
        else:
            options = {"model": subject, "against": against, **drawn}
        found = _in_project(options, project)
    from dbt.adapters.sparkstream.explain.report import Size

    size = Size(rows, keys, None if hours is None else hours * 3600)
    for line in found.lines(size):
        click.echo(line)
    if pictured:
        _write(found, size, html, svg, show)


def _of_file(file: str, dialect: str, schema: Path | None, arrival: str | None) -> Report:
    from dbt.adapters.sparkstream.explain.report import Report
    from dbt.adapters.sparkstream.sql import TranslationError
    from dbt.adapters.sparkstream.sql import explain as explained

    if file != "-" and not Path(file).is_file():
        raise click.BadParameter(f"File '{file}' does not exist.", param_hint="MODEL|FILE")
    name, sql = read_sql(file, dialect)
    try:
        found = explained(sql, dialect, arrival=arrival, schema=None if schema is None else read_schema(schema))
    except TranslationError as error:
        fail(error.describe(f"{name}:{error.line}:{error.column}"))
    return Report(name, sql, dialect, found)


def _in_project(options: Mapping[str, object], project: Mapping[str, str | None]) -> Report:
    from dbt.adapters.sparkstream.explain.subject import receiving

    with receiving() as found:
        run_operation("sparkstream_explain", {"options": options}, project, click.echo)
    if not found:
        fail("the target of this project is of another adapter\n  explain takes a target of type: sparkstream")
    return found[0]


def _write(report: Report, size: Size, html: Path | None, svg: Path | None, show: bool) -> None:
    from dbt.adapters.sparkstream.explain.draw import svg as drawn
    from dbt.adapters.sparkstream.explain.page import page

    if svg:
        pictures = [s.picture for s in report.sections if s.picture]
        if not pictures:
            notes = [note for section in report.sections for note in section.notes]
            why = notes or ["name a project (--project-dir ...) that has the tables, or a model with windows in it"]
            fail("there is nothing to draw\n  " + "\n  ".join(why))
        for number, picture in enumerate(pictures, 1):
            path = svg if number == 1 else svg.with_name(f"{svg.stem}-{number}{svg.suffix}")
            _save(path, drawn(picture))
    if html or show:
        name = "".join(c if c.isalnum() or c in "-_." else "_" for c in Path(report.name).stem) or "sql"
        path = html or Path("target") / f"explain-{name}.html"
        _save(path, page(report, size))
        if show:
            click.launch(path.resolve().as_uri())


def _save(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    click.echo(f"wrote {path}", err=True)
