"""Reasons why a suite, or a part of one, can't pass with tables in a format."""

from __future__ import annotations

SNAPSHOTS = "a snapshot is a MERGE: needs Delta, Iceberg or Hudi"
MERGE = "needs MERGE: Delta, Iceberg or Hudi"
DELETE = "needs DELETE: Delta, Iceberg or Hudi"
DATABASES = "needs several databases, and dbt-spark knows none above a schema"
CONSTRAINTS = "Spark enforces no constraint on a table in Parquet or Iceberg; Delta enforces some"
CLONE = "a clone that is a table needs Delta; elsewhere it is a view (see CloneNotPossible)"
DROP_COLUMN = "needs to drop a column: dbt-spark refuses it, and Spark in Parquet"
SQL_HEADER = "dbt-spark's tables take no sql_header: Spark takes one statement at a time"
JAVASCRIPT = "Spark has no functions in JavaScript"
PYTHON = "CREATE FUNCTION takes no Python"
AGGREGATES = "Spark has no aggregate functions in SQL"
FUNCTIONS = "dbt-spark lists tables and views; functions would be one more query for each schema in every run"
GRANTS = "Spark has no GRANT: that is Databricks' or an authorizer's"
MATERIALIZED_VIEWS = "Spark has materialized views in its declarative pipelines alone"

ICEBERGS_FUNCTIONS = "Iceberg's catalog makes no functions"
UNKNOWN = "Iceberg has no type for a column that is NULL in all rows"
TEXTS_AS_TIMES = "the suite inserts texts into columns of dates and times, which Iceberg refuses"
ORDER = "the suite takes rows in the order in which they were put in"

# A folder, or a suite in it -> why not, in any format.
REASONS: dict[str, str] = {
    "aliases.SameAliasDifferentDatabases": DATABASES,
    "constraints.IncrementalContractSqlHeader": SQL_HEADER,
    "constraints.TableContractSqlHeader": SQL_HEADER,
    "functions.BasicJSAggregateUDF": JAVASCRIPT,
    "functions.BasicJSUDF": JAVASCRIPT,
    "functions.BasicSQLUDAF": AGGREGATES,
    "functions.JSAggregateUDFVolatilityIgnored": JAVASCRIPT,
    "functions.JSUDFDefaultArgSupport": JAVASCRIPT,
    "functions.JSUDFDeterministicVolatility": JAVASCRIPT,
    "functions.JSUDFMultiLineBody": JAVASCRIPT,
    "functions.JSUDFNonDeterministicVolatility": JAVASCRIPT,
    "functions.JSUDFStableVolatilityWarns": JAVASCRIPT,
    "functions.PythonUDAFDefaultArgSupport": PYTHON,
    "functions.PythonUDFDefaultArgSupport": PYTHON,
    "functions.PythonUDFEntryPointRequired": PYTHON,
    "functions.PythonUDFVolatilitySupport": PYTHON,
    "functions.PythonUDFWithPackagesSupported": PYTHON,
    "grants.IncrementalGrants": GRANTS,
    "grants.InvalidGrants": GRANTS,
    "grants.ModelGrants": GRANTS,
    "grants.SeedGrants": GRANTS,
    "grants.SnapshotGrants": GRANTS,
    "empty.EmptySeedFlag": "`dbt seed --empty` needs a newer dbt-core",
    "functions.CanFindScalarFunctionRelation": FUNCTIONS,
    "materialized_view": MATERIALIZED_VIEWS,
}

# The same, for one format.
REASONS_OF_FORMAT: dict[str, dict[str, str]] = {
    "parquet": {
        "basic.SnapshotCheckCols": SNAPSHOTS,
        "basic.SnapshotTimestamp": SNAPSHOTS,
        "constraints.IncrementalConstraintsRollback": CONSTRAINTS,
        "constraints.TableConstraintsRollback": CONSTRAINTS,
        "dbt_clone.ClonePossible": CLONE,
        "hooks.PrePostModelHooksOnSnapshots": SNAPSHOTS,
        "hooks.PrePostSnapshotHooksInConfigKwargs": SNAPSHOTS,
        "incremental.IncrementalPredicatesDeleteInsert": DELETE,
        "incremental.IncrementalUniqueKey": MERGE,
        "incremental.MergeExcludeColumns": MERGE,
        "incremental.PredicatesDeleteInsert": DELETE,
        "simple_snapshot": SNAPSHOTS,
    },
    "delta": {
        "simple_snapshot.SnapshotDbtValidToCurrent": ORDER,
    },
    "iceberg": {
        "constraints.IncrementalConstraintsRollback": CONSTRAINTS,
        "constraints.TableConstraintsRollback": CONSTRAINTS,
        "dbt_clone.ClonePossible": CLONE,
        "functions.DeterministicUDF": ICEBERGS_FUNCTIONS,
        "functions.NonDeterministicUDF": ICEBERGS_FUNCTIONS,
        "functions.StableUDF": ICEBERGS_FUNCTIONS,
        "incremental.IncrementalUniqueKey": TEXTS_AS_TIMES,
        **dict.fromkeys(
            (
                "simple_snapshot.SnapshotColumnNames",
                "simple_snapshot.SnapshotColumnNamesFromDbtProject",
                "simple_snapshot.SnapshotDbtValidToCurrent",
                "simple_snapshot.SnapshotEphemeralHardDeletes",
                "simple_snapshot.SnapshotInvalidColumnNames",
                "simple_snapshot.SnapshotMultiUniqueKey",
                "simple_snapshot.SnapshotNewColumnSpecificCheckCols",
                "simple_snapshot.SnapshotNewColumnTimestampStrategy",
                "simple_snapshot.SnapshotNewColumnWithDeletes",
                "simple_snapshot.SnapshotNewRecordCheckMode",
            ),
            TEXTS_AS_TIMES,
        ),
        "utils.MixedNullCompare": UNKNOWN,
        "utils.NullCompare": UNKNOWN,
    },
}

# A suite that can pass but for one test -> that test, and why not.
PARTS: dict[str, tuple[str, str]] = {
    "simple_copy.SimpleCopyBase": ("test_simple_copy_with_materialized_views", MATERIALIZED_VIEWS),
}
PARTS_OF_FORMAT: dict[str, dict[str, tuple[str, str]]] = {
    "parquet": {"incremental.IncrementalOnSchemaChange": ("test_run_incremental_sync_all_columns", DROP_COLUMN)},
    "delta": {},
    "iceberg": {},
}


def reason(suite: str, file_format: str) -> str | None:
    """Why a suite can't pass with tables in a format; None if it can."""
    for reasons in (REASONS, REASONS_OF_FORMAT[file_format]):
        if found := reasons.get(suite) or reasons.get(suite.partition(".")[0]):
            return found
    return None


def part_left_out(suite: str, file_format: str) -> tuple[str, str] | None:
    """The test of a suite that can't pass with tables in a format, and why not."""
    return PARTS.get(suite) or PARTS_OF_FORMAT[file_format].get(suite)
