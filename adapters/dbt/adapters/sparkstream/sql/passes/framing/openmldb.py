"""What OpenMLDB spells in another way than Spark, beside its windows: functions, operators, numbers, arrays.

An edit never holds an expression, only what stands around it: a call over a window within it is written by `Frames`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.columns import NO_SELECT, Resolver
from dbt.adapters.sparkstream.sql.core.source import SPAN, Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.types import INTEGERS, is_numeric
from dbt.adapters.sparkstream.sql.dialects.openmldb import is_mod
from dbt.adapters.sparkstream.sql.passes.framing.scalars import (
    SCALARS,
    TEXT_OF_FLOAT,
    Around,
    UnknownHere,
    by_type,
    text,
)
from dbt.adapters.sparkstream.sql.passes.framing.spelling import extent

_JOINED = ("CONCAT", "CONCAT_WS")
_CASTS = {
    exp.DataType.Type.BIGINT: "BIGINT",
    exp.DataType.Type.TIMESTAMP: "TIMESTAMP",
    exp.DataType.Type.TIMESTAMPTZ: "TIMESTAMP",
    exp.DataType.Type.TIMESTAMPLTZ: "TIMESTAMP",
    exp.DataType.Type.TEXT: "STRING",
    exp.DataType.Type.VARCHAR: "STRING",
}
_TO_INT = ("CAST(", " AS INT)")
_TO_BOOLEAN = ("(", " <> 0)")
_TO_MILLIS = ("unix_millis(", ")")


def _millis(type_: str | None) -> Around | None:
    """What stands around the value of BIGINT(value), which goes by milliseconds here and by seconds in Spark."""
    if type_ is not None:
        return _TO_MILLIS if type_ == "timestamp" else None
    return by_type(
        "CASE WHEN typeof(v) = 'timestamp' THEN unix_millis(CAST(CAST(v AS STRING) AS TIMESTAMP)) "
        "ELSE CAST(v AS BIGINT) END"
    )


def _from_millis(type_: str | None) -> Around | None:
    """What stands around the value of TIMESTAMP(value), of a number of milliseconds."""
    if type_ is not None:
        return ("timestamp_millis(", ")") if type_ in INTEGERS else None
    integers = ", ".join(f"'{t}'" for t in INTEGERS)
    return by_type(
        f"CASE WHEN typeof(v) IN ({integers}) THEN timestamp_millis(CAST(CAST(v AS STRING) AS BIGINT)) "
        "ELSE CAST(v AS TIMESTAMP) END"
    )


_CONVERSIONS = {"BIGINT": _millis, "INT64": _millis, "TIMESTAMP": _from_millis, "STRING": text}


class OpenMLDBSpelling:
    """Edits what OpenMLDB has and Spark has not, or has otherwise."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        self._source = source
        self._resolver = resolver
        self._inserted: dict[int, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """The edits of a statement."""
        self._inserted.clear()
        yield from self._tokens(self._source.tokens.within(extent(self._source, tree)))
        for node in tree.walk(bfs=False):
            if isinstance(node, exp.Anonymous):
                yield from self._call(node)
            elif isinstance(node, exp.Cast):
                yield from self._cast(node)
            elif isinstance(node, exp.Array):
                yield from self._array(node)
            else:
                self._operands(node)
        for place, (closing, opening) in self._inserted.items():
            yield _edit((place, place), "".join((*closing, *opening)))

    def _tokens(self, places: range) -> Iterator[Edit]:
        """DOUBLE for 1.5, which is a DECIMAL in Spark; no comma before FROM; `%` for MOD."""
        tokens = self._source.tokens
        for i in places:
            token = tokens[i]
            span = token.start, token.end + 1
            raw = self._source.text[slice(*span)]
            following = tokens[i + 1].token_type if i + 1 in places else None
            if token.token_type is TokenType.NUMBER and "." in raw and raw[-1].isdigit():
                yield _edit(span, f"{raw}D")
            elif token.token_type is TokenType.COMMA and following is TokenType.FROM:
                yield _edit(span, "")
            elif is_mod(tokens, i):
                yield _edit(span, "%")
            elif token.token_type is TokenType.XOR:
                yield _edit(span, "<>")

    # -- calls ---------------------------------------------------------------------------------------
    def _call(self, node: exp.Anonymous) -> Iterator[Edit]:
        name = node.name.upper()
        if name in _JOINED or name in SCALARS or name in _CONVERSIONS:
            types = [self._type(argument, node) for argument in node.expressions]
            if name in _JOINED:
                for argument, type_ in zip(node.expressions, types, strict=True):
                    if type_ in ("float", "double"):
                        self._wrap(argument, TEXT_OF_FLOAT)
                return
            span = self._source.call_span(node)
            try:
                around = _CONVERSIONS[name](types[0]) if name in _CONVERSIONS and len(types) == 1 else None
                if around is None and name in SCALARS:
                    around = SCALARS[name](node.expressions, types)
            except UnknownHere as error:
                raise self._source.error(span, error.message, error.hint) from None
            if around is not None:
                yield from self._around(span, around)

    def _around(self, call: Span, around: Around) -> Iterator[Edit]:
        """Other texts around the arguments of a call; arguments behind the last text are left out."""
        tokens = self._source.tokens
        opening = tokens.at(call[0]) + 1
        places = [tokens.span(piece) for piece in tokens.pieces(opening + 1, tokens.behind(opening) - 1) if piece]
        kept = places[: len(around) - 1]
        starts = [call[0], *(end for _, end in kept)]
        ends = [*(start for start, _ in kept), call[1]]
        for start, end, text_ in zip(starts, ends, around, strict=True):
            yield _edit((start, end), text_)

    def _cast(self, node: exp.Cast) -> Iterator[Edit]:
        """CAST(x AS BIGINT) is BIGINT(x)."""
        name = _CASTS.get(node.to.this) if isinstance(node.to, exp.DataType) else None
        around = _CONVERSIONS[name](self._type(node.this, node)) if name and SPAN in node.meta else None
        if around is not None:
            whole, value = self._source.span(node), self._source.span(node.this)
            yield _edit((whole[0], value[0]), around[0])
            yield _edit((value[1], whole[1]), around[1])

    def _array(self, node: exp.Array) -> Iterator[Edit]:
        """array(1, 2) for [1, 2] and ARRAY[1, 2]."""
        if SPAN not in node.meta:
            return
        start, end = node.meta[SPAN]
        tokens = self._source.tokens
        first = next((i for i in tokens.within((start, end)) if tokens[i].token_type is TokenType.L_BRACKET), None)
        if first is not None and first <= tokens.at(start) + 1:
            yield _edit((start, tokens[first].end + 1), "array(")
            yield _edit((end - 1, end), ")")

    # -- operators -----------------------------------------------------------------------------------
    def _operands(self, node: exp.Expr) -> None:
        """A TIMESTAMP is a number of milliseconds beside a number; a number is a condition, and a BOOL a number."""
        if isinstance(node, exp.Xor):
            self._wrap(node, ("(", ")"))
            for side in (node.left, node.right):
                self._wrap(side, ("(", ")"))
        if isinstance(node, (exp.Connector, exp.Not, exp.Where)):
            for condition in (node.this, node.args.get("expression")):
                if isinstance(condition, exp.Expr) and is_numeric(self._type(condition, node)):
                    self._wrap(condition, _TO_BOOLEAN)
            return
        if isinstance(node, exp.DPipe):
            for side in (node.left, node.right):
                if self._type(side, node) in ("float", "double"):
                    self._wrap(side, TEXT_OF_FLOAT)
            return
        if not isinstance(node, (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Predicate)):
            return
        if not isinstance(node, exp.Binary):
            return
        sides = [(side, self._type(side, node)) for side in (node.left, node.right)]
        types = [type_ for _, type_ in sides]
        arithmetic = not isinstance(node, exp.Predicate)
        if "timestamp" in types and any(type_ in INTEGERS for type_ in types):
            if isinstance(node, (exp.Add, exp.Sub)):
                self._wrap(node, ("timestamp_millis(", ")"))
            elif arithmetic:
                return
            for side, type_ in sides:
                if type_ == "timestamp":
                    self._wrap(side, _TO_MILLIS)
        elif arithmetic and "boolean" in types and all(t == "boolean" or is_numeric(t) for t in types):
            for side, type_ in sides:
                if type_ == "boolean":
                    self._wrap(side, _TO_INT)

    def _type(self, node: exp.Expr, user: exp.Expr) -> str | None:
        """The type of an operand or argument."""
        return self._resolver.type(node, user.find_ancestor(exp.Select) or NO_SELECT)

    def _wrap(self, node: exp.Expr, around: Around) -> None:
        """Writes something before and behind an expression; of expressions that begin together, the outer one first."""
        start, end = self._source.span(node)
        self._inserted[start][1].append(around[0])
        self._inserted[end][0].insert(0, around[1])


def _edit(span: Span, text_: str) -> Edit:
    return Edit(span, lambda: text_)
