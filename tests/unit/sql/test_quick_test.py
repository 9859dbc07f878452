"""The quick test for our constructs looks at code alone, and misses none."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot.errors import TokenError

from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream
from dbt.adapters.sparkstream.sql.grammar.words import may_hold_windows

PIECES = [
    "hop(",
    "Session (",
    "x",
    " ",
    "\n",
    "'",
    '"',
    "`",
    "''",
    "--",
    "/*",
    "*/",
    "\\",
    "\r",
    "(",
    ")",
    "-",
    "*",
    "/",
]
WORDS = ("tumble", "hop", "cumulate", "session")


@pytest.mark.parametrize(
    "sql",
    [
        "select 1 -- hop(t, ts, '1m')",
        "select 1 -- hop(t) -- 'tumble(\nfrom t",
        "select 'it''s hop(' || \"session(\", `tumble(` from t",
        "/* don't: cumulate( */ select '--', 1 from t -- hop(",
    ],
)
def test_words_in_comments_and_strings_are_none(sql: str) -> None:
    assert not may_hold_windows(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "select '--' from hop(t, ts, '1m', '2m')",
        "select '/*' from hop(t, ts, '1m', '2m') -- */",
        "select 1 -- it's\nfrom hop(t, ts, '1m', '2m')",
        "select /* a /* b */ c */ 1 from hop(t, ts, '1m', '2m')",
        "select '\\'' from hop(t, ts, '1m', '2m') where x = ''",
        "select r'\\' from hop(t, ts, '1m', '2m') where x = ''",
        "select 1 -- a\rfrom hop(t, ts, '1m', '2m')",
        "select 1 from hop -- a\n /* b */ (t, ts, '1m', '2m')",
    ],
)
def test_words_behind_them_are_found(sql: str) -> None:
    assert may_hold_windows(sql)


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_misses_no_call_that_the_tokenizer_sees(sql: str) -> None:
    try:
        tokens = SparkStream().tokenize(sql)
    except TokenError:
        return
    calls = [a for a, b in pairwise(tokens) if a.text.lower() in WORDS and b.text == "("]
    # A quoted name is no call of ours.
    if any(sql[token.start] not in "`'\"" for token in calls):
        assert may_hold_windows(sql)
