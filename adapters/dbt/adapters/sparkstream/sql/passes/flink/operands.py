"""Which types Flink's functions and operators take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.cases import compared
from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.json import JsonPath
from dbt.adapters.sparkstream.sql.core.nested import element, entry
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink import clocks
from dbt.adapters.sparkstream.sql.passes.flink.constructs import is_map_constructor
from dbt.adapters.sparkstream.sql.passes.flink.families import family, incomparable, incompatible, unlike
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

_MEANT: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "text": ("text",),
        "bytes": ("binary",),
        "number": ("number",),
        "exact": ("number",),
        "integer": ("number",),
        "day": ("date", "time"),
        "time": ("date", "time", "clock"),
        "stamp": ("time",),
        "array": ("array",),
        "map": ("map",),
        "condition": ("boolean",),
        "any": (),
    }
)
"""Word of a signature -> the families of types that it stands for."""


def _signatures(listed: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Name of a function -> the words of its signature, from the names of each signature."""
    return {name: tuple(words.split()) for words, names in listed.items() for name in names.split()}


_SIGNATURES = _signatures(
    {
        "text": "UPPER LOWER INITCAP REVERSE CHAR_LENGTH CHARACTER_LENGTH ASCII UNHEX URL_ENCODE URL_DECODE JSON_QUOTE "
        "JSON_UNQUOTE",
        "text text?": "LTRIM RTRIM BTRIM TO_DATE TO_TIMESTAMP",
        "text? text?": "UNIX_TIMESTAMP",
        "text|bytes": "MD5 SHA1 SHA224 SHA256 SHA384 SHA512 TO_BASE64 FROM_BASE64",
        "text|bytes integer": "SHA2",
        "text|integer": "HEX",
        "text|number": "IS_ALPHA IS_DIGIT IS_DECIMAL",
        "integer text?": "FROM_UNIXTIME",
        "number": "ABS SIGN SQRT EXP LN LOG10 LOG2 SIN COS TAN COT ASIN ACOS ATAN SINH COSH TANH DEGREES RADIANS",
        "number number": "POWER ATAN2",
        "number number?": "LOG",
        "number integer?": "ROUND TRUNCATE",
        "exact exact": "MOD",
        "text integer": "LEFT RIGHT REPEAT",
        "text integer text": "LPAD RPAD",
        "text text text": "REPLACE TRANSLATE REGEXP_REPLACE CONVERT_TZ",
        "text text": "REGEXP REGEXP_COUNT REGEXP_INSTR REGEXP_SUBSTR SPLIT",
        "text text integer?": "REGEXP_EXTRACT REGEXP_EXTRACT_ALL LOCATE",
        "text text text?": "PARSE_URL",
        "text text integer? integer?": "INSTR",
        "text text|integer integer": "SPLIT_INDEX",
        "text ...": "CONCAT CONCAT_WS",
        "text|bytes text|bytes": "STARTSWITH ENDSWITH",
        "array": "ARRAY_DISTINCT ARRAY_MAX ARRAY_MIN ARRAY_REVERSE ELEMENT",
        "array integer integer?": "ARRAY_SLICE",
        "array text text?": "ARRAY_JOIN",
        "array array": "ARRAY_UNION ARRAY_EXCEPT ARRAY_INTERSECT MAP_FROM_ARRAYS",
        "array ...": "ARRAY_CONCAT",
        "array any": "ARRAY_CONTAINS ARRAY_POSITION ARRAY_REMOVE ARRAY_APPEND ARRAY_PREPEND",
        "array|map": "CARDINALITY",
        "map": "MAP_KEYS MAP_VALUES MAP_ENTRIES",
        "map ...": "MAP_UNION",
        "day": "YEAR QUARTER MONTH WEEK DAYOFYEAR DAYOFMONTH DAYOFWEEK",
        "time": "HOUR MINUTE SECOND",
        "condition any any": "IF",
        "integer?": "RAND",
        "integer integer?": "RAND_INTEGER",
        "text|stamp text": "DATE_FORMAT",
        "array condition? condition?": "ARRAY_SORT",
        "integer": "NTILE BIN CHR",
        "any integer? any?": "LAG LEAD",
        "": "ROW_NUMBER RANK DENSE_RANK PERCENT_RANK CUME_DIST",
        "any integer time": "TIMESTAMPADD",
        "any time time": "TIMESTAMPDIFF",
    }
)
"""Function -> what each argument is; `?` stands behind one that may be missing, `...` for more of the last kind."""
_ALIKE = frozenset({"COALESCE", "IFNULL", "GREATEST", "LEAST"})
"""Functions whose arguments are of one kind."""

_ELEMENTS = ("ARRAY_CONTAINS", "ARRAY_POSITION", "ARRAY_REMOVE", "ARRAY_APPEND", "ARRAY_PREPEND")
"""Functions of an array and a value of its elements' type."""
_OF_KNOWN_TYPE = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.DPipe, exp.Connector, exp.Neg, exp.Not),
    *(exp.Substring, exp.Extract, exp.Trim, exp.Overlay, exp.Bracket, exp.Like, exp.SimilarTo, JsonPath),
)
"""What NULL can't stand in, as its type isn't known there."""


class Operands(Rewriter):
    """Refuses arguments and operands of types that Flink doesn't take, where the types are known."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers: dict[type[exp.Expr], Callable[[exp.Expr], Iterable[Edit]]] = {
            exp.Anonymous: self._call,
            exp.Substring: self._of_text,
            exp.Overlay: self._of_text,
            exp.StrPosition: self._of_text,
            exp.Trim: self._of_text,
            exp.Like: self._of_text,
            exp.Extract: self._of_time,
            exp.Floor: self._rounded,
            exp.Ceil: self._rounded,
            exp.Neg: self._negated,
            exp.Array: self._array,
            exp.Case: self._case,
            exp.Null: self._null,
            exp.NEQ: self._unequal,
            exp.If: self._if,
            exp.DPipe: self._joined,
            exp.Is: self._is,
            exp.SimilarTo: self._of_text,
            exp.Escape: self._escape,
            **dict.fromkeys((exp.NullSafeEQ, exp.NullSafeNEQ), self._distinct),
            exp.Between: self._between,
            exp.Bracket: self._bracket,
            JsonPath: self._of_json,
        }

    # -- calls ---------------------------------------------------------------------------------------------
    def _call(self, node: exp.Expr) -> Iterable[Edit]:
        if isinstance(node.parent, (exp.Interval, exp.IntervalSpan)):
            return ()  # SECOND(1, 3)
        name = node.name.upper()
        if name in _SIGNATURES:
            self._check_signature(node, name, _SIGNATURES[name])
            self._check_arrays(node, name, _SIGNATURES[name])
        collected = node.expressions[0] if name == "CARDINALITY" and node.expressions else None
        if isinstance(collected, exp.Anonymous) and collected.name.upper() == "COLLECT":
            self.refuse(node, "CARDINALITY takes an array or a map, and COLLECT gives a multiset", "write COUNT(x)")
        self._check_values(node, name)
        return ()

    def _check_signature(self, node: exp.Expr, name: str, signature: tuple[str, ...]) -> None:
        """Refuses another number of arguments, and arguments of another kind."""
        arguments = node.expressions
        more = signature[-1:] == ("...",)
        words = signature[:-1] if more else signature
        if len(arguments) < sum(not word.endswith("?") for word in words) or (len(arguments) > len(words) and not more):
            self.refuse(self.source.call_span(node), f"{name} takes {' and '.join(signature) or 'no argument'}")
        for i, argument in enumerate(arguments):
            self._check(argument, words[min(i, len(words) - 1)].rstrip("?"), name)

    def _check_arrays(self, node: exp.Expr, name: str, signature: tuple[str, ...]) -> None:
        """Refuses elements of other types than a function's."""
        arguments = node.expressions
        if name == "ARRAY_JOIN" and incompatible(element(self.type(arguments[0])), "string"):
            self.refuse(arguments[0], "ARRAY_JOIN takes an array of texts", "write CAST(a AS ARRAY<STRING>)")
        if name in _ELEMENTS:
            self._check_element(arguments[0], arguments[1], name)
        elif name != "MAP_FROM_ARRAYS" and signature in (("array", "array"), ("array", "...")):
            elements = [element(self.type(argument)) for argument in arguments]
            if any(incompatible(elements[0], other) for other in elements):
                self.refuse(self.source.call_span(node), f"{name} has arrays of different types")

    def _check_values(self, node: exp.Expr, name: str) -> None:
        """Refuses values of types that don't go together, or that some functions don't take."""
        values = node.expressions
        if name in _ALIKE:
            self._alike(values, name)
            if all(isinstance(value, exp.Null) for value in values):
                self.refuse(self.source.call_span(node), f"{name} has nothing but NULL", "write CAST(NULL AS INT)")
        if name in ("GREATEST", "LEAST"):
            for value in values:
                if family(self.type(value)) in ("array", "map", "row"):
                    self.refuse(value, f"{name} takes values that have an order, and this is a {self.type(value)}")
        if name == "NULLIF" and len(values) == 2:
            one, other = map(self.type, values)
            if unlike(one, other) or isinstance(values[0], exp.Null):
                self.refuse(self.source.call_span(node), f"NULLIF can't compare {one} with {other}")
        if name in ("LAG", "LEAD") and len(values) == 3:
            self._alike(values[::2], name)
        if name == "JSON_STRING" and {"date", "clock"} & set(self._kinds(values)):
            self.refuse(values[0], "JSON_STRING takes no date and no TIME", "write CAST(... AS STRING)")
        if name == "TO_TIMESTAMP_LTZ" and self._kinds(values) == ["text", "number"]:
            self.refuse(values[0], "a number of seconds is no text", "write CAST(... AS BIGINT)")

    def _kinds(self, values: Iterable[exp.Expr]) -> list[str | None]:
        return [family(self.type(value)) for value in values]

    def _check_element(self, array: exp.Expr, value: exp.Expr, name: str) -> None:
        """Refuses a value that no element of an array can be."""
        inner, type_ = element(self.type(array)), self.type(value)
        longer = inner in types.INTEGERS and (
            types.wider(inner, type_) != inner if type_ in types.INTEGERS else types.is_numeric(type_)
        )
        if incompatible(inner, type_) or longer:
            self.refuse(value, f"{name} has an array of {inner} and a {type_}", f"write CAST(... AS {inner})")

    def _check(self, argument: exp.Expr, words: str, name: str) -> None:
        type_ = self.type(argument)
        meant = words.split("|")
        if type_ is None or type_ == "void" or any(_is(word, type_) for word in meant):
            return
        self.refuse(
            argument, f"{name} takes a {' or a '.join(meant)} here, and this is of type {type_}", _cast_to(meant)
        )

    def _alike(self, arguments: Sequence[exp.Expr], name: str) -> None:
        """Refuses values that have no type in common."""
        known = [(argument, self.type(argument)) for argument in arguments]
        first = next((type_ for _, type_ in known if type_ not in (None, "void")), None)
        for argument, type_ in known:
            if incompatible(first, type_):
                self.refuse(argument, f"{name} has {first} and {type_}", "write CAST(...) around one of them")

    # -- operators -----------------------------------------------------------------------------------------
    def _of_text(self, node: exp.Expr) -> Iterable[Edit]:
        name = {"strposition": "POSITION", "similarto": "SIMILAR TO"}.get(node.key, node.key.upper())
        if isinstance(node, exp.Substring) and node.args.get("start") is None:
            self.refuse(node, "SUBSTRING takes a text and a place", "write SUBSTRING(x, 2)")
        for argument in (node.this, node.args.get("substr"), node.args.get("expression")):
            if isinstance(argument, exp.Expr):
                self._check(argument, "text", name)
        for number in (node.args.get("start"), node.args.get("length")):
            if isinstance(number, exp.Expr):
                self._check(number, "integer", name)
        return ()

    def _escape(self, node: exp.Expr) -> Iterable[Edit]:
        sign = node.expression
        if isinstance(sign, exp.Literal) and len(sign.name) != 1:
            self.refuse(sign, "ESCAPE takes one character", "write such as ESCAPE '!'")
        return ()

    def _distinct(self, node: exp.Expr) -> Iterable[Edit]:
        one, other = self.type(node.this), self.type(node.expression)
        if unlike(one, other):
            self.refuse(node, f"IS DISTINCT FROM compares {one} with {other}", "write CAST(...) around one of them")
        return ()

    def _of_json(self, node: exp.Expr) -> Iterable[Edit]:
        self._check(node.this, "text", f"JSON_{node.args['kind']}")
        return ()

    def _of_time(self, node: exp.Expr) -> Iterable[Edit]:
        if family(self.type(node.expression)) != "interval":
            self._check(node.expression, "time", "EXTRACT")
        if types.is_clock(self.type(node.expression)) and node.this.name.upper() not in clocks.UNITS:
            self.refuse(node, f"a TIME has no {node.this.name}", f"one of {', '.join(clocks.UNITS)}")
        if self.type(node.expression) == "date" and node.this.name.upper() in ("MICROSECOND", "NANOSECOND"):
            self.refuse(node, f"a date has no {node.this.name}")
        return ()

    def _rounded(self, node: exp.Expr) -> Iterable[Edit]:
        self._check(node.this, "time" if node.args.get("to") else "number", node.key.upper())
        return ()

    def _negated(self, node: exp.Expr) -> Iterable[Edit]:
        if family(self.type(node.this)) != "interval" and not isinstance(node.parent, exp.Interval):
            self._check(node.this, "number", "-")
        return ()

    def _array(self, node: exp.Expr) -> Iterable[Edit]:
        if not node.expressions:
            self.refuse(node, "an array without elements has no type", "write CAST(NULL AS ARRAY<INT>), or an element")
        self._alike(node.expressions, "ARRAY")
        return ()

    def _case(self, node: exp.Expr) -> Iterable[Edit]:
        branches = [branch.args["true"] for branch in node.args.get("ifs") or [] if branch.args.get("true")]
        default = node.args.get("default")
        results = [*branches, *([default] if default is not None else [])]
        self._alike(results, "CASE")
        for value in compared(node) if node.this is not None else ():
            one, other = self.type(node.this), self.type(value)
            if unlike(one, other):
                self.refuse(value, f"CASE compares {one} with {other}")
        if results and all(isinstance(result, exp.Null) for result in results):
            self.refuse(node, "CASE gives nothing but NULL, which has no type", "write CAST(NULL AS INT)")
        return ()

    def _null(self, node: exp.Expr) -> Iterable[Edit]:
        around = node.parent
        while isinstance(around, exp.Paren):
            around = around.parent
        name = around.name.upper() if isinstance(around, exp.Anonymous) else ""
        index = node.index if isinstance(node.index, int) else 0
        words = _SIGNATURES.get(name, ())
        called = name in ("COUNT", "JSON_VALUE", "ROW") or (bool(words) and words[min(index, len(words) - 1)] != "any")
        if isinstance(around, _OF_KNOWN_TYPE) or called or node.arg_key == "partition_by":
            self.refuse(node, "nobody knows the type of this NULL", "write CAST(NULL AS INT)")
        return ()

    def _if(self, node: exp.Expr) -> Iterable[Edit]:
        if isinstance(node.parent, exp.Case):
            return ()
        if node.args.get("false") is None:
            self.refuse(node, "IF takes a condition and two values", "write IF(x > 0, a, b)")
        self._check(node.this, "condition", "IF")
        if isinstance(node.this, exp.Null):
            self.refuse(node.this, "nobody knows the type of this NULL", "write CAST(NULL AS BOOLEAN)")
        results = [value for value in (node.args.get("true"), node.args.get("false")) if value is not None]
        self._alike(results, "IF")
        for value in results:
            if isinstance(value, exp.Null):
                self.refuse(value, "nobody knows the type of this NULL", "write CAST(NULL AS INT)")
        return ()

    def _joined(self, node: exp.Expr) -> Iterable[Edit]:
        for operand in (node.this, node.expression):
            # Another rule refuses a number.
            if family(self.type(operand)) not in (None, "text", "number"):
                self.refuse(operand, f"|| joins texts, and this is a {self.type(operand)}", "write CAST(... AS STRING)")
        return ()

    def _is(self, node: exp.Expr) -> Iterable[Edit]:
        if isinstance(node.expression, exp.Boolean) or self._is_unknown(node):
            self._check(node.this, "condition", "IS")
        elif isinstance(node.expression, exp.JSON):
            self._check(node.this, "text", "IS JSON")
        return ()

    def _is_unknown(self, node: exp.Expr) -> bool:
        """Whether a test is IS UNKNOWN or IS NOT UNKNOWN, which sqlglot takes for one of NULL."""
        tokens = self.source.tokens
        behind = tokens.at(self.source.span(node.this)[1] - 1) + 1
        words = [token.text.upper() for token in tokens[behind : behind + 3]]
        return words[:2] == ["IS", "UNKNOWN"] or words == ["IS", "NOT", "UNKNOWN"]

    def _between(self, node: exp.Expr) -> Iterable[Edit]:
        for bound in (node.args["low"], node.args["high"]):
            if incomparable(self.type(node.this), self.type(bound)):
                self.refuse(bound, f"BETWEEN compares {self.type(node.this)} with {self.type(bound)}")
        return ()

    def _bracket(self, node: exp.Expr) -> Iterable[Edit]:
        if is_map_constructor(node):
            if len(node.expressions) % 2:
                self.refuse(node, "MAP takes keys and values in pairs", "write MAP['a', 1, 'b', 2]")
            for values in (node.expressions[::2], node.expressions[1::2]):
                self._alike(values, "MAP")
            return ()
        type_, index = self.type(node.this), node.expressions[0] if node.expressions else None
        kind, pair = family(type_), entry(type_)
        if kind not in (None, "array", "map", "row"):
            self.refuse(node, f"[] takes an element of an array or a map, and this is of type {type_}")
        if index is not None and kind == "array":
            self._check_index(index)
        if index is not None and pair is not None and incompatible(pair[0], self.type(index)):
            self.refuse(index, f"the keys of this map are of type {pair[0]}", "write CAST(...) around the key")
        return ()

    def _check_index(self, index: exp.Expr) -> None:
        """Refuses a place in an array that is no INT, or 0."""
        self._check(index, "integer", "[]")
        if self.type(index) in types.INTEGERS and self.type(index) != "int":
            self.refuse(index, f"[] takes an INT, and this is a {self.type(index)}", "write CAST(... AS INT)")
        if isinstance(index, exp.Neg) or (isinstance(index, exp.Literal) and not index.name.strip("0")):
            self.refuse(index, "the elements of an array count from 1", "write a[1]")

    def _unequal(self, node: exp.Expr) -> Iterable[Edit]:
        if "!=" in self.source.text[self.source.span(node.this)[1] : self.source.span(node.expression)[0]]:
            self.refuse(node, "Flink has no !=", "write <>")
        return ()


def _is(word: str, type_: str) -> bool:
    """Whether a type is what a word of a signature says."""
    if word == "any":
        return True
    if word == "integer":
        return type_ in types.INTEGERS
    if word == "exact":
        return type_ in types.INTEGERS or types.is_decimal(type_)
    return family(type_) in _MEANT[word]


def _cast_to(words: Sequence[str]) -> str | None:
    """How to make a value of a kind."""
    kinds = {"text": "STRING", "number": "DOUBLE", "integer": "INT", "exact": "DECIMAL(20, 4)", "stamp": "TIMESTAMP(3)"}
    kind = kinds.get(words[0])
    return f"write CAST(... AS {kind})" if kind else None
