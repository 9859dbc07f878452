"""Functions of Flink SQL that Spark spells otherwise; the values behind them were compared with Flink 2.3."""

# A statement and its translation stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import translate
from dbt.adapters.sparkstream.sql.core.errors import TranslationWarning
from tests.unit.sql.pairs import Pairs

SCHEMA = {"c": {"i": "int", "k": "string", "a": "array<int>", "m": "map<string,int>", "ts": "timestamp_ntz"}}


class TestFunctions(Pairs):
    def rewritten(self, flink: str, spark: str) -> None:
        self.flink(f"SELECT {flink} AS z FROM c", spark=f"SELECT {spark} AS z FROM c", schema=SCHEMA)

    def test_texts_that_are_times(self) -> None:
        """Flink reads a date, or a date and a time with seconds, and keeps three digits behind them."""
        self.rewritten("TO_TIMESTAMP('2024-01-02 03:04:05.678901')", "TRY_CAST('2024-01-02 03:04:05.678' AS TIMESTAMP_NTZ)")
        self.rewritten("TO_TIMESTAMP('2024-01-02 03:04')", "CAST(NULL AS TIMESTAMP_NTZ)")
        self.rewritten("TO_TIMESTAMP(FROM_UNIXTIME(i))", "TRY_CAST(FROM_UNIXTIME(i) AS TIMESTAMP_NTZ)")
        iso = r"TRY_CAST(REGEXP_EXTRACT(k, '^(\\d{4}-\\d{1,2}-\\d{1,2}(?: \\d{1,2}:\\d{1,2}:\\d{1,2}(?:[.]\\d{1,3})?)?)(?:(?<=[.]\\d{3})\\d{1,6})?$') AS TIMESTAMP_NTZ)"
        finer = "TRY_ADD(TO_TIMESTAMP_NTZ(k, 'HH:mm:ss.SSSS'), INTERVAL '0' SECOND)"
        self.rewritten("TO_TIMESTAMP(k, 'HH:mm:ss.SSSS')", f"COALESCE({finer} - MAKE_DT_INTERVAL(0, 0, 0, EXTRACT(SECOND FROM {finer}) % 0.001), {iso})")
        self.rewritten("TO_TIMESTAMP('2024', 'yyyy')", "TRY_ADD(TO_TIMESTAMP_NTZ('2024', 'yyyy'), INTERVAL '0' SECOND)")
        self.rewritten("TO_TIMESTAMP('20240102030405678', 'yyyyMMddHHmmssSSS')", r"TRY_ADD(TO_TIMESTAMP_NTZ(REGEXP_REPLACE('20240102030405678', '(\\d{3})$', '.$1'), 'yyyyMMddHHmmss.SSS'), INTERVAL '0' SECOND)")
        self.rewritten("TO_DATE(k)", r"TRY_CAST(REGEXP_EXTRACT(k, '^\\s*(\\d{4}(?:-\\d{1,2}(?:-\\d{1,2})?)?)(?: .*)?$') AS DATE)")
        self.rewritten("TO_TIMESTAMP_LTZ(i)", "TIMESTAMP_MILLIS(i)")
        self.rewritten("TO_TIMESTAMP_LTZ(i, 6)", "TIMESTAMP_MICROS(i)")
        self.rewritten("TO_TIMESTAMP_LTZ(1.5, 0)", "TIMESTAMP_SECONDS(CAST(1.5 AS BIGINT))")
        self.rewritten("TO_TIMESTAMP_LTZ('2024-01-02')", "CAST(CONVERT_TIMEZONE('UTC', CURRENT_TIMEZONE(), TRY_CAST('2024-01-02' AS TIMESTAMP_NTZ)) AS TIMESTAMP)")
        self.rewritten("TO_TIMESTAMP_LTZ(k, 'dd.MM.yyyy')", "TRY_TO_TIMESTAMP(CONCAT(k, ' ', 'UTC'), CONCAT('dd.MM.yyyy', ' VV'))")
        self.rewritten("CAST('2024-01-02 03:04:05.678' AS TIMESTAMP(1))", "CAST('2024-01-02 03:04:05.6' AS TIMESTAMP_NTZ)")
        self.rewritten("CAST(k AS TIMESTAMP(0))", r"CAST(REGEXP_REPLACE(k, '[.]\\d+$', '') AS TIMESTAMP_NTZ)")
        self.rewritten("CAST(CAST(k AS TIMESTAMP) AS TIMESTAMP(1))", "CAST(CAST(k AS TIMESTAMP_NTZ) - MAKE_DT_INTERVAL(0, 0, 0, EXTRACT(SECOND FROM CAST(k AS TIMESTAMP_NTZ)) % 0.1) AS TIMESTAMP_NTZ)")

    def test_a_date_and_hours_are_a_date(self) -> None:
        self.rewritten("DATE '2024-01-02' + INTERVAL '5' HOUR", "DATE '2024-01-02' + INTERVAL '0' DAY")
        self.rewritten("DATE '2024-01-02' - INTERVAL '1 02' DAY TO HOUR", "DATE '2024-01-02' - INTERVAL '1' DAY")
        self.rewritten("DATE '2024-01-02' + INTERVAL '2' DAY", "DATE '2024-01-02' + INTERVAL '2' DAY")

    def test_rows_are_compared_field_by_field(self) -> None:
        self.rewritten("(i, k) = (1, 'a')", "(i = 1 AND k = 'a')")
        self.rewritten("(i, k) NOT IN ((1, 'a'), (2, 'b'))", "NOT ((i = 1 AND k = 'a') OR (i = 2 AND k = 'b'))")

    def test_texts(self) -> None:
        self.rewritten("LTRIM(k)", "LTRIM(k)")
        self.rewritten("LTRIM(k, 'x')", "TRIM(LEADING 'x' FROM k)")
        self.rewritten("RTRIM(k, 'x')", "TRIM(TRAILING 'x' FROM k)")
        nothing = "CASE WHEN k = '' THEN CAST(ARRAY() AS ARRAY<STRING>) ELSE"
        self.rewritten("SPLIT(k, '.')", rf"{nothing} SPLIT(k, '\\Q.\\E') END")
        self.rewritten("SPLIT(k, '')", f"{nothing} SPLIT(k, '') END")
        self.rewritten("SPLIT('a.b', '.')", r"SPLIT('a.b', '\\Q.\\E')")
        self.rewritten("SPLIT_INDEX(k, k, 1)", r"GET(SPLIT(NULLIF(k, ''), CONCAT('\\Q', k, '\\E')), 1)")
        self.rewritten("SHA384(k)", "SHA2(k, 384)")
        self.rewritten("LPAD(k, 5, 'x')", "LPAD(k, 5, 'x')")
        self.rewritten("LPAD(k, i, 'x')", "CASE WHEN i < 0 THEN NULL ELSE LPAD(k, i, 'x') END")
        self.rewritten("LOCATE('l', k, i)", "CASE WHEN i IS NOT NULL THEN LOCATE('l', k, GREATEST(i, 1)) END")
        self.rewritten("INSTR(k, 'l', 3)", "LOCATE('l', k, 3)")
        self.rewritten("REGEXP_COUNT(k, '(')", "CAST(NULL AS INT)")
        self.rewritten("REGEXP(k, '')", "CASE WHEN k IS NOT NULL THEN FALSE END")
        self.rewritten("PARSE_URL(k, 'HOST')", "TRY_PARSE_URL(k, 'HOST')")
        self.rewritten("ELT(i, k, 'b')", "GET(ARRAY(k, 'b'), i - 1)")
        self.rewritten("IS_DIGIT(k)", r"COALESCE(k RLIKE '^\\p{Nd}+$', FALSE)")
        self.rewritten("POSITION('l' IN k FROM 4)", "LOCATE('l', k, 4)")
        self.rewritten("JSON_STRING(i)", "CAST(i AS STRING)")
        self.rewritten("JSON_STRING(JSON_ARRAY(1))", "'[1]'")

    def test_a_replacement_is_a_text(self) -> None:
        self.rewritten("REGEXP_REPLACE(k, 'a', 'b')", "REGEXP_REPLACE(k, 'a', 'b')")
        self.rewritten("REGEXP_REPLACE(k, '(a)', '$1')", r"REGEXP_REPLACE(k, '(a)', '\\$1')")
        self.rewritten("REGEXP_REPLACE(k, 'a', k)", r"REGEXP_REPLACE(k, 'a', REPLACE(REPLACE(k, '\\', '\\\\'), '$', '\\$'))")

    def test_parts_of_texts(self) -> None:
        self.rewritten("SUBSTRING(k, 2)", "SUBSTRING(k, 2)")
        self.rewritten("SUBSTRING(k FROM 2 FOR 1)", "SUBSTRING(k FROM 2 FOR 1)")
        self.rewritten("SUBSTRING(k, -5)", "CASE WHEN -5 + CHAR_LENGTH(k) < 0 THEN '' ELSE SUBSTRING(k, -5) END")
        self.rewritten("SUBSTR(k, 2, i)", "CASE WHEN i < 0 THEN NULL ELSE SUBSTR(k, 2, i) END")
        self.rewritten("OVERLAY(k PLACING 'x' FROM 2 FOR 1)", "CASE WHEN 2 NOT BETWEEN 1 AND CHAR_LENGTH(k) THEN k ELSE CONCAT(LEFT(k, 2 - 1), 'x', CASE WHEN 1 <= 0 THEN '' ELSE SUBSTRING(k, 2 + 1) END) END")

    def test_a_null_argument_gives_null(self) -> None:
        """Also where another argument decides: an empty text, a place outside of the text."""
        rest = "CASE WHEN i <= 0 THEN '' ELSE SUBSTRING(k, 9 + i) END"
        self.rewritten("OVERLAY(k PLACING k FROM 9 FOR i)", f"CASE WHEN 9 NOT BETWEEN 1 AND CHAR_LENGTH(k) AND k IS NOT NULL AND i IS NOT NULL THEN k ELSE CONCAT(LEFT(k, 9 - 1), k, {rest}) END")
        self.rewritten("SUBSTRING(k, -5, i)", "CASE WHEN i < 0 THEN NULL WHEN -5 + CHAR_LENGTH(k) < 0 AND i IS NOT NULL THEN '' ELSE SUBSTRING(k, -5, i) END")
        self.rewritten("INSTR(k, 'l', 0, i)", "CASE WHEN k IS NOT NULL AND 'l' IS NOT NULL AND i IS NOT NULL THEN 0 END")
        self.rewritten("SPLIT(k, k)", r"CASE WHEN k IS NULL THEN NULL WHEN k = '' THEN CAST(ARRAY() AS ARRAY<STRING>) ELSE IF(k = '', SPLIT(k, ''), SPLIT(k, CONCAT('\\Q', k, '\\E'))) END")

    def test_replace(self) -> None:
        self.rewritten("REPLACE(k, 'a', 'b')", "REPLACE(k, 'a', 'b')")
        self.rewritten("REPLACE(k, '', '$')", r"REGEXP_REPLACE(k, '', '\\$')")
        self.rewritten("REPLACE(k, k, 'b')", "CASE WHEN k = '' THEN REGEXP_REPLACE(k, '', 'b') ELSE REPLACE(k, k, 'b') END")

    def test_groups_of_a_pattern(self) -> None:
        self.rewritten("REGEXP_EXTRACT(k, 'a(b)', 1)", "CASE WHEN k RLIKE 'a(b)' THEN REGEXP_EXTRACT(k, 'a(b)', 1) END")
        self.rewritten("REGEXP_EXTRACT(k, 'a(b)', 2)", "CAST(NULL AS STRING)")
        self.rewritten("REGEXP_EXTRACT(k, k, -1)", "CAST(NULL AS STRING)")
        self.rewritten("REGEXP_EXTRACT_ALL(k, 'a(b)', -i)", "CASE WHEN -i BETWEEN 0 AND 1 THEN REGEXP_EXTRACT_ALL(k, 'a(b)', -i) END")
        self.rewritten("a[-i]", "GET(a, -i - 1)")
        self.rewritten("REGEXP_EXTRACT_ALL(k, 'a(b)', i)", "CASE WHEN i BETWEEN 0 AND 1 THEN REGEXP_EXTRACT_ALL(k, 'a(b)', i) END")

    def test_an_empty_text_is_found(self) -> None:
        self.rewritten("REGEXP_SUBSTR(k, 'x*')", "CASE WHEN k RLIKE 'x*' THEN REGEXP_EXTRACT(k, 'x*', 0) END")

    def test_a_number_with_a_point_at_its_end_is_whole(self) -> None:
        self.rewritten("i / 3.", "CAST(i DIV 3 AS INT)")
        self.rewritten("- 3.", "- 3")
        self.rewritten("1.E1", "1.E1")

    def test_a_double_beside_a_float_is_a_float(self) -> None:
        """With =, + and the like, where it stands on the left."""
        schema = {"c": {"f": "float", "d": "double"}}
        for flink, spark in {
            "f = d": "f = CAST(d AS FLOAT)",
            "d = f": "d = f",
            "f <> 0.1e0": "f <> CAST(0.1e0 AS FLOAT)",
            "f < d": "f < d",
            "f IN (d, 1e0)": "f IN (CAST(d AS FLOAT), CAST(1e0 AS FLOAT))",
            "NULLIF(f, d) IS NULL": "NULLIF(f, CAST(d AS FLOAT)) IS NULL",
            "CASE f WHEN d THEN TRUE END": "CASE f WHEN CAST(d AS FLOAT) THEN TRUE END",
            "f - d > 0": "f - CAST(d AS FLOAT) > 0",
            "f / 3e0 > 0": "CAST(f / CAST(3e0 AS FLOAT) AS FLOAT) > 0",
            "f IN (SELECT d FROM c)": "f IN (SELECT CAST(d AS FLOAT) FROM c)",
            "f NOT IN (SELECT d FROM c)": "f NOT IN (SELECT d FROM c)",
        }.items():
            self.flink(f"SELECT 1 AS one FROM c WHERE {flink}", spark=f"SELECT 1 AS one FROM c WHERE {spark}", schema=schema)

    def test_a_date_and_a_timestamp_are_a_date(self) -> None:
        schema = {"c": {"d": "date", "ts": "timestamp_ntz"}}
        self.flink("SELECT COALESCE(ts, d) AS z FROM c", spark="SELECT COALESCE(CAST(ts AS DATE), d) AS z FROM c", schema=schema)

    def test_not_as_an_operand(self) -> None:
        self.rewritten("(i > 1) = NOT i > 2", "(i > 1) = (NOT i > 2)")

    def test_casts_behind_a_plus(self) -> None:
        self.rewritten("+CAST(k AS INT)", "CAST(k AS INT)")
        self.rewritten("+i::BIGINT", "CAST(i AS BIGINT)")

    def test_names_of_columns_are_no_names_of_parameters(self) -> None:
        """The separator `p` is a column, and no piece of the text."""
        schema = {"c": {"k": "string", "p": "string"}}
        found = translate("SELECT STR_TO_MAP(k, ',', p) AS z FROM c", "flink", schema=schema)
        assert "__p -> SPLIT(__p, p, 2)" in found

    def test_numbers(self) -> None:
        self.rewritten("CEILING(i)", "CAST(CEIL(i) AS INT)")
        self.rewritten("CEILING(1.5)", "CEILING(1.5)")
        d = "CAST(i AS DOUBLE)"
        self.rewritten(f"CEILING({d})", f"CASE WHEN ABS({d}) < 9E15 THEN CAST(CEIL({d}) AS DOUBLE) ELSE {d} END")

    def test_arrays(self) -> None:
        self.rewritten("ARRAY_CONTAINS(a, i)", "EXISTS(a, __e -> __e <=> i)")
        self.rewritten("ARRAY_REMOVE(a, i)", "FILTER(a, __e -> NOT __e <=> i)")
        self.rewritten("ARRAY_SLICE(a, 2, 3)", "FILTER(a, (__e, __i) -> __i + 1 BETWEEN 2 AND 3)")
        self.rewritten("ARRAY_SORT(a)", "SORT_ARRAY(a, TRUE)")
        self.rewritten("ARRAY_SORT(a, FALSE, TRUE)", "CONCAT(FILTER(a, __e -> __e IS NULL), SORT_ARRAY(FILTER(a, __e -> __e IS NOT NULL), FALSE))")
        self.refused_flink("SELECT ARRAY_SORT(a, i > 1) FROM c", "TRUE or FALSE", at="ARRAY_SORT(a, i > 1)", hint="FALSE", schema=SCHEMA)

    def test_first_bytes(self) -> None:
        self.rewritten("ASCII(k)", "IF(k = '', 0, SHIFTRIGHT(CAST(CONV(LEFT(HEX(k), 2), 16, 10) AS INT) << 24, 24))")

    def test_maps(self) -> None:
        self.rewritten("MAP_UNION(m, m)", "MAP_CONCAT(MAP_FILTER(m, (__k, __v) -> NOT MAP_CONTAINS_KEY(m, __k)), m)")

    def test_array_agg(self) -> None:
        """ORDER BY is left out with a warning, and ALL says nothing."""
        kept = "NULLIF(TRANSFORM(ARRAY_AGG(STRUCT(i AS e)), s -> s.e), ARRAY())"
        self.rewritten("ARRAY_AGG(ALL i)", kept)
        self.rewritten("ARRAY_AGG(i IGNORE NULLS)", "NULLIF(ARRAY_AGG(i), ARRAY())")
        with pytest.warns(TranslationWarning, match="heeds no ORDER BY"):
            self.rewritten("ARRAY_AGG(i RESPECT NULLS ORDER BY k DESC)", kept)

    def test_neighbours_heed_no_nulls(self) -> None:
        over = "OVER (ORDER BY i)"
        with pytest.warns(TranslationWarning, match="LAG heeds no IGNORE NULLS"):
            self.rewritten(f"LAG(i) IGNORE NULLS {over}", f"LAG(i) {over}")
        self.rewritten(f"LEAD(i, 2, 0) RESPECT NULLS {over}", f"LEAD(i, 2, 0) {over}")

    def test_lengths_as_texts(self) -> None:
        clock = "DATE_FORMAT(TIMESTAMP_NTZ '1970-01-01' + ABS(CAST(INTERVAL '1' DAY * i AS INTERVAL DAY TO SECOND)), 'HH:mm:ss.SSS')"
        sign = "CASE WHEN INTERVAL '1' DAY * i < INTERVAL '0' SECOND THEN '-' ELSE '+' END"
        self.rewritten("CAST(INTERVAL '1' DAY * i AS STRING)", f"CONCAT({sign}, EXTRACT(DAY FROM ABS(CAST(INTERVAL '1' DAY * i AS INTERVAL DAY TO SECOND))), ' ', {clock})")

    def test_texts_and_booleans_in_in(self) -> None:
        self.rewritten("k IN (TRUE)", "k IN (UPPER(CAST(TRUE AS STRING)))")
        self.rewritten("(i > 1) IN ('yes')", "(i > 1) IN (CAST('yes' AS BOOLEAN))")

    def test_typeof(self) -> None:
        self.rewritten("TYPEOF(m)", "'MAP<STRING, INT>'")
        self.rewritten("TYPEOF('ab')", "'CHAR(2) NOT NULL'")
        self.rewritten("TYPEOF(k, TRUE)", "'VARCHAR(2147483647)'")
        self.refused_flink("SELECT TYPEOF(ts) FROM c", "nobody knows Flink's type of ts", at="TYPEOF(ts)", hint="as a text", schema=SCHEMA)
        self.rewritten("TYPEOF(i + 1)", "'INT'")
        self.rewritten("TYPEOF(COALESCE(i, 1))", "'INT NOT NULL'")
        self.rewritten("TYPEOF(NULL)", "'NULL'")
        self.rewritten("TYPEOF(CAST(1 AS DECIMAL(5, 2)))", "'DECIMAL(5, 2) NOT NULL'")
        self.refused_flink("SELECT TYPEOF(UPPER(k)) FROM c", "can be NULL", at="TYPEOF(UPPER(k))", hint="as a text", schema=SCHEMA)

    def test_neighbours(self) -> None:
        over = "OVER (PARTITION BY k ORDER BY ts)"
        rows = "OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
        self.rewritten(f"LAG(i, 2, 0) {over}", f"LAG(i, 2, 0) {over}")
        self.rewritten(f"LAG(ts, i) {over}", f"GET(COLLECT_LIST(STRUCT(ts AS v)) {rows}, ROW_NUMBER() {over} - 1 - (i)).v")
        self.rewritten(f"LEAD(i, i, 0) {over}", f"COALESCE(GET(COLLECT_LIST(STRUCT(i AS v)) {rows}, ROW_NUMBER() {over} - 1 + (i)), STRUCT(0 AS v)).v")
        self.rewritten("LAG(i, i) OVER w", "LAG(i, i) OVER w")  # Spark refuses it

    def test_calls_without_a_value(self) -> None:
        self.rewritten("SUM(ORDER BY ts)", "SUM(ORDER BY ts)")  # Spark refuses both
        with pytest.warns(TranslationWarning, match="ARRAY_AGG heeds no ORDER BY"):
            self.rewritten("ARRAY_AGG(ORDER BY ts)", "ARRAY_AGG(ORDER BY ts)")
