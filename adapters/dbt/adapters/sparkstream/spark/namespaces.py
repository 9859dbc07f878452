"""Lists of a schema's tables and views, and of a catalog's schemas.

A relation's `database` is a catalog of Spark's, set by `spark.sql.catalog.NAME`. Without one, a name has two parts, and
is in the catalog that the session is in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.relation import RelationConfig, RelationType
from dbt.adapters.spark.impl import SparkAdapter
from dbt_common.clients.agate_helper import merge_tables
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.messages.faults import Fault, words_at
from dbt.adapters.sparkstream.messages.sparkerror import SparkError
from dbt.adapters.sparkstream.relation import SparkStreamRelation, catalog_of

OWN = "spark_catalog"
"""Spark's own catalog, under the name that it always has."""

_NO_ABILITY = ("MISSING_CATALOG_ABILITY", "_LEGACY_ERROR_TEMP_1184")
"""Beginnings of the conditions of Spark's error that a catalog has no views; the second is an older Spark's."""
_NO_VIEWS = re.compile(r"Catalog \S{1,200} does not support views")
"""The beginning of that error's message, where a server doesn't show the condition."""
_NO_NAMESPACE = "Namespace does not exist"
"""The beginning of the message of Iceberg's NoSuchNamespaceException, which has no condition."""
_TAKEN_FOR_SCHEMA = re.compile(r"(?:\[SCHEMA_NOT_FOUND\] )?The schema `spark_catalog`\.")
"""The beginning of Spark's message about the name of an unknown catalog, with or without the condition."""


class Namespaces(SparkAdapter):
    """dbt-spark's adapter, with catalogs."""

    Relation = SparkStreamRelation

    def _build_spark_relation_list(self, row_list: Iterable[Any], relation_info_func: Any) -> list[BaseRelation]:
        """The relations of a schema, without the session's temporary views, which Spark lists in every schema.

        They belong to none, and dbt-spark then fails in `dbt docs generate`. Of a table in Iceberg, Spark's own catalog
        says that its provider is Hive.
        """
        in_schema = [row for row in row_list if row[0]]
        relations: list[BaseRelation] = super()._build_spark_relation_list(in_schema, relation_info_func)
        return [
            relation.replace(is_iceberg=True)
            if "table_type=ICEBERG" in getattr(relation, "information", "")
            else relation
            for relation in relations
        ]

    def list_relations(self, database: str | None, schema: str) -> list[BaseRelation]:
        """The tables and views of a schema, in a catalog or in the session's catalog."""
        relations: list[BaseRelation] = super().list_relations(catalog_of(database, schema), schema)
        return relations

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        """Tables and views of a schema, as Spark has them now. Spark's list has their schema, but not their catalog."""
        found: list[BaseRelation] = super().list_relations_without_caching(schema_relation)
        found += self._views(schema_relation)
        return [relation.replace_path(database=schema_relation.database) for relation in found]

    def _views(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        """The views of a schema in a catalog that lists them apart from tables."""
        if not self._in_catalog(schema_relation):
            return []
        try:
            rows = self.execute_macro("sparkstream_list_views", kwargs={"relation": schema_relation})
        except SparkError as error:
            if _has_no_views(error.fault) or _is_missing(error.fault):
                return []
            raise
        view = RelationType.View
        return [self.Relation.create(schema=row[0], identifier=row[1], type=view) for row in rows if row[0]]

    @staticmethod
    def _in_catalog(relation: BaseRelation) -> bool:
        """True if a relation or schema is in a catalog other than spark_catalog."""
        return relation.database is not None and relation.database.lower() != OWN

    def list_schemas(self, database: str | None) -> list[str]:
        """The schemas of a catalog.

        Raises:
            DbtRuntimeError: Spark has no such catalog.
        """
        try:
            schemas: list[str] = super().list_schemas(database)  # type: ignore[arg-type]
        except SparkError as error:
            if database and _is_unknown(error.fault):
                raise DbtRuntimeError(_unknown(database)) from error
            if database and _is_missing(error.fault):
                return []  # Iceberg's catalogs in a folder make this with their first schema
            raise
        return schemas

    def drop_schema(self, relation: BaseRelation) -> None:
        """Drops a schema with all that is in it. Iceberg's catalogs drop only an empty one, also with CASCADE."""
        if self._in_catalog(relation):
            for inside in self.list_relations_without_caching(relation):
                self.drop_relation(inside)
        super().drop_schema(relation)

    def get_relation(self, database: str | None, schema: str, identifier: str) -> BaseRelation | None:
        """The table or view of a name; None where there is none."""
        return super().get_relation(catalog_of(database, schema), schema, identifier)  # type: ignore[arg-type]

    def get_catalog(
        self, relation_configs: Iterable[RelationConfig], used_schemas: frozenset[tuple[str, str]]
    ) -> tuple[Any, list[Exception]]:
        """Tables and views for the docs site, of all catalogs, and errors; dbt-spark reads one catalog alone."""
        of_catalogs: dict[str | None, list[RelationConfig]] = {}
        for config in relation_configs:
            database = self.Relation.create_from(self.config, config).database
            of_catalogs.setdefault(database, []).append(config)
        found = [super(Namespaces, self).get_catalog(configs, used_schemas) for configs in of_catalogs.values()]
        return merge_tables([table for table, _ in found]), [fault for _, faults in found for fault in faults]


def _words(fault: Fault) -> str:
    """The message of an error without a condition; empty for an error with one."""
    return "" if fault.condition else fault.message[words_at(fault.message) :]


def _is_missing(fault: Fault) -> bool:
    """True if a schema doesn't exist."""
    return fault.condition == "SCHEMA_NOT_FOUND" or _words(fault).startswith(_NO_NAMESPACE)


def _has_no_views(fault: Fault) -> bool:
    """True if a catalog has no views."""
    return fault.condition.startswith(_NO_ABILITY) or _NO_VIEWS.match(_words(fault)) is not None


def _is_unknown(fault: Fault) -> bool:
    """True if there is no such catalog; Spark may take its name for a schema's."""
    of_schema = fault.condition == "SCHEMA_NOT_FOUND" and _TAKEN_FOR_SCHEMA.match(fault.message) is not None
    return of_schema or fault.condition == "CATALOG_NOT_FOUND"


def _unknown(database: str) -> str:
    return (
        f"Spark has no catalog {database}, which `database` names\n"
        f"  set spark.sql.catalog.{database} to the catalog's class, and what it needs, in server_side_parameters of\n"
        "  the profile (method: session), or by --conf where the server starts; without a catalog, leave `database` out"
    )
