"""Divisions of integers in SQLstream's SQL, whose quotient is an integer; Spark's has a fraction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.names.columns import NO_SELECT, Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.tree import enclosing, find
from dbt.adapters.sparkstream.sql.core.types import INTEGERS


def whole_divisions(source: Source, resolver: Resolver, tree: exp.Expr) -> Iterator[Edit]:
    """`CAST(a DIV b AS INT)` of `a / b`, where both are known to be integers.

    What stands around an operand is inserted: a call over a window in it is written by `Frames`.
    """
    before: Counter[int] = Counter()
    behind: dict[int, str] = {}
    for node in find(tree, exp.Div):
        select = enclosing(node, exp.Select) or NO_SELECT
        if any(resolver.type(side, select) not in INTEGERS for side in (node.left, node.right)):
            continue
        operator = next(
            token
            for token in source.tokens_in((source.span(node.left)[1], source.span(node.right)[0]))
            if token.token_type == TokenType.SLASH
        )
        around = source.text[operator.start - 1], source.text[operator.end + 1]
        word = f"{'' if around[0].isspace() else ' '}DIV{'' if around[1].isspace() else ' '}"
        yield Edit((operator.start, operator.end + 1), lambda word=word: word)  # type: ignore[misc]
        type_ = resolver.type(node, select)
        if type_ != "bigint":  # as DIV is
            start, end = source.span(node)
            before[start] += 1
            behind[end] = f" AS {str(type_).upper()})"
    for place, number in before.items():
        yield Edit((place, place), lambda number=number: "CAST(" * number)  # type: ignore[misc]
    for place, text in behind.items():
        yield Edit((place, place), lambda text=text: text)  # type: ignore[misc]
