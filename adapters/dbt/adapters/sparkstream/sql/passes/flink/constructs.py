"""Flink's constructors and predicates that Spark writes in another way or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.literals import quoted, string_literal
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nested import Field, fields, is_array
from dbt.adapters.sparkstream.sql.core.nodes import WhenValues, is_row, row_values
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.types import is_clock
from dbt.adapters.sparkstream.sql.passes.flink import clocks
from dbt.adapters.sparkstream.sql.passes.flink.calls import row_fields
from dbt.adapters.sparkstream.sql.passes.flink.families import family
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter
from dbt.adapters.sparkstream.sql.passes.flink.variants import VARIANT, element

_REGEX_ONLY = {"\\": r"\\", "$": r"\$"}
"""What means something in Java's patterns, but stands for itself in SQL's."""
_SIMILAR_SPECIALS = frozenset("[]()|^-+*_%?{}")


def field_at(type_: str | None, place: exp.Expr) -> Field | None:
    """The field of a row that `r[1]` or `r['x']` means; None for what is no constant, or no field."""
    if not isinstance(place, exp.Literal):
        return None
    if place.is_string:
        return next((found for found in fields(type_) or () if found[0] == place.name), None)
    row, at = fields(type_) or (), int(place.name) if place.name.isdecimal() else 0
    return row[at - 1] if 1 <= at <= len(row) else None


def is_map_constructor(node: exp.Expr | None) -> bool:
    """Whether a node is `MAP[key, value, ...]`, which sqlglot takes for a subscript."""
    return isinstance(node, exp.Bracket) and isinstance(node.this, exp.Var)


def is_exists_of_values(node: exp.Expr) -> bool:
    """Whether a node is `EXISTS (VALUES ...)`."""
    if not isinstance(node, exp.Anonymous) or node.name.upper() != "EXISTS" or len(node.expressions) != 1:
        return False
    return isinstance(node.expressions[0], exp.Values)


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string


def _last_entries(parts: list[exp.Expr]) -> list[exp.Expr]:
    """The keys and values of MAP[...], of two entries with the same constant as key the last: Spark wants one."""
    pairs = list(zip(parts[::2], parts[1::2], strict=False))
    if len(parts) % 2 or not all(isinstance(key, exp.Literal) for key, _ in pairs):
        return parts
    return [part for pair in {key: (key, value) for key, value in pairs}.values() for part in pair]


class Constructs(Rewriter):
    """Edits ARRAY[...], MAP[...], x[i], SIMILAR TO, BETWEEN SYMMETRIC and OVERLAPS."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            exp.Array: self._array,
            exp.Bracket: self._bracket,
            exp.SimilarTo: self._similar,
            exp.Between: self._between,
            exp.Overlaps: self._overlaps,
            exp.Values: self._values,
            exp.In: self._in,
            exp.Tuple: self._tuple,
            exp.Case: self._case,
            exp.Anonymous: self._anonymous,
        }

    def _negated(self, predicate: exp.Expr) -> str:
        """`NOT ` where it stands before a predicate's operator."""
        return "NOT " if self.source.is_negated(predicate) else ""

    def _list(self, nodes: list[exp.Expr]) -> str:
        return ", ".join(map(self.text, nodes))

    def _array(self, node: exp.Expr) -> Iterator[Edit]:
        if self.source.tokens_in(self.source.span(node))[1].text == "[":
            yield Edit(self.source.span(node), lambda: f"ARRAY({self._list(node.expressions)})")

    def _bracket(self, node: exp.Expr) -> Iterator[Edit]:
        if is_map_constructor(node):
            yield Edit(self.source.span(node), lambda: f"MAP({self._list(_last_entries(node.expressions))})")
        elif self.type(node.this) == VARIANT:
            key = node.expressions[0]
            by_name = family(self.type(key)) == "text"
            yield Edit(self.source.span(node), lambda: element(self.text(node.this), self.text(key), by_name=by_name))
        elif fields(self.type(node.this)) is not None:
            found = field_at(self.type(node.this), node.expressions[0])
            if found is None:
                self.refuse(
                    node, "[] of a row takes the name or the place of one of its fields", "write r[1] or r['x']"
                )
            yield Edit(self.source.span(node), lambda: f"{self._whole(node.this)}.{quoted(found[0])}")
        elif is_array(self.type(node.this)) and not isinstance(node.expressions[0], exp.Literal):
            # TRY_ELEMENT_AT fails for 0, and counts from the end below.
            yield Edit(
                self.source.span(node),
                lambda: f"GET({self.text(node.this)}, {self._list(node.expressions)} - 1)",
            )
        elif self.type(node.this) is None and _is_text(node.expressions[0]):
            # Of a row or of a map, which Spark tells apart itself.
            yield Edit(self.source.span(node), lambda: f"{self._whole(node.this)}[{self._list(node.expressions)}]")
        elif self.type(node.this) is None and not isinstance(node.expressions[0], exp.Literal):
            yield Edit(self.source.span(node), lambda: self._of_unknown(node))
        else:
            # Arrays count from 1, and what isn't there is NULL.
            yield Edit(
                self.source.span(node),
                lambda: f"TRY_ELEMENT_AT({self.text(node.this)}, {self._list(node.expressions)})",
            )

    def _of_unknown(self, node: exp.Expr) -> str:
        """An element of an array, of which there is none at 0 and before it, or a value of a map."""
        whole, key = self.text(node.this), self._list(node.expressions)
        return f"CASE WHEN typeof({whole}) LIKE 'map%' OR {key} > 0 THEN TRY_ELEMENT_AT({whole}, {key}) END"

    def _whole(self, node: exp.Expr) -> str:
        """A row, of which a field is taken."""
        text = self.text(node)
        return text if isinstance(node, (exp.Column, exp.Dot, exp.Bracket, exp.Anonymous, exp.Paren)) else f"({text})"

    def _values(self, node: exp.Expr) -> Iterator[Edit]:
        """A ROW in VALUES is a row of the table, and no value in one: `VALUES ROW(1, 'a')`."""
        for row in node.expressions:
            inner = row.expressions[0] if isinstance(row, exp.Tuple) and len(row.expressions) == 1 else None
            if inner is not None and is_row(inner):
                yield Edit(self.source.call_span(inner), lambda r=inner: f"({self._list(r.expressions)})", level=1)  # type: ignore[misc]

    def _case(self, node: exp.Expr) -> Iterator[Edit]:
        """`WHEN 1, 2 THEN y` is `WHEN 1 THEN y WHEN 2 THEN y`."""
        for branch in node.args.get("ifs") or []:
            values, result = branch.this, branch.args["true"]
            if isinstance(values, WhenValues):
                if node.this is None:
                    self.refuse(values.expressions[1], "WHEN has one condition", "write OR in place of the comma")
                span = self.source.span(values.expressions[0])[0], self.source.span(result)[1]
                yield Edit(span, lambda v=values, r=result: self._branches(v, r))  # type: ignore[misc]

    def _branches(self, values: WhenValues, result: exp.Expr) -> str:
        return " WHEN ".join(f"{self.text(value)} THEN {self.text(result)}" for value in values.expressions)

    def _tuple(self, node: exp.Expr) -> Iterator[Edit]:
        """`(a, b)` as a value is ROW(a, b), with fields EXPR$0 and EXPR$1; as a key of GROUP BY it is two keys."""
        values, around = node.expressions, node.parent
        if not values:
            return
        if isinstance(around, exp.Group):
            yield Edit(self.source.span(node), lambda: self._list(values))
        elif isinstance(around, (exp.Select, exp.Alias, exp.Array, exp.Anonymous, exp.If)):
            yield Edit(self.source.span(node), lambda: f"NAMED_STRUCT({', '.join(row_fields(map(self.text, values)))})")

    def _in(self, node: exp.Expr) -> Iterator[Edit]:
        """`(a, b) IN (VALUES (1, 2))`, and `ROW(a, b) IN (SELECT ...)`."""
        if isinstance(node.this, exp.Anonymous) and node.args.get("query") and row_values(node.this):
            yield Edit(self.source.call_span(node.this), lambda: f"({self._list(node.this.expressions)})", level=1)
        if len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Values):
            yield from self._selected(self.source.span(node.this)[1])

    def _anonymous(self, node: exp.Expr) -> Iterator[Edit]:
        """`EXISTS (VALUES 1, 2)`, which sqlglot takes for a function."""
        if is_exists_of_values(node):
            yield from self._selected(self.source.call_span(node)[0])

    def _selected(self, start: int) -> Iterator[Edit]:
        """Writes `SELECT * FROM` before the first `VALUES (` from a place on, which Spark takes for a call."""
        tokens = self.source.tokens
        at = next(i for i in tokens.within((start, len(self.source.text))) if tokens[i].text.upper() == "VALUES")
        if tokens[at + 1].token_type == TokenType.L_PAREN:
            place = tokens[at].start
            yield Edit((place, place), lambda: "SELECT * FROM ")

    def _similar(self, node: exp.Expr) -> Iterator[Edit]:
        pattern = node.expression
        escaped = node.parent if isinstance(node.parent, exp.Escape) else None
        whole = escaped or node
        if not (isinstance(pattern, exp.Literal) and pattern.is_string):
            raise self.source.error(
                self.source.span(pattern), "SIMILAR TO takes a constant pattern here", "write REGEXP(text, pattern)"
            )
        regex = self._regex(pattern, escaped.expression.name if escaped else "")
        literal = string_literal(regex)
        yield Edit(self.source.span(whole), lambda: f"{self.text(node.this)} {self._negated(node)}RLIKE {literal}")

    def _regex(self, pattern: exp.Expr, escape: str) -> str:
        """A pattern of SIMILAR TO as a Java pattern for the whole text (Calcite: Like.sqlToRegexSimilar)."""
        out, characters = [], iter(pattern.name)
        for character in characters:
            if escape and character == escape:
                following = next(characters, "")
                if following != escape and following not in _SIMILAR_SPECIALS:
                    raise self.source.error(
                        self.source.span(pattern), f"{escape!r} escapes nothing here", "put it before % or _"
                    )
                out.append(f"\\{following}")
            elif character == "%":
                out.append("(?s:.*)")
            elif character == "_":
                out.append(".")
            else:
                out.append(_REGEX_ONLY.get(character, character))
        text = "".join(out)
        if "[:" in text:
            raise self.source.error(
                self.source.span(pattern), "a named class of characters can't be translated", "write [a-zA-Z]"
            )
        return f"\\A(?:{text})\\z"

    def _between(self, node: exp.Expr) -> Iterator[Edit]:
        this, low, high = node.this, node.args["low"], node.args["high"]
        symmetric = node.args.get("symmetric")
        if symmetric is None:
            return
        if not symmetric:  # ASYMMETRIC is what BETWEEN is anyway
            between = lambda: f"{self.text(this)} {self._negated(node)}BETWEEN {self.text(low)} AND {self.text(high)}"  # noqa: E731
            yield Edit(self.source.span(node), between)
            return

        def text() -> str:
            value, one, other = self.text(this), self.text(low), self.text(high)
            both = f"({value} BETWEEN {one} AND {other} OR {value} BETWEEN {other} AND {one})"
            return f"({self._negated(node)}{both})" if self._negated(node) else both

        yield Edit(self.source.span(node), text)

    def _overlaps(self, node: exp.Expr) -> Iterator[Edit]:
        """Two periods share a moment, or one ends when the other begins; a period's ends stand in any order."""
        assert isinstance(node, exp.Overlaps)
        sides = [side.expressions for side in (node.left, node.right) if isinstance(side, exp.Tuple)]
        if [len(side) for side in sides] != [2, 2]:
            self.refuse(node, "OVERLAPS takes two periods", "write (start1, end1) OVERLAPS (start2, INTERVAL '1' HOUR)")

        def text() -> str:
            (first, first_end), (second, second_end) = (self._period(*side) for side in sides)
            return f"({first_end} >= {second} AND {second_end} >= {first})"

        yield Edit(self.source.span(node), text)

    def _period(self, one: exp.Expr, other: exp.Expr) -> tuple[str, str]:
        """Start and end of a period, whose second part may be its length."""
        a, b = self.text(one), self.text(other)
        if (self.type(other) or "").startswith("interval"):
            type_ = self.type(one)
            if type_ is not None and is_clock(type_):  # its end may be before its start
                b = clocks.moved(a, "+", b, type_)
                return f"CASE WHEN {a} <= {b} THEN {a} ELSE {b} END", f"CASE WHEN {a} <= {b} THEN {b} ELSE {a} END"
            b = f"{a} + {b}"
            if isinstance(other, exp.Interval) and not other.this.name.strip().startswith("-"):
                return a, b
        return f"CASE WHEN {a} <= {b} THEN {a} ELSE {b} END", f"CASE WHEN {a} <= {b} THEN {b} ELSE {a} END"
