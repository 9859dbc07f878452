"""Syntax that Flink ignores, and hints that Spark hasn't: both are left out with a warning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlglot import exp
from sqlglot.errors import TokenError
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.errors import TranslationWarning
from dbt.adapters.sparkstream.sql.core.nodes import find
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.tokens import Span, Tokens
from dbt.adapters.sparkstream.sql.core.windows import UNREAD, WindowFunction
from dbt.adapters.sparkstream.sql.dialects.flink import Flink
from dbt.adapters.sparkstream.sql.passes.comments import between_tokens
from dbt.adapters.sparkstream.sql.passes.flink.frames import has_ignored_frame
from dbt.adapters.sparkstream.sql.passes.flink.functions import FunctionKind, record

_KEPT = frozenset({"BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE"})
"""Hints that mean the same to Spark."""


def hint_edits(source: Source) -> Iterator[Edit]:
    """Edits that keep the part of each hint that Spark knows."""
    for span, kept, _ in _unknown_hints(source):
        yield Edit.to(span, f"/*+ {', '.join(kept)} */" if kept else _between(source, span))


def hint_warnings(source: Source) -> Iterator[TranslationWarning]:
    """One warning for each hint comment of which something is left out."""
    for span, _, gone in _unknown_hints(source):
        yield source.warning(
            span,
            f"Spark has no hint {', '.join(gone)}, so it is left out",
            "Spark has BROADCAST, SHUFFLE_HASH and SHUFFLE_MERGE; options of a source are those of its table",
        )


def _unknown_hints(source: Source) -> Iterator[tuple[Span, list[str], list[str]]]:
    """Hints that Spark lacks in part, such as all hints behind a table: span, parts to keep, names to leave out."""
    for span, in_select in _hints(source):
        parts = _parts(source, span)
        gone = [name for name, _ in parts if not (in_select and name in _KEPT)]
        if gone:
            yield span, [text for name, text in parts if name not in gone], gone


def _between(source: Source, span: Span) -> str:
    """Text in place of a hint that is left out: a space in `SELECT/*+ x */a`, nothing next to white space."""
    around = source.text[span[0] - 1 : span[0]] + source.text[span[1] : span[1] + 1]
    return "" if len(around) < 2 or any(c.isspace() for c in around) else " "


def _parts(source: Source, span: Span) -> list[tuple[str, str]]:
    """Name and text of each hint of `/*+ A(x), B(y) */`."""
    inner = source.text[span[0] + 3 : span[1] - 2]
    try:
        tokens = Tokens(Flink().tokenize(inner))
    except TokenError:
        message = "a string or name in this hint is never closed"
        raise source.error(span, message, "write /*+ NAME('key' = 'value') */") from None
    pieces = [piece for piece in tokens.pieces(0, len(tokens)) if piece]
    return [(tokens[piece.start].text.upper(), inner[slice(*tokens.span(piece))]) for piece in pieces]


def _hints(source: Source) -> list[tuple[Span, bool]]:
    """Span of each hint, and whether SELECT stands before the hint; sqlglot takes other hints for comments."""
    if "/*+" not in source.text:
        return []
    found = [(comment.span(), False) for comment in between_tokens(source) if comment[0].startswith("/*+")]
    tokens = (token for token in source.tokens if token.token_type is TokenType.HINT)
    return sorted([*found, *(((token.start, token.end + 1), True) for token in tokens)])


def ignored(tree: exp.Expr, source: Source) -> Iterator[TranslationWarning]:
    """A warning for each piece of syntax that is left out, as Flink ignores it."""
    for node in find(tree, exp.Order, exp.IgnoreNulls, exp.Window, WindowFunction):
        call: Any = node.parent if isinstance(node, exp.Order) else node.this
        function = record(call)
        if isinstance(node, exp.Window):
            if has_ignored_frame(node):
                name = node.args["alias"]
                yield source.warning(
                    name,
                    f"Flink heeds no frame behind the name of a window, {name.name}, so it is left out",
                    "write the window in full: OVER (PARTITION BY ... ORDER BY ... ROWS ...)",
                )
        elif isinstance(node, WindowFunction):
            if UNREAD in node.timecol.meta:
                yield source.warning(
                    node.timecol.meta[UNREAD],
                    f"Flink takes {node.timecol.name}, the first column of DESCRIPTOR; the others are left out",
                    f"write DESCRIPTOR({node.timecol.name})",
                )
        elif function is not None and isinstance(node, exp.Order) and function.ordered:
            yield source.warning(
                source.call_span(call),
                f"Flink's {call.name.upper()} heeds no ORDER BY, so it is left out",
                "to have an order, write ARRAY_SORT(ARRAY_AGG(x))",
            )
        elif function is not None and isinstance(node, exp.IgnoreNulls) and function.kind is FunctionKind.NEIGHBOUR:
            yield source.warning(
                source.call_span(call),
                f"Flink's {call.name.upper()} heeds no IGNORE NULLS, so it is left out",
                "to skip NULLs, write LAST_VALUE(x) OVER (... ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)",
            )
