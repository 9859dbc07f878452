"""The reference, as pages: written from the macros and their YAML, the commands and the docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import jinja2
import yaml
from jinja2 import nodes

MACROS = Path(__file__).parents[1] / "macros"
_JINJA = jinja2.Environment(extensions=["jinja2.ext.do"])


@cache
def reference_pages() -> dict[str, str]:
    """Page -> its text."""
    pages = {
        "reference/profile.md": _profile(),
        "reference/cli.md": _command_line(),
        "reference/python.md": _python(),
    }
    for path in sorted(MACROS.rglob("*.yml")):
        for macro in yaml.safe_load(path.read_text(encoding="utf-8")).get("macros", []):
            kind, name = (
                ("tests", macro["name"][5:]) if macro["name"].startswith("test_") else ("macros", macro["name"])
            )
            pages[f"reference/{kind}/{name}.md"] = _macro(macro, name, path.with_suffix(".sql"))
    return pages


def _macro(macro: dict[str, Any], name: str, source: Path) -> str:
    is_test = macro["name"] != name
    defaults = _defaults(source, macro["name"])
    signature = ", ".join(
        argument + (f"={defaults[argument]}" if defaults[argument] is not None else "")
        for argument in defaults
        if not (is_test and argument in ("model", "column_name"))
    )
    rows = [
        f"| `{a['name']}` | {a.get('type', '')} | {_default(defaults.get(a['name']))} | {_cell(a['description'])} |"
        for a in macro.get("arguments", [])
    ]
    return "\n".join(
        [
            f"# {name}",
            "",
            "```python",
            f"{name}({signature})",
            "```",
            "",
            _with_fences(_JINJA.from_string(macro["description"]).render()),
            "",
            *(["## Arguments", "", "| argument | type | default | |", "|---|---|---|---|", *rows, ""] if rows else []),
            f"Source: [`macros/{source.relative_to(MACROS).as_posix()}`]"
            f"(../../../macros/{source.relative_to(MACROS).as_posix()})",
            "",
        ]
    )


def _defaults(source: Path, name: str) -> dict[str, str | None]:
    """The arguments of a macro, each with its default as it is written."""
    # dbt's own tags are macros to Jinja.
    text = re.sub(r"{%(-?)\s*test (\w+)", r"{%\1 macro test_\2", source.read_text(encoding="utf-8"))
    text = re.sub(r"endtest\b", "endmacro", text)
    text = re.sub(r"{%(-?)\s*materialization.*?endmaterialization\s*-?%}", "", text, flags=re.S)
    macro = next(m for m in _JINJA.parse(text).find_all(nodes.Macro) if m.name == name)
    found: dict[str, str | None] = {argument.name: None for argument in macro.args}
    for argument, default in zip(macro.args[::-1], macro.defaults[::-1], strict=False):
        found[argument.name] = repr(default.as_const()).replace("None", "none")
    return found


def _default(written: str | None) -> str:
    return "" if written is None else f"`{written}`"


def _cell(text: str) -> str:
    return _JINJA.from_string(" ".join(text.split())).render().replace("|", "\\|")


def _with_fences(text: str) -> str:
    """Indented blocks as fenced ones, which say their language."""

    def fenced(block: re.Match[str]) -> str:
        code = inspect.cleandoc(block[0])
        language = "yaml" if re.match(r"(models|sources|seeds):", code) else "sql"
        return f"```{language}\n{code}\n```\n"

    return re.sub(r"(?:^ {4}.*\n?(?:^[ \t]*\n(?=^ {4}))*)+", fenced, text, flags=re.M)


def _profile() -> str:
    from dbt.adapters.sparkstream.credentials import SparkStreamCredentials

    own = SparkStreamCredentials.__annotations__
    fields = dataclasses.fields(SparkStreamCredentials)
    described = _attributes(SparkStreamCredentials)
    rows = [
        f"| `{f.name}` | {'`' + repr(_value(f)) + '`' if _value(f) is not None else ''} | "
        f"{described[f.name] if f.name in own else _OF_DBT_SPARK.get(f.name, '')} |"
        for f in sorted(fields, key=lambda f: f.name not in own)
        if f.name in own or f.name in _OF_DBT_SPARK
    ]
    return "\n".join(
        [
            "# Profile",
            "",
            "An output of `profiles.yml` with `type: sparkstream`. `dbt init` asks for what is needed. The first are",
            "this adapter's own, the others those of dbt-spark.",
            "",
            "| key | default | |",
            "|---|---|---|",
            *rows,
            "",
            "`method: http` and `method: odbc` are dbt-spark's, with its other keys.",
            "",
        ]
    )


_OF_DBT_SPARK = {
    "method": "`session`: Spark inside the dbt process; `thrift`: a Thrift server.",
    "schema": "Where dbt makes its tables.",
    "host": "Name or address of the Thrift server.",
    "port": "Its port, mostly 10000; without one it is that of `method: http`.",
    "auth": "How it knows its users: `NONE` (if not given), `NOSASL`, `LDAP`, `KERBEROS`.",
    "user": "The user's name; that of the system if not given.",
    "password": "With `LDAP`.",
    "kerberos_service_name": "With `KERBEROS`.",
    "use_ssl": "Whether the connection is encrypted.",
    "server_side_parameters": "Spark's settings, such as `spark.sql.session.timeZone: UTC`.",
    "connect_retries": "How often to try again while nothing answers.",
    "connect_timeout": "Seconds between two tries.",
    "poll_interval": "Seconds, at most, between two looks whether a statement has ended.",
    "query_timeout": "Seconds that a statement may take.",
    "query_retries": "How often a statement is sent again when the connection is lost.",
}


def _value(field: dataclasses.Field[Any]) -> Any:
    return None if field.default is dataclasses.MISSING else field.default


def _attributes(cls: type) -> dict[str, str]:
    """The attributes in a class's docstring."""
    section = inspect.cleandoc(cls.__doc__ or "").partition("Attributes:\n")[2]
    items = re.findall(r"^    (\w+): (.*(?:\n {8,}.*)*)", section, re.M)
    return {name: " ".join(text.split()) for name, text in items}


_COMPLETION = """## Completion

The shell completes commands, options and files after a line in its startup file, a new shell, and the Tab key:

| shell | file | line |
|---|---|---|
| bash, from 4.4 on | `~/.bashrc` | `eval "$(_SPARKSTREAM_COMPLETE=bash_source sparkstream)"` |
| zsh | `~/.zshrc` | `eval "$(_SPARKSTREAM_COMPLETE=zsh_source sparkstream)"` |
| fish | `~/.config/fish/completions/sparkstream.fish` | `_SPARKSTREAM_COMPLETE=fish_source sparkstream \\| source` |
"""


def _command_line() -> str:
    from dbt.adapters.sparkstream.cli import main

    return "\n\n".join(
        [
            "# Command line",
            "The command `sparkstream`; `-h` after any of these prints the same.",
            *_commands(main),
            _COMPLETION,
        ]
    )


def _commands(group: click.Group, before: str = "sparkstream") -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        path = f"{before} {name}"
        if isinstance(command, click.Group):
            yield f"## {path}"
            yield inspect.cleandoc(command.help or "")
            yield from _commands(command, path)
            continue
        context = click.Context(command, info_name=path, terminal_width=100)
        usage = command.get_usage(context).removeprefix("Usage: ")
        options = [p for p in command.params if isinstance(p, click.Option)]
        rows = [_option(option, context) for option in options]
        yield f"## {path}" if before == "sparkstream" else f"### {path}"
        yield f"```text\n{usage}\n```"
        yield inspect.cleandoc(command.help or "").replace("\b\n", "")
        if rows:
            yield "\n".join(["| option | |", "|---|---|", *rows])
    yield ""


def _option(option: click.Option, context: click.Context) -> str:
    names, text = option.get_help_record(context) or (option.opts[0], "")
    return f"| `{names}` | {' '.join(text.split()).replace('|', chr(92) + '|')} |"


def _python() -> str:
    from dbt.adapters.sparkstream import sql
    from dbt.adapters.sparkstream.server import Server, ServerConfig

    parts = ["# Python", "From `dbt.adapters.sparkstream.sql`, which needs neither dbt nor Spark:"]
    parts += [_documented(sql.translate), _documented(sql.explain)]
    parts += ["From `dbt.adapters.sparkstream.server`:", _documented(ServerConfig), _documented(Server)]
    return "\n\n".join([*parts, ""])


def _documented(thing: Callable[..., Any]) -> str:
    """A function's or class's signature and docstring."""
    sections = re.split(r"^(Args|Attributes|Returns|Raises):$", inspect.getdoc(thing) or "", flags=re.M)
    out = [f"## {thing.__name__}", f"```python\n{_signature(thing)}\n```", sections[0].strip()]
    for title, body in zip(sections[1::2], sections[2::2], strict=True):
        items = re.findall(r"^    (\S+): (.*(?:\n {8,}.*)*)", body, re.M)
        lines = [f"- `{name}`: {' '.join(what.split())}" for name, what in items] or [" ".join(body.split())]
        out += [f"**{'Arguments' if title == 'Args' else title}**", "\n".join(lines)]
    methods = vars(thing).items() if inspect.isclass(thing) else ()
    rows = [
        f"| `{_signature(method)}` | {(inspect.getdoc(method) or '').partition(chr(10) * 2)[0].replace(chr(10), ' ')} |"
        for name, method in methods
        if inspect.isfunction(method) and not name.startswith("_")
    ]
    return "\n\n".join([*out, *(["\n".join(["| method | |", "|---|---|", *rows])] if rows else [])])


def _signature(thing: Callable[..., Any]) -> str:
    signature = inspect.signature(thing)
    parts: list[str] = []
    for name, parameter in signature.parameters.items():
        if name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        default = parameter.default
        written = "" if default is parameter.empty else f" = {_written(default)}"
        parts.append(f"{name}: {parameter.annotation}{written}")
    answer = signature.return_annotation
    arrow = "" if answer is signature.empty or inspect.isclass(thing) else f" -> {answer}"
    return f"{thing.__name__}({', '.join(parts)}){arrow}"


def _written(default: Any) -> str:
    """A default as one would write it, or dots."""
    text = repr(str(default)) if isinstance(default, Path) else repr(default)
    return "..." if text.startswith("<") else text
