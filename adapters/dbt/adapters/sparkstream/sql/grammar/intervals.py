"""The grammar of constant intervals."""

from __future__ import annotations

from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.interval import LONGEST_TEXT, Interval, IntervalError

MISREAD_WEEK = "WEEK is no unit that Flink can be trusted with (2.2 reads it as one hour)"


def read_interval(tokens: list[Token], *, flink: bool = False) -> Interval:
    """Reads the tokens of a constant interval.

    `INTERVAL '10' MINUTES`, `INTERVAL '1:30' HOUR TO MINUTE`, `INTERVAL -'2' MINUTE`, `'10 minutes'`, `'10m'`,
    `INTERVAL 10 MINUTES` and `INTERVAL 1 HOUR 30 MINUTES`.

    Args:
        flink: True if it is Flink's, which takes a WEEK for an hour.

    Raises:
        IntervalError: the tokens are no constant interval.
    """
    hint = "write a constant such as INTERVAL '10' MINUTES"
    if not tokens:
        raise IntervalError("an interval is missing", hint)
    if tokens[-1].end - tokens[0].start > LONGEST_TEXT:
        raise IntervalError("this is too long for an interval", hint)
    texts = [t.text for t in tokens]
    types = [t.token_type for t in tokens]
    if types == [TokenType.STRING]:
        return Interval.parse(texts[0])
    if types[0] != TokenType.INTERVAL or len(tokens) == 1:
        raise IntervalError("a window takes a constant interval here", hint)
    rest, kinds = texts[1:], types[1:]
    sign = ""
    if kinds[0] == TokenType.DASH:
        sign, rest, kinds = "-", rest[1:], kinds[1:]
    if not kinds or kinds[0] not in (TokenType.STRING, TokenType.NUMBER):
        raise IntervalError("a window takes a constant interval here", hint)
    if kinds[0] == TokenType.NUMBER or len(kinds) == 1:
        return Interval.parse(sign + " ".join(rest))
    value, units = sign + rest[0], _units(rest[1:], kinds[1:], hint)
    if flink and units[0].upper() in ("WEEK", "WEEKS"):
        raise IntervalError(MISREAD_WEEK, "write '7' DAY")
    if len(units) == 2:
        return Interval.span(value, *units)
    return Interval.of(value, units[0])


def _units(texts: list[str], kinds: list[TokenType], hint: str) -> list[str]:
    """The units of `DAY(3)`, `SECOND(2, 3)`, `DAY(3) TO SECOND(3)`."""
    units: list[str] = []
    position = 0
    while position < len(texts):
        units.append(texts[position])
        position += 1
        if kinds[position : position + 1] == [TokenType.L_PAREN]:
            digits = (
                kinds[position + 1 : kinds.index(TokenType.R_PAREN, position)]
                if TokenType.R_PAREN in kinds[position:]
                else []
            )
            if digits not in ([TokenType.NUMBER], [TokenType.NUMBER, TokenType.COMMA, TokenType.NUMBER]):
                break
            position += len(digits) + 2
        if position == len(texts):
            return units
        if len(units) == 2 or texts[position].upper() != "TO":
            break
        position += 1
    raise IntervalError("a window takes a constant interval here", hint)
