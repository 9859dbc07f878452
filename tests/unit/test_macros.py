"""The window macros without dbt: what their arguments may be, and how they read intervals."""

from __future__ import annotations

import itertools
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt_common.clients.jinja import get_environment
from jinja2 import Undefined, nodes

from dbt.adapters.sparkstream.sql import TranslationError, translate
from dbt.adapters.sparkstream.sql.core.interval import MICROS, Interval, IntervalError, read_interval
from dbt.adapters.sparkstream.sql.dialects import DIALECTS
from dbt.adapters.sparkstream.sql.passes.windows.lower import SHOWS_UTC
from tests.lib.macros import CompilerError, Macros, macros

ROOT = Path(__file__).parents[2]
ADAPTERS = ("spark", "sparkstream")

BREAKS_OUT = [
    ("tumble", ("t", "ts", "interval '1' day) x where 1=0 --"), {}),
    ("tumble", ("t", "ts", "interval '1' day, interval '1' hour"), {}),
    ("tumble", ("t", "ts", "1 day') x where 1=0 --"), {}),
    ("tumble", ("t", "ts", "1 day\\') x where 1=0 --"), {}),
    ("tumble", ("t", "ts", "1 day", "interval '1' hour) --"), {}),
    ("tumble", ("t) x where (1=0", "ts", "1 day"), {}),
    ("tumble", ("t -- ", "ts", "1 day"), {}),
    ("tumble", ("t0 /* /* */", "ts", "1 day"), {}),
    ("tumble", ("t0 /*/* */", "ts", "1 day"), {}),
    ("tumble", ("t", "²", "1 day"), {}),
    ("tumble", ("t", "`a`b`", "1 day"), {}),
    ("tumble", ("t", "`a``", "1 day"), {}),
    ("tumble", ("t", "`a```b`", "1 day"), {}),
    ("tumble", ("t", "ª", "1 day"), {}),
    ("tumble", ("t; drop table t", "ts", "1 day"), {}),
    ("tumble", ("t, u", "ts", "1 day"), {}),
    ("tumble", ("t", "ts, '1 day') --", "1 day"), {}),
    ("tumble", ("t", "`ts` x`", "1 day"), {}),
    ("hop", ("t", "ts", "interval '1' day) --", "1 day"), {}),
    ("cumulate", ("t", "ts", "1 day", "interval '1' day) --"), {}),
    ("session", ("t", "ts", "interval '1' day) --"), {}),
    ("session", ("t", "ts", "1 day"), {"partition_by": "k) x --"}),
    ("session", ("t", "ts", "1 day"), {"partition_by": ["k", "x) --"]}),
    ("session", ("t", "ts", "1 day"), {"close_on": "x = 1) or (1 = 1"}),
    ("session", ("t", "ts", "1 day"), {"close_on": "x = 1 --"}),
    ("session", ("t", "ts", "1 day"), {"close_on": "x = r'\\' ) --'"}),
    ("session", ("t", "ts", "1 day"), {"max_duration": "interval '1' day) --"}),
    ("over", ("sum(x)) --",), {"partition_by": "k", "order_by": "ts"}),
    ("over", ("sum(x), y",), {"partition_by": "k", "order_by": "ts"}),
    ("over", ("sum(x)",), {"partition_by": "k) , (x", "order_by": "ts"}),
    ("over", ("sum(x)",), {"partition_by": "k", "order_by": "ts /* x"}),
    ("over", ("sum(x)",), {"order_by": "ts", "start": "1 preceding) --"}),
    ("over", ("sum(x)",), {"order_by": "ts", "frame": "range", "start": "interval '1' day) --"}),
    ("over", ("sum(x)",), {"order_by": "ts", "union": "u) --"}),
    ("window_join", ("a", "b"), {"on": "L.k = R.k) --"}),
    ("window_join", ("a", "b"), {"on": "k", "left_alias": "L x"}),
    ("window_top_n", ("t", 3, "x) --"), {}),
    ("window_top_n", ("t", 3, "x; select 1"), {}),
    ("window_dedup", ("t", "k", "x desc"), {}),
    ("asof_join", ("a) x --", "b", "k", "ts", "ts"), {}),
    ("asof_join", ("a", "b; select 1", "k", "ts", "ts"), {}),
    ("asof_join", ("a", "b", {"k": "j) --"}, "ts", "ts"), {}),
    ("asof_join", ("a", "b", "k", "ts) --", "ts"), {}),
    ("asof_join", ("a", "b", "k", "ts", "ts"), {"columns": {"x": "y, z"}}),
    ("asof_join", ("a", "b", "k", "ts", "ts"), {"ties": "x desc"}),
    ("asof_join", ("a", "b", "k", "ts", "ts"), {"tolerance": "interval '1' day) --"}),
    ("window_around", ("a", "b) --", "k", "ts", "ts", "1m", "1m", {"n": "count"}), {}),
    ("window_around", ("a", "b", "k) --", "ts", "ts", "1m", "1m", {"n": "count"}), {}),
    ("window_around", ("a", "b", "k", "ts", "ts", "1m) --", "1m", {"n": "count"}), {}),
    ("window_around", ("a", "b", "k", "ts", "ts", "1m", "1m", {"n) --": "count"}), {}),
    ("window_around", ("a", "b", "k", "ts", "ts", "1m", "1m", {"n": ["sum", "x) --"]}), {}),
    ("window_around", ("a", "b", "k", "ts", "ts", "1m", "1m", {"n": ["sum", "x, y"]}), {}),
]


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("given", [3, False, {"k": "v"}, {}, "", Undefined()], ids=repr)
@pytest.mark.parametrize(
    ("name", "args", "kwargs", "argument"),
    [
        ("session", ("t", "ts", "1 day"), {}, "partition_by"),
        ("window_dedup", ("t",), {"order_by": "x"}, "partition_by"),
        ("over", ("sum(x)",), {"order_by": "ts"}, "partition_by"),
        ("over", ("sum(x)",), {"partition_by": "k", "order_by": "ts"}, "exclude"),
        ("asof_join", ("a", "b"), {"left_time": "ts", "right_time": "ts"}, "on"),
    ],
)
def test_neither_a_name_nor_a_list_of_names(
    adapter: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], argument: str, given: object
) -> None:
    if argument == "on" and isinstance(given, dict):
        return  # pairs of columns
    with pytest.raises(CompilerError, match=argument if argument != "exclude" else "over can't exclude"):
        macros(adapter).call(name, *args, **kwargs, **{argument: given})


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize(("name", "args", "kwargs"), BREAKS_OUT)
def test_no_argument_breaks_out(adapter: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    with pytest.raises((CompilerError, TranslationError)):
        translate("SELECT * FROM " + macros(adapter).call(name, *args, **kwargs))


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize(
    ("name", "args", "kwargs", "kept"),
    [
        ("tumble", ("(select * /* of ' all */ from t -- it's\n where a = ')')", "ts", "1 day"), {}, "it's\n where"),
        ("tumble", ("cat.db.`my t`", "`my ts`", "interval '1' day"), {}, "`my t`"),
        ("session", ("t", "ts", "1 day"), {"close_on": r"""x in ('--', ';', '\')', `a;b`, "(")"""}, "`a;b`"),
        (
            "over",
            ("sum(case when x = ')' then 1 end)",),
            {"partition_by": ["k", "f(a, b)"], "order_by": "ts"},
            "f(a, b)",
        ),
        ("over", ("sum(x)",), {"partition_by": "k, j", "order_by": "ts"}, "k, j"),
        ("window_join", ("a", "b"), {"on": "L.k = R.k and coalesce(L.x, 1) = R.x - -1"}, "R.x - -1"),
        ("window_top_n", ("t", 3, "x desc, coalesce(y, 'a;b')"), {}, "'a;b'"),
        ("asof_join", ("a", "(select * from b -- it's\n)", "`*/ k`", "ts", "ts"), {}, "-- it's\n)"),
    ],
)
def test_whole_pieces_stay_as_they_are(
    adapter: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], kept: str
) -> None:
    assert kept in macros(adapter).call(name, *args, **kwargs)


@pytest.mark.parametrize("arrival", ["a b", "x) --", "a, b", "", "1a", "`a", "a.b"])
def test_arrival_is_one_column(arrival: str) -> None:
    sql = "SELECT sum(x) OVER (PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN 1d PRECEDING AND CURRENT ROW) FROM t"
    with pytest.raises(TranslationError, match="name of one column"):
        translate(sql, arrival=arrival)
    assert "`a b`" in translate(sql, arrival="`a b`")


# -- asof_join -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_asof_join(adapter: str) -> None:
    call = partial(macros(adapter).call, "asof_join")
    assert (
        call("trades", "quotes", "sym", "ts", "ts")
        == """\
(
  /* asof_join: each row of the left side with the last row of the right side up to its time, by sym */
  SELECT __left.*, __match.*
  FROM (
    SELECT __left, last_value(__right, TRUE) OVER before AS __match
    FROM (
      SELECT struct(*) AS __left, NULL AS __right, sym AS __key0, ts AS __time, TRUE AS __is_left
      FROM trades
      UNION ALL
      SELECT NULL, struct(* EXCEPT (sym, ts)), sym, ts, FALSE
      FROM quotes
      WHERE ts IS NOT NULL AND sym IS NOT NULL
    )
    WINDOW
      before AS (PARTITION BY __key0 ORDER BY __time, __is_left, __right ROWS UNBOUNDED PRECEDING)
  )
  WHERE __left IS NOT NULL
)"""
    )
    inner = call("t", "u", {"a": "`B`", "`C`": "c"}, "ts", "at", type="inner", direction="forward", tolerance="90 s")
    assert "ts IS NOT NULL AND a IS NOT NULL AND `C` IS NOT NULL" in inner
    assert "struct(* EXCEPT (c))" in inner
    assert "WHEN __after_time <= __time + INTERVAL '90' SECOND THEN __after" in inner
    assert "ORDER BY __time DESC NULLS FIRST, __is_left, __right ROWS" in inner
    assert inner.endswith("WHERE __left IS NOT NULL AND __match IS NOT NULL\n)")
    chosen = call("t", "u", [], "ts", "at", columns={"v": "w", "at": "at"}, ties=["v", "id"], allow_exact=False)
    assert "struct(v AS w, at), at, FALSE, struct(v, id)" in chosen
    assert "before AS (ORDER BY __time, __is_left DESC, __tie ROWS UNBOUNDED PRECEDING)" in chosen


# -- window_around -------------------------------------------------------------------------------------
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_window_around(adapter: str) -> None:
    call = partial(macros(adapter).call, "window_around")
    columns = {"n": "count", "best": ["max", "px * 2"]}
    assert (
        call("trades", "quotes", {"sym": "`Sym`"}, "ts", "at", "5 minutes", "90 seconds", columns)
        == """\
(
  /* window_around: each row of the left side with aggregates of the right side around its time, by sym = `Sym` */
  SELECT __left.*, n, best
  FROM (
    SELECT
      __left,
      count(__value0) OVER around AS n,
      max(__value1) OVER around AS best
    FROM (
      SELECT struct(*) AS __left, sym AS __key0, ts AS __time, NULL AS __value0, NULL AS __value1
      FROM trades
      UNION ALL
      SELECT NULL, `Sym`, at, 1, px * 2
      FROM quotes
      WHERE at IS NOT NULL AND `Sym` IS NOT NULL
    )
    WINDOW around AS (
      PARTITION BY __key0 ORDER BY __time
      RANGE BETWEEN INTERVAL '300' SECOND PRECEDING AND INTERVAL '90' SECOND FOLLOWING
    )
  )
  WHERE __left IS NOT NULL
)"""
    )
    later = call("t", "u", [], "ts", "ts", "-1 minute", "1 hour", columns)
    assert "WINDOW around AS (\n      ORDER BY __time\n" in later
    assert "RANGE BETWEEN INTERVAL '1' MINUTE FOLLOWING AND INTERVAL '60' MINUTE FOLLOWING\n" in later
    assert "BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW\n" in call("t", "u", [], "a", "b", "1h", "0s", columns)


@pytest.mark.parametrize("length", [f"{'9' * 40} days", "9223372036854.775808 seconds", f"{'9' * 5000} ms"])
def test_an_interval_longer_than_any_of_spark(length: str) -> None:
    """dbt 2 computes in 128 bits, and Python reads 4,300 digits."""
    with pytest.raises(CompilerError, match="longer than any interval of Spark"):
        macros("spark").call("tumble", "t", "ts", length)


@pytest.mark.parametrize(("macro", "argument"), [("hop", "slide"), ("cumulate", "step")])
def test_a_row_is_in_so_many_windows_at_most(macro: str, argument: str) -> None:
    message = f"a row is in 2000000 of these windows, .*\n  write a {argument} of 0.002 seconds or more"
    with pytest.raises(CompilerError, match=message):
        macros("spark").call(macro, "t", "ts", "1 ms", "2000 seconds")
    assert macros("spark").call(macro, "t", "ts", "2 ms", "2000 seconds")


@pytest.mark.parametrize("config", [{"max_windows": 9}, {"meta": {"max_windows": 9}}, {"max_windows": 9, "meta": None}])
def test_a_model_says_how_many_windows(config: dict[str, object]) -> None:
    """To dbt 2, a config of ours is in `meta` alone, and `config.get` doesn't find it there."""
    model = SimpleNamespace(resource_type="model", config=config)
    assert Macros("spark", model=model).call("hop", "t", "ts", "1 second", "9 seconds")
    with pytest.raises(CompilerError, match="a row is in 10 of these windows, and 9 is the most"):
        Macros("spark", model=model).call("hop", "t", "ts", "1 second", "10 seconds")


@pytest.mark.parametrize(
    ("macro", "arguments", "option"),
    [
        ("window_sql", ("select 1", "flink"), ""),
        ("stream", ("t", None, None), " --as-tables"),
        ("request", ("m", []), ""),
    ],
)
def test_what_needs_the_adapter_has_a_way_out_on_dbt_2(macro: str, arguments: tuple[object, ...], option: str) -> None:
    there = Macros("spark", var=lambda name, default=None: default)
    with pytest.raises(CompilerError, match=f"^{macro} needs the adapter .*\n.*\n.*`sparkstream build{option}`"):
        there.call(f"default__{macro}", *arguments)


REACHED = [
    path for folder in ("functions", "private", "tests", "windows") for path in (ROOT / "macros" / folder).glob("*.sql")
]
REACHED.remove(ROOT / "macros" / "private" / "increments.sql")  # of materializations


@pytest.mark.parametrize("path", REACHED, ids=lambda path: path.stem)
def test_what_a_generic_test_reaches_is_called_by_dispatch(path: Path) -> None:
    """Of macros that are called by name, dbt gives a generic test those alone that the test itself calls."""
    tree = get_environment().parse(path.read_text(encoding="utf-8"))
    called = {call.node.name for call in tree.find_all(nodes.Call) if isinstance(call.node, nodes.Name)}
    assert [name for name in called if name.startswith("sparkstream_")] == []


@pytest.mark.parametrize("path", sorted((ROOT / "macros").rglob("*.sql")), ids=lambda path: path.stem)
def test_what_jinja_of_dbt_2_has_otherwise(path: Path) -> None:
    """It asks a loop's condition before the first round, and has no `'{:,}'.format(...)`."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"['\"]\.format\(", text)
    names = set(re.findall(r"set (\w+) = namespace\(", text))
    conditions = re.findall(r"\{%-? for \w+(?:, \w+)* in [^%]*? if ([^%]*?) -?%\}", text)
    changing = {f"{name}." for name in names}
    assert not [condition for condition in conditions if any(name in condition for name in changing)]


# -- intervals -----------------------------------------------------------------------------------------
_UNITS = sorted(
    {
        spelt
        for unit in (*MICROS, "us", "ms", "s", "sec", "m", "min", "h", "hr", "d", "w", "month", "year", "century", "x")
        for spelt in (unit.lower(), unit.lower() + "s", unit.upper(), unit.lower() + "ss")
    }
)
_AMOUNTS: tuple[str, ...] = (
    "10",
    "-10",
    "+10",
    "0.5",
    ".5",
    "5.",
    "-0.5",
    "-1.5",
    ".",
    "-",
    "",
    "1e3",
    "1.0000001",
    "007",
    "٣",
    "9" * 20,
)
_AMOUNTS += ("1.5.2", "--1", "1 0", "- 1", "Infinity", "NaN", "1_000", "0")
_SPELT = [
    *(f"{amount} {unit}" for amount, unit in itertools.product(_AMOUNTS, _UNITS)),
    *(f"{amount}{unit}" for amount in ("10", "-1.5") for unit in _UNITS),
    *(f"INTERVAL '{amount}' {unit}" for amount, unit in itertools.product(("10", "-1.5", "x", ""), _UNITS)),
    *("1 hour 30 minutes", "1h30m", "1 hour -30 minutes", "1 day 1 x", "10\tminutes", " 10  minutes ", "10", "minutes"),
    *(
        "interval 10 minutes",
        "interval 1 hour 30 minutes",
        "INTERVAL -'2' MINUTE",
        "interval",
        "10' minutes",
        "1:30 hours",
    ),
    *("10 minutes 5", "10, minutes", "10 min utes", "intervalx 10 minutes", "interval '10 minutes'", "", " "),
]


def _by_translator(text: str) -> int | None:
    try:
        if text.lower().startswith("interval"):
            return read_interval(DIALECTS["spark"]().tokenize(text)).micros
        return Interval.parse(text).micros
    except IntervalError:
        return None


def _by_macro(text: str) -> int | None:
    try:
        return int(macros().call("default__sparkstream_interval", text, "tumble", "size"))
    except CompilerError:
        return None


def test_macros_and_translator_read_the_same_intervals() -> None:
    different = {text: read for text in _SPELT if (read := (_by_macro(text), _by_translator(text)))[0] != read[1]}
    assert different == {}
    assert sum(_by_macro(text) is not None for text in _SPELT) > 200


@pytest.mark.parametrize("micros", [0, 1, -1, 500_000, -500_000, -1_500_000, 60_000_000, -60_000_000, 86_400_000_001])
def test_macros_and_translator_write_the_same_intervals(micros: int) -> None:
    written = macros().call("default__sparkstream_written", micros)
    assert written == Interval(micros).words()
    assert Interval.parse(written).micros == micros
    assert macros().call("default__sparkstream_written", micros, literal=True) == Interval(micros).sql()


# -- queries -------------------------------------------------------------------------------------------
_CALLS = [
    ("tumble", ("t", "ts", "10 minutes"), {}),
    ("tumble", ("(select *\n from t where x = 'a\n b')", "`event time`", "10 minutes", "-3 minutes"), {}),
    ("tumble", ("t", "`it``s`", "10 minutes"), {}),
    ("hop", ("t", "ts", "10 minutes", "10 minutes", "15 minutes"), {}),
    ("hop", ("t", "ts", "5 minutes", "10 minutes"), {}),
    ("hop", ("t", "ts", "5 minutes", "10 minutes", "-7 minutes"), {}),
    ("hop", ("t", "ts", "4 minutes", "10 minutes"), {}),
    ("hop", ("t", "ts", "10 minutes", "4 minutes"), {}),
    ("hop", ("t", "ts", "1 hour", "28 days"), {}),
    ("hop", ("t", "ts", "1 hour", "29 days"), {}),
    ("hop", ("t", "ts", "1 day", "29 days"), {}),
    ("hop", ("t", "ts", "5 hours", "29 days"), {}),
    ("cumulate", ("t", "ts", "1 hour", "1 hour"), {}),
    ("cumulate", ("t", "ts", "1 hour", "1 day", "6 hours"), {}),
    ("cumulate", ("t", "ts", "1 day", "7 days"), {}),
    ("cumulate", ("t", "ts", "2 days", "8 days"), {}),
    *(
        ("session", ("t", "ts", gap), {"partition_by": keys, "max_duration": longest, "close_on": condition})
        for gap, keys, longest, condition in itertools.product(
            ("10 minutes", "own_gap"),
            (None, "k", ["k", "`a ``b`"]),
            (None, "1 hour"),
            (None, "x > 1 and y = '*/\n{time}'"),
        )
    ),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), _CALLS)
def test_the_package_and_the_translator_write_the_same(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    alone, with_adapter = (macros(adapter).call(name, *args, **kwargs) for adapter in ("spark", "sparkstream"))
    assert "SELECT * FROM " + alone == translate(f"SELECT * FROM {with_adapter}")


def test_a_query_keeps_its_layout_within_a_statement() -> None:
    call = "tumble((select *\nfrom t where x = 'a\nb'), ts, '10 minutes')"
    alone = translate(f"SELECT * FROM {call}").removeprefix("SELECT * FROM ")
    relation = call[len("tumble(") : call.index(", ts")]
    before, after = alone.split(relation)
    within = before.replace("\n", "\n    ") + relation + after.replace("\n", "\n    ")
    assert translate(f"SELECT *\n    FROM {call}") == f"SELECT *\n    FROM {within}"


def test_macros_and_translator_know_the_same_zones() -> None:
    assert macros().call("default__sparkstream_shows_utc") == SHOWS_UTC


def test_the_bounds_of_a_frame_have_one_unit() -> None:
    """Spark refuses a frame from INTERVAL '1' HOUR to INTERVAL '10' MINUTE: the two are of different types."""
    call = partial(macros().call, "over", "sum(v)", "k", "ts", frame="range")
    frame = "sum(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN {})"
    bounds = "INTERVAL '60' MINUTE PRECEDING AND INTERVAL '10' MINUTE FOLLOWING"
    assert call(start="1 hour", end="10 minutes following") == frame.format(bounds)
    assert call(start="1 hour") == frame.format("INTERVAL '1' HOUR PRECEDING AND CURRENT ROW")
