"""The wrapped method of dbt-core: once, and what is said where it can't be wrapped."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import CompilationError

from dbt.adapters.sparkstream import compile_hook


def test_wraps_once() -> None:
    from dbt.compilation import Compiler

    assert compile_hook.install()
    wrapped = getattr(Compiler, compile_hook.METHOD)
    assert compile_hook.install()
    assert getattr(Compiler, compile_hook.METHOD) is wrapped


def test_without_the_method(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a dbt-core that has renamed it: only a dialect in a config needs it."""
    from dbt.compilation import Compiler

    monkeypatch.delattr(Compiler, compile_hook.METHOD)
    assert not compile_hook.install()
    compile_hook.check({"materialized": "table"}, installed=False)
    with pytest.raises(CompilationError) as error:
        compile_hook.check({"sql_dialect": "flink"}, installed=False)
    assert "{% call window_sql(dialect='flink') %}" in str(error.value)
