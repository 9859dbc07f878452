"""SQLstream's SQL, as far as Spark can run it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.frames import Frame
from dbt.adapters.sparkstream.sql.core.source import CLAUSES, SPAN, Span, error_at
from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream
from dbt.adapters.sparkstream.sql.dialects.window_bases import with_bases
from dbt.adapters.sparkstream.sql.grammar.scan import is_base
from dbt.adapters.sparkstream.sql.grammar.span_parser import ForeignParser
from dbt.adapters.sparkstream.sql.grammar.spans import span_of, spanned
from dbt.adapters.sparkstream.sql.grammar.specs import FROM_LAST, WindowSpec


class Step(exp.Expression, exp.Func):
    """`STEP(x BY INTERVAL '5' MINUTE)` or `STEP(n BY 10)`: rounds down to a multiple, counted from 1970 or zero."""

    arg_types = {"this": True, "by": True}


class Elapsed(exp.Expression):
    """`(a - b) MINUTE`, `(a - b) DAY TO SECOND`: the time between two times, in some units."""

    arg_types = {"this": True, "units": True}


_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND")


@dataclass(frozen=True)
class StreamWindow:
    """The window of a stream in FROM: `OVER (RANGE INTERVAL '1' HOUR PRECEDING)`.

    Attributes:
        span: where it stands, from OVER on.
        window: its specification, or its name.
    """

    span: Span
    window: WindowSpec | str


STREAM_WINDOW = "stream_window"
"""Key under which a table's meta has its StreamWindow."""


class SQLStream(SparkStream):
    SHAPE = (
        "write SELECT STREAM ... FROM t [WHERE ...] [GROUP BY FLOOR(t.ROWTIME TO HOUR), ...] "
        "WINDOW w AS (PARTITION BY k RANGE INTERVAL '1' HOUR PRECEDING)"
    )

    class Tokenizer(SparkStream.Tokenizer):
        QUOTES = ["'"]
        STRING_ESCAPES = ["'"]
        IDENTIFIERS = ['"', "`"]
        IDENTIFIER_ESCAPES = ['"', "`"]
        NUMERIC_LITERALS: ClassVar[dict[str, str]] = {}
        RAW_STRINGS: ClassVar[list[str | tuple[str, str]]] = []

    class Parser(ForeignParser):
        FRAMED = True
        BY_KEY = "RANGE"
        BY_NUMBER = True
        BOUNDS = "write ROWS 9 PRECEDING, RANGE INTERVAL '1' HOUR PRECEDING or CURRENT ROW"
        UNITS: ClassVar[dict[str, int]] = {"": 1}
        FUNCTION_PARSERS = {
            **ForeignParser.FUNCTION_PARSERS,
            "CEILING": ForeignParser.FUNCTION_PARSERS["CEIL"],
            "STEP": lambda self: self._parse_step(),
        }

        _left_out: list[Span]

        def parse(self, raw_tokens: list[Token], sql: str = "") -> list[exp.Expr | None]:
            _check(raw_tokens, sql)
            # SELECT STREAM on a table is SELECT.
            tokens = [t for i, t in enumerate(raw_tokens) if not is_stream_word(raw_tokens, i)]
            read, self._left_out = with_bases(tokens)
            return super().parse(read, sql)

        def _parse_query_modifiers(self, this: Any) -> Any:
            query = super()._parse_query_modifiers(this)
            if self._left_out and isinstance(query, exp.Select) and CLAUSES in query.meta:
                self._take_left_out(query)
            return query

        def _take_left_out(self, select: exp.Select) -> None:
            """Makes the windows in the WINDOW clause of a SELECT a part of it that `with_bases` has left out."""
            clauses = select.meta[CLAUSES]
            behind = self._curr.start if self._curr else len(self.sql)
            for start, end in [span for span in self._left_out if clauses["select"] < span[0] < behind]:
                self._left_out.remove((start, end))
                clauses["window"] = min(clauses.get("window", start), start)
                clauses["end"] = max(clauses["end"], end)
            select.meta[SPAN] = clauses["select"], clauses["end"]

        def _parse_table_parts(self, *args: Any, **kwargs: Any) -> exp.Table | exp.Dot | None:
            table = super()._parse_table_parts(*args, **kwargs)
            over = self._curr
            if table is not None and over and self._match(TokenType.OVER):
                if self._curr and self._curr.token_type is TokenType.L_PAREN:
                    window: WindowSpec | str = self._parse_window_specification()[0]
                else:
                    name = self._parse_id_var()
                    window = name.name if name else ""
                table.meta[STREAM_WINDOW] = StreamWindow(span_of(over, self._prev), window)
            return table

        def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
            """Reads NTH_VALUE(x, 2) FROM LAST OVER w, too."""
            side = self._next.text.upper() if self._next else ""
            from_side = self._curr and self._curr.token_type == TokenType.FROM and side in ("FIRST", "LAST")
            if from_side and isinstance(this, exp.Anonymous) and this.name.upper() == "NTH_VALUE":
                self._advance(2)
                this.meta[FROM_LAST] = side == "LAST"
            return super()._parse_window(this, alias=alias)

        def _parse_window_union(self) -> list[exp.Expr]:
            """Refuses `w2 AS (w ROWS 3 PRECEDING)` where w has a frame of its own."""
            if is_base(self._curr, self._next):
                raise self._error(
                    "a window can't refer to another one here",
                    "write out what that window has: (PARTITION BY k ROWS 3 PRECEDING)",
                    self._curr,
                )
            return super()._parse_window_union()

        def _check_unordered(self, *frame: Any) -> None:
            """Accepts a window without ORDER BY, whose rows ROWTIME orders."""

        def _parse_frame(self, opening: Token, ordered: bool) -> Frame:
            """Reads ALLOW PARTIAL, which is how a window is without it, too; refuses DISALLOW PARTIAL."""
            frame = super()._parse_frame(opening, ordered)
            first = self._curr
            if self._match_text_seq("DISALLOW", "PARTIAL"):
                raise self._error(
                    "DISALLOW PARTIAL leaves out what a window holds before it is full, which Spark can't",
                    "leave it out, and write CASE WHEN COUNT(*) OVER w = 10 THEN ... END",
                    first,
                    self._prev,
                )
            self._match_text_seq("ALLOW", "PARTIAL")
            return frame

        @spanned
        def _parse_parentheses(self) -> exp.Expr | None:
            node = super()._parse_parentheses()
            unit = self._curr.text.upper() if self._curr else ""
            difference = isinstance(node, exp.Paren) and isinstance(node.this, exp.Sub)
            if not difference or unit not in (*_UNITS, "MONTH", "YEAR"):
                return node
            first = self._curr
            self._advance()
            if self._match_text_seq("TO"):
                unit += f" TO {self._curr.text.upper() if self._curr else ''}"
                self._advance()
            if not set(unit.split(" TO ")) <= set(_UNITS):
                raise self._error(
                    f"Spark has no difference of times in {unit}", "write months_between(a, b)", first, self._prev
                )
            return Elapsed(this=node, units=unit)

        def _parse_step(self) -> exp.Expr:
            this = self._parse_disjunction()
            if not self._match_text_seq("BY"):
                self.raise_error("STEP needs BY and an interval: STEP(ROWTIME BY INTERVAL '5' MINUTE)")
            start = self._curr
            by = self._parse_disjunction()
            if this is None or by is None:
                self.raise_error("STEP needs a value, BY and an interval: STEP(ROWTIME BY INTERVAL '5' MINUTE)")
            else:
                by.meta[SPAN] = span_of(start, self._prev)
            return Step(this=this, by=by)


def _check(tokens: list[Token], sql: str) -> None:
    """Refuses what only SQLstream has: pumps, and streams that are created."""
    if tokens[0].token_type is TokenType.CREATE:
        made = next((t for t in tokens[1:5] if t.text.upper() in ("PUMP", "STREAM")), None)
        if made:
            raise error_at(
                sql,
                span_of(tokens[0], made),
                f"Spark has no {made.text.upper()}S",
                "a model is what a pump fills: leave it out, and write the SELECT alone",
            )


def is_stream_word(tokens: list[Token], index: int) -> bool:
    """True if a token is the STREAM of SELECT STREAM, and not a column of this name."""
    token = tokens[index]
    if not index or tokens[index - 1].token_type != TokenType.SELECT:
        return False
    if token.text.upper() != "STREAM" or token.token_type == TokenType.IDENTIFIER or index + 1 >= len(tokens):
        return False
    return tokens[index + 1].token_type not in (TokenType.COMMA, TokenType.DOT, TokenType.FROM, TokenType.ALIAS)
