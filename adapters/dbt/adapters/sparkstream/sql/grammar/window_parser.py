"""Spark's parser plus window table functions and islands."""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.errors import PartError
from dbt.adapters.sparkstream.sql.core.source import SPAN
from dbt.adapters.sparkstream.sql.core.windows import WINDOWS, Window, WindowFunction
from dbt.adapters.sparkstream.sql.grammar.argument_grammar import ArgumentGrammar, usage
from dbt.adapters.sparkstream.sql.grammar.spans import span_of

_OPTIONS = "more by their names: max_duration => INTERVAL '4' HOURS, close_on => event = 'logout'"


class WindowParser(ArgumentGrammar):
    """Spark SQL plus window table functions in FROM, bare, in `TABLE( )` or in `<< >>`."""

    FUNC_TOKENS = SparkParser.FUNC_TOKENS | {TokenType.SESSION}

    def _parse_hint(self) -> exp.Hint | None:
        # A hint stays as it is written: nobody reads what is in it.
        if self._match(TokenType.HINT) and self._prev_comments:
            return exp.Hint(expressions=[self._prev_comments[0].strip()])
        return None

    # -- table functions -----------------------------------------------------------------------------
    def _parse_table_part(self, schema: bool = False) -> exp.Expr | None:
        if not schema and self._prev.token_type != TokenType.DOT:
            self._refuse_jinja()
            function = self._parse_enclosed_window() or self._parse_window_function()
            if function:
                return function
        return super()._parse_table_part(schema=schema)

    def _parse_enclosed_window(self) -> exp.Expr | None:
        """`<< TUMBLE(...) >>` or `TABLE(TUMBLE(...))`."""
        is_island = self._match_pair(TokenType.LT, TokenType.LT, advance=False)
        opened = is_island or self._match_pair(TokenType.TABLE, TokenType.L_PAREN, advance=False)
        if not (opened and self._at_window(2)):
            return None
        first = self._curr
        self._advance(2)
        function = self._parse_window_function()
        assert function
        if not is_island:
            self._match_r_paren()
        elif not self._match_pair(TokenType.GT, TokenType.GT):
            last = self._tokens[self._index - 1]
            raise self._error("this << is never closed", "close it with >> behind the function's )", first, last)
        function.meta[SPAN] = span_of(first, self._prev)
        return function

    def _parse_window_function(self) -> exp.Expr | None:
        if not self._at_window():
            return None
        first = self._curr
        self._advance(2)
        window_type = WINDOWS[first.text.upper()]
        options = getattr(window_type, "options", ())
        arguments = self._parse_window_arguments(window_type.name, ("data", "timecol", *window_type.arguments), options)
        required = ("data", "timecol", *(a for a in window_type.arguments if a != "offset"))
        missing = [name for name in required if name not in arguments]
        if missing:
            raise self._error(
                f"{window_type.name} needs {len(required)} arguments, and its {missing[0]} is missing",
                usage(window_type.name) + (self._own(window_type.name) if "timecol" in missing else ""),
                first,
                self._prev,
            )
        relation, keys = arguments["data"][1]
        values = {name: value for name, (_, value) in arguments.items() if name not in ("data", "timecol", "close_on")}
        columns = {name: value for name, value in values.items() if isinstance(value, exp.Identifier)}
        intervals: dict[str, Any] = {name: None if name in columns else value for name, value in values.items()}
        try:
            window: Window = window_type(**intervals)
        except PartError as error:
            raise self._error(str(error), error.hint, *arguments[error.part][0]) from None
        if keys and window_type.name != "SESSION":
            raise self._error(
                f"{window_type.name} takes no PARTITION BY: only SESSION has keys",
                "group by the key beside window_start and window_end",
                *arguments["data"][0],
            )
        node = WindowFunction(
            this=relation,
            timecol=arguments["timecol"][1],
            window=window,
            partition_by=keys,
            close_on=arguments["close_on"][1] if "close_on" in arguments else None,
            **columns,
        ).update_positions(first)
        node.meta[SPAN] = span_of(first, self._prev)
        return node

    def _parse_window_arguments(
        self, function: str, names: tuple[str, ...], options: tuple[str, ...]
    ) -> dict[str, tuple[tuple[Token, Token], Any]]:
        """Reads `( ... )` into argument name -> (its first and last token, its value); options have to be named."""
        arguments: dict[str, tuple[tuple[Token, Token], Any]] = {}
        if self._brackets.closing(self._index - 1) is None:
            raise self._error(f"this parenthesis of {function} is never closed", "close it with )", self._prev)
        if self._match(TokenType.R_PAREN):
            return arguments
        while True:
            first = self._curr
            named = bool(self._next and self._next.token_type == TokenType.FARROW)
            name = (
                self._argument_name(function, (*names, *options), arguments)
                if named
                else self._next_name(function, names, arguments)
            )
            value: Any
            if name == "data":
                value = self._parse_window_input(function)
            elif name == "timecol":
                value = self._parse_time_column(function)
            elif name == "gap" and self._at_gap_column():
                value = self._parse_id_var(any_token=True)
            elif name == "close_on":
                value = self._parse_close_on(function)
            else:
                value = self._parse_window_interval(function, name)
            arguments[name] = ((first, self._prev), value)
            if self._match(TokenType.R_PAREN):
                return arguments
            if not self._match(TokenType.COMMA):
                relation = self.sql[arguments["data"][0][0].start : self._prev.end + 1]
                hint = f"write (SELECT * FROM {relation} ...)" if name == "data" else usage(function)
                raise self._error(f"{function} doesn't understand this", hint, self._curr or self._prev)
            if self._match(TokenType.R_PAREN, advance=False):
                raise self._error(
                    f"an argument of {function} is missing behind this comma", usage(function), self._prev
                )

    def _next_name(self, function: str, names: tuple[str, ...], given: dict[str, Any]) -> str:
        free = [n for n in names if n not in given]
        if not free:
            raise self._error(
                f"{function} takes {_counts(names)} arguments, and this is one too many",
                _usage_with_options(function),
                self._curr,
            )
        return free[0]

    def _argument_name(self, function: str, names: tuple[str, ...], given: dict[str, Any]) -> str:
        token = self._curr
        name = token.text.lower()
        if name not in names:
            raise self._error(
                f"{function} has no argument {token.text}",
                _usage_with_options(function) + ("" if given else self._own(function)),
                token,
            )
        if name in given:
            raise self._error(f"{function} has its {token.text} twice", usage(function), token)
        self._advance(2)
        return name


def _usage_with_options(function: str) -> str:
    return f"{usage(function)}; {_OPTIONS}" if function == "SESSION" else usage(function)


def _counts(names: tuple[str, ...]) -> str:
    return f"{len(names) - 1} or {len(names)}" if "offset" in names else str(len(names))
