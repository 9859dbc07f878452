"""The grammar of a frame: `ROWS_RANGE BETWEEN 10s PRECEDING AND CURRENT ROW MAXSIZE 5 EXCLUDE CURRENT_TIME`."""

from __future__ import annotations

import re
from typing import ClassVar

from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.errors import PartError
from dbt.adapters.sparkstream.sql.core.frames import CURRENT_ROW, UNBOUNDED, Bound, Frame, Kind
from dbt.adapters.sparkstream.sql.core.interval import IntervalError, read_interval
from dbt.adapters.sparkstream.sql.grammar.placed import PlacedParser

FLAGS = ("EXCLUDE CURRENT_TIME", "EXCLUDE CURRENT_ROW", "INSTANCE_NOT_IN_WINDOW")
_OFFSET = re.compile(r"(-?\s*\d+)([a-zA-Z]*)")


class FrameGrammar(PlacedParser):
    """Reads frames.

    Attributes:
        FRAMED: True if all windows are ours; else Spark's own stay, and frames of ours are found before (see `scan`).
        BY_KEY: the word before a frame by key, whose bounds are lengths of time, or numbers.
        BY_NUMBER: True if a number there is one of the key's own, and no milliseconds: `RANGE 20 PRECEDING`.
        BOUNDS: how bounds are written.
        UNITS: unit behind a number -> its milliseconds; with none, a number is a number of rows or milliseconds.
    """

    FRAMED = False
    BY_KEY = "ROWS_RANGE"
    BY_NUMBER = False
    BOUNDS = "write 3 PRECEDING, 10s PRECEDING or CURRENT ROW; a number without s, m, h or d is milliseconds"
    UNITS: ClassVar[dict[str, int]] = {"": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}

    # -- frames --------------------------------------------------------------------------------------
    def _parse_frame(self, opening: Token, ordered: bool) -> Frame:
        unit = self._curr
        word = unit.text.upper() if unit else ""
        if word in ("RANGE", "ROWS_RANGE") and word != self.BY_KEY:
            raise self._error(f"a frame by key is {self.BY_KEY} here", f"write {self.BY_KEY} BETWEEN ...", unit)
        if word not in ("ROWS", self.BY_KEY):
            hint = f"write ROWS BETWEEN 9 PRECEDING AND CURRENT ROW, or {self.BY_KEY} BETWEEN ... AND CURRENT ROW"
            raise self._error("a window needs a frame", hint, opening, self._curr or self._prev)
        self._advance()
        kind = Kind.ROWS if word == "ROWS" else Kind.ROWS_RANGE
        places: dict[str, tuple[Token, Token]] = {}
        end = CURRENT_ROW
        is_between = self._match(TokenType.BETWEEN)
        start, places["start"] = self._parse_bound(kind)
        if is_between:
            if not self._match(TokenType.AND):
                raise self._error(
                    "AND and the end of the frame are missing here",
                    f"write {word} BETWEEN ... PRECEDING AND CURRENT ROW",
                    self._curr or self._prev,
                )
            end, places["end"] = self._parse_bound(kind)
        maxsize = None
        if self._curr and self._curr.text.upper() == "MAXSIZE":
            maxsize, places["maxsize"] = self._parse_maxsize()
        flags = self._parse_flags()
        if not ordered:
            self._check_unordered(kind, start, end, flags, unit)
        bounds = {"start": start, "end": end}
        unitless = [side for side, bound in bounds.items() if bound.offset and not bound.timed]
        by_number = self.BY_NUMBER and kind is Kind.ROWS_RANGE and bool(unitless)
        if by_number and (not ordered or start.timed or end.timed):
            raise self._error("RANGE takes an interval here", "write INTERVAL '1' HOUR PRECEDING", *places[unitless[0]])
        try:
            return Frame.of(
                kind,
                start,
                end,
                maxsize=maxsize,
                exclude_time="EXCLUDE CURRENT_TIME" in flags,
                exclude_row="EXCLUDE CURRENT_ROW" in flags,
                instance_not_in_window="INSTANCE_NOT_IN_WINDOW" in flags,
                unitless=by_number,
            )
        except PartError as error:
            advice = error.hint and error.hint.replace("ROWS_RANGE", self.BY_KEY)
            raise self._error(str(error), advice, *places[error.part]) from None

    def _check_unordered(self, kind: Kind, start: Bound, end: Bound, flags: dict[str, Token], unit: Token) -> None:
        if "EXCLUDE CURRENT_TIME" in flags:
            raise self._error(
                "EXCLUDE CURRENT_TIME needs ORDER BY: it goes by the key of the rows",
                "write ORDER BY ts before the frame",
                flags["EXCLUDE CURRENT_TIME"],
            )
        if kind is Kind.ROWS_RANGE and (start != UNBOUNDED or end != CURRENT_ROW):
            raise self._error(
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
            raise self._error("MAXSIZE takes a whole number of rows", "write MAXSIZE 100", first, number or first)
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
        """Refuses a token in the place of a window's `)`."""
        raise self._error(
            "this can't stand behind a window's frame",
            f"close the window with ); its flags are, without commas, first MAXSIZE 100, then {', '.join(FLAGS)}",
            self._curr or self._prev,
        )

    def _parse_bound(self, kind: Kind) -> tuple[Bound, tuple[Token, Token]]:
        first = self._curr
        if first and first.text.upper() == "CURRENT" and self._next and self._next.text.upper() == "ROW":
            self._advance(2)
            return CURRENT_ROW, (first, self._prev)
        tokens: list[Token] = []
        around = self._brackets.around(self._index)
        end = None if around is None else self._brackets.closing(around)
        while self._curr and self._curr.text.upper() not in ("OPEN", "PRECEDING", "FOLLOWING"):
            if self._index == end or self._curr.token_type in (TokenType.AND, TokenType.BETWEEN):
                break
            tokens.append(self._curr)
            self._advance()
        opened = bool(self._curr and self._curr.text.upper() == "OPEN")
        if opened:
            self._advance()
        if self._curr and self._curr.text.upper() == "FOLLOWING":
            raise self._error(
                "FOLLOWING is not supported: a frame holds no rows of the future",
                "write CURRENT ROW",
                first,
                self._curr,
            )
        if not (self._curr and self._curr.text.upper() == "PRECEDING") or not tokens:
            raise self._error(
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
            number = len(tokens) == 1 and tokens[0].token_type == TokenType.NUMBER
            if self.BY_NUMBER and kind is Kind.ROWS_RANGE and not number:
                raise self._error(
                    "RANGE takes an interval here", "write INTERVAL '1' HOUR PRECEDING", tokens[0], tokens[-1]
                )
            return None
        try:
            micros = read_interval(tokens).micros
        except IntervalError as error:
            raise self._error(str(error), error.hint, tokens[0], tokens[-1]) from None
        if micros < 0:
            raise self._error("a frame's offset can't be negative", "write CURRENT ROW", tokens[0], tokens[-1])
        if micros % 1000:
            raise self._error(
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
            raise self._error(
                "a frame's bound is a whole number, or one with a unit right behind it",
                self.BOUNDS,
                tokens[0],
                tokens[-1],
            )
        number, unit = int(re.sub(r"\s", "", found[1])), found[2].lower()
        if unit not in self.UNITS:
            raise self._error(f"{found[2]} is no unit of a frame", self.BOUNDS, tokens[0], tokens[-1])
        if number < 0 and self.BY_NUMBER:
            raise self._error("a frame's offset can't be negative", "write CURRENT ROW", tokens[0], tokens[-1])
        return Bound(number * self.UNITS[unit], opened, timed=bool(unit))
