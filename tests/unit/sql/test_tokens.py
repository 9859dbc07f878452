"""The index of a text's tokens: pairs of brackets, what is around a token, what stands side by side."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot.dialects.spark import Spark

from dbt.adapters.sparkstream.sql import TranslationError, translate
from dbt.adapters.sparkstream.sql.core.tokens import Tokens
from dbt.adapters.sparkstream.sql.grammar.scan import Found, scan
from dbt.adapters.sparkstream.sql.grammar.statements import split
from dbt.adapters.sparkstream.sql.membership import find
from tests.lib.support import sampled


def tokens_of(sql: str) -> Tokens:
    return Tokens(Spark().tokenize(sql))


def level(tokens: Tokens, first: int) -> str:
    return " ".join(tokens[i].text for i in tokens.level(first))


def test_the_example_of_the_docstring() -> None:
    tokens = tokens_of("SELECT f(a, b) FROM t")
    assert tokens.closing(2) == 6
    assert tokens.opening(6) == 2
    assert tokens.behind(2) == 7
    assert (tokens.around(4), tokens.around(7), tokens.around(2), tokens.around(6)) == (2, None, None, 2)
    assert list(tokens.level(0)) == [0, 1, 2, 7, 8]
    assert tokens.parentheses == [2]


def test_places() -> None:
    sql = "SELECT  f(a, b) FROM t"
    tokens = tokens_of(sql)
    assert [tokens.at(offset) for offset in (0, 3, 7, 8, 9, len(sql))] == [0, 0, 0, 1, 2, 8]
    assert tokens.within((8, 15)) == range(1, 7)
    assert sql[slice(*tokens.span(range(1, 7)))] == "f(a, b)"


def test_pieces_end_at_commas_outside_brackets() -> None:
    tokens = tokens_of("f(a, g(b, c), d[e, f], , h)")
    pieces = [" ".join(tokens[i].text for i in piece) for piece in tokens.pieces(2, len(tokens) - 1)]
    assert pieces == ["a", "g ( b , c )", "d [ e , f ]", "", "h"]


def test_level_ends_with_the_bracket_around_it() -> None:
    tokens = tokens_of("a(b, c(d), e) f")
    assert level(tokens, 2) == "b , c ( , e )"


def test_what_is_never_closed_holds_the_rest() -> None:
    tokens = tokens_of("a ( b c")
    assert (tokens.closing(1), tokens.behind(1), tokens.around(3)) == (None, 4, 1)
    assert level(tokens, 0) == "a ("


def test_a_bracket_that_closes_nothing() -> None:
    tokens = tokens_of("a ) b ( c )")
    assert (tokens.opening(1), tokens.around(2), tokens.closing(3)) == (None, None, 5)
    assert level(tokens, 0) == "a )"


def test_a_parenthesis_closes_over_an_open_bracket() -> None:
    tokens = tokens_of("( a [ b ) c ]")
    assert (tokens.closing(0), tokens.closing(2), tokens.opening(6)) == (4, None, None)


def test_a_quoted_name_is_no_bracket() -> None:
    assert tokens_of("select `(`, ')' from t").parentheses == []


def test_deepest() -> None:
    tokens = tokens_of("select (a), case when ((b)) then 1 end, (c)")
    assert tokens.deepest() is tokens[8]


@given(st.lists(st.sampled_from(["(", ")", "[", "]", "x", ",", "case", "end"]), max_size=30).map(" ".join))
def test_closing_and_opening_agree(sql: str) -> None:
    tokens = tokens_of(sql)
    pairs = [(i, closing) for i in range(len(tokens)) if (closing := tokens.closing(i)) is not None]
    for opening, closing in pairs:
        assert tokens.opening(closing) == opening < closing
        assert {tokens[opening].text, tokens[closing].text} in ({"(", ")"}, {"[", "]"})
    for (_, end), (first, last) in pairwise(pairs):
        assert end < first or last < end, "pairs lie side by side or one in the other"
    for i in range(len(tokens)):
        around = tokens.around(i)
        assert around is None or around < i <= tokens.behind(around)


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("select 1 from t", Found()),
        ("select * from hop(t, ts, '1m', '2m')", Found(calls=True, relations=True)),
        ("select * from << session(t, ts, '1m') >>", Found(calls=True, relations=True)),
        ("select * from table(tumble(t, ts, '1m'))", Found(calls=True, relations=True)),
        ("select * from a, tumble(t, ts, '1m')", Found(calls=True, groups=True)),
        ("select 1 from t group by tumble(ts, '1m')", Found(calls=True, groups=True)),
        ("select tumble_start(ts, '1m') from t", Found(calls=True, groups=True)),
        ("select `hop`(1), 'hop(', hop from t", Found()),
        (
            "select sum(x) over (order by ts rows_range between 1s preceding and current row)",
            Found(frames=frozenset({19})),
        ),
        (
            "select 1 from t window w as (order by ts rows 1 open preceding)",
            Found(frames=frozenset({28})),
        ),
        ("select sum(x) over (union u order by ts rows 1 preceding)", Found(frames=frozenset({19}))),
        ("select sum(x) over (order by rows_range, maxsize)", Found()),
        ("with c(a) as (select 1) select sum(x) over (order by ts rows 1 preceding) from c", Found()),
        ("with c as (select 1 from (select 1 exclude current_time)) select 1", Found()),
        ("select 1 from a last join b on a.k = b.k", Found(last_joins=True)),
        ("select 1 from a join last on a.k = last.k", Found()),
    ],
)
def test_scan(sql: str, found: Found) -> None:
    assert scan(tokens_of(sql), sql) == found


def test_split() -> None:
    parts = split(tokens_of(";select 1;; select (2;) ;"))
    assert [[token.text for token in part] for part in parts] == [["select", "1"], ["select", "(", "2"], [")"]]
    assert split(tokens_of("")) == []


FRAME = "(partition by k order by ts rows_range between 10s preceding and current row)"
LONG = {
    "windows": lambda n: " union all ".join(f"select a from tumble(t{i}, ts, '1 hour')" for i in range(n)),
    "statements": lambda n: ";".join(["select a from tumble(t, ts, '1 hour')"] * n),
    "parentheses": lambda n: f"select {'(' * n}1{')' * n} from tumble(t, ts, '1 hour')",
    "open parentheses": lambda n: f"select {'(' * n}1 from tumble(t, ts, '1 hour')",
    "columns": lambda n: f"select {', '.join(f'sum(x) over w as s{i}' for i in range(n))} from t window w as {FRAME}",
    "frames": lambda n: f"select {', '.join(f'sum(x) over {FRAME} as s{i}' for i in range(n))} from t",
}
"""What is in a statement -> a statement with so many of it."""


def seconds(kind: str, n: int, *, search: bool = False) -> float:
    """Processor time of a translation."""
    sql = LONG[kind](n)
    start = time.process_time()
    try:
        find(sql) if search else translate(sql)
    except TranslationError as error:
        assert "nested too deeply" in str(error) or "parsed" in str(error), error
    return time.process_time() - start


def growth(kind: str, *, search: bool = False) -> float:
    """How many times as long a statement of eight times the length takes: 8, or 64 where pieces look at each other."""
    long, short = (min(seconds(kind, n, search=search) for _ in range(3)) for n in (1_200, 150))
    return long / max(short, 0.02)


@pytest.mark.parametrize("kind", sampled(LONG, share=2))
def test_long_statements_take_linear_time(kind: str) -> None:
    assert growth(kind) < 32


def test_finding_windows_takes_linear_time() -> None:
    assert growth("frames", search=True) < 32
