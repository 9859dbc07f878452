"""dbt's error for an error of Spark's."""

from __future__ import annotations

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.sparkstream.messages.faults import Fault
from dbt.adapters.sparkstream.messages.places import Place
from dbt.adapters.sparkstream.messages.readable import readable

logger = AdapterLogger("SparkStream")


class SparkError(DbtDatabaseError):
    """Spark's error, in a form people can read.

    Attributes:
        fault: the error's condition, message and spot, for decisions.
        is_placed: True once its place was looked for.
    """

    def __init__(self, error: BaseException | str) -> None:
        logger.debug(f"Spark's error in full: {error}")
        self.fault = Fault.of(error)
        self.is_placed = False
        self._in_node = True
        super().__init__(readable(self.fault))

    def show(self, place: Place | None, in_node: bool) -> None:
        """Shows the place of the error.

        Args:
            place: the place; None if unknown.
            in_node: True if the statement has SQL of a node's file.
        """
        self.is_placed, self._in_node = True, in_node
        if place is not None:
            self.msg = readable(self.fault, place)

    def process_stack(self) -> list[str]:
        # dbt names the file of the node's compiled code, which doesn't hold each statement.
        lines: list[str] = super().process_stack() if self._in_node else DbtRuntimeError.process_stack(self)
        return lines
