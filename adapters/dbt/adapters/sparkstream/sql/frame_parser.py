"""The grammar of frames: OpenMLDB's and SQLstream's window specifications, and LAST JOIN."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlglot import exp
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.frames import CURRENT_ROW, UNBOUNDED, Bound, Frame, FrameError, Kind
from dbt.adapters.sparkstream.sql.interval import IntervalError
from dbt.adapters.sparkstream.sql.source import SPAN, Span, error_at
from dbt.adapters.sparkstream.sql.translate import may_hold_frames

FLAGS = ("EXCLUDE CURRENT_TIME", "EXCLUDE CURRENT_ROW", "INSTANCE_NOT_IN_WINDOW")
CALL_START = "call_start"
"""Key under which a call over a window keeps where its name stands."""

_UNITS = {"": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_OFFSET = re.compile(r"(-?\s*\d+)([a-zA-Z]*)")
_OURS = ("ROWS_RANGE", "MAXSIZE", "INSTANCE_NOT_IN_WINDOW")
_NO_WINDOW_NAMES = (
    TokenType.PARTITION_BY,
    TokenType.ORDER_BY,
    TokenType.ROWS,
    TokenType.RANGE,
    TokenType.UNION,
    TokenType.COMMA,
)


@dataclass(frozen=True)
class OrderKey:
    """An item of a window's ORDER BY: where its expression stands, and the expression."""

    span: Span
    expression: exp.Expr


@dataclass(frozen=True)
class WindowSpec:
    """A window as written, with the places of its parts.

    Attributes:
        span: the specification with its parentheses.
        frame: its frame.
        unions: the tables and subqueries of UNION.
        partition: the expressions of PARTITION BY.
        order: the items of ORDER BY; ascending, all of them.
    """

    span: Span
    frame: Frame
    unions: tuple[exp.Expr, ...] = ()
    partition: tuple[OrderKey, ...] = ()
    order: tuple[OrderKey, ...] = ()


class FramedWindow(exp.Window):
    """A window specification of ours; `spec_value` is its WindowSpec."""

    arg_types = {**exp.Window.arg_types, "union": False, "spec_value": False, "keys": False}

    @property
    def value(self) -> WindowSpec:
        return self.args["spec_value"]


class LastJoin(exp.Join):
    """`LAST JOIN t ORDER BY t.ts ON ...`: every row once, with the last matching row of t, or NULLs."""

    arg_types = {**exp.Join.arg_types, "order": False}


class FrameGrammar(SparkParser):
    """Reads frames, window UNION and LAST JOIN; mixed into the parser of every dialect."""

    FRAME_DIALECT = "spark"

    def _error_at_tokens(self, message: str, hint: str | None, first: Token, last: Token | None = None) -> Exception:
        return error_at(self.sql, (first.start, (last or first).end + 1), message, hint)

    # -- queries -------------------------------------------------------------------------------------
    def _parse_query_modifiers(self, this: Any) -> Any:
        result = super()._parse_query_modifiers(this)
        if isinstance(result, exp.Select) and self._select_starts and SPAN not in result.meta:
            result.meta[SPAN] = (self._select_starts[-1].start, self._prev.end + 1)
        return result

    def _parse_select_query(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        first = self._curr
        if not first or first.token_type != TokenType.SELECT:
            return super()._parse_select_query(*args, **kwargs)
        self._select_starts.append(first)
        try:
            return super()._parse_select_query(*args, **kwargs)
        finally:
            self._select_starts.pop()

    @property
    def _select_starts(self) -> list[Token]:
        return self.__dict__.setdefault("_starts_of_selects", [])

    # -- LAST JOIN -----------------------------------------------------------------------------------
    def _at_last_join(self) -> bool:
        return bool(
            self._curr
            and self._next
            and self._curr.text.upper() == "LAST"
            and self._next.token_type == TokenType.JOIN
            and self._curr.token_type != TokenType.IDENTIFIER
        )

    def _parse_table_alias(self, alias_tokens: Any = None) -> exp.TableAlias | None:
        if self._at_last_join():
            return None
        return super()._parse_table_alias(alias_tokens)

    def _parse_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        if not self._at_last_join():
            return self._read_join(*args, **kwargs)
        first = self._curr
        self._advance(2)
        start = self._curr
        table = self._parse_table()
        if table is None:
            self.raise_error("LAST JOIN needs a table here")
            return None
        table.meta[SPAN] = (start.start, self._prev.end + 1)
        order: OrderKey | None = None
        if self._match(TokenType.ORDER_BY):
            order = self._order_keys("LAST JOIN")[0]
        if not self._match(TokenType.ON):
            raise self._error_at_tokens(
                "LAST JOIN needs ON and a condition", "write LAST JOIN t ORDER BY t.ts ON a.k = t.k", first, self._prev
            )
        join = LastJoin(this=table, on=self._parse_disjunction(), order=order)
        join.meta[SPAN] = (first.start, self._prev.end + 1)
        return join

    # -- what sqlglot would read again and again ---------------------------------------------------------
    # sqlglot tries a reading, goes back and tries another. Where both hold the same piece, and that piece such pieces
    # of its own, each level doubles the time. These remember what a piece was read as.
    def _read_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        """A join: behind one without ON, sqlglot looks for joins that belong to it."""
        if args or kwargs.keys() - {"alias_tokens"}:
            return super()._parse_join(*args, **kwargs)
        key = "join" if kwargs.get("alias_tokens") is None else "join under an alias"
        return self._once(key, lambda: super(FrameGrammar, self)._parse_join(**kwargs))

    def _parse_types(
        self,
        check_func: bool = False,
        schema: bool = False,
        allow_identifiers: bool = True,
        with_collation: bool = False,
    ) -> exp.Expr | None:
        """A type: sqlglot takes ARRAY[x] and STRUCT(x) for types first, then for expressions."""

        def read() -> exp.Expr | None:
            return super(FrameGrammar, self)._parse_types(check_func, schema, allow_identifiers, with_collation)

        in_expression = check_func and not schema and not allow_identifiers
        return self._once("type", read) if in_expression else read()

    def _once(self, kind: str, read: Callable[[], Any]) -> Any:
        """What a method reads here; the second time what it read the first time."""
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
        """Kind of a piece and where it begins -> what it was read as, and how many tokens it has."""
        return self.__dict__.setdefault("_pieces_read", {})

    # -- windows -------------------------------------------------------------------------------------
    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
        if not alias and self._curr and self._curr.token_type == TokenType.OVER:
            self._check_over()
        if not self._at_frame(alias):
            return super()._parse_window(this, alias=alias)
        if not alias:
            this = self._before_over(this)
        self._advance()  # AS or OVER
        spec, children = self._parse_window_specification()
        window = FramedWindow(
            this=this,
            over=None if alias else "OVER",
            spec_value=spec,
            union=children[0],
            keys=children[1],
        )
        window.meta[SPAN] = spec.span
        return window

    def _parse_function_call(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        first = self._curr
        try:
            node = super()._parse_function_call(*args, **kwargs)
        except IndexError:  # sqlglot takes the arguments of a function such as MAP by their places
            place = (first.start, self._prev.end + 1) if first else (0, 0)
            raise error_at(
                self.sql, place, "this function has too few arguments", "write all of its arguments"
            ) from None
        if isinstance(node, exp.Window) and first:
            node.meta[CALL_START] = first.start
        return node

    def _check_over(self) -> None:
        after = self._next
        framed = self.FRAME_DIALECT != "spark"
        if not after:
            wrong = framed
        else:
            wrong = after.token_type in _NO_WINDOW_NAMES or (
                framed and (after.token_type in (TokenType.ALIAS, TokenType.FROM) or after.text.upper() in _OURS)
            )
        if wrong:
            raise self._error_at_tokens(
                "OVER takes a window's name, or a window in parentheses",
                "write OVER (PARTITION BY ... ORDER BY ... ROWS BETWEEN ...)",
                self._curr,
                after,
            )

    def _before_over(self, this: exp.Expr | None) -> exp.Expr | None:
        """Reads FILTER (...) and IGNORE NULLS, which may stand between a call and OVER."""
        if self._match_pair(TokenType.FILTER, TokenType.L_PAREN):
            this = self.expression(exp.Filter(this=this, expression=self._parse_where()))
            self._match_r_paren()
        return self._parse_respect_or_ignore_nulls(this)

    @cached_property
    def _may_hold_frames(self) -> bool:
        return self.FRAME_DIALECT != "spark" or may_hold_frames(self.sql.lower())

    def _at_frame(self, alias: bool) -> bool:
        """Whether `OVER (` or `AS (` and a window of ours stand here."""
        if not self._may_hold_frames:
            return False
        tokens, at = self._tokens, self._index
        if not alias:
            if at + 1 < len(tokens) and tokens[at].token_type == TokenType.FILTER:
                at = self._index_behind(at + 1)
            if at + 1 < len(tokens) and tokens[at].text.upper() in ("IGNORE", "RESPECT"):
                at += 2
        if at + 1 >= len(tokens) or tokens[at + 1].token_type != TokenType.L_PAREN:
            return False
        if tokens[at].token_type != (TokenType.ALIAS if alias else TokenType.OVER):
            return False
        return bool(self.FRAME_DIALECT != "spark" or is_ours(tokens, at + 1))

    def _index_behind(self, opening: int) -> int:
        depth = 0
        for i in range(opening, len(self._tokens)):
            kind = self._tokens[i].token_type
            depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
            if depth == 0:
                return i + 1
        return len(self._tokens)

    def _parse_window_specification(self) -> tuple[WindowSpec, tuple[list[exp.Expr], list[exp.Expr]]]:
        opening = self._curr
        self._advance()
        unions = self._parse_window_union()
        partition: list[OrderKey] = []
        order: list[OrderKey] = []
        if self._match(TokenType.PARTITION_BY):
            partition = self._parse_items(self._parse_disjunction)
        elif self.FRAME_DIALECT == "openmldb":
            raise self._error_at_tokens(
                "a window needs PARTITION BY",
                "write (PARTITION BY key ORDER BY ts ROWS BETWEEN ...)",
                opening,
                self._curr,
            )
        if self._match(TokenType.ORDER_BY):
            order = self._order_keys("a window")
        frame = self._parse_frame(opening, bool(order))
        if not self._match(TokenType.R_PAREN):
            self._refuse_rest()
        span = opening.start, self._prev.end + 1
        children = unions, [key.expression for key in (*partition, *order)]
        return WindowSpec(span, frame, tuple(unions), tuple(partition), tuple(order)), children

    def _parse_items(self, method: Any) -> list[OrderKey]:
        items = []
        while True:
            first = self._curr
            expression = method()
            if expression is None or not first:
                self.raise_error("an expression is missing here")
            else:
                items.append(OrderKey((first.start, self._prev.end + 1), expression))
            if not self._match(TokenType.COMMA):
                return items

    def _order_keys(self, owner: str) -> list[OrderKey]:
        """Reads the items of ORDER BY; refuses DESC, and more keys than the dialect has."""
        items: list[OrderKey] = []
        while True:
            first = self._curr
            expression = self._parse_disjunction()
            if expression is None or not first:
                self.raise_error("an expression is missing here")
                break
            items.append(OrderKey((first.start, self._prev.end + 1), expression))
            if self._match(TokenType.DESC):
                raise self._error_at_tokens(
                    f"{owner} runs in ascending order only", "leave DESC out", first, self._prev
                )
            self._match(TokenType.ASC)
            if not self._match(TokenType.COMMA):
                break
        most = 1 if owner == "LAST JOIN" or self.FRAME_DIALECT == "openmldb" else 2
        if len(items) > most:
            span = items[most].span
            raise error_at(
                self.sql,
                span,
                f"{owner} takes {'one key' if most == 1 else 'a key and the column of arrival'} in ORDER BY",
                "order by the key; rows with the same key go by their arrival (arrival='seq')"
                if most == 1
                else "write ORDER BY ts, seq",
            )
        return items

    def _parse_window_union(self) -> list[exp.Expr]:
        if not self._match(TokenType.UNION):
            return []
        if not self._at_union_list():
            return self._parse_union_sources()
        self._advance()  # UNION (t2, t3)
        sources = self._parse_union_sources()
        if not self._match(TokenType.R_PAREN):
            self.raise_error("the list of UNION tables isn't closed; expecting )")
        return sources

    def _at_union_list(self) -> bool:
        """Whether the tables of UNION stand in parentheses of their own, and not a subquery alone."""
        tokens, at = self._tokens, self._index
        if at + 1 >= len(tokens) or tokens[at].token_type != TokenType.L_PAREN:
            return False
        behind = self._index_behind(at + 1)
        if tokens[at + 1].token_type in (TokenType.SELECT, TokenType.WITH):
            return False
        return tokens[at + 1].token_type != TokenType.L_PAREN or (
            behind < len(tokens)
            and tokens[behind].token_type
            in (
                TokenType.COMMA,
                TokenType.R_PAREN,
            )
        )

    def _parse_union_sources(self) -> list[exp.Expr]:
        sources = []
        while True:
            first = self._curr
            if not first or first.token_type in (TokenType.PARTITION_BY, TokenType.ORDER_BY, TokenType.R_PAREN):
                raise self._error_at_tokens(
                    "UNION takes tables and subqueries",
                    "write UNION t2, (SELECT ... FROM t3) PARTITION BY ...",
                    first or self._prev,
                )
            source = (
                self._parse_select(table=True, nested=True)
                if first.token_type == TokenType.L_PAREN
                else self._parse_table_parts()
            )
            if source is None:
                self.raise_error("UNION takes a table or a subquery here")
            else:
                source.meta[SPAN] = (first.start, self._prev.end + 1)
                sources.append(source)
            if self._match(TokenType.ALIAS):  # UNION t2 AS u: columns go by the names of FROM
                self._parse_id_var()
            if not self._match(TokenType.COMMA):
                return sources

    # -- frames --------------------------------------------------------------------------------------
    def _parse_frame(self, opening: Token, ordered: bool) -> Frame:
        unit = self._curr
        word = unit.text.upper() if unit else ""
        sqlstream = self.FRAME_DIALECT == "sqlstream"
        if word == "RANGE" and not sqlstream:
            raise self._error_at_tokens(
                "RANGE takes none of these: a frame by key is ROWS_RANGE", "write ROWS_RANGE BETWEEN ...", unit
            )
        if word == "ROWS_RANGE" and sqlstream:
            raise self._error_at_tokens("ROWS_RANGE is RANGE in SQLstream", "write RANGE ...", unit)
        if word not in ("ROWS", "RANGE", "ROWS_RANGE"):
            hint = (
                "write RANGE INTERVAL '1' HOUR PRECEDING, or ROWS 9 PRECEDING"
                if sqlstream
                else "write ROWS BETWEEN 9 PRECEDING AND CURRENT ROW, or ROWS_RANGE BETWEEN 10s PRECEDING AND ..."
            )
            raise self._error_at_tokens("a window needs a frame", hint, opening, self._curr or self._prev)
        self._advance()
        kind = Kind.ROWS if word == "ROWS" else Kind.ROWS_RANGE
        places: dict[str, tuple[Token, Token]] = {}
        end = CURRENT_ROW
        if self._match(TokenType.BETWEEN):
            start, places["start"] = self._parse_bound(kind)
            if not self._match(TokenType.AND):
                raise self._error_at_tokens(
                    "AND and the end of the frame are missing here",
                    f"write {word} BETWEEN ... PRECEDING AND CURRENT ROW",
                    self._curr or self._prev,
                )
            end, places["end"] = self._parse_bound(kind)
        elif self.FRAME_DIALECT == "openmldb":
            raise self._error_at_tokens(
                "a frame has two bounds", f"write {word} BETWEEN ... PRECEDING AND CURRENT ROW", unit, self._curr
            )
        else:
            start, places["start"] = self._parse_bound(kind)
        maxsize = None
        if self._curr and self._curr.text.upper() == "MAXSIZE":
            maxsize, places["maxsize"] = self._parse_maxsize()
        flags = self._parse_flags()
        if not ordered and not sqlstream:
            self._check_unordered(kind, start, end, flags, unit)
        try:
            return Frame.of(
                kind,
                start,
                end,
                maxsize=maxsize,
                exclude_time="EXCLUDE CURRENT_TIME" in flags,
                exclude_row="EXCLUDE CURRENT_ROW" in flags,
                instance_not_in_window="INSTANCE_NOT_IN_WINDOW" in flags,
            )
        except FrameError as error:
            advice = error.hint.replace("ROWS_RANGE", "RANGE") if error.hint and sqlstream else error.hint
            raise self._error_at_tokens(str(error), advice, *places[error.part]) from None

    def _check_unordered(self, kind: Kind, start: Bound, end: Bound, flags: dict[str, Token], unit: Token) -> None:
        if "EXCLUDE CURRENT_TIME" in flags:
            raise self._error_at_tokens(
                "EXCLUDE CURRENT_TIME needs ORDER BY: it goes by the key of the rows",
                "write ORDER BY ts before the frame",
                flags["EXCLUDE CURRENT_TIME"],
            )
        if kind is Kind.ROWS_RANGE and (start != UNBOUNDED or end != CURRENT_ROW):
            raise self._error_at_tokens(
                "ROWS_RANGE needs ORDER BY: its bounds go by the key of the rows",
                "write ORDER BY ts before the frame",
                unit,
            )

    def _parse_maxsize(self) -> tuple[int, tuple[Token, Token]]:
        first = self._curr
        self._advance()
        negative = self._match(TokenType.DASH)
        number = self._curr
        if not number or number.token_type != TokenType.NUMBER or not number.text.isdecimal():
            raise self._error_at_tokens(
                "MAXSIZE takes a whole number of rows", "write MAXSIZE 100", first, number or first
            )
        self._advance()
        return int(number.text) * (-1 if negative else 1), (first, number)

    def _parse_flags(self) -> dict[str, Token]:
        found: dict[str, Token] = {}
        while self._curr:
            first = self._curr
            word = first.text.upper()
            if word == "EXCLUDE" and self._next and self._next.text.upper() in ("CURRENT_TIME", "CURRENT_ROW"):
                flag = f"EXCLUDE {self._next.text.upper()}"
                self._advance(2)
            elif word == "INSTANCE_NOT_IN_WINDOW":
                flag = word
                self._advance()
            else:
                break
            found[flag] = first
        return found

    def _refuse_rest(self) -> None:
        """Says what is wrong with what stands where a window's `)` should."""
        token = self._curr
        if token and token.text.upper() == "MAXSIZE":
            raise self._error_at_tokens(
                "MAXSIZE stands right behind the frame, before EXCLUDE and INSTANCE_NOT_IN_WINDOW",
                "write ROWS_RANGE BETWEEN ... AND ... MAXSIZE 100 EXCLUDE CURRENT_ROW",
                token,
            )
        if token and token.token_type == TokenType.COMMA:
            raise self._error_at_tokens("a window's flags stand without commas", "write a space instead", token)
        raise self._error_at_tokens(
            "this can't stand behind a window's frame",
            f"close the window with ); its flags are MAXSIZE 100, {', '.join(FLAGS)}",
            token or self._prev,
        )

    def _parse_bound(self, kind: Kind) -> tuple[Bound, tuple[Token, Token]]:
        first = self._curr
        if first and first.text.upper() == "CURRENT" and self._next and self._next.text.upper() == "ROW":
            self._advance(2)
            return CURRENT_ROW, (first, self._prev)
        tokens: list[Token] = []
        depth = 0
        while self._curr and self._curr.text.upper() not in ("OPEN", "PRECEDING", "FOLLOWING"):
            kind_ = self._curr.token_type
            depth += (kind_ == TokenType.L_PAREN) - (kind_ == TokenType.R_PAREN)
            if depth < 0 or kind_ in (TokenType.AND, TokenType.BETWEEN):
                break
            tokens.append(self._curr)
            self._advance()
        opened = bool(self._curr and self._curr.text.upper() == "OPEN")
        if opened:
            self._advance()
        if self._curr and self._curr.text.upper() == "FOLLOWING":
            raise self._error_at_tokens(
                "FOLLOWING is not supported: a frame holds no rows of the future",
                "write CURRENT ROW",
                first,
                self._curr,
            )
        if not (self._curr and self._curr.text.upper() == "PRECEDING") or not tokens:
            raise self._error_at_tokens(
                "this is no bound of a frame",
                "write UNBOUNDED PRECEDING, 3 PRECEDING, 10s PRECEDING or CURRENT ROW",
                first or self._prev,
            )
        self._advance()
        places = first, self._prev
        if len(tokens) == 1 and tokens[0].text.upper() == "UNBOUNDED":
            return UNBOUNDED, places
        bound = self._interval_bound(kind, tokens, opened) or self._offset_bound(tokens, opened)
        return bound, places

    def _interval_bound(self, kind: Kind, tokens: list[Token], opened: bool) -> Bound | None:
        if tokens[0].token_type != TokenType.INTERVAL:
            if self.FRAME_DIALECT == "sqlstream" and kind is Kind.ROWS_RANGE:
                raise self._error_at_tokens(
                    "RANGE takes an interval here", "write INTERVAL '1' HOUR PRECEDING", tokens[0], tokens[-1]
                )
            return None
        from dbt.adapters.sparkstream.sql.parser import read_interval

        if self.FRAME_DIALECT == "openmldb":
            raise self._error_at_tokens(
                "OpenMLDB writes a length of time as a number and a unit",
                "write 10s, 30m, 3h or 1d",
                tokens[0],
                tokens[-1],
            )
        try:
            micros = read_interval(tokens).micros
        except IntervalError as error:
            raise self._error_at_tokens(str(error), error.hint, tokens[0], tokens[-1]) from None
        if micros < 0:
            raise self._error_at_tokens(
                "a frame's offset can't be negative", "write CURRENT ROW", tokens[0], tokens[-1]
            )
        if micros % 1000:
            raise self._error_at_tokens(
                "a frame's bound is in whole milliseconds",
                "write INTERVAL '0.001' SECOND or more",
                tokens[0],
                tokens[-1],
            )
        return Bound(micros // 1000, opened, timed=True)

    def _offset_bound(self, tokens: list[Token], opened: bool) -> Bound:
        text = self.sql[tokens[0].start : tokens[-1].end + 1].strip()
        found = _OFFSET.fullmatch(text)
        if not found:
            raise self._error_at_tokens(
                "a frame's bound is a whole number, or one with a unit right behind it",
                "write 3 PRECEDING, INTERVAL '10' SECOND PRECEDING or CURRENT ROW"
                if self.FRAME_DIALECT == "sqlstream"
                else "write 3 PRECEDING, 10s PRECEDING or CURRENT ROW",
                tokens[0],
                tokens[-1],
            )
        number, unit = int(re.sub(r"\s", "", found[1])), found[2].lower()
        if unit not in _UNITS or (unit and self.FRAME_DIALECT == "sqlstream"):
            raise self._error_at_tokens(
                f"{found[2]} is no unit of a frame",
                "write INTERVAL '1' MINUTE"
                if self.FRAME_DIALECT == "sqlstream"
                else "write s, m, h or d; a number without a unit is milliseconds",
                tokens[0],
                tokens[-1],
            )
        if number < 0 and self.FRAME_DIALECT == "sqlstream":
            raise self._error_at_tokens(
                "a frame's offset can't be negative", "write CURRENT ROW", tokens[0], tokens[-1]
            )
        return Bound(number * _UNITS[unit], opened, timed=bool(unit))


def is_ours(tokens: list[Token], opening: int) -> bool:
    """Whether the parentheses that open at an index hold a window that Spark SQL doesn't know."""
    if opening + 1 < len(tokens) and tokens[opening + 1].token_type == TokenType.UNION:
        return True
    depth = 0
    for i in range(opening, len(tokens)):
        kind, word = tokens[i].token_type, tokens[i].text.upper()
        depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        if depth == 0:
            return False
        if depth > 1 or kind in (TokenType.IDENTIFIER, TokenType.STRING) or i + 1 >= len(tokens):
            continue
        after = tokens[i + 1].text.upper()
        # A name may be one of these words: then a comma, a dot or the end follows, never what follows here.
        if word == "ROWS_RANGE" and after not in (",", ")", ".", "=", "ROWS", "RANGE", "ORDER BY"):
            return True
        if word == "MAXSIZE" and tokens[i + 1].token_type in (TokenType.NUMBER, TokenType.DASH):
            return True
        if word == "EXCLUDE" and after in ("CURRENT_TIME", "CURRENT_ROW"):
            return True
        if word == "OPEN" and after == "PRECEDING":
            return True
        if word == "INSTANCE_NOT_IN_WINDOW" and tokens[i - 1].token_type not in (TokenType.COMMA, TokenType.DOT):
            return after in (")", "EXCLUDE", "MAXSIZE", "INSTANCE_NOT_IN_WINDOW")
    return False


def holds_frames(tokens: list[Token]) -> bool:
    """Whether a Spark statement holds a frame of ours or LAST JOIN."""
    for i, token in enumerate(tokens[1:-1], 1):
        kind = token.token_type
        if kind == TokenType.JOIN and tokens[i - 1].text.upper() == "LAST":
            return True
        opens = kind == TokenType.OVER or (kind == TokenType.ALIAS and tokens[i - 1].token_type != TokenType.R_PAREN)
        if opens and tokens[i + 1].token_type == TokenType.L_PAREN and is_ours(tokens, i + 1):
            return True
    return False
