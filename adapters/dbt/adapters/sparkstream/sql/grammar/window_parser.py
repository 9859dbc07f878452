"""Spark's parser plus window table functions and islands."""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.aggregates import has_aggregate
from dbt.adapters.sparkstream.sql.core.interval import Interval, IntervalError
from dbt.adapters.sparkstream.sql.core.source import SPAN, error_at
from dbt.adapters.sparkstream.sql.core.windows import WINDOWS, Window, WindowError, WindowFunction
from dbt.adapters.sparkstream.sql.grammar.intervals import read_interval
from dbt.adapters.sparkstream.sql.grammar.spans import span_of
from dbt.adapters.sparkstream.sql.grammar.spec_grammar import SpecGrammar

JINJA_FUNCTIONS = frozenset({"REF", "SOURCE"})


class WindowParser(SpecGrammar):
    """Spark SQL plus window table functions in FROM, bare, in `TABLE( )` or in `<< >>`."""

    FUNC_TOKENS = SparkParser.FUNC_TOKENS | {TokenType.SESSION}

    STRICT_FLINK = False
    """Whether a table function is written exactly as in Flink."""

    def _parse_hint(self) -> exp.Hint | None:
        # A hint stays as it is written: nobody reads what is in it.
        if self._match(TokenType.HINT) and self._prev_comments:
            return exp.Hint(expressions=[self._prev_comments[0].strip()])
        return None

    # -- table functions -----------------------------------------------------------------------------
    def _parse_table_part(self, schema: bool = False) -> exp.Expr | None:
        if not schema and self._prev.token_type != TokenType.DOT:
            self._refuse_jinja()
            function = self._parse_island() or self._parse_wrapped_window() or self._parse_window_function()
            if function:
                return function
        return super()._parse_table_part(schema=schema)

    def _at_window(self, ahead: int = 0) -> bool:
        """Whether one of our functions and its parenthesis stand so many tokens ahead."""
        index = self._index + ahead
        if index + 1 >= self._tokens_size:
            return False
        name, paren = self._tokens[index], self._tokens[index + 1]
        return (
            name.token_type in (TokenType.VAR, TokenType.SESSION)
            and name.text.upper() in WINDOWS
            and paren.token_type == TokenType.L_PAREN
        )

    def _parse_island(self) -> exp.Expr | None:
        if not (self._match_pair(TokenType.LT, TokenType.LT, advance=False) and self._at_window(2)):
            return None
        first = self._curr
        self._advance(2)
        function = self._parse_window_function()
        assert function
        if not self._match_pair(TokenType.GT, TokenType.GT):
            raise self._error(
                "this << is never closed",
                "close it with >> behind the function's )",
                first,
                self._tokens[self._index - 1],
            )
        function.meta[SPAN] = span_of(first, self._prev)
        return function

    def _parse_wrapped_window(self) -> exp.Expr | None:
        if not (self._match_pair(TokenType.TABLE, TokenType.L_PAREN, advance=False) and self._at_window(2)):
            return None
        first = self._curr
        self._advance(2)
        function = self._parse_window_function()
        assert function
        self._match_r_paren()
        function.meta[SPAN] = span_of(first, self._prev)
        return function

    def _parse_window_function(self) -> exp.Expr | None:
        if not self._at_window():
            return None
        first = self._curr
        self._advance(2)
        window_type = WINDOWS[first.text.upper()]
        options = () if self.STRICT_FLINK else getattr(window_type, "options", ())
        arguments = self._parse_window_arguments(window_type.name, ("data", "timecol", *window_type.arguments), options)
        required = ("data", "timecol", *(a for a in window_type.arguments if a != "offset"))
        missing = [name for name in required if name not in arguments]
        if missing:
            raise self._error(
                f"{window_type.name} needs {len(required)} arguments, and its {missing[0]} is missing",
                _usage(window_type.name),
                first,
                self._prev,
            )
        relation, keys = arguments["data"][1]
        values = {name: value for name, (_, value) in arguments.items() if name not in ("data", "timecol", "close_on")}
        columns = {name: value for name, value in values.items() if isinstance(value, exp.Identifier)}
        intervals: dict[str, Any] = {name: None if name in columns else value for name, value in values.items()}
        try:
            window: Window = window_type(**intervals)
        except WindowError as error:
            raise self._error(str(error), error.hint, *arguments[error.argument][0]) from None
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
                hint = f"write (SELECT * FROM {relation} ...)" if name == "data" else _usage(function)
                raise self._error(f"{function} doesn't understand this", hint, self._curr or self._prev)
            if self._match(TokenType.R_PAREN, advance=False):
                raise self._error(
                    f"an argument of {function} is missing behind this comma", _usage(function), self._prev
                )

    def _next_name(self, function: str, names: tuple[str, ...], given: dict[str, Any]) -> str:
        free = [n for n in names if n not in given]
        if not free:
            optional = function == "SESSION" and not self.STRICT_FLINK
            raise self._error(
                f"{function} takes {_counts(names)} arguments, and this is one too many",
                f"{_usage(function)}; {_OPTIONS}" if optional else _usage(function),
                self._curr,
            )
        return free[0]

    def _argument_name(self, function: str, names: tuple[str, ...], given: dict[str, Any]) -> str:
        token = self._curr
        name = token.text.lower()
        if name not in names:
            optional = "close_on" in names
            raise self._error(
                f"{function} has no argument {token.text}",
                f"{_usage(function)}; {_OPTIONS}" if optional else _usage(function),
                token,
            )
        if name in given:
            raise self._error(f"{function} has its {token.text} twice", _usage(function), token)
        if self.STRICT_FLINK:
            if token.text != token.text.upper():
                raise self._error(
                    f"Flink's argument names are upper case: {token.text.upper()}", _usage(function), token
                )
            if name == "offset" and token.token_type != TokenType.IDENTIFIER:
                raise self._error("OFFSET is a keyword", "write `OFFSET` => INTERVAL '1' MINUTE, in backticks", token)
            if name != next(n for n in names if n not in given):
                raise self._error(f"{function}'s named arguments stand in order", _usage(function), token)
        self._advance(2)
        return name

    def _parse_window_input(self, function: str) -> tuple[exp.Expr, list[exp.Expr]]:
        """Reads `TABLE t`, `t`, `(SELECT ...)`, with PARTITION BY behind."""
        first = self._curr
        start = self._next if first and first.token_type == TokenType.TABLE else first
        relation: exp.Expr | None
        self._refuse_jinja()
        if self._match(TokenType.TABLE):
            if self._match(TokenType.L_PAREN, advance=False):
                if self.STRICT_FLINK and not self._at_dbt_subquery():
                    raise self._error(
                        "a subquery takes no TABLE in front of it", f"write {function}((SELECT ...), ...)", first
                    )
                relation = self._parse_table()
            else:
                relation = self._parse_table_parts()
        elif self._match(TokenType.L_PAREN, advance=False):
            relation = self._parse_table()
        elif first and (first.token_type in (TokenType.STRING, TokenType.NUMBER, TokenType.VALUES)):
            text = first.token_type == TokenType.STRING
            raise self._error(
                "the relation is a name, not a string" if text else f"{function} takes a relation here",
                f"write TABLE {first.text}" if text else f"{_usage(function)}, or a query in parentheses: (SELECT ...)",
                first,
            )
        elif self.STRICT_FLINK and not self._at_window():
            raise self._error(
                f"{function} takes TABLE and a name here, or a subquery in parentheses",
                f"write TABLE {first.text}"
                if first.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
                else _usage(function),
                first,
            )
        else:
            relation = self._parse_table_parts()
        if relation is None:
            raise error_at(self.sql, span_of(first, first), f"{function} takes a relation here", _usage(function))
        relation.meta[SPAN] = span_of(start, self._prev)
        return relation, self._parse_window_keys(function)

    def _at_dbt_subquery(self) -> bool:
        """Whether dbt put a filtered query in the place of a relation: for `--empty`, `--sample` or a microbatch."""
        closing = self._brackets.closing(self._index)
        text = "" if closing is None else self.sql[self._curr.start : self._tokens[closing].end + 1]
        return text.startswith("(select * from ") and (" where " in text or " limit " in text)

    def _refuse_jinja(self) -> None:
        """Refuses `ref('x')` and `source('x', 'y')` without braces: Spark has no table functions of these names."""
        first = self._curr
        if not (first and first.text.upper() in JINJA_FUNCTIONS and self._next.token_type == TokenType.L_PAREN):
            return
        inside = self._tokens[self._index + 2].token_type if self._index + 2 < self._tokens_size else None
        if inside == TokenType.STRING:
            last = self._tokens[self._brackets.behind(self._index + 1) - 1]
            call = self.sql[first.start : last.end + 1]
            raise self._error(f"{first.text}(...) is Jinja, and this is SQL", f"write {{{{ {call} }}}}", first, last)

    def _parse_window_keys(self, function: str) -> list[exp.Expr]:
        if self._match(TokenType.ORDER_BY, advance=False):
            raise self._error(
                f"{function} takes no ORDER BY: it orders rows by the time column",
                _usage(function),
                self._curr,
            )
        if not self._match(TokenType.PARTITION_BY):
            return []
        opening = self._curr
        if self._match(TokenType.L_PAREN):
            if self._match(TokenType.R_PAREN):
                raise self._error("PARTITION BY has no column", "write PARTITION BY (a, b)", opening, self._prev)
            keys = self._parse_csv(lambda: self._parse_key(function))
            self._match_r_paren()
        else:
            keys = [self._parse_key(function)]
            if self._match(TokenType.COMMA, advance=False) and self._several_keys():
                raise self._error(
                    "several keys of PARTITION BY stand in parentheses",
                    "write PARTITION BY (a, b)",
                    self._curr,
                    self._next,
                )
        if self._match(TokenType.ORDER_BY, advance=False):
            raise self._error(
                f"{function} takes no ORDER BY: it orders rows by the time column",
                _usage(function),
                self._curr,
            )
        return keys

    def _parse_key(self, function: str) -> exp.Expr:
        first = self._curr
        key = self._parse_column()
        if not isinstance(key, exp.Column) or key.table:
            raise error_at(
                self.sql,
                span_of(first, self._prev if key else first),
                f"a key of {function} is a plain column",
                "compute it in a subquery: (SELECT *, expression AS k FROM t)",
            )
        return key

    def _several_keys(self) -> bool:
        """Whether a comma is followed by one more name and a comma, and not by the time column."""
        tokens = self._tokens[self._index + 1 : self._index + 7]
        kinds = [t.token_type for t in tokens]
        if len(tokens) < 3 or kinds[1] != TokenType.COMMA or tokens[0].text.upper() == "DESCRIPTOR":
            return False
        if self.STRICT_FLINK:
            return True
        # What stands behind the time column may be the column with the gap; then no more than options come.
        return (
            len(tokens) > 5
            and kinds[2] not in (TokenType.STRING, TokenType.INTERVAL)
            and kinds[3] == TokenType.COMMA
            and kinds[5] != TokenType.FARROW
        )

    def _parse_time_column(self, function: str) -> exp.Identifier:
        first = self._curr
        described = self._match_text_seq("DESCRIPTOR")
        if described:
            self._match_l_paren()
        if self._curr and self._curr.token_type == TokenType.STRING:
            raise self._error(
                "the time column is a name, not a string", f"write DESCRIPTOR({self._curr.text})", self._curr
            )
        column = None if not self._curr else self._parse_id_var(any_token=True)
        if not isinstance(column, exp.Identifier):
            raise self._error(f"{function} needs its time column here", _usage(function), first)
        name = self._prev
        if described:
            if self._match(TokenType.COMMA, advance=False):
                raise self._error(
                    "DESCRIPTOR takes one column: the time column",
                    f"write DESCRIPTOR({name.text})",
                    self._curr,
                )
            self._match_r_paren()
        elif self.STRICT_FLINK:
            raise self._error(
                f"{function} takes DESCRIPTOR and the time column here",
                f"write DESCRIPTOR({name.text})",
                first,
            )
        if self._curr and self._curr.token_type not in (TokenType.COMMA, TokenType.R_PAREN):
            qualified = self._curr.token_type == TokenType.DOT and self._next
            hint = f"write DESCRIPTOR({self._next.text})" if qualified else _COMPUTE
            self._skip_argument()
            raise self._error("the time column is a plain column of the input", hint, first, self._prev)
        return column

    def _parse_window_interval(self, function: str, name: str) -> Interval:
        first = self._index
        self._skip_argument()
        tokens = self._tokens[first : self._index]
        try:
            return read_interval(tokens, strict=self.STRICT_FLINK)
        except IntervalError as error:
            at = tokens or [self._prev]
            named = ", or the name of the column with each row's gap" if name == "gap" and not self.STRICT_FLINK else ""
            raise self._error(
                f"{function}'s {name}: {error}", f"{error.hint}{named}" if error.hint else None, at[0], at[-1]
            ) from None

    def _at_gap_column(self) -> bool:
        """Whether a gap is a name, and nothing else."""
        if self.STRICT_FLINK or not (self._curr and self._next):
            return False
        constant = (TokenType.STRING, TokenType.NUMBER, TokenType.INTERVAL, TokenType.COMMA, TokenType.R_PAREN)
        return self._curr.token_type not in constant and self._next.token_type in (TokenType.COMMA, TokenType.R_PAREN)

    def _parse_close_on(self, function: str) -> exp.Expr:
        """Reads a condition on the columns of a row."""
        first = self._curr
        condition = self._parse_disjunction()
        if condition is None:
            raise error_at(self.sql, span_of(first, first), f"{function} takes a condition here", _CLOSE_ON)
        span = span_of(first, self._prev)
        if has_aggregate(condition) or condition.find(exp.Window, exp.Query) is not None:
            raise error_at(
                self.sql,
                span,
                f"{function}'s close_on looks beyond its row",
                "compute it in a subquery: (SELECT *, ... AS ends FROM t), then close_on => ends",
            )
        condition.meta[SPAN] = span
        return condition

    def _skip_argument(self) -> None:
        """Goes on to the comma or parenthesis that ends an argument."""
        ends = (TokenType.COMMA, TokenType.R_PAREN)
        level = self._brackets.level(self._index)
        end = next((i for i in level if self._tokens[i].token_type in ends), self._tokens_size)
        self._advance(end - self._index)


def _counts(names: tuple[str, ...]) -> str:
    return f"{len(names) - 1} or {len(names)}" if "offset" in names else str(len(names))


_CLOSE_ON = "write a condition on its columns, such as close_on => event = 'logout'"
_OPTIONS = "more by their names: max_duration => INTERVAL '4' HOURS, close_on => event = 'logout'"
_COMPUTE = "compute it in a subquery: (SELECT ..., expression AS ts FROM t)"
_USAGE = {
    "TUMBLE": "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES [, offset])",
    "HOP": "HOP(TABLE t, DESCRIPTOR(ts), slide INTERVAL '5' MINUTES, size INTERVAL '10' MINUTES [, offset])",
    "CUMULATE": "CUMULATE(TABLE t, DESCRIPTOR(ts), step INTERVAL '2' MINUTES, size INTERVAL '10' MINUTES [, offset])",
    "SESSION": "SESSION(TABLE t [PARTITION BY (k, ...)], DESCRIPTOR(ts), INTERVAL '10' MINUTES)",
}


def _usage(function: str) -> str:
    return f"write {_USAGE[function]}"
