"""Renderings: the piece of a template that each piece of its output comes from.

Jinja gives a template's output piece by piece and knows the line of each. dbt has no public place for either, so two
attributes of its environment are wrapped where they are found; without them, all else works.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import GeneratorType
from typing import Any

import jinja2
from jinja2.compiler import CodeGenerator

from dbt.adapters.sparkstream.compiling.templating import located
from dbt.adapters.sparkstream.sql.core.traced import Span, Traced

Piece = tuple[str, int]
"""A piece of output, and the line of the template that wrote it."""

_MARK = "_notes_lines"
_CLOSED_BY = {"call": "endcall", "filter": "endfilter"}
"""Blocks whose output is one piece -> the tag at their end."""


class _Thread(threading.local):
    notes: list[list[Piece]] | None = None


_thread = _Thread()


class _Lines(CodeGenerator):
    """Jinja's generator of Python for a template; while a node is rendered, each piece of output has its own line."""

    def _output_child_to_const(self, node: Any, frame: Any, finalize: Any) -> str:
        if _thread.notes is not None:
            raise jinja2.nodes.Impossible  # Jinja would join constants to one piece, whose line it doesn't note
        return super()._output_child_to_const(node, frame, finalize)


def install() -> None:
    """Changes the Jinja environment of dbt's templates, once, if dbt has it."""
    try:
        from dbt_common.clients.jinja import MacroFuzzEnvironment as Environment
    except ImportError:
        return
    if getattr(Environment, _MARK, False) or Environment.code_generator_class is not CodeGenerator:
        return
    Environment.code_generator_class = _Lines
    Environment.concat = staticmethod(_joined)
    setattr(Environment, _MARK, True)


def _joined(pieces: Iterable[str]) -> str:
    """Joined pieces of Jinja's output; a template's pieces, a generator unlike a macro's, are recorded."""
    if _thread.notes is None or not isinstance(pieces, GeneratorType):
        return "".join(pieces)
    template = pieces.gi_frame.f_globals.get("__jinja_template__")
    if template is None:
        return "".join(pieces)
    recorded = [(text, template.get_corresponding_lineno(pieces.gi_frame.f_lineno)) for text in pieces]
    _thread.notes.append(recorded)
    return "".join(text for text, _ in recorded)


@contextmanager
def recording() -> Iterator[list[list[Piece]]]:
    """Collects the pieces of each template that is rendered in this thread."""
    outer, _thread.notes = _thread.notes, []
    try:
        yield _thread.notes
    finally:
        _thread.notes = outer


def traced(template: str, output: str, notes: Iterable[list[Piece]]) -> Traced:
    """A template's output with each piece's place in the template: the whole template if the place is unknown.

    Args:
        notes: the pieces of templates, this one's among them.
    """
    if output == template:
        return Traced.same(template)
    whole = Traced(output, ((0, (0, len(template)), False),))
    recorded = [pieces for pieces in notes if "".join(text for text, _ in pieces) == output]
    parts = list(_parts(template)) if recorded else []
    if not parts:
        return whole
    found: list[tuple[int, Span, bool]] = []
    start = at = 0
    for text, line in recorded[-1]:
        here = [part for part in parts if part.line <= line <= part.last and part.text in (None, text)]
        here.sort(key=lambda part: (part.span[0] < at, part.text is None, part.span))
        span, copied = (here[0].span, here[0].text is not None) if here else ((0, len(template)), False)
        if text:
            found.append((start, span, copied))
        start += len(text)
        at = here[0].span[1] if here else at
    return Traced(output, tuple(found)) if found else whole


@dataclass(frozen=True)
class _Part:
    """A part of a template that gives a piece of output: its first and its last line, and its span.

    Attributes:
        text: its text; None for an expression or a block, whose text is computed.
    """

    line: int
    last: int
    span: Span
    text: str | None


def _parts(template: str) -> Iterator[_Part]:
    begin = first = 0
    closing: list[tuple[str, int, int]] = []  # blocks around, whose output is a piece of theirs
    opened = ""
    for found, line, kind, text in located(template):
        at = found + len(text)
        if kind == "data" and not closing:
            yield _Part(line, line, (found, at), text)
        elif kind in ("variable_begin", "block_begin"):
            begin, first, opened = found, line, ""
        elif kind == "variable_end" and not closing:
            yield _Part(first, line, (begin, at), None)
        elif kind == "name" and not opened:
            opened = text
        elif kind == "block_end" and opened in _CLOSED_BY:
            closing.append((_CLOSED_BY[opened], first, begin))
        elif kind == "block_end" and closing and opened == closing[-1][0]:
            _, first, begin = closing.pop()
            if not closing:
                yield _Part(first, line, (begin, at), None)
