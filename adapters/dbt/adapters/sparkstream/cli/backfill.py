"""`sparkstream backfill`: rebuilds a range of time in a streaming model's table."""

from __future__ import annotations

import click

from dbt.adapters.sparkstream.cli.common import complete_models, project_options, run_operation


@click.command()
@click.argument("model", shell_complete=complete_models)
@click.option("--from", "since", required=True, metavar="TIME", help="The first time, such as '2026-11-17 00:00'.")
@click.option("--to", "until", required=True, metavar="TIME", help="The first time that isn't in the range any more.")
@click.option("--remove", "removes", is_flag=True, help="Take rows out where the sources have none for the range.")
@project_options
def backfill(model: str, since: str, until: str, removes: bool, **options: str | None) -> None:
    """Replace a range of time in the table of a streaming MODEL by what its sources give for it now.

    Windows that lie in the range, wholly or partly, are replaced, all in one step. A model without windows gets new
    rows for the event times in the range. Windows that are still open are left to the stream. --from and --to are
    times of the session's time zone. No run of the model may be on its way. After an interrupted backfill, give the
    same command again.
    """
    arguments = {"model": model, "since": since, "until": until, "removes": removes}
    run_operation("sparkstream_backfill", arguments, options, lambda line: click.echo(f"{model}: {line}"))
