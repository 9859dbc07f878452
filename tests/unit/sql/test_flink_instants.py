"""Times of Flink SQL where the clock changes: their SQL; the values are recorded in Flink (tests/golden)."""

# A statement and its translation stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import translate
from dbt.adapters.sparkstream.sql.streaming import plan
from tests.unit.sql.pairs import Pairs

SCHEMA = {"c": {"s": "string", "z": "string", "ts": "timestamp_ntz", "lt": "timestamp", "n": "int"}}
TEXT = "SUBSTRING(CAST(ts AS STRING), {}, {})".format
UTC = "(TIMESTAMP_NTZ '1970-01-01' + INTERVAL '0.000001' SECOND * UNIX_MICROS(lt))"


class TestClocks(Pairs):
    """A TIMESTAMP that is shown without Spark's DATE_FORMAT, which goes by the session's clock."""

    def written(self, pattern: str, spark: str, time: str = "ts") -> None:
        self.flink(f"SELECT DATE_FORMAT({time}, {pattern}) AS z FROM c", spark=f"SELECT {spark} AS z FROM c", schema=SCHEMA)

    def test_patterns_of_the_text_of_a_time(self) -> None:
        self.written("'yyyy-MM-dd HH'", TEXT(1, 13))
        self.written("'HH:mm'", TEXT(12, 5))
        self.written("'uuuu-MM-dd'", TEXT(1, 10))
        self.written("'yyyyMM'", f"CONCAT({TEXT(1, 4)}, {TEXT(6, 2)})")
        self.written("'yyyy-MM-dd HH:mm:00'", f"CONCAT({TEXT(1, 16)}, ':00')")
        self.written("'ss.SSS'", f"CONCAT({TEXT(18, 2)}, '.', DATE_FORMAT(ts, 'SSS'))")

    def test_other_letters(self) -> None:
        self.written("'EEE, d MMM yyyy'", "DATE_FORMAT(CAST(ts AS DATE), 'EEE, d MMM yyyy')")
        self.written("'h a'", "CONCAT(CAST((HOUR(ts) + 11) % 12 + 1 AS STRING), ' ', CASE WHEN HOUR(ts) < 12 THEN 'AM' WHEN HOUR(ts) > 11 THEN 'PM' END)")
        self.written("'kk:m'", "CONCAT(LPAD(CAST((HOUR(ts) + 23) % 24 + 1 AS STRING), 2, '0'), ':', CAST(MINUTE(ts) AS STRING))")

    def test_texts_in_a_pattern(self) -> None:
        self.written("'HH''T''mm'", f"CONCAT({TEXT(12, 2)}, 'T', {TEXT(15, 2)})")
        self.written("'HH ''o''''clock'''", f"CONCAT({TEXT(12, 2)}, ' o\\'clock')")
        self.written("'[HH]'", f"CONCAT('', {TEXT(12, 2)}, '')")

    def test_what_is_on_the_sessions_clock(self) -> None:
        self.written("'yyyy-MM-dd HH'", "DATE_FORMAT(lt, 'yyyy-MM-dd HH')", time="lt")
        self.written("s", "DATE_FORMAT(ts, s)")
        self.written("'''x'''", "DATE_FORMAT(ts, '\\'x\\'')")

    def test_casts(self) -> None:
        self.flink("SELECT CAST(ts AS STRING) AS z FROM c", spark=f"SELECT REGEXP_REPLACE(CONCAT({TEXT(1, 19)}, '.', DATE_FORMAT(ts, 'SSSSSS')), '000$', '') AS z FROM c", schema=SCHEMA)


class TestInstants(Pairs):
    def rewritten(self, flink: str, spark: str) -> None:
        self.flink(f"SELECT {flink} AS z FROM c", spark=f"SELECT {spark} AS z FROM c", schema=SCHEMA)

    def test_days_are_24_hours(self) -> None:
        self.rewritten("lt + INTERVAL '1' DAY", "lt + MAKE_INTERVAL(0, 0, 0, 0, 24)")
        self.rewritten("lt + INTERVAL '36' HOUR", "lt + MAKE_INTERVAL(0, 0, 0, 0, 36)")
        self.rewritten("lt - INTERVAL '1 00:30:00.5' DAY TO SECOND", "lt - MAKE_INTERVAL(0, 0, 0, 0, 24, 0, 1800.5)")
        self.rewritten("lt + INTERVAL -'1' DAY", "lt - MAKE_INTERVAL(0, 0, 0, 0, 24)")
        self.rewritten("INTERVAL '1' DAY + lt", "lt + MAKE_INTERVAL(0, 0, 0, 0, 24)")
        self.rewritten("lt + n * INTERVAL '1' DAY", "TIMESTAMP_MICROS(UNIX_MICROS(lt) + (n * INTERVAL '1' DAY) DIV INTERVAL '0.000001' SECOND)")
        self.rewritten("TIMESTAMPADD(DAY, 1, lt)", "TIMESTAMPADD(HOUR, 24, lt)")
        self.rewritten("TIMESTAMPADD(WEEK, n, lt)", "TIMESTAMPADD(HOUR, 168 * (n), lt)")

    def test_months_are_counted_in_utc(self) -> None:
        micros = "DIV INTERVAL '0.000001' SECOND"
        self.rewritten("lt - INTERVAL '1' MONTH", f"TIMESTAMP_MICROS(({UTC} - INTERVAL '1' MONTH - TIMESTAMP_NTZ '1970-01-01') {micros})")
        self.rewritten("TIMESTAMPADD(YEAR, n, lt)", f"TIMESTAMP_MICROS(({UTC} + MAKE_YM_INTERVAL(0, 12 * (n)) - TIMESTAMP_NTZ '1970-01-01') {micros})")

    def test_what_spark_adds_so_itself(self) -> None:
        for sql in ("lt + INTERVAL '23' HOUR", "TIMESTAMPADD(HOUR, 48, lt)", "ts + INTERVAL '1' DAY", "TIMESTAMPADD(DAY, 1, ts)"):
            self.rewritten(sql, sql)

    def test_zones(self) -> None:
        clock = "TRY_CAST('2024-11-03 01:30:00' AS TIMESTAMP_NTZ)"
        self.rewritten("CONVERT_TZ('2024-11-03 01:30:00', 'UTC', '+02:00')", f"CAST(CONVERT_TIMEZONE('UTC', 'UTC', {clock}) AS STRING)")
        made = translate("SELECT CONVERT_TZ('2024-11-03 01:30:00', 'A/B', z) AS z FROM c", "flink", schema=SCHEMA)
        known = "TRY_ADD(CONVERT_TIMEZONE({}, 'UTC', TIMESTAMP_NTZ '1970-01-01'), INTERVAL '0' SECOND) IS NOT NULL".format
        assert f"CASE WHEN {known(repr('A/B'))} THEN 'A/B' ELSE 'UTC' END" in made
        assert f"CASE WHEN (z IS NULL OR {known('z')} AND z NOT RLIKE '^(UTC?)?[+-]') THEN z ELSE 'UTC' END" in made


class TestRangeFrames(Pairs):
    """Days of a frame are 24 hours, as they are in Flink's streams; on the session's clock, Spark's are longer or shorter."""

    def framed(self, flink: str, spark: str) -> None:
        self.flink(f"SELECT MIN(n) OVER ({flink}) AS z FROM c", spark=f"SELECT MIN(n) OVER ({spark}) AS z FROM c", schema=SCHEMA)

    def test_of_instants(self) -> None:
        self.framed("ORDER BY lt RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW", "ORDER BY UNIX_MICROS(lt) RANGE BETWEEN 86400000000 PRECEDING AND CURRENT ROW")
        self.framed("PARTITION BY s ORDER BY lt DESC RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND INTERVAL '25' HOUR FOLLOWING", "PARTITION BY s ORDER BY UNIX_MICROS(lt) DESC RANGE BETWEEN 3600000000 PRECEDING AND 90000000000 FOLLOWING")
        self.framed("ORDER BY lt RANGE INTERVAL '1 00:00:01' DAY TO SECOND PRECEDING", "ORDER BY UNIX_MICROS(lt) RANGE 86401000000 PRECEDING")

    def test_of_named_windows(self) -> None:
        self.flink("SELECT MIN(n) OVER w AS z FROM c WINDOW w AS (ORDER BY lt RANGE BETWEEN INTERVAL '2' DAY PRECEDING AND CURRENT ROW)", spark="SELECT MIN(n) OVER w AS z FROM c WINDOW w AS (ORDER BY UNIX_MICROS(lt) RANGE BETWEEN 172800000000 PRECEDING AND CURRENT ROW)", schema=SCHEMA)

    def test_shorter_ones_and_other_times_stay(self) -> None:
        for frame in ("ORDER BY lt RANGE BETWEEN INTERVAL '23' HOUR PRECEDING AND CURRENT ROW", "ORDER BY ts RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW", "ORDER BY lt ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"):
            self.framed(frame, frame)


@pytest.mark.parametrize(("length", "kept"), [("'1' HOUR", "'1' HOUR"), ("'1' DAY", "'50' HOUR")])
@pytest.mark.parametrize("dialect", ["flink", "spark"])
def test_a_stream_keeps_the_rows_of_a_day_however_a_clock_is_turned(dialect: str, length: str, kept: str) -> None:
    sql = f"SELECT MIN(n) OVER (ORDER BY lt RANGE BETWEEN INTERVAL {length} PRECEDING AND CURRENT ROW) AS z FROM c"
    ending = plan(sql, dialect, streams=["c"], schema=SCHEMA, times={"c": "lt"}).ending
    assert str(ending).count(f"- INTERVAL {kept}") == 1


@pytest.mark.parametrize(("utc", "most"), [(True, "'1' DAY"), (False, "'50' HOUR")])
def test_a_day_in_a_join_of_streams(utc: bool, most: str) -> None:
    """Spark reads no bound off MAKE_INTERVAL when it checks a join: it is said once more."""
    schema = {name: {"k": "int", "ts": "timestamp"} for name in ("s", "r")}
    sql = "SELECT a.k FROM s a LEFT JOIN r b ON a.k = b.k AND b.ts BETWEEN a.ts - INTERVAL '3' HOUR AND a.ts + INTERVAL '1' DAY"
    found = plan(sql, "flink", streams=["s", "r"], schema=schema, times={"s": "ts", "r": "ts"}, utc=utc).query
    assert found.endswith(
        f"b.ts BETWEEN a.ts - INTERVAL '3' HOUR AND a.ts + MAKE_INTERVAL(0, 0, 0, 0, 24) AND b.ts <= a.ts + INTERVAL {most}"
    )
