"""The wrapped method of dbt-core: once, and what is said where dbt doesn't call it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dbt.adapters.sparkstream.compiling import hook
from tests.functional.adapter.project import Project

FLINK = """\
{{ config(sql_dialect='flink') }}
select count(*) as n from tumble(table {{ ref('bid') }}, descriptor(at), interval '10' minutes)
"""
FILES = {
    "seeds/bid.csv": "at,price\n2020-04-15 08:01:00,4\n",
    "models/flink.sql": FLINK,
    "models/plain.sql": "select count(*) as n from {{ tumble(ref('bid'), 'at', '10 minutes') }}\n",
}


def test_wraps_once() -> None:
    from dbt.compilation import Compiler

    hook.install()
    wrapped = getattr(Compiler, hook.METHOD)
    hook.install()
    assert getattr(Compiler, hook.METHOD) is wrapped
    assert hasattr(wrapped, "__wrapped__")


@pytest.mark.long
def test_a_dbt_that_compiles_in_another_way(
    make_project: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a dialect in a config needs the method: that model is refused, and not sent as it is."""
    from dbt.compilation import Compiler

    shop = make_project(FILES)
    shop.dbt("seed")
    monkeypatch.setattr(Compiler, hook.METHOD, getattr(Compiler, hook.METHOD).__wrapped__)
    monkeypatch.setattr(hook, "install", lambda: None)
    done = shop.invoke("run")
    results = {result.node.name: result for result in done.result.results}
    assert str(results["plain"].status) == "success"
    assert str(results["flink"].status) == "error"
    assert "{% call window_sql(dialect='flink') %}" in str(results["flink"].message)
