"""`sparkstream server`: a local Spark server."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from dbt.adapters.sparkstream.cli.common import fail
from dbt.adapters.sparkstream.server import Phase, Server, ServerConfig, ServerError, ServerState, ServerStatus
from dbt.adapters.sparkstream.server.log import explain
from dbt.adapters.sparkstream.session_conf import LOOPBACK

# Exit codes of `server status`, as for system services: 1 dead, 3 not running, 4 neither.
_EXIT_CODES = {Phase.RUNNING: 0, Phase.DEAD: 1, Phase.STOPPED: 3}


@click.group()
def server() -> None:
    """A local Spark server for development, for SQL and streams.

    It listens on this machine only, and keeps its tables, settings and logs in a folder of its own.
    """


_dir = click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=ServerConfig.folder,
    show_default=True,
    help="The server's own folder.",
)


@server.command()
@_dir
@click.option("--port", type=int, default=ServerConfig.port, show_default=True, help="Port for SQL (Thrift).")
@click.option(
    "--connect-port",
    type=int,
    default=ServerConfig.connect_port,
    show_default=True,
    help="Port for streams (Spark Connect).",
)
@click.option("--no-connect", is_flag=True, help="Start without Spark Connect.")
@click.option("--master", default=ServerConfig.master, show_default=True, help="local[N] for N tasks at a time.")
@click.option("--memory", default=ServerConfig.memory, show_default=True, help="Memory of the server's Java heap.")
@click.option("--conf", multiple=True, metavar="KEY=VALUE", help="A Spark setting. May be given several times.")
@click.option(
    "--timeout", type=float, default=ServerConfig.timeout, show_default=True, help="Seconds that starting may take."
)
@click.option("--foreground", is_flag=True, help="Stay, and stop the server on Ctrl-C.")
def start(
    folder: Path,
    port: int,
    connect_port: int,
    no_connect: bool,
    master: str,
    memory: str,
    conf: tuple[str, ...],
    timeout: float,
    foreground: bool,
) -> None:
    """Start the server and wait until it answers."""
    if foreground:
        # Stop the server when a supervisor ends this process, too.
        signal.signal(signal.SIGTERM, _interrupt)
    try:
        config = ServerConfig(
            folder=folder,
            port=port,
            connect_port=None if no_connect else connect_port,
            master=master,
            memory=memory,
            conf=_settings(conf),
            timeout=timeout,
        )
        local = Server(config)
        started = local.start(on_launch=_describe_launch)
        if started.already_running and foreground:
            fail(f"the server (pid {started.state.pid}) runs already; stop it first, or leave --foreground out")
        click.echo(_describe_start(started.state, started.already_running))
        if foreground:
            try:
                local.wait()
            except KeyboardInterrupt:
                local.stop()
                click.echo("stopped", err=True)
    except ServerError as error:
        fail(str(error))
    except KeyboardInterrupt:
        fail("interrupted")


def _settings(conf: tuple[str, ...]) -> dict[str, str]:
    pairs = [item.partition("=") for item in conf]
    for key, equals, _ in pairs:
        if not equals:
            raise click.BadParameter(f"'{key}' has no value; write KEY=VALUE", param_hint="--conf")
    return {key.strip(): value for key, _, value in pairs}


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _describe_launch(state: ServerState) -> None:
    click.echo(f"starting Spark {state.spark_version} on port {state.port}, pid {state.pid} ...", err=True)


def _describe_start(state: ServerState, already_running: bool) -> str:
    profile = [
        "type: sparkstream",
        "method: thrift",
        f"host: {LOOPBACK}",
        f"port: {state.port}",
        "auth: NOSASL",
        "schema: default",
    ]
    if state.connect_url:
        profile.append(f"connect_url: {state.connect_url}")
    running = "already running (stop it first to change its options)" if already_running else "running"
    return "\n".join(
        [
            f"{running}: Spark {state.spark_version} with {state.master} and {state.memory}, pid {state.pid}",
            "",
            "The output for profiles.yml:",
            *(f"  {line}" for line in profile),
        ]
    )


@server.command()
@_dir
def stop(folder: Path) -> None:
    """Stop the server; its tables stay."""
    try:
        click.echo("stopped" if Server(ServerConfig(folder=folder)).stop() else "not running")
    except ServerError as error:
        fail(str(error))


@server.command()
@_dir
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(folder: Path, as_json: bool) -> None:
    """Say what the server is doing.

    Exit code: 0 running, 3 not running, 1 dead, 4 starting, stopping or not answering.
    """
    try:
        found = Server(ServerConfig(folder=folder)).status()
    except ServerError as error:
        fail(str(error))
    facts = _facts(found)
    if as_json:
        click.echo(json.dumps(facts, indent=2))
    else:
        width = max(map(len, facts))
        for name, value in facts.items():
            if value is not None:
                click.echo(f"{name.replace('_', ' '):{width}}  {value}")
        if found.phase is Phase.DEAD:
            click.echo(explain(found.log))
    sys.exit(_EXIT_CODES.get(found.phase, 4))


def _facts(found: ServerStatus) -> dict[str, Any]:
    state = found.state
    facts: dict[str, Any] = {"status": found.phase.value, "folder": str(found.folder), "log": str(found.log)}
    if state is not None:
        facts |= {
            "pid": state.pid,
            "host": LOOPBACK,
            "port": state.port,
            "connect_url": state.connect_url,
            "master": state.master,
            "memory": state.memory,
            "resident_mb": None if found.resident_bytes is None else found.resident_bytes >> 20,
            "started": state.started,
            "uptime_seconds": None if found.uptime_seconds is None else int(found.uptime_seconds),
            "spark": state.spark_version,
            "java": state.java_version,
            "python": state.python,
        }
    return facts
