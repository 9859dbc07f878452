"""What a suite takes for granted that Spark, or a table in Parquet, has in another form.

Each entry overrides fixtures of a suite, as an adapter's own tests do by subclassing.
"""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.basic import expected_catalog
from dbt.tests.adapter.python_model.test_spark import PANDAS_ON_SPARK_MODEL


def fixture(function: Any, name: str) -> Any:
    """A fixture of a class, made of a function of its own fixtures."""
    return pytest.fixture(scope="class", name=name)(function)


def replaced(name: str, function: Any) -> Any:
    """Another fixture in the place of the suite's."""
    return lambda suite: {name: fixture(function, name)}


def added(name: str, files: dict[str, str]) -> Any:
    """Files besides those that the suite's own fixture of this name gives."""

    def override(suite: type) -> dict[str, Any]:
        own = getattr(suite, name)
        function = getattr(own, "__wrapped__", None) or own._get_wrapped_function()

        def given(self: Any) -> dict[str, str]:
            return {**function(self), **files}

        return {name: fixture(given, name)}

    return override


STRING_LITERAL = added("macros", {"spark.sql": "{% macro spark__string_literal(s) %}'{{ s }}'{% endmacro %}"})


def _base_catalog(self: Any, project: Any, profile_user: str) -> Any:
    types = {"id_type": "long", "text_type": "string", "time_type": "timestamp"}
    return expected_catalog.base_expected_catalog(
        project,
        role=profile_user,
        view_type="view",
        table_type="table",
        model_stats=expected_catalog.no_stats(),
        **types,
    )


def _references_catalog(self: Any, project: Any, profile_user: str) -> Any:
    types = {"id_type": "long", "text_type": "string", "time_type": "timestamp", "bigint_type": "long"}
    return expected_catalog.expected_references_catalog(
        project,
        role=profile_user,
        view_type="view",
        table_type="table",
        model_stats=expected_catalog.no_stats(),
        **types,
    )


def given(**values: Any) -> Any:
    """Fixtures that are constants."""

    def override(suite: type) -> dict[str, Any]:
        return {name: fixture(lambda self, value=value: value, name) for name, value in values.items()}

    return override


# A value in SQL, its type in a contract, and what the type is called in an error.
TYPES = [
    ["1", "int", "INT"],
    ["'1'", "string", "STRING"],
    ["true", "boolean", "BOOLEAN"],
    ["cast(1 as decimal(10, 2))", "decimal(10,2)", "DECIMAL"],
    ["date'2013-11-03'", "date", "DATE"],
    ["timestamp'2013-11-03 00:00:00-07:00'", "timestamp", "TIMESTAMP"],
    ["array('a', 'b')", "array<string>", "ARRAY"],
]
CONTRACT = given(string_type="STRING", int_type="INT", data_types=TYPES)

COLUMN_TYPES = """
select
    1::smallint as smallint_col,
    2::int as int_col,
    3::bigint as bigint_col,
    4.0::real as real_col,
    5.0::double as double_col,
    6.0::decimal as numeric_col,
    '7'::string as text_col,
    '8' as varchar_col
"""

UNIT_TEST_VALUES = [
    ["1", "1"],
    ["'1'", "1"],
    ["true", "true"],
    ["DATE'2020-01-02'", "2020-01-02"],
    ["TIMESTAMP'2013-11-03 00:00:00'", "2013-11-03 00:00:00"],
    ["TIMESTAMP_NTZ'2013-11-03 00:00:00'", "2013-11-03 00:00:00"],
    ["1::decimal(10, 2)", "1"],
]


def volatility(word: str | None) -> Any:
    """What CREATE FUNCTION says of a function's volatility; None: nothing."""

    def check(self: Any, sql: str) -> None:
        head = sql.partition("RETURN (")[0]
        assert word in head if word else "DETERMINISTIC" not in head

    return lambda suite: {"check_function_volatility": check}


KOALAS = added(
    "models",
    {"koalas_df.py": PANDAS_ON_SPARK_MODEL},  # what has become of Koalas
)

ADAPTATIONS: dict[str, Any] = {
    "aliases.Aliases": STRING_LITERAL,
    "aliases.AliasErrors": STRING_LITERAL,
    "aliases.SameAliasDifferentSchemas": STRING_LITERAL,
    "basic.DocsGenerate": replaced("expected_catalog", _base_catalog),
    "basic.DocsGenReferences": replaced("expected_catalog", _references_catalog),
    "column_types.PostgresColumnTypes": added("models", {"model.sql": COLUMN_TYPES}),
    "constraints.IncrementalConstraintsColumnsEqual": CONTRACT,
    "constraints.TableConstraintsColumnsEqual": CONTRACT,
    "constraints.ViewConstraintsColumnsEqual": CONTRACT,
    "unit_testing.PostgresUnitTestingTypes": given(data_types=UNIT_TEST_VALUES),
    "functions.DeterministicUDF": volatility("DETERMINISTIC"),
    "functions.NonDeterministicUDF": volatility("NOT DETERMINISTIC"),
    "functions.StableUDF": volatility(None),
    "python_model.PySparkTests": KOALAS,
}
