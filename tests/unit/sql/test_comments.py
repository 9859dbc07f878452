"""Comments that Spark reads otherwise than the dialect of a text."""

from __future__ import annotations

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
