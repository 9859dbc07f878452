"""Translation changes nothing around our constructs: layout, comments, hints, any character."""

from __future__ import annotations

import itertools

import pytest
from sqlglot.dialects.spark import Spark

from dbt.adapters.sparkstream.sql import translate
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.tokens import Tokens
from tests.unit.sql.pairs import flat, tumble

CALL = "tumble(t, ts, '5m')"
AROUND = [
    ("select * from ", ""),
    ("\n\n  select\t*\t\nfrom   ", "   w   \n\n"),
    ("select * /* a */ -- b\n from /* c */ ", " /* d */ w -- e\n where x = 1 -- f"),
    ("select /*+ broadcast(w), coalesce(2) */ * from ", " as w"),
    ("select *, 'it''s', \"x\\\"y\", r'\\d', 'a\\\\', `b``c` from ", " where z = '\\''"),
    ("select\r\n  *\r\nfrom\r\n  ", "\r\nwhere\r\n  x = 1\r\n"),
    ("select *, 'é', '日本語', '😀😀', 'a\u0301' as `größe` from ", " where n = 'ÿ😀' -- 😀"),
    ("select *, '\x00\x01', '\u2028', '\u00a0' from ", " where a = '\u2029'"),
    ("SeLeCt  w.* , a . C FrOm ", " As W WhErE x=1 AND(y)  "),
    ("select *, " + "x" * 20_000 + ", '" + "y" * 20_000 + "' from ", " -- " + "z" * 20_000),
    ('/* {"app": "dbt"} */\n\ncreate or replace view `a`.`b`\n  \n  as\n    select * from ', ""),
    ("select 1;\n-- tumble(t, ts, '1m')\nselect 'hop(' from ", ";\n;\nselect 2 -- << hop(a, b, '1m', '2m') >>\n;"),
    ("select *, '<<', '>>', a << 1 >> 2 from ", " where b >> 1 > 2 << 3"),
    ("select *, 1.0, 1e3, .5, 1L, 2.5BD, 0x1F, x'AB', date'2020-01-01', interval '1' day from ", ""),
    ("select *,a<>b,a!=b,a==b,a<=>b,!c,~d,a||b,a%b,-1 from ", " where not(a)and(b)or c"),
    ("((select * from ", "))"),
]  # fmt: skip


def cut(made: str, before: str, after: str) -> str:
    """What stands between two texts."""
    assert made.startswith(before), f"changed before the construct: {made[: len(before) + 40]!r}"
    assert made.endswith(after), f"changed behind the construct: {made[-len(after) - 40 :]!r}"
    return made[len(before) : len(made) - len(after)]


@pytest.mark.parametrize(("before", "after"), AROUND)
def test_around_a_table_function(before: str, after: str) -> None:
    spaced = "TUMBLE ( TABLE t ,\r\n DESCRIPTOR(ts),\tINTERVAL '5' MINUTE )"
    for call in (CALL, f"<< {CALL} >>", f"table({CALL})", spaced):
        assert flat(cut(translate(before + call + after, optimize=False), before, after)) == flat(tumble())


@pytest.mark.parametrize(("before", "after"), [(b, a) for b, a in AROUND if ";" not in b + a and "view" not in b])
def test_within_the_input(before: str, after: str) -> None:
    """A subquery that is a window's input keeps its tokens; only its indentation changes."""
    query = f"({before}u{after}\n)"
    made = translate(f"select * from tumble({query}, ts, '5m')", optimize=False)
    tokens = [token.text for token in Spark().tokenize(query)]
    all_tokens = [token.text for token in Spark().tokenize(made)]
    assert any(all_tokens[i : i + len(tokens)] == tokens for i in range(len(all_tokens)))


def test_text_of_several_lines_in_the_input() -> None:
    """New lines in a string or a quoted name are part of it, and no place to indent."""
    made = translate(
        "select *\n    from tumble((select * from t where note = 'one\ntwo' and `a\nb` = \"x\n y\"), ts, '5m')"
    )
    for text in ("'one\ntwo'", "`a\nb`", '"x\n y"'):
        assert text in made
    made = translate("select * from hop(tumble_input, ts, '5m', '10m') where note = 'one\n  two'")
    assert made.endswith("'one\n  two'")


def test_line_comment_at_the_end_of_the_input() -> None:
    made = translate("select * from tumble((select * from t -- c\n), ts, '5m') w", optimize=False)
    assert flat(made.replace("-- c\n", "\n")) == flat(f"select * from {tumble('(select * from t)')} w")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("select 1 from t group by ", ""),
        ("select\t1,\r\n'é😀' /* ( */ -- )\n  from\tt -- x\n group  by /* a */ k,", "/* b */ , v\r\n-- end"),
        ("select /*+ repartition(2) */ a << 1 from t where b >> 1 > 2 group by `k k`, ", " having(1=1)order by 1"),
        ("create table x using parquet as\n\nselect 1 from t group by ", "\n;\nselect 2;"),
    ],
)
def test_around_a_group_window(before: str, after: str) -> None:
    made = translate(before + "tumble(ts, '1h')" + after, optimize=False)
    assert cut(made, before, after) == "window(CAST(ts AS TIMESTAMP_NTZ), '1 hour')"


def test_between_constructs() -> None:
    """Every order of all kinds of constructs, with text between them that must stay."""
    calls = [
        CALL,
        "<< hop(t, ts, '5m', '10m') >>",
        "table(cumulate(t, ts, '5m', '10m'))",
        "session(t partition by k, ts, '5m')",
    ]
    for order in itertools.permutations(calls):
        tables = [f"/* {i} */ {call} w{i}" for i, call in enumerate(order)]
        made = translate("select /* 0 */ * from " + " /* x */ cross\tjoin ".join(tables))
        at = 0
        for i in range(len(order)):
            at = made.index(f"/* {i} */ (\n", at)
            at = made.index(f") w{i}", at)
        assert made.count(" /* x */ cross\tjoin ") == len(order) - 1


class TestEdits:
    def test_inner_edits_come_first(self) -> None:
        source = Source("a(b(c))", Tokens([]))
        source.apply([
            Edit((0, 7), lambda: f"<{source.render((2, 6))}>"),
            Edit((4, 5), lambda: "C"),
            Edit((2, 6), lambda: f"[{source.render((4, 5))}]"),
        ])  # fmt: skip
        assert source.render() == "<[C]>"

    def test_side_by_side(self) -> None:
        source = Source("one two three", Tokens([]))
        source.apply([Edit((8, 13), lambda: "3"), Edit((0, 3), lambda: "1")])
        assert source.render() == "1 two 3"
        assert source.render((4, 13)) == "two 3"

    def test_no_edits(self) -> None:
        text = "select 1"
        assert Source(text, Tokens([])).render() is text

    def test_errors_point_at_their_place(self) -> None:
        source = Source("a\r\n\tbb ccc\nd", Tokens([]))
        error = source.error((7, 10), "wrong", "better")
        assert (error.line, error.column, error.width) == (2, 5, 3)
        assert error.source_line == "\tbb ccc"
        assert error.describe("models/m.sql:2:5") == "wrong\n  models/m.sql:2:5\n     bb ccc\n        ^^^\n  better"
