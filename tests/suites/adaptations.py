"""What a suite takes for granted that Spark, or a table in Parquet, has in another form.

Each entry overrides fixtures of a suite, as an adapter's own tests do by subclassing.
"""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.adapter.basic import expected_catalog
from dbt.tests.adapter.python_model.test_spark import PANDAS_ON_SPARK_MODEL
from dbt.tests.adapter.simple_seed.seeds import seeds__expected_sql
from dbt.tests.util import AnyInteger, check_relations_equal, run_dbt

from tests.integration.targets import Target
from tests.suites.reasons import COMMENTS, DROP_COLUMN, MATERIALIZED_VIEWS


def profile_output(target: Target) -> dict[str, Any]:
    """A target of a profile; dbt's fixtures set the schema, and ask for the user."""
    return {**target.output("replaced"), "threads": 2, "user": getpass.getuser()}


def fixture(function: Any, name: str) -> Any:
    """A fixture of a class, made of a function of its own fixtures."""
    return pytest.fixture(scope="class", name=name)(function)


def replaced(name: str, function: Any) -> Any:
    """Another fixture in the place of the suite's."""
    return lambda suite: {name: fixture(function, name)}


def added(name: str, files: dict[str, str]) -> Any:
    """Files besides those that the suite's own fixture of this name gives."""

    def override(suite: type) -> dict[str, Any]:
        function = _function_of(getattr(suite, name))

        def given(self: Any) -> dict[str, str]:
            return {**function(self), **files}

        return {name: fixture(given, name)}

    return override


STRING_LITERAL = added("macros", {"spark.sql": "{% macro spark__string_literal(s) %}'{{ s }}'{% endmacro %}"})


def edited(name: str, *changes: tuple[str, str]) -> Any:
    """The files of the suite's own fixture of this name, with other words in their texts."""

    def override(suite: type) -> dict[str, Any]:
        function = _function_of(getattr(suite, name))

        def given(self: Any) -> dict[str, str]:
            files: dict[str, str] = dict(function(self))
            for path, text in files.items():
                for old, new in changes:
                    text = text.replace(old, new)
                files[path] = text
            return files

        return {name: fixture(given, name)}

    return override


def both(*adaptations: Any) -> Any:
    """Several adaptations of one suite."""
    return lambda suite: {name: value for adaptation in adaptations for name, value in adaptation(suite).items()}


def _function_of(fixture_definition: Any) -> Any:
    return getattr(fixture_definition, "__wrapped__", None) or fixture_definition._get_wrapped_function()


CATALOG = {
    "id_type": "long",
    "text_type": "string",
    "time_type": "timestamp",
    "view_type": "view",
    "table_type": "table",
    "model_stats": expected_catalog.no_stats(),
}


def _base_catalog(self: Any, project: Any, profile_user: str) -> Any:
    return expected_catalog.base_expected_catalog(project, role=profile_user, **CATALOG)


def _references_catalog(self: Any, project: Any, profile_user: str) -> Any:
    found = expected_catalog.expected_references_catalog(project, role=profile_user, bigint_type="long", **CATALOG)
    for kind in ("nodes", "sources"):
        for node in found[kind].values():
            for column in node["columns"].values():
                column["index"] = AnyInteger()
    # Spark knows the size of a table that a query has made, and not of a seed's.
    found["nodes"]["model.test.ephemeral_summary"].pop("stats")
    return found


def given(**values: Any) -> Any:
    """Fixtures that are constants."""

    def override(suite: type) -> dict[str, Any]:
        return {name: fixture(lambda self, value=value: value, name) for name, value in values.items()}

    return override


# A value in SQL, its type in a contract, and what the type is called in an error.
TYPES = [
    ["1", "int", "int"],
    ["'1'", "string", "string"],
    ["true", "boolean", "boolean"],
    ["cast(1 as decimal(10, 2))", "decimal(10,2)", "decimal"],
    ["date'2013-11-03'", "date", "date"],
    ["timestamp'2013-11-03 00:00:00-07:00'", "timestamp", "timestamp"],
    ["array('a', 'b')", "array<string>", "array"],
]
ENFORCED = """\
        constraints:
          - type: not_null
          - type: primary_key
          - type: check
            expression: (id > 0)
"""
CONTRACT = both(
    given(string_type="string", int_type="int", data_types=TYPES),
    # Constraints are for other suites.
    edited(
        "models",
        ("data_type: text", "data_type: string"),
        (ENFORCED + "          - type: check\n            expression: id >= 1\n", ""),
        (ENFORCED, ""),
    ),
)

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


def _expected_seed(self: Any, project: Any) -> None:
    """The table that a seed is compared with; the suite's own makes it in one text of PostgreSQL."""
    text = seeds__expected_sql.replace('"', "`").replace("TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP")
    # The rows have times as texts, which Spark writes into a TIMESTAMP only on request.
    project.run_sql("set spark.sql.storeAssignmentPolicy = LEGACY")
    for statement in text.replace("TEXT", "STRING").replace("INTEGER", "BIGINT").split(";"):
        if statement.strip():
            project.run_sql(statement)
    project.run_sql("reset spark.sql.storeAssignmentPolicy")


def seed_suite(suite: type) -> dict[str, Any]:
    """A suite that compares seeds with such a table."""
    return {"setUp": pytest.fixture(scope="class", autouse=True, name="setUp")(_expected_seed)}


def _ephemeral_multi(self: Any, project: Any) -> None:
    run_dbt(["seed"])
    assert len(run_dbt(["run"])) == 3
    for name in ("dependent", "double_dependent", "super_dependent"):
        check_relations_equal(project.adapter, ["seed", name])
    _same_sql(
        "double_dependent",
        f"create or replace view {project.test_schema}.double_dependent as with __dbt__cte__base as ("
        f"select * from {project.test_schema}.seed), __dbt__cte__base_copy as (select * from __dbt__cte__base)"
        "-- base_copy just pulls from base. Make sure the listed-- graph of CTEs all share the same dbt_cte__base cte"
        "select * from __dbt__cte__base where gender = 'Male'"
        "union all select * from __dbt__cte__base_copy where gender = 'Female'",
    )


def _ephemeral_nested(self: Any, project: Any) -> None:
    assert len(run_dbt(["run"])) == 2
    _same_sql(
        "root_view",
        f"create or replace view {project.test_schema}.root_view as with __dbt__cte__ephemeral_level_two as ("
        f"select * from {project.test_schema}.source_table), __dbt__cte__ephemeral as ("
        "select * from __dbt__cte__ephemeral_level_two) select * from __dbt__cte__ephemeral",
    )


def _same_sql(model: str, expected: str) -> None:
    """What ran, but for white space: the suites compare it with PostgreSQL's."""
    text = Path(f"target/run/test/models/{model}.sql").read_text()
    assert "".join(text.split()) == "".join(expected.split())


def without(test: str, reason: str) -> Any:
    """A suite but for one of its tests."""

    @pytest.mark.skip(reason=reason)
    def left_out(self: Any) -> None: ...

    return lambda suite: {test: left_out}


MICROBATCH = """
{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='event_time', batch_size='day',
          begin=modules.datetime.datetime(2020, 1, 1, 0, 0, 0), partition_by='day') }}
select *, cast(event_time as date) as day from {{ ref('input_model') }}
"""

KOALAS = added(
    "models",
    {"koalas_df.py": PANDAS_ON_SPARK_MODEL},  # what has become of Koalas
)


def _own_target(self: Any, target: Target) -> dict[str, Any]:
    return profile_output(target)


SEED_SUITES = (
    "BasicSeedTests",
    "SeedConfigFullRefreshOff",
    "SeedConfigFullRefreshOn",
    "SeedCustomSchema",
    "SeedParsing",
    "SeedSpecificFormats",
    "SeedWithEmptyDelimiter",
    "SeedWithUniqueDelimiter",
    "SeedWithWrongDelimiter",
    "SimpleSeedWithBOM",
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
    "dbt_show.ShowDoesNotHandleDoubleLimit": lambda suite: {
        "DATABASE_ERROR_MESSAGE": "[PARSE_SYNTAX_ERROR] Syntax error at or near 'limit'"
    },
    "ephemeral.EphemeralMulti": lambda suite: {"test_ephemeral_multi": _ephemeral_multi},
    "ephemeral.EphemeralNested": lambda suite: {"test_ephemeral_nested": _ephemeral_nested},
    "incremental.IncrementalOnSchemaChange": without("test_run_incremental_sync_all_columns", DROP_COLUMN),
    "incremental.Microbatch": given(microbatch_model_sql=MICROBATCH),
    "persist_docs.PersistDocsColumnMissing": without("test_missing_column", COMMENTS),
    "python_model.PySparkTests": KOALAS,
    "python_model.PythonIncrementalTests": given(project_config_update={"models": {"+incremental_strategy": "append"}}),
    "simple_copy.SimpleCopyBase": without("test_simple_copy_with_materialized_views", MATERIALIZED_VIEWS),
    "simple_copy.SimpleCopyUppercase": replaced("dbt_profile_target", _own_target),
    **{f"simple_seed.{name}": seed_suite for name in SEED_SUITES},
}
