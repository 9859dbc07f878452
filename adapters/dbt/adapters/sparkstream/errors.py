"""Error messages for the person who made the mistake."""

from __future__ import annotations

import re
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.sql import TranslationError

_STACK_LINE = re.compile(r"^\s*(at [\w.$<>/@]+\(.*\)|\.\.\. \d+ more)\s*$")
_ERROR_CLASS = re.compile(r"\[[A-Z][A-Z0-9_]+(\.[A-Z0-9_]+)*\] ")


def readable(message: str) -> str:
    """A message of Spark without Java's stack trace, Java's class names in front and Spark's query plan behind.

    Args:
        message: as pyspark or the Thrift server hands it over.
    """
    lines = [line for line in message.strip().splitlines() if not _STACK_LINE.match(line)]
    text = "\n".join(lines).split("\n\nJVM stacktrace:")[0].split("\nDriver stacktrace:")[0]
    # Hive and Spark each put their own words before Spark's message, which begins with its name in brackets.
    classes = list(_ERROR_CLASS.finditer(text.split("\n", 1)[0]))
    if classes:
        text = text[classes[-1].start() :]
    # An analysis error ends with the plan of the query.
    return re.split(r";\n(?=['+:\w])", text)[0].strip()


def described(error: TranslationError, node: Any | None, text: str = "the SQL") -> str:
    """A TranslationError as text, with its place in the file that the user wrote where that can be told.

    Args:
        error: what is wrong; its position is in the rendered SQL.
        node: what dbt is working on, with `raw_code` and `original_file_path`; None where there is no such thing.
        text: what the rendered SQL is to the user, for an error whose place in the file can't be told.
    """
    place = None if node is None else written_place(error, node.raw_code)
    if place is None:
        path = "" if node is None else f"{node.original_file_path}, "
        return error.describe(f"{path}line {error.line}, column {error.column} of {text}")
    line, column = place
    in_file = copy(error)
    in_file.column = column
    in_file.source_line = node.raw_code.splitlines()[line - 1]  # type: ignore[union-attr]
    first = _first_line(node)
    if first is None:
        return in_file.describe(f"line {line}, column {column} of {node.name}")  # type: ignore[union-attr]
    return in_file.describe(f"{node.original_file_path}:{first + line - 1}:{column}")  # type: ignore[union-attr]


def _first_line(node: Any) -> int | None:
    """The line of its file that a node's `raw_code` begins in: dbt cuts blank lines, and what is around a snapshot."""
    try:
        before, found, _ = Path(node.original_file_path).read_text().partition(node.raw_code)
    except (OSError, UnicodeDecodeError):
        # The file of a package is relative to the package; an inline query or a hook of a project has none.
        return 1 if node.original_file_path.endswith(".sql") else None
    return before.count("\n") + 1 if found else None


def written_place(error: TranslationError, raw_code: str) -> tuple[int, int] | None:
    """Line and column, from 1, of what the error points at in a template, or None where it can't be told.

    The piece at fault is looked for in the template; where it is there several times, the one counts that has most
    of the text around it in common with the rendered line.
    """
    start = error.column - 1
    piece = error.source_line[start : start + error.width]
    if not piece.strip():
        return None
    before, after = error.source_line[:start], error.source_line[start + len(piece) :]
    scores: dict[int, int] = {}
    at = raw_code.find(piece)
    while at >= 0:
        left = raw_code[raw_code.rfind("\n", 0, at) + 1 : at]
        right = raw_code[at + len(piece) :].split("\n", 1)[0]
        scores[at] = _common(left.lstrip()[::-1], before.lstrip()[::-1]) + _common(right, after)
        at = raw_code.find(piece, at + 1)
    best = sorted(scores, key=scores.__getitem__)[-2:]
    if not best or (len(best) == 2 and scores[best[0]] == scores[best[1]]):
        return None
    if len(piece.strip()) + scores[best[-1]] < 3:  # a lone comma or parenthesis says nothing
        return None
    line_start = raw_code.rfind("\n", 0, best[-1]) + 1
    return raw_code.count("\n", 0, best[-1]) + 1, best[-1] - line_start + 1


def _common(a: str, b: str) -> int:
    """How many characters two texts begin with alike."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
