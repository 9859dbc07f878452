"""JSON_OBJECT, JSON_ARRAY and their aggregates of Flink SQL, which write JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nested import nested_parts
from dbt.adapters.sparkstream.sql.core.nodes import JsonConstructor
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.calls import FlinkCall
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter
from dbt.adapters.sparkstream.sql.passes.flink.variants import is_json, json_of_text


class JsonTexts(Rewriter):
    """Edits JSON_OBJECT and JSON_ARRAY.

    A text is put together, as TO_JSON of a struct would leave NULLs out at all depths or at none.
    """

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            JsonConstructor: self._constructor,
        }

    def _constructor(self, node: exp.Expr) -> Iterator[Edit]:
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
        if is_json(value):
            written = json_of_text(self.text(value.expressions[0]))
        elif not isinstance(value, JsonConstructor):
            written = json_of(written, self.type(value))
        return [*parts, written if absent or self._never_null(value) else f"COALESCE({written}, 'null')"]


def json_of(sql: str, type_: str | None) -> str:
    """A value as JSON; NULL stays NULL."""
    if types.is_numeric(type_) or type_ == "boolean":
        return f"CAST({sql} AS STRING)"
    if type_ is not None and nested_parts(type_):
        return f"TO_JSON({sql}, MAP('ignoreNullFields', 'false'))"
    return f"TO_JSON(CAST({sql} AS VARIANT))"


def _has_json(type_: str) -> bool:
    """Whether Spark writes the JSON of a type as Flink: of numbers, texts, booleans, and what is made of them."""
    parts = nested_parts(type_)
    if parts:
        return all(part is not None and _has_json(part) for part in parts)
    return type_ in ("void", "boolean") or types.is_numeric(type_) or types.is_string(type_)


def _number(text: str) -> str:
    """A constant number in JSON: a DOUBLE such as 1e0 as Flink writes it, through a text of Java's: 1.0."""
    if "E" not in text.upper():
        return text
    digits, _, exponent = repr(float(text)).partition("e")
    return str(Decimal(digits + ("" if "." in digits else ".0") + (f"E{exponent}" if exponent else "")))


def unquote(call: FlinkCall) -> str:
    """JSON_UNQUOTE: the text that a JSON string holds; what is no JSON string stays as it is."""
    text = call.args[0]
    variant = f"TRY_PARSE_JSON({text})"
    return f"CASE WHEN SCHEMA_OF_VARIANT({variant}) = 'STRING' THEN CAST({variant} AS STRING) ELSE {text} END"


def _joined(parts: list[str]) -> str:
    """Texts as one; constants side by side become one constant."""
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


def array_agg(call: FlinkCall) -> str:
    """JSON_ARRAYAGG, which leaves NULLs out unless it says NULL ON NULL."""
    call, nulls = _nulls(call, 1, "ABSENT")
    [value] = call.args
    if call.nested[0]:
        return f"CONCAT('[', ARRAY_JOIN({call.to('COLLECT_LIST')}, ','), ']')"
    if nulls == "ABSENT":
        return f"TO_JSON({call.to('COLLECT_LIST')})"
    rows = replace(call, args=(f"STRUCT({value} AS e)",)).to("COLLECT_LIST")
    return f"TO_JSON(TRANSFORM({rows}, s -> s.e))"


def object_agg(call: FlinkCall) -> str:
    """JSON_OBJECTAGG, which is in the order of its keys, and keeps NULLs unless it says ABSENT ON NULL."""
    call, nulls = _nulls(call, 2, "NULL")
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
