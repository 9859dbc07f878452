"""Names and literals of the user come out as they went in, whatever signs of a template they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot.dialects.spark import Spark
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql import TranslationError, translate
from dbt.adapters.sparkstream.sql.core.literals import backticked, string_literal
from dbt.adapters.sparkstream.sql.dialects.flink import Flink
from dbt.adapters.sparkstream.sql.passes.flink.functions import FUNCTIONS
from tests.golden.runner import DATA, Case, flink_type, load
from tests.golden.test_flink_expressions import ANSWERED, SCHEMA, Expression

_NASTY = "{9}{}{0}{a!r}%s%(x)s%\\'\"`$1\\1${x}.[--"
_TEXTS = st.text("{}09a!:%s()\\'\"`$.[]?;-", min_size=1, max_size=12)

Schema = dict[str, dict[str, str]]


def _flink(text: str) -> str:
    """A literal of Flink's, where a quote alone has a meaning."""
    return "'" + text.replace("'", "''") + "'"


def _edited(sql: str, columns: Collection[str], edit: Callable[[str], str]) -> str:
    """A text with something else for each of its columns; a field of a row stays."""
    tokens = Flink().tokenize(sql)
    for i in reversed(range(len(tokens))):
        behind = tokens[i + 1].token_type if i + 1 < len(tokens) else None
        is_column = tokens[i].text in columns and behind not in (TokenType.DOT, TokenType.L_PAREN)
        if is_column and tokens[i].token_type != TokenType.STRING:
            sql = sql[: tokens[i].start] + edit(tokens[i].text) + sql[tokens[i].end + 1 :]
    return sql


def _replaced(sql: str, plain: str, text: str) -> str:
    """Spark SQL with another text for one that is in it, also in its literals."""
    for token in reversed(Spark().tokenize(sql)):
        end = token.end + 1
        written = string_literal(text)[1:-1] if token.token_type == TokenType.STRING else text
        sql = sql[: token.start] + sql[token.start : end].replace(plain, written) + sql[end:]
    return sql.replace(plain, text)  # in comments


def _check(sql: str, schema: Schema, text: str, *, literals: bool = False) -> bool:
    """Compares a query whose columns have longer names, and stand behind a comparison with a text.

    Returns:
        Whether it can be written so.
    """
    columns = {column for table in schema.values() for column in table}

    def with_text(text: str) -> str:
        def edit(column: str) -> str:
            name = backticked(column + text)
            return f"(CASE WHEN {_flink('a' + text)} <> '' THEN {name} END)" if literals else name

        own = {table: {c + text: type_ for c, type_ in of.items()} for table, of in schema.items()}
        return translate(_edited(sql, columns, edit), "flink", schema=own, warn=lambda _: None)

    try:
        expected = with_text(" plain")
    except TranslationError:
        return False
    for column in columns:
        expected = _replaced(expected, backticked(f"{column} plain")[:-1], backticked(column + text)[:-1])
    if literals:
        expected = expected.replace("'a plain'", string_literal("a" + text))
    assert with_text(text) == expected, sql
    return True


def _check_expression(each: Expression, text: str) -> None:
    sql, schema = f"SELECT {each.sql} AS v FROM {each.table}", {each.table: SCHEMA[each.table]}
    _ = _check(sql, schema, text, literals=True) or _check(sql, schema, text)


def test_recorded_expressions() -> None:
    for each in ANSWERED:
        _check_expression(each, _NASTY)


@settings(deadline=None)
@given(each=st.sampled_from(ANSWERED), text=_TEXTS)
def test_any_text(each: Expression, text: str) -> None:
    _check_expression(each, text)


_CASES = {f.name: load(f.name) for f in sorted(DATA.glob("flink_*.json")) if "cases" in json.loads(f.read_text())}


@pytest.mark.parametrize("cases", _CASES.values(), ids=_CASES)
def test_recorded_queries(cases: list[Case]) -> None:
    for case in cases:
        _check(case.sql, case.schema(flink_type), _NASTY)


OPERANDS = {"t": {"p": "boolean", "q": "boolean", "a": "int", "b": "int", "s": "string", "ts": "timestamp_ntz"}}
TIGHTER = {
    "p OR q": (
        r"(?:[=<>*/%+-]|\b(?:NOT|AND|DIV|LIKE))\s*$",
        r"\s*(?:[=<>*/%+-]|::|\[|(?:IS|IN|BETWEEN|LIKE|AND|DIV)\b)",
    ),
    "a - b": (r"(?:[*/%-]|\bDIV)\s*$", r"\s*(?:[*/%]|::|\[|DIV\b)"),
}
"""Expression -> operators before and behind it that would take a part of it."""


def _wholes(sql: str, text: str) -> bool:
    """Whether an expression is no operand of another operator, wherever it is written."""
    try:
        pieces = translate(sql, "flink", schema=OPERANDS).split(text)
    except TranslationError:
        return True
    before, behind = TIGHTER[text]
    return not any(re.search(before, one) or re.match(behind, other) for one, other in pairwise(pieces))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_of_functions_are_wholes(name: str) -> None:
    least, most = FUNCTIONS[name].arguments or (1, 3)
    for count in range(least, min(most, 4) + 1):
        for place, text in product(range(count), TIGHTER):
            arguments = [text if i == place else "a" for i in range(count)]
            sql = f"SELECT {name}({', '.join(arguments)}) AS v FROM t"
            assert _wholes(sql, text), sql


@pytest.mark.parametrize(
    "sql",
    [
        "ROW(p OR q, 1) = ROW(q, 1)",
        "(a, p OR q) = (b, q)",
        "(p OR q, a) IN ((TRUE, 1), (FALSE, 2))",
        "ROW(a, p OR q) IS DISTINCT FROM ROW(b, q)",
        "(p OR q, a) NOT IN (SELECT p, a FROM t)",
    ],
)
def test_fields_of_rows_are_wholes(sql: str) -> None:
    assert _wholes(f"SELECT {sql} AS v FROM t", "p OR q")
