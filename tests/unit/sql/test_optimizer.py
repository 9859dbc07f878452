"""Rules: when they apply, when not, and the user's text that stays. Rows are compared in tests/property."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from dbt.adapters.sparkstream.sql import TranslationError, explain, translate
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.statement import Statement

SCHEMA = {
    "bid": {"ts": "timestamp", "k": "string", "v": "int", "m": "decimal(10,2)", "big": "decimal(38,2)", "d": "double"}
}
HOP = "HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)"
CUMULATE = "CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)"
SESSION = "SESSION(TABLE bid PARTITION BY k, DESCRIPTOR(ts), INTERVAL '10' MINUTE)"
ALL_IN_ONE = SESSION.replace(" PARTITION BY k", "")
LIMITED = "session(bid PARTITION BY k, ts, '10 minutes', max_duration => '1 hour')"
CLOSED = "session(bid PARTITION BY k, ts, '10 minutes', close_on => v > 5)"
BOUNDS = "window_start, window_end"
DAY = "TIMESTAMP '2020-01-01 00:00:00'"


def decision(sql: str, typed: bool = True) -> tuple[str | None, str | None]:
    """The rule that rewrote the one window of a statement, and why none did."""
    [found] = explain(sql, schema=SCHEMA if typed else None).decisions
    return found.rule, found.reason


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        (f"SELECT {BOUNDS}, count(*) AS n FROM {HOP} GROUP BY {BOUNDS}", "hop-slices"),
        (f"SELECT {BOUNDS}, count(*) AS n FROM {CUMULATE} GROUP BY {BOUNDS}", "cumulate-slices"),
        (f"SELECT {BOUNDS}, count(DISTINCT k) AS n, max(v) AS v FROM {CUMULATE} GROUP BY {BOUNDS}", "cumulate-slices"),
        (f"SELECT {BOUNDS}, count(DISTINCT k) AS n, sum(v) AS v FROM {HOP} GROUP BY {BOUNDS}", "hop-slices"),
        (f"SELECT {BOUNDS}, count(DISTINCT k) AS n, max(v) AS v FROM {HOP} GROUP BY {BOUNDS}", "hop-slices"),
        (f"SELECT count(*) AS n FROM {HOP} AS h GROUP BY h.window_end", "hop-slices"),
        (f"SELECT {BOUNDS}, k, sum(v) FROM {HOP} GROUP BY 1, 2, 3", "hop-slices"),
        (f"SELECT upper(k) AS u, sum(v) AS s FROM {HOP} GROUP BY {BOUNDS}, u HAVING s > 1", "hop-slices"),
        (f"SELECT k, avg(m) AS a FROM {HOP} WHERE v IN (SELECT v FROM t) GROUP BY {BOUNDS}, CUBE (k)", "hop-slices"),
        (f"WITH w AS (SELECT {BOUNDS}, min(v) AS v FROM {HOP} GROUP BY {BOUNDS}) SELECT * FROM w", "hop-slices"),
        (
            f"SELECT * FROM (SELECT {BOUNDS}, min(v) AS v FROM {HOP} GROUP BY {BOUNDS}) AS x JOIN t USING (v)",
            "hop-slices",
        ),
        (f"CREATE TABLE x AS SELECT {BOUNDS}, max(v) AS v FROM {HOP} GROUP BY {BOUNDS}", "hop-slices"),
        (f"SELECT {BOUNDS}, rank() OVER (ORDER BY sum(v)) AS r FROM {HOP} GROUP BY {BOUNDS} LIMIT 3", "hop-slices"),
        (f"SELECT {BOUNDS}, k, count(*) AS n FROM {SESSION} GROUP BY {BOUNDS}, k", "session-slices"),
        (
            f"SELECT date(s.window_end) AS d, min(v) AS v FROM {SESSION} AS s GROUP BY 1, window_start, s.K",
            "session-slices",
        ),
        (f"SELECT {BOUNDS}, count(*) AS n FROM {ALL_IN_ONE} GROUP BY {BOUNDS} HAVING n > 1", "session-slices"),
        (
            f"SELECT {BOUNDS}, max(v) AS v FROM {ALL_IN_ONE} WHERE window_end > {DAY} GROUP BY {BOUNDS}",
            "session-slices",
        ),
    ],
)
def test_applies(sql: str, rule: str) -> None:
    assert decision(sql) == (rule, None)
    assert translate(sql, schema=SCHEMA) == explain(sql, schema=SCHEMA).sql
    assert translate(sql, schema=SCHEMA) != translate(sql, schema=SCHEMA, optimize=False)


@pytest.mark.parametrize(
    ("aggregates", "runs"),
    [
        ("count(*) AS n, sum(v) AS v, avg(m) AS m", True),
        ("k", True),
        ("sum(v) FILTER (WHERE k = 'a') AS v", True),
        ("count(DISTINCT v) AS d, avg(v) AS a, count(DISTINCT v) + 1 AS more", True),
        ("count(DISTINCT m) FILTER (WHERE v > 1) AS d", True),
        ("count(DISTINCT m) AS m, max(v) AS v, sum(d) AS d", True),  # the others by frames that slide
        ("max(v) AS v, count(*) AS n", False),
        ("sum(d) AS d", False),  # of DOUBLE: subtraction would not be exact
        ("sum(big) AS b", False),  # a sum of windows has no more digits than that of one
        ("sum(unknown) AS u", False),
    ],
)
def test_sums_run_where_subtraction_is_exact(aggregates: str, runs: bool) -> None:
    sql = f"SELECT {BOUNDS}, {aggregates} FROM {HOP} GROUP BY {BOUNDS}, k"
    assert decision(sql) == ("hop-slices", None)
    ends = {
        (spec.args["start"], spec.args.get("end_side"))
        for spec in parse_one(translate(sql, schema=SCHEMA), read="spark").find_all(exp.WindowSpec)
    }
    # What is subtracted is a sum of all that came up to some time before.
    assert (("UNBOUNDED", "PRECEDING") in ends) is runs


SHORT = HOP.replace("'1' HOUR", "'2' MINUTE")


@pytest.mark.parametrize("window", [HOP, CUMULATE])
@pytest.mark.parametrize(
    "aggregates", ["count(*), sum(v), avg(v), sum(m)", "max(v), sum(d), count(v)", "count(DISTINCT v), avg(d), max(v)"]
)
def test_each_running_value_is_computed_once(window: str, aggregates: str) -> None:
    """Spark computes one that stands in a query twice twice."""
    sql = translate(f"SELECT k, {aggregates} FROM {window} GROUP BY {BOUNDS}, k", schema=SCHEMA)
    for select in parse_one(sql, dialect="spark").find_all(exp.Select):
        found = [w.sql("spark") for w in select.find_all(exp.Window) if w.parent_select is select]
        assert len(found) == len(set(found))


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (f"SELECT * FROM {HOP}", "doesn't group by the window"),
        (f"SELECT k, count(*) AS n FROM {HOP} GROUP BY k", "doesn't group by window_start and window_end"),
        (f"SELECT window_start, count(*) AS n FROM {CUMULATE} GROUP BY window_start", "doesn't group by window_start"),
        (
            f"SELECT window_end, count(DISTINCT v) AS n FROM {CUMULATE} GROUP BY window_end",
            "count(DISTINCT ...) of windows by one bound",
        ),
        (
            f"SELECT {BOUNDS}, count(DISTINCT v) AS n, count(DISTINCT k) AS m FROM {CUMULATE} GROUP BY {BOUNDS}",
            "count(DISTINCT ...) of several expressions",
        ),
        (f"SELECT {BOUNDS}, k, count(DISTINCT v) AS n FROM {SESSION} GROUP BY {BOUNDS}, k", "of sessions"),
        (f"SELECT {BOUNDS}, collect_list(v) AS n FROM {CUMULATE} GROUP BY {BOUNDS}", "collect_list"),
        (f"SELECT {BOUNDS}, first(v) IGNORE NULLS AS n FROM {HOP} GROUP BY {BOUNDS}", "IGNORE NULLS"),
        (f"SELECT {BOUNDS}, sum(rand()) AS n FROM {HOP} GROUP BY {BOUNDS}", "rand()"),
        (f"SELECT {BOUNDS}, max(window_end) AS n FROM {HOP} GROUP BY {BOUNDS}", "looks at columns of the window"),
        (f"SELECT {BOUNDS}, sum(v) FROM {HOP} WHERE ts > window_start GROUP BY {BOUNDS}", "WHERE mixes"),
        (f"SELECT {BOUNDS}, sum(v) + 1 FROM {HOP} GROUP BY {BOUNDS}", "has no name"),
        (f"SELECT {BOUNDS}, v FROM {HOP} GROUP BY {BOUNDS}", "v is neither grouped by"),
        (f"SELECT {BOUNDS}, sum(v) AS s FROM {HOP} JOIN t USING (k) GROUP BY {BOUNDS}", "joins"),
        (f"SELECT * FROM t WHERE EXISTS (SELECT 1 FROM {HOP} WHERE k = t.k GROUP BY {BOUNDS})", "in a condition"),
        (f"SELECT (SELECT max(v) FROM {HOP} GROUP BY {BOUNDS} LIMIT 1) FROM t", "in a condition"),
        (f"SELECT {BOUNDS}, k FROM {HOP} GROUP BY GROUPING SETS (({BOUNDS}, k), ({BOUNDS}, k))", "stands there twice"),
        (f"SELECT {BOUNDS}, avg(big) AS a FROM {CUMULATE} GROUP BY {BOUNDS}", "more digits"),
        (f"SELECT {BOUNDS}, sum(v) AS s FROM {HOP} GROUP BY ALL", "GROUP BY ALL"),
        (f"SELECT {BOUNDS}, k, v, count(*) AS n FROM {SESSION} GROUP BY {BOUNDS}, k, v", "more than the keys"),
        (f"SELECT {BOUNDS}, count(*) AS n FROM {SESSION} GROUP BY {BOUNDS}", "all keys of PARTITION BY"),
        (f"SELECT {BOUNDS}, k, count(*) AS n FROM {SESSION} GROUP BY {BOUNDS}, ROLLUP (k)", "grouping sets"),
        (f"SELECT window_end, k, count(*) AS n FROM {SESSION} GROUP BY window_end, k", "doesn't group by window_start"),
        (f"SELECT {BOUNDS}, k, count(*) AS n FROM {SESSION} WHERE v > 1 GROUP BY {BOUNDS}, k", "WHERE leaves out"),
        (f"SELECT {BOUNDS}, k, count(*) AS n FROM {LIMITED} GROUP BY {BOUNDS}, k", "more than a constant gap"),
        (f"SELECT {BOUNDS}, k, count(*) AS n FROM {CLOSED} GROUP BY {BOUNDS}, k", "some rows close theirs"),
    ],
)
def test_does_not_apply(sql: str, reason: str) -> None:
    rule, why = decision(sql)
    assert rule is None
    assert reason in (why or "")
    assert translate(sql, schema=SCHEMA) == translate(sql, schema=SCHEMA, optimize=False)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (f"SELECT {BOUNDS}, count(*) AS n FROM {SHORT} GROUP BY {BOUNDS}", "a row is in 2 windows at most"),
        (
            f"SELECT {BOUNDS}, k, count(DISTINCT v) AS n FROM {HOP} AS h GROUP BY {BOUNDS}, ROLLUP (h.k)",
            "count(DISTINCT ...) with grouping sets",
        ),
        (
            f"SELECT {BOUNDS}, count(DISTINCT v) AS n, count(DISTINCT k) AS m FROM {HOP} GROUP BY {BOUNDS}",
            "count(DISTINCT ...) of several expressions",
        ),
        (f"SELECT {BOUNDS}, count(DISTINCT v, k) AS n FROM {HOP} GROUP BY {BOUNDS}", "has several arguments"),
        (f"SELECT {BOUNDS}, sum(DISTINCT v) AS n FROM {HOP} GROUP BY {BOUNDS}", "sum(DISTINCT ...)"),
        (f"SELECT {BOUNDS}, stddev(v) AS s FROM {HOP} WHERE v > 1 GROUP BY {BOUNDS} HAVING s > 1", "stddev"),
    ],
)
def test_by_copies(sql: str, reason: str) -> None:
    """Where slices can't or don't pay: by numbers for a TIMESTAMP, by Spark's own windows for a TIMESTAMP_NTZ."""
    rule, why = decision(sql)
    assert rule == "hop-copies" and reason in (why or "")
    ntz = {"bid": {**SCHEMA["bid"], "ts": "timestamp_ntz"}}
    for_timestamp, for_ntz = (parse_one(translate(sql, schema=s), read="spark") for s in (SCHEMA, ntz))
    assert for_timestamp.find(exp.GenerateSeries) and not calls_of_window(for_timestamp)
    assert calls_of_window(for_ntz) and not for_ntz.find(exp.GenerateSeries)


TUMBLE = "TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' HOUR)"


@pytest.mark.parametrize("typed", ["timestamp", "timestamp_ntz", None])
def test_a_timestamps_tumble_gives_bounds_to_groups(typed: str | None) -> None:
    """Only a TIMESTAMP has bounds that take long, as each is a time on the clock that becomes an instant."""
    sql = f"SELECT {BOUNDS}, k, sum(v) AS v FROM {TUMBLE} GROUP BY {BOUNDS}, k"
    schema = {"bid": {**SCHEMA["bid"], "ts": typed}} if typed else None
    [found] = explain(sql, schema=schema).decisions
    if typed == "timestamp":
        assert (found.rule, found.reason) == ("tumble-groups", None)
    else:
        assert found.rule is None and "isn't known to be a TIMESTAMP" in (found.reason or "")
        assert translate(sql, schema=schema) == translate(sql, schema=schema, optimize=False)


def grouped(sql: str, schema: dict[str, dict[str, str]]) -> tuple[str, str]:
    """What stands before and behind the window function of a translation."""
    made = translate(sql, schema=schema)
    return made[: made.index(" FROM (")], made[made.rindex("\n)") + 2 :]


NTZ = {"bid": {**SCHEMA["bid"], "ts": "timestamp_ntz"}}


@pytest.mark.parametrize(
    ("sql", "rest"),
    [
        (f"SELECT window_start, sum(v) AS v FROM {TUMBLE} GROUP BY {BOUNDS}", " GROUP BY window_start"),
        (
            f"SELECT count(*) AS n FROM {TUMBLE} GROUP BY window_end, k, window_start ORDER BY n",
            " GROUP BY k, window_start ORDER BY n",
        ),
        (
            f"SELECT 1 FROM {TUMBLE} AS w WHERE window_end > ts GROUP BY w.window_start\n, window_end",
            " AS w WHERE window_end > ts GROUP BY w.window_start",
        ),
        (
            f"SELECT d.n FROM {TUMBLE} AS w JOIN d ON d.k = w.k GROUP BY d.n, w.window_start, w.window_end",
            " AS w JOIN d ON d.k = w.k GROUP BY d.n, w.window_start",
        ),
        (f"SELECT a FROM (SELECT window_start AS a, window_end AS b FROM {TUMBLE}) GROUP BY b, a", ") GROUP BY a"),
    ],
)
def test_an_end_that_nobody_reads_is_no_key(sql: str, rest: str) -> None:
    select = sql[: sql.index(" FROM ")]
    assert grouped(sql, NTZ) == (select, rest)
    assert grouped(sql.replace("TUMBLE(", "HOP(").replace("'1' HOUR)", "'1' DAY, INTERVAL '1' HOUR)"), NTZ)[1] == rest
    assert grouped(sql, {})[1] == sql.partition(TUMBLE)[2]  # the time may be a TIMESTAMP


@pytest.mark.parametrize(
    ("select", "rest"),
    [
        (BOUNDS, f"GROUP BY {BOUNDS}"),
        ("date(window_end) AS d", f"GROUP BY {BOUNDS}"),
        ("count(*) AS n", f"GROUP BY {BOUNDS} HAVING window_end > window_start"),
        ("rank() OVER (ORDER BY window_end) AS n", f"GROUP BY {BOUNDS}"),
        ("count(*) AS n", f"GROUP BY {BOUNDS} ORDER BY window_end"),
        ("count(*) AS n", "GROUP BY window_start, /* its end */ window_end"),
        ("count(*) AS n", "GROUP BY window_start, ROLLUP (window_end)"),
        ("count(*) AS n", f"GROUP BY ({BOUNDS})"),
        ("count(*) AS n", "GROUP BY window_end"),
        ("window_start", "GROUP BY ALL"),
        ("*", f"GROUP BY {BOUNDS}"),
        ("to_json(struct(*)) AS row", f"GROUP BY {BOUNDS}"),
        ("w.k", "AS w JOIN d ON d.k = w.k GROUP BY w.k, w.window_start, window_end"),
    ],
)
def test_an_end_that_stays_a_key(select: str, rest: str) -> None:
    sql = f"SELECT {select} FROM {TUMBLE} {rest}"
    assert grouped(sql, NTZ) == (f"SELECT {select}", f" {rest}")


SIDE = f"(SELECT k, {{}} FROM {TUMBLE} GROUP BY k, {BOUNDS})"
EQUAL = "a.window_start = b.window_start AND a.window_end = b.window_end"


def keys_of_sides(sql: str) -> list[str]:
    """The SELECT list and the keys of each side."""
    made = parse_one(translate(sql, schema=NTZ), read="spark")
    sides = [found for found in made.find_all(exp.Select) if found.args.get("group")]
    return [", ".join(map(str, [*side.expressions, *side.args["group"].expressions])) for side in sides]


@pytest.mark.parametrize(
    ("sql", "sides"),
    [
        ("SELECT a.k FROM {a} AS a JOIN {a} AS b ON {on}", 0),
        ("SELECT a.window_end FROM {a} AS a JOIN {a} AS b ON {on}", 1),
        ("SELECT a.k FROM {a} AS a JOIN {a} AS b ON {on} WHERE b.window_end > now()", 1),
        ("SELECT count(*) AS n FROM {a} AS a LEFT JOIN {a} AS b ON {on}", 0),
        ("SELECT a.k FROM {a} AS a, {a} AS b WHERE {on}", 0),
        ("SELECT a.k FROM {a} AS a JOIN {e} AS b ON {ends}", 0),
        ("SELECT a.k FROM {a} AS a JOIN {e} AS b ON {ends} ORDER BY b.e", 1),
        ("SELECT * FROM {a} AS a JOIN {a} AS b ON {on}", 2),
        ("SELECT a.k FROM {a} AS a JOIN {a} AS b ON {on} WHERE window_end > now()", 2),
        ("SELECT a.k FROM {a} AS a JOIN {a} AS b ON {on} JOIN c USING (window_end)", 2),
        ("SELECT a.k FROM {a} AS a JOIN {a} AS b ON {on}, LATERAL (SELECT b.window_end)", 2),
        ("SELECT a.k FROM {a} AS a JOIN {a} AS b ON a.k = b.k AND a.window_start = b.window_start", 2),
        ("WITH a AS {a} SELECT a.k FROM a JOIN a AS b ON {on}", 1),
    ],
)
def test_ends_in_the_sides_of_a_join(sql: str, sides: int) -> None:
    """The end goes from a side whose start is compared, where nobody else reads it."""
    given = {"a": SIDE.format(BOUNDS), "e": SIDE.format("window_start, window_end AS e")}
    ends = EQUAL.replace("b.window_end", "b.e")
    found = keys_of_sides(sql.format(**given, on=EQUAL, ends=ends))
    assert sum("window_end" in keys for keys in found) == sides, found


def test_tumbles_of_one_bound_may_be_several() -> None:
    [found] = explain(f"SELECT window_start, sum(v) AS v FROM {TUMBLE} GROUP BY window_start", schema=SCHEMA).decisions
    assert found.rule is None and "skips an hour" in (found.reason or "")


def calls_of_window(statement: exp.Expr) -> list[exp.Expr]:
    """The calls of Spark's window()."""
    return [c for c in statement.find_all(exp.Anonymous) if c.name.lower() == "window"]


def test_copies_where_some_rows_are_in_a_window_less() -> None:
    uneven = HOP.replace("'1' HOUR", "'5' MINUTE").replace("'1' MINUTE", "'2' MINUTE")
    sql = f"SELECT {BOUNDS}, count(*) AS n FROM {uneven} GROUP BY {BOUNDS}"
    made = parse_one(translate(sql, schema=SCHEMA), read="spark")
    [copies] = made.find_all(exp.GenerateSeries)
    bounds = [argument.this.name for argument in (copies.args["start"], copies.args["end"], copies.args["step"])]
    [condition] = made.find_all(exp.LT)
    assert (bounds, condition.expression.name) == (["0", "240000000", "120000000"], "300000000")


def test_without_types_an_average_may_be_of_decimals() -> None:
    sql = f"SELECT {BOUNDS}, avg(v) AS a FROM {HOP} GROUP BY {BOUNDS}"
    assert decision(sql) == ("hop-slices", None)
    assert decision(sql, typed=False) == ("hop-copies", "avg of a type that nobody knows")


def test_what_stands_around_stays() -> None:
    sql = f"""\
-- a comment
SELECT  k,   -- the key
        sum( v )  AS total /* kept */
FROM {HOP}
WHERE   v <> '
'
GROUP BY {BOUNDS}, k
ORDER   BY total
"""
    text = translate(sql, schema=SCHEMA)
    assert text.startswith("-- a comment\nSELECT  k,   -- the key\n        ")
    assert "  AS total /* kept */\nFROM (\n" in text
    assert text.endswith("\n)\nORDER   BY total\n")
    assert "WHERE v <> '\n'\n" in text


@pytest.mark.parametrize("typed", ["timestamp", "timestamp_ntz", None])
@pytest.mark.parametrize("window", [HOP, CUMULATE, SESSION])
def test_a_relations_alias_stays_within(window: str, typed: str | None) -> None:
    relation = window.replace("TABLE bid", "(SELECT * FROM bid) AS b")
    sql = f"SELECT {BOUNDS}, h.k, max(v) AS v FROM {relation} AS h GROUP BY {BOUNDS}, h.k"
    schema = {"bid": {**SCHEMA["bid"], "ts": typed}} if typed else None
    found = parse_one(translate(sql, schema=schema), read="spark")
    [inner] = [s for s in found.find_all(exp.Subquery) if s.alias == "b"]
    assert inner.find_ancestor(exp.Subquery)


def test_a_list_of_windows() -> None:
    sql = f"SELECT {BOUNDS}, count(*) AS n FROM {{}} GROUP BY {BOUNDS}"
    both = explain(f"{sql.format(HOP)} UNION ALL {sql.format(SHORT)}")
    assert sorted(d.rule or "" for d in both.decisions) == ["hop-copies", "hop-slices"]


def test_nothing_of_ours() -> None:
    assert explain("SELECT 1").decisions == ()
    assert list(explain("SELECT 1").lines()) == ["no HOP, CUMULATE or SESSION here: nothing to optimise"]


def test_a_rule_and_why_no_better_one() -> None:
    windows, rule, reason = explain(
        f"SELECT {BOUNDS}, count(*) AS n FROM hop(t, ts, '1m', '9m') GROUP BY {BOUNDS}"
    ).lines()
    assert windows == "hop: windows of 9 minutes every 1 minute"
    assert rule == "  hop-copies: rows are copied into their windows, and each group gets its bounds once"
    assert reason == "  because: a row is in 9 windows at most, and slices pay from 18 on"


def test_explains_a_statement_that_the_rules_cannot_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their parser is another one than that of the translation: there is a HOP all the same."""

    def fails(*_: object, **__: object) -> None:
        raise TranslationError("this SQL can't be parsed: this isn't expected here")

    monkeypatch.setattr(Statement, "by_rules", fails)
    sql = (
        f"SELECT count(*) AS n FROM {HOP} GROUP BY window_start, window_end UNION ALL SELECT 1 FROM tumble(t, ts, '5m')"
    )
    found = explain(sql)
    assert found.sql == translate(sql, optimize=False)
    first, second = found.lines()
    assert first.startswith("hop: windows of")
    assert (
        second == "  no rule: the rules can't read this statement: this SQL can't be parsed: this isn't expected here"
    )


def test_estimates() -> None:
    sql = f"SELECT {BOUNDS}, count(*) AS n FROM {HOP} GROUP BY {BOUNDS}"
    [fast] = explain(sql).decisions
    assert dict(fast.steps(2_000_000, 100, 86_400)) == {
        "rows read": 2_000_000,
        "slices": 144_000,
        "windows": 150_000,
    }
    [slow] = explain(sql.replace("count(*)", "collect_list(v)")).decisions
    assert dict(slow.steps(2_000_000, 100, 86_400))["copies of rows, one per window"] == 120_000_000
    assert fast.steps(None) == []


def test_estimates_of_other_windows() -> None:
    """2,000,000 rows of 100 keys in a day."""
    sql = "SELECT {}, k, {} AS n FROM {} GROUP BY {}, k"

    def steps(window: str, aggregate: str = "count(*)") -> dict[str, int]:
        [found] = explain(sql.format(BOUNDS, aggregate, window, BOUNDS), schema=SCHEMA).decisions
        return dict(found.steps(2_000_000, 100, 86_400))

    slices = {"rows read": 2_000_000, "slices": 144_000, "windows": 150_000}
    assert steps(CUMULATE) == slices
    copies = steps(CUMULATE, "collect_list(v)")  # a row is in 30.5 windows of 1 to 60 minutes
    assert copies == {"rows read": 2_000_000, "copies of rows, one per window": 61_000_000, "windows": 150_000}
    assert steps(SESSION) == {"rows read": 2_000_000, "slices, sorted by key and time": 14_400}
    assert steps(SESSION, "collect_list(v)") == {"rows read": 2_000_000, "rows, sorted by key and time": 2_000_000}
    # Slices of 2 minutes, and every other one begins a window.
    uneven = HOP.replace("'1' MINUTE", "'4' MINUTE").replace("'1' HOUR", "'90' MINUTE")
    assert steps(uneven) == {"rows read": 2_000_000, "slices": 72_000, "windows": 37_150}


@pytest.mark.parametrize(
    ("window", "rule"),
    [
        (HOP.replace("'1' HOUR", "'17' MINUTE"), "hop-copies"),
        (HOP.replace("'1' HOUR", "'18' MINUTE"), "hop-slices"),
        (CUMULATE.replace("'1' HOUR", "'5' MINUTE"), None),
        (CUMULATE.replace("'1' HOUR", "'6' MINUTE"), "cumulate-slices"),
    ],
)
def test_from_how_many_windows_slices_pay(window: str, rule: str | None) -> None:
    found, why = decision(f"SELECT {BOUNDS}, count(*) AS n FROM {window} GROUP BY {BOUNDS}")
    assert found == rule
    assert ("windows at most, and slices pay from" in (why or "")) is (rule not in ("hop-slices", "cumulate-slices"))


@pytest.mark.parametrize(
    ("bound", "aggregate", "type_", "dialect", "applies"),
    [
        ("window_end", "count(*)", "timestamp", "spark", True),
        ("window_time", "count(*)", "timestamp", "spark", True),
        ("window_end", "count(DISTINCT v)", "timestamp", "spark", False),
        ("window_end", "count(DISTINCT v)", "timestamp_ntz", "spark", True),
        ("window_end", "count(DISTINCT v)", "timestamp", "flink", True),
        ("window_time", "count(DISTINCT v)", "timestamp", "flink", False),
    ],
)
def test_windows_of_one_bound(bound: str, aggregate: str, type_: str, dialect: str, applies: bool) -> None:
    """Where the clock skips an hour, two windows may end at one TIMESTAMP; at one time on the wall none do."""
    sql = f"SELECT {bound}, {aggregate} AS n FROM {CUMULATE} GROUP BY {bound}"
    [found] = explain(sql, dialect, schema={"bid": {**SCHEMA["bid"], "ts": type_}}).decisions
    assert found.rule == ("cumulate-slices" if applies else None)


def test_no_clause_behind_is_left_with_an_aggregate_of_rows() -> None:
    sql = f"""SELECT {BOUNDS}, sum(v) AS s, rank() OVER w AS r FROM {HOP} GROUP BY {BOUNDS} HAVING sum(v) > 1
WINDOW w AS (PARTITION BY window_start ORDER BY sum(v)) ORDER BY sum(v)"""
    assert decision(sql) == ("hop-slices", None)
    made = parse_one(translate(sql, schema=SCHEMA), read="spark").assert_is(exp.Select)
    clauses = [*made.expressions, *made.args["windows"], made.args["where"], made.args["order"]]
    assert not any(clause.find(exp.Sum) for clause in clauses)


def test_aggregates_without_a_name_get_the_one_that_spark_gives_them() -> None:
    sql = f"SELECT window_start, count(*), sum(v), max(h.v), avg(H.m) FROM {HOP} AS h GROUP BY {BOUNDS}"
    assert decision(sql) == ("hop-slices", None)
    made = parse_one(translate(sql, schema=SCHEMA), read="spark").assert_is(exp.Select)
    assert made.named_selects == ["window_start", "count(1)", "sum(v)", "max(v)", "avg(m)"]


@pytest.mark.parametrize(
    "window",
    [HOP[:-1] + ", INTERVAL '20' SECOND)", CUMULATE[:-1] + ", INTERVAL '-20' SECOND)", SESSION, ALL_IN_ONE],
)
def test_windows_are_the_same_in_every_dialect(window: str) -> None:
    keys = ", k" if window == SESSION else ""
    sql = f"SELECT {BOUNDS}, count(*) AS n FROM {window} GROUP BY {BOUNDS}{keys}"
    [found] = explain(sql, "flink", schema=SCHEMA).decisions
    assert found.rule and (found,) == explain(sql, schema=SCHEMA).decisions
    assert getattr(found.window, "offset", None) == {"H": Interval(20_000_000), "C": Interval(-20_000_000)}.get(
        window[0]
    )


@pytest.mark.parametrize("window", [HOP, CUMULATE, SESSION])
@pytest.mark.parametrize(
    ("type_", "dialect", "converted"),
    [
        ("timestamp", "spark", True),
        (None, "spark", True),
        ("timestamp_ntz", "spark", False),
        ("timestamp", "flink", False),
        (None, "flink", False),
    ],
)
def test_bounds_get_the_type_of_the_time(window: str, type_: str | None, dialect: str, converted: bool) -> None:
    """A wall clock is a TIMESTAMP_NTZ; as a TIMESTAMP, or as what the column is, it goes through a conversion."""
    sql = f"SELECT {BOUNDS}, k, count(*) AS n FROM {window} GROUP BY {BOUNDS}, k"
    schema = {"bid": {**SCHEMA["bid"], "ts": type_}} if type_ else None
    made = parse_one(translate(sql, dialect, schema=schema), read="spark")
    assert explain(sql, dialect, schema=schema).decisions[0].rule
    for bound in BOUNDS.split(", "):
        value = min((a for a in made.find_all(exp.Alias) if a.alias == bound), key=lambda a: a.depth).this
        assert bool(value.find(exp.Coalesce, exp.FromTimeZone)) is converted
