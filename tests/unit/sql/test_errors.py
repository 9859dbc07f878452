"""Bad input: what is wrong, where exactly, and how to write it."""

# A statement and its fault stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from tests.unit.sql.pairs import Pairs

USAGE = {
    "TUMBLE": "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES",
    "HOP": "HOP(TABLE t, DESCRIPTOR(ts), slide INTERVAL '5' MINUTES, size INTERVAL '10' MINUTES",
    "CUMULATE": "CUMULATE(TABLE t, DESCRIPTOR(ts), step INTERVAL '2' MINUTES, size INTERVAL '10' MINUTES",
    "SESSION": "SESSION(TABLE t [PARTITION BY (k, ...)], DESCRIPTOR(ts), INTERVAL '10' MINUTES",
}


class TestArguments(Pairs):
    def test_too_few(self) -> None:
        for call, missing in (
            ("tumble()", "data"), ("tumble(t)", "timecol"), ("tumble(t, ts)", "size"), ("hop(t, ts)", "slide"), ("hop(t, ts, '5m')", "size"), ("cumulate(t, ts)", "step"), ("cumulate(t, ts, '5m')", "size"), ("session(t, ts)", "gap"), ("session(t partition by k, ts)", "gap"),
        ):
            name = call.split("(")[0].upper()
            self.refused(f"select * from {call} w", f"its {missing} is missing", at=call, hint=USAGE[name])
        for interval in ("'-5s'", "'5 minutes'"):
            self.refused(f"select * from tumble(t, {interval}, '5m')", "is a name", at=interval, hint=USAGE["TUMBLE"])
        self.refused("select * from tumble(t, 'event time', '5m')", "is a name", at="'event time'", hint="DESCRIPTOR(`event time`)")
        self.refused_flink("SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts))", "TUMBLE needs 3 arguments, and its size is missing", at="TUMBLE(TABLE t, DESCRIPTOR(ts))", hint=USAGE["TUMBLE"])
        self.refused_flink("SELECT * FROM HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE)", "HOP needs 4 arguments, and its size is missing", at="HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE)", hint=USAGE["HOP"])

    def test_too_many(self) -> None:
        self.refused("select * from tumble(t, ts, '5m', '1m', '2m')", "TUMBLE takes 3 or 4 arguments", at="'2m'", hint=USAGE["TUMBLE"])
        self.refused("select * from hop(t, ts, '5m', '10m', '1m', 3)", "HOP takes 4 or 5 arguments", at="3", hint=USAGE["HOP"])
        self.refused("select * from session(t, ts, '5m', '1m')", "SESSION takes 3 arguments", at="'1m'", hint=USAGE["SESSION"])
        self.refused_flink("SELECT * FROM CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '2' HOUR, INTERVAL '0' HOUR, x)", "CUMULATE takes 4 or 5 arguments", at="x", hint=USAGE["CUMULATE"])

    def test_names(self) -> None:
        self.refused("select * from tumble(t, ts, sise => '5m')", "TUMBLE has no argument sise", at="sise", hint=USAGE["TUMBLE"])
        self.refused("select * from session(t, ts, size => '5m')", "SESSION has no argument size", at="size", hint=USAGE["SESSION"])
        self.refused("select * from tumble(t, ts, '5m', size => '6m')", "TUMBLE has its size twice", at="size", hint=USAGE["TUMBLE"])
        self.refused("select * from tumble(data => t, timecol => ts, data => u, size => '1m')", "TUMBLE has its data twice", at="data", hint=USAGE["TUMBLE"])

    def test_session_rules(self) -> None:
        start = "select * from session(t, ts, '5m', "
        self.refused(f"{start}'4h')", "one too many", at="'4h'", hint="max_duration => INTERVAL '4' HOURS")
        self.refused(f"{start}maximum => '4h')", "no argument maximum", at="maximum", hint="max_duration =>")
        self.refused(f"{start}max_duration => g)", "max_duration: a window takes a constant interval", at="g", hint="INTERVAL '10' MINUTES")
        self.refused(f"{start}max_duration => '-1 hour')", "max_duration must be positive", at="max_duration => '-1 hour'", hint="such as")
        self.refused(f"{start}max_duration => '1 month')", "no fixed length", at="'1 month'", hint="days")
        self.refused(f"{start}close_on => a, close_on => b)", "its close_on twice", at="close_on", hint=USAGE["SESSION"])
        self.refused(f"{start}close_on => )", "takes a condition here", at=")", hint="close_on => event = 'logout'")
        for condition in ("sum(x) > 1", "x in (select 1)", "lag(x) over (order by ts) = 1"):
            self.refused(f"{start}close_on => {condition})", "beyond its row", at=condition, hint="close_on => ends")
        self.refused("select * from session(t, ts, a + b)", "takes a constant interval", at="a + b", hint="or the name of the column")
        self.refused("select * from session(t, ts, t.g)", "takes a constant interval", at="t.g", hint="or the name of the column")
        self.refused("select * from session(t partition by a, b, ts, g)", "several keys", at=", b", hint="PARTITION BY (a, b)")
        self.refused("select * from tumble(t, ts, '5m', close_on => a)", "TUMBLE has no argument close_on", at="close_on", hint=USAGE["TUMBLE"])

    def test_punctuation(self) -> None:
        self.refused("select * from tumble(t, ts, '5m',)", "missing", at=",", hint="INTERVAL")
        self.refused("select * from tumble(t, ts, )", "missing", at=",", hint="INTERVAL")
        self.refused("select *\nfrom tumble(t, ts, '5m'\nwhere x = 1", "never closed", at="(", hint="close it with )")


class TestWindows(Pairs):
    def test_not_positive(self) -> None:
        self.refused("select * from tumble(t, ts, '0 minutes')", "window size must be positive", at="'0 minutes'", hint="'10 minutes'")
        self.refused("select * from tumble(t, ts, '-5m')", "window size must be positive", at="'-5m'", hint="'10 minutes'")
        self.refused("select * from tumble(t, ts, size => INTERVAL '-5' MINUTE)", "window size must be positive", at="size => INTERVAL '-5' MINUTE", hint="'10 minutes'")
        self.refused("select * from hop(t, ts, '0s', '5m')", "window slide must be positive", at="'0s'", hint="slide such as")
        self.refused("select * from hop(t, ts, '1m', '0m')", "window size must be positive", at="'0m'", hint="size such as")
        self.refused("select * from cumulate(t, ts, '-1m', '5m')", "window step must be positive", at="'-1m'", hint="step such as")
        self.refused("select * from session(t, ts, '0m')", "window gap must be positive", at="'0m'", hint="gap such as")
        self.refused_flink("SELECT * FROM SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '0' MINUTE)", "window gap must be positive", at="INTERVAL '0' MINUTE", hint="gap such as")

    def test_sizes_that_do_not_fit(self) -> None:
        self.refused("select * from cumulate(t, ts, '4m', '10m')", "size (10 minutes) must be a whole multiple of the step (4 minutes)", at="'10m'", hint="'8 minutes'")
        self.refused("select * from cumulate(t, ts, '10m', '5m')", "size (5 minutes) must be a whole multiple of the step (10 minutes)", at="'5m'", hint="'10 minutes'")
        self.refused_flink("SELECT * FROM CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '4' MINUTE, INTERVAL '10' MINUTE)", "whole multiple", at="INTERVAL '10' MINUTE", hint="'8 minutes'")
        self.refused("select * from tumble(t, ts, '5m', '5m')", "offset (5 minutes) must be smaller than the size (5 minutes)", at="'5m'", hint="between -5 minutes and 5 minutes")
        self.refused("select * from tumble(t, ts, '5m', '-7m')", "offset (-7 minutes) must be smaller than the size (5 minutes)", at="'-7m'", hint="between -5 minutes and 5 minutes")
        self.refused_flink("SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '7' MINUTE)", "must be smaller than the size", at="INTERVAL '7' MINUTE", hint="between")

    def test_finer_than_window_time(self) -> None:
        """window_time is a millisecond before the end: a window must be longer than that."""
        self.refused("select * from tumble(t, ts, '500 us')", "millisecond", at="'500 us'", hint="'1 millisecond'")
        self.refused("select * from session(t, ts, '1500 us')", "millisecond", at="'1500 us'", hint="'2 milliseconds'")

    def test_partition_by(self) -> None:
        for call in ("tumble({}, ts, '5m')", "hop({}, ts, '5m', '5m')", "cumulate({}, ts, '5m', '5m')"):
            for table in ("t partition by k", "table t partition by (k, v)", "(select * from t) partition by k"):
                self.refused(f"select * from {call.format(table)}", "takes no PARTITION BY", at=table, hint="group by the key")
        self.refused("select * from session(t partition by a, b, ts, '5m')", "several keys", at=", b", hint="PARTITION BY (a, b)")
        self.refused_flink("SELECT * FROM SESSION(TABLE t PARTITION BY a, b, DESCRIPTOR(ts), INTERVAL '5' MINUTE)", "several keys", at=", b", hint="PARTITION BY (a, b)")
        self.refused("select * from session(t partition by k order by ts, ts, '5m')", "takes no ORDER BY", at="order by", hint=USAGE["SESSION"])
        self.refused("select * from tumble(t order by ts, ts, '5m')", "takes no ORDER BY", at="order by", hint=USAGE["TUMBLE"])
        self.refused("select * from session(t partition by t.k, ts, '5m')", "plain column", at="t.k", hint="subquery")
        self.refused("select * from session(t partition by (), ts, '5m')", "PARTITION BY", at="()", hint="PARTITION BY")
        self.refused("select * from session(t partition by upper(k), ts, '5m')", "column", at="upper(k)", hint="subquery")


class TestInput(Pairs):
    def test_no_relation(self) -> None:
        self.refused("select * from tumble('t', ts, '5m')", "a name, not a string", at="'t'", hint="TABLE t")
        self.refused("select * from tumble(1, ts, '5m')", "TUMBLE takes a relation", at="1", hint=USAGE["TUMBLE"])
        self.refused("select * from tumble(values (1), ts, '5m')", "TUMBLE takes a relation", at="values", hint="(")

    def test_what_may_follow_a_table(self) -> None:
        for suffix in ("version as of 3", "timestamp as of '2020-01-01'", "tablesample (10 percent)", "where k = 1", "join u", "as x"):
            self.refused(f"select * from tumble(source_table {suffix}, ts, '5m')", "doesn't understand", at=suffix.split()[0] if suffix != "as x" else "as x"[:2], hint="(SELECT * FROM source_table")

    def test_time_column(self) -> None:
        self.refused("select * from tumble(t, 'ts', '5m')", "a name, not a string", at="'ts'", hint="DESCRIPTOR(ts)")
        self.refused("select * from tumble(t, descriptor(\"ts\"), '5m')", "a name, not a string", at='"ts"', hint="DESCRIPTOR(ts)")
        self.refused("select * from tumble(t, cast(s as timestamp), '5m')", "plain column", at="cast(s as timestamp)", hint="subquery")
        self.refused("select * from tumble(t, t.ts, '5m')", "plain column", at="t.ts", hint="DESCRIPTOR(ts)")
        self.refused("select * from tumble(t, ts + interval 1 day, '5m')", "plain column", at="ts + interval 1 day", hint="subquery")

    def test_jinja_without_braces(self) -> None:
        self.refused("select * from << tumble(ref('bid'), ts, '5m') >>", "ref(...) is Jinja", at="ref('bid')", hint="{{ ref('bid') }}")
        self.refused("select * from << tumble(source('raw', 'bid'), ts, '5m') >>", "source(...) is Jinja", at="source('raw', 'bid')", hint="{{ source('raw', 'bid') }}")
        self.refused("select * from tumble(ref( 'bid' ), ts, '5m')", "ref(...) is Jinja", at="ref( 'bid' )", hint="{{ ref( 'bid' ) }}")
        self.refused("select * from << tumble(TABLE ref('bid'), ts, '5m') >>", "ref(...) is Jinja", at="ref('bid')", hint="{{ ref('bid') }}")
        self.refused("select * from << tumble((select * from ref('bid')), ts, '5m') >>", "ref(...) is Jinja", at="ref('bid')", hint="{{ ref('bid') }}")
        self.refused_flink("SELECT * FROM TUMBLE(TABLE ref('bid'), DESCRIPTOR(ts), INTERVAL '5' MINUTE)", "ref(...) is Jinja", at="ref('bid')", hint="{{ ref('bid') }}")


class TestIslands(Pairs):
    def test_islands_of_no_window(self) -> None:
        self.refused("select *\nfrom << tumbel(t, ts, '5m') >>", "there is no window function tumbel", at="tumbel", hint="did you mean tumble?")
        self.refused("select * from a join <<sesion(t, ts, '5m') >> on a.x = 1", "there is no window function sesion", at="sesion", hint="did you mean session?")
        self.refused("select * from a, -- b\n << explode(t) >>", "there is no window function explode", at="explode", hint="behind << stands one of")
        self.refused("select * from (<< tumble >>)", "tumble takes its arguments in parentheses", at="tumble", hint="write << tumble(...) >>")

    def test_never_closed(self) -> None:
        self.refused("select * from << tumble(t, ts, '5m')", "never closed", at="<< tumble(t, ts, '5m')", hint=">>")
        self.refused("select * from << tumble(t, ts, '5m') where x = 1", "never closed", at="<< tumble(t, ts, '5m')", hint=">>")
        self.refused("select * from << tumble(t, ts, '5m') > w", "never closed", at="<< tumble(t, ts, '5m')", hint=">>")
        self.refused("select * from << tumble(t, ts, '5m') w >>", "never closed", at="<< tumble(t, ts, '5m')", hint=">>")
        self.refused("select 1;\n\nselect *\nfrom << hop(t, ts, '5m', '10m')\n", "never closed", at="<< hop(t, ts, '5m', '10m')", hint=">>")
        self.refused("select * from << tumble(t, ts, '5m' >>", "never closed", at="(", hint=")")

    def test_faults_in_islands(self) -> None:
        self.refused("select *\n  from << tumble(t, ts, '0 minutes') >>", "must be positive", at="'0 minutes'", hint="'10 minutes'")


class TestStatements(Pairs):
    def test_never_closed(self) -> None:
        message = "never closed"
        with pytest.raises(TranslationError, match=message) as raised:
            translate("select *\nfrom tumble(t, ts, '5m')\nwhere x = 'abc")
        assert (raised.value.line, raised.value.column) == (3, 11)
        with pytest.raises(TranslationError, match=message) as raised:
            translate("select *\nfrom tumble(t, ts, '5m')\n  /* abc")
        assert (raised.value.line, raised.value.column) == (3, 3)

    def test_other_faults(self) -> None:
        for sql, line, column in (
            ("select a b c from tumble(t, ts, '5m')", 1, 12), ("select *\nfrom tumble(t, ts, '5m')\nwhere", 3, 1), ("select * from tumble(t, ts, '5m') w where w.x = ", 1, 47), ("select *\nfrom tumble(t, ts, '5m'))", 2, 25),
        ):
            with pytest.raises(TranslationError) as raised:
                translate(sql)
            assert (raised.value.line, raised.value.column) == (line, column), sql

    def test_messages_speak_of_sql(self) -> None:
        """No word of the parser's inside: no class names, no tokens."""
        for sql in (
            "selec * from tumble(t, ts, '5m')", "select * from tumble(t, ts, '5m') where", "select * from tumble(, ts, '5m')", "select * from tumble(1, ts, '5m')", "select a b c from tumble(t, ts, '5m')", "select * from tumble(t, ts, '5m') w where w.x = ", "select * from tumble(t, ts, '5m') group by", "select (1 from tumble(t, ts, '5m')",
            "select * from tumble(t, ts, '5m') order by limit 1", "select * from tumble(t, ts, '5m') join", "select case from tumble(t, ts, '5m')", "select * from tumble(select 1, ts, '5m')", "select cast(a as) from tumble(t, ts, '5m')",
        ):
            try:
                translate(sql)
            except TranslationError as error:
                for word in ("<class", "Token", "sqlglot", "keyword: '", "\x1b"):
                    assert word not in error.message, error.message

    def test_only_translation_errors(self) -> None:
        """Whatever is cut off a statement, nothing else is raised than the one error."""
        sql = "with a as (select * from << hop(TABLE `b c`.t, DESCRIPTOR(ts), INTERVAL '5' MINUTES, '10m', offset => '-1m') >> w) select tumble_start(ts, '1h'), count(*) from session((select k, v, ts from a) partition by (k, v), ts, '2m') group by tumble(ts, '1h'), k having count(*) > 1"
        translate(sql)
        pieces = sql.split(" ")
        for text in [sql[:i] for i in range(len(sql))] + [sql[i:] for i in range(len(sql))] + [" ".join(pieces[:i] + pieces[i + 1 :]) for i in range(len(pieces))]:
            for dialect in ("spark", "flink"):
                try:
                    translate(text, dialect)
                except TranslationError as error:
                    assert error.line >= 1 and 1 <= error.column <= len(error.source_line) + 1
                    assert error.source_line in text

    def test_deep_nesting(self) -> None:
        """A statement that is nested too deeply for the parser is refused like any other, if it is refused."""
        for opening, middle, closing in (("(", "a", ")"), ("replace(", "a", ", 'x', 'y')"), ("case when a then ", "1", " end"), ("(select * from ", "t", ")")):
            nested = opening * 400 + middle + closing * 400
            for sql in (f"select {nested} as a from tumble(t, ts, '5m')", f"select 1 from tumble({nested}, ts, '5m')"):
                for dialect in ("spark", "flink"):
                    try:
                        translate(sql, dialect)
                    except TranslationError as error:
                        assert error.message

    def test_unknown_dialect_and_mode(self) -> None:
        with pytest.raises(ValueError, match=r"unknown dialect 'flunk'.*flink"):
            translate("select 1", "flunk")
        with pytest.raises(ValueError, match=r"unknown mode 'batsh'.*batch"):
            translate("select * from tumble(t, ts, '5m')", mode="batsh")


class TestDescription:
    """An error as text: what, where, the line with the fault underlined, how to write it."""

    def test_whole(self) -> None:
        with pytest.raises(TranslationError) as raised:
            translate("select *\nfrom tumble(bid, bidtime, '0 minutes')\n")
        assert raised.value.describe("models/bids_10min.sql:4:27") == (
            "window size must be positive\n"
            "  models/bids_10min.sql:4:27\n"
            "    from tumble(bid, bidtime, '0 minutes')\n"
            "                              ^^^^^^^^^^^\n"
            "  write a size such as '10 minutes'"
        )
        assert str(raised.value) == raised.value.describe("line 2, column 27")

    @pytest.mark.parametrize("before", [0, 10, 59, 60, 61, 100, 5_000])
    @pytest.mark.parametrize("after", [0, 60, 5_000])
    def test_long_lines_are_cut_around_the_fault(self, before: int, after: int) -> None:
        with pytest.raises(TranslationError) as raised:
            translate(f"select {'x' * before} from tumble(bid, bidtime, '0 minutes') {'y' * after}")
        line, mark = raised.value.describe("here").split("\n")[2:4]
        assert len(line) <= 120
        start = mark.index("^")
        assert line[start : start + mark.count("^")] == "'0 minutes'"

    def test_tabs_count_as_one(self) -> None:
        with pytest.raises(TranslationError) as raised:
            translate("select\t*\tfrom\ttumble(bid,\tbidtime,\t'0m')")
        line, mark = raised.value.describe("here").split("\n")[2:4]
        assert line[mark.index("^") :][:4] == "'0m'"
        assert raised.value.column == 36

    def test_fault_over_several_lines(self) -> None:
        with pytest.raises(TranslationError) as raised:
            translate("select * from tumble(t,\n  ts)")
        line, mark = raised.value.describe("here").split("\n")[2:4]
        assert line.endswith("tumble(t,") and mark.endswith("^" * len("tumble(t,"))


@pytest.mark.parametrize("dialect", ["flink", "openmldb", "sqlstream"])
def test_an_empty_name_is_no_size_of_a_type(dialect: str) -> None:
    with pytest.raises(TranslationError, match="can't be parsed"):
        translate("SELECT CAST(a AS CHAR(``)) AS b FROM t", dialect)
