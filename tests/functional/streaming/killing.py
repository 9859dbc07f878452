"""A run that is killed at a statement, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from tests.functional.streaming.feed import Feed


class Killed(BaseException):
    """The process is gone."""


@contextmanager
def killed(
    monkeypatch: pytest.MonkeyPatch, feed: Feed, dies: Callable[[str], bool], *, after: bool, aside: str
) -> Iterator[None]:
    """Ends what the block does at a statement. Nothing that comes later is done, as of a process that is gone.

    Args:
        dies: says whether a statement is the one.
        after: True if the statement is done.
        aside: what the name of the table aside has behind that of the model's table.
    """
    one = Engine.sql
    dead: list[str] = []

    def sql(self: Engine, statement: str) -> list[Any]:
        if dead:
            raise Killed
        if not dies(statement):
            return one(self, statement)
        if after:
            one(self, statement)
        dead.append(statement)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Engine, "sql", sql)
        with pytest.raises(Killed):
            yield
    assert dead
    # The process that had the right to the tables is this one.
    for name in (f"{feed.schema}.model{suffix}" for suffix in ("", aside, "__stream", f"{aside}__stream")):
        if feed.spark.catalog.tableExists(name):
            feed.spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('sparkstream.run' = '')")
