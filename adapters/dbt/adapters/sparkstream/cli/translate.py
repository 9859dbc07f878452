"""`sparkstream translate`."""

from __future__ import annotations

from pathlib import Path

import click

from dbt.adapters.sparkstream.cli.common import (
    arrival_option,
    dialect_option,
    fail,
    file_argument,
    read_schema,
    read_sql,
    schema_option,
)


@click.command()
@file_argument
@dialect_option
@schema_option
@click.option("--no-optimize", is_flag=True, help="Translate literally, without the optimizer.")
@click.option("--skewed", is_flag=True, help="Split the rows of a key by time, as one key has most of the rows.")
@arrival_option
def translate(
    file: str, dialect: str, schema: Path | None, no_optimize: bool, skewed: bool, arrival: str | None
) -> None:
    """Translate the SQL in FILE (- for standard input) to Spark SQL.

    A statement that has nothing to translate is printed as it is.
    """
    # Imported here, so that `sparkstream --help` does not wait for the SQL parser.
    from dbt.adapters.sparkstream.sql import TranslationError
    from dbt.adapters.sparkstream.sql import translate as to_spark

    if skewed and no_optimize:
        raise click.BadParameter("it is for rules of the optimizer; leave --no-optimize out", param_hint="--skewed")
    name, sql = read_sql(file, dialect)
    try:
        spark_sql = to_spark(
            sql,
            dialect,
            optimize=not no_optimize,
            skewed=skewed,
            arrival=arrival,
            schema=None if schema is None else read_schema(schema),
            warn=lambda w: click.echo(f"warning: {w.describe(f'{name}:{w.line}:{w.column}')}", err=True),
        )
    except TranslationError as error:
        fail(error.describe(f"{name}:{error.line}:{error.column}"))
    click.echo(spark_sql.encode("utf-8"), nl=not spark_sql.endswith("\n"))
