"""Places of errors: from the text that Spark or the translator reads back to the line of the user's file.

A statement is made in steps, and each step keeps a map from its text to the text before it (`Traced`):

    file -> template -> rendered by Jinja -> translated -> with CTEs of ephemeral models -> in a statement -> sent

Where a step has written something new, the word at fault is looked for in the piece that it was made from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt.adapters.sparkstream.messages.faults import Fault, Spot
from dbt.adapters.sparkstream.sql.core.errors import Finding
from dbt.adapters.sparkstream.sql.core.traced import Span, Traced

_OF_DBT = re.compile(r"\{\{[-+]?\s*(ref|source|this)\b")
"""A Jinja expression for a relation's name: to the SQL's author, it is the name."""
_WORD = re.compile(r"[\w.`]+|\S?")


@dataclass(frozen=True)
class Text:
    """The SQL of a node, from its template to what Spark gets.

    Attributes:
        node: the node that has the template in `raw_code` and its file in `original_file_path`.
        rendered: Jinja's output of the template.
        translated: the translator's output of that.
        blocks: SQL in the template that was translated while Jinja rendered it, by `window_sql`.
    """

    node: Any
    rendered: Traced
    translated: Traced
    blocks: tuple[tuple[str, Traced], ...] = ()


@dataclass(frozen=True)
class Place:
    """A place in a file or a statement, for messages.

    Attributes:
        name: the place in words, such as `models/bids.sql:4:58`.
        line: the whole line of text that it is in.
        column: its column in the line, from 1.
        width: number of characters.
        in_node: True if it is in SQL of a node, and not in a statement around it.
    """

    name: str
    line: str
    column: int
    width: int
    in_node: bool = True


def located(
    spot: Spot, statement: str, sent: Traced, texts: Iterable[tuple[Text, str]], header: str, root: Path
) -> Place | None:
    """The place of Spark's error; None if this statement has no such place.

    Args:
        spot: its place in the text that was sent.
        statement: the statement as dbt has it.
        sent: the text that was sent, made from the statement.
        texts: the SQL of nodes that may be in the statement, each with the node's compiled code.
        header: the comment that dbt puts before a statement; its lines don't count.
        root: the folder of the dbt project.
    """
    found = spot.within(sent.text)
    if found is None:
        return None
    at, width = _construct(sent, *found, statement)
    for text, compiled in texts:
        for begin in _places(compiled, statement):
            if begin <= at < begin + len(compiled):
                place = in_node(text, compiled, at - begin, width, root)
                if place is not None:
                    return place
    begin = len(header) if header and at >= len(header) and statement.startswith(header) else 0
    begin += len(statement[begin:]) - len(statement[begin:].lstrip())
    number, column, line = line_of(statement, at)
    return Place(f"line {number - statement.count(chr(10), 0, begin)} of the statement", line, column, width, False)


def in_node(text: Text, compiled: str, at: int, width: int, root: Path) -> Place | None:
    """The place of a character of a node's compiled code; None if the character is another node's."""
    injected = _injected(compiled, text.translated.text)
    own = injected.exact(at) if injected is not None else None
    if own is None:
        return None
    rendered = text.rendered.text
    start, width = _construct(text.translated, own, width, rendered)
    found = _before(text.rendered, start, width, text.node.raw_code)
    piece = text.rendered.place((start, start + 1))
    for written, block in text.blocks if found is None else ():
        for begin in _places(block.text, rendered):
            if begin <= start < begin + len(block.text):
                inner, width = _construct(block, start - begin, width, written)
                found = _alike(written, inner, width, text.node.raw_code, piece)
    if found is None and _OF_DBT.match(text.node.raw_code, piece[0]):
        found = piece[0], piece[1] - piece[0]
    if found is not None:
        return _in_file(text.node, *found, root)
    number, column, line = line_of(compiled, at)
    begun = "" if piece == (0, len(text.node.raw_code)) else f", from {_in_file(text.node, piece[0], 1, root).name}"
    name = f"compiled line {number}{begun or ' of ' + text.node.name}"
    return Place(name, line, column, max(1, min(width, len(line) - column + 1)))


def found(fault: Fault, texts: Iterable[tuple[Text, str]], root: Path) -> Place | None:
    """The place of an error about a text that was made of a node's SQL; None if unknown.

    The text at fault is looked for where Spark quotes it; a name only where it is in the SQL once.
    """
    piece = fault.spot.piece.split("\n", 1)[0] if fault.spot is not None else fault.named
    for text, compiled in texts if piece else ():
        assert piece
        places = [at for at in _places(piece, compiled) if not _cuts_word(compiled, at)]
        places = [at for at in places if not _cuts_word(compiled, at + len(piece))]
        if fault.condition == "MISSING_AGGREGATION":
            from dbt.adapters.sparkstream.messages.ungrouped import ungrouped

            at = ungrouped(compiled, piece)
            places = [] if at is None else [at]
        if len(places) == 1 or (places and fault.spot is not None):
            return in_node(text, compiled, places[0], len(piece), root)
    return None


def described(error: Finding, node: Any | None, project: Path, text: str, rendered: Traced | None = None) -> str:
    """The translator's finding as text, with its place in the user's file if that is known.

    Args:
        error: what is wrong; its position is in the rendered SQL.
        node: the node that dbt works on, with `raw_code` and `original_file_path`, or None.
        project: the folder of the dbt project.
        text: name of the rendered SQL, for an error without a place in the file.
        rendered: the rendered SQL, traced to the template; None if that is unknown.
    """
    found: tuple[int, int] | None = None
    if node is not None and rendered is not None:
        place = Spot(error.line, error.column - 1, error.width).within(rendered.text)
        found = None if place is None else _before(rendered, *place, node.raw_code)
    # An argument may be set elsewhere in the template.
    if node is not None and found is None and (start := written_place(error, node.raw_code)) is not None:
        found = start, error.width
    if node is None or found is None:
        path = "" if node is None else f"{node.original_file_path}, "
        return error.describe(f"{path}line {error.line}, column {error.column} of {text}")
    return shown(error, _in_file(node, *found, project))


def shown(error: Finding, place: Place) -> str:
    """A finding as text, at a place."""
    moved = copy(error)
    moved.column, moved.source_line, moved.width = place.column, place.line, place.width
    return moved.describe(place.name)


def _construct(traced: Traced, at: int, width: int, original: str) -> tuple[int, int]:
    """Place and width of a piece in the text before translation; else the start of the user's construct."""
    return (
        _before(traced, at, width, original)
        or _only(traced.text[at : at + _word(traced.text, at)], original)
        or (traced.place((at, at + 1))[0], 1)
    )


def _only(word: str, original: str) -> tuple[int, int] | None:
    """Place and width of a word that is in a text once; None for other words, and for a piece that has no letters."""
    at = original.find(word)
    cut = _cuts_word(original, at) or _cuts_word(original, at + len(word))
    once = at >= 0 and not cut and original.find(word, at + 1) < 0 and word.replace("_", "").isalnum()
    return (at, len(word)) if once else None


def _before(traced: Traced, at: int, width: int, original: str) -> tuple[int, int] | None:
    """Place and width of a piece in the text before a step; None for a piece that the step has written."""
    start = traced.exact(at)
    if start is None:
        return _alike(traced.text, at, width, original, traced.place((at, at + 1)))
    end = traced.exact(at + width - 1)
    return start, end - start + 1 if end is not None and end >= start else min(width, _word(traced.text, at))


def _alike(text: str, at: int, width: int, original: str, span: Span) -> tuple[int, int] | None:
    """Place and width, within a span of the original, of the word at a place in a text; None if it isn't there."""
    _, column, line = line_of(text, at)
    piece = original[slice(*span)]
    for length in dict.fromkeys((min(width, len(line) - column + 1), _word(text, at))):
        found = written_place(Finding("", column=column, source_line=line, width=length), piece)
        if found is not None and any(map(str.isalnum, text[at : at + length])):  # a comma may be any comma
            return span[0] + found, length
    return None


def _word(text: str, at: int) -> int:
    found = _WORD.match(text, at)
    return max(1, len(found[0])) if found else 1


def _injected(compiled: str, own: str) -> Traced | None:
    """A node's compiled code, traced to its own SQL, into which dbt puts CTEs at one place; None if it does more."""
    more = len(compiled) - len(own)
    begin = _common(compiled, own)
    if more < 0 or compiled[begin + more :] != own[begin:]:
        return None
    end = len(own)
    pieces = ((0, (0, begin), True), (begin, (begin, begin), False), (begin + more, (begin, end), True))
    return Traced(compiled, pieces if more else ((0, (0, end), True),))


def _in_file(node: Any, at: int, width: int, root: Path) -> Place:
    """A place of a node's template, in its file."""
    # dbt cuts blank lines, and what is around a snapshot.
    written = read(root / node.original_file_path)
    start = written.find(node.raw_code)
    in_file = start >= 0
    if not in_file:  # a file of a package, or a query on the command line
        written, start = node.raw_code, 0
    number, column, line = line_of(written, start + at)
    path, of_node = f"{node.original_file_path}:{number}:{column}", f"line {number}, column {column} of {node.name}"
    return Place(path if in_file else of_node, line, column, max(1, min(width, len(line) - column + 1)))


def line_of(text: str, at: int) -> tuple[int, int, str]:
    """Number and column of a character, and its whole line."""
    start = text.rfind("\n", 0, at) + 1
    return text.count("\n", 0, at) + 1, at - start + 1, text[start:].split("\n", 1)[0]


def read(path: Path) -> str:
    """Text of a file of the user's; empty if it can't be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _places(piece: str, text: str) -> Iterator[int]:
    at = text.find(piece) if piece else -1
    while at >= 0:
        yield at
        at = text.find(piece, at + 1)


def written_place(error: Finding, raw_code: str) -> int | None:
    """Offset in a template of the piece that an error points at; None for a macro's text.

    The piece at fault is looked for in the template; where it is there several times, the one counts that has most
    of the text around it in common with the rendered line.
    """
    start = error.column - 1
    piece = error.source_line[start : start + error.width]
    if not piece.strip():
        return None
    before, after = error.source_line[:start], error.source_line[start + len(piece) :]
    scores: dict[int, int] = {}
    for at in _places(piece, raw_code):
        if _cuts_word(raw_code, at) or _cuts_word(raw_code, at + len(piece)):
            continue
        left = raw_code[raw_code.rfind("\n", 0, at) + 1 : at]
        right = raw_code[at + len(piece) :].split("\n", 1)[0]
        scores[at] = _common(left.lstrip()[::-1], before.lstrip()[::-1]) + _common(right, after)
    best = sorted(scores, key=scores.__getitem__)[-2:]
    if not best or (len(best) == 2 and scores[best[0]] == scores[best[1]]):
        return None
    if len(piece.strip()) + scores[best[-1]] < 3:  # a lone comma or parenthesis says nothing
        return None
    return best[-1]


def _cuts_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and all(c.isalnum() or c == "_" for c in text[at - 1 : at + 1])


def _common(a: str, b: str) -> int:
    """Length of the beginning that two texts share."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
