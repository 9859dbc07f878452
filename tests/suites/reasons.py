"""Why a suite can't pass."""

from __future__ import annotations

SNAPSHOTS = "a snapshot is a MERGE: needs Delta, Iceberg or Hudi"
MERGE = "needs MERGE: Delta, Iceberg or Hudi"
DELETE = "needs DELETE: Delta, Iceberg or Hudi"
DATABASES = "needs several databases: Spark has one catalog here"
CONSTRAINTS = "Parquet has no constraints: Delta has"
CLONE = "a clone needs Delta"
DROP_COLUMN = "needs to drop a column: Delta or Iceberg"
ONE_STATEMENT = "Spark takes one statement at a time, so a sql_header can't be one"
JAVASCRIPT = "Spark has no functions in JavaScript"
PYTHON = "CREATE FUNCTION takes no Python"
AGGREGATES = "Spark has no aggregate functions in SQL"
GRANTS = "a Spark without an authorizer has no GRANT"
MATERIALIZED_VIEWS = "Spark has no materialized views"

# A folder, or a suite in it -> why not.
REASONS: dict[str, str] = {
    "aliases.SameAliasDifferentDatabases": DATABASES,
    "basic.SnapshotCheckCols": SNAPSHOTS,
    "basic.SnapshotTimestamp": SNAPSHOTS,
    "constraints.IncrementalConstraintsRollback": CONSTRAINTS,
    "constraints.IncrementalContractSqlHeader": ONE_STATEMENT,
    "constraints.TableConstraintsRollback": CONSTRAINTS,
    "constraints.TableContractSqlHeader": ONE_STATEMENT,
    "dbt_clone.ClonePossible": CLONE,
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
    "hooks.PrePostModelHooksOnSnapshots": SNAPSHOTS,
    "hooks.PrePostSnapshotHooksInConfigKwargs": SNAPSHOTS,
    "incremental.IncrementalPredicatesDeleteInsert": DELETE,
    "incremental.IncrementalUniqueKey": MERGE,
    "incremental.MergeExcludeColumns": MERGE,
    "incremental.PredicatesDeleteInsert": DELETE,
    "empty.EmptySeedFlag": "`dbt seed --empty` needs a newer dbt-core",
    "functions.CanFindScalarFunctionRelation": "dbt-spark lists tables and views, and no functions",
    "materialized_view": MATERIALIZED_VIEWS,
    "simple_snapshot": SNAPSHOTS,
}


def reason(suite: str) -> str | None:
    """Why a suite can't pass; None if it can."""
    return REASONS.get(suite) or REASONS.get(suite.partition(".")[0])
