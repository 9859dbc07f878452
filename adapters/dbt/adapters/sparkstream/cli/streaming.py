"""`sparkstream stream` and `sparkstream streams`: streaming models of a dbt project."""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path

import click

from dbt.adapters.sparkstream.cli.common import (
    Commands,
    complete_models,
    dbt_arguments,
    fail,
    project_options,
    run_operation,
)
from dbt.adapters.sparkstream.secrecy import private


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("models", nargs=-1, required=True, metavar="MODEL...", shell_complete=complete_models)
@project_options
def stream(models: tuple[str, ...], **options: str | None) -> None:
    """Leave streaming models running, until Ctrl-C.

    Each MODEL is what `dbt run --select` takes. A model's trigger says how often it looks for new rows, every 10
    seconds by default. On Ctrl-C, the micro-batches that run are ended first.
    """
    from dbt.adapters.sparkstream.streaming.operations.stopping import leave_running

    ended_well = leave_running(dbt_arguments(options), models)
    # Ctrl-C from here on ends the process at once, without a stack trace.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if not ended_well:
        sys.exit(1)


class _ShownByDefault(Commands):
    """A group whose command `show` needs no name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named else ["show", *args])


@click.group(cls=_ShownByDefault)
def streams() -> None:
    """Say how the project's streaming models are, or end their runs.

    `sparkstream streams` alone is `sparkstream streams show`.
    """


@streams.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...", shell_complete=complete_models)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "prometheus"]),
    default="table",
    show_default=True,
    help="For people, a line of JSON for each model, or Prometheus' text format.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write, in place of one that is there, such as one for Prometheus' node exporter.",
)
@project_options
def show(models: tuple[str, ...], form: str, output: Path | None, **options: str | None) -> None:
    """Show the project's streaming models: runs, progress, rows left out.

    MODEL names models, all by default. The figures come from the table sparkstream_runs, to which a run that goes on
    writes every half minute.
    """
    from dbt.adapters.sparkstream.streaming.reports.overview import prometheus, table

    lines: list[str] = []
    run_operation("sparkstream_streams", {"models": list(models)}, options, lines.append)
    found = [json.loads(line) for line in lines]
    if form == "prometheus":
        text = prometheus(found)
    elif form == "json":
        text = "".join(f"{line}\n" for line in lines)
    else:
        text = "\n".join(table(found, time.time())) + "\n"
    if output is None:
        click.echo(text, nl=False)
    else:
        private.replace(output, text, mode=0o644)  # a collector of metrics is another user


@streams.command()
@click.argument("models", nargs=-1, required=True, metavar="MODEL...", shell_complete=complete_models)
@click.option(
    "--patience",
    type=click.FloatRange(min=0),
    default=600,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the micro-batches that run.",
)
@project_options
def stop(models: tuple[str, ...], patience: float, **options: str | None) -> None:
    """End the runs of streaming models, each when its micro-batch has ended.

    The next run of a MODEL goes on where the ended run stopped. With `method: session`, give the command on the same
    machine and for the same project folder.

    Exit code: 0 none of them runs any more, 1 one still does.
    """
    lines: list[str] = []
    run_operation("sparkstream_stop_streams", {"models": list(models), "patience": patience}, options, lines.append)
    found = json.loads(lines[-1])
    for name, what in found.items():
        click.echo(f"{name}: {what}")
    running = [name for name in models if name not in found]
    if running:
        fail(f"{', '.join(running)}: told to end, and still running after {patience:g} seconds")
