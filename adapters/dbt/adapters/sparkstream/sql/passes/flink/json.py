"""JSON_VALUE, JSON_QUERY, JSON_EXISTS and IS JSON of Flink SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import JsonPath
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.types import spark_type
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

_STEP = r"""\.[A-Za-z_]\w*|\.?\[\d+\]|\.?\['[^'\\\]]+'\]|\.?\["[^"'\\\]]+"\]"""
"""A member or an element; Spark has no path to a member whose name has a `'`."""
_SEVERAL = r"\[\*\]|\.\*|\[\d+(?:\s*,\s*\d+)+\]"
"""Steps that find several values: all elements or members, or the elements of some numbers."""
_PATH = re.compile(rf"\s*(?:(?P<mode>lax|strict)\s+)?(?P<path>\$(?:{_SEVERAL}|{_STEP})*)\s*", re.I | re.A)
"""Filters, `..`, `last` and negative numbers are none of Spark's."""
_ARRAYS = "'^ARRAY'"
_CONTAINERS = "'^(ARRAY|OBJECT)'"
_SCALARS = "'^(ARRAY|OBJECT|VOID)'"
_KINDS = {
    "OBJECT": "RLIKE '^OBJECT'",
    "ARRAY": f"RLIKE {_ARRAYS}",
    "SCALAR": f"NOT RLIKE {_CONTAINERS}",
}
_RETURNED = ("boolean", "int", "double")


class Json(Rewriter):
    """Edits functions that look into a JSON text.

    Whether a path finds a text, a container or nothing is told by the type that the value has as a VARIANT. A container
    is written by TO_JSON of the VARIANT, which has the keys in order, as Flink has them. Whatever doesn't fit is EMPTY
    in lax, and an ERROR in strict, which is the mode of a path that names none (measured in Flink 2.3).
    """

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            JsonPath: self._path,
            exp.Is: self._is,
        }

    def _is(self, node: exp.Expr) -> Iterator[Edit]:
        """`x IS JSON OBJECT`; the NOT of IS NOT is its parent."""
        json = node.expression
        if not isinstance(json, exp.JSON):
            return
        whole = node.parent if isinstance(node.parent, exp.Not) and self._has_not(node) else node
        kind = str(json.this or "VALUE")

        def text() -> str:
            variant = f"TRY_PARSE_JSON({self.text(node.this)})"
            negated = whole is not node
            if kind in _KINDS:
                return f"{'NOT ' if negated else ''}COALESCE(SCHEMA_OF_VARIANT({variant}) {_KINDS[kind]}, FALSE)"
            return f"{variant} IS {'' if negated else 'NOT '}NULL"

        yield Edit(self.source.span(whole), text, level=1)

    def _has_not(self, node: exp.Expr) -> bool:
        behind = self.source.tokens_in((self.source.span(node.this)[1], self.source.span(node.parent or node)[1]))
        return len(behind) > 1 and behind[1].text.upper() == "NOT"

    def _path(self, node: exp.Expr) -> Iterator[Edit]:
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
        """Whether JSON_VALUE or JSON_QUERY may return what the path finds, and how it is returned."""
        kind = f"SCHEMA_OF_VARIANT({variant})"
        if node.args["kind"] == "VALUE":
            return f"{kind} NOT RLIKE {_SCALARS}", self._returned(node, scalar)
        written = f"TO_JSON({variant})"
        if not node.args.get("wrapper"):
            return f"{kind} RLIKE {_ARRAYS if self._is_array(node) else _CONTAINERS}", written
        value = f"CONCAT('[', {written}, ']')"
        if node.args["wrapper"] == "CONDITIONAL":
            value = f"CASE WHEN {kind} RLIKE {_ARRAYS} THEN {written} ELSE {value} END"
        return f"{kind} <> 'VOID'", value

    def _returned(self, node: exp.Expr, text: str) -> str:
        """A scalar in the type behind RETURNING."""
        to = node.args.get("returning")
        type_ = spark_type(to) if to is not None else "string"
        if type_ == "string":
            return text
        if type_ not in _RETURNED:
            self.refuse(
                node,
                "RETURNING of JSON_VALUE takes STRING, BOOLEAN, INTEGER or DOUBLE",
                "write such as CAST(JSON_VALUE(...) AS BIGINT)",
            )
        return f"TRY_CAST({text} AS {type_.upper()})"

    def _is_array(self, node: exp.Expr) -> bool:
        """Whether JSON_QUERY returns an array of texts, and no text."""
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


def _written(steps: list[str]) -> str:
    """A path as Spark has it, as a literal."""
    return string_literal("$" + "".join(_member(step) for step in steps))


def _member(step: str) -> str:
    step = step.removeprefix(".") if step.startswith(".[") else step
    return f"['{step[2:-2]}']" if step.startswith('["') else step


def _variant(root: str, steps: list[str]) -> str:
    """What a path finds in a VARIANT, as a VARIANT; what a wildcard finds, if only one value or none, is an array."""
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
