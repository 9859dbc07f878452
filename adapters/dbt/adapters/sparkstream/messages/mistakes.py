"""Mistakes in the calls of our macros and tests: their places in the user's file, and what was meant.

A macro stops with `tumble's size is not a text: 10`. dbt adds the macros that it was in, whose files the user has not
written. Here the line of the call takes their place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import yaml
from dbt_common.exceptions import CompilationError, DbtDatabaseError, DbtRuntimeError

from dbt.adapters.sparkstream.compiling.templating import LEXER, located, split_arguments
from dbt.adapters.sparkstream.messages.places import line_of, read
from dbt.adapters.sparkstream.sql.core.errors import TranslationError, did_you_mean
from dbt.adapters.sparkstream.streaming.refusals import StreamingError

PACKAGES = ("sparkstream", "dbt_sparkstream")
"""The names of the package, and of the same macros in the adapter."""

_OF_ARGUMENT = re.compile(r"^(\w+)'s (\w+) |has no argument (\w+)")
_UNDEFINED = re.compile(r"^'(\w+)' is undefined")


class PlacedError(DbtRuntimeError):
    """Error of a streaming model whose message has its place; no other place is added to it."""


@dataclass(frozen=True)
class Argument:
    """An argument in a template.

    Attributes:
        name: its name; None if it isn't known.
        start: begin of its value, in characters from the beginning of the template.
        text: its value as it is written.
    """

    name: str | None
    start: int
    text: str

    @property
    def value(self) -> str:
        return self.text.strip("'\"")


@dataclass(frozen=True)
class Call:
    """The call of a macro in a template; `start` is where its name begins."""

    name: str
    start: int
    arguments: tuple[Argument, ...]

    def argument(self, name: str) -> Argument | None:
        return next((a for a in self.arguments if a.name == name), None)


def placed(error: DbtRuntimeError, node: Any, project: Path, macros: Sequence[Any]) -> DbtRuntimeError:
    """An error of dbt's; if a macro of ours has raised it, with the place of the mistake in the user's file.

    Args:
        error: dbt's error while it rendered a node.
        node: the node.
        project: the folder of the dbt project.
        macros: the macros of the project.
    """
    if isinstance(error, PlacedError):
        return error
    ours = [macro for macro in error.stack if _is_ours(macro)]
    if not ours and isinstance(error.__cause__, StreamingError):  # dbt records no macros for these
        return placed_config(error, node, project)
    if not ours:
        return _misspelt(error, node, project, macros)
    error.stack = [item for item in error.stack if not _is_ours(item)]
    called, cause = ours[-1], error.__cause__
    if getattr(node, "test_metadata", None) is not None:
        if isinstance(cause, TranslationError):  # its place is in the SQL that dbt makes of the test
            error.msg = f"{cause.message}\n  {cause.hint}"
        return _placed_in_yaml(error, node, project, called.name.removeprefix("test_"))
    if isinstance(cause, TranslationError):  # it has its place
        return error
    message = str(error.msg)
    if re.match(rf"{called.name}\b", message):
        found = _OF_ARGUMENT.search(message)
        spot = _spot(node.raw_code, called, (found[2] or found[3]) if found else None, message)
    else:
        spot = _config_spot(node.raw_code, message)
    return _described(error, node, project, spot)


def placed_config(error: DbtRuntimeError, node: Any, project: Path) -> DbtRuntimeError:
    """An error about a config of a node, with the place of the config where it stands in the node's file.

    Args:
        error: error about a node that dbt has rendered.
        node: the node.
        project: the folder of the dbt project.
    """
    if isinstance(error, (DbtDatabaseError, PlacedError)) or isinstance(error.__cause__, TranslationError):
        return error
    message = str(error.msg)
    spot = _config_spot(node.raw_code, message) or _stream_spot(node.raw_code, message)
    return _described(error, node, project, spot)


def placed_stream(error: PlacedError, node: Any, project: Path) -> PlacedError:
    """Error of a streaming model, placed at its config, at `stream()`, or at `config` for a missing one."""
    first, _, hint = str(error.msg).partition("\n  ")
    calls = list(_calls(node.raw_code, "config", ()))
    given = [argument for call in calls for argument in call.arguments]
    begun = re.match(r"\w+", first)
    spots = [(a.start, len(a.text)) for a in given if begun and a.name == begun[0]]
    if not spots and (of_stream := _stream_spot(node.raw_code, first)):
        spots = [of_stream]
    if not spots and (hint.startswith("write config(") or first.endswith("for the event time")):
        times = [(a.start, len(a.text)) for a in given if a.name == "event_time" and a.value in first.split()]
        found = _config_spot(node.raw_code, first)
        spots = times or ([found] if found else [(call.start, len(call.name)) for call in calls])
        if not spots:
            error.msg = "\n  ".join(part for part in (first, node.original_file_path, hint) if part)
            return error
    _described(error, node, project, spots[0] if spots else _config_spot(node.raw_code, first))
    return error


def _misspelt(error: DbtRuntimeError, node: Any, project: Path, macros: Sequence[Any]) -> DbtRuntimeError:
    """As `placed`, for an undefined name that is nearly the name of one of our macros."""
    found = _UNDEFINED.search(str(error.msg))
    if found is None or getattr(node, "test_metadata", None) is not None:
        return error
    known = [m.name for m in macros if _is_ours(m) and m.description and not m.name.startswith("test_")]
    hint = did_you_mean(found[1], known)
    spots = [offset for offset, kind, text in _tokens(node.raw_code) if kind == "name" and text == found[1]]
    if not (hint and spots):
        return error
    # Not an UndefinedMacroError: dbt adds a hint to run `dbt deps` there, which doesn't help here.
    told = CompilationError(f"there is no macro {found[1]}\n  {hint}", error.node)
    told.stack = error.stack
    return _described(told, node, project, (spots[0], len(found[1])))


def _placed_in_yaml(error: DbtRuntimeError, node: Any, project: Path, test: str) -> DbtRuntimeError:
    found = _OF_ARGUMENT.search(str(error.msg))
    text = read(project / node.original_file_path)
    spot = _in_yaml(text, test, (found[2] or found[3]) if found else None, bool(found and found[3]), node)
    if spot:
        _describe(error, node, *spot, text)
    return error


def _described(error: DbtRuntimeError, node: Any, project: Path, spot: tuple[int, int] | None) -> DbtRuntimeError:
    """An error, with the place of a spot of its node's template, where the node's file has the template."""
    text = read(project / node.original_file_path)
    start = text.find(node.raw_code)  # dbt cuts blank lines, and what is around a snapshot
    if spot is not None and start >= 0:
        _describe(error, node, start + spot[0], spot[1], text)
    return error


def _config_spot(template: str, message: str) -> tuple[int, int] | None:
    """Place and length of the config whose name or value is in a message's first line; None without one."""
    first = message.split("\n", 1)[0]
    given = [argument for call in _calls(template, "config", ()) for argument in call.arguments if argument.name]
    # A message has the name as it is written, or in words: "the incremental strategy merge".
    named = [a for a in given if re.search(rf"\b{re.escape(str(a.name)).replace('_', '[_ ]')}\b", first)]
    valued = [a for a in given if len(a.value) > 2 and a.value in first]
    return next(((a.start, len(a.text)) for a in [*named, *valued]), None)


def _stream_spot(template: str, message: str) -> tuple[int, int] | None:
    """The call of `stream()`, or its argument, that a message begins with; None for another message."""
    spot: tuple[int, int] | None = None
    word = re.match(r"(\w+)(\(\)|:)", message)
    if word is None:
        return None
    for call in _calls(template, "stream", ("relation", "watermark", "event_time")):
        given = call.argument(word[1])
        if given is not None or word[1] == call.name:
            spot = (given.start, len(given.text)) if given else (call.start, len(call.name))
    return spot


def _is_ours(item: Any) -> bool:
    return getattr(item, "resource_type", None) == "macro" and item.package_name in PACKAGES


def _describe(error: DbtRuntimeError, node: Any, at: int, width: int, text: str) -> None:
    """Adds a place to an error's message: `at` characters into a text."""
    message, _, hint = str(error.msg).partition("\n")
    number, column, line = line_of(text, at)
    finding = TranslationError(message, line=number, column=column, source_line=line, width=width)
    described = finding.describe(f"{node.original_file_path}:{number}:{column}")
    error.msg = f"{described}\n{hint}" if hint else described


def _spot(template: str, macro: Any, argument: str | None, message: str) -> tuple[int, int] | None:
    """Place and length of a mistake in a template: an argument or the macro's name; None if it isn't certain."""
    names, fault = _signature(macro), message.split("\n", 1)[0]
    found: list[tuple[Call, Argument | None]] = []
    for call in _calls(template, macro.name, names):
        given = call.argument(argument) if argument else None
        if given is None and argument is None:
            given = next((a for a in call.arguments if f"'{a.value}'" in fault), None)
        found.append((call, given))
    if len(found) > 1:
        missing = "is missing" in fault
        found = [(c, a) for c, a in found if (a is None if missing else a is not None and a.value in fault)]
    if len(found) != 1:
        return None
    call, given = found[0]
    return (call.start, len(call.name)) if given is None else (given.start, len(given.text))


def _signature(macro: Any) -> list[str]:
    """The names of a macro's arguments, in their order."""
    try:
        parsed = LEXER.parse(macro.macro_sql)
    except jinja2.TemplateError:
        return []
    return next(([a.name for a in m.args] for m in parsed.find_all(jinja2.nodes.Macro) if m.name == macro.name), [])


def _tokens(template: str) -> Iterator[tuple[int, str, str]]:
    """The tokens within a template's Jinja, each with its place in characters."""
    inside = False
    for start, _, kind, text in located(template):
        if kind in ("variable_begin", "block_begin"):
            inside = True
        elif kind in ("variable_end", "block_end"):
            inside = False
        elif inside and kind != "whitespace":
            yield start, kind, text


def _calls(template: str, macro: str, names: Sequence[str]) -> Iterator[Call]:
    """The calls of a macro.

    Args:
        names: its arguments' names, in their order.
    """
    tokens = list(_tokens(template))
    for i, (start, kind, text) in enumerate(tokens[:-1]):
        if kind == "name" and text == macro and tokens[i + 1][2] == "(":
            yield Call(macro, start, tuple(_arguments(template, tokens[i + 2 :], names)))


def _arguments(template: str, tokens: Sequence[tuple[int, str, str]], names: Sequence[str]) -> Iterator[Argument]:
    for position, part in enumerate(part for part in split_arguments(tokens) if part):
        named = len(part) > 2 and part[1][2] == "="
        name = part[0][2] if named else (names[position] if position < len(names) else None)
        first, last = part[2 if named else 0], part[-1]
        yield Argument(name, first[0], template[first[0] : last[0] + len(last[2])])


def _in_yaml(text: str, test: str, argument: str | None, by_name: bool, node: Any) -> tuple[int, int] | None:
    """Place and length of a test's argument in a file of properties, else of the test's name; None if it isn't found.

    Args:
        by_name: True for the argument's name, False for its value.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return None
    given = {name: str(value) for name, value in node.test_metadata.kwargs.items()}
    for name, arguments in _tests(root, test):
        if all(given.get(k.value) == v.value for k, v in arguments if isinstance(v.value, str)):
            spots = [k if by_name else v for k, v in arguments if k.value == argument]
            begin, end = (spots or [name])[0].start_mark, (spots or [name])[0].end_mark
            return begin.index, end.index - begin.index if begin.line == end.line else 1
    return None


def _tests(root: Any, test: str) -> Iterator[tuple[Any, list[tuple[Any, Any]]]]:
    """The places where a test is named, each with its arguments."""
    if isinstance(root, yaml.SequenceNode):
        for item in root.value:
            yield from _tests(item, test)
    elif isinstance(root, yaml.MappingNode):
        for key, value in root.value:
            if isinstance(value, yaml.MappingNode) and str(key.value).split(".")[-1] == test:
                inner = next((v.value for k, v in value.value if k.value == "arguments"), value.value)
                yield key, [pair for pair in inner if pair[0].value not in ("name", "config")]
            yield from _tests(value, test)
