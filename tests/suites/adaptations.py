"""Adaptations of the suites, for things that Spark, or a table in Parquet, has in another form.

Each entry overrides fixtures of a suite, as an adapter's own tests do by subclassing.
"""

from __future__ import annotations

import getpass
from pathlib import Path
from shutil import copy
from typing import Any
from unittest.mock import ANY

import pytest
from dbt.tests.adapter.basic import expected_catalog
from dbt.tests.adapter.catalog import files
from dbt.tests.adapter.python_model.test_spark import PANDAS_ON_SPARK_MODEL
from dbt.tests.adapter.simple_seed import seeds
from dbt.tests.adapter.utils.test_current_timestamp import BaseCurrentTimestampNaive
from dbt.tests.util import AnyInteger, check_relations_equal, get_connection, run_dbt
from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, TableMetadata

from tests.integration.targets import Target
from tests.suites import clone, hooks
from tests.suites.adapting import added, both, edited, given, instead, replaced


def profile_output(target: Target) -> dict[str, Any]:
    """A target of a profile; dbt's fixtures set the schema, and ask for the user."""
    return {**target.output("replaced"), "threads": 2, "user": getpass.getuser()}


STRING_LITERAL = added("macros", {"spark.sql": "{% macro spark__string_literal(s) %}'{{ s }}'{% endmacro %}"})


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


def references_catalog(project: Any, profile_user: str, bigint: str = "long") -> Any:
    """The catalog that a suite expects; `bigint` is what it calls the type."""
    types = {**CATALOG, "id_type": bigint, "bigint_type": bigint}
    found = expected_catalog.expected_references_catalog(project, role=profile_user, **types)
    for kind in ("nodes", "sources"):
        for node in found[kind].values():
            for column in node["columns"].values():
                column["index"] = AnyInteger()
    # Spark knows the size of a table that a query has made, and not of a seed's.
    found["nodes"]["model.test.ephemeral_summary"].pop("stats")
    return found


def _references_catalog(self: Any, project: Any, profile_user: str) -> Any:
    return references_catalog(project, profile_user)


def _single_catalog(name: str, kind: str, columns: dict[str, str]) -> Any:
    def expected(self: Any, project: Any) -> CatalogTable:
        return CatalogTable(
            metadata=TableMetadata(kind, project.test_schema, name, owner=getpass.getuser()),
            columns={
                column: ColumnMetadata(type_, index, column) for index, (column, type_) in enumerate(columns.items())
            },
            stats=ANY,  # Spark knows the size of what a query has made
        )

    return expected


SEED_COLUMNS = {"id": "bigint", "first_name": "string", "email": "string", "ip_address": "string"}
SEED_COLUMNS |= {"updated_at": "timestamp"}


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
CONTRACT_TEXT = edited("models", ("data_type: text", "data_type: string"), ('"from"', "from"))
CONTRACT = both(CONTRACT_TEXT, given(string_type="string", int_type="int", data_types=TYPES))
CONTRACT_SQL = """
create table <model_identifier> as
select id, color, date_day from (
    -- depends_on: <foreign_key_model_identifier>
    select 'blue' as color, 1 as id, '2019-01-01' as date_day
) as model_subq
"""
# The contract holds, the constraints are documentation.
CONTRACT_DDL = both(CONTRACT_TEXT, given(expected_sql=CONTRACT_SQL))
QUOTED_COLUMN_SQL = """
create table <model_identifier> as
select id, `from`, date_day from (select 'blue' as `from`, 1 as id, '2019-01-01' as date_day) as model_subq
"""

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
    text = seeds.seeds__expected_sql.format(schema=project.test_schema).replace('"', "`").replace("TEXT", "STRING")
    text = text.replace("TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP").replace("INTEGER", "BIGINT")
    statements = [statement for statement in text.split(";") if statement.strip()]
    # The rows have times as texts, which Spark writes into a TIMESTAMP only on request, and never into a table in
    # Iceberg; a server forgets the request when its connection ends.
    policy = "spark.sql.storeAssignmentPolicy"
    with get_connection(project.adapter) as connection:

        def tell(statement: str) -> None:
            project.adapter.run_sql_for_tests(statement, None, connection)

        tell(f"set {policy} = LEGACY")
        try:
            for statement in statements:
                tell(f"{statement} USING parquet" if statement.strip().startswith("create table") else statement)
        finally:
            tell(f"reset {policy}")


def _expected_and_bom(self: Any, project: Any) -> None:
    _expected_seed(self, project)
    copy(Path(seeds.__file__).parent / "seed_bom.csv", Path(project.project_root) / "seeds")


def _set_up(function: Any) -> Any:
    return pytest.fixture(scope="class", autouse=True, name="setUp")(function)


def seed_suite(suite: type) -> dict[str, Any]:
    """A suite that compares seeds with such a table; no view goes with its table in Spark."""
    original: Any = getattr(suite, "_check_relation_end_state", None)

    def end_state(self: Any, run_result: Any, project: Any, exists: bool) -> None:
        original(self, run_result, project, exists=True)

    return {"setUp": _set_up(_expected_seed), "_check_relation_end_state": end_state}


SEED_TYPES = {
    "seed_enabled_types": staticmethod(lambda: {"seed_id": "string", "birthday": "date"}),
    "seed_tricky_types": staticmethod(
        lambda: dict.fromkeys(("seed_id_str", "looks_like_a_bool", "looks_like_a_date"), "string")
    ),
}
SEED_COLUMN_TYPES = both(
    lambda suite: SEED_TYPES,
    edited(
        "models",
        ("type: text", "type: string"),
        ("type: integer", "type: bigint"),
        ("type: timestamp without time zone", "type: timestamp"),
    ),
)


def _empty_models(self: Any, project: Any) -> None:
    """The suite's own asks PostgreSQL's information_schema which tables there are."""
    run_dbt(["seed"])
    assert len(run_dbt()) == 7
    relations = project.adapter.list_relations(database=project.database, schema=project.test_schema)
    assert not {"empty", "disabled"} & {relation.identifier for relation in relations}


def _same_in_cache(self: Any, project: Any, run_args: list[str] | None = None) -> None:
    """The suite's own compares the names of databases too: a relation of dbt-spark has none."""
    relations = []
    for _ in range(2):
        run_dbt(run_args)
        [relation] = project.adapter.cache.relations
        assert relation.schema == project.test_schema
        relations.append((relation.schema.lower(), relation.identifier.lower()))
    assert relations[0] == relations[1]


CACHE = instead("run_and_inspect_cache", _same_in_cache)

RELATION_TYPES = (("seed.test.my_seed", "table"), ("model.test.my_table", "table"), ("model.test.my_view", "view"))


@pytest.mark.parametrize(("node_name", "relation_type"), RELATION_TYPES)
def _relation_types(self: Any, docs: Any, node_name: str, relation_type: str) -> None:
    assert docs.nodes[node_name].metadata.type == relation_type


def _tables_and_views(self: Any) -> dict[str, str]:
    return {"my_table.sql": files.MY_TABLE, "my_view.sql": files.MY_VIEW}


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
    "SeedWithEmptyDelimiter",
    "SeedWithUniqueDelimiter",
    "SeedWithWrongDelimiter",
)


def seed_types(**types: str) -> Any:
    """The type of a column in a seed, where Spark would take another one."""
    config = "seeds: [{name: expected, config: {column_types: {%s}}}]"
    return added("seeds", {"expected.yml": config % ", ".join(f"{name}: {type_}" for name, type_ in types.items())})


ADAPTATIONS: dict[str, Any] = {
    "aliases.Aliases": STRING_LITERAL,
    "aliases.AliasErrors": STRING_LITERAL,
    "aliases.SameAliasDifferentSchemas": STRING_LITERAL,
    "basic.DocsGenerate": replaced("expected_catalog", _base_catalog),
    "basic.DocsGenReferences": replaced("expected_catalog", _references_catalog),
    "basic.GetCatalogForSingleRelation": both(
        replaced("expected_catalog_my_seed", _single_catalog("my_seed", "table", SEED_COLUMNS)),
        replaced("expected_catalog_my_view_model", _single_catalog("my_view_model", "view", SEED_COLUMNS)),
    ),
    **dict.fromkeys(
        (
            "caching.CachingLowerCaseModel",
            "caching.CachingSelectedSchemaOnly",
            "caching.CachingUppercaseModel",
            "caching.NoPopulateCache",
        ),
        CACHE,
    ),
    # Spark has no materialized views.
    "catalog.CatalogRelationTypes": both(
        replaced("models", _tables_and_views),
        instead("test_relation_types_populate_correctly", _relation_types),
    ),
    "dbt_clone.CloneSameSourceAndTarget": instead("test_clone_same_source_and_target", clone.clone_onto_itself),
    "dbt_clone.CloneSameTargetAndState": both(
        given(snapshots={}), instead("test_clone_same_target_and_state", clone.clone_of_the_same_state)
    ),
    "dbt_clone.PostgresCloneNotPossible": both(
        given(snapshots={}), instead("test_can_clone_false", clone.clone_as_views)
    ),
    "hooks.HookRefs": hooks.MODEL_HOOKS,
    "hooks.PrePostModelHooks": hooks.MODEL_HOOKS,
    "hooks.PrePostModelHooksInConfig": hooks.MODEL_HOOKS,
    "hooks.PrePostModelHooksInConfigKwargs": hooks.MODEL_HOOKS,
    "hooks.PrePostModelHooksInConfigWithCount": hooks.MODEL_HOOKS,
    "hooks.PrePostModelHooksUnderscores": hooks.MODEL_HOOKS,
    "hooks.PrePostModelHooksOnSeeds": hooks.SEED_HOOKS,
    "hooks.PrePostModelHooksOnSeedsPlusPrefixed": hooks.SEED_HOOKS,
    "hooks.PrePostModelHooksOnSeedsPlusPrefixedWhitespace": hooks.SEED_HOOKS,
    "hooks.PrePostRunHooks": hooks.RUN_HOOKS,
    "simple_copy.EmptyModelsArentRun": instead("test_dbt_doesnt_run_empty_models", _empty_models),
    "simple_seed.SimpleSeedColumnOverride": SEED_COLUMN_TYPES,
    # A table can't have dots in its name.
    "simple_seed.SeedSpecificFormats": given(
        project_config_update={
            "seeds": {"quote_columns": False, "test": {"seed.with.dots": {"alias": "seed_with_dots"}}}
        }
    ),
    "simple_seed.SimpleSeedWithBOM": instead("setUp", _set_up(_expected_and_bom)),
    "column_types.PostgresColumnTypes": added("models", {"model.sql": COLUMN_TYPES}),
    "constraints.IncrementalConstraintsColumnsEqual": CONTRACT,
    "constraints.TableConstraintsColumnsEqual": CONTRACT,
    "constraints.ViewConstraintsColumnsEqual": CONTRACT,
    "constraints.ConstraintQuotedColumn": both(CONTRACT_TEXT, given(expected_sql=QUOTED_COLUMN_SQL)),
    "constraints.IncrementalConstraintsRuntimeDdlEnforcement": CONTRACT_DDL,
    "constraints.ModelConstraintsRuntimeEnforcement": CONTRACT_DDL,
    "constraints.TableConstraintsRuntimeDdlEnforcement": CONTRACT_DDL,
    "constraints.IncrementalForeignKeyConstraint": CONTRACT_TEXT,
    "utils.CurrentTimestamp": instead(
        "test_current_timestamp_type", BaseCurrentTimestampNaive.test_current_timestamp_type
    ),
    "utils.CurrentTimestamps": given(
        expected_sql=None,
        expected_schema=dict.fromkeys(
            ("current_timestamp", "current_timestamp_in_utc_backcompat", "current_timestamp_backcompat"), "timestamp"
        ),
    ),
    # As a view it is too long for Derby's metastore.
    "utils.DateDiff": given(project_config_update={"models": {"+materialized": "table"}}),
    "utils.GetIntervalsBetween": edited("models", ("09/01/2023", "2023-09-01"), ("09/12/2023", "2023-09-12")),
    "utils.TypeFloat": seed_types(float_col="float"),
    "utils.TypeInt": seed_types(int_col="int"),
    "unit_testing.UnitTestQuotedReservedWordColumnNames": edited("models", ('"GROUP"', "`GROUP`")),
    "unit_testing.PostgresUnitTestingTypes": given(data_types=UNIT_TEST_VALUES),
    "functions.DeterministicUDF": volatility("DETERMINISTIC"),
    "functions.NonDeterministicUDF": volatility("NOT DETERMINISTIC"),
    "functions.StableUDF": volatility(None),
    "dbt_show.ShowDoesNotHandleDoubleLimit": lambda suite: {
        "DATABASE_ERROR_MESSAGE": "[PARSE_SYNTAX_ERROR] Syntax error at or near 'limit'"
    },
    # A column of Parquet can't be dropped.
    "empty.MetadataWithEmptyFlag": edited(
        "models",
        ('"MY_VALUE", "varchar"', '"my_value", "string"'),
        ("{% do alter_relation_add_remove_columns(my_seed, none, [my_column]) %}", ""),
        ('api.Column("my_column", "varchar")', 'api.Column("my_column", "string")'),
    ),
    "ephemeral.EphemeralMulti": lambda suite: {"test_ephemeral_multi": _ephemeral_multi},
    "ephemeral.EphemeralNested": lambda suite: {"test_ephemeral_nested": _ephemeral_nested},
    "incremental.Microbatch": given(microbatch_model_sql=MICROBATCH),
    # Hive's metastore has no room for longer comments.
    "persist_docs.PersistDocs": edited("properties", ("80% of statistics are made up on the spot\n", "")),
    "python_model.PySparkTests": KOALAS,
    "python_model.PythonIncrementalTests": given(project_config_update={"models": {"+incremental_strategy": "append"}}),
    "simple_copy.SimpleCopyUppercase": replaced("dbt_profile_target", _own_target),
    **{f"simple_seed.{name}": seed_suite for name in SEED_SUITES},
}
