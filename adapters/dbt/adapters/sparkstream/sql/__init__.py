"""The translator: window SQL of Flink, OpenMLDB and SQLstream to Spark SQL. No dbt, no Spark, no I/O."""

from dbt.adapters.sparkstream.sql.core.errors import TranslationError, TranslationWarning
from dbt.adapters.sparkstream.sql.explain import Explanation, explain
from dbt.adapters.sparkstream.sql.translate import translate

__all__ = ["Explanation", "TranslationError", "TranslationWarning", "explain", "translate"]
