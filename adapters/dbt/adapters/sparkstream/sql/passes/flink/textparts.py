"""SUBSTRING, OVERLAY, POSITION and LIKE of Flink SQL: what they give outside of a text, and for a backslash."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter
from dbt.adapters.sparkstream.sql.passes.flink.texts import locate_from


class TextParts(Rewriter):
    """Edits SUBSTRING, OVERLAY, POSITION and LIKE.

    Places count as in Flink's `BinaryStringData.substringSQL` and `overlay`.
    """

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            exp.Substring: self._substring,
            exp.Overlay: self._overlay,
            exp.StrPosition: self._position,
            exp.Like: self._like,
            exp.Escape: self._escape,
        }

    def _substring(self, node: exp.Expr) -> Iterator[Edit]:
        """A part that begins before the text is empty, and one of a negative length NULL."""
        type_ = self.type(node.this)
        start, length = node.args.get("start"), node.args.get("length")
        before = _may_be_negative(start) and type_ != "binary"
        negative = _may_be_negative(length)
        if not (before or negative):
            return

        def text() -> str:
            cases = []
            if length is not None and negative:
                cases.append(f"WHEN {self.text(length)} < 0 THEN NULL")
            if start is not None and before:
                cases.append(f"WHEN {self.text(start)} + CHAR_LENGTH({self.text(node.this)}) < 0 THEN ''")
            return f"CASE {' '.join(cases)} ELSE {self.text(node)} END"

        yield Edit(self.source.span(node), text, level=1)

    def _like(self, node: exp.Expr) -> Iterator[Edit]:
        """Without ESCAPE, Flink has no escape character in a pattern; Spark's is the backslash."""
        pattern = node.expression
        plain = isinstance(pattern, exp.Literal) and "\\" not in pattern.name
        if not plain and not isinstance(node.parent, exp.Escape):
            yield Edit(self.source.span(node), lambda: f"{self.text(node)} ESCAPE '\\0'", level=1)

    def _escape(self, node: exp.Expr) -> Iterator[Edit]:
        """What a constant pattern escapes is %, _ or the character itself."""
        pattern, sign = node.this.expression, node.expression.name
        if isinstance(node.this, exp.Like) and isinstance(pattern, exp.Literal) and len(sign) == 1:
            left = pattern.name.replace(sign * 2, "").replace(f"{sign}%", "").replace(f"{sign}_", "")
            if sign in left:
                self.refuse(pattern, f"{sign} escapes nothing here", "put it before % or _, or twice")
        yield from ()

    def _position(self, node: exp.Expr) -> Iterator[Edit]:
        """`POSITION('l' IN text FROM 4)`: Spark's POSITION begins at the first character."""
        start = node.args.get("position")
        if start is not None:
            parts = node.args["substr"], node.this, start
            yield self.edit(node, lambda: locate_from(*map(self.text, parts)))

    def _overlay(self, node: exp.Expr) -> Iterator[Edit]:
        """From a place outside of the text it changes nothing; what replaces no character cuts the rest off."""

        def text() -> str:
            whole, new = self.text(node.this), self.text(node.expression)
            start = self.text(node.args["from_"])
            length = self.text(node.args["for_"]) if node.args.get("for_") else f"CHAR_LENGTH({new})"
            rest = f"CASE WHEN {length} <= 0 THEN '' ELSE SUBSTRING({whole}, {start} + {length}) END"
            parts = f"CONCAT(LEFT({whole}, {start} - 1), {new}, {rest})"
            return f"CASE WHEN {start} NOT BETWEEN 1 AND CHAR_LENGTH({whole}) THEN {whole} ELSE {parts} END"

        yield self.edit(node, text)


def _may_be_negative(node: exp.Expr | None) -> bool:
    """Whether a number is there, and isn't written as a constant such as 3."""
    return node is not None and not (isinstance(node, exp.Literal) and not node.is_string)
