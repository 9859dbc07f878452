"""The optimiser: queries over windows with the same rows, names and types in less time."""

from dbt.adapters.sparkstream.sql.passes.optimize.passes import Decision, Optimizer, may_pay

__all__ = ["Decision", "Optimizer", "may_pay"]
