"""The rules of the optimiser, in order: the first that applies to a window rewrites the query over it."""

from __future__ import annotations

from typing import Any

from dbt.adapters.sparkstream.sql.passes.optimize.copies import HopCopies
from dbt.adapters.sparkstream.sql.passes.optimize.cumulate import CumulateSlices
from dbt.adapters.sparkstream.sql.passes.optimize.hop import HopSlices
from dbt.adapters.sparkstream.sql.passes.optimize.joins import HopJoin
from dbt.adapters.sparkstream.sql.passes.optimize.rule import Rule, SliceRule
from dbt.adapters.sparkstream.sql.passes.optimize.sessions import SessionSlices
from dbt.adapters.sparkstream.sql.passes.optimize.tumble import TumbleGroups

SLICE_RULES: tuple[SliceRule[Any], ...] = (HopSlices(), CumulateSlices())
"""The rules by which a stream keeps slices instead of windows."""
RULES: tuple[Rule[Any], ...] = (HopJoin(), SLICE_RULES[0], HopCopies(), SLICE_RULES[1], SessionSlices(), TumbleGroups())
