"""JSON_VALUE, JSON_QUERY, JSON_EXISTS and IS JSON of Flink SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.json import JsonPath
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.types import spark_type
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

_PATH = re.compile(
    r"""\s*(?:(?P<mode>lax|strict)\s+)?(?P<path>\$(?:\.[A-Za-z_]\w*|\[\d+\]|\['[^'\\\]]+'\]|\["[^"\\\]]+"\])*)\s*""",
    re.I | re.A,
)
"""Members and elements. Wildcards, filters and negative numbers are none of Spark's."""
_CONTAINERS = "'^(ARRAY|OBJECT)'"
_SCALARS = "'^(ARRAY|OBJECT|VOID)'"
_KINDS = {
    "OBJECT": "RLIKE '^OBJECT'",
    "ARRAY": "RLIKE '^ARRAY'",
    "SCALAR": f"NOT RLIKE {_CONTAINERS}",
}
_CASTS = ("boolean", "int", "bigint", "double", "float", "smallint", "tinyint", "decimal")


class Json(Rewriter):
    """Edits functions that look into a JSON text.

    Whether a path finds a text, a container or nothing is told by the type that the value has as a VARIANT. A container
    is written by GET_JSON_OBJECT, which keeps the order of its keys.
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
            found = f"{variant} IS NOT NULL"
            if kind in _KINDS:
                found = f"COALESCE(SCHEMA_OF_VARIANT({variant}) {_KINDS[kind]}, FALSE)"
            negated = "NOT " if whole is not node else ""
            return f"CASE WHEN {self.text(node.this)} IS NOT NULL THEN {negated}{found} END"

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
                f"JSON_{node.args['kind']} takes a constant path of members and elements here",
                "write such as '$.a.b[0]'; for a wildcard, FROM_JSON and TRANSFORM in the model around it",
            )
        strict = (found["mode"] or "").lower() == "strict"
        steps = string_literal(found["path"].replace('"', "'"))

        def text() -> str:
            document = self.text(node.this)
            if node.args["kind"] == "EXISTS":
                return self._exists(node, document, steps, strict)
            return self._value(node, document, steps, strict)

        yield self.edit(node, text)

    def _exists(self, node: exp.Expr, document: str, path: str, strict: bool) -> str:
        variant = f"TRY_VARIANT_GET(TRY_PARSE_JSON({document}), {path}, 'VARIANT')"
        found = f"COALESCE(SCHEMA_OF_VARIANT({variant}) <> 'VOID', FALSE)"
        wrong = node.args.get("error") or "FALSE"
        cases = [f"WHEN {document} IS NULL THEN NULL"]
        if wrong != "FALSE":
            fault = f"{variant} IS NULL" if strict else f"TRY_PARSE_JSON({document}) IS NULL"
            cases.append(f"WHEN {fault} THEN {self._word(node, wrong)}")
        return f"CASE {' '.join(cases)} ELSE {found} END"

    def _value(self, node: exp.Expr, document: str, path: str, strict: bool) -> str:
        variant = f"TRY_VARIANT_GET(TRY_PARSE_JSON({document}), {path}, 'VARIANT')"
        kind, written = f"SCHEMA_OF_VARIANT({variant})", f"GET_JSON_OBJECT({document}, {path})"
        if node.args["kind"] == "VALUE":
            fits, value = f"{kind} NOT RLIKE {_SCALARS}", self._returned(node, written)
        elif node.args.get("wrapper"):
            fits = f"{kind} <> 'VOID'"
            value = f"CONCAT('[', CASE WHEN {kind} = 'STRING' THEN TO_JSON({variant}) ELSE {written} END, ']')"
            if node.args["wrapper"] == "CONDITIONAL":
                value = f"CASE WHEN {kind} RLIKE '^ARRAY' THEN {written} ELSE {value} END"
        else:
            fits, value = f"{kind} RLIKE {_CONTAINERS}", written
        empty, error = (self._behaviour(node, name) for name in ("empty", "error"))
        cases = [f"WHEN {fits} THEN {value}"]
        if empty != "NULL" or error != "NULL":
            cases.insert(0, f"WHEN {document} IS NULL THEN NULL")
        if strict:
            cases += [f"WHEN {kind} = 'VOID' THEN {empty}"] if empty != error else []
        elif empty != error:
            cases.insert(1, f"WHEN TRY_PARSE_JSON({document}) IS NULL THEN {error}")
        last = error if strict else empty
        return f"CASE {' '.join(cases)}{'' if last == 'NULL' else f' ELSE {last}'} END"

    def _returned(self, node: exp.Expr, text: str) -> str:
        """A scalar in the type behind RETURNING."""
        to = node.args.get("returning")
        type_ = spark_type(to) if to is not None else "string"
        if type_ == "string":
            return text
        if type_ is None or not type_.startswith(_CASTS):
            self.refuse(
                to or node, "RETURNING takes STRING, BOOLEAN, INTEGER or DOUBLE", "write CAST(JSON_VALUE(...) AS ...)"
            )
        return f"TRY_CAST({text} AS {type_.upper()})"

    def _behaviour(self, node: exp.Expr, name: str) -> str:
        """The value ON EMPTY or ON ERROR."""
        behaviour = node.args.get(name) or "NULL"
        return self.text(behaviour) if isinstance(behaviour, exp.Expr) else self._word(node, behaviour)

    def _word(self, node: exp.Expr, word: str) -> str:
        if word == "ERROR":
            fault = f"JSON_{node.args['kind']}: its path finds nothing that fits, or the text is no JSON"
            return f"RAISE_ERROR({string_literal(fault)})"
        return {"UNKNOWN": "NULL", "EMPTY ARRAY": "'[]'", "EMPTY OBJECT": "'{}'"}.get(word, word)
