"""Refusals of SQLstream's and OpenMLDB's text that Spark has no form for, at its place; likenesses pass."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import translate
from tests.unit.sql.pairs import Pairs

SCHEMA = {"t": {"k": "string", "n": "int", "ROWTIME": "timestamp"}}


class TestFunctions(Pairs):
    @pytest.mark.parametrize("schema", [None, SCHEMA])
    @pytest.mark.parametrize(
        ("at", "hint"),
        [
            ("TIMESTAMP_TO_CHAR('yyyy-MM', ROWTIME)", "date_format"),
            ("date_to_char('yyyy', ROWTIME)", "date_format"),
            ("CHAR_TO_TIMESTAMP('yyyy', k)", "to_timestamp"),
            ("CHAR_TO_DATE('yyyy', k)", "to_date"),
            ("REGEX_REPLACE(k, 'a', 'b', 1, 0)", "regexp_replace"),
            ("TSDIFF(ROWTIME, ROWTIME)", "unix_millis"),
            ("W3C_LOG_PARSE(k, 'COMMON')", "regexp_extract"),
            ("CURRENT_ROW_TIMESTAMP", "current_timestamp()"),
            ("k SIMILAR TO 'a.*'", "RLIKE"),
        ],
    )
    def test_what_spark_lacks(self, at: str, hint: str, schema: dict[str, dict[str, str]] | None) -> None:
        for sql in (f"SELECT STREAM {at} AS x FROM t", f"SELECT STREAM max(n) AS m FROM t GROUP BY\n{at}"):
            self.refused(sql, "Spark has no ", at=at, hint=hint, dialect="sqlstream", schema=schema)

    def test_the_unit_of_datediff(self) -> None:
        sql = "SELECT STREAM DATEDIFF('MINUTE', ROWTIME, ROWTIME) AS x FROM t"
        self.refused(sql, "without quotes", at="'MINUTE'", hint="DATEDIFF(MINUTE, a, b)", dialect="sqlstream")
        made = translate(sql.replace("'MINUTE'", "MINUTE"), "sqlstream")
        assert made == "SELECT DATEDIFF(MINUTE, ROWTIME, ROWTIME) AS x FROM t"

    @pytest.mark.parametrize(
        ("given", "made"),
        [
            ('"CURRENT_ROW_TIMESTAMP" AS x', "`CURRENT_ROW_TIMESTAMP` AS x"),
            ("t.CURRENT_ROW_TIMESTAMP AS x", "t.CURRENT_ROW_TIMESTAMP AS x"),
            ("lib.regex_replace(k) AS x", "lib.regex_replace(k) AS x"),
            ("datediff(ROWTIME, ROWTIME) AS x", "datediff(ROWTIME, ROWTIME) AS x"),
        ],
    )
    def test_what_is_the_author_s(self, given: str, made: str) -> None:
        assert translate(f"SELECT STREAM {given} FROM t", "sqlstream") == f"SELECT {made} FROM t"


@pytest.mark.parametrize("dialect", ["sqlstream", "openmldb"])
class TestGroups:
    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT k, n FROM t GROUP BY k",
            "SELECT t.k, count(*) AS c FROM t GROUP BY K",
            "SELECT k + 1 AS x, upper(k + 1) AS y FROM t GROUP BY (t.k + 1)",
            "SELECT n AS x, count(*) AS c FROM t GROUP BY x",
            "SELECT n AS x, n + 1 AS y, count(*) AS c FROM t GROUP BY 1",
            "SELECT count(*) AS c, c + 1 AS d FROM t",
            "SELECT k, mine(n) AS x FROM t GROUP BY k",
            "SELECT k, max(n) - min(n) AS x FROM t GROUP BY k",
            "SELECT k, (SELECT max(v) FROM u WHERE u.k = t.k) AS x FROM t GROUP BY k",
            "SELECT n, (SELECT count(*) FROM u WHERE u.k = t.k AND n > 1) AS x FROM t",
            "SELECT k, n FROM t GROUP BY ROLLUP (k, n)",
        ],
    )
    def test_keys_are_left_to_spark(self, sql: str, dialect: str) -> None:
        assert translate(sql, dialect).startswith("SELECT")
