"""The `sparkstream` command: translate SQL, leave streaming models running, run a local Spark server."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import click

from dbt.adapters.sparkstream.__version__ import __version__
from dbt.adapters.sparkstream.server import Phase, Server, ServerConfig, ServerError, ServerState, ServerStatus
from dbt.adapters.sparkstream.server.log import explain
from dbt.adapters.sparkstream.session_conf import LOOPBACK

# Exit codes of `server status`, as for system services: 1 dead, 3 not running, 4 neither.
_EXIT_CODES = {Phase.RUNNING: 0, Phase.DEAD: 1, Phase.STOPPED: 3}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sparkstream", message="%(prog)s %(version)s")
def main() -> None:
    """Windows of Flink, OpenMLDB and SQLstream on Apache Spark."""


_file = click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
_dialect = click.option(
    "--dialect",
    metavar="NAME",
    default="spark",
    show_default=True,
    help="The system that the SQL is written for, such as flink; 'spark' is Spark SQL plus window functions.",
)
_schema = click.option(
    "--schema",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="JSON file with the columns of the tables: {table: {column: Spark type}}.",
)
_arrival = click.option("--arrival", metavar="COL", help="Column that numbers the rows in order of arrival.")


@main.command()
@_file
@_dialect
@_schema
@click.option("--no-optimize", is_flag=True, help="Translate literally, without the optimizer.")
@_arrival
def translate(file: str, dialect: str, schema: Path | None, no_optimize: bool, arrival: str | None) -> None:
    """Translate the SQL in FILE (- for standard input) to Spark SQL.

    A statement that has nothing to translate is printed as it is.
    """
    # Imported here, so that `sparkstream --help` does not wait for the SQL parser.
    from dbt.adapters.sparkstream.sql import TranslationError
    from dbt.adapters.sparkstream.sql import translate as to_spark

    name, sql = _read_sql(file, dialect)
    try:
        spark_sql = to_spark(
            sql,
            dialect,
            optimize=not no_optimize,
            arrival=arrival,
            schema=None if schema is None else _read_schema(schema),
            warn=lambda w: click.echo(f"warning: {w.describe(f'{name}:{w.line}:{w.column}')}", err=True),
        )
    except TranslationError as error:
        _fail(error.describe(f"{name}:{error.line}:{error.column}"))
    click.echo(spark_sql.encode("utf-8"), nl=not spark_sql.endswith("\n"))


@main.command("explain")
@_file
@_dialect
@_schema
@_arrival
@click.option("--rows", type=int, metavar="N", help="Rows that the windows read; gives estimates for each step.")
@click.option("--keys", type=int, metavar="N", default=1, help="Groups that the rows form beside the windows.")
@click.option("--hours", type=float, metavar="N", help="Hours from the first of the rows to the last.")
def explain_sql(
    file: str,
    dialect: str,
    schema: Path | None,
    arrival: str | None,
    rows: int | None,
    keys: int,
    hours: float | None,
) -> None:
    """Say what the optimizer does with the SQL in FILE (- for standard input), and why."""
    from dbt.adapters.sparkstream.sql import TranslationError
    from dbt.adapters.sparkstream.sql import explain as explained

    name, sql = _read_sql(file, dialect)
    try:
        found = explained(sql, dialect, arrival=arrival, schema=None if schema is None else _read_schema(schema))
    except TranslationError as error:
        _fail(error.describe(f"{name}:{error.line}:{error.column}"))
    for line in found.lines(rows, keys, None if hours is None else hours * 3600):
        click.echo(line)


def _read_sql(file: str, dialect: str) -> tuple[str, str]:
    """The name of a file for messages, and the SQL in it."""
    from dbt.adapters.sparkstream.sql.dialects import DIALECTS

    if dialect not in DIALECTS:
        raise click.BadParameter(f"'{dialect}' is not one of {', '.join(DIALECTS)}", param_hint="--dialect")
    name = "<stdin>" if file == "-" else file
    # Bytes in and out, so that line ends stay as they are.
    with click.open_file(file, "rb") as source:
        content = source.read()
    try:
        return name, content.decode("utf-8")
    except UnicodeDecodeError as error:
        _fail(f"{name} is not UTF-8 text: byte {content[error.start]:#04x} at position {error.start}")


def _read_schema(path: Path) -> Mapping[str, Mapping[str, str]]:
    try:
        schema: Any = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        _fail(f"{path} is not JSON: {error}")
    tables = schema.values() if isinstance(schema, dict) else [None]
    if not all(isinstance(columns, dict) and all(isinstance(t, str) for t in columns.values()) for columns in tables):
        _fail(f'{path} must map tables to columns to types: {{"bid": {{"bidtime": "timestamp", "price": "double"}}}}')
    return schema


@main.command()
@click.argument("model")
@click.option(
    "--row", "rows", multiple=True, metavar="JSON", help="A row as a JSON object. May be given several times."
)
@click.option(
    "--rows",
    "file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="File with a row on each line (- for standard input).",
)
@click.option("--project-dir", type=click.Path(exists=True, file_okay=False), help="Folder of the dbt project.")
@click.option("--profiles-dir", type=click.Path(exists=True, file_okay=False), help="Folder of profiles.yml.")
@click.option("--profile", help="Profile to use.")
@click.option("--target", help="Target of the profile to use.")
@click.option("--vars", "variables", metavar="YAML", help="Variables of the project.")
def request(model: str, rows: tuple[str, ...], file: str | None, **options: str | None) -> None:
    """Print what MODEL gives for rows that aren't stored, each on its own.

    One line of JSON for each row, in their order; null where the model has no result for it.
    """
    lines = [(f"--row {text}", text) for text in rows]
    if file is not None:
        name = "<stdin>" if file == "-" else file
        with click.open_file(file, encoding="utf-8") as source:
            lines += [(f"{name}:{i}", line) for i, line in enumerate(source, 1) if line.strip()]
    if not lines:
        raise click.UsageError("no row given; write --row '{\"column\": value}' or --rows FILE")
    arguments = json.dumps({"model": model, "rows": [_read_row(place, text) for place, text in lines]})
    # dbt takes a second to import.
    from dbt.cli.main import dbtRunner

    names = {"variables": "vars"}
    chosen = [f"--{names.get(k, k).replace('_', '-')}={value}" for k, value in options.items() if value is not None]
    faults: list[str] = []

    def listen(event: Any) -> None:
        if event.info.name == "PrintEvent":
            click.echo(event.data.msg)
        elif event.info.name.startswith("RunningOperation"):
            faults.append(event.data.exc)

    operation = ["--log-level", "none", "run-operation", "request", f"--args={arguments}", *chosen]
    done = dbtRunner(callbacks=[listen]).invoke(operation)
    if not done.success:
        _fail("\n".join([*faults, *([str(done.exception)] if done.exception else [])]))


def _read_row(place: str, text: str) -> dict[str, Any]:
    try:
        row: Any = json.loads(text)
    except ValueError as error:
        _fail(f"{place} is not JSON: {error}")
    if not isinstance(row, dict):
        _fail(f'{place} is no row; write an object: {{"column": value, ...}}')
    return row


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--project-dir", type=click.Path(path_type=Path), help="Folder of the dbt project.")
@click.option("--profiles-dir", type=click.Path(path_type=Path), help="Folder of profiles.yml.")
@click.option("--target", help="Target of the profile.")
@click.option("--vars", "variables", metavar="YAML", help="Variables of the project.")
def stream(
    models: tuple[str, ...],
    project_dir: Path | None,
    profiles_dir: Path | None,
    target: str | None,
    variables: str | None,
) -> None:
    """Leave streaming models running, until Ctrl-C.

    Each MODEL is what `dbt run --select` takes. A model's trigger says how often it looks for new rows, every 10
    seconds by default. On Ctrl-C, the micro-batches that run are ended first.
    """
    from dbt.adapters.sparkstream.streaming import continuous

    options = {"--project-dir": project_dir, "--profiles-dir": profiles_dir, "--target": target, "--vars": variables}
    given = [text for name, value in options.items() if value is not None for text in (name, str(value))]
    # One thread for each model, as none ends before the others.
    if not continuous.run([*given, "--threads", "32", "--select", *models]):
        sys.exit(1)


@main.group()
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
            _fail(f"the server (pid {started.state.pid}) runs already; stop it first, or leave --foreground out")
        click.echo(_describe_start(started.state, started.already_running))
        if foreground:
            try:
                local.wait()
            except KeyboardInterrupt:
                local.stop()
                click.echo("stopped", err=True)
    except ServerError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        _fail("interrupted")


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
        _fail(str(error))


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
        _fail(str(error))
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


def _fail(message: str) -> NoReturn:
    """Ends the command with the message on standard error and exit code 1."""
    click.echo(message, err=True)
    sys.exit(1)


if __name__ == "__main__":
    main(prog_name="sparkstream")
