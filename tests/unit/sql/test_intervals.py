"""Every spelling of an interval, and what is none."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import translate
from dbt.adapters.sparkstream.sql.core.interval import ZERO, Interval, IntervalError
from tests.unit.sql.pairs import Pairs, tumble

# A statement and its translation stay on one line.
# ruff: noqa: E501
# fmt: off

SECOND = 1_000_000
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86400 * SECOND


class TestInterval:
    @pytest.mark.parametrize(
        ("text", "micros"),
        [
            ("10 minutes", 10 * MINUTE), ("10 minute", 10 * MINUTE), ("10minutes", 10 * MINUTE), ("10m", 10 * MINUTE),
            ("10 min", 10 * MINUTE), ("10 mins", 10 * MINUTE), ("10 MINUTES", 10 * MINUTE), (" 10  minutes ", 10 * MINUTE),
            ("1 hour 30 minutes", 90 * MINUTE), ("1h30m", 90 * MINUTE), ("1h 30m", 90 * MINUTE), ("2 hrs", 2 * HOUR),
            ("1d", DAY), ("1 day", DAY), ("2 days 3 hours", 51 * HOUR), ("1w", 7 * DAY), ("2 weeks", 14 * DAY),
            ("1s", SECOND), ("30 sec", 30 * SECOND), ("1.5 seconds", 1_500_000), ("0.25s", 250_000), ("1.5 h", 90 * MINUTE),
            ("5ms", 5_000), ("5 milliseconds", 5_000), ("7 us", 7), ("7 microseconds", 7),
            ("-2 min", -2 * MINUTE), ("-1h", -HOUR), ("- 2 min", -2 * MINUTE), ("+3s", 3 * SECOND), ("1 day -1 hour", 23 * HOUR), ("0 minutes", 0),
        ],
    )
    def test_reads(self, text: str, micros: int) -> None:
        assert Interval.parse(text) == Interval(micros)

    @pytest.mark.parametrize(
        ("text", "first", "last", "micros"),
        [
            ("1:30", "HOUR", "MINUTE", 90 * MINUTE), ("0:25", "hours", "minutes", 25 * MINUTE), ("1 02", "DAY", "HOUR", 26 * HOUR),
            ("0 00:10:00", "DAY", "SECOND", 10 * MINUTE), ("10:00", "MINUTE", "SECOND", 10 * MINUTE), ("1 02:03", "DAY", "MINUTE", 26 * HOUR + 3 * MINUTE),
            ("1 02:03:04.5", "DAY", "SECOND", DAY + 2 * HOUR + 3 * MINUTE + 4_500_000), ("01:02:03", "HOUR", "SECOND", HOUR + 2 * MINUTE + 3 * SECOND),
            ("-1:30", "HOUR", "MINUTE", -90 * MINUTE), ("+1:30", "HOUR", "MINUTE", 90 * MINUTE), ("-1 02:00:00", "DAY", "SECOND", -26 * HOUR),
        ],
    )
    def test_reads_spans(self, text: str, first: str, last: str, micros: int) -> None:
        assert Interval.span(text, first, last) == Interval(micros)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "empty"), ("  ", "empty"), ("10", "not an interval"), ("minutes", "not an interval"), ("10 minutes 5", "not an interval"),
            ("ten minutes", "not an interval"), ("10 parsecs", "unknown unit of time 'parsecs'"), ("1..5 s", "not a number"), ("1 0 minutes", "'1 0' is not a number"), ("1 . 5 h", "not a number"), ("--1 s", "not a number"),
            ("10,5 s", "not an interval"), ("1 month", "MONTH"), ("2 quarters", "QUARTERS"), ("1y", "unknown unit"), ("1 year", "YEAR"), ("0.0000001 s", "finer than a microsecond"),
        ],
    )
    def test_refuses(self, text: str, message: str) -> None:
        with pytest.raises(IntervalError, match=message):
            Interval.parse(text)

    @pytest.mark.parametrize(
        ("text", "first", "last"),
        [("1:30", "MINUTE", "HOUR"), ("1:30", "HOUR", "HOUR"), ("1:30", "HOUR", "SECOND"), ("1", "DAY", "HOUR"), ("1-2", "YEAR", "MONTH"), ("x:y", "HOUR", "MINUTE"), ("1:-30", "HOUR", "MINUTE"), ("1:75", "HOUR", "MINUTE"), ("1:75", "MINUTE", "SECOND"), ("0 25", "DAY", "HOUR")],
    )
    def test_refuses_spans(self, text: str, first: str, last: str) -> None:
        with pytest.raises(IntervalError):
            Interval.span(text, first, last)

    @pytest.mark.parametrize(
        ("micros", "sql", "words"),
        [
            (DAY, "INTERVAL '1' DAY", "1 day"), (7 * DAY, "INTERVAL '7' DAY", "7 days"), (90 * MINUTE, "INTERVAL '90' MINUTE", "90 minutes"), (HOUR, "INTERVAL '1' HOUR", "1 hour"),
            (-MINUTE, "INTERVAL '-1' MINUTE", "-1 minute"), (1_500_000, "INTERVAL '1.5' SECOND", "1.5 seconds"), (1_000, "INTERVAL '0.001' SECOND", "0.001 seconds"),
            (1, "INTERVAL '0.000001' SECOND", "0.000001 seconds"), (-1_500_000, "INTERVAL '-1.5' SECOND", "-1.5 seconds"), (0, "INTERVAL '0' SECOND", "0 seconds"),
            (100_000 * DAY, "INTERVAL '100000' DAY", "100000 days"), (DAY - 1_000, "INTERVAL '86399.999' SECOND", "86399.999 seconds"),
        ],
    )
    def test_writes(self, micros: int, sql: str, words: str) -> None:
        assert Interval(micros).sql() == sql
        assert Interval(micros).words() == words
        assert Interval.parse(words) == Interval(micros)

    def test_arithmetic(self) -> None:
        assert Interval(7) % Interval(5) == Interval(2)
        assert Interval(-7) % Interval(5) == Interval(3)
        assert Interval(7) // Interval(5) == 1
        assert Interval(7) * 3 + Interval(1) == Interval(22)
        assert Interval(1) > ZERO and not ZERO


class TestInSql(Pairs):
    def same(self, dialect: str, interval: str, words: str) -> None:
        test = self.flink if dialect == "flink" else self.spark
        test(f"SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), {interval})", spark="SELECT * FROM " + tumble(window=f"'{words}'", flink=dialect == "flink"))

    def test_flink_literals(self) -> None:
        for interval, words in (
            ("INTERVAL '5' MINUTE", "5 minutes"), ("INTERVAL '5' MINUTES", "5 minutes"), ("interval '5' minute", "5 minutes"), ("INTERVAL '05' MINUTE", "5 minutes"),
            ("INTERVAL '1:30' HOUR TO MINUTE", "90 minutes"), ("INTERVAL '1 02' DAY TO HOUR", "26 hours"), ("INTERVAL '0 00:10:00' DAY TO SECOND", "10 minutes"), ("INTERVAL '10:00' MINUTE TO SECOND", "10 minutes"),
            ("INTERVAL '0.5' SECOND", "0.5 seconds"), ("INTERVAL '0.001' SECOND", "0.001 seconds"), ("INTERVAL '90' SECOND", "90 seconds"), ("INTERVAL '7' DAY", "7 days"),
            ("INTERVAL '100' DAY(3)", "100 days"), ("INTERVAL '100' MINUTE ( 3 )", "100 minutes"), ("INTERVAL '1 02:03:04.5' DAY(2) TO SECOND(3)", "93784.5 seconds"),
        ):
            self.same("flink", interval, words)
            self.same("spark", interval, words)

    def test_own_literals(self) -> None:
        for interval, words in (
            ("'5 minutes'", "5 minutes"), ('"5 minutes"', "5 minutes"), ("'5m'", "5 minutes"), ("'1h 30m'", "90 minutes"), ("'1 week'", "7 days"), ("'250 ms'", "0.25 seconds"),
            ("INTERVAL 5 MINUTES", "5 minutes"), ("INTERVAL 1 HOUR 30 MINUTES", "90 minutes"), ("INTERVAL '5 minutes'", "5 minutes"), ("INTERVAL '1' WEEK", "7 days"), ("INTERVAL '100' MINUTE", "100 minutes"), ("INTERVAL 1.5 HOURS", "90 minutes"),
            ("'interval 5 minutes'", "5 minutes"), ("'INTERVAL 1 hour 30 minutes'", "90 minutes"),
        ):
            self.same("spark", interval, words)

    def test_flink_refuses(self) -> None:
        for interval, message, hint in (
            ("INTERVAL '1' WEEK", "WEEK", "'7' DAY"), ("INTERVAL '2' WEEKS", "WEEK", "'7' DAY"),
            ("INTERVAL '1' MONTH", "no fixed length", "days or smaller"), ("INTERVAL '1' YEAR", "no fixed length", "days or smaller"), ("INTERVAL '1' QUARTER", "no fixed length", "days or smaller"), ("INTERVAL '1-6' YEAR TO MONTH", "no fixed length", "days or smaller"),
            ("600000", "constant interval", "INTERVAL '10' MINUTES"),
            ("INTERVAL '5' MINUTE * 2", "constant interval", "INTERVAL '10' MINUTES"), ("-INTERVAL '5' MINUTE", "constant interval", "INTERVAL"), ("CAST('5' AS INTERVAL MINUTE)", "constant interval", "INTERVAL '10' MINUTES"),
            ("INTERVAL 'x' MINUTE", "'x' is not a number", "a number and a unit"), ("INTERVAL '' MINUTE", "not a number", "a number and a unit"),
            ("INTERVAL '0.0001' SECOND", "millisecond", "'0.001' SECOND"),
        ):
            self.refused_flink(f"SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), {interval})", message, at=interval, hint=hint)

    def test_what_flink_refuses_has_its_plain_meaning(self) -> None:
        sql = "SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), {})"
        for interval, plain in (("INTERVAL '100' DAY", "INTERVAL '100' DAY(3)"), ("INTERVAL 10 MINUTES", "INTERVAL '10' MINUTE"), ("'10 min'", "INTERVAL '10' MINUTE")):
            assert translate(sql.format(interval), "flink") == translate(sql.format(plain), "flink")

    def test_own_refuses(self) -> None:
        for interval, message, hint in (
            ("'1 month'", "no fixed length", "days or smaller"), ("INTERVAL '1' YEAR", "no fixed length", "days or smaller"), ("'5'", "'5' is not an interval", "'10 minutes'"), ("''", "empty interval", "'10 minutes'"), ("'5 fortnights'", "unknown unit of time 'fortnights'", "minutes"),
            ("5", "constant interval", "INTERVAL '10' MINUTES"), ("size_column", "constant interval", "INTERVAL '10' MINUTES"), ("INTERVAL x MINUTES", "constant interval", "INTERVAL '10' MINUTES"), ("INTERVAL '1' HOUR + INTERVAL '1' MINUTE", "constant interval", "INTERVAL '10' MINUTES"), ("make_interval(0, 0, 0, 1)", "constant interval", "INTERVAL '10' MINUTES"),
        ):
            self.refused(f"SELECT * FROM tumble(t, ts, {interval})", message, at=interval, hint=hint)
