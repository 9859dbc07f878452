"""One owner for each kind of node in dialect flink, and one record for each function of a dialect."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter

from dbt.adapters.sparkstream.sql.core.interval import TIME_UNITS
from dbt.adapters.sparkstream.sql.passes import flink
from dbt.adapters.sparkstream.sql.passes.flink.expressions import REWRITERS
from dbt.adapters.sparkstream.sql.passes.flink.functions import FUNCTIONS
from dbt.adapters.sparkstream.sql.passes.framing.aggregates import AGGREGATES, RANKS
from dbt.adapters.sparkstream.sql.passes.framing.conversions import CONVERSIONS
from dbt.adapters.sparkstream.sql.passes.framing.scalars import SCALARS


def test_each_kind_of_node_has_one_owner() -> None:
    owners = Counter(kind for rewriter in REWRITERS for kind in rewriter.handlers)
    assert owners and set(owners.values()) == {1}


def test_each_rewriter_edits_something() -> None:
    assert all(rewriter.handlers for rewriter in REWRITERS)


def test_the_name_of_a_function_of_flink_is_in_no_other_table() -> None:
    """Units such as MONTH are names of functions, too."""
    elsewhere = []
    for found in pkgutil.iter_modules(flink.__path__):
        module = importlib.import_module(f"{flink.__name__}.{found.name}")
        for name, table in vars(module).items():
            if isinstance(table, (dict, set, frozenset, tuple, list)) and table is not FUNCTIONS:
                entries = {entry for entry in table if isinstance(entry, str)}
                elsewhere += [(found.name, name, each) for each in entries & FUNCTIONS.keys() - set(TIME_UNITS)]
    assert not elsewhere


def test_a_function_of_openmldb_has_one_record() -> None:
    records = Counter(name for table in (SCALARS, CONVERSIONS, AGGREGATES, RANKS) for name in table)
    assert {name for name, times in records.items() if times > 1} == set()
