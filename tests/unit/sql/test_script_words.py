"""Statements of a Flink script in a model are refused, and the error names the command that imports scripts."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import translate
from tests.unit.sql.pairs import Pairs

IMPORT = "sparkstream import flink"


class TestScriptWords(Pairs):
    @pytest.mark.parametrize(
        ("sql", "at"),
        [
            ("SET 'execution.runtime-mode' = 'batch'", "SET"),
            ("reset", "reset"),
            ("CREATE TABLE t (a INT) WITH ('connector' = 'datagen')", "CREATE"),
            ("CREATE TEMPORARY VIEW v AS SELECT 1", "CREATE"),
            ("-- a comment\nINSERT INTO t SELECT 1 AS a", "INSERT"),
            ("EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END", "EXECUTE"),
            ("USE CATALOG c", "USE"),
            ("DROP VIEW v", "DROP"),
            ("ALTER TABLE t RENAME TO u", "ALTER"),
            ("BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END", "BEGIN STATEMENT SET"),
            ("ADD JAR 'x.jar'", "ADD JAR"),
            ("SELECT 1 AS a; INSERT INTO t SELECT 1", "INSERT"),
        ],
    )
    def test_are_refused(self, sql: str, at: str) -> None:
        self.refused(sql, "a model holds one query", at=at, hint=IMPORT, dialect="flink")

    def test_a_second_query(self) -> None:
        self.refused("SELECT 1; SELECT 2", "this is a second statement", at="SELECT 2", hint=IMPORT, dialect="flink")

    def test_a_semicolon_at_the_end(self) -> None:
        assert translate("SELECT a FROM t;", "flink") == "SELECT a FROM t;"

    def test_the_same_words_in_a_query(self) -> None:
        sql = "SELECT `set`, t.`use` FROM `drop` AS t -- SET a = b; DROP"
        assert translate(sql, "flink") == sql

    @pytest.mark.parametrize("sql", ["SET x = 1", "CREATE VIEW v AS SELECT 1", "INSERT INTO t SELECT 1; SELECT 2"])
    def test_spark_has_them(self, sql: str) -> None:
        self.unchanged(sql)
