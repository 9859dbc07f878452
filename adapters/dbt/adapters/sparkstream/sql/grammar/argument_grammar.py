"""The grammar of a window table function's arguments: its input, time column, intervals and options."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.interval import Interval, IntervalError, read_interval
from dbt.adapters.sparkstream.sql.core.literals import backticked, quoted
from dbt.adapters.sparkstream.sql.core.nodes import has_aggregate
from dbt.adapters.sparkstream.sql.core.source import SPAN
from dbt.adapters.sparkstream.sql.core.tokens import Span
from dbt.adapters.sparkstream.sql.core.windows import UNREAD, WINDOWS
from dbt.adapters.sparkstream.sql.grammar.spans import span_of
from dbt.adapters.sparkstream.sql.grammar.spec_grammar import SpecGrammar

_JINJA_FUNCTIONS = frozenset({"REF", "SOURCE"})
_CLOSE_ON = "write a condition on its columns, such as close_on => event = 'logout'"
_COMPUTE = "compute it in a subquery: (SELECT ..., expression AS ts FROM t)"
_USAGE = {
    "TUMBLE": "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES [, offset])",
    "HOP": "HOP(TABLE t, DESCRIPTOR(ts), slide INTERVAL '5' MINUTES, size INTERVAL '10' MINUTES [, offset])",
    "CUMULATE": "CUMULATE(TABLE t, DESCRIPTOR(ts), step INTERVAL '2' MINUTES, size INTERVAL '10' MINUTES [, offset])",
    "SESSION": "SESSION(TABLE t [PARTITION BY (k, ...)], DESCRIPTOR(ts), INTERVAL '10' MINUTES)",
}


def _descriptor(function: str, name: Token) -> str:
    """Hint to write DESCRIPTOR(name), if a token may be the time column's name; else the form of the whole call."""
    is_name = name.text[:1].isalpha() and name.token_type != TokenType.INTERVAL
    return f"write DESCRIPTOR({quoted(name.text)})" if is_name else usage(function)


def usage(function: str) -> str:
    """Hint for an error: the form of a window table function."""
    return f"write {_USAGE[function]}"


class ArgumentGrammar(SpecGrammar):
    """Reads the arguments of TUMBLE, HOP, CUMULATE and SESSION, each of one kind."""

    FLINK = False
    """True if the text is Flink's, which takes several columns in DESCRIPTOR, and takes a WEEK for an hour."""

    def _at_window(self, ahead: int = 0) -> bool:
        """True if one of our functions and its parenthesis are `ahead` tokens on."""
        index = self._index + ahead
        if index + 1 >= self._tokens_size:
            return False
        name, paren = self._tokens[index], self._tokens[index + 1]
        return (
            name.token_type in (TokenType.VAR, TokenType.SESSION)
            and name.text.upper() in WINDOWS
            and paren.token_type == TokenType.L_PAREN
        )

    def _parse_window_input(self, function: str) -> tuple[exp.Expr, list[exp.Expr]]:
        """Reads `TABLE t`, `t`, `(SELECT ...)`, with PARTITION BY behind."""
        first = self._curr
        start = self._next if first and first.token_type == TokenType.TABLE else first
        relation: exp.Expr | None
        self._refuse_jinja()
        if self._match(TokenType.TABLE):
            in_parentheses = self._match(TokenType.L_PAREN, advance=False)
            relation = self._parse_table() if in_parentheses else self._parse_table_parts()
        elif self._match(TokenType.L_PAREN, advance=False):
            relation = self._parse_table()
        elif first and first.token_type == TokenType.STRING:
            hint = f"write TABLE {first.text}{self._own(function)}"
            raise self._error("the relation is a name, not a string", hint, first)
        else:
            is_value = first and first.token_type in (TokenType.NUMBER, TokenType.DASH, TokenType.VALUES)
            relation = None if is_value else self._parse_table_parts()
        if relation is None:
            hint = f"{usage(function)}, or a query in parentheses: (SELECT ...){self._own(function)}"
            raise self._error(f"{function} takes a relation here", hint, first)
        relation.meta[SPAN] = span_of(start, self._prev)
        return relation, self._parse_window_keys(function)

    def _own(self, function: str) -> str:
        """Hint on how to call a function of the user's own that has the name of a window function."""
        name = function.lower()
        return f"; a function of your own that is called {name} is {backticked(name)}(...), in backticks"

    def _refuse_jinja(self) -> None:
        """Refuses `ref('x')` and `source('x', 'y')` without braces: Spark has no table functions of these names."""
        first = self._curr
        if not (first and first.text.upper() in _JINJA_FUNCTIONS and self._next.token_type == TokenType.L_PAREN):
            return
        inside = self._tokens[self._index + 2].token_type if self._index + 2 < self._tokens_size else None
        if inside == TokenType.STRING:
            last = self._tokens[self._brackets.behind(self._index + 1) - 1]
            call = self.sql[first.start : last.end + 1]
            raise self._error(f"{first.text}(...) is Jinja, and this is SQL", f"write {{{{ {call} }}}}", first, last)

    def _parse_window_keys(self, function: str) -> list[exp.Expr]:
        keys = self._parse_keys(function) if self._match(TokenType.PARTITION_BY) else []
        if self._match(TokenType.ORDER_BY, advance=False):
            raise self._error(
                f"{function} takes no ORDER BY: it orders rows by the time column", usage(function), self._curr
            )
        return keys

    def _parse_keys(self, function: str) -> list[exp.Expr]:
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
        return keys

    def _parse_key(self, function: str) -> exp.Expr:
        first = self._curr
        key = self._parse_column()
        if not isinstance(key, exp.Column) or key.table:
            hint = "compute it in a subquery: (SELECT *, expression AS k FROM t)"
            raise self._error(f"a key of {function} is a plain column", hint, first, self._prev if key else first)
        return key

    def _several_keys(self) -> bool:
        """True if one more name and a comma follow the comma here, and the name isn't the time column."""
        tokens = self._tokens[self._index + 1 : self._index + 7]
        kinds = [t.token_type for t in tokens]
        if len(tokens) < 3 or kinds[1] != TokenType.COMMA or tokens[0].text.upper() == "DESCRIPTOR":
            return False
        if tokens[2].text.upper() == "DESCRIPTOR":
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
            raise self._error("the time column is a name, not a string", _descriptor(function, self._curr), self._curr)
        column = None if not self._curr else self._parse_id_var(any_token=True)
        if not isinstance(column, exp.Identifier):
            hint = usage(function) + self._own(function)
            raise self._error(f"{function} needs its time column here", hint, first)
        name = self._prev
        if described:
            if self._match(TokenType.COMMA, advance=False):
                if not self.FLINK:
                    raise self._error(
                        "DESCRIPTOR takes one column: the time column", _descriptor(function, name), self._curr
                    )
                column.meta[UNREAD] = self._parse_unread_columns()
            if self._curr and self._curr.token_type == TokenType.R_PAREN:
                self._advance()
        if self._curr and self._curr.token_type not in (TokenType.COMMA, TokenType.R_PAREN):
            qualified = self._curr.token_type == TokenType.DOT and self._next
            hint = _descriptor(function, self._next) if qualified else _COMPUTE
            self._skip_argument()
            raise self._error("the time column is a plain column of the input", hint, first, self._prev)
        return column

    def _parse_unread_columns(self) -> Span:
        """Reads the columns behind the first one of DESCRIPTOR."""
        first = self._curr
        while self._match(TokenType.COMMA):
            if self._parse_id_var(any_token=False) is None:
                raise self._error("DESCRIPTOR takes columns", "write DESCRIPTOR(ts)", self._curr)
        return span_of(first, self._prev)

    def _parse_window_interval(self, function: str, name: str) -> Interval:
        first = self._index
        self._skip_argument()
        tokens = self._tokens[first : self._index]
        try:
            return read_interval(tokens, flink=self.FLINK)
        except IntervalError as error:
            at = tokens or [self._prev]
            named = ", or the name of the column with each row's gap" if name == "gap" else ""
            raise self._error(
                f"{function}'s {name}: {error}", f"{error.hint}{named}" if error.hint else None, at[0], at[-1]
            ) from None

    def _at_gap_column(self) -> bool:
        """True if a gap is a name, and nothing else."""
        if not (self._curr and self._next):
            return False
        constant = (TokenType.STRING, TokenType.NUMBER, TokenType.INTERVAL, TokenType.COMMA, TokenType.R_PAREN)
        return self._curr.token_type not in constant and self._next.token_type in (TokenType.COMMA, TokenType.R_PAREN)

    def _parse_close_on(self, function: str) -> exp.Expr:
        """Reads a condition on the columns of a row."""
        first = self._curr
        condition = self._parse_disjunction()
        if condition is None:
            raise self._error(f"{function} takes a condition here", _CLOSE_ON, first)
        if has_aggregate(condition) or condition.find(exp.Window, exp.Query) is not None:
            hint = "compute it in a subquery: (SELECT *, ... AS ends FROM t), then close_on => ends"
            raise self._error(f"{function}'s close_on looks beyond its row", hint, first, self._prev)
        condition.meta[SPAN] = span_of(first, self._prev)
        return condition

    def _skip_argument(self) -> None:
        """Goes on to the comma or parenthesis that ends an argument."""
        ends = (TokenType.COMMA, TokenType.R_PAREN)
        level = self._brackets.level(self._index)
        end = next((i for i in level if self._tokens[i].token_type in ends), self._tokens_size)
        self._advance(end - self._index)
