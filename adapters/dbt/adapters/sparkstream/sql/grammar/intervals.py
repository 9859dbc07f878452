"""The grammar of constant intervals."""

from __future__ import annotations

from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.interval import LONGEST_TEXT, Interval, IntervalError, unit_name


def read_interval(tokens: list[Token], *, strict: bool = False) -> Interval:
    """Reads the tokens of a constant interval.

    `INTERVAL '10' MINUTES`, `INTERVAL '1:30' HOUR TO MINUTE`, `INTERVAL -'2' MINUTE`; unless strict also
    `'10 minutes'`, `'10m'`, `INTERVAL 10 MINUTES` and `INTERVAL 1 HOUR 30 MINUTES`.

    Args:
        strict: as Flink has it (semantics of Flink, section 1, "accepted literals").

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
        if strict:
            raise IntervalError(f"'{texts[0]}' is a string, not an interval", hint)
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
        if strict:
            raise IntervalError("an interval's value stands in quotes, with its unit behind", hint)
        return Interval.parse(sign + " ".join(rest))
    value, units, precision = sign + rest[0], *_units(rest[1:], kinds[1:], hint)
    if strict:
        _check_flink(value, units, precision)
    if len(units) == 2:
        return Interval.span(value, *units)
    return Interval.of(value, units[0])


def _units(texts: list[str], kinds: list[TokenType], hint: str) -> tuple[list[str], int | None]:
    """Splits `DAY(3)`, `SECOND(2, 3)`, `DAY(3) TO SECOND(3)` into unit names and the leading precision."""
    units: list[str] = []
    precision = None
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
            if len(units) == 1:
                precision = int(texts[position + 1])
            position += len(digits) + 2
        if position == len(texts):
            return units, precision
        if len(units) == 2 or texts[position].upper() != "TO":
            break
        position += 1
    raise IntervalError("a window takes a constant interval here", hint)


def _check_flink(value: str, units: list[str], precision: int | None) -> None:
    """Refuses the intervals that Flink refuses, or reads as something else."""
    unit = units[0].upper()
    if unit in ("WEEK", "WEEKS"):
        days = f"'{7 * int(value)}' DAY" if value.lstrip("-").isdecimal() else "'7' DAY"
        raise IntervalError(
            "WEEK is no unit that Flink can be trusted with (2.2 reads it as one hour)", f"write {days}"
        )
    if unit.rstrip("S") in ("MILLISECOND", "MICROSECOND") or unit in (
        "MIN",
        "SEC",
        "MS",
        "US",
        "S",
        "M",
        "H",
        "D",
    ):
        raise IntervalError(
            f"{unit} is no unit of an interval in Flink",
            "write DAY, HOUR, MINUTE or SECOND; a millisecond is INTERVAL '0.001' SECOND",
        )
    unit_name(unit)  # months and years are refused as such
    leading = value.lstrip("+-").replace(":", " ").split(" ")[0].split(".")[0]
    digits = len(leading) if leading.isdecimal() else 0
    if digits > (precision or 2):
        span = f"{unit}({digits}) TO {units[1].upper()}" if len(units) == 2 else f"{unit}({digits})"
        raise IntervalError(
            f"{value} exceeds the precision of {unit}({precision or 2})", f"write INTERVAL '{value}' {span}"
        )
