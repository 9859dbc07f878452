"""Options of a node, or of its target, for the translation of its SQL."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, cast

from dbt_common.exceptions import CompilationError

from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.sql.core.limits import at_most
from dbt.adapters.sparkstream.streaming.settings import read_flag

NO_STRATEGY = """\
an incremental model of windows has to say what becomes of the windows that its table has
  write incremental_strategy='window_replace' and a partition_by: windows that may have changed are computed again
  or incremental_strategy='append', where the query takes only windows that are new and closed"""
"""Error for a missing `incremental_strategy`; the macro `sparkstream_increment` has a like one for dbt-spark."""


@dataclass(frozen=True)
class Options:
    """Options of a node, or of the target for options that the node lacks, or without a node.

    Each raises CompilationError if the node's config has a value of another kind.
    """

    node: Any | None
    target: SparkStreamCredentials

    def config(self, key: str) -> Any:
        """A value of the node's config, or None."""
        config = getattr(self.node, "config", None)
        return config.get(key) if config is not None else None

    @property
    def arrival(self) -> str | None:
        """The column that numbers rows in order of arrival."""
        arrival = self.config("arrival")
        if arrival is not None and not (isinstance(arrival, str) and arrival.strip()):
            raise self._error(f"arrival is a column's name, and not {arrival!r}\n  write arrival='seq'")
        return arrival

    @property
    def optimizes(self) -> bool:
        """True if the SQL may be rewritten to faster SQL."""
        choice = self.config("optimize")
        if choice is None:
            return self.target.optimize
        flag = read_flag(choice)
        if flag is None:
            raise self._error(f"optimize is true or false, and not {choice!r}\n  write optimize=false")
        return flag

    @property
    def skewed(self) -> bool:
        """True if one key has most of the rows, by the node's config."""
        skewed = self.config("skewed")
        if skewed is not None and not isinstance(skewed, bool):
            raise self._error(f"skewed is true or false, and not {skewed!r}\n  write skewed=true")
        if skewed and not self.optimizes:
            raise self._error(
                "skewed is for rules of the optimizer, which is off here\n  leave skewed out, or write optimize=true"
            )
        return bool(skewed)

    def limits(self) -> AbstractContextManager[None]:
        """Context in which SQL may have as many windows for a row, and partial matches, as the node allows."""
        return at_most(self._most("max_windows"), self._most("max_partial_matches"))

    def _most(self, key: str) -> int:
        most = self.config(key)
        if most is None:
            return cast(int, getattr(self.target, key))
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise self._error(f"{key} is a number from 1 on, and not {most!r}")
        return most

    def check_dialect(self, dialect: str) -> None:
        """Refuses an unknown dialect."""
        from dbt.adapters.sparkstream.sql.dialects import DIALECTS

        if dialect not in DIALECTS:
            known = ", ".join(repr(name) for name in DIALECTS)
            raise self._error(f"unknown SQL dialect {dialect!r}\n  write one of {known}")

    def check_strategy(self, sql: str, dialect: str) -> None:
        """Refuses an incremental model with windows and without an `incremental_strategy`.

        dbt-spark would append what the query returns: every window once more in every run.
        """
        if self.config("materialized") != "incremental" or self.config("incremental_strategy"):
            return
        from dbt.adapters.sparkstream.sql.membership import has_row_windows

        if has_row_windows(sql, dialect):
            raise self._error(NO_STRATEGY)

    def _error(self, message: str) -> CompilationError:
        return CompilationError(message, self.node)
