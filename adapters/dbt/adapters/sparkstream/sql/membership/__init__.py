"""Membership of rows in a statement's windows and frames: queries for Spark."""

from dbt.adapters.sparkstream.sql.membership.find import find, has_row_windows, row_windows
from dbt.adapters.sparkstream.sql.membership.queries import FrameUse, Key, SampleRow, Use, WindowUse

__all__ = ["FrameUse", "Key", "SampleRow", "Use", "WindowUse", "find", "has_row_windows", "row_windows"]
