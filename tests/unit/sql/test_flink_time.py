"""TIME of Flink SQL: what becomes of it in Spark 4.3, and what is refused; the values are recorded in Flink."""

# A statement and its translation stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.messages.readable import readable
from dbt.adapters.sparkstream.sql import translate
from tests.unit.sql.pairs import Pairs

SCHEMA = {"c": {"s": "string", "ts": "timestamp_ntz", "n": "int", "t": "time(3)", "u": "time(0)", "six": "time"}}
ON_A_DAY = "MAKE_TIMESTAMP_NTZ(DATE '1970-01-01', {})"


class TestTime(Pairs):
    def rewritten(self, flink: str, spark: str) -> None:
        self.flink(f"SELECT {flink} AS z FROM c", spark=f"SELECT {spark} AS z FROM c", schema=SCHEMA)

    def wrong(self, flink: str, message: str, hint: str | None, at: str = "") -> None:
        self.refused_flink(f"SELECT {flink} FROM c", message, at=at or flink, hint=hint, schema=SCHEMA)

    def test_literals(self) -> None:
        self.rewritten("TIME '10:20:30'", "CAST('10:20:30' AS TIME(0))")
        self.rewritten("TIME '1:2:3.1234'", "CAST('1:2:3.1234' AS TIME(3))")
        self.rewritten("LOCALTIME", "CURRENT_TIME(0)")
        self.rewritten("HOUR(CURRENT_TIME)", "CAST(HOUR(CURRENT_TIME(0)) AS BIGINT)")
        self.flink("SELECT localtime FROM d", spark="SELECT CURRENT_TIME(0) AS localtime FROM d")
        self.flink("SELECT `localtime` FROM d", spark="SELECT `localtime` FROM d")
        self.flink("SELECT `time` FROM d", spark="SELECT `time` FROM d")

    def test_casts(self) -> None:
        self.rewritten("CAST(ts AS TIME)", "CAST(ts AS TIME(0))")
        self.rewritten("CAST(ts AS TIME(9) WITHOUT TIME ZONE)", "CAST(ts AS TIME(3))")
        self.rewritten("CAST(s AS TIME(2))", r"CAST(REGEXP_REPLACE(s, '^\\s*(\\d{1,2})\\s*$', '$1:00') AS TIME(2))")
        self.rewritten("CAST('7' AS TIME)", "CAST('7:00' AS TIME(0))")
        self.rewritten("TRY_CAST('T10:20:30' AS TIME)", "TRY_CAST(NULL AS TIME(0))")
        self.rewritten("CAST(u AS STRING)", "CAST(u AS STRING)")
        self.rewritten("CAST(t AS STRING)", "REGEXP_REPLACE(CAST(t AS STRING), '^(.{8})$', '$1.0')")
        self.rewritten("CAST(t AS TIMESTAMP(3))", ON_A_DAY.format("t"))
        self.rewritten("CAST(t AS TIMESTAMP_LTZ)", f"CAST({ON_A_DAY.format('t')} AS TIMESTAMP)")

    def test_sums_wrap(self) -> None:
        self.rewritten("t + INTERVAL '1' HOUR", f"CAST({ON_A_DAY.format('t')} + INTERVAL '1' HOUR AS TIME(3))")
        self.rewritten("INTERVAL '1' HOUR + u", f"CAST({ON_A_DAY.format('u')} + INTERVAL '1' HOUR AS TIME(0))")
        self.rewritten("TIMESTAMPADD(SQL_TSI_HOUR, n, t)", f"CAST(TIMESTAMPADD(HOUR, n, {ON_A_DAY.format('t')}) AS TIME(3))")
        self.rewritten("(t - u) SECOND", "(t - u)")
        self.wrong("(t - u) MONTH", "hours and seconds", "(t2 - t1) SECOND")
        self.wrong("(t - ts) SECOND", "hours and seconds", "(t2 - t1) SECOND")

    def test_parts(self) -> None:
        self.rewritten("FLOOR(t TO HOUR)", "TIME_TRUNC('HOUR', t)")
        self.rewritten("TIMESTAMPDIFF(MINUTE, t, u)", "CAST(TIME_DIFF('MINUTE', t, u) AS INT)")
        self.rewritten("TIMESTAMPDIFF(WEEK, t, u)", "CAST(TIME_DIFF('HOUR', t, u) DIV 168 AS INT)")
        self.rewritten("FLOOR(t TO DAY)", "FLOOR(t TO DAY)")  # Spark refuses it

    @pytest.mark.parametrize(
        ("time", "unit"),
        [("d + INTERVAL '1' MONTH", "YEAR"), ("d - INTERVAL '1-2' YEAR TO MONTH", "YEAR"), ("d - INTERVAL '3' DAY(2)", "MONTH")],
    )
    def test_the_unit_of_floor_is_none_of_a_length_before_it(self, time: str, unit: str) -> None:
        made = translate(f"SELECT FLOOR({time} TO {unit}) AS z FROM c", "flink", schema={"c": {"d": "date"}})
        assert made == f"SELECT TRUNC({time.replace('(2)', '')}, '{unit}') AS z FROM c"

    def test_texts_beside_times(self) -> None:
        self.rewritten("u = '10:20:30.5'", "u = CAST('10:20:30.5' AS TIME(0))")
        self.rewritten("t IN ('7', '8:00')", "t IN (CAST('7:00' AS TIME(3)), CAST('8:00' AS TIME(3)))")

    def test_frames(self) -> None:
        self.rewritten("COUNT(*) OVER (ORDER BY t RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW)", f"COUNT(*) OVER (ORDER BY {ON_A_DAY.format('t')} RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW)")
        self.rewritten("COUNT(*) OVER (ORDER BY t)", "COUNT(*) OVER (ORDER BY t)")
        named = "SELECT COUNT(*) OVER w AS z FROM c WINDOW w AS (ORDER BY {} RANGE INTERVAL '1' HOUR PRECEDING)"
        self.flink(named.format("t"), spark=named.format(ON_A_DAY.format("t")), schema=SCHEMA)

    def test_windows_take_no_time_of_day(self) -> None:
        sql = "SELECT * FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(t), INTERVAL '1' HOUR))"
        self.refused_flink(sql, "of type time(3), not a timestamp", at="t", hint="TIMESTAMP", schema=SCHEMA)

    def test_types(self) -> None:
        self.rewritten("TYPEOF(t)", "'TIME(3)'")
        self.rewritten("TYPEOF(TIME '1:2:3.5')", "'TIME(1) NOT NULL'")
        self.rewritten("CAST(COALESCE(u, t) AS STRING)", "REGEXP_REPLACE(CAST(COALESCE(u, t) AS STRING), '^(.{8})$', '$1.0')")
        self.rewritten("CAST(six AS VARCHAR(5))", "LEFT(REGEXP_REPLACE(CAST(six AS STRING), '^(.{8})$', '$1.0'), 5)")

    def test_spark_sql_keeps_its_own(self) -> None:
        self.unchanged("SELECT TIME '10:20:30', CAST(ts AS TIME) FROM c")
        assert "CAST(ts AS TIME)" in translate("SELECT CAST(ts AS TIME) AS x FROM tumble(t, ts, '5m')")


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ("[UNSUPPORTED_TIME_TYPE] The data type TIME is not supported. SQLSTATE: 0A000", "spark.sql.timeType.enabled: true"),
        ('[UNSUPPORTED_DATATYPE] Unsupported data type "TIME(0)". SQLSTATE: 0A000', "needs Spark 4.3"),
        ('[DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION] due to data type mismatch: cannot cast "TIMESTAMP_NTZ" to "TIME(0)".', "needs Spark 4.3"),
        ("[UNRESOLVED_ROUTINE] Cannot resolve routine `CURRENT_TIME` on search path", "needs Spark 4.3"),
    ],
)
def test_a_spark_without_the_type(message: str, hint: str) -> None:
    assert hint in readable(message)
