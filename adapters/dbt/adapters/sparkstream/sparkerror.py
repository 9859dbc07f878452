"""dbt's error for what Spark says."""

from __future__ import annotations

from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.sparkstream.errors import readable
from dbt.adapters.sparkstream.faults import Fault


class SparkError(DbtDatabaseError):
    """What Spark says is wrong, as people read it.

    Attributes:
        fault: the same, for decisions.
    """

    def __init__(self, error: BaseException | str) -> None:
        self.fault = Fault.of(error)
        super().__init__(readable(self.fault))
