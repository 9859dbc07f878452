"""Flink's constructors and predicates that Spark writes in another way; the rows behind them are recorded in Flink."""

# A statement and its translation stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

from tests.unit.sql.pairs import Pairs

SCHEMA = {"c": {"i": "int", "b": "bigint", "k": "string", "ts": "timestamp_ntz", "xs": "array<int>"}}


class TestConstructs(Pairs):
    def rewritten(self, flink: str, spark: str) -> None:
        self.flink(f"SELECT {flink} AS z FROM c", spark=f"SELECT {spark} AS z FROM c", schema=SCHEMA)

    def test_constructors(self) -> None:
        self.rewritten("ARRAY[1, 2]", "ARRAY(1, 2)")
        self.rewritten("ARRAY[ARRAY[i/2], ARRAY[(i)+1]]", "ARRAY(ARRAY(CAST(i DIV 2 AS INT)), ARRAY((i)+1))")
        self.rewritten("MAP['a', 1]", "MAP('a', 1)")
        self.rewritten("map['a', ARRAY[1]]", "MAP('a', ARRAY(1))")
        self.rewritten("ROW(i, k)", "NAMED_STRUCT('EXPR$0', i, 'EXPR$1', k)")
        self.flink("SELECT * FROM (VALUES ROW('a\\', TO_TIMESTAMP_LTZ(1, 3))) AS v(a, b)", spark="SELECT * FROM (VALUES ('a\\\\', TIMESTAMP_MILLIS(1))) AS v(a, b)")
        self.rewritten("ROW(k, i) IN (ROW('a\\', MOD(i, 2)))", "((k = 'a\\\\' AND i = MOD(i, 2)))")
        self.rewritten("CARDINALITY(ARRAY[1])", "ARRAY_SIZE(ARRAY(1))")
        self.rewritten("ELEMENT(ARRAY[5])", "TRY_ELEMENT_AT(CASE WHEN SIZE(ARRAY(5)) > 1 THEN RAISE_ERROR('ELEMENT takes an array of one element, and this one has more') ELSE ARRAY(5) END, 1)")

    def test_quotients_by_a_text(self) -> None:
        self.rewritten("1e0 / '1:30'", "1e0 / '1:30'")  # Spark refuses it
        self.rewritten("1e0 / '2'", "1e0 / '2'")

    def test_access_counts_from_one(self) -> None:
        self.rewritten("xs[1]", "TRY_ELEMENT_AT(xs, 1)")
        self.rewritten("ARRAY[1, 2, 3][2]", "TRY_ELEMENT_AT(ARRAY(1, 2, 3), 2)")
        self.rewritten("MAP['a', ARRAY[1]]['a'][1]", "TRY_ELEMENT_AT(TRY_ELEMENT_AT(MAP('a', ARRAY(1)), 'a'), 1)")

    def test_similar(self) -> None:
        self.rewritten("k SIMILAR TO 'a|b'", r"k RLIKE '\\A(?:a|b)\\z'")
        self.rewritten("k NOT SIMILAR TO '(a|c)%'", r"k NOT RLIKE '\\A(?:(a|c)(?s:.*))\\z'")
        self.rewritten("NOT k SIMILAR TO '_'", r"NOT k RLIKE '\\A(?:.)\\z'")
        self.rewritten("k SIMILAR TO 'a$!%' ESCAPE '!'", r"k RLIKE '\\A(?:a\\$\\%)\\z'")
        self.rewritten("k SIMILAR TO 'it''s'", r"k RLIKE '\\A(?:it\'s)\\z'")
        self.refused_flink("SELECT k SIMILAR TO p FROM c", "constant pattern", at="p", hint="REGEXP")
        self.refused_flink("SELECT k SIMILAR TO 'a!b' ESCAPE '!' FROM c", "escapes nothing", at="'a!b'", hint="% or _")
        self.refused_flink("SELECT k SIMILAR TO '[[:ALPHA:]]' FROM c", "class of characters", at="'[[:ALPHA:]]'", hint="[a-zA-Z]")

    def test_between(self) -> None:
        self.rewritten("i + 1 BETWEEN SYMMETRIC 5 AND 2", "(i + 1 BETWEEN 5 AND 2 OR i + 1 BETWEEN 2 AND 5)")
        self.rewritten("i NOT BETWEEN SYMMETRIC 5 AND b", "(NOT (i BETWEEN 5 AND b OR i BETWEEN b AND 5))")
        self.rewritten("i NOT BETWEEN 1 AND 2", "i NOT BETWEEN 1 AND 2")

    def test_between_asymmetric(self) -> None:
        self.rewritten("i NOT BETWEEN ASYMMETRIC 1 AND b + 1", "i NOT BETWEEN 1 AND b + 1")

    def test_several_values_behind_when(self) -> None:
        self.rewritten("CASE i WHEN 1, 2 THEN 'x' WHEN 3 THEN 'y' ELSE 'z' END", "CASE i WHEN 1 THEN 'x' WHEN 2 THEN 'x' WHEN 3 THEN 'y' ELSE 'z' END")
        self.rewritten("CASE i + 1 WHEN i/2, b THEN CASE k WHEN 'p', 'q' THEN i/3 END END", "CASE i + 1 WHEN CAST(i DIV 2 AS INT) THEN CASE k WHEN 'p' THEN CAST(i DIV 3 AS INT) WHEN 'q' THEN CAST(i DIV 3 AS INT) END WHEN b THEN CASE k WHEN 'p' THEN CAST(i DIV 3 AS INT) WHEN 'q' THEN CAST(i DIV 3 AS INT) END END")
        self.refused_flink("SELECT CASE WHEN i = 1, b = 2 THEN 3 END FROM c", "WHEN has one condition", at="b = 2", hint="OR")
        self.refused_flink("SELECT CASE i WHEN 1, THEN 3 END FROM c", "a value is missing", at="THEN")

    def test_exists_of_values(self) -> None:
        self.flink("SELECT i FROM c WHERE EXISTS (VALUES (1)) AND NOT EXISTS (VALUES 1, 2)", spark="SELECT i FROM c WHERE EXISTS (SELECT * FROM VALUES (1)) AND NOT EXISTS (VALUES 1, 2)")

    def test_escapes_of_jdbc(self) -> None:
        self.refused_flink("SELECT {fn UPPER(k)} AS u FROM c", "JDBC's way", at="{fn", hint="leave the braces out")
        self.refused_flink("SELECT {d '2024-01-01'} AS d FROM c", "JDBC's way", at="{d", hint="DATE '2024-01-01'")

    def test_overlaps(self) -> None:
        self.rewritten("(ts, INTERVAL '5' MINUTE) OVERLAPS (ts, INTERVAL '1' DAY)", "(ts + INTERVAL '5' MINUTE >= ts AND ts + INTERVAL '1' DAY >= ts)")
        self.rewritten("(i, b) OVERLAPS (b, 7)", "(CASE WHEN i <= b THEN b ELSE i END >= CASE WHEN b <= 7 THEN b ELSE 7 END AND CASE WHEN b <= 7 THEN 7 ELSE b END >= CASE WHEN i <= b THEN i ELSE b END)")
        self.refused_flink("SELECT (ts, ts, ts) OVERLAPS (ts, ts) FROM c", "OVERLAPS takes two periods", at="(ts, ts, ts) OVERLAPS (ts, ts)", hint="(start1, end1) OVERLAPS")

    def test_types_of_values(self) -> None:
        self.flink("SELECT AVG(x) AS a FROM (VALUES ('a', 1), ('b', CAST(NULL AS INT))) AS v(k, x)", spark="SELECT CAST(SUM(x) DIV COUNT(x) AS INT) AS a FROM (VALUES ('a', 1), ('b', CAST(NULL AS INT))) AS v(k, x)")

    def test_variance_of_integers(self) -> None:
        """In whole numbers: 1, 2 and 12 have VAR_POP 24; 30000 and 20001 overflow an INT, and have 1098736824."""
        squares = "CAST(SHIFTRIGHT(SUM(CAST(i AS BIGINT) * CAST(i AS BIGINT)) << 32, 32) AS INT)"
        total = "CAST(SHIFTRIGHT(SUM(CAST(i AS BIGINT)) << 32, 32) AS INT)"
        square = f"CAST(SHIFTRIGHT((CAST({total} AS BIGINT) * {total}) << 32, 32) AS INT)"
        self.rewritten("VAR_POP(i)", f"CAST(SHIFTRIGHT((({squares} - {square} DIV COUNT(i)) DIV COUNT(i)) << 32, 32) AS INT)")
        self.rewritten("STDDEV_SAMP(i)", f"CAST(SQRT((({squares} - {square} DIV COUNT(i)) DIV NULLIF(COUNT(i) - 1, 0))) AS INT)")
