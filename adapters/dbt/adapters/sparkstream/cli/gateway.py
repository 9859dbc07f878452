"""`sparkstream gateway`."""

from __future__ import annotations

import click

from dbt.adapters.sparkstream.cli.common import fail
from dbt.adapters.sparkstream.spark.session_conf import LOOPBACK


def _address(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, int]:
    host, colon, port = value.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise click.BadParameter(f"'{value}' is no address; write it such as {LOOPBACK}:10000")
    return host.strip("[]"), int(port)


@click.command()
@click.option(
    "--to",
    "behind",
    callback=_address,
    default=f"{LOOPBACK}:10000",
    show_default=True,
    metavar="HOST:PORT",
    help="Spark's Thrift server: `auth` NOSASL, or NONE, LDAP and CUSTOM (SASL's PLAIN).",
)
@click.option("--port", type=int, default=10010, show_default=True, help="Port for the clients.")
@click.option(
    "--host",
    default=LOOPBACK,
    show_default=True,
    help="Address to listen on. On another than this machine's own, everybody who reaches it reaches Spark.",
)
def gateway(behind: tuple[str, int], port: int, host: str) -> None:
    """Translate the statements of any Thrift client on their way to Spark.

    BI tools, beeline, JDBC, dbt-spark and dbt 2 write windows, islands and frames as the adapter does; after
    `SET sparkstream.sql.dialect = flink` a session's queries are Flink's. All else is handed on as it is.
    """
    # Imported here, so that `sparkstream --help` does not wait for the SQL parser.
    from dbt.adapters.sparkstream.gateway import Gateway

    try:
        server = Gateway(behind, host, port, log=lambda line: click.echo(line, err=True))
        with server.connect() as spark:
            if spark.getpeername() == server.server_address:
                fail(f"the gateway can't start: --to names its own port {port}, and has to name Spark's")
    except (OSError, OverflowError) as error:
        fail(
            f"the gateway can't start: {error}\n  it listens on {host}:{port} and asks Spark at {behind[0]}:{behind[1]}"
        )
    click.echo(f"gateway on {host}:{server.server_address[1]}, to Spark at {behind[0]}:{behind[1]}; Ctrl-C ends it")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
