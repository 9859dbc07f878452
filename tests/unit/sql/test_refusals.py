"""Refusals: a text that can't be translated is a TranslationError, at its place, whatever it is; and soon."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NoReturn

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, explain, translate
from dbt.adapters.sparkstream.sql.core.errors import TranslatorFault
from dbt.adapters.sparkstream.sql.membership import find
from dbt.adapters.sparkstream.sql.requests import request_sql
from dbt.adapters.sparkstream.sql.statement import Statement
from dbt.adapters.sparkstream.sql.streaming import plan
from dbt.adapters.sparkstream.sql.translate import tables
from tests.lib.support import calls

TUMBLE = "SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)"
OVER = "(PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN 1d PRECEDING AND CURRENT ROW)"
LONG = "9" * 5000


@pytest.mark.parametrize("mode", ["batch", "stream"])
@pytest.mark.parametrize(
    ("sql", "dialect", "message"),
    [
        ("select interval 1 2 hours from t", "flink", "is read as what it isn't"),
        ("ELSE", "flink", "isn't expected here"),
        ("SELECT sum(x) OVER w FROM t WINDOW w AS (UNION", "openmldb", "UNION takes tables"),
        (f"SELECT top(x,) OVER w FROM t WINDOW w AS {OVER}", "openmldb", "top takes 2 arguments"),
        (f"SELECT a AS w; WITH; SELECT sum(x) OVER w FROM t WINDOW w AS {OVER}", "openmldb", "WITH"),
        ("SELECT GROUP BY STEP(s BY", "sqlstream", "STEP needs"),
        (TUMBLE.replace("'1'", "'1e9999999999'"), "spark", "not a number"),
        (TUMBLE.replace("'1'", "'Infinity'"), "flink", "precision|number"),
        (TUMBLE.replace("'1'", "'" + LONG + "'"), "spark", "too long"),
        (TUMBLE.replace("'1' DAY", "'999999999' DAY"), "spark", "longer than any interval"),
        (TUMBLE.replace("*", LONG), "spark", "5,000 digits"),
        (f"SELECT CAST(x AS DECIMAL({LONG})) FROM t", "flink", "5,000 digits"),
        (f"SELECT sum(x) OVER w FROM t WINDOW w AS {OVER.replace('1d', LONG)}", "openmldb", "5,000 digits"),
        ("SELECT " + "CEIL(" * 14 + "ts" + " TO DAY)" * 14 + " FROM t", "flink", "5,000,000 characters"),
        (TUMBLE.replace("*", "(" * 3000 + "1" + ")" * 3000), "spark", "nested too deeply"),
    ],
)
def test_refused(sql: str, dialect: str, message: str, mode: str) -> None:
    with pytest.raises(TranslationError, match=message) as caught:
        translate(sql, dialect, mode=mode)
    assert not isinstance(caught.value, TranslatorFault)
    line = sql.split("\n")[caught.value.line - 1]
    assert 1 <= caught.value.column <= len(line) + 1


MILLISECONDS = "INTERVAL '0.001' SECOND, INTERVAL '2000' SECOND(4)"
"""Two million windows for each row."""


@pytest.mark.parametrize("mode", ["batch", "stream"])
@pytest.mark.parametrize(
    ("sql", "dialect", "argument"),
    [
        ("SELECT * FROM hop(t, ts, '1 ms', '2000 s')", "spark", "slide"),
        ("SELECT * FROM << cumulate(t, ts, '1 ms', '2000 s') >>", "spark", "step"),
        (f"SELECT * FROM HOP(TABLE t, DESCRIPTOR(ts), {MILLISECONDS})", "flink", "slide"),
        (f"SELECT * FROM TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), {MILLISECONDS}))", "flink", "step"),
        (f"SELECT COUNT(*) FROM t GROUP BY HOP(ts, {MILLISECONDS})", "flink", "slide"),
        ("SELECT * FROM hop(t, ts, '1 ms', '2000 s')", "openmldb", "slide"),
        ("SELECT * FROM cumulate(t, ts, '1 ms', '2000 s')", "sqlstream", "step"),
        (
            "SELECT window_end, sum(x) FROM hop(t, ts, '1 ms', '2000 s') GROUP BY window_start, window_end",
            "spark",
            "slide",
        ),
    ],
)
def test_a_row_is_in_so_many_windows_at_most(sql: str, dialect: str, argument: str, mode: str) -> None:
    with pytest.raises(TranslationError, match="a row is in 2,000,000 of these windows, and 1,000,000") as caught:
        translate(sql, dialect, mode=mode)
    assert caught.value.hint and f"write a {argument} of 0.002 seconds or more, or set max_windows" in caught.value.hint
    assert sql[caught.value.column - 1 :].startswith(("'1 ms'", "INTERVAL '0.001'"))
    if mode == "batch":
        assert translate(sql, dialect, max_windows=2_000_000)
    with pytest.raises(TranslationError, match="and 10 is the most"):
        translate(sql, dialect, mode=mode, max_windows=10)


def test_a_window_call_as_the_time_of_a_window() -> None:
    """Spark says that GROUP BY takes none; the translator has to compare the times before."""
    window = f"TUMBLE(max(ts) OVER {OVER}, INTERVAL '1' DAY)"
    with pytest.raises(TranslationError) as caught:
        translate(f"SELECT TUMBLE_START(ts, INTERVAL '1' DAY), count(*) FROM t GROUP BY {window}", "openmldb")
    assert not isinstance(caught.value, TranslatorFault)


def test_an_element_of_an_array() -> None:
    assert translate("SELECT array[1].x AS y FROM t", "flink") == "SELECT ARRAY(1).x AS y FROM t"
    assert (
        translate("SELECT ARRAY[1, 2][1] AS y FROM t", "flink") == "SELECT TRY_ELEMENT_AT(ARRAY(1, 2), 1) AS y FROM t"
    )


@pytest.mark.parametrize("hint", ["/*+ a /* b */ */", "/*+ a /* */", "/*+ ' */"])
def test_a_hint_stays_as_it_is(hint: str) -> None:
    assert translate(TUMBLE.replace("*", f"{hint} *")).startswith(f"SELECT {hint} * FROM")


_PUBLIC: dict[str, Callable[[str], object]] = {
    "translate": lambda sql: translate(sql),
    "stream": lambda sql: translate(sql, mode="stream"),
    "plan": lambda sql: plan(sql, streams=None),
    "explain": lambda sql: explain(sql),
    "tables": lambda sql: tables(sql),
    "find": lambda sql: find(sql),
    "request": lambda sql: request_sql(sql, "spark", {"x": 1}, schema={"t": {"x": "int"}}),
}


@pytest.mark.parametrize("name", _PUBLIC)
def test_what_nobody_foresaw(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cause = KeyError("nobody")

    def fail(*args: object, **kwargs: object) -> NoReturn:
        raise cause

    monkeypatch.setattr(Statement, "parse", fail)
    with pytest.raises(TranslatorFault, match="fault of its own: KeyError") as caught:
        _PUBLIC[name](TUMBLE)
    assert caught.value.__cause__ is cause


def test_arguments_stay_value_errors() -> None:
    for dialect, mode in (("oracle", "batch"), ("spark", "later")):
        with pytest.raises(ValueError) as caught:
            translate(TUMBLE, dialect, mode=mode)
        assert not isinstance(caught.value, TranslationError)


def test_what_a_callback_raises_passes() -> None:
    def ask(names: list[str]) -> NoReturn:
        raise KeyError("the server")

    with pytest.raises(KeyError):
        translate(TUMBLE, schema=ask)


def test_stream_mode_takes_schema_optimize_and_arrival() -> None:
    sql = "SELECT window_start, count(*) AS n FROM HOP(TABLE t, DESCRIPTOR(x), INTERVAL '1' DAY, INTERVAL '9' DAY) "
    sql += "GROUP BY window_start, window_end"
    asked = []

    def ask(names: list[str]) -> dict[str, dict[str, str]]:
        asked.append(names)
        return {"t": {"x": "int"}}

    with pytest.raises(TranslationError, match="of type int"):
        translate(sql, mode="stream", schema=ask)
    assert asked == [["t"]]
    assert "the optimizer is off here" in translate(sql, mode="stream", optimize=False)
    assert "the optimizer is off here" not in translate(sql, mode="stream")


def test_stream_mode_shows_what_was_written() -> None:
    sql = "WITH r AS (SELECT window_end, max(x) AS y FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)\n"
    sql += "GROUP BY window_start, window_end)\nSELECT *,\n  top(y, y) OVER (PARTITION BY window_end ORDER BY y "
    sql += "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE CURRENT_ROW) AS m\nFROM r"
    with pytest.raises(TranslationError, match="constant whole number") as caught:
        translate(sql, mode="stream")
    assert (caught.value.line, caught.value.source_line) == (4, sql.split("\n")[3])


# -- SQLstream ---------------------------------------------------------------------------------------
_QUOTED = "SELECT SUM(x) OVER (PARTITION BY k ORDER BY \"ts\" RANGE INTERVAL '1' HOUR PRECEDING) AS s FROM t"


def test_names_in_double_quotes_are_no_strings() -> None:
    assert "`ts`" in translate(_QUOTED, "sqlstream")
    assert "`ts`" in translate(_QUOTED, "sqlstream", schema={"t": {"k": "string", "ts": "timestamp", "x": "int"}})


def test_ties_go_by_rowtime_only_where_there_is_one() -> None:
    columns = {"k": "string", "ts": "timestamp", "x": "int"}
    assert "ROWTIME" not in translate(_QUOTED, "sqlstream")
    assert "ROWTIME" not in translate(_QUOTED, "sqlstream", schema={"t": columns})
    assert "ROWTIME" in translate(_QUOTED, "sqlstream", schema={"t": {**columns, "ROWTIME": "timestamp"}})
    assert "ROWTIME" in translate(_QUOTED.replace('"ts"', "FLOOR(ROWTIME TO HOUR)"), "sqlstream")


# -- time --------------------------------------------------------------------------------------------
def _hop(n: int) -> str:
    sums = ", ".join(f"sum(x{i}) AS s{i}" for i in range(n))
    return (
        f"SELECT window_start, window_end, {sums} FROM HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, "
        "INTERVAL '60' MINUTE) GROUP BY window_start, window_end"
    )


def _last_joins(n: int) -> str:
    joins = " ".join(f"LAST JOIN u AS u{i} ORDER BY u{i}.ts ON t.k = u{i}.k" for i in range(n))
    return f"SELECT t.k, {', '.join(f'u{i}.x AS x{i}' for i in range(n))} FROM t {joins}"


def _statements(n: int) -> str:
    return "SELECT a, b + 1 AS c FROM t WHERE a > 1;\n" * n + TUMBLE


@pytest.mark.parametrize(
    ("make", "dialect"),
    [(_hop, "spark"), (_last_joins, "openmldb"), (_statements, "spark")],
    ids=["aggregates of a HOP", "LAST JOINs", "plain statements"],
)
def test_work_grows_with_the_statement(make: Callable[[int], str], dialect: str) -> None:
    translate(make(10), dialect)  # what is imported once
    short, long = (calls(partial(translate, make(n), dialect)) for n in (100, 800))
    # Twice the work of a statement of eight times the length, if work grew with its length; else 64 times.
    assert long < 16 * short


A_SECOND = 2_000_000
"""Calls of functions in a second or two."""


@pytest.mark.parametrize("piece", ["ARRAY[", "STRUCT(", "DECIMAL(", "x + (", "f("])
@pytest.mark.parametrize("dialect", ["spark", "flink"])
def test_nesting_takes_no_work_of_its_own(piece: str, dialect: str) -> None:
    closing = {"[": "]", "(": ")"}[piece[-1]]

    def nested() -> None:
        try:
            translate(TUMBLE.replace("*", piece * 20 + "x" + closing * 20), dialect)
        except TranslationError as error:
            assert "has a counterpart" in error.message or "no function" in error.message

    assert calls(nested) < A_SECOND


def test_joins_without_a_condition_take_no_work_of_their_own() -> None:
    assert calls(lambda: translate(TUMBLE + " AS w" + " JOIN u" * 25)) < A_SECOND


@pytest.mark.parametrize(
    "query",
    [
        "SELECT $rowtime FROM t",
        "SELECT t.$rowtime AS x FROM t",
        "SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR($rowtime), INTERVAL '5' MINUTE)",
        "SELECT COUNT(*) AS n FROM t GROUP BY TUMBLE($ROWTIME, INTERVAL '5' MINUTE)",
    ],
)
@pytest.mark.parametrize("schema", [None, {"t": {"ts": "timestamp"}}])
def test_confluents_event_time(query: str, schema: dict[str, dict[str, str]] | None) -> None:
    with pytest.raises(TranslationError) as error:
        translate(query, "flink", schema=schema)
    assert "Confluent's name for the event time" in str(error.value)
    assert error.value.column == query.upper().index("$ROWTIME") + 1
    assert error.value.hint == (
        "write the column that has the watermark; or give what is read an event_time in its config"
    )
