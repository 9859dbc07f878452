"""`sparkstream batches`: the batches of a microbatch model that are missing or stale."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

import click

from dbt.adapters.sparkstream.cli.common import complete_models, dbt_arguments, project_options, run_operation

TO_DO = ("missing", "stale")


@click.command()
@click.argument("model", shell_complete=complete_models)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="For people, or a line of JSON for each batch.",
)
@click.option("--since", metavar="TIME", help="The first batch, by a time in it; the model's `begin` by default.")
@click.option("--until", metavar="TIME", help="Batches that end by then; now by default.")
@click.option("--before", metavar="INTERVAL", help="How much earlier than a batch rows may be that it reads: '1 hour'.")
@click.option("--after", metavar="INTERVAL", help="How much later than a batch rows may be that it reads.")
@click.option(
    "--check",
    is_flag=True,
    help="Run the query of each batch that seems to be missing: where it gives no rows, the batch is empty.",
)
@project_options
def batches(
    model: str,
    form: str,
    since: str | None,
    until: str | None,
    before: str | None,
    after: str | None,
    check: bool,
    **options: str | None,
) -> None:
    """Say which batches of a microbatch MODEL are missing or stale, and how to run them.

    A batch is missing when inputs have rows of it and the model's table has none. It is stale when a file of an input
    is newer than the batch's own. A batch that isn't over is left out.

    Exit code: 0 nothing is to be done, 3 a batch is missing or stale, 1 it can't be told.
    """
    given = {"since": since, "until": until, "before": before, "after": after, "check": check}
    lines: list[str] = []
    run_operation("sparkstream_batches", {"model": model, "options": given}, options, lines.append)
    found = json.loads(lines[-1])
    listed = found["batches"]
    if form == "json":
        for batch in listed:
            click.echo(json.dumps(batch))
    else:
        click.echo("\n".join(table(listed)))
        for line in found["unknown"]:
            click.echo(f"note: {line}")
    to_do = [batch for batch in listed if batch["status"] in TO_DO]
    if form == "table" and to_do:
        click.echo("\nto run them:")
        for command in commands(model, listed, options):
            click.echo(f"  {command}")
    if to_do:
        sys.exit(3)


def table(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Batches for people: a line for each stretch of one status."""
    if not found:
        yield "no batch is over"
        return
    yield f"{'from':<16}  {'to':<16}  {'status':<8} {'batches':>8} {'rows':>14} {'rows of inputs':>15}  changed"
    for status, group in groupby(found, key=lambda batch: batch["status"]):
        its = list(group)
        inputs = [batch["input_rows"] for batch in its]
        counted = "?" if None in inputs else f"{sum(inputs):,}"
        changed = ", ".join(dict.fromkeys(name for batch in its for name in batch["changed"]))
        first, last = _written(its[0]["start"]), _written(its[-1]["end"])
        rows = sum(batch["rows"] for batch in its)
        yield f"{first:<16}  {last:<16}  {status:<8} {len(its):>8,} {rows:>14,} {counted:>15}  {changed}".rstrip()


def commands(model: str, found: Sequence[Mapping[str, Any]], options: Mapping[str, str | None]) -> Iterator[str]:
    """Commands of dbt that run the missing and stale batches, one for each stretch of adjacent batches.

    Args:
        model: the model.
        found: its batches, in order.
        options: the options of `project_options`, which the commands get too.
    """
    for is_due, group in groupby(found, key=lambda batch: batch["status"] in TO_DO):
        if is_due:
            its = list(group)
            edges = ("--event-time-start", _written(its[0]["start"]), "--event-time-end", _written(its[-1]["end"]))
            yield shlex.join(["dbt", "run", "--select", model, *edges, *dbt_arguments(options)])


def _written(moment: str) -> str:
    time = datetime.fromisoformat(moment)
    return f"{time:%Y-%m-%d}" if (time.hour, time.minute) == (0, 0) else f"{time:%Y-%m-%d %H:%M}"
