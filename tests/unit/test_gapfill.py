"""gapfill and the arguments of no_gaps without dbt: their SQL, and what they say of wrong arguments."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.sparkstream.sql import translate
from tests.lib.macros import CompilerError, Macros, macros

ADAPTERS = ("spark", "sparkstream")


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_gapfill(adapter: str) -> None:
    call = partial(macros(adapter).call, "gapfill")
    assert (
        call("bids", "item", "1 day", fill={"bids": 0, "price": "locf"})
        == """\
(
  /* gapfill: windows of 1 day, per item; bids 0, price locf */
  WITH __windows AS (
    SELECT
      item, struct(* EXCEPT (__wall_end, __earlier_end)) AS __row,
      window_start AS __window_start,
      window_end AS __window_end,
      bids AS __value_bids,
      price AS __value_price,
      CASE
        WHEN window_start IS NULL OR window_end IS NULL THEN NULL
        WHEN pmod((__wall_end - TIMESTAMP_NTZ'1970-01-01 00:00:00') DIV INTERVAL '0.000001' SECOND, 86400000000) = 0
          AND coalesce(__wall_end - INTERVAL '1' DAY, window_start) = window_start
          THEN __wall_end
        WHEN pmod((__earlier_end - TIMESTAMP_NTZ'1970-01-01 00:00:00') DIV INTERVAL '0.000001' SECOND, 86400000000) = 0
          AND coalesce(__earlier_end - INTERVAL '1' DAY, window_start) = window_start
          AND coalesce(__earlier_end, window_end) = window_end
          THEN __earlier_end
        ELSE raise_error(concat(
          'gapfill: none of the windows of 1 day is from ', window_start, ' to ', window_end,
          '; write the size, slide, step and offset of the macro that made the windows (sessions have no fixed places)'
        ))
      END AS __end
    FROM (
      SELECT
        *,
        CAST(window_end AS TIMESTAMP_NTZ) AS __wall_end,
        CAST(window_end - INTERVAL '12' HOUR AS TIMESTAMP_NTZ) + INTERVAL '12' HOUR AS __earlier_end
      FROM bids
    )
  ),
  __chain AS (
    SELECT
      *,
      lag(__value_price) OVER __key AS __value_before_price,
      lag(__end) OVER __key AS __end_before
    FROM __windows
    WINDOW __key AS (PARTITION BY item ORDER BY __end)
  )
  SELECT
    item, coalesce(__at - INTERVAL '1' DAY, __window_start) AS window_start,
    coalesce(__at, __window_end) AS window_end,
    CASE WHEN __at <=> __end THEN __value_bids ELSE 0 END AS bids,
    CASE
      WHEN __at <=> __end THEN __value_price
      ELSE __value_before_price
    END AS price,
    __kept.* EXCEPT (item, window_start, window_end, bids, price),
    NOT (__at <=> __end) AS is_filled
  FROM (
    SELECT
      *,
      if(__at <=> __end, __row, NULL) AS __kept
    FROM __chain
    LATERAL VIEW explode(
      CASE
        WHEN __end <= __end_before THEN raise_error(
          'gapfill: a key has two rows for one window; write all grouping columns in by, grouping_id() among them'
        )
        ELSE concat(
          if(
            __end_before + INTERVAL '1' DAY <= __end - INTERVAL '1' DAY,
            sequence(__end_before + INTERVAL '1' DAY, __end - INTERVAL '1' DAY, INTERVAL '1' DAY),
            array()
          ),
          array(__end)
        )
      END
    ) __grid AS __at
  )
  WHERE __at <=> __end OR current_timezone() IN ('UTC', 'Etc/UTC', 'GMT') OR (
    (CAST(coalesce(__at - INTERVAL '1' DAY, __window_start) AS TIMESTAMP_NTZ) = __at - INTERVAL '1' DAY
      OR CAST(coalesce(__at - INTERVAL '0.000001' SECOND, __window_end) AS TIMESTAMP_NTZ)
        = __at - INTERVAL '0.000001' SECOND)
  )
)"""
    )
    hop = call("t", ["a", "`b c`"], "1 hour", slide="30m", fill={"x": "nearest", "y": "'none'", "z": None}, max_gap=3)
    assert "/* gapfill: windows of 1 hour every 30 minutes, per a, `b c`; x nearest, y 'none', z NULL */" in hop
    assert "WHEN NOT __hole <= INTERVAL '90' MINUTE THEN NULL" in hop
    assert "THEN __value_y WHEN __hole <= INTERVAL '90' MINUTE THEN 'none' END AS y" in hop
    assert "__kept.z AS z" in hop and "EXCEPT (a, `b c`, window_start, window_end, x, y, z)" in hop
    between = call("t", size="10m", to="now()", fill={"x": True}, flag="made", **{"from": "2024-01-01"})
    assert "TIMESTAMP_NTZ'2024-01-01'" in between and "CAST(now() AS TIMESTAMP_NTZ)" in between
    assert "UNION ALL\n    SELECT NULL, NULL, NULL, NULL, NULL\n" in between and "ELSE TRUE END AS x" in between
    assert between.endswith("NOT (__at <=> __end) AS made" + between.rpartition("AS made")[2])
    spread = call("t", "k", "10m", span="all", spine="(SELECT id AS k FROM u)")
    assert "SELECT DISTINCT k, NULL, NULL, NULL, NULL FROM (SELECT id AS k FROM u)" in spread
    assert "(SELECT max(__end) FROM __windows) AS __last" in spread
    grown = call("t", "k", "1 day", step="1 hour", offset="-30m", fill={"x": "linear"})
    assert "windows that grow by 1 hour up to 1 day (offset -30 minutes)" in grown
    assert (
        "(CAST(__value_before_x AS DOUBLE) * (__between - __behind) + CAST(__value_x AS DOUBLE) * __behind) / __between"
        in grown
    )


def test_the_adapter_translates_what_is_within() -> None:
    """The relation's windows, and nothing else."""
    call = partial(macros("sparkstream").call, "gapfill", by="k", size="10 minutes", fill={"n": 0}, span="all")
    written = call("(SELECT k, window_start, window_end, count(*) AS n FROM {} GROUP BY k, window_start, window_end)")
    given = f"SELECT * FROM {written}"
    assert translate(given.format("bids")) == given.format("bids")
    translated = translate(given.format("tumble(bids, ts, '10 minutes')"))
    assert "/* tumble: windows of 10 minutes on ts */" in translated
    before, _, after = given.partition("{}")
    assert translated.startswith(before) and translated.endswith(after)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no size": ({"size": None}, "gapfill's size is missing\n  write it as in the macro that made the windows"),
    "size": ({"size": "ten"}, "gapfill's size is no interval: 'ten'"),
    "months": ({"size": "1 month"}, "gapfill's size can't be in months or years, which have no fixed length"),
    "slide and step": ({"slide": "1m", "step": "1m"}, "write slide for the windows of hop, step for those of cumulate"),
    "step": ({"step": "7m"}, "gapfill's size (10 minutes) must be a whole multiple of its step (7 minutes)"),
    "relation": ({"relation": None}, "gapfill's relation is missing\n  write ref('...')"),
    "query": ({"relation": "select 1"}, "gapfill's relation is a query without parentheses: select 1"),
    "session": ({"relation": "session(t, ts, '1 hour')"}, "gapfill can't fill sessions: they have no fixed places"),
    "plain session": (
        {"relation": macros("spark").call("session", "t", "ts", "1 hour")},
        "gapfill can't fill sessions: they have no fixed places, so none is missing between two of them"
        "\n  fill the windows of tumble, hop or cumulate",
    ),
    "keys": (
        {"by": "a, b"},
        "gapfill's by has several columns in one text: 'a, b'\n  write a list of them: ['a', 'b']",
    ),
    "key": ({"by": ["k", "a b"]}, "gapfill's by is no column name: a b"),
    "key twice": ({"by": ["k", "`K`"]}, "gapfill's by has `K` twice"),
    "window as key": (
        {"by": ["window_start"]},
        "gapfill's by has window_start, which is no key: each window has its own",
    ),
    "from": (
        {"from": " "},
        "gapfill's from is empty\n  write a time such as '2024-01-01 00:00:00', or an SQL expression",
    ),
    "to": ({"to": "now(), 1"}, "gapfill's to is no whole piece of SQL, it has a comma outside parentheses"),
    "span": ({"span": "keys"}, "gapfill's span is neither key nor all: 'keys'\n  write span='key' or span='all'"),
    "spine, no key": ({"by": None, "spine": "u", "span": "all"}, "gapfill's spine has keys, and there is no by"),
    "spine, no time": (
        {"spine": "u", "to": "2024-01-01"},
        "gapfill's spine has keys without a window, whose time nothing says\n  write span='all', or from and to",
    ),
    "spine": ({"spine": "u; v", "span": "all"}, "gapfill's spine is no whole piece of SQL, it has a semicolon"),
    "max_gap": ({"max_gap": 0}, "gapfill's max_gap is neither a positive number of windows nor an interval: 0"),
    "max_gap of truth": (
        {"max_gap": True},
        "gapfill's max_gap is neither a positive number of windows nor an interval",
    ),
    "max_gap of time": ({"max_gap": "-1m"}, "gapfill's max_gap must be positive: '-1m'"),
    "flag": ({"flag": "is it"}, "gapfill's flag is no column name: is it"),
    "flag's name": ({"flag": "`k`"}, "gapfill's flag is a name that the windows have: `k`"),
    "fill": ({"fill": "locf"}, "gapfill's fill is no mapping of columns: locf\n  write it such as {'price': 'linear',"),
    "way": ({"fill": {"v": "LOCF"}}, "gapfill's fill knows no way 'LOCF' for v, did you mean locf?"),
    "text": ({"fill": {"v": "none"}}, "a text with quotes of its own (\"'none'\"), or none"),
    "list": ({"fill": {"v": [1]}}, "gapfill's fill knows no way '[1]' for v"),
    "infinity": ({"fill": {"v": float("inf")}}, "gapfill's fill knows no way 'inf' for v"),
    "key filled": ({"fill": {"K": 0}}, "gapfill's fill has K twice, or it is a column that each row has of its own"),
    "flag filled": ({"fill": {"is_filled": 0}}, "gapfill's fill has is_filled twice, or"),
    "filled twice": ({"fill": {"v": 0, "V": 1}}, "gapfill's fill has V twice, or"),
    "other": ({"every": "1m"}, "gapfill has no argument every"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name: str) -> None:
    wrong, message = WRONG[name]
    with pytest.raises(CompilerError) as refused:
        macros("spark").call("gapfill", **{"relation": "t", "by": "k", "size": "10 minutes", **wrong})
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("name", "more"),
    [("to", {"to": "2024-01-01"}), ("span='all'", {"span": "all"}), ("spine", {"spine": "s", "span": "all"})],
)
def test_a_streaming_model_fills_up_to_the_newest_window(name: str, more: dict[str, str]) -> None:
    with pytest.raises(CompilerError, match=rf"gapfill takes no (span='all'|{name}) in a streaming model.*\n  leave "):
        macros(streams=True).call("gapfill", "t", "k", "10 minutes", **more)
    assert macros(streams=True).call("gapfill", "t", "k", "10 minutes", **{"from": "2024-01-01"})


@pytest.mark.parametrize(("kind", "materialized"), [("model", "table"), ("test", "streaming_incremental")])
def test_only_a_streaming_model_streams(kind: str, materialized: str) -> None:
    fresh = Macros(model=SimpleNamespace(resource_type=kind), config={"materialized": materialized})
    assert "ORDER BY __end)" in fresh.call("gapfill", "t", "k", "10 minutes", to="2024-01-01")
    assert "ORDER BY __window_end, __end)" in macros(streams=True).call("gapfill", "t", "k", "10 minutes")


@pytest.mark.parametrize(
    ("windows", "refused"),
    [
        ({"size": "10 minutes"}, False),
        ({"size": "2 hours"}, False),
        ({"size": "20 minutes"}, True),
        ({"size": "1 hour", "slide": "10 minutes"}, True),
        ({"size": "3 hours", "slide": "1 hour"}, False),
        ({"size": "1 day", "step": "30 minutes"}, True),
    ],
)
def test_a_stream_of_windows_that_close_in_disorder(windows: dict[str, str], refused: bool) -> None:
    sql = macros(streams=True).call("gapfill", "t", "k", **windows)
    assert ("so a streaming model needs the time zone UTC" in sql) == refused


@pytest.mark.parametrize("text", ["'a' --'", "'a', 'b'", "'a') x, ('b'", "'a'; drop table t; '", "'a' /* '"])
def test_no_text_breaks_out(text: str) -> None:
    with pytest.raises(CompilerError):
        macros("spark").call("gapfill", "t", "k", "10 minutes", fill={"v": text})


def test_a_text_of_several_is_one() -> None:
    sql = macros("spark").call("gapfill", "t", "k", "10 minutes", fill={"v": "'a' || 'b'"})
    assert "ELSE ('a' || 'b') END AS v" in sql
