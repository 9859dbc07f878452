"""The grammar of the SQL standard's JSON functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.nodes import JsonConstructor, JsonPath

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.sql.grammar.span_parser import SpanParser

_WORDS = ("NULL", "ERROR", "TRUE", "FALSE", "UNKNOWN")
_WRAPPERS = {
    ("WITHOUT",): None,
    ("WITH", "CONDITIONAL"): "CONDITIONAL",
    ("WITH", "UNCONDITIONAL"): "UNCONDITIONAL",
    ("WITH",): "UNCONDITIONAL",
}


def parse_path(parser: SpanParser, kind: str) -> exp.Expr:
    """Reads the text between the parentheses of JSON_VALUE, JSON_QUERY or JSON_EXISTS."""
    this = parser._parse_disjunction()
    parser._match(TokenType.COMMA)
    path = parser._parse_disjunction()
    if this is None or path is None:
        parser.raise_error(f"JSON_{kind} takes a text and a path")
    returning = parser._parse_types() if parser._match_text_seq("RETURNING") else None
    wrapper = _wrapper(parser) if kind == "QUERY" else None
    behaviours: dict[str, str | exp.Expr | None] = {}
    while (behaviour := _behaviour(parser)) is not None:
        if not parser._match_text_seq("ON") or not parser._match_texts(("EMPTY", "ERROR")):
            parser.raise_error("ON EMPTY or ON ERROR is missing here")
        behaviours[parser._prev.text.lower()] = behaviour
    return JsonPath(this=this, path=path, kind=kind, returning=returning, wrapper=wrapper, **behaviours)


def _wrapper(parser: SpanParser) -> str | None:
    for words, wrapper in _WRAPPERS.items():
        if parser._match_text_seq(*words):
            parser._match_text_seq("ARRAY")
            if not parser._match_text_seq("WRAPPER"):
                parser.raise_error("WRAPPER is missing here")
            return wrapper
    return None


def _behaviour(parser: SpanParser) -> str | exp.Expr | None:
    """Value before ON EMPTY or ON ERROR; None without one."""
    if parser._match_text_seq("DEFAULT"):
        return parser._parse_disjunction()
    if parser._match_text_seq("EMPTY"):
        if not parser._match_texts(("ARRAY", "OBJECT")):
            parser.raise_error("EMPTY ARRAY or EMPTY OBJECT is written here")
        return f"EMPTY {parser._prev.text.upper()}"
    return parser._prev.text.upper() if parser._match_texts(_WORDS) else None


def parse_object(parser: SpanParser) -> exp.Expr:
    """Reads `KEY 'a' VALUE 1, 'b': 2 ABSENT ON NULL`."""
    values = _listed(parser, _pair)
    return JsonConstructor(expressions=values, kind="OBJECT", absent=_nulls(parser) == "ABSENT")


def parse_array(parser: SpanParser) -> exp.Expr:
    """Reads `1, 'a' NULL ON NULL`."""
    values = _listed(parser, lambda p: [_value(p)])
    return JsonConstructor(expressions=values, kind="ARRAY", absent=_nulls(parser) != "NULL")


def parse_aggregate(parser: SpanParser, name: str) -> exp.Expr:
    """Reads `KEY k VALUE v` or `v`; NULL or ABSENT of `NULL ON NULL` becomes one more argument."""
    first = parser._tokens[parser._index - 2]
    values = _pair(parser) if name == "JSON_OBJECTAGG" else [_value(parser)]
    at = parser._curr
    nulls = _nulls(parser)
    if nulls:
        values.append(exp.Var(this=nulls).update_positions(at))
    return exp.Anonymous(this=name, expressions=values).update_positions(first)


def _listed(parser: SpanParser, read: Callable[[SpanParser], list[exp.Expr]]) -> list[exp.Expr]:
    """Items that `read` reads between commas, up to the closing parenthesis or NULL ON NULL."""
    values: list[exp.Expr] = []
    while parser._curr and parser._curr.token_type != TokenType.R_PAREN and not _at_nulls(parser):
        values += read(parser)
        if not parser._match(TokenType.COMMA):
            break
    return values


def _pair(parser: SpanParser) -> list[exp.Expr]:
    if parser._curr.text.upper() == "KEY" and parser._next and parser._next.token_type is not TokenType.COLON:
        parser._advance()
    key = _value(parser)
    if not (parser._match(TokenType.COLON) or parser._match_text_seq("VALUE")):
        parser.raise_error("VALUE or : is missing here, behind the key")
    return [key, _value(parser)]


def _value(parser: SpanParser) -> exp.Expr:
    value = parser._parse_disjunction()
    if value is None:
        parser.raise_error("an expression is missing here")
    assert value is not None
    return value


def _at_nulls(parser: SpanParser) -> bool:
    """True if NULL ON NULL or ABSENT ON NULL comes next."""
    texts = [t.text.upper() for t in parser._tokens[parser._index : parser._index + 3]]
    return texts in (["NULL", "ON", "NULL"], ["ABSENT", "ON", "NULL"])


def _nulls(parser: SpanParser) -> str | None:
    """NULL or ABSENT, if `... ON NULL` comes next."""
    if not _at_nulls(parser):
        return None
    word = parser._curr.text.upper()
    parser._advance(3)
    return word
