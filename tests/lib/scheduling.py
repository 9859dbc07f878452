"""Distribution of the tests over processes, where several run them (`pytest -n 2`)."""

from __future__ import annotations

import re

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# Tests here share nothing but a Spark, so that each goes to the process that is free.
APART = ("tests/unit/", "tests/garbage/", "tests/golden/")
_ON_A_SERVER = re.compile(r"[\[-](thrift|connect|cluster)[\]-]")


class Groups(LoadScopeScheduling):
    """The tests of a file run in one process, one after the other, so that what a fixture builds is built once.

    Files run in the order of the command line; those that take longest come first, so that all processes end together.
    """

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        """The group of a test."""
        file, _, test = nodeid.partition("::")
        if _ON_A_SERVER.search(test):
            return "server"  # one for all of them
        return nodeid if file.startswith(APART) else file
