"""Why a suite can't pass."""

from __future__ import annotations

SNAPSHOTS = "a snapshot is a MERGE: needs Delta, Iceberg or Hudi"
MERGE = "needs MERGE: Delta, Iceberg or Hudi"
DELETE = "needs DELETE: Delta, Iceberg or Hudi"
DATABASES = "needs several databases: Spark has one catalog here"
NO_DATABASE = "compares the names of databases: a relation of dbt-spark has none"
COMMENTS = "dbt-spark gives comments to the columns of Delta alone"
CONSTRAINTS = "Parquet has no constraints: Delta has"
CLONE = "a clone needs Delta"
UPDATE = "needs UPDATE: Delta, Iceberg or Hudi"
DROP_COLUMN = "needs to drop a column: Delta or Iceberg"
POSTGRES = "written for PostgreSQL, and not adapted"
ONE_STATEMENT = "Spark takes one statement at a time, so a sql_header can't be one"
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
    "constraints.ConstraintQuotedColumn": CONSTRAINTS,
    "constraints.IncrementalConstraintsRollback": CONSTRAINTS,
    "constraints.IncrementalConstraintsRuntimeDdlEnforcement": CONSTRAINTS,
    "constraints.IncrementalContractSqlHeader": ONE_STATEMENT,
    "constraints.IncrementalForeignKeyConstraint": CONSTRAINTS,
    "constraints.ModelConstraintsRuntimeEnforcement": CONSTRAINTS,
    "constraints.TableConstraintsRollback": CONSTRAINTS,
    "constraints.TableConstraintsRuntimeDdlEnforcement": CONSTRAINTS,
    "constraints.TableContractSqlHeader": ONE_STATEMENT,
    "catalog.CatalogRelationTypes": MATERIALIZED_VIEWS,
    "caching.CachingLowerCaseModel": NO_DATABASE,
    "caching.CachingSelectedSchemaOnly": NO_DATABASE,
    "caching.CachingUppercaseModel": NO_DATABASE,
    "caching.NoPopulateCache": NO_DATABASE,
    "dbt_clone.ClonePossible": CLONE,
    "dbt_clone.CloneSameSourceAndTarget": CLONE,
    "dbt_clone.CloneSameTargetAndState": CLONE,
    "dbt_clone.PostgresCloneNotPossible": CLONE,
    "dbt_show.PostgresShowSqlHeader": ONE_STATEMENT,
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
    "hooks.HookRefs": POSTGRES,
    "hooks.PrePostModelHooks": POSTGRES,
    "hooks.PrePostModelHooksInConfig": POSTGRES,
    "hooks.PrePostModelHooksInConfigKwargs": POSTGRES,
    "hooks.PrePostModelHooksInConfigWithCount": POSTGRES,
    "hooks.PrePostModelHooksOnSeeds": UPDATE,
    "hooks.PrePostModelHooksOnSeedsPlusPrefixed": UPDATE,
    "hooks.PrePostModelHooksOnSeedsPlusPrefixedWhitespace": UPDATE,
    "hooks.PrePostModelHooksUnderscores": POSTGRES,
    "hooks.PrePostRunHooks": POSTGRES,
    "hooks.PrePostModelHooksOnSnapshots": SNAPSHOTS,
    "hooks.PrePostSnapshotHooksInConfigKwargs": SNAPSHOTS,
    "incremental.IncrementalPredicatesDeleteInsert": DELETE,
    "incremental.IncrementalUniqueKey": MERGE,
    "incremental.MergeExcludeColumns": MERGE,
    "incremental.PredicatesDeleteInsert": DELETE,
    "empty.EmptySeedFlag": "`dbt seed --empty` needs a newer dbt-core",
    "functions.CanFindScalarFunctionRelation": "dbt-spark lists tables and views, and no functions",
    "empty.MetadataWithEmptyFlag": DROP_COLUMN,
    "materialized_view": MATERIALIZED_VIEWS,
    "persist_docs.PersistDocs": COMMENTS,
    "persist_docs.PersistDocsCommentOnQuotedColumn": COMMENTS,
    "simple_copy.EmptyModelsArentRun": POSTGRES,
    "simple_seed.SimpleSeedColumnOverride": POSTGRES,
    "simple_snapshot": SNAPSHOTS,
}


def reason(suite: str) -> str | None:
    """Why a suite can't pass; None if it can."""
    return REASONS.get(suite) or REASONS.get(suite.partition(".")[0])
