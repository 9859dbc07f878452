"""Spark SQL with our windows, every call a name and arguments, and the place of each expression noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from dbt.adapters.sparkstream.sql.dialects.openmldb import KEPT_FUNCTIONS
from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream
from dbt.adapters.sparkstream.sql.parser import EXPRESSIONS, WindowParser, with_spans


class SparkSpans(SparkStream):
    """What the optimiser reads; no dialect for users."""

    # The span of a SELECT stays its own, without a WITH before it.
    @with_spans(*EXPRESSIONS)
    class Parser(WindowParser):
        FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
        FUNCTION_PARSERS = {name: WindowParser.FUNCTION_PARSERS[name] for name in KEPT_FUNCTIONS}
