"""A templater for sqlfluff, `templater = sparkstream`: Jinja as dbt has it, and a name in place of a window.

sqlfluff knows neither islands nor what the macros write. Each becomes a name of a table or a column, which stands where
the window stood, so that all around it is linted and fixed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from sqlfluff.core.plugin import hookimpl
from sqlfluff.core.templaters import JinjaTemplater, RawFileSlice, RawTemplater, TemplatedFile
from sqlfluff.core.templaters.base import TemplatedFileSlice

from dbt.adapters.sparkstream.compiling.configs import with_those_of_meta
from dbt.adapters.sparkstream.sql.core.windows import WINDOWS
from dbt.adapters.sparkstream.sql.dialects import DIALECTS

_NAME = "win"
"""Name in place of a window; the shortest call, `hop(t, s, 1)`, has room for it in braces."""

_STATEMENT = f"select 1 as {_NAME}"
"""Statement in place of a query in another dialect."""

# A model before Jinja has rendered it is no SQL yet, so only what can hide an island is told apart.
_QUOTED = r"'(?:[^'\\]|\\.|'')*(?:'|\\?\Z)|\"(?:[^\"\\]|\\.)*(?:\"|\\?\Z)|`[^`]*(?:`|\Z)"
"""A text in quotes; an unclosed one goes to the end, or the search would read to there from each quote."""
_CALL = rf"(?P<before><<|\b(?:from|join)\b)(?P<call>\s*(?:{'|'.join(WINDOWS)})\s*\()"
_PARTS = re.compile(rf"{_CALL}|--[^\n]*|/\*.*?(?:\*/|\Z)|{{#.*?(?:#}}|\Z)|{_QUOTED}", re.I | re.S)
_BRACKETS = re.compile(rf"[()]|{_QUOTED}", re.S)
_END = re.compile(r"\s*>>")


def windows(text: str) -> Iterator[tuple[int, int]]:
    """Places of windows in a model: islands with `<<` and `>>`, and table functions in FROM and JOIN."""
    at = 0
    while part := _PARTS.search(text, at):
        at = part.end()
        if part["call"] is None:
            continue
        island = part["before"] == "<<"
        if end := _end(text, at, island):
            called = part.start("call")
            yield part.start() if island else called + len(part["call"]) - len(part["call"].lstrip()), end
            at = end


def _end(text: str, at: int, island: bool) -> int | None:
    """The end of a call whose first bracket ends at a place; None if it isn't closed."""
    depth = 1
    for found in _BRACKETS.finditer(text, at):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if depth == 0:
            if not island:
                return found.end()
            closed = _END.match(text, found.end())
            return closed.end() if closed else None
    return None


def _without_windows(text: str) -> str:
    """The text with a Jinja expression of the same length in place of each window that has room for one."""
    for start, end in windows(text):
        room = text[start:end]
        name = f'{{{{"{_NAME}"'
        if len(room) < len(name) + 2:
            continue
        blanks = "".join(character if character == "\n" else " " for character in room[len(name) : -2])
        text = f"{text[:start]}{name}{blanks}}}}}{text[end:]}"
    return text


class SparkstreamTemplater(JinjaTemplater):
    """sqlfluff's templater for Jinja, with the macros of this package and with islands."""

    name = "sparkstream"
    _dialect = "spark"

    def get_context(self, fname: Any, config: Any) -> dict[str, Any]:
        """Names that templates may call: each macro of ours, and those of the settings."""
        from dbt.adapters.sparkstream.compiling.packaged import documented

        windows: dict[str, Any] = {file.stem: lambda *_, **__: _NAME for file in documented()}
        windows["window_sql"] = lambda *_, **__: _STATEMENT

        def configure(*_: Any, **configs: Any) -> str:
            self._dialect = str(with_those_of_meta(configs).get("sql_dialect") or "spark")
            return ""

        ours = {**windows, "sparkstream": SimpleNamespace(**windows), "config": configure}
        return {**ours, **super().get_context(fname, config)}

    def _apply_dbt_builtins(self, config: Any) -> bool:
        return True

    def process(self, *, in_str: str, fname: str, config: Any = None, formatter: Any = None) -> Any:
        """Renders a model; its places are places in the model as it is written."""
        self._dialect = "spark"
        plain = _without_windows(in_str)
        rendered, errors = super().process(in_str=plain, fname=fname, config=config, formatter=formatter)
        if rendered is None:
            return rendered, errors
        chosen = config.get("dialect") if config else None
        if self._dialect in DIALECTS and self._dialect not in ("spark", chosen):
            return _hidden(in_str, fname), errors
        raw = [part._replace(raw=in_str[part.source_idx : part.end_source_idx()]) for part in rendered.raw_sliced]
        return TemplatedFile(in_str, fname, rendered.templated_str, rendered.sliced_file, raw), errors

    # Other branches of the template would be rendered with the islands in it.
    process_with_variants = RawTemplater.process_with_variants


def _hidden(text: str, fname: str) -> TemplatedFile:
    """A model with another statement in place of its text; the line breaks at its end are its own."""
    shown = len(text.rstrip("\n"))
    end = text[shown:]
    slices = [
        TemplatedFileSlice("templated", slice(0, shown), slice(0, len(_STATEMENT))),
        TemplatedFileSlice("literal", slice(shown, len(text)), slice(len(_STATEMENT), len(_STATEMENT) + len(end))),
    ]
    raw = [RawFileSlice(text[:shown], "templated", 0), RawFileSlice(end, "literal", shown)]
    return TemplatedFile(text, fname, _STATEMENT + end, slices, raw)


@hookimpl
def get_templaters() -> list[type[RawTemplater]]:
    """Registers the templater with sqlfluff."""
    return [SparkstreamTemplater]
