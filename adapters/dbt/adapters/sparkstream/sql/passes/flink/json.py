"""JSON of Flink SQL: functions that look into a text, JSON_OBJECT and the like that write one, and VARIANT."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from math import isinf

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.core.nested import nested_parts
from dbt.adapters.sparkstream.sql.core.nodes import JsonConstructor, JsonPath
from dbt.adapters.sparkstream.sql.core.source import Edit
from dbt.adapters.sparkstream.sql.core.types import spark_type
from dbt.adapters.sparkstream.sql.passes.flink.clocks import utc_clock
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import FlinkCall, Rewriter, handles

_STEP = r"""\.[^\s.*?'"\\()\[\]{}]+|\.?\[\d+\]|\.?\['[^'\\\]]+'\]|\.?\["[^"'\\\]]+"\]"""
"""A member or an element; Spark has no path to a member whose name has a `'`."""
_SEVERAL = r"\[\*\]|\.\*|\[\d+(?:\s*,\s*\d+)+\]"
"""Steps that find several values: all elements or members, or the elements of some numbers."""
_PATH = re.compile(rf"\s*(?:(?P<mode>lax|strict)\s+)?(?P<path>\$(?:{_SEVERAL}|{_STEP})*)\s*", re.I | re.A)
"""A JSON path that can be written for Spark: without filters, `..`, `last` and negative numbers."""
_ARRAYS = "'^ARRAY'"
_CONTAINERS = "'^(ARRAY|OBJECT)'"
_SCALARS = "'^(ARRAY|OBJECT|VOID)'"
_KINDS = {"OBJECT": "RLIKE '^OBJECT'", "ARRAY": f"RLIKE {_ARRAYS}", "SCALAR": f"NOT RLIKE {_CONTAINERS}"}

VARIANT = "variant"


class Json(Rewriter):
    """Edits JSON_VALUE, JSON_QUERY and JSON_EXISTS, and JSON_OBJECT and JSON_ARRAY.

    The type of the value as a VARIANT shows if a path finds a text, a container or nothing. TO_JSON of the VARIANT
    writes a container with its keys in order, as Flink does. Whatever doesn't fit is EMPTY in lax, and an ERROR in
    strict, which is the mode of a path that names none (measured in Flink 2.3).
    """

    @handles(JsonPath)
    def _path(self, node: JsonPath) -> Iterator[Edit]:
        path = node.args["path"]
        found = _PATH.fullmatch(path.name) if isinstance(path, exp.Literal) and path.is_string else None
        if found is None:
            self.refuse(
                path,
                f"JSON_{node.args['kind']} takes a constant path of members, elements and wildcards here",
                "write such as '$.a.b[0]' or '$.a[*].b'; for more, FROM_JSON and FILTER in the model around it",
            )
        strict = (found["mode"] or "strict").lower() == "strict"
        steps = re.findall(rf"{_SEVERAL}|{_STEP}", found["path"], re.A)

        def text() -> str:
            document = self.text(node.this)
            variant = _variant(f"TRY_PARSE_JSON({document})", steps)
            if node.args["kind"] == "EXISTS":
                fits, value = f"SCHEMA_OF_VARIANT({variant}) <> 'VOID'", "TRUE"
                otherwise = self._word(node, (node.args.get("error") or "FALSE") if strict else "FALSE")
            else:
                fits, value = self._found(node, variant, f"GET_JSON_OBJECT({document}, {_written(steps)})")
                otherwise = self._behaviour(node, "error" if strict else "empty")
            if otherwise == "NULL":
                answer = f"CASE WHEN {fits} THEN {value} END"
            else:
                answer = f"CASE WHEN {document} IS NULL THEN NULL WHEN {fits} THEN {value} ELSE {otherwise} END"
            return f"FROM_JSON({answer}, 'ARRAY<STRING>')" if self._is_array(node) else answer

        yield self.edit(node, text)

    def _found(self, node: exp.Expr, variant: str, scalar: str) -> tuple[str, str]:
        """Condition and value of JSON_VALUE, in the type behind RETURNING, or JSON_QUERY for the JSON at the path."""
        kind = f"SCHEMA_OF_VARIANT({variant})"
        if node.args["kind"] == "VALUE":
            to = node.args.get("returning")
            type_ = None if to is None or spark_type(to) == "string" else (spark_type(to) or to.sql("spark")).upper()
            return f"{kind} NOT RLIKE {_SCALARS}", scalar if type_ is None else f"TRY_CAST({scalar} AS {type_})"
        written = f"TO_JSON({variant})"
        if not node.args.get("wrapper"):
            return f"{kind} RLIKE {_ARRAYS if self._is_array(node) else _CONTAINERS}", written
        value = f"CONCAT('[', {written}, ']')"
        if node.args["wrapper"] == "CONDITIONAL":
            value = f"CASE WHEN {kind} RLIKE {_ARRAYS} THEN {written} ELSE {value} END"
        return f"{kind} <> 'VOID'", value

    def _is_array(self, node: exp.Expr) -> bool:
        """True if JSON_QUERY returns an ARRAY<STRING>, False if a STRING; refuses other types behind RETURNING."""
        to = node.args.get("returning")
        if node.args["kind"] != "QUERY" or to is None or spark_type(to) == "string":
            return False
        if to.this != exp.DType.ARRAY or [spark_type(of) for of in to.expressions] != ["string"]:
            self.refuse(node, "RETURNING of JSON_QUERY takes STRING or ARRAY<STRING>", "write ARRAY<STRING>")
        return True

    def _behaviour(self, node: exp.Expr, name: str) -> str:
        """The value ON EMPTY or ON ERROR."""
        behaviour = node.args.get(name) or "NULL"
        return self.text(behaviour) if isinstance(behaviour, exp.Expr) else self._word(node, behaviour)

    def _word(self, node: exp.Expr, word: str) -> str:
        if word == "ERROR":
            fault = f"JSON_{node.args['kind']}: its path finds nothing that fits, or the text is no JSON"
            return f"RAISE_ERROR({string_literal(fault)})"
        return {"UNKNOWN": "NULL", "EMPTY ARRAY": "'[]'", "EMPTY OBJECT": "'{}'"}.get(word, word)

    # -- JSON_OBJECT, JSON_ARRAY ---------------------------------------------------------------------------
    @handles(JsonConstructor)
    def _constructor(self, node: JsonConstructor) -> Iterator[Edit]:
        """Puts a text together, as TO_JSON of a struct would leave NULLs out at all depths or at none."""
        if node.args["kind"] == "ARRAY":
            keys: list[exp.Expr | None] = [None] * len(node.expressions)
            values = node.expressions
        else:
            keys, values = self._members(node)
        for value in values:
            self._check(value)
        opening, closing = ("[", "]") if node.args["kind"] == "ARRAY" else ("{", "}")

        def text() -> str:
            pairs = zip(keys, values, strict=True)
            parts = [self._part(key, value, absent=node.args["absent"]) for key, value in pairs]
            if not node.args["absent"] or all(self._never_null(value) for value in values):
                separated = [piece for i, part in enumerate(parts) for piece in ([] if i == 0 else ["','"]) + part]
                return _joined([f"'{opening}'", *separated, f"'{closing}'"])
            return f"CONCAT('{opening}', CONCAT_WS(',', {', '.join(map(_joined, parts))}), '{closing}')"

        yield self.edit(node, text)

    def _members(self, node: exp.Expr) -> tuple[list[exp.Expr | None], list[exp.Expr]]:
        """The keys and values of JSON_OBJECT as Flink writes them: in order, and of two equal keys the last one."""
        members = {}
        for key, value in zip(node.expressions[::2], node.expressions[1::2], strict=True):
            if not (isinstance(key, exp.Literal) and key.is_string):
                self.refuse(key, "a key of JSON_OBJECT is a constant text", "write such as JSON_OBJECT('id' VALUE id)")
            members[key.name] = (key, value)
        ordered = [members[name] for name in sorted(members)]
        return [key for key, _ in ordered], [value for _, value in ordered]

    def _check(self, value: exp.Expr) -> None:
        type_ = self.type(value)
        if type_ is not None and not _has_json(type_):
            self.refuse(
                value, f"JSON of a {type_} isn't written in Spark as in Flink", "write CAST(... AS STRING) around it"
            )
        if isinstance(value, exp.Literal) and value.is_number and isinf(float(value.name)):
            self.refuse(value, "no DOUBLE is as large as this number", "write a number of at most 1.7e308")

    def _never_null(self, value: exp.Expr) -> bool:
        return isinstance(value, (exp.Literal, exp.Boolean, JsonConstructor))

    def _part(self, key: exp.Expr | None, value: exp.Expr, *, absent: bool) -> list[str]:
        """The texts that make up an element, or a key with its value."""
        parts = []
        if key is not None:
            parts.append(string_literal(json.dumps(key.name, ensure_ascii=False) + ":"))
        if isinstance(value, exp.Null):
            return [*parts, "CAST(NULL AS STRING)" if absent else "'null'"]
        if isinstance(value, exp.Literal):
            constant = json.dumps(value.name, ensure_ascii=False) if value.is_string else _number(value.name)
            return [*parts, string_literal(constant)]
        written = self.text(value)
        if is_json(value):  # the text's JSON, with the keys of objects in order; an empty text is NULL
            written = f"TO_JSON(PARSE_JSON(NULLIF({self.text(value.expressions[0])}, '')))"
        elif not isinstance(value, JsonConstructor):
            written = json_of(written, self.type(value))
        return [*parts, written if absent or self._never_null(value) else f"COALESCE({written}, 'null')"]


def _written(steps: list[str]) -> str:
    """String literal of a path, as Spark writes it."""
    return string_literal("$" + "".join(_member(step) for step in steps))


def _member(step: str) -> str:
    step = step.removeprefix(".") if step.startswith(".[") else step
    if step.startswith(".") and not re.fullmatch(r"\.[A-Za-z_]\w*", step, re.A):  # such as `.user-id`
        return f"['{step[1:]}']"
    return f"['{step[2:-2]}']" if step.startswith('["') else step


def _variant(root: str, steps: list[str]) -> str:
    """Value at a path in a VARIANT, as a VARIANT; a wildcard gives an array, also of one value or none."""
    parts: list[list[str]] = [[]]
    several = []
    for step in steps:
        if re.fullmatch(_SEVERAL, step):
            several.append(step)
            parts.append([])
        else:
            parts[-1].append(step)
    value = f"TRY_VARIANT_GET({root}, {_written(parts[0])}, 'VARIANT')"
    if not several:
        return value
    values = ""
    for each, behind in zip(several, parts[1:], strict=True):
        inner = _values(value if not values else "v", each)
        values = inner if not values else f"FLATTEN(TRANSFORM({values}, v -> COALESCE({inner}, ARRAY())))"
        if behind:
            member = f"TRY_VARIANT_GET(v, {_written(behind)}, 'VARIANT')"
            values = f"FILTER(TRANSFORM({values}, v -> {member}), v -> v IS NOT NULL)"
    return f"CAST({values} AS VARIANT)"


def _values(container: str, several: str) -> str:
    """The values of an array or an object that a step finds, as an array; members in the order of their names."""
    elements = f"TRY_VARIANT_GET({container}, '$', 'ARRAY<VARIANT>')"
    if "*" in several:
        return f"COALESCE({elements}, MAP_VALUES(TRY_VARIANT_GET({container}, '$', 'MAP<STRING, VARIANT>')))"
    numbers = ", ".join(f"TRY_VARIANT_GET({container}, '$[{n.strip()}]', 'VARIANT')" for n in several[1:-1].split(","))
    return f"CASE WHEN {elements} IS NOT NULL THEN FILTER(ARRAY({numbers}), v -> v IS NOT NULL) END"


def has_json_kind(document: str, kind: str, *, negated: bool) -> str:
    """`x IS JSON OBJECT`, or `IS NOT JSON`."""
    variant = f"TRY_PARSE_JSON({document})"
    if kind in _KINDS:
        return f"{'NOT ' if negated else ''}COALESCE(SCHEMA_OF_VARIANT({variant}) {_KINDS[kind]}, FALSE)"
    return f"{variant} IS {'' if negated else 'NOT '}NULL"


def json_of(sql: str, type_: str | None) -> str:
    """A value as JSON; NULL stays NULL. Flink writes a FLOAT with the digits of a DOUBLE, and NaN in quotes."""
    if type_ == "float":
        sql = f"CAST({sql} AS DOUBLE)"
    if (types.is_numeric(type_) and type_ not in ("float", "double")) or type_ == "boolean":
        return f"CAST({sql} AS STRING)"
    if type_ in types.TIMES:
        clock, zone = (utc_clock(sql), "Z") if type_ == "timestamp" else (sql, "")
        return f"CONCAT('\"', REPLACE(CAST({clock} AS STRING), ' ', 'T'), '{zone}\"')"
    if type_ is not None and nested_parts(type_):
        return f"TO_JSON({sql}, MAP('ignoreNullFields', 'false'))"
    return f"TO_JSON(CAST({sql} AS VARIANT))"


def string(call: FlinkCall) -> str:
    """JSON_STRING: a JSON_OBJECT(...) or JSON_ARRAY(...) is JSON already."""
    return call.args[0] if call.nested[0] else json_of(call.args[0], call.types[0])


def quote(text: str) -> str:
    """A JSON string as JSON_QUOTE writes it: `/` and what isn't ASCII is escaped, too."""
    code = "REGEXP_REPLACE(LOWER(HEX(ENCODE(c, 'UTF-16BE'))), '(.{4})', '\\\\\\\\u$1')"
    escaped = f"CASE WHEN c = '/' THEN '\\\\/' WHEN ASCII(c) > 127 THEN {code} ELSE c END"
    return f"ARRAY_JOIN(TRANSFORM(SPLIT({text}, ''), c -> {escaped}), '')"


def _has_json(type_: str) -> bool:
    """True if Spark writes JSON of a type as Flink does: of numbers, texts, booleans, and types nested of them."""
    parts = nested_parts(type_)
    if parts:
        return all(part is not None and _has_json(part) for part in parts)
    return type_ in ("void", "boolean") or types.is_numeric(type_) or types.is_string(type_)


def _number(text: str) -> str:
    """A constant number in JSON: a DOUBLE such as 1e0 as Flink writes it, through a text of Java's: 1.0."""
    if "E" not in text.upper():
        return text.removesuffix(".")
    digits, _, exponent = repr(float(text)).partition("e")
    return str(Decimal(digits + ("" if "." in digits else ".0") + (f"E{exponent}" if exponent else "")))


UNQUOTE = (
    "CASE WHEN SCHEMA_OF_VARIANT(TRY_PARSE_JSON({0})) = 'STRING' THEN CAST(TRY_PARSE_JSON({0}) AS STRING) ELSE {0} END"
)
"""JSON_UNQUOTE: the text that a JSON string holds; what is no JSON string stays as it is."""


def _joined(parts: list[str]) -> str:
    """Concatenation of texts; adjacent constants become one constant."""
    out: list[str] = []
    for part in parts:
        if out and out[-1].startswith("'") and part.startswith("'"):
            out[-1] = out[-1][:-1] + part[1:]
        else:
            out.append(part)
    return out[0] if len(out) == 1 else f"CONCAT({', '.join(out)})"


# -- aggregates ------------------------------------------------------------------------------------------
def _nulls(call: FlinkCall, values: int, default: str) -> tuple[FlinkCall, str]:
    """The call without its NULL or ABSENT ON NULL, and that word."""
    word = call.args[values] if len(call.args) > values else default
    return replace(call, args=call.args[:values]), word.upper()


def _written_out(call: FlinkCall, value: int, nulls: str) -> FlinkCall:
    """The call with JSON in place of times and FLOATs: TO_JSON always writes three digits behind the second."""
    type_ = call.types[value]
    if type_ not in (*types.TIMES, "float"):
        return call
    written = json_of(call.args[value], type_)
    if nulls == "NULL":
        written = f"COALESCE({written}, 'null')"
    return replace(call, args=(*call.args[:value], written), nested=(*call.nested[:value], True))


def array_agg(call: FlinkCall) -> str:
    """JSON_ARRAYAGG, which leaves NULLs out unless it has NULL ON NULL."""
    call, nulls = _nulls(call, 1, "ABSENT")
    call = _written_out(call, 0, nulls)
    [value] = call.args
    if call.nested[0]:
        return f"CONCAT('[', ARRAY_JOIN({call.to('COLLECT_LIST')}, ','), ']')"
    if nulls == "ABSENT":
        return f"TO_JSON({call.to('COLLECT_LIST')})"
    rows = replace(call, args=(f"STRUCT({value} AS e)",)).to("COLLECT_LIST")
    return f"TO_JSON(TRANSFORM({rows}, s -> s.e))"


def object_agg(call: FlinkCall) -> str:
    """JSON_OBJECTAGG, in the order of its keys; it keeps NULLs unless it has ABSENT ON NULL."""
    call, nulls = _nulls(call, 2, "NULL")
    call = _written_out(call, 1, nulls)
    key, value = call.args
    rows = replace(call, args=(f"STRUCT({key}, {value})",)).to("COLLECT_LIST")
    # A map takes no key twice, and none that is NULL.
    entries = f"MAP_FROM_ENTRIES(ARRAY_SORT({rows}))"
    if nulls == "ABSENT":
        entries = f"MAP_FILTER({entries}, (k, v) -> v IS NOT NULL)"
    if call.nested[1]:
        members = f"TRANSFORM(MAP_ENTRIES({entries}), m -> CONCAT({json_of('m.key', call.types[0])}, ':', m.value))"
        return f"CONCAT('{{', ARRAY_JOIN({members}, ','), '}}')"
    return f"TO_JSON({entries})"


def element(variant: str, key: str, *, by_name: bool) -> str:
    """`v['key']` of an object, or `v[1]` of an array, which counts from 1; NULL where there is none.

    Args:
        variant: the VARIANT, as Spark SQL.
        key: the key or the place, as Spark SQL.
        by_name: True if it is a key.
    """
    if by_name:
        return f"TRY_ELEMENT_AT(TRY_VARIANT_GET({variant}, '$', 'MAP<STRING, VARIANT>'), {key})"
    return f"GET(TRY_VARIANT_GET({variant}, '$', 'ARRAY<VARIANT>'), {key} - 1)"


def is_json(node: exp.Expr) -> bool:
    """True if a node is `JSON(text)` as a value of JSON_OBJECT or JSON_ARRAY."""
    called = isinstance(node, exp.Anonymous) and node.name.upper() == "JSON" and len(node.expressions) == 1
    return called and isinstance(node.parent, JsonConstructor)
