"""`sparkstream server`: a local Spark server."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from dbt.adapters.sparkstream.cli.common import Commands, fail, with_options
from dbt.adapters.sparkstream.secrecy import private
from dbt.adapters.sparkstream.secrecy.names import is_secret
from dbt.adapters.sparkstream.secrecy.redaction import redacted
from dbt.adapters.sparkstream.server import Phase, Server, ServerConfig, ServerError, ServerState, ServerStatus, Start
from dbt.adapters.sparkstream.server.config import CONNECT_TOKEN
from dbt.adapters.sparkstream.server.jars import JARS
from dbt.adapters.sparkstream.server.log import explain
from dbt.adapters.sparkstream.server.metastore import metastore_conf
from dbt.adapters.sparkstream.server.state import read_state
from dbt.adapters.sparkstream.spark.accelerators import COMET
from dbt.adapters.sparkstream.spark.session_conf import LOOPBACK, read_properties

_Command = TypeVar("_Command", bound=Callable[..., Any])

# Exit codes of `server status`, as for system services: 1 dead, 3 not running, 4 neither.
_EXIT_CODES = {Phase.RUNNING: 0, Phase.DEAD: 1, Phase.STOPPED: 3}


@click.group(cls=Commands)
def server() -> None:
    """A Spark server for SQL and streams: for development on this machine, or as the driver of a cluster.

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


def _options(defaults: bool) -> Callable[[_Command], _Command]:
    """The options of a server; without `defaults`, an option that isn't given is None."""

    def option(name: str, kind: type, value: Any, text: str) -> Any:
        return click.option(name, type=kind, default=value if defaults else None, show_default=defaults, help=text)

    options = (
        click.option("--port", type=int, help=f"Port for SQL (Thrift): {ServerConfig.port}, or none with a token."),
        option("--connect-port", int, ServerConfig.connect_port, "Port for Spark Connect: streams, or all there is."),
        click.option("--no-connect", is_flag=True, help="Start without Spark Connect."),
        click.option("--connect-only", is_flag=True, help="Start with Spark Connect alone, for `method: connect`."),
        option(
            "--master",
            str,
            ServerConfig.master,
            "local[N] for N tasks at a time, a cluster's spark://HOST:PORT, or yarn.",
        ),
        option("--memory", str, ServerConfig.memory, "Memory of the server's Java heap."),
        click.option(
            "--metastore",
            metavar="URL",
            help="JDBC address of a database for the catalog, such as jdbc:postgresql://HOST/DATABASE?user=hive; "
            "Derby in the server's folder by default.",
        ),
        click.option("--metastore-driver", type=click.Path(path_type=Path), help="Jar of that database's JDBC driver."),
        click.option(
            "--jars",
            multiple=True,
            metavar="PATH,...",
            help="Jars for the server and its executors, such as Delta's. May be given several times.",
        ),
        click.option("--conf", multiple=True, metavar="KEY=VALUE", help="A Spark setting. May be given several times."),
        click.option(
            "--properties-file",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="File with a Spark setting on each line, as in spark-defaults.conf: the place for passwords.",
        ),
        click.option(
            "--token-file",
            type=click.Path(path_type=Path),
            help="File that only you can read, with the token that Spark Connect asks for. SQL (Thrift), which asks "
            "for none, is off then unless --port is given.",
        ),
        click.option(
            "--accelerator",
            type=click.Choice([COMET]),
            help="A native engine; --jars names its jar.",
        ),
        option("--timeout", float, ServerConfig.timeout, "Seconds that starting may take."),
    )

    return with_options(options)


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, as attributes of ServerConfig."""
    names = ("port", "connect_port", "master", "memory", "timeout", "accelerator")
    given = {name: options[name] for name in names if options[name] is not None}
    if options["no_connect"]:
        given["connect_port"] = None
    if options["connect_only"]:
        given["port"] = None
    metastore, driver = options["metastore"], options["metastore_driver"]
    if metastore is None and driver is not None:
        fail("--metastore-driver is the driver of a database that nothing names\n  add --metastore jdbc:...")
    catalog = {} if metastore is None else metastore_conf(metastore, driver)
    settings = {**catalog, **_properties(options["properties_file"]), **_settings(options["conf"])}
    if jars := options["jars"]:
        if JARS in settings:
            fail(f"--jars and the setting {JARS} say the same\n  write all of it with --jars")
        settings[JARS] = ",".join(jars)
    if options["token_file"] is not None:
        settings[CONNECT_TOKEN] = _token(options["token_file"])
    if settings.get(CONNECT_TOKEN) and options["port"] is None and not options["no_connect"]:
        given["port"] = None
    if settings:
        given["conf"] = settings
    return given


@contextmanager
def _ends_in_a_line() -> Iterator[None]:
    """Ends the command with a message after a ServerError or Ctrl-C."""
    try:
        yield
    except ServerError as error:
        fail(str(error))
    except KeyboardInterrupt:
        fail("interrupted")


@server.command()
@_dir
@_options(defaults=True)
@click.option("--foreground", is_flag=True, help="Stay, and stop the server on Ctrl-C.")
def start(folder: Path, foreground: bool, **options: Any) -> None:
    """Start the server and wait until it answers."""
    if foreground:
        # Stop the server when a supervisor ends this process, too.
        signal.signal(signal.SIGTERM, _interrupt)
    with _ends_in_a_line():
        local = Server(ServerConfig(folder=folder, **_given(options)))
        started = local.start(on_launch=_describe_launch)
        if started.already_running and foreground:
            fail(f"the server (pid {started.state.pid}) runs already; stop it first, or leave --foreground out")
        _show_start(started)
        if foreground:
            try:
                local.wait()
            except KeyboardInterrupt:
                local.stop()
                click.echo("stopped", err=True)


@server.command()
@_dir
@_options(defaults=False)
def restart(folder: Path, **options: Any) -> None:
    """Stop the server, by force where it hangs, and start it with the options it had.

    Options that are given take the place of the server's own. What it was at work on is lost; its tables stay.
    """
    with _ends_in_a_line():
        state = read_state(ServerConfig(folder=folder).folder / "server.json")
        if state is None:
            fail("no server runs, so its options aren't known; write sparkstream server start")
        given = _given(options)
        if state.connect_token and options["port"] is None and not options["connect_only"]:
            given.pop("port", None)  # whether it has SQL beside a token was said at its start
        given["conf"] = {**state.conf, **given.get("conf", {})}
        local = Server(replace(state.config(folder), **given))
        _show_start(local.restart(on_launch=_describe_launch))


def _settings(conf: tuple[str, ...]) -> dict[str, str]:
    pairs = [item.partition("=") for item in conf]
    for key, equals, value in pairs:
        if not equals:
            raise click.BadParameter(f"'{key}' has no value; write KEY=VALUE", param_hint="--conf")
        if is_secret(key) or redacted(value) != value:
            raise click.BadParameter(
                f"'{key.strip()}' is a secret, and everybody on this machine sees the arguments of a command; "
                "write the line KEY=VALUE to a file that only you can read, and give --properties-file FILE",
                param_hint="--conf",
            )
    return {key.strip(): value for key, _, value in pairs}


def _token(path: Path) -> str:
    try:
        token = private.read_secret(path)
    except (OSError, UnicodeDecodeError) as error:
        fail(f"can't read the token in {path}\n  {getattr(error, 'strerror', None) or error}")
    if not token:
        fail(f"{path} has no token\n  python -c 'import secrets; print(secrets.token_urlsafe())' > {path}")
    return token


def _properties(path: Path | None) -> dict[str, str]:
    if path is None:
        return {}
    try:
        return read_properties(path)
    except (OSError, UnicodeDecodeError) as error:
        fail(f"can't read {path}: {error}")


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _describe_launch(state: ServerState) -> None:
    click.echo(f"starting Spark {state.spark_version} on port {state.main_port}, pid {state.pid} ...", err=True)


def _show_start(started: Start) -> None:
    for warning in started.warnings:
        click.echo(f"warning: {warning}", err=True)
    if exposed := _exposed(started.state):
        click.echo(f"note: {exposed}", err=True)
    click.echo(_describe_start(started.state, started.already_running))


def _exposed(state: ServerState) -> str | None:
    """Note on what other users of the machine can do through the server; None if all its ports ask for a token."""
    if state.port is None and state.connect_token:
        return None
    token = " and see the token of Spark Connect," if state.connect_token else ""
    return (
        f"every user of this machine can run commands as you and read files that you can read,{token} by this server, "
        "as it asks for no password; on a machine with others, use --token-file"
        + (" without --port" if state.connect_token else "")
    )


def _describe_start(state: ServerState, already_running: bool) -> str:
    profile = ["type: sparkstream", "method: connect", "schema: default"]
    if state.port is not None:
        profile[1:2] = ["method: thrift", f"host: {LOOPBACK}", f"port: {state.port}", "auth: NOSASL"]
    if state.connect_url:
        token = "/;token={{ env_var('SPARK_TOKEN') }}" if state.connect_token else ""
        profile.append(f"connect_url: {state.connect_url}{token}")
    running = "already running (`sparkstream server restart` changes its options)" if already_running else "running"
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
    with _ends_in_a_line():
        click.echo("stopped" if Server(ServerConfig(folder=folder)).stop() else "not running")


@server.command()
@_dir
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(folder: Path, as_json: bool) -> None:
    """Say what the server is doing.

    Exit code: 0 running, 3 not running, 1 dead, 4 starting, stopping or not answering.
    """
    with _ends_in_a_line():
        local = Server(ServerConfig(folder=folder))
        found = local.status()
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
        elif found.phase is Phase.UNRESPONSIVE:
            click.echo(local.advice())
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
