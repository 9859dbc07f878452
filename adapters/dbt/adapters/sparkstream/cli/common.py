"""Code that several commands share: options, reading files, running dbt, and the end with an error."""

from __future__ import annotations

import json
import math
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from dbt.adapters.sparkstream.secrecy import private
from dbt.adapters.sparkstream.secrecy.redaction import redacted

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Commands(click.Group):
    """A group whose help has the whole first sentence of each command; click cuts it to a line.

    A file that can't be read or written ends a command in words, as on a full disk.
    """

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # click ends quietly where nobody reads on
        except OSError as error:
            fail(f"{error.filename}: {error.strerror}" if error.filename is not None else str(error))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, self.commands[name].get_short_help_str(1000)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _complete_dialects(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from dbt.adapters.sparkstream.sql.dialects import DIALECTS

    return [name for name in DIALECTS if name.startswith(incomplete)]


def complete_models(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The models of the project, by their files' names, for the shell. dbt would take seconds to read them."""
    import yaml

    folder = Path(ctx.params.get("project_dir") or ".")
    try:
        project = yaml.safe_load((folder / "dbt_project.yml").read_text(encoding="utf-8"))
        paths = project.get("model-paths") or ["models"]
    except (OSError, yaml.YAMLError, AttributeError):
        return []
    names = {file.stem for path in paths for end in ("sql", "py") for file in (folder / path).rglob(f"*.{end}")}
    return sorted(name for name in names if name.startswith(incomplete))


file_argument = click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
dialect_option = click.option(
    "--dialect",
    metavar="NAME",
    shell_complete=_complete_dialects,
    default="spark",
    show_default=True,
    help="The system that the SQL is written for, such as flink; 'spark' is Spark SQL plus window functions.",
)
schema_option = click.option(
    "--schema",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="JSON file with the columns of the tables: {table: {column: Spark type}}.",
)
arrival_option = click.option("--arrival", metavar="COL", help="Column that numbers the rows in order of arrival.")
_PROJECT = (
    click.option("--project-dir", type=click.Path(exists=True, file_okay=False), help="Folder of the dbt project."),
    click.option("--profiles-dir", type=click.Path(exists=True, file_okay=False), help="Folder of profiles.yml."),
    click.option("--profile", help="Profile to use."),
    click.option("--target", help="Target of the profile to use."),
    click.option("--vars", "variables", metavar="YAML", help="Variables of the project."),
)


def with_options(options: Sequence[Callable[[_Command], _Command]]) -> Callable[[_Command], _Command]:
    """Decorator of a command that adds options, in their order."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


project_options = with_options(_PROJECT)
"""Decorator that adds the options that choose a dbt project and a target to a command."""


def dbt_arguments(options: Mapping[str, str | None]) -> list[str]:
    """The options of `project_options` as dbt takes them."""
    names = {"variables": "vars"}
    given = ((f"--{names.get(k, k).replace('_', '-')}", value) for k, value in options.items() if value is not None)
    return [text for pair in given for text in pair]


def run_operation(
    macro: str, arguments: Mapping[str, Any], options: Mapping[str, str | None], show: Callable[[str], None]
) -> None:
    """Has dbt run a macro in a project, in this process; ends the command where that fails.

    Args:
        arguments: of the macro.
        options: the options of `project_options`.
        show: takes what the macro prints.
    """
    # dbt takes a second to import.
    import yaml
    from dbt.cli.main import dbtRunner

    faults: list[str] = []

    def listen(event: Any) -> None:
        if event.info.name == "PrintEvent":
            show(event.data.msg)
        elif event.info.name.startswith("RunningOperation"):
            faults.append(event.data.exc)

    operation = [
        "--log-level",
        "none",
        "run-operation",
        macro,
        # Not as JSON, which isn't all YAML: dbt would read 1e+22 as a text, and refuse the two halves of an emoji.
        f"--args={yaml.safe_dump(dict(arguments), default_flow_style=True, width=math.inf)}",
        *dbt_arguments(options),
    ]
    done = dbtRunner(callbacks=[listen]).invoke(operation)
    if isinstance(done.exception, KeyboardInterrupt):
        # A further Ctrl-C ends the command at once, without a stack trace.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        fail("interrupted")
    if not done.success:
        fail("\n".join([*faults, *([str(done.exception)] if done.exception else [])]))


def read_sql(file: str, dialect: str) -> tuple[str, str]:
    """The name of a file for messages, and the SQL in it."""
    from dbt.adapters.sparkstream.sql.dialects import DIALECTS

    if dialect not in DIALECTS:
        raise click.BadParameter(f"'{dialect}' is not one of {', '.join(DIALECTS)}", param_hint="--dialect")
    name = "<stdin>" if file == "-" else file
    # Bytes in and out, so that line ends stay as they are.
    with click.open_file(file, "rb") as source:
        content = source.read()
    try:
        return name, content.decode("utf-8-sig")  # without the mark of UTF-8 that some editors write
    except UnicodeDecodeError as error:
        fail(f"{name} is not UTF-8 text: byte {content[error.start]:#04x} at position {error.start}")


def read_schema(path: Path) -> Mapping[str, Mapping[str, str]]:
    try:
        schema: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        fail(f"{path} is not JSON: {error}")
    tables = schema.values() if isinstance(schema, dict) else [None]
    if not all(isinstance(columns, dict) and all(isinstance(t, str) for t in columns.values()) for columns in tables):
        fail(f'{path} must map tables to columns to types: {{"bid": {{"bidtime": "timestamp", "price": "double"}}}}')
    return schema


def check_empty(folder: Path, hint: str) -> None:
    """Ends the command where the folder for new files holds others, or is a file."""
    if folder.exists() and not folder.is_dir():
        fail(f"{folder} is a file\n  {hint}")
    if folder.exists() and any(folder.iterdir()):
        fail(f"{folder} holds files\n  {hint}")


def write_files(files: Mapping[str, str], folder: Path) -> None:
    """Writes files into a folder: path within it -> content."""
    for path, content in files.items():
        try:
            private.write_below(folder, path, content.encode())
        except OSError as error:
            fail(f"{folder / path} can't be written: {error.strerror}")


def fail(message: str) -> NoReturn:
    """Ends the command with the message on standard error and exit code 1."""
    click.echo(redacted(message), err=True)
    sys.exit(1)
