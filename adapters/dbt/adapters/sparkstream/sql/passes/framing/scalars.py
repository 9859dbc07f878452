"""OpenMLDB's scalar functions that Spark has not, or under another name: a table.

A rule gives the texts around the arguments, which stay where they stand, as a window call may be among them: of
`inc(x)` they are `(` and ` + 1)`. Sources: OpenMLDB's page of built-in functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import RefusedError
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.core.types import INTEGERS, Numbers, is_numeric, is_string
from dbt.adapters.sparkstream.sql.core.typing import FunctionRule, Types, always, common, same
from dbt.adapters.sparkstream.sql.passes.framing.conversions import TO_INT, Around, by_type, dashed, text
from dbt.adapters.sparkstream.sql.passes.framing.lists import literal_pattern

ScalarRule = Callable[[Sequence[exp.Expr], Sequence["str | None"]], "Around | None"]
"""Arguments of a call and their types -> the SQL around them; None where Spark's own function gives the same."""


def named(value: str, body: str) -> Around:
    """The texts that give values names in an expression: `named("s", "lower(v.s)")` around one argument."""
    fields = [f"'{name}', " for name in value]
    starts = ["get(transform(array(named_struct(" + fields[0], *(", " + field for field in fields[1:])]
    return (*starts, f")), v -> {body}), 0)")


def _fixed(*around: str) -> ScalarRule:
    return lambda arguments, types: around if len(around) == len(arguments) + 1 else None


def _of_one(rule: Callable[[str | None], Around | None]) -> ScalarRule:
    """The rule of a function of one value, from the type of the value."""
    return lambda arguments, types: rule(types[0]) if len(arguments) == 1 else None


def _called(name: str) -> ScalarRule:
    """The rule of a function that Spark has under another name."""
    return lambda arguments, types: (f"{name}(", *[", "] * (len(arguments) - 1), ")") if arguments else None


def _hashed(name: str) -> ScalarRule:
    def rule(arguments: Sequence[exp.Expr], types: Sequence[str | None]) -> Around | None:
        hint = "write xxhash64(x), which gives other numbers"
        raise RefusedError(f"Spark has no {name}, and no other function gives its numbers", hint)

    return rule


# -- texts ---------------------------------------------------------------------------------------------
def _like(operator: str) -> ScalarRule:
    return lambda arguments, types: ("(", f" {operator} ", *([" ESCAPE "] if len(arguments) == 3 else []), ")")


def whole_text(flags: str = "") -> Around:
    """The SQL around a regular expression that the whole text has to match; Spark looks for it within the text."""
    return (f"concat('\\\\A(?{flags}:', ", ", ')\\\\z')")


def _regexp_like(arguments: Sequence[exp.Expr], types: Sequence[str | None]) -> Around | None:
    if len(arguments) not in (2, 3):
        return None
    flags = arguments[2] if len(arguments) == 3 else exp.Literal.string("")
    if not isinstance(flags, exp.Literal) or set(flags.name) - set("ceims"):
        raise RefusedError("regexp_like takes flags of c, e, i, m and s", "write regexp_like(x, pattern, 'i')")
    before, behind = whole_text("".join(sorted(set(flags.name) & set("ims"))))
    return ("regexp_like(", f", {before}", f"{behind})")


_FORMATS = {
    "Y": "yyyy", "y": "yy", "m": "MM", "d": "dd", "H": "HH", "I": "hh", "M": "mm", "S": "ss", "p": "a", "j": "DDD",
    "a": "EEE", "A": "EEEE", "b": "MMM", "h": "MMM", "B": "MMMM", "F": "yyyy-MM-dd", "T": "HH:mm:ss", "R": "HH:mm",
    "D": "MM/dd/yy", "%": "%",
}  # fmt: skip
"""A letter behind % in a format of C's strftime -> Spark's pattern."""


def _date_format(arguments: Sequence[exp.Expr], types: Sequence[str | None]) -> Around | None:
    """SQL of DATE_FORMAT by a format of strftime: '%Y-%m-%d'."""
    if len(arguments) != 2:
        return None
    pattern = arguments[1]
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        raise RefusedError("the format of date_format is a text here", "write date_format(ts, '%Y-%m-%d')")
    found = ""
    for percent, letter, plain in re.findall(r"(%)(.)|([^%]+|%$)", pattern.name, re.S):
        if percent and letter not in _FORMATS:
            known = " ".join(f"%{each}" for each in _FORMATS)
            raise RefusedError(f"Spark has no %{letter} in a format", f"there are {known}")
        found += _FORMATS[letter] if percent else re.sub(r"[A-Za-z]+", r"'\g<0>'", plain.replace("'", "''"))
    return "date_format(", f", {string_literal(found)})"


def substring(length: bool) -> Around:
    """The texts around the arguments of SUBSTRING(value, start[, length])."""
    part = "substring(v.a, v.b, v.c)" if length else "substring(v.a, v.b)"
    none = "WHEN v.a IS NOT NULL AND v.b IS NOT NULL THEN ''"
    body = f"CASE WHEN v.b <> 0 AND abs(v.b) <= length(v.a) THEN {part} {none} END"
    return named("abc" if length else "ab", body)


def _substring(arguments: Sequence[exp.Expr], types: Sequence[str | None]) -> Around | None:
    if len(arguments) not in (2, 3) or (isinstance(arguments[1], exp.Literal) and arguments[1].name.strip("0")):
        return None
    return substring(len(arguments) == 3)


def _pointer(arguments: Sequence[exp.Expr], types: Sequence[str | None]) -> Around | None:
    """GET_JSON_OBJECT takes a JSON pointer, such as '/a/0', where Spark takes '$.a[0]'."""
    if len(arguments) != 2:
        return None
    path = arguments[1]
    if not isinstance(path, exp.Literal) or not path.is_string or path.name[:1] not in ("", "/"):
        raise RefusedError(
            "the path of get_json_object is a JSON pointer, as a text, here", "write get_json_object(x, '/a/0')"
        )
    steps = [step.replace("~1", "/").replace("~0", "~") for step in path.name.split("/")[1:]]
    found = "$"
    for step in steps:
        found += f"[{step}]" if step.isdigit() else f".{step}" if re.fullmatch(r"\w+", step) else f"['{step}']"
    return ("get_json_object(", f", {string_literal(found)})")


# -- lists ---------------------------------------------------------------------------------------------
def _split(arguments: Sequence[exp.Expr], types: Sequence[str | None]) -> Around | None:
    """SQL of SPLIT by a text; Spark's delimiter is a regular expression."""
    if len(arguments) != 2:
        return None
    delimiter = arguments[1]
    plain = isinstance(delimiter, exp.Literal) and not set(delimiter.name) & set("\\^$.|?*+()[]{}")
    return ("split(", ", ", ")") if plain else ("split(", ", concat('\\\\Q', ", ", '\\\\E'))")


def _combined(arguments: Sequence[exp.Expr], types: Sequence[str | None]) -> Around | None:
    """ARRAY_COMBINE('-', a, b): each text of a with each one of b, with the delimiter between them."""
    names = [letter for letter in ascii_lowercase if letter not in "pqv"][: len(arguments)]
    if len(names) < max(len(arguments), 2):
        return None
    joined = f"v.{names[1]}"
    for name in names[2:]:
        joined = f"flatten(transform({joined}, p -> transform(v.{name}, q -> concat(p, v.{names[0]}, q))))"
    return named("".join(names), joined)


def _split_pairs(part: int) -> ScalarRule:
    pair = f"split(p, {literal_pattern('v.k')})"
    body = f"transform(filter(split(v.s, {literal_pattern('v.d')}), p -> size({pair}) >= 2), p -> get({pair}, {part}))"
    return _fixed(*named("sdk", body))


def _except(part: int) -> ScalarRule:
    body = f"filter(v.l, p -> NOT array_contains(split(v.e, ','), split_part(p, ':', {part})))"
    return _fixed(*named("le", body))


# -- numbers and times -----------------------------------------------------------------------------------
def _edge(operator: str) -> ScalarRule:
    """Rule of MAXIMUM and MINIMUM: the second value where one is NULL, as no comparison holds."""
    return _fixed(*named("ab", f"IF(v.a {operator} v.b, v.a, v.b)"))


def whole(function: str, type_: str | None) -> Around | None:
    """CEIL, FLOOR or BIGINT as a DOUBLE, which may be beyond a BIGINT, of a FLOAT, DOUBLE or BOOL; else None."""
    if type_ == "boolean":
        return ("CAST(", " AS DOUBLE)")
    if type_ not in ("float", "double"):
        return None
    return by_type(f"IF(abs(v) < 4503599627370496D, CAST({function}(v) AS DOUBLE), CAST(v AS DOUBLE))")


def _truncate(type_: str | None) -> Around:
    if type_ in ("timestamp", "date"):  # of which Spark would take the seconds, or NULL
        raise RefusedError(f"a {type_} is no number to truncate", "write bigint(ts), which is in milliseconds")
    if type_ in INTEGERS:
        return ("(", ")") if type_ in ("int", "bigint") else ("CAST(", " AS INT)")
    return whole("bigint", type_) or ("CAST(CAST(", " AS BIGINT) AS DOUBLE)")


def _absolute(type_: str | None) -> Around | None:
    """SQL of ABS: an INT of a SMALLINT, and a DOUBLE of a FLOAT or BOOL."""
    to = {"smallint": "INT", "float": "DOUBLE", "boolean": "DOUBLE"}.get(type_ or "")
    return ("abs(CAST(", f" AS {to}))") if to else None


def _hex(type_: str | None) -> Around | None:
    """HEX of a negative number has the digits of the number's type (8 for an INT); a DOUBLE is rounded."""
    mask = {"smallint": 0xFFFF, "int": 0xFFFFFFFF}.get(type_ or "")
    if mask:
        return ("hex(CAST(", f" AS BIGINT) & {mask}L)")
    return ("hex(CAST(round(", ") AS BIGINT))") if type_ in ("float", "double") else None


def _of_float(name: str) -> ScalarRule:
    """Rule of a function that gives a FLOAT if all arguments are FLOATs."""

    def rule(arguments: Sequence[exp.Expr], types: Sequence[str | None]) -> Around | None:
        if set(types) != {"float"}:
            return None
        return (f"CAST({name}(", *[", "] * (len(arguments) - 1), ") AS FLOAT)")

    return rule


def _logarithm(name: str) -> ScalarRule:
    """Rule of a logarithm: minus infinity of 0, and NaN of less; Spark gives NULL for both."""

    def rule(arguments: Sequence[exp.Expr], types: Sequence[str | None]) -> Around | None:
        if len(arguments) != 1 or isinstance(arguments[0], exp.Literal):
            return None
        value = f"CASE WHEN v > 0 THEN {name}(v) WHEN v = 0 THEN double('-Infinity') WHEN v < 0 THEN double('NaN') END"
        return by_type(f"CAST({value} AS FLOAT)" if types[0] == "float" else value)

    return rule


def _field(name: str) -> ScalarRule:
    """Rule of a part of a time, which may be given in milliseconds."""
    return _of_one(lambda type_: (f"{name}(timestamp_millis(", "))") if type_ in INTEGERS else None)


def _add(arguments: Sequence[exp.Expr], types: Sequence[str | None]) -> Around | None:
    """ADD(a, b) is a + b, in milliseconds if a or b is a time."""
    if len(arguments) != 2:
        return None
    if "timestamp" not in types:
        return ("((", ") + (", "))")
    one, other = ("unix_millis(" if type_ == "timestamp" else "(" for type_ in types)
    return (f"timestamp_millis({one}", f") + {other}", "))")


_HAVERSINE = (
    "CASE WHEN abs(v.a) <= 90 AND abs(v.b) <= 180 AND abs(v.c) <= 90 AND abs(v.d) <= 180 THEN "
    "2 * 6372.8D * asin(sqrt(power(sin(radians(v.c - v.a) / 2), 2) + "
    "cos(radians(v.a)) * cos(radians(v.c)) * power(sin(radians(v.d - v.b) / 2), 2))) END"
)


def _unix_timestamp(arguments: Sequence[exp.Expr], types: Sequence[str | None]) -> Around | None:
    """SQL of UNIX_TIMESTAMP of a text, which holds a time or a day as OpenMLDB writes it."""
    if len(arguments) != 1 or types[0] in ("timestamp", "date"):
        return None
    before, behind = dashed(arguments[0], types[0])
    return (f"unix_timestamp(timestamp({before}", f"{behind}))")


def _atan(arguments: Sequence[exp.Expr], types: Sequence[str | None]) -> Around | None:
    if len(arguments) != 2:
        return _of_float("atan")(arguments, types)
    return _of_float("atan2")(arguments, types) or ("atan2(", ", ", ")")


# -- types -------------------------------------------------------------------------------------------------
def instead(replaced: Mapping[str, str]) -> FunctionRule:
    """Rule of a type: the first argument's type, or the type that `replaced` has for it."""
    return lambda types, numbers: replaced.get(types[0] or "", types[0]) if types else None


def are_texts(types: Types) -> bool:
    """True if an expression that gives one of several values gives a text: beside a text, or a day with others."""
    known = {type_ for type_ in types if type_ != "void"}
    return any(map(is_string, types)) or ("date" in known and len(known) > 1 and None not in known)


def one_of(types: Types, numbers: Numbers) -> str | None:
    """The type of a call that gives one of its arguments: a text beside a text, a time beside milliseconds."""
    if are_texts(types):
        return "string"
    if "timestamp" in types and set(types) <= {"timestamp", "void", *INTEGERS}:
        return "timestamp"
    as_int = {"boolean": "int"} if any(map(is_numeric, types)) else {}
    return common([as_int.get(type_ or "", type_) for type_ in types], numbers)


WHOLE = instead({"smallint": "bigint", "int": "bigint", "boolean": "double", "float": "double"})
"""The type of FLOOR and CEIL: a BIGINT of integers, a DOUBLE of all else."""
_INT, _BOOLEAN, _STRING = always("int"), always("boolean"), always("string")


def _float_type(types: Types, numbers: Numbers) -> str | None:
    """FLOAT if all arguments are FLOATs, else DOUBLE."""
    return "float" if set(types) == {"float"} else "double"


# -- the table ---------------------------------------------------------------------------------------------
def _as_number(value: exp.Expr, type_: str | None) -> Around | None:
    """SQL around a BOOL that makes a number of it; None for other types."""
    return TO_INT if type_ == "boolean" else None


def as_text(value: exp.Expr, type_: str | None) -> Around | None:
    """The SQL around a value of CONCAT or `||`, where Spark writes another text of it; None for an unknown type."""
    return text(type_) if type_ else None


@dataclass(frozen=True)
class Scalar:
    """A scalar function of OpenMLDB.

    Attributes:
        around: the SQL around its arguments; None where Spark has it under the same name.
        returns: its Spark type, where that isn't the type of Spark's function of the same name.
        each: the SQL around each argument by itself.
        of_time: True if its first argument is a time, a day or a number of milliseconds.
    """

    around: ScalarRule | None = None
    returns: FunctionRule | None = None
    each: Callable[[exp.Expr, str | None], Around | None] | None = None
    of_time: bool = False


def _each(names: str, function: Callable[[str], Scalar]) -> dict[str, Scalar]:
    """Records that differ by the name in Spark."""
    return {name: function(name.lower()) for name in names.split()}


SCALARS: dict[str, Scalar] = {
    # numbers
    **_each("SQRT EXP SIN COS TAN COT ASIN ACOS", lambda name: Scalar(_of_float(name), _float_type)),
    **_each("POW POWER ATAN2", lambda name: Scalar(_of_float(name), _float_type, _as_number)),
    **_each("LN LOG LOG2 LOG10", lambda name: Scalar(_logarithm(name), _float_type, _as_number)),
    "ABS": Scalar(_of_one(_absolute), instead({"smallint": "int", "boolean": "double", "float": "double"})),
    "ADD": Scalar(
        _add,
        returns=lambda types, numbers: "timestamp" if "timestamp" in types else common(types, numbers),
        each=_as_number,
    ),
    "ATAN": Scalar(_atan, _float_type, _as_number),
    "CEILING": Scalar(_of_one(lambda type_: whole("ceil", type_)), WHOLE),
    "EARTH_DISTANCE": Scalar(_fixed(*named("abcd", _HAVERSINE)), returns=always("double")),
    "HEX": Scalar(_of_one(_hex)),
    "INC": Scalar(
        _of_one(lambda type_: ("CAST(", " + 1 AS SMALLINT)") if type_ == "smallint" else ("(", " + 1)")), same
    ),
    "PMOD": Scalar(each=_as_number),
    "TRUNCATE": Scalar(_of_one(_truncate), instead({"smallint": "int", "boolean": "double", "float": "double"})),
    # any values
    "BOOL": Scalar(_called("boolean"), returns=_BOOLEAN),
    "IDENTITY": Scalar(_fixed("(", ")"), returns=same),
    "IF_NULL": Scalar(_called("ifnull"), returns=one_of),
    "IS_NULL": Scalar(_called("isnull"), returns=_BOOLEAN),
    "MAKE_TUPLE": Scalar(_called("struct")),
    "MAXIMUM": Scalar(_edge(">"), returns=one_of),
    "MINIMUM": Scalar(_edge("<"), returns=one_of),
    **_each("FARM_FINGERPRINT HASH64", lambda name: Scalar(_hashed(name))),
    # texts
    **_each("REVERSE SUBSTRING", lambda _: Scalar(returns=_STRING)),
    "CHAR": Scalar(returns=_STRING),
    "CHARACTER_LENGTH": Scalar(_called("char_length")),
    "CONCAT": Scalar(returns=_STRING, each=as_text),
    "CONCAT_WS": Scalar(each=as_text),
    "GET_JSON_OBJECT": Scalar(_pointer, returns=_STRING),
    "ILIKE_MATCH": Scalar(_like("ILIKE"), _BOOLEAN),
    "JSON_ARRAY_LENGTH": Scalar(returns=_INT),
    "LCASE": Scalar(_called("lower")),
    "LIKE_MATCH": Scalar(_like("LIKE"), _BOOLEAN),
    "REGEXP_LIKE": Scalar(_regexp_like),
    "STRCMP": Scalar(
        _fixed(*named("ab", "CASE WHEN v.a < v.b THEN -1 WHEN v.a = v.b THEN 0 WHEN v.a > v.b THEN 1 END")), _INT
    ),
    "SUBSTR": Scalar(_substring, _STRING),
    "UCASE": Scalar(_called("upper")),
    "UNHEX": Scalar(_fixed("CAST(unhex(", ") AS STRING)"), returns=_STRING),
    # arrays
    "ARRAY_COMBINE": Scalar(_combined),
    "ARRAY_CONTAINS": Scalar(returns=_BOOLEAN),
    **_each("JOIN FZ_JOIN", lambda _: Scalar(_called("array_join"), returns=_STRING)),
    "LIST_EXCEPT_BY_KEY": Scalar(_except(1)),
    "LIST_EXCEPT_BY_VALUE": Scalar(_except(2)),
    **_each("SPLIT SPLIT_ARRAY FZ_SPLIT", lambda _: Scalar(_split)),
    **_each("SPLIT_BY_KEY FZ_SPLIT_BY_KEY", lambda _: Scalar(_split_pairs(0))),
    **_each("SPLIT_BY_VALUE FZ_SPLIT_BY_VALUE", lambda _: Scalar(_split_pairs(1))),
    # times
    **_each(
        "YEAR MONTH DAY DAYOFMONTH DAYOFWEEK DAYOFYEAR WEEKOFYEAR HOUR MINUTE SECOND",
        lambda name: Scalar(_field(name), of_time=True),
    ),
    "DATE_FORMAT": Scalar(_date_format),
    "DATEDIFF": Scalar(returns=_INT, each=dashed),
    "LAST_DAY": Scalar(_field("last_day"), of_time=True),
    "UNIX_TIMESTAMP": Scalar(_unix_timestamp),
    "WEEK": Scalar(
        _of_one(lambda t: ("weekofyear(timestamp_millis(", "))") if t in INTEGERS else ("weekofyear(", ")")),
        _INT,
        of_time=True,
    ),
}
"""Functions that Spark has not, or has otherwise."""
TIME_FUNCTIONS = frozenset(name for name, function in SCALARS.items() if function.of_time)
"""Functions of a time, a day, or a number of milliseconds."""
