"""Base of the parsers of windows and frames: errors with their place, spans of queries, pieces read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import sqlglot.parser
from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.parser import Parser
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.source import CLAUSES, SPAN, error_at
from dbt.adapters.sparkstream.sql.core.tokens import Tokens
from dbt.adapters.sparkstream.sql.grammar.spans import span_of

if not str(sqlglot.parser.__file__).endswith(".py"):
    raise ImportError(
        "sqlglot's compiled build can't be extended with dialects, and dbt-sparkstream needs its own\n"
        "  uninstall it: pip uninstall sqlglotc, then pip install --force-reinstall sqlglot"
    )


_QUERY_STARTS = (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN)
_ORGANIZATION = ("order", "sort", "cluster", "distribute", "limit", "offset")
"""Clauses of a whole query: behind the last operand of a UNION, they are the UNION's."""
_CLAUSE_OF = {name: name for name in ("where", "group", "having", "qualify", *_ORGANIZATION)} | {"windows": "window"}
"""Clause behind FROM, as sqlglot names it -> its name here. Others, such as TABLESAMPLE, are a part of FROM."""


def _with_span(read: Callable[[Any], tuple[str, Any]]) -> Callable[[Any], tuple[str, Any]]:
    """Decorator: records where the clause begins that the wrapped function reads."""

    def wrapper(self: Any) -> tuple[str, Any]:
        start = self._curr.start
        key, node = read(self)
        if key in _CLAUSE_OF:
            self._starts[-1][_CLAUSE_OF[key]] = start
        return key, node

    return wrapper


class PlacedParser(SparkParser):
    """Spark's parser, whose errors and clauses have their place in the text."""

    QUERY_MODIFIER_PARSERS = {token: _with_span(read) for token, read in SparkParser.QUERY_MODIFIER_PARSERS.items()}
    SET_OP_MODIFIERS = set(_ORGANIZATION)

    trees: Mapping[int, exp.Expr] = MappingProxyType({})
    """Place in the text of a SELECT that is a whole query -> the tree that was read there (see `Blocks`)."""

    def reset(self) -> None:
        super().reset()
        self._starts: list[dict[str, int]] = [{}]
        """For each query that is being read, outermost first: its clauses and where they begin."""
        self._pieces: dict[tuple[str, int], tuple[Any, int]] = {}
        """Kind of a piece and its first token -> the tree that it was read as, and its number of tokens."""
        self._bounds: list[int] = []
        """The tokens that the bounds of frames of Spark's own begin with."""

    def raise_error(self, message: str, token: Token | None = None) -> None:
        at = token or self._curr or self._prev
        try:
            super().raise_error(message, at)
        except ParseError as error:
            error.span = span_of(at, at) if at else (len(self.sql), len(self.sql))  # type: ignore[attr-defined]
            raise

    def _warn_unsupported(self) -> None:
        # sqlglot would go on with the statement as an opaque text; a construct of ours in it would be lost.
        self.raise_error("this kind of statement can't hold a window function")

    def _error(self, message: str, hint: str | None, first: Token, last: Token | None = None) -> TranslationError:
        """An error that blames the tokens from the first to the last."""
        return error_at(self.sql, span_of(first, last or first), message, hint)

    # -- queries -------------------------------------------------------------------------------------
    # Named arguments: on Python 3.13, *args for a method of super() take of C's stack, which no setting enlarges.
    def _parse_from(
        self, joins: bool = False, skip_from_token: bool = False, consume_pipe: bool = False
    ) -> exp.From | None:
        if self._match(TokenType.FROM, advance=False):
            self._starts[-1].setdefault("from", self._curr.start)
        return super()._parse_from(joins, skip_from_token, consume_pipe)

    def _parse_query_modifiers(self, this: Any) -> Any:
        starts = self._starts
        if isinstance(this, exp.Select) and SPAN not in this.meta and "select" in starts[-1]:
            result = super()._parse_query_modifiers(this)
            starts[-1]["end"] = self._prev.end + 1
            result.meta[SPAN] = starts[-1]["select"], starts[-1]["end"]
            result.meta[CLAUSES] = starts[-1]
            return result
        starts.append({})  # the clauses behind a subquery or a table aren't those of the SELECT around it
        try:
            return super()._parse_query_modifiers(this)
        finally:
            starts.pop()

    def _parse_set_operations(self, this: exp.Expr | None) -> exp.Expr | None:
        query = super()._parse_set_operations(this)
        if isinstance(query, exp.SetOperation):
            last: exp.Expr = query
            while isinstance(last, exp.SetOperation) or (isinstance(last, exp.Subquery) and SPAN not in last.meta):
                last = last.expression if isinstance(last, exp.SetOperation) else last.this
            self._end_before_organization(last)
        return query

    def _end_before_organization(self, select: exp.Expr) -> None:
        """Ends the last operand of a UNION before the clauses that are the UNION's."""
        clauses = select.meta.get(CLAUSES, {})
        starts = [clauses.pop(name) for name in _ORGANIZATION if name in clauses]
        if starts:
            clauses["end"] = self._brackets[self._brackets.at(min(starts)) - 1].end + 1
            select.meta[SPAN] = select.meta[SPAN][0], clauses["end"]

    def _parse_pipe_syntax_query(self, query: exp.Query) -> exp.Query | None:
        if SPAN in query.meta:  # sqlglot would make the clauses behind |> clauses of the SELECT before it
            query = exp.select("*").from_(query.subquery(copy=False), copy=False)
        return super()._parse_pipe_syntax_query(query)

    def _parse_select_query(
        self,
        nested: bool = False,
        table: bool = False,
        parse_subquery_alias: bool = True,
        parse_set_operation: bool = True,
    ) -> exp.Expr | None:
        first = self._curr
        if first and first.token_type is TokenType.SELECT and first.start in self.trees:
            self._advance()
            return self._parse_set_operations(self.trees[first.start])
        is_query = first and (first.token_type in _QUERY_STARTS or self._is_table_query())
        self._starts.append({"select": first.start} if first and first.token_type is TokenType.SELECT else {})
        try:
            query = super()._parse_select_query(nested, table, parse_subquery_alias, parse_set_operation)
        finally:
            self._starts.pop()
        if not is_query:
            return query
        if query is not None and self._prev.end >= first.start:
            query.meta[SPAN] = span_of(first, self._prev)
        if first.token_type == TokenType.TABLE and query is not None:  # TABLE t is SELECT * FROM t
            next(query.find_all(exp.Star)).meta[SPAN] = span_of(first, first)
        return query

    # -- what sqlglot would read again and again ---------------------------------------------------------
    # sqlglot reads some pieces twice: it tries one grammar rule, goes back and tries the next. Where such pieces are
    # nested, each level doubles the time. The methods below remember what a piece was read as.
    def _read_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        """Reads a join: sqlglot reads the joins behind a join without ON twice, as its own and as the query's."""
        if args or kwargs.keys() - {"alias_tokens"}:
            return super()._parse_join(*args, **kwargs)
        key = "join" if kwargs.get("alias_tokens") is None else "join under an alias"
        return self._once(key, lambda: super(PlacedParser, self)._parse_join(**kwargs))

    def _parse_types(
        self,
        check_func: bool = False,
        schema: bool = False,
        allow_identifiers: bool = True,
        with_collation: bool = False,
    ) -> exp.Expr | None:
        """A type, with its span: sqlglot takes ARRAY[x] and STRUCT(x) for types first, then for expressions.

        CHAR(n) and VARCHAR(n) are texts outside of schemas; Hive's method would make a parser for each type to tell.
        """

        first = self._curr

        def read() -> exp.Expr | None:
            found = Parser._parse_types(self, check_func, schema, allow_identifiers, with_collation)
            for each in list(found.find_all(exp.DataType)) if found and not schema else ():
                if each.this in (exp.DType.CHAR, exp.DType.VARCHAR):
                    each.set("this", exp.DType.TEXT)
                    each.set("expressions", None)
            if isinstance(found, exp.DataType) and first:
                found.meta[SPAN] = span_of(first, self._prev)
            return found

        in_expression = check_func and not schema and not allow_identifiers
        return self._once("type", read) if in_expression else read()

    def _parse_type_size(self) -> exp.DataTypeParam | None:
        """The size in `CHAR(3)`; an empty name in quotes is none."""
        empty = self._curr and self._curr.token_type == TokenType.IDENTIFIER and not self._curr.text
        return None if empty else super()._parse_type_size()

    def _parse_disjunction(self) -> exp.Expr | None:
        """An expression; sqlglot reads what is in ARRAY[x] for the length of a type first."""
        is_array = self._curr and self._next and self._next.token_type == TokenType.L_BRACKET
        if is_array and self._curr.text.upper() == "ARRAY":
            return self._once("array", super()._parse_disjunction)
        return super()._parse_disjunction()

    def _once(self, kind: str, read: Callable[[], Any]) -> Any:
        """Reads a piece with a method of the parser; another try at this place gives the first result again."""
        first = self._curr
        if not first:
            return read()
        key = kind, first.start
        if key in self._pieces:
            piece, length = self._pieces[key]
            self._advance(length)
            return piece
        at = self._index
        piece = read()
        self._pieces[key] = piece, self._index - at
        return piece

    @property
    def _brackets(self) -> Tokens:
        """The tokens of the statement that is being read, with the index of their brackets."""
        known: tuple[list[Token], Tokens] | None = self.__dict__.get("_known_brackets")
        if known is None or known[0] is not self._tokens:
            known = self.__dict__["_known_brackets"] = self._tokens, Tokens(self._tokens)
        return known[1]
