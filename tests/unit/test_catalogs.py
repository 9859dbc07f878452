"""`database`: the catalog in names of three parts, and what it may be."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.impl import SparkStreamAdapter
from dbt.adapters.sparkstream.messages.sparkerror import SparkError
from dbt.adapters.sparkstream.relation import SparkStreamRelation
from dbt.adapters.sparkstream.spark.namespaces import Namespaces
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.tables.catalog import is_in_catalog
from tests.lib.macros import Macros


def relation(**path: Any) -> SparkStreamRelation:
    made = SparkStreamRelation.create(**{"schema": "shop", "identifier": "bids", **path})
    assert isinstance(made, SparkStreamRelation)
    return made


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ({}, "shop.bids"),
        ({"database": None}, "shop.bids"),
        ({"database": "shop"}, "shop.bids"),  # to dbt-spark, another word for the schema
        ({"database": "lake"}, "lake.shop.bids"),
        (
            {"database": "lake", "quote_policy": {"database": True, "schema": True, "identifier": False}},
            "`lake`.`shop`.bids",
        ),
        ({"schema": None}, "bids"),
    ],
)
def test_names(path: dict[str, Any], name: str) -> None:
    assert str(relation(**path)) == name


@pytest.mark.parametrize("name", ["bids", "BIDS", "Bids"])
@pytest.mark.parametrize("quoted", [False, True])
def test_names_in_another_case(name: str, quoted: bool) -> None:
    """A catalog lists a table as it was made or in lower case, and dbt looks for it as its model's file is called."""
    listed = relation(database="Lake", identifier="BIDS").quote(identifier=quoted)
    assert listed.matches(database="lake", schema="Shop", identifier=name)
    assert not listed.matches(schema="shop", identifier="bid")


def test_parts_of_names() -> None:
    lake = relation(database="lake")
    assert str(lake.include(database=False, schema=False)) == "bids"
    assert str(lake.without_identifier()) == "lake.shop"
    assert str(relation().without_identifier()) == "shop"
    assert str(lake.incorporate(path={"identifier": "asks"})) == "lake.shop.asks"
    assert str(lake.replace_path(database=None)) == "shop.bids"
    assert str(lake.replace(limit=0)).startswith("(select * from lake.shop.bids where false)")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ({}, "shop"),
        ({"schema": "2024", "quote_policy": {"database": False, "schema": True, "identifier": False}}, "`2024`"),
        ({"database": "lake"}, "lake.shop"),
    ],
)
def test_the_list_of_a_schema_has_its_name_as_other_statements(path: dict[str, Any], name: str) -> None:
    """A schema that is called 2024 needs backticks, which `quoting` in dbt_project.yml asks for."""
    listed = Macros(run_query=lambda sql: sql)
    asked = listed.call("sparkstream__list_relations_without_caching", relation(**path))
    assert asked == f"show table extended in {name} like '*'"


def test_a_relation_is_found_under_its_catalog() -> None:
    lake = relation(database="Lake")
    assert lake.matches(database="lake", schema="shop", identifier="bids")  # dbt looks for it in lower case
    assert not lake.matches(database="pond", schema="shop", identifier="bids")
    assert not relation().matches(database="lake", schema="shop", identifier="bids")
    assert SparkStreamAdapter.Relation.get_default_include_policy().database


@pytest.mark.parametrize(
    ("given", "database"), [({}, None), ({"database": "shop"}, None), ({"database": "lake"}, "lake")]
)
def test_a_profile(given: dict[str, str], database: str | None) -> None:
    profile = {"method": "session", "schema": "shop", **given}
    credentials = SparkStreamCredentials.from_dict(SparkStreamCredentials.__pre_deserialize__(profile))
    assert credentials.database == database
    shown = dict(credentials.connection_info())
    assert shown.get("database") == database
    assert ("database" in shown) == (database is not None)


@pytest.mark.parametrize(
    ("table", "is_there"),
    [
        *((name, False) for name in ("bids", "shop.bids", "`shop`.`b.ids`", "spark_catalog.shop.bids")),
        *((name, True) for name in ("lake.shop.bids", "`lake`.`shop`.`bids`")),
    ],
)
def test_whether_a_table_is_in_a_catalog(table: str, is_there: bool) -> None:
    assert is_in_catalog(table) == is_there


def test_a_text_that_is_no_name() -> None:
    with pytest.raises(StreamingError, match=r"alias: shop\.\.\./\.\./bids is no name"):
        is_in_catalog("shop.../../bids")


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("[SCHEMA_NOT_FOUND] The schema `spark_catalog`.`lak` cannot be found.", "Spark has no catalog lak"),
        (
            "Error running query: [SCHEMA_NOT_FOUND] org.apache.spark.sql.catalyst.analysis.NoSuchDatabaseException: "
            "The schema `spark_catalog`.`lak` cannot be found.",
            "Spark has no catalog lak",
        ),
        ("[CATALOG_NOT_FOUND] The catalog `lak` not found.", "Spark has no catalog lak"),
        ("Something else", "Something else"),
        # A row's text decides nothing.
        ("[USER_RAISED_EXCEPTION] [CATALOG_NOT_FOUND] lak", "USER_RAISED_EXCEPTION"),
        ("[USER_RAISED_EXCEPTION] NoSuchNamespaceException: Namespace does not exist", "USER_RAISED_EXCEPTION"),
    ],
)
def test_lists_of_a_catalog_that_is_not_there(told: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Any, name: str, **kwargs: Any) -> None:
        raise SparkError(told)

    monkeypatch.setattr(Namespaces, "execute_macro", fails)
    with pytest.raises(Exception, match=words):
        Namespaces.list_schemas(object.__new__(Namespaces), "lak")


@pytest.mark.parametrize(
    "told",
    [
        "org.apache.iceberg.exceptions.NoSuchNamespaceException: Namespace does not exist: ",
        "(org.apache.iceberg.exceptions.NoSuchNamespaceException) Namespace does not exist: ",
        "[SCHEMA_NOT_FOUND] The schema `` cannot be found.",
    ],
)
def test_a_folder_that_is_no_catalog_yet_has_no_schemas(told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Any, name: str, **kwargs: Any) -> None:
        raise SparkError(told)

    monkeypatch.setattr(Namespaces, "execute_macro", fails)
    assert Namespaces.list_schemas(object.__new__(Namespaces), "lake") == []


@pytest.mark.parametrize(
    ("told", "has_none"),
    [
        ("[MISSING_CATALOG_ABILITY.VIEWS] Catalog `lake` does not support views.", True),
        ("Error running query: org.apache.spark.sql.AnalysisException: Catalog lake does not support views.", True),
        ("[USER_RAISED_EXCEPTION] MISSING_CATALOG_ABILITY: Catalog lake does not support views", False),
        ("Something else: Catalog lake does not support views", False),
    ],
)
def test_a_catalog_without_views(told: str, has_none: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Any, name: str, **kwargs: Any) -> None:
        raise SparkError(told)

    monkeypatch.setattr(Namespaces, "execute_macro", fails)
    if has_none:
        assert Namespaces._views(object.__new__(Namespaces), relation(database="lake")) == []
    else:
        with pytest.raises(SparkError, match="does not support views"):
            Namespaces._views(object.__new__(Namespaces), relation(database="lake"))
