"""The columns of a table."""

from __future__ import annotations

from dbt.adapters.base.column import Column
from dbt.adapters.spark.column import SparkColumn

from dbt.adapters.sparkstream.sql.core.literals import backticked

_INTEGERS = ("tinyint", "byte", "smallint", "short", "int", "integer", "bigint", "long")


class SparkStreamColumn(SparkColumn):
    """dbt-spark's column, with tests for Spark's names of types, as dbt's tests know only PostgreSQL's."""

    @property
    def quoted(self) -> str:
        return backticked(self.column)

    def is_integer(self) -> bool:
        return self.dtype.lower() in _INTEGERS

    def is_numeric(self) -> bool:
        return self.dtype.lower().startswith(("decimal", "numeric"))

    def is_string(self) -> bool:
        return self.dtype.lower().startswith(("string", "varchar", "char"))

    def can_expand_to(self, other_column: Column) -> bool:
        """False: texts have no length in Spark. With dbt's own method, each text column would be altered."""
        return False
