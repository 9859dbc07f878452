"""Table functions of users that have the names of ours: called in backticks or with their schema; the error says so."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate


@pytest.mark.parametrize(
    "call",
    ["hop(1)", "hop(-1)", "session(10, 20)", "tumble('a')", "cumulate()", "hop(n => 1)", "HOP(t.x)", "tumble(null)"],
)
def test_the_error_says_how_they_are_called(call: str) -> None:
    name = call.split("(")[0].lower()
    with pytest.raises(TranslationError) as error:
        translate(f"SELECT * FROM {call}")
    assert f"a function of your own that is called {name} is `{name}`(...)" in (error.value.hint or "")


@pytest.mark.parametrize("call", ["`hop`(1)", "s.hop(-1)", "`session`(10, 20)", "c.s.session(10, 20)", "`Tumble`('a')"])
def test_a_call_stays(call: str) -> None:
    window = "tumble(t, ts, '1 hour')"
    assert translate(f"SELECT * FROM {call}") == f"SELECT * FROM {call}"
    assert f"JOIN {call} ON TRUE" in translate(f"SELECT * FROM {window} JOIN {call} ON TRUE")


@pytest.mark.parametrize("call", ["hop(t, ts, '5 minutes')", "tumble(t, ts)", "session(t, ts, '1 parsec')"])
def test_a_wrong_window_is_a_window(call: str) -> None:
    with pytest.raises(TranslationError) as error:
        translate(f"SELECT * FROM {call}")
    assert "of your own" not in (error.value.hint or "")
