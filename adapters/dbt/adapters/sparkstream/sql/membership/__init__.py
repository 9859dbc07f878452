"""Which rows are in which windows or frames of a statement: queries that say it, to be run on Spark."""

from dbt.adapters.sparkstream.sql.membership.find import find, has_row_windows, row_windows
from dbt.adapters.sparkstream.sql.membership.queries import FrameUse, Key, SampleRow, Use, WindowUse

__all__ = ["FrameUse", "Key", "SampleRow", "Use", "WindowUse", "find", "has_row_windows", "row_windows"]
