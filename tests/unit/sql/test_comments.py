"""Comments that Spark reads otherwise than the dialect of a text."""

from __future__ import annotations

import re

import pytest

from dbt.adapters.sparkstream.sql import translate

LINES = [
    "select a, -- C:\\\n b from t where -- x\\\n c > 3",
    "-- x\\\nselect a from t",
    "select a from t -- x\\\n",
    "select a from t -- x\\",
]


@pytest.mark.parametrize("sql", LINES)
@pytest.mark.parametrize("dialect", ["flink", "openmldb", "sqlstream"])
def test_a_line_after_a_comment_with_a_backslash_at_its_end(sql: str, dialect: str) -> None:
    """Spark's comments go on in the next line there."""
    translated = translate(sql, dialect=dialect)
    assert "\\\n" not in translated
    assert translated.replace("\\ ", "\\") == sql


@pytest.mark.parametrize("sql", ["select a /* -- x\\\n */ from t", "select a, -- x\\y\n b from t"])
@pytest.mark.parametrize("dialect", ["flink", "openmldb", "sqlstream", "spark"])
def test_other_comments_stay(sql: str, dialect: str) -> None:
    assert translate(sql, dialect=dialect) == sql


def test_comments_of_sparks_own_sql_are_as_spark_reads_them() -> None:
    assert translate(LINES[0], dialect="spark") == LINES[0]


def test_a_comment_of_openmldb() -> None:
    assert translate("select a -- b # c\n# d\\\nfrom t /* # */", dialect="openmldb") == (
        "select a -- b # c\n-- d\\ \nfrom t /* # */"
    )


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("flink", "SELECT k FROM t GROUP /* c */ BY TUMBLE(ts, INTERVAL '5' MINUTE), k ORDER -- c\n BY k"),
        ("flink", "SELECT sum(v) OVER (PARTITION /* c */ BY k ORDER /* c */ BY ts ROWS 2 PRECEDING) AS s FROM t"),
        ("openmldb", "SELECT sum(v) OVER (PARTITION /* c */ BY k ORDER /* c */ BY ts ROWS 2 PRECEDING) AS s FROM t"),
        ("sqlstream", "SELECT sum(v) OVER (PARTITION /* c */ BY k ORDER /* c */ BY ts ROWS 2 PRECEDING) AS s FROM t"),
        ("sqlstream", "SELECT STEP(v BY 5) AS s, count(*) AS n FROM t GROUP -- c\nBY STEP(v BY 5)"),
        ("spark", "SELECT sum(v) OVER (PARTITION /* c */ BY k ORDER /* c */ BY ts ROWS_RANGE 2s PRECEDING) FROM t"),
    ],
)
def test_a_comment_before_by(dialect: str, sql: str) -> None:
    plain = re.sub(r"/[*] c [*]/ |-- c\n ?", "", sql)
    made = translate(sql, dialect=dialect)
    assert re.sub(r"/[*] c [*]/ |-- c\n ?", "", made) == translate(plain, dialect=dialect)


def test_names_before_by() -> None:
    sql = 'SELECT STEP("order" BY 4) AS p, STEP(`group` /* c */ BY 4) AS q FROM t'
    assert translate(sql, "sqlstream") == (
        "SELECT ((`order`) - pmod(`order`, 4)) AS p, ((`group`) - pmod(`group`, 4)) AS q FROM t"
    )
