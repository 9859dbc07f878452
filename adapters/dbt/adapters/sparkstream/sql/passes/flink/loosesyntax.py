"""Refuses what sqlglot reads and Flink's parser doesn't: words that are missing, or stand where none can."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import SPAN, Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

_PREDICATES = (exp.Is, exp.Not, exp.NullSafeEQ, exp.NullSafeNEQ)
_DIRECTIONS = ("ASC", "DESC")


class LooseSyntax(Rewriter):
    """Checks ORDER BY, VALUES, IS, TRIM, POSITION, intervals, constants of types and names, as Flink writes them."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers: dict[type[exp.Expr], Callable[[exp.Expr], Iterable[Edit]]] = {
            exp.Ordered: self._ordered,
            exp.Values: self._values,
            exp.Dot: self._dot,
            exp.Anonymous: self._call,
            exp.Trim: self._trim,
            exp.StrPosition: self._position,
            exp.Interval: self._interval,
            exp.Cast: self._constant,
            exp.Is: self._is,
            exp.Identifier: self._name,
            exp.Column: lambda node: self._name(node.this),
            exp.Any: self._quantified,
            exp.All: self._quantified,
            exp.HexString: self._hexadecimal,
        }

    def _ordered(self, node: exp.Expr) -> Iterable[Edit]:
        """One direction stands behind a key, before NULLS FIRST."""
        tokens = self.source.tokens
        at = tokens.at(self.source.span(node.this)[1] - 1) + 1
        words = []
        while at < len(tokens) and tokens[at].text.upper() in (*_DIRECTIONS, "NULLS", "FIRST", "LAST"):
            words.append(tokens[at])
            at += 1
        for word in words[1:]:
            if word.text.upper() in _DIRECTIONS:
                self.refuse((word.start, word.end + 1), "a key has one direction", "write ORDER BY a DESC NULLS LAST")
        return ()

    def _values(self, node: exp.Expr) -> Iterable[Edit]:
        for row in node.expressions:
            if isinstance(row, exp.Tuple) and not row.expressions:
                span = self._empty(row)
                self.refuse(span, "a row of VALUES has at least one value", "write VALUES (1, 'a')")
        return ()

    def _empty(self, row: exp.Expr) -> tuple[int, int]:
        """Where a pair of parentheses with nothing in it stands, of which sqlglot may note no place."""
        if SPAN in row.meta:
            return self.source.span(row)
        tokens = self.source.tokens
        pairs = (i for i in range(1, len(tokens) - 1) if tokens[i].token_type == TokenType.L_PAREN)
        at = next((i for i in pairs if tokens[i + 1].token_type == TokenType.R_PAREN and self._before(i)), None)
        return (0, len(self.source.text)) if at is None else (tokens[at].start, tokens[at + 1].end + 1)

    def _before(self, at: int) -> bool:
        return self.source.tokens[at - 1].token_type in (TokenType.VALUES, TokenType.COMMA)

    def _dot(self, node: exp.Expr) -> Iterable[Edit]:
        before = node.this.this if isinstance(node.this, exp.Column) else node.this
        if isinstance(before, exp.Star):
            self.refuse(node.expression, "nothing stands behind *", "write t.a, or *")
        return ()

    def _call(self, node: exp.Expr) -> Iterable[Edit]:
        name = node.name.upper()
        if name == "ROW" and not node.expressions:
            self.refuse(self.source.call_span(node), "a ROW has at least one value", "write ROW(1, 'a')")
        return ()

    def _trim(self, node: exp.Expr) -> Iterable[Edit]:
        tokens = self.source.tokens_in(self.source.span(node))
        if len(tokens) > 2 and tokens[2].token_type == TokenType.FROM:
            self.refuse(node, "something is missing before FROM", "write TRIM(BOTH FROM x), or TRIM(x)")
        return ()

    def _position(self, node: exp.Expr) -> Iterable[Edit]:
        part = node.args["substr"]
        tokens = self.source.tokens
        behind = tokens[tokens.at(self.source.span(part)[1] - 1) + 1]
        if behind.token_type == TokenType.COMMA:
            self.refuse(node, "POSITION takes IN, and no comma", "write POSITION('x' IN text)")
        return ()

    def _interval(self, node: exp.Expr) -> Iterable[Edit]:
        if node.args.get("unit") is None and node.this is not None:
            self.refuse(node, "an interval needs a unit", "write INTERVAL '1' DAY")
        return ()

    def _constant(self, node: exp.Expr) -> Iterable[Edit]:
        """`DATE 2024`: what stands behind a type is a text."""
        assert isinstance(node, exp.Cast)
        first = self.source.tokens_in(self.source.span(node))[0]
        named = first.text.upper() in ("DATE", "TIME", "TIMESTAMP") and first.token_type != TokenType.IDENTIFIER
        if named and isinstance(node.this, exp.Literal) and not node.this.is_string:
            word = first.text.upper()
            self.refuse(node, f"{word} takes a text", f"write {word} '{node.this.name}', or CAST(... AS {word})")
        return ()

    def _is(self, node: exp.Expr) -> Iterable[Edit]:
        tested = node.expression.this if isinstance(node.expression, exp.Not) else node.expression
        named = isinstance(tested, exp.Column) and tested.name.upper() != "UNKNOWN"
        if named or isinstance(tested, exp.Literal):
            self.refuse(tested, "IS takes NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM", "write a = b")
        before = node.this
        if isinstance(before, exp.Paren) and SPAN not in before.meta:  # sqlglot has put them there
            before = before.this
        if isinstance(before, _PREDICATES):  # which Spark doesn't parse without parentheses
            yield Edit(self.source.span(before), lambda: f"({self.text(before)})", level=3)

    def _quantified(self, node: exp.Expr) -> Iterable[Edit]:
        tokens = self.source.tokens
        start = self.source.span(node.this)[0]
        at = tokens.at(start)
        if tokens[at].token_type != TokenType.L_PAREN and tokens[at - 1].token_type != TokenType.L_PAREN:
            self.refuse(node.this, "SOME, ANY and ALL take values in parentheses", "write a > ALL (1, 2)")
        return ()

    def _name(self, node: exp.Expr) -> Iterable[Edit]:
        quoted = node.args.get("quoted") or node.meta.get("start") is None
        if not quoted and node.name[:1].isdigit():
            self.refuse(
                node,
                "a name doesn't begin with a digit, and a number of Flink's has no letter behind it",
                f"write CAST(1 AS BIGINT) for 1L, and a name in backticks: `{node.name}`",
            )
        return ()

    def _hexadecimal(self, node: exp.Expr) -> Iterable[Edit]:
        if self.source.written(node)[:1] == "0":
            self.refuse(node, "Flink has no numbers such as 0x1F", "write x'1F' for the bytes, or the number")
        return ()
