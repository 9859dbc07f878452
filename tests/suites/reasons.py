"""Why a suite can't pass."""

from __future__ import annotations

SNAPSHOTS = "a snapshot is a MERGE: needs Delta, Iceberg or Hudi"
MERGE = "needs MERGE: Delta, Iceberg or Hudi"
DELETE = "needs DELETE: Delta, Iceberg or Hudi"
DATABASES = "needs several databases: Spark has one catalog here"
JAVASCRIPT = "Spark has no functions in JavaScript"
PYTHON = "CREATE FUNCTION takes no Python"
AGGREGATES = "Spark has no aggregate functions in SQL"
GRANTS = "a Spark without an authorizer has no GRANT"
MATERIALIZED_VIEWS = "Spark has no materialized views"

# A folder, or a suite in it -> why not.
REASONS: dict[str, str] = {
    "aliases.SameAliasDifferentDatabases": DATABASES,
    "basic.GetCatalogForSingleRelation": "dbt-spark has no catalog of a single relation",
    "basic.SnapshotCheckCols": SNAPSHOTS,
    "basic.SnapshotTimestamp": SNAPSHOTS,
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
    "grants.ModelGrants": GRANTS,
    "grants.SeedGrants": GRANTS,
    "grants.SnapshotGrants": GRANTS,
    "hooks.PrePostModelHooksOnSnapshots": SNAPSHOTS,
    "hooks.PrePostSnapshotHooksInConfigKwargs": SNAPSHOTS,
    "incremental.IncrementalPredicatesDeleteInsert": DELETE,
    "incremental.IncrementalUniqueKey": MERGE,
    "incremental.MergeExcludeColumns": MERGE,
    "incremental.PredicatesDeleteInsert": DELETE,
    "materialized_view": MATERIALIZED_VIEWS,
    "simple_snapshot": SNAPSHOTS,
}


def reason(suite: str) -> str | None:
    """Why a suite can't pass; None if it can."""
    return REASONS.get(suite) or REASONS.get(suite.partition(".")[0])
