"""What the parsers of windows and frames share: errors with their place, spans of queries, pieces read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import sqlglot.parser
from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.source import SPAN, error_at
from dbt.adapters.sparkstream.sql.core.tokens import Tokens
from dbt.adapters.sparkstream.sql.grammar.spans import span_of

if not str(sqlglot.parser.__file__).endswith(".py"):
    raise ImportError(
        "sqlglot's compiled build can't be extended with dialects, and dbt-sparkstream needs its own\n"
        "  uninstall it: pip uninstall sqlglotc, then pip install --force-reinstall sqlglot"
    )


_QUERY_STARTS = (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN)


class PlacedParser(SparkParser):
    """Spark's parser, whose errors have their place in the text."""

    trees: Mapping[int, exp.Expr] = MappingProxyType({})
    """Where in the text a SELECT stands that is a whole query -> the tree that was read there (see `Blocks`)."""

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
    def _parse_query_modifiers(self, this: Any) -> Any:
        result = super()._parse_query_modifiers(this)
        if isinstance(result, exp.Select) and self._select_starts and SPAN not in result.meta:
            result.meta[SPAN] = (self._select_starts[-1].start, self._prev.end + 1)
        return result

    def _parse_select_query(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        first = self._curr
        if first and first.token_type is TokenType.SELECT and first.start in self.trees:
            self._advance()
            return self._parse_set_operations(self.trees[first.start])
        if not first or (first.token_type not in _QUERY_STARTS and not self._is_table_query()):
            return super()._parse_select_query(*args, **kwargs)
        if first.token_type == TokenType.SELECT:
            self._select_starts.append(first)
        try:
            query = super()._parse_select_query(*args, **kwargs)
        finally:
            if first.token_type == TokenType.SELECT:
                self._select_starts.pop()
        if query is not None and self._prev.end >= first.start:
            query.meta[SPAN] = span_of(first, self._prev)
        if first.token_type == TokenType.TABLE and query is not None:  # TABLE t is SELECT * FROM t
            next(query.find_all(exp.Star)).meta[SPAN] = span_of(first, first)
        return query

    @property
    def _select_starts(self) -> list[Token]:
        return self.__dict__.setdefault("_starts_of_selects", [])

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
        """A type: sqlglot takes ARRAY[x] and STRUCT(x) for types first, then for expressions."""

        def read() -> exp.Expr | None:
            return super(PlacedParser, self)._parse_types(check_func, schema, allow_identifiers, with_collation)

        in_expression = check_func and not schema and not allow_identifiers
        return self._once("type", read) if in_expression else read()

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
    def _pieces(self) -> dict[tuple[str, int], tuple[Any, int]]:
        """Kind of a piece and its first token -> the tree that it was read as, and its number of tokens."""
        return self.__dict__.setdefault("_pieces_read", {})

    @property
    def _brackets(self) -> Tokens:
        """The tokens of the statement that is being read, with the index of their brackets."""
        known: tuple[list[Token], Tokens] | None = self.__dict__.get("_known_brackets")
        if known is None or known[0] is not self._tokens:
            known = self.__dict__["_known_brackets"] = self._tokens, Tokens(self._tokens)
        return known[1]
