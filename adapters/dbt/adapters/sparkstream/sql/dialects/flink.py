"""Flink SQL, as far as Spark can run it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.names.paths import default_qualifiers
from dbt.adapters.sparkstream.sql.core.nodes import UNITS, Difference, Unknown, WhenValues, find
from dbt.adapters.sparkstream.sql.core.source import SPAN, error_at
from dbt.adapters.sparkstream.sql.core.tokens import retyped
from dbt.adapters.sparkstream.sql.core.windows import WINDOWS
from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream
from dbt.adapters.sparkstream.sql.grammar.json_grammar import parse_aggregate, parse_array, parse_object, parse_path
from dbt.adapters.sparkstream.sql.grammar.match_grammar import MatchGrammar
from dbt.adapters.sparkstream.sql.grammar.span_parser import ForeignParser
from dbt.adapters.sparkstream.sql.grammar.spans import span_of, with_spans
from dbt.adapters.sparkstream.sql.grammar.window_parser import WindowParser

_HINT = "`sparkstream import flink job.sql` makes a dbt project of a script; here, leave all but the query out"

TIME_DIGITS = 3
"""The most digits behind the second that TIME has."""
ROWTIME = "$ROWTIME"
"""Confluent's name of the event time, as the tokenizer has it."""

_QUALIFIER = "qualifier"
"""Key of a table's meta for the names of Flink's own catalog and database, which Spark is not to see."""

_SCRIPT_WORDS = (
    "SET RESET CREATE DROP ALTER INSERT UPDATE DELETE TRUNCATE ANALYZE EXECUTE COMPILE USE CALL EXPLAIN DESCRIBE "
    "DESC SHOW"
)


class Flink(SparkStream):
    FOREIGN: ClassVar[dict[tuple[str, str | None], tuple[str, str]]] = dict.fromkeys(
        [
            *((word, None) for word in _SCRIPT_WORDS.split()),
            ("BEGIN", "STATEMENT"),
            ("LOAD", "MODULE"),
            ("ADD JAR", None),
        ],
        ("a model holds one query, and this is a statement of a script", _HINT),
    )
    SEVERAL = ("a model holds one query, and this is a second statement", _HINT)

    class Tokenizer(SparkStream.Tokenizer):
        # A string is closed by a quote, and a quote in it is doubled; a backslash is a character like any other.
        QUOTES = ["'"]
        IDENTIFIERS = ["`"]
        STRING_ESCAPES = ["'"]
        IDENTIFIER_ESCAPES = ["`"]
        # TIMESTAMP has no zone in Flink.
        KEYWORDS = {
            **SparkStream.Tokenizer.KEYWORDS,
            "TIMESTAMP": TokenType.TIMESTAMPNTZ,
            "TIMESTAMP_LTZ": TokenType.TIMESTAMPLTZ,
            "BYTES": TokenType.BINARY,
            "BINARY VARYING": TokenType.VARBINARY,
            "MATCH_RECOGNIZE": TokenType.MATCH_RECOGNIZE,
            ROWTIME: TokenType.VAR,
        }
        BYTE_STRINGS: ClassVar[list[str | tuple[str, str]]] = [("E'", "'"), ("e'", "'")]
        BYTE_STRING_ESCAPES: ClassVar[list[str]] = ["'", "\\"]
        UNICODE_STRINGS: ClassVar[list[str | tuple[str, str]]] = [("U&'", "'"), ("u&'", "'")]
        RAW_STRINGS: ClassVar[list[str | tuple[str, str]]] = []
        NUMERIC_LITERALS: ClassVar[dict[str, str]] = {}  # 1L is no number
        VAR_SINGLE_TOKENS: ClassVar[set[str]] = {"$"}  # EXPR$0 is a name

    @with_spans("_parse_limit", "_parse_offset", "_parse_group")
    class Parser(MatchGrammar):
        FLINK = True
        FUNCTION_PARSERS = {
            **ForeignParser.FUNCTION_PARSERS,
            "CEILING": ForeignParser.FUNCTION_PARSERS["CEIL"],
            "SUBSTR": WindowParser.FUNCTION_PARSERS["SUBSTR"],
            "POSITION": lambda self: self._parse_position_from(),
            "JSON_VALUE": lambda self: parse_path(self, "VALUE"),
            "JSON_QUERY": lambda self: parse_path(self, "QUERY"),
            "JSON_EXISTS": lambda self: parse_path(self, "EXISTS"),
            "JSON_OBJECT": lambda self: parse_object(self),
            "JSON_ARRAY": lambda self: parse_array(self),
            "JSON_OBJECTAGG": lambda self: parse_aggregate(self, "JSON_OBJECTAGG"),
            "JSON_ARRAYAGG": lambda self: parse_aggregate(self, "JSON_ARRAYAGG"),
        }

        SUPPORTS_TABLE_QUERY: ClassVar[bool] = True
        PRIMARY_PARSERS: ClassVar = {
            **MatchGrammar.PRIMARY_PARSERS,
            TokenType.UNKNOWN: lambda self, token: self._unknown(token),
        }
        TYPE_LITERAL_PARSERS: ClassVar = {
            **MatchGrammar.TYPE_LITERAL_PARSERS,
            exp.DType.TIME: lambda self, this, to: self._time_of_day(this, to),
        }

        def _is_table_query(self) -> bool:
            """True if `TABLE t`, which is a query, begins here."""
            named = self._next and self._next.token_type == TokenType.IDENTIFIER
            return super()._is_table_query() or bool(named and self._curr.token_type == TokenType.TABLE)

        def _unknown(self, token: Token) -> Unknown:
            if self._tokens[self._index - 2].token_type == TokenType.DOT:
                self.raise_error("UNKNOWN is a word of Flink's own, and no name", token)
            return self.expression(Unknown(), token)

        def _time_of_day(self, text: exp.Expr, to: exp.DataType) -> exp.Cast:
            """TIME '10:20:30.5', whose type has the digits that are written."""
            _set_digits(to, len(text.name.strip().partition(".")[2]))
            return self.expression(exp.Cast(this=text, to=to))

        def _parse_types(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
            """A type; TIME has no digits behind the second unless their number is given."""
            type_ = super()._parse_types(*args, **kwargs)
            if isinstance(type_, exp.DataType) and type_.this == exp.DType.TIME:
                digits = type_.expressions[0].name if type_.expressions else "0"
                _set_digits(type_, int(digits) if digits.isdecimal() else 0)
            if kwargs.get("with_collation"):  # not in a place where NOT may begin an expression
                self._match_text_seq("NOT", "NULL")
            return type_

        def _parse_struct_types(self, type_required: bool = False) -> exp.Expr | None:
            """A field of a row, and its comment: `w STRING 'what it is'`."""
            field = super()._parse_struct_types(type_required)
            self._match(TokenType.STRING)
            return field

        def _parse_disjunction(self) -> exp.Expr | None:
            """A value; behind WHEN there may be several: CASE x WHEN 1, 2 THEN y."""
            behind_when = self._prev is not None and self._prev.token_type == TokenType.WHEN
            value = super()._parse_disjunction()
            if not (behind_when and value and self._match(TokenType.COMMA, advance=False)):
                return value
            values = [value]
            while self._match(TokenType.COMMA):
                value = super()._parse_disjunction()
                if value is None:
                    self.raise_error("a value is missing here")
                else:
                    values.append(value)
            return self.expression(WhenValues(expressions=values))

        def _parse_position_from(self) -> exp.StrPosition:
            """POSITION('l' IN text FROM 4)."""
            found = self._parse_position()
            if self._match(TokenType.FROM):
                found.set("position", self._parse_bitwise())
            return found

        def _parse_paren(self) -> exp.Expr | None:
            """`(a - b) DAY`, or any other parentheses."""
            start = self._curr.start
            node = super()._parse_paren()
            inner = node.this if isinstance(node, exp.Paren) else None
            if not (isinstance(inner, exp.Sub) and self._curr.text.upper() in UNITS):
                return node
            self._advance()
            unit = self._prev.text.upper()
            if self._match_text_seq("TO") and not self._match_texts(UNITS):
                self.raise_error("a unit is missing behind TO")
            difference = Difference(this=inner, unit=unit)
            difference.meta[SPAN] = start, self._prev.end + 1
            return difference

        def _parse_table_parts(self, *args: Any, **kwargs: Any) -> exp.Table | exp.Dot | None:
            """A table's name without Flink's own catalog and database, which `qualifier` returns."""
            table = super()._parse_table_parts(*args, **kwargs)
            if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
                return table
            parts = table.parts
            unsaid = default_qualifiers([part.name for part in parts])
            if unsaid:
                table.set("catalog", None)
                table.set("db", None)
                table.meta[_QUALIFIER] = parts[:unsaid]
            return table

        def parse(self, raw_tokens: list[Token], sql: str = "") -> list[exp.Expr | None]:
            # ROW<v INT> and AS ROW(v INT) are what sqlglot calls a struct; ROW(1, 2) is a call.
            _check_functions_of_tables(raw_tokens, sql)
            _check_escapes(raw_tokens, sql)
            before, behind = [None, *raw_tokens[:-1]], [*raw_tokens[1:], None]
            tokens = [_as_struct(*three) for three in zip(before, raw_tokens, behind, strict=True)]
            return super().parse(tokens, sql)


def rowtimes(tree: exp.Expr) -> Iterator[exp.Identifier]:
    """Names of the event time in a query, written as Confluent does."""
    return (each for each in find(tree, exp.Identifier) if each.this == ROWTIME and not each.quoted)


def qualifier(table: exp.Table) -> list[exp.Expr]:
    """The names of Flink's own catalog and database that stand before a table's name; they are no part of the table."""
    return table.meta.get(_QUALIFIER, [])


def _set_digits(time: exp.DataType, digits: int) -> None:
    """Gives TIME its digits behind the second, of which Flink keeps three."""
    most = str(min(digits, TIME_DIGITS))
    time.set("expressions", [exp.DataTypeParam(this=exp.Var(this=most))])


def _check_functions_of_tables(tokens: list[Token], sql: str) -> None:
    """Refuses calls that take a table, as `ML_PREDICT(TABLE t, ...)` does, but for window functions."""
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.token_type == TokenType.L_PAREN:
            opened.append(at)
        elif token.token_type == TokenType.R_PAREN and opened:
            opened.pop()
        elif token.token_type == TokenType.TABLE and opened and opened[-1] and at + 1 < len(tokens):
            name = tokens[opened[-1] - 1]
            if (
                tokens[at - 1].token_type in (TokenType.L_PAREN, TokenType.COMMA, TokenType.FARROW)
                and tokens[at + 1].token_type != TokenType.L_PAREN
                and name.token_type == TokenType.VAR
                and name.text.upper() not in WINDOWS
            ):
                raise error_at(
                    sql,
                    span_of(name, name),
                    f"{name.text.upper()} is a function of tables, and no window: it has no counterpart in Spark",
                    "write a table function of Spark's in Python (UDTF), and call it outside the Flink SQL",
                )


def _check_escapes(tokens: list[Token], sql: str) -> None:
    """Refuses `{fn UPPER(c)}`, `{d '2024-01-01'}` and the like, of which sqlglot reads over the braces of the first."""
    for brace, word in pairwise(tokens):
        if brace.token_type == TokenType.L_BRACE and word.text.upper() in ("FN", "D", "T", "TS"):
            raise error_at(
                sql,
                span_of(brace, word),
                "this is JDBC's way to write a function or a constant, and Spark hasn't got it",
                "leave the braces out: UPPER(c), DATE '2024-01-01', TIME '10:00:00', TIMESTAMP '2024-01-01 10:00:00'",
            )


def _as_struct(before: Token | None, token: Token, following: Token | None) -> Token:
    """The ROW of a type, `ROW<a INT>` or `CAST(r AS ROW(a INT))`, as sqlglot's word; any other token as it is."""
    called = before is None or before.token_type != TokenType.ALIAS
    if token.text.upper() != "ROW" or following is None:
        return token
    if following.token_type != TokenType.LT and (called or following.token_type != TokenType.L_PAREN):
        return token
    return retyped(token, TokenType.STRUCT)
