"""JSON functions of Flink SQL; the rows behind them are recorded in Flink."""

# A statement and its translation stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

from dbt.adapters.sparkstream.sql import translate
from tests.unit.sql.pairs import Pairs

SCHEMA = {"c": {"i": "int", "k": "string", "j": "string", "ts": "timestamp_ntz"}}
FOUND = "TRY_VARIANT_GET(TRY_PARSE_JSON(j), '$.a', 'VARIANT')"
KIND = f"SCHEMA_OF_VARIANT({FOUND})"


class TestJson(Pairs):
    def rewritten(self, flink: str, spark: str) -> None:
        self.flink(f"SELECT {flink} AS z FROM c", spark=f"SELECT {spark} AS z FROM c", schema=SCHEMA)

    def test_value(self) -> None:
        good = f"WHEN {KIND} NOT RLIKE '^(ARRAY|OBJECT|VOID)'"
        self.rewritten("JSON_VALUE(j, '$.a')", f"CASE {good} THEN GET_JSON_OBJECT(j, '$.a') END")
        self.rewritten("JSON_VALUE(j, 'lax $.a' RETURNING INTEGER)", f"CASE {good} THEN TRY_CAST(GET_JSON_OBJECT(j, '$.a') AS INT) END")
        self.rewritten("JSON_VALUE(j, 'lax $.a' DEFAULT 'x' ON EMPTY ERROR ON ERROR)", f"CASE WHEN j IS NULL THEN NULL {good} THEN GET_JSON_OBJECT(j, '$.a') ELSE 'x' END")
        self.rewritten("JSON_VALUE(j, 'strict $.a' DEFAULT k ON EMPTY NULL ON ERROR)", f"CASE {good} THEN GET_JSON_OBJECT(j, '$.a') END")
        self.rewritten("JSON_VALUE(j, '$.a' DEFAULT k ON ERROR)", f"CASE WHEN j IS NULL THEN NULL {good} THEN GET_JSON_OBJECT(j, '$.a') ELSE k END")
        assert r"""GET_JSON_OBJECT(j, '$.a[\'b.[c\'][\'x.*"\']')""" in translate("""SELECT JSON_VALUE(j, '$.a["b.[c"].[''x.*"'']') FROM c""", "flink", schema=SCHEMA)
        self.refused_flink("""SELECT JSON_VALUE(j, '$["a''b"]') FROM c""", "constant path", hint="FROM_JSON", at="""'$["a''b"]'""")
        assert " AS BIGINT) END" in translate("SELECT JSON_VALUE(j, '$.a' RETURNING BIGINT) AS v FROM c", "flink")
        assert "RAISE_ERROR('JSON_VALUE: " in translate("SELECT JSON_VALUE(j, '$.a' ERROR ON ERROR) FROM c", "flink", schema=SCHEMA)

    def test_query(self) -> None:
        array = f"CONCAT('[', TO_JSON({FOUND}), ']')"
        self.rewritten("JSON_QUERY(j, '$.a')", f"CASE WHEN {KIND} RLIKE '^(ARRAY|OBJECT)' THEN TO_JSON({FOUND}) END")
        self.rewritten("JSON_QUERY(j, '$.a' WITH ARRAY WRAPPER)", f"CASE WHEN {KIND} <> 'VOID' THEN {array} END")
        self.rewritten("JSON_QUERY(j, '$.a' WITH CONDITIONAL WRAPPER)", f"CASE WHEN {KIND} <> 'VOID' THEN CASE WHEN {KIND} RLIKE '^ARRAY' THEN TO_JSON({FOUND}) ELSE {array} END END")
        self.rewritten("JSON_QUERY(j, '$.a' WITHOUT WRAPPER EMPTY ARRAY ON EMPTY EMPTY ARRAY ON ERROR)", f"CASE WHEN j IS NULL THEN NULL WHEN {KIND} RLIKE '^(ARRAY|OBJECT)' THEN TO_JSON({FOUND}) ELSE '[]' END")

    def test_query_of_texts(self) -> None:
        self.rewritten("JSON_QUERY(j, '$.a' RETURNING ARRAY<STRING>)", f"FROM_JSON(CASE WHEN {KIND} RLIKE '^ARRAY' THEN TO_JSON({FOUND}) END, 'ARRAY<STRING>')")
        self.refused_flink("SELECT JSON_QUERY(j, '$.a' RETURNING ARRAY<INT>) FROM c", "takes STRING or ARRAY<STRING>", at="JSON_QUERY(j, '$.a' RETURNING ARRAY<INT>)", hint="ARRAY<STRING>")

    def test_exists(self) -> None:
        self.rewritten("JSON_EXISTS(j, '$.a')", f"CASE WHEN j IS NULL THEN NULL WHEN {KIND} <> 'VOID' THEN TRUE ELSE FALSE END")
        self.rewritten("JSON_EXISTS(j, 'lax $.a' TRUE ON ERROR)", f"CASE WHEN j IS NULL THEN NULL WHEN {KIND} <> 'VOID' THEN TRUE ELSE FALSE END")
        self.rewritten("JSON_EXISTS(j, 'strict $.a' UNKNOWN ON ERROR)", f"CASE WHEN {KIND} <> 'VOID' THEN TRUE END")

    def test_paths(self) -> None:
        for path in ('$[0].b["a b"]', '$.[0].b.["a b"]'):
            self.rewritten(f"JSON_EXISTS(j, '{path}' UNKNOWN ON ERROR)", "CASE WHEN SCHEMA_OF_VARIANT(TRY_VARIANT_GET(TRY_PARSE_JSON(j), '$[0].b[\\'a b\\']', 'VARIANT')) <> 'VOID' THEN TRUE END")
        self.rewritten("JSON_EXISTS(j, '$.user-id.é.b1' UNKNOWN ON ERROR)", "CASE WHEN SCHEMA_OF_VARIANT(TRY_VARIANT_GET(TRY_PARSE_JSON(j), '$[\\'user-id\\'][\\'é\\'].b1', 'VARIANT')) <> 'VOID' THEN TRUE END")
        found = "TRY_VARIANT_GET(TRY_PARSE_JSON(j), '$.a', 'VARIANT')"
        elements = f"COALESCE(TRY_VARIANT_GET({found}, '$', 'ARRAY<VARIANT>'), MAP_VALUES(TRY_VARIANT_GET({found}, '$', 'MAP<STRING, VARIANT>')))"
        member = "TRANSFORM({}, v -> TRY_VARIANT_GET(v, '$.b', 'VARIANT'))"
        for path, values in (("$.a[*]", elements), ("$.a.*.b", f"FILTER({member.format(elements)}, v -> v IS NOT NULL)")):
            self.rewritten(f"JSON_EXISTS(j, '{path}' UNKNOWN ON ERROR)", f"CASE WHEN SCHEMA_OF_VARIANT(CAST({values} AS VARIANT)) <> 'VOID' THEN TRUE END")
        for path in ("'$..a'", "'$.a[-1]'", "'$.a b'", "'$.a.length()'", "k", "'a'"):
            self.refused_flink(f"SELECT JSON_QUERY(j, {path}) FROM c", "constant path", at=path, hint="$.a.b[0]")

    def test_is_json(self) -> None:
        self.rewritten("j IS JSON", "TRY_PARSE_JSON(j) IS NOT NULL")
        self.rewritten("j IS NOT JSON", "TRY_PARSE_JSON(j) IS NULL")
        self.rewritten("j IS NOT JSON ARRAY", "NOT COALESCE(SCHEMA_OF_VARIANT(TRY_PARSE_JSON(j)) RLIKE '^ARRAY', FALSE)")

    def test_constructors(self) -> None:
        self.rewritten("JSON_OBJECT('i' VALUE i, KEY 'k' VALUE k)", "CONCAT('{\"i\":', COALESCE(CAST(i AS STRING), 'null'), ',\"k\":', COALESCE(TO_JSON(CAST(k AS VARIANT)), 'null'), '}')")
        self.rewritten("JSON_OBJECT('i': i, 'k': k ABSENT ON NULL)", "CONCAT('{', CONCAT_WS(',', CONCAT('\"i\":', CAST(i AS STRING)), CONCAT('\"k\":', TO_JSON(CAST(k AS VARIANT)))), '}')")
        self.rewritten("JSON_OBJECT('a' VALUE JSON_ARRAY(1, 'b'), 'n' VALUE NULL)", "'{\"a\":[1,\"b\"],\"n\":null}'")
        self.rewritten("JSON_ARRAY(i, NULL NULL ON NULL)", "CONCAT('[', COALESCE(CAST(i AS STRING), 'null'), ',null]')")
        self.rewritten("JSON_ARRAY()", "'[]'")
        self.refused_flink("SELECT JSON_OBJECT('t' VALUE ts) FROM c", "JSON of a timestamp_ntz", at="ts", hint="CAST(... AS STRING)", schema=SCHEMA)
        self.rewritten("JSON_OBJECT('b' VALUE 1, 'a' VALUE 2, 'b' VALUE 3)", "'{\"a\":2,\"b\":3}'")
        self.refused_flink("SELECT JSON_OBJECT(k VALUE 1) FROM c", "is a constant text", at="k", hint="JSON_OBJECT('id' VALUE id)")

    def test_json_as_a_value(self) -> None:
        self.rewritten("JSON_OBJECT('k' VALUE JSON(j))", "CONCAT('{\"k\":', COALESCE(TO_JSON(PARSE_JSON(NULLIF(j, ''))), 'null'), '}')")
        self.rewritten("JSON_ARRAY(JSON(j), i)", "CONCAT('[', CONCAT_WS(',', TO_JSON(PARSE_JSON(NULLIF(j, ''))), CAST(i AS STRING)), ']')")

    def test_variants(self) -> None:
        self.rewritten("PARSE_JSON(j, FALSE)", "PARSE_JSON(j)")
        self.rewritten("PARSE_JSON(j, false)", "PARSE_JSON(j)")
        self.rewritten("TRY_PARSE_JSON(j)['k']", "TRY_ELEMENT_AT(TRY_VARIANT_GET(TRY_PARSE_JSON(j), '$', 'MAP<STRING, VARIANT>'), 'k')")
        self.rewritten("PARSE_JSON(j)[i]", "GET(TRY_VARIANT_GET(PARSE_JSON(j), '$', 'ARRAY<VARIANT>'), i - 1)")
        self.rewritten("PARSE_JSON(j, TRUE)", "PARSE_JSON(j, TRUE)")  # Spark refuses it

    def test_aggregates(self) -> None:
        self.rewritten("JSON_ARRAYAGG(i)", "TO_JSON(COLLECT_LIST(i))")
        time = "CONCAT('\"', REPLACE(CAST(ts AS STRING), ' ', 'T'), '\"')"
        self.rewritten("JSON_ARRAYAGG(ts NULL ON NULL)", f"CONCAT('[', ARRAY_JOIN(COLLECT_LIST(COALESCE({time}, 'null')), ','), ']')")
        self.rewritten("JSON_ARRAYAGG(i NULL ON NULL)", "TO_JSON(TRANSFORM(COLLECT_LIST(STRUCT(i AS e)), s -> s.e))")
        self.rewritten("JSON_OBJECTAGG(KEY k VALUE i)", "TO_JSON(MAP_FROM_ENTRIES(ARRAY_SORT(COLLECT_LIST(STRUCT(k, i)))))")
        self.rewritten("JSON_OBJECTAGG(k: i ABSENT ON NULL) FILTER (WHERE i > 1)", "TO_JSON(MAP_FILTER(MAP_FROM_ENTRIES(ARRAY_SORT(COLLECT_LIST(STRUCT(k, i)) FILTER (WHERE i > 1))), (k, v) -> v IS NOT NULL))")
        nested = "MAP_FROM_ENTRIES(ARRAY_SORT(COLLECT_LIST(STRUCT(k, CONCAT('[', CONCAT_WS(',', CAST(i AS STRING)), ']')))))"
        self.rewritten("JSON_OBJECTAGG(KEY k VALUE JSON_ARRAY(i))", f"CONCAT('{{', ARRAY_JOIN(TRANSFORM(MAP_ENTRIES({nested}), m -> CONCAT(TO_JSON(CAST(m.key AS VARIANT)), ':', m.value)), ','), '}}')")
        self.rewritten("JSON_ARRAYAGG(JSON_OBJECT('i' VALUE i))", "CONCAT('[', ARRAY_JOIN(COLLECT_LIST(CONCAT('{\"i\":', COALESCE(CAST(i AS STRING), 'null'), '}')), ','), ']')")

    def test_not_written_so(self) -> None:
        self.refused_flink("SELECT JSON_OBJECT('a' 1) FROM c", "VALUE or : is missing", at="1")
        self.refused_flink("SELECT JSON_VALUE(j, '$.a' DEFAULT 1) FROM c", "ON EMPTY or ON ERROR", at=")")
