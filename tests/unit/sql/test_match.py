"""MATCH_RECOGNIZE of Flink: what is written for Spark, and what is refused, with its place."""

from __future__ import annotations

from typing import ClassVar

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from dbt.adapters.sparkstream.sql.core.matching import Element
from dbt.adapters.sparkstream.sql.passes.match.automaton import Edge, automaton
from dbt.adapters.sparkstream.sql.streaming import StreamPlan, plan
from dbt.adapters.sparkstream.sql.streaming.endings import OnMatches

SCHEMA = {"t": {"k": "int", "ts": "timestamp_ntz", "p": "int", "s": "string", "d": "decimal(10,2)"}}


def match(
    *,
    order: str = "ORDER BY ts",
    measures: str = "MEASURES A.p AS a, LAST(B.p) AS b",
    rows: str = "ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW",
    pattern: str = "(A B)",
    define: str = "DEFINE B AS B.p > A.p",
) -> str:
    return f"SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k {order} {measures} {rows} PATTERN {pattern} {define}) AS m"


def flink(sql: str, schema: dict[str, dict[str, str]] | None = None) -> str:
    return translate(sql, "flink", schema=SCHEMA if schema is None else schema)


class TestWritten:
    def test_measures_read_the_events_of_a_match(self) -> None:
        written = flink(match())
        assert "get(events, m.A_last).p AS a" in written
        assert "get(events, m.B_last).p AS b" in written
        assert "THEN get(events, m.B_last).p > get(events, m.A_last).p" in written
        assert "collect_list(struct(ts, p))" in written
        assert "/* PATTERN (A B), AFTER MATCH SKIP PAST LAST ROW */" in written
        assert written.endswith(") AS m")

    def test_offsets(self) -> None:
        written = flink(match(measures="MEASURES LAST(A.p, 1) AS l, FIRST(A.p + 1, 2) AS f, FIRST(p) AS p"))
        assert "get(events, CASE WHEN m.A_last - 1 >= m.A_first THEN m.A_last - 1 END).p AS l" in written
        assert "(get(events, CASE WHEN m.A_first + 2 <= m.A_last THEN m.A_first + 2 END).p + 1) AS f" in written
        assert "get(events, m.s).p AS p" in written

    @pytest.mark.parametrize("schema", [None, {}], ids=["typed", "untyped"])
    def test_words_are_no_columns(self, schema: dict[str, dict[str, str]] | None) -> None:
        a, b = "get(events, m.A_last)", "get(events, m.B_last)"
        for value, spark in (
            ("TIMESTAMPDIFF(MONTH, A.ts, B.ts)", f"MONTH({b}.ts) - MONTH({a}.ts)"),
            ("TIMESTAMPDIFF(SQL_TSI_YEAR, A.ts, B.ts)", f"YEAR({b}.ts) - YEAR({a}.ts)"),
            ("LAST(TIMESTAMPDIFF(MONTH, A.ts, A.ts))", f"MONTH({a}.ts) - MONTH({a}.ts)"),
            ("MAP['a', A.p]['a']", f"TRY_ELEMENT_AT(MAP('a', {a}.p), 'a')"),
            ("LOCALTIMESTAMP", "LOCALTIMESTAMP()"),
            ("EXTRACT(DAY FROM A.ts)", f"CAST(EXTRACT(DAY FROM {a}.ts) AS BIGINT)"),
            ("CAST(A.p AS STRING)", f"CAST({a}.p AS STRING)"),
            ("TRIM(BOTH 'x' FROM A.s)", f"TRIM(BOTH 'x' FROM {a}.s)"),
            ("POSITION('x' IN A.s)", f"POSITION('x' IN {a}.s)"),
            ("TIMESTAMPADD(HOUR, 1, A.ts)", f"TIMESTAMPADD(HOUR, 1, {a}.ts)"),
        ):
            for written in (
                flink(match(measures=f"MEASURES {value} AS v", define="DEFINE B AS B.p > 1"), schema),
                flink(match(measures="MEASURES A.p AS v", define=f"DEFINE B AS ({value}) IS NOT NULL"), schema),
            ):
                assert spark in written
                read = written.partition("collect_list(struct(")[2].partition(")")[0].split(", ")
                assert set(read) <= {"ts", "p", "s"}

    def test_words_within_aggregates(self) -> None:
        written = flink(match(measures="MEASURES SUM(TIMESTAMPDIFF(DAY, A.ts, CURRENT_DATE)) AS v"))
        assert "slice(events, m.A_first + 1" in written
        assert "(CURRENT_DATE - (r.ts)) DIV INTERVAL '1' DAY" in written

    def test_a_key_named_as_the_events(self) -> None:
        written = flink("SELECT * FROM u MATCH_RECOGNIZE (PARTITION BY events ORDER BY ts MEASURES A.p AS p "
                        "PATTERN (A) DEFINE A AS A.p > 1)")  # fmt: skip
        assert "get(events1, m.A_last).p AS p" in written

    def test_variables_that_differ_in_case_only(self) -> None:
        assert "m.v1_last" in flink(match(pattern="(B b)", measures="MEASURES b.p AS x", define="DEFINE B AS B.p > 1"))


class TestPartialMatches:
    @pytest.mark.parametrize(
        ("pattern", "define", "read"),
        [
            ("(A*? B*? D)", "D AS D.p > 1", ""),
            ("(A*? B*? D)", "B AS B.p > 1, D AS D.p > FIRST(p)", ""),
            ("(A*? B*? D)", "D AS D.p > A.p", ", CASE WHEN t.q IN (0, 1, 2) THEN t.m.A_last END"),
            ("(A*? B D*? E)", "B AS B.p > A.p", ", CASE WHEN t.q IN (0, 1) THEN t.m.A_last END"),
            (
                "(A*? B*? D)",
                "A AS A.p > LAST(A.p, 1)",
                ", CASE WHEN t.q IN (0, 1) THEN greatest(t.m.A_first, t.m.A_last - 1) END",
            ),
            ("(A*? B*? D)", "A AS SUM(A.p) < 9", ", CASE WHEN t.q IN (0, 1) THEN t.m.A_first END"),
        ],
    )
    def test_ways_are_shared_by_what_conditions_read(self, pattern: str, define: str, read: str) -> None:
        measures = "MEASURES FIRST(A.p) AS a, SUM(B.p) AS b"
        written = flink(match(pattern=pattern, define=f"DEFINE {define}", measures=measures))
        assert f"(t, n) -> struct(struct(t.q, t.m.s{read}) AS same, n, t)" in written

    def test_ways_of_one_quantifier_never_meet(self) -> None:
        assert "AS same" not in flink(match(pattern="(A B*? D)", define="DEFINE D AS D.p > A.p"))

    def test_there_are_so_many_at_most(self) -> None:
        assert "size(next) + size(a.pending) > 10000" in flink(match())
        written = translate(match(pattern="(A B*? `it's`)"), "flink", schema=SCHEMA, max_partial_matches=7)
        assert "size(next) + size(a.pending) > 7" in written
        assert "has more than 7 partial matches at once: PATTERN (A B*? it\\'s), AFTER" in written

    def test_the_bound_is_that_of_streams(self) -> None:
        for most in (3, 10_000):
            written = translate(match(), "flink", schema=SCHEMA, mode="stream", max_partial_matches=most, warn=print)
            assert f"size(next) + size(a.pending) > {most}" in written


class TestHints:
    @pytest.mark.parametrize(
        ("parts", "hint"),
        [
            ({"measures": "MEASURES FIRST_VALUE(A.p) AS n"}, "there are SUM, AVG"),
            ({"measures": "MEASURES MATCH_PROCTIME() AS n"}, "MATCH_ROWTIME"),
            ({"order": "ORDER BY p"}, r"TO_TIMESTAMP_LTZ\(p, 3\)"),
        ],
    )
    def test_what_to_write(self, parts: dict[str, str], hint: str) -> None:
        with pytest.raises(TranslationError, match=hint):
            flink(match(**parts))


class TestAutomaton:
    def test_what_follows_a_greedy_loop_takes_what_the_loop_does_not(self) -> None:
        nfa = automaton((Element("A", 0, None), Element("B")))
        assert nfa.edges == (
            (Edge(0, 1), Edge(1, 2, frozenset({0}))),
            (Edge(0, 1), Edge(1, 2, frozenset({0}))),
        )

    def test_a_reluctant_loop_goes_both_ways(self) -> None:
        nfa = automaton((Element("A", 1, None, greedy=False), Element("B")))
        assert nfa.edges == ((Edge(0, 1),), (Edge(0, 1), Edge(1, 2)))

    def test_a_greedy_question_mark_goes_both_ways(self) -> None:
        nfa = automaton((Element("A", 0, 1), Element("B")))
        assert nfa.edges == ((Edge(0, 1), Edge(1, 2)), (Edge(1, 2),))

    def test_a_match_is_over_where_the_rest_is_optional(self) -> None:
        nfa = automaton((Element("A"), Element("B", 1, 2, greedy=False)))
        assert nfa.final == 3
        assert nfa.edges == ((Edge(0, 1),), (Edge(1, 2), Edge(1, 3)), (Edge(1, 3),))


@pytest.mark.parametrize(
    ("clauses", "message", "at"),
    [
        ({"order": ""}, "MATCH_RECOGNIZE needs ORDER BY", "MATCH_RECOGNIZE"),
        ({"order": "ORDER BY ts DESC"}, "ascending order of time", "ts DESC"),
        ({"order": "ORDER BY p, ts"}, "orders by a time first, and p is a int", "p, ts"),
        ({"measures": ""}, "needs MEASURES", "MATCH_RECOGNIZE"),
        ({"measures": "MEASURES A.p"}, "a measure needs a name", "A.p ONE"),
        ({"measures": "MEASURES RUNNING LAST(A.p) AS a"}, "a measure needs a name", "RUNNING"),
        ({"measures": "MEASURES A.zz AS a"}, "has no column zz", "A.zz"),
        ({"measures": "MEASURES X.p AS a"}, "X is no variable of the pattern", "X.p"),
        ({"measures": "MEASURES COUNT(DISTINCT A.p) AS a"}, "no DISTINCT", "COUNT(DISTINCT A.p)"),
        ({"measures": "MEASURES SUM(A.p + B.p) AS a"}, "the rows of one variable", "SUM(A.p + B.p)"),
        ({"measures": "MEASURES COUNT(A.*) AS a"}, "no * of a variable", "A.*"),
        ({"measures": "MEASURES LAST(A.p, B.p) AS a"}, "a constant number of rows", "B.p) AS a"),
        ({"measures": "MEASURES SUM(A.s) AS a"}, "takes numbers", "SUM(A.s)"),
        ({"rows": "ALL ROWS PER MATCH"}, "no ALL ROWS PER MATCH", "ALL ROWS"),
        ({"rows": "AFTER MATCH SKIP TO FIRST A"}, "a match begins with A", "MATCH_RECOGNIZE"),
        ({"rows": "AFTER MATCH SKIP TO LAST X"}, "X in AFTER MATCH SKIP is no variable", "MATCH_RECOGNIZE"),
        ({"pattern": "(A B+)"}, "can't end in a greedy quantifier", "(A B+)"),
        ({"pattern": "(A*? B?)"}, "may have no rows", "(A*? B?)"),
        ({"pattern": "(A B?? C)"}, "Flink has no B??", "?? C"),
        ({"pattern": "(A B{0,1}? C)"}, "Flink has no B??", "{0,1}? C"),
        ({"measures": "MEASURES LISTAGG(A.s, B.s) AS a"}, "a constant text between the values", "B.s) AS a"),
        ({"measures": "MEASURES LAST(A.p, -1) AS a"}, "a constant number of rows", "-1) AS a"),
        ({"pattern": "(A+ B* C)"}, "follow a greedy one", "* C)"),
        ({"pattern": "(A B{,2} C)"}, "expects a number here", ",2} C"),
        ({"pattern": "(A | B)"}, "of variables, each with a quantifier", "| B"),
        ({"pattern": "(A (B C)+ D)"}, "of variables, each with a quantifier", "(B C)"),
        ({"pattern": "(A {- C -} B)"}, "of variables, each with a quantifier", "- C"),
        ({"pattern": "(PERMUTE(A, B))"}, "of variables, each with a quantifier", "(A, B)"),
        ({"pattern": "(A B A)"}, "A stands twice", "A) DEFINE"),
        ({"pattern": "(A B{2,1} C)"}, "a quantifier counts up", "{2,1}"),
        ({"pattern": "(A B) WITHIN INTERVAL '1' MONTH"}, "WITHIN", "INTERVAL '1' MONTH"),
        ({"define": ""}, "expects DEFINE here", ") AS m"),
        ({"define": "DEFINE B AS B.p > 1, B AS B.p > 2"}, "B is defined twice", "B AS B.p > 2"),
        ({"define": "DEFINE B AS B.p > (SELECT 1)"}, "takes no subquery", "(SELECT 1)"),
    ],
)  # fmt: skip
def test_refused(clauses: dict[str, str], message: str, at: str) -> None:
    sql = match(**clauses)
    with pytest.raises(TranslationError, match=message.replace("(", "\\(").replace("*", "\\*")) as refused:
        flink(sql)
    assert sql[refused.value.column - 1 :].startswith(at)


def test_a_condition_for_no_variable_is_dropped_as_in_flink() -> None:
    assert "99" not in flink(match(define="DEFINE X AS X.p > 99"))


def test_the_columns_of_a_match() -> None:
    written = flink(f"SELECT h / 2 AS q FROM ({match(measures='MEASURES A.p / 2 AS h')})")
    assert "h DIV 2" in written
    assert "get(events, m.A_last).p DIV 2" in written


def test_a_name_before_and_an_alias_behind() -> None:
    sql = match().replace("FROM t MATCH", "FROM t AS u MATCH")
    assert "FROM t AS u" in flink(sql)


STREAMED = match(pattern="(A B+ C) WITHIN INTERVAL '1' HOUR", define="DEFINE B AS B.p < A.p, C AS C.p / 2 > LAST(B.p)")


class TestOnStreams:
    SCHEMA: ClassVar = {"t": {**SCHEMA["t"], "ts": "timestamp"}}

    def plan(self, sql: str) -> StreamPlan:
        return plan(sql, "flink", streams=["t"], schema=self.SCHEMA)

    def test_rows_leave_the_stream_and_wait_for_later_ones(self) -> None:
        found = self.plan(STREAMED.replace("SELECT *", "SELECT k, a / 2 AS h") + " WHERE b > 1")
        assert (found.query, found.buffered, found.time) == ("SELECT * FROM t", True, "ts")
        assert isinstance(found.ending, OnMatches)
        assert found.ending.query == "SELECT k, CAST(a DIV 2 AS INT) AS h FROM __closed_rows AS m WHERE b > 1"
        assert "FROM __rows_so_far AS t" in found.ending.closed
        assert "CAST(get(events, m.C_last).p DIV 2 AS INT) > get(events, m.B_last).p" in found.ending.closed
        assert "filter(a.live, t -> until_at <= get(events, t.m.s).ts + INTERVAL '1' HOUR)" in found.ending.closed
        assert found.ending.kept.startswith("SELECT inline(slice(events, matches.first + 1,")

    def test_windows_that_are_closed_may_stand_below(self) -> None:
        counts = (
            "(SELECT k, window_time AS ts, CAST(COUNT(*) AS INT) AS p FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), "
            "INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end, window_time)"
        )
        found = self.plan(STREAMED.replace("FROM t MATCH", f"FROM {counts} AS w MATCH"))
        assert (found.buffered, found.time) == (False, "ts")
        assert isinstance(found.ending, OnMatches)
        assert "FROM __rows_so_far AS w" in found.ending.closed

    def test_rows_that_never_go_are_warned_of(self) -> None:
        warnings: list[str] = []
        plan(match(), "flink", streams=["t"], schema=self.SCHEMA, warn=lambda warning: warnings.append(str(warning)))
        assert len(warnings) == 1 and "without WITHIN" in warnings[0]

    @pytest.mark.parametrize(
        ("sql", "message"),
        [
            (f"SELECT a, COUNT(*) FROM ({STREAMED}) GROUP BY a", "several micro-batches"),
            (
                f"SELECT a, ROW_NUMBER() OVER (PARTITION BY k ORDER BY a) AS r FROM ({STREAMED})",
                "several micro-batches",
            ),
            (f"SELECT x.a FROM ({STREAMED}) AS x JOIN t ON t.k = x.k", "another stream"),
            (f"SELECT * FROM names AS n LEFT JOIN ({STREAMED}) AS x ON x.k = n.k", "keeps rows of a table"),
            (f"WITH x AS ({STREAMED}) SELECT y.a FROM x AS y JOIN x AS z ON z.k = y.k", "read twice"),
            (f"{STREAMED} UNION ALL {STREAMED}", "several MATCH_RECOGNIZE"),
            (
                STREAMED.replace(
                    "FROM t M", "FROM (SELECT *, LAG(p) OVER (PARTITION BY k ORDER BY ts) q FROM t) AS w M"
                ),
                "below a MATCH_RECOGNIZE",
            ),
            (
                STREAMED.replace("FROM t M", "FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS w M"),
                "a window function below a MATCH_RECOGNIZE",
            ),
            (
                STREAMED.replace(
                    "FROM t M",
                    "FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS w M",
                ),
                "below a MATCH_RECOGNIZE",
            ),
        ],
    )
    def test_what_doesnt_stream(self, sql: str, message: str) -> None:
        with pytest.raises(TranslationError) as error:
            self.plan(sql)
        assert message in error.value.message


def test_a_type_that_nobody_knows() -> None:
    with pytest.raises(TranslationError, match=r"nobody knows the type of A\.p"):
        flink(match(measures="MEASURES SUM(A.p) AS a"), {})


def test_rules_read_what_is_written() -> None:
    """`>>>` of types in each other would be an operator."""
    query = match(measures="MEASURES MATCH_ROWTIME() AS rt")
    hop = f"HOP((SELECT * FROM ({query})), DESCRIPTOR(rt), INTERVAL '1' MINUTE, INTERVAL '60' MINUTE)"
    sql = f"SELECT window_start, window_end, k, COUNT(*) AS n FROM {hop} GROUP BY window_start, window_end, k"
    assert flink(sql) != translate(sql, "flink", schema=SCHEMA, optimize=False)


@pytest.mark.parametrize("call", ["PREV(A.p)", "NEXT(A.p)", "LAG(A.p)", "CLASSIFIER()", "MATCH_NUMBER()"])
def test_functions_that_flink_lacks_are_left_to_spark(call: str) -> None:
    assert f"{call.partition('(')[0]}(" in flink(match(measures=f"MEASURES {call} AS a"))
