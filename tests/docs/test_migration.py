"""Queries side by side: what is on the left of a page about coming here gives the rows of what is on the right."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.sql import translate
from tests.docs.blocks import PAGES, Block, blocks
from tests.docs.tables import TABLES
from tests.functional.adapter.project import Project
from tests.unit.test_docs import SCHEMA

pytestmark = pytest.mark.long

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAIRED = [page for page in PAGES if page.startswith("docs/migrate/")]
PAIRS: dict[str, tuple[Block, Block]] = {
    str(left): (left, right)
    for page in PAIRED
    for left, right in zip(blocks(page)[::2], blocks(page)[1::2], strict=True)
}


def name(place: str) -> str:
    return "right_" + "".join(c if c.isalnum() else "_" for c in place)


@pytest.fixture(scope="module")
def project(make_project: Callable[..., Project], embedded: SparkSession) -> Project:
    models = {f"models/{name(place)}.sql": right.text for place, (_, right) in PAIRS.items()}
    made = make_project({**models, **{f"models/{table}.sql": text for table, text in TABLES.items()}})
    made.dbt("run")
    return made


def rows(spark: SparkSession, query: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in spark.sql(query).collect()), key=str)


@pytest.mark.parametrize("place", PAIRS)
def test_both_sides(place: str, project: Project, embedded: SparkSession) -> None:
    left, right = PAIRS[place]
    assert left.dialect and right.title == "model"
    for table in TABLES:
        embedded.sql(f"CREATE OR REPLACE TEMP VIEW {table} AS SELECT * FROM {project.schema}.{table}")
    try:
        written = rows(embedded, translate(left.text, left.dialect, schema=SCHEMA))
    finally:
        for table in TABLES:
            embedded.catalog.dropTempView(table)
    assert written
    assert rows(embedded, f"SELECT * FROM {project.schema}.{name(place)}") == written
