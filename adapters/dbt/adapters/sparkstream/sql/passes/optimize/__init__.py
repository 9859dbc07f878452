"""The optimiser: queries over windows with the same rows, names and types in less time."""

from dbt.adapters.sparkstream.sql.passes.optimize.onebound import OneBound
from dbt.adapters.sparkstream.sql.passes.optimize.oversums import OverSums, SlidingFrame
from dbt.adapters.sparkstream.sql.passes.optimize.passes import Decision, Optimizer, has_frames, may_pay
from dbt.adapters.sparkstream.sql.passes.optimize.skewed import SkewedFrames

__all__ = ["Decision", "OneBound", "Optimizer", "OverSums", "SkewedFrames", "SlidingFrame", "has_frames", "may_pay"]
