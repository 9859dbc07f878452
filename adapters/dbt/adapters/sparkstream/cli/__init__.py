"""The `sparkstream` command: a module for each group of commands."""

from __future__ import annotations

import click

from dbt.adapters.sparkstream.__version__ import __version__
from dbt.adapters.sparkstream.cli.backfill import backfill
from dbt.adapters.sparkstream.cli.batches import batches
from dbt.adapters.sparkstream.cli.build import build
from dbt.adapters.sparkstream.cli.common import Commands
from dbt.adapters.sparkstream.cli.explain import explain
from dbt.adapters.sparkstream.cli.gateway import gateway
from dbt.adapters.sparkstream.cli.imports import imports
from dbt.adapters.sparkstream.cli.init import init
from dbt.adapters.sparkstream.cli.play import play
from dbt.adapters.sparkstream.cli.request import request
from dbt.adapters.sparkstream.cli.schemas import schemas
from dbt.adapters.sparkstream.cli.server import server
from dbt.adapters.sparkstream.cli.streaming import stream, streams
from dbt.adapters.sparkstream.cli.translate import translate


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sparkstream", message="%(prog)s %(version)s")
def main() -> None:
    """Windows of Flink, OpenMLDB and SQLstream on Apache Spark."""


for _command in (
    init,
    translate,
    explain,
    play,
    build,
    imports,
    request,
    stream,
    streams,
    backfill,
    batches,
    server,
    gateway,
    schemas,
):
    main.add_command(_command)
