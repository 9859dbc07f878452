"""When rules apply, when not, and what of the user's text stays. Rows are compared in tests/property."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from dbt.adapters.sparkstream.sql import TranslationError, explain, translate
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


def test_aggregates_without_a_name_get_the_one_that_spark_gives_them() -> None:
    sql = f"SELECT window_start, count(*), sum(v), max(h.v), avg(H.m) FROM {HOP} AS h GROUP BY {BOUNDS}"
    assert decision(sql) == ("hop-slices", None)
    made = parse_one(translate(sql, schema=SCHEMA), read="spark").assert_is(exp.Select)
    assert made.named_selects == ["window_start", "count(1)", "sum(v)", "max(v)", "avg(m)"]


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


# -- joins of HOPs ---------------------------------------------------------------------------------
SIDES = {"a": {"ts": "timestamp", "k": "string", "v": "int"}, "b": {"at": "timestamp", "k": "string", "w": "int"}}
LEFT = "HOP(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)"
RIGHT = "HOP(TABLE b, DESCRIPTOR(at), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)"
EQUAL = "L.window_start = R.window_start AND L.window_end = R.window_end"
SAME = f"L.k = R.k AND {EQUAL}"
NESTED = f"(SELECT * FROM {LEFT}) AS L JOIN (SELECT * FROM {RIGHT} AS b WHERE b.w > 1) AS R ON {SAME}"
DIRECT = f"{LEFT} AS L JOIN {RIGHT} AS R ON {SAME}"
THREE, FOUR = (DIRECT.replace("'1' HOUR", f"'{n}' MINUTE") for n in (3, 4))
UNEVEN = DIRECT.replace("'1' MINUTE", "'7' MINUTE")
SHIFTED = DIRECT.replace("HOUR) AS R", "HOUR, INTERVAL '-2' MINUTE) AS R")


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT L.k, L.v, R.w, L.window_start FROM {NESTED}",
        f"SELECT L.k, R.w + 1 AS w FROM {DIRECT} WHERE L.v > R.w ORDER BY w",
        f"SELECT v, w, struct(L.*) AS l, count(*) OVER (PARTITION BY R.window_time) AS n FROM {NESTED}",
        f"SELECT L.k, count(*) FROM {DIRECT} GROUP BY L.k HAVING count(*) > 1",
        f"SELECT upper(L.k) AS u, sum(w) AS w FROM {DIRECT} GROUP BY u ORDER BY w LIMIT 3",
        f"SELECT R.*, L.window_end FROM {LEFT} `L` INNER JOIN {RIGHT} R"
        " ON (R.window_end <=> L.window_end) AND L.window_start = R.window_start AND R.window_time = L.window_time",
        f"WITH x AS (SELECT L.v FROM {NESTED}) SELECT * FROM x JOIN x AS y ON x.v = y.v",
        f"SELECT L.v FROM {NESTED.replace('TABLE a', 'TABLE (SELECT * FROM a WHERE v IN (SELECT w FROM b))')}",
        f"SELECT DISTINCT L.k, v FROM {DIRECT} ORDER BY k, v",
        f"SELECT 1 AS one FROM {DIRECT} UNION ALL SELECT v FROM a",
        f"SELECT * FROM {SHIFTED}",
        f"SELECT L.k, L.window_end FROM {FOUR}",
        f"SELECT L.k, R.window_time FROM {UNEVEN}",
    ],
)
def test_joins_rows(sql: str) -> None:
    found = explain(sql, schema=SIDES)
    assert [(d.rule, d.reason) for d in found.decisions] == [("hop-join", None)] * 2
    assert translate(sql, schema=SIDES) == found.sql
    assert found.sql != translate(sql, schema=SIDES, optimize=False)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (f"SELECT L.k FROM {NESTED.replace('JOIN', 'LEFT JOIN')}", "LEFT JOIN: whether a row has a partner"),
        (f"SELECT L.k FROM {DIRECT.replace('JOIN', 'LEFT SEMI JOIN')}", "SEMI JOIN"),
        (f"SELECT L.k FROM {LEFT} AS L JOIN {RIGHT} AS R USING (k, window_start, window_end)", "without ON"),
        (f"SELECT L.k FROM {LEFT} AS L NATURAL JOIN {RIGHT} AS R", "without ON"),
        (f"SELECT L.k FROM {LEFT} AS L, {RIGHT} AS R WHERE {SAME}", "without ON"),
        (f"SELECT L.k FROM {DIRECT} JOIN a ON a.k = L.k", "more than two tables"),
        (f"SELECT L.k FROM {DIRECT} LATERAL VIEW explode(array(1)) AS x", "laterals"),
        (f"SELECT L.k FROM {LEFT} AS L JOIN a AS R ON {SAME}", "joins beside"),
        (f"SELECT L.k FROM {LEFT} AS L JOIN TUMBLE(b, at, INTERVAL '1' HOUR) AS R ON {SAME}", "is no HOP"),
        (f"SELECT L.k FROM {DIRECT.replace('HOUR) AS R', 'DAY) AS R')}", "other windows"),
        ("SELECT L.k FROM " + SHIFTED.replace("MINUTE) AS R", "SECOND) AS R"), "other windows"),
        (f"SELECT L.k FROM {DIRECT.replace('TABLE b', 'TABLE c')}", "nobody knows the type of at"),
        (f"SELECT L.k FROM {DIRECT.replace('TABLE b', 'TABLE n')}", "different types"),
        (f"SELECT L.k FROM {DIRECT.replace('HOUR', 'MINUTE')}", "a row is in 1 windows at most"),
        (f"SELECT L.k FROM {THREE}", "a row is in 3 windows at most"),
        ("SELECT L.k FROM " + DIRECT.replace("'1' HOUR", "'29' DAY"), "clock skips an hour"),
        (f"SELECT L.k FROM {DIRECT} AND L.ts < R.window_end", "in another way than for equality"),
        (f"SELECT L.k FROM {DIRECT} OR L.v = 1", "in another way than for equality"),
        (f"SELECT L.k FROM {LEFT} AS L JOIN {RIGHT} AS R ON L.window_end = R.window_end", "both window_start and"),
        (f"SELECT L.k FROM {LEFT} AS L JOIN {RIGHT} AS R ON L.window_end = R.window_start", "in another way than"),
        (f"SELECT L.k FROM {DIRECT} AND L.v IN (SELECT v FROM a)", "ON holds a subquery"),
        (f"SELECT L.k FROM {DIRECT} AND rand() < 0.5", "rand() in ON"),
        (f"SELECT L.k FROM {NESTED.replace('b.w > 1', 'rand() > 0.5')}", "rand() in WHERE"),
        (f"SELECT L.k FROM {NESTED.replace('b.w', 'b.window_end')}", "condition on windows"),
        (
            f"SELECT L.k FROM {NESTED.replace('SELECT * FROM HOP(TABLE a', 'SELECT k FROM HOP(TABLE a')}",
            "isn't SELECT *",
        ),
        (f"SELECT L.k FROM {NESTED.replace('b.w > 1', 'b.w > 1 LIMIT 3')}", "more than SELECT * FROM"),
        (f"SELECT L.k + 1 FROM {DIRECT}", "L.k + 1 has no name"),
        (f"SELECT * EXCEPT (v) FROM {DIRECT}", "EXCEPT"),
        (f"SELECT to_json(struct(*)) AS j FROM {DIRECT}", "a star in an expression"),
        (
            f"SELECT L.k, v FROM {DIRECT.replace('TABLE a', 'TABLE (SELECT *, k AS ts2 FROM a JOIN c)')}",
            "of either side",
        ),
        (f"SELECT x.k FROM {DIRECT}", "x.k names neither side"),
        (f"SELECT DISTINCT L.k FROM {DIRECT} ORDER BY L.k", "ORDER BY of what DISTINCT"),
        (f"SELECT L.k FROM {DIRECT} UNION SELECT k FROM a ORDER BY L.k", "ORDER BY of what DISTINCT"),
        (f"SELECT to_json(L) AS j FROM {DIRECT}", "L is a side of the join"),
        (f"SELECT * FROM a WHERE EXISTS (SELECT 1 AS one FROM {DIRECT} AND a.k = L.k)", "in a condition"),
        (f"SELECT L.k, (SELECT max(v) FROM a) AS m FROM {DIRECT}", "a subquery beside"),
        (f"SELECT L.k, count(*) AS n FROM {DIRECT} GROUP BY ALL", "GROUP BY ALL"),
        (f"SELECT L.k, R.k AS rk, count(*) AS n FROM {DIRECT} GROUP BY ROLLUP (L.k, R.k)", "grouping sets"),
        (f"SELECT /*+ BROADCAST(R) */ L.k FROM {DIRECT}", "hint"),
        (f"SELECT L.k, sum(R.w) AS v FROM {DIRECT} GROUP BY L.k, L.v HAVING v > 1", "v in HAVING may be"),
    ],
)
def test_does_not_join_rows(sql: str, reason: str) -> None:
    schema = {**SIDES, "n": {"at": "timestamp_ntz", "k": "string", "w": "int"}}
    for decision in explain(sql, schema=schema).decisions:
        assert decision.rule is None
        assert reason in (decision.reason or "")
    assert translate(sql, schema=schema) == translate(sql, schema=schema, optimize=False)


def test_a_join_of_aggregates_is_none_of_windows_rows() -> None:
    query = f"SELECT {BOUNDS}, k, count(*) AS n FROM {{}} GROUP BY {BOUNDS}, k"
    sql = f"SELECT L.n FROM ({query.format(LEFT)}) AS L JOIN ({query.format(RIGHT)}) AS R ON {SAME}"
    assert [(d.rule, d.reason) for d in explain(sql, schema=SIDES).decisions] == [("hop-slices", None)] * 2


def test_what_stands_around_a_join_stays() -> None:
    sql = f"""\
SELECT  v,   -- the left one's
        L.window_start /* kept */
FROM    {LEFT}  AS L  -- left
  JOIN  {RIGHT} AS R
  ON    L.k = R.k  -- the key
    AND (L.window_start = R.window_start)  AND  L.window_end = R.window_end
    AND L.k <> '
'  -- last
WHERE   w > 3
"""
    text = translate(sql, schema=SIDES)
    assert text.startswith("SELECT  L.v,   -- the left one's\n        L.window_start /* kept */\nFROM (\n")
    assert "  FROM    (\n" in text and ")  AS L  -- left\n  JOIN  (\n" in text
    assert "\n  ON    L.k = R.k  -- the key\n    AND (" in text
    assert "\n    AND L.k <> '\n'\n  LATERAL VIEW " in text
    assert text.endswith(" AS window_start\n)  -- last\nWHERE   R.w > 3\n")


def test_estimates_of_a_join() -> None:
    left, right = explain(f"SELECT L.k FROM {DIRECT}", schema=SIDES).decisions
    assert dict(left.steps(1000)) == {"rows read": 1000, "rows joined, each in one bucket of time": 1000}
    assert dict(right.steps(1000)) == {"rows read": 1000, "rows joined, each in two buckets of time at most": 2000}
    assert right.steps(None) == []
