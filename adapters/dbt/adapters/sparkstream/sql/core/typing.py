"""Types of expressions: a rule for each kind of node and each function.

`SPARK` holds Spark's rules; the table of another dialect says what differs (`SPARK.but(...)`). A rule gives None for a
type that nobody knows without Spark, which is always a safe answer.

sqlglot's `annotate_types` has the same shape, but sizes neither a DECIMAL nor a literal: in it a DECIMAL(10,2) * 2.5 is
a DECIMAL(10,2), where Spark makes a DECIMAL(13,3) of it, and 3000000000 is an INT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as field_
from typing import Any

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.nested import array_of, element, entry, field, nested_type
from dbt.adapters.sparkstream.sql.core.nodes import results
from dbt.adapters.sparkstream.sql.core.types import (
    INTEGERS,
    MOST_DIGITS,
    NTZ,
    TIMES,
    Numbers,
    decimal_parts,
    is_decimal,
    is_numeric,
    is_string,
    wider,
)

TypeOf = Callable[[Any], "str | None"]
"""The type of an operand."""
NodeRule = Callable[[Any, TypeOf, Numbers], "str | None"]
"""Gives the type of a node from the types of its operands: of `a + b` from the types of a and b."""
Types = Sequence["str | None"]
FunctionRule = Callable[[Types, Numbers], "str | None"]
"""Gives the type of a call from the types of its arguments."""


@dataclass(frozen=True)
class TypeRules:
    """Rules of a dialect for the types of expressions, and for the names of columns.

    Attributes:
        nodes: kind of node -> its rule; it holds for subclasses too, such as exp.TryCast of exp.Cast.
        functions: name in upper case -> its rule.
        calls: name of a function whose type depends on more than the types of its arguments -> its rule.
        numbers: how numbers combine.
        unnamed: the name that an output column without one gets, with `{position}`; empty where Spark makes one up.
        bare_fields: True if the field of a row may be named without the row.
    """

    nodes: Mapping[type[exp.Expr], NodeRule]
    functions: Mapping[str, FunctionRule]
    numbers: Numbers
    calls: Mapping[str, NodeRule] = field_(default_factory=dict)
    unnamed: str = ""
    bare_fields: bool = False

    def but(
        self, *, nodes: Mapping[type[exp.Expr], NodeRule], functions: Mapping[str, FunctionRule], **others: Any
    ) -> TypeRules:
        """These rules with others in the place of some."""
        return replace(self, nodes={**self.nodes, **nodes}, functions={**self.functions, **functions}, **others)

    def type_of(self, node: exp.Expr, of: TypeOf) -> str | None:
        """The type of an expression; `of` gives the type of an operand."""
        if isinstance(node, exp.Anonymous):
            name = node.name.upper()
            if name in self.calls:
                return self.calls[name](node, of, self.numbers)
            rule = self.functions.get(name)
            return rule([of(argument) for argument in node.expressions], self.numbers) if rule else None
        for kind in type(node).__mro__:
            if kind in self.nodes:
                return self.nodes[kind](node, of, self.numbers)
        return None


# -- rules of functions ----------------------------------------------------------------------------------
def always(type_: str | None) -> FunctionRule:
    """The rule of a function that has one type whatever its arguments are."""
    return lambda types, numbers: type_


def same(types: Types, numbers: Numbers) -> str | None:
    """The type of the first argument."""
    return types[0] if types else None


def common(types: Types, numbers: Numbers) -> str | None:
    """The type that all arguments take."""
    return numbers.common_of_arguments(types)


def _text(types: Types, numbers: Numbers) -> str | None:
    """`LEFT(x, 1)`: a text if x is a text; unknown for a BINARY and an array."""
    return "string" if types and is_string(types[0]) else None


def _sum(types: Types, numbers: Numbers) -> str | None:
    """`SUM(x)`: ten more digits of a DECIMAL."""
    type_ = same(types, numbers)
    if type_ in INTEGERS:
        return "bigint"
    if type_ is not None and is_decimal(type_):
        precision, scale = decimal_parts(type_)
        return f"decimal({min(MOST_DIGITS, precision + 10)},{scale})"
    return "double" if is_numeric(type_) else None


def _average(types: Types, numbers: Numbers) -> str | None:
    """`AVG(x)`: four more digits of a DECIMAL, all of them behind the point."""
    type_ = same(types, numbers)
    if type_ is not None and is_decimal(type_):
        precision, scale = decimal_parts(type_)
        return f"decimal({min(MOST_DIGITS, precision + 4)},{min(MOST_DIGITS, scale + 4)})"
    return "double" if is_numeric(type_) else None


def _rounded(types: Types, numbers: Numbers) -> str | None:
    """`ROUND(x, 2)`: the type of x; unknown for a DECIMAL, whose digits depend on the 2."""
    type_ = same(types, numbers)
    return None if is_decimal(type_) else type_


def listed(rules: Mapping[FunctionRule, str]) -> dict[str, FunctionRule]:
    """Name of a function -> its rule, from the names of each rule."""
    return {name: rule for rule, names in rules.items() for name in names.split()}


# -- rules of nodes --------------------------------------------------------------------------------------
def first_operand(node: exp.Expr, of: TypeOf, numbers: Numbers) -> str | None:
    """The type of the expression inside: of `(a)` and `-a` the type of a."""
    return of(node.this)


def fixed(type_: str | None) -> NodeRule:
    """The rule of a node that has one type whatever its operands are."""
    return lambda node, of, numbers: type_


def _literal(node: exp.Literal, of: TypeOf, numbers: Numbers) -> str | None:
    if node.is_string:
        return "string"
    text = node.name
    if text.isdecimal():
        return "int" if int(text) < 2**31 else "bigint" if int(text) < 2**63 else None
    if "E" in text.upper():
        return "double"
    whole, point, fraction = text.partition(".")
    if not (point and (whole + fraction).isdecimal()):
        return None
    digits = len((whole + fraction).lstrip("0"))
    return f"decimal({max(digits, len(fraction))},{len(fraction)})"


def _field(node: exp.Dot, of: TypeOf, numbers: Numbers) -> str | None:
    """`(r).v`, `a[1].v` and `f(x).v`: a field of a row."""
    found = field(of(node.this), node.expression.name)
    return found[1] if found else None


def _subscript(node: exp.Bracket, of: TypeOf, numbers: Numbers) -> str | None:
    """`a[1]` and `m['k']`: an element of an array, or a value of a map."""
    type_ = of(node.this)
    pair = entry(type_)
    return pair[1] if pair else element(type_)


def _arithmetic(node: exp.Binary, of: TypeOf, numbers: Numbers) -> str | None:
    left, right = of(node.left), of(node.right)
    if left in TIMES and isinstance(node, (exp.Add, exp.Sub)) and right == "interval":
        return left
    if left is None or right is None or not (is_numeric(left) and is_numeric(right)):
        return None
    if is_decimal(left) or is_decimal(right):
        if left in ("float", "double") or right in ("float", "double"):
            return "double"
        return numbers.decimal_arithmetic(node, left, right)
    if isinstance(node, exp.Div):
        return "double"
    if left in INTEGERS and right in INTEGERS:
        return wider(left, right)
    # A FLOAT beside an integer: ANSI mode makes a DOUBLE of it.
    return "float" if left == right == "float" else "double" if "double" in (left, right) else None


def _floor_or_ceil(node: exp.Expr, of: TypeOf, numbers: Numbers) -> str | None:
    """`FLOOR(x)` and `CEIL(x)`; `FLOOR(ts TO HOUR)` is a time."""
    type_ = of(node.this)
    if node.args.get("to"):
        return type_
    if node.args.get("decimals") or type_ is None or not is_numeric(type_):
        return None
    if not is_decimal(type_):
        return "bigint"
    precision, scale = decimal_parts(type_)
    return f"decimal({precision - scale + 1},0)" if scale else type_


def _joined(node: exp.Expr, of: TypeOf, numbers: Numbers) -> str | None:
    """`a || b`, which joins arrays too."""
    return "string" if is_string(of(node.this)) and is_string(of(node.expression)) else None


def _part(node: exp.Expr, of: TypeOf, numbers: Numbers) -> str | None:
    """`SUBSTRING(x FROM 2)`, which takes a BINARY too."""
    return "string" if is_string(of(node.this)) else None


# -- Spark -----------------------------------------------------------------------------------------------
SPARK = TypeRules(
    nodes={
        **dict.fromkeys((exp.Paren, exp.Neg, exp.Alias, exp.Ordered), first_operand),
        **dict.fromkeys((exp.Window, exp.Filter, exp.IgnoreNulls, exp.RespectNulls), first_operand),
        **dict.fromkeys((exp.Predicate, exp.Connector, exp.Not, exp.Boolean), fixed("boolean")),
        **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod), _arithmetic),
        **dict.fromkeys((exp.Floor, exp.Ceil), _floor_or_ceil),
        **dict.fromkeys((exp.Substring, exp.Overlay), _part),
        exp.Null: fixed("void"),
        exp.HexString: fixed("binary"),
        exp.Literal: _literal,
        exp.Interval: fixed("interval"),
        exp.Cast: lambda node, of, numbers: nested_type(node.to),
        exp.Dot: _field,
        exp.Bracket: _subscript,
        exp.Array: lambda node, of, numbers: array_of(numbers.common([of(each) for each in node.expressions])),
        exp.Distinct: lambda node, of, numbers: of(node.expressions[0]) if node.expressions else None,
        **dict.fromkeys((exp.Case, exp.If), lambda node, of, numbers: numbers.common(map(of, results(node)))),
        exp.DPipe: _joined,
        exp.Trim: fixed("string"),
        exp.StrPosition: fixed("int"),
        exp.CurrentTimestamp: fixed("timestamp"),
        exp.CurrentDate: fixed("date"),
        exp.Localtimestamp: fixed(NTZ),
    },
    functions=listed(
        {
            same: "ABS NEGATIVE POSITIVE MIN MAX ANY_VALUE FIRST FIRST_VALUE LAST LAST_VALUE NTH_VALUE LAG LEAD NULLIF",
            common: "COALESCE NVL IFNULL LEAST GREATEST",
            (lambda types, numbers: numbers.common(types[1:])): "IF NVL2",
            _sum: "SUM",
            _average: "AVG MEAN",
            _rounded: "ROUND BROUND",
            _text: "SUBSTR LEFT RIGHT LPAD RPAD REVERSE",
            always("bigint"): "BIGINT COUNT COUNT_IF APPROX_COUNT_DISTINCT GROUPING_ID UNIX_TIMESTAMP UNIX_SECONDS "
            "UNIX_MILLIS UNIX_MICROS",
            always("int"): "INT ROW_NUMBER RANK DENSE_RANK NTILE LENGTH CHAR_LENGTH CHARACTER_LENGTH ASCII POSITION "
            "INSTR LOCATE SIZE CARDINALITY YEAR QUARTER MONTH WEEKOFYEAR DAY DAYOFYEAR DAYOFMONTH DAYOFWEEK HOUR "
            "MINUTE SECOND",
            always("smallint"): "SMALLINT",
            always("tinyint"): "TINYINT GROUPING",
            always("float"): "FLOAT",
            always("double"): "DOUBLE POWER SQRT EXP LN LOG LOG10 LOG2 SIN COS TAN COT ASIN ACOS ATAN ATAN2 SINH COSH "
            "TANH DEGREES RADIANS PI E RAND SIGN STDDEV STDDEV_POP STDDEV_SAMP VARIANCE VAR_POP VAR_SAMP PERCENT_RANK "
            "CUME_DIST",
            always("boolean"): "BOOLEAN REGEXP REGEXP_LIKE ISNULL ISNOTNULL BOOL_AND BOOL_OR EVERY SOME ANY",
            always("string"): "STRING UPPER LOWER UCASE LCASE LTRIM RTRIM BTRIM REPLACE REPEAT INITCAP REGEXP_REPLACE "
            "REGEXP_EXTRACT TRANSLATE MD5 SHA1 SHA2 PARSE_URL URL_ENCODE URL_DECODE CHR CONCAT_WS FROM_UNIXTIME PRINTF "
            "BASE64 BIN HEX UUID DATE_FORMAT",
            always("date"): "DATE TO_DATE CURRENT_DATE LAST_DAY NEXT_DAY ADD_MONTHS",
            always("timestamp"): "TIMESTAMP TO_TIMESTAMP NOW CURRENT_TIMESTAMP DATE_TRUNC TIMESTAMP_SECONDS "
            "TIMESTAMP_MILLIS TIMESTAMP_MICROS",
            always(NTZ): "LOCALTIMESTAMP TO_TIMESTAMP_NTZ",
        }
    ),
    numbers=Numbers({"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}),
)
