"""Windows in a batch of a microbatch model; with real batches of dbt they run in tests/functional."""

from __future__ import annotations

from datetime import datetime

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, TranslationWarning, translate
from dbt.adapters.sparkstream.sql.core.windows import Window
from dbt.adapters.sparkstream.sql.passes.batches import BatchRows, CutTable, Microbatch
from tests.unit.sql.pairs import flat

CUT = (
    "(select * from db.bid where `ts` >= TIMESTAMP_NTZ'2024-01-02 00:00:00' "
    "and `ts` < TIMESTAMP_NTZ'2024-01-03 00:00:00')"
)


def _widen(window: Window, time: str, cut: CutTable) -> BatchRows:
    return BatchRows(
        f"(SELECT * FROM {cut.relation} WHERE {cut.column} >= 'before')", f"window_end >= 'start' /* {time} */"
    )


BATCH = Microbatch(datetime(2024, 1, 2), datetime(2024, 1, 3), _widen)
OF_BATCH = "(/* windows of the batch */ SELECT * FROM {} WHERE window_end >= 'start' /* ts */)"


@pytest.mark.parametrize(
    ("dialect", "before", "call", "after"),
    [
        ("spark", "SELECT k FROM ", "<< hop(%s, ts, '5m', '1h') >>", " AS w"),
        ("spark", "SELECT k FROM ", "hop(%s, ts, '5m', '1h')", " JOIN other USING (k)"),
        ("flink", "SELECT k FROM ", "HOP(TABLE %s, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '1' HOUR)", ""),
    ],
)
def test_windows_get_the_rows_that_they_need(dialect: str, before: str, call: str, after: str) -> None:
    widened = "(SELECT * FROM db.bid WHERE `ts` >= 'before')"
    time = "DESCRIPTOR(ts)" if dialect == "flink" else "ts"
    alone = f"SELECT * FROM HOP({widened}, {time}, INTERVAL '5' MINUTE, INTERVAL '1' HOUR)"
    alone = translate(alone, dialect, optimize=False).removeprefix("SELECT * FROM ")
    found = translate(before + call % CUT + after, dialect, batch=BATCH, optimize=False)
    assert flat(found) == flat(before + OF_BATCH.format(alone) + after)


@pytest.mark.parametrize(
    "sql",
    [
        f"WITH a AS (SELECT * FROM {CUT}) SELECT * FROM hop(a, ts, '5m', '1h')",
        f"SELECT * FROM session((SELECT * FROM {CUT} WHERE k = 1), ts, '5m')",
        f"SELECT * FROM tumble((SELECT * FROM {CUT} WHERE k = 1), ts, '7h')",
        f"WITH a AS (SELECT 1), b AS (SELECT * FROM {CUT}) SELECT * FROM (SELECT * FROM tumble(b, ts, '1h', '5m'))",
        f"SELECT count(*) FROM {CUT} GROUP BY hop(ts, INTERVAL '5' MINUTE, INTERVAL '1' HOUR)",
    ],
)
def test_windows_on_a_part_of_the_rows_are_refused(sql: str) -> None:
    with pytest.raises(TranslationError, match="dbt cuts what this") as error:
        translate(sql, batch=BATCH)
    assert "right on the ref" in (error.value.hint or "")


@pytest.mark.parametrize(
    "sql",
    [
        f"WITH a AS (SELECT * FROM {CUT}) SELECT * FROM tumble(a, ts, '1h')",
        "SELECT * FROM hop(db.bid, ts, '5m', '1h')",
        f"SELECT * FROM hop({CUT.replace('2024-01-02', '2024-01-01')}, ts, '5m', '1h')",
        f"SELECT count(*) FROM {CUT} GROUP BY tumble(ts, INTERVAL '5' MINUTE)",
    ],
)
def test_other_windows_stay(sql: str) -> None:
    assert translate(sql, batch=BATCH) == translate(sql)


FRAME = "ROWS_RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW"


@pytest.mark.parametrize(
    ("sql", "warned"),
    [
        (f"SELECT sum(x) OVER (PARTITION BY k ORDER BY ts {FRAME}) FROM {CUT}", True),
        (f"WITH a AS (SELECT * FROM {CUT}) SELECT sum(x) OVER (PARTITION BY k ORDER BY ts {FRAME}) FROM a", True),
        (f"SELECT sum(x) OVER (PARTITION BY window_start ORDER BY ts {FRAME}) FROM {CUT}", False),
        (f"SELECT sum(x) OVER (PARTITION BY k ORDER BY ts {FRAME}) FROM db.bid JOIN {CUT} AS o USING (k)", True),
        (f"SELECT sum(x) OVER (PARTITION BY k ORDER BY ts {FRAME}) FROM db.bid", False),
        (f"SELECT t.k, q.x FROM db.t LAST JOIN {CUT} AS q ORDER BY q.ts ON t.k = q.k AND q.ts <= t.ts", True),
        (f"SELECT t.k, q.x FROM {CUT} AS t LAST JOIN db.q ORDER BY q.ts ON t.k = q.k AND q.ts <= t.ts", False),
        (f"SELECT sum(x) OVER w FROM {CUT} WINDOW w AS (PARTITION BY k ORDER BY ts {FRAME})", True),
        (f"SELECT sum(x) OVER w FROM {CUT} WINDOW w AS (PARTITION BY window_end ORDER BY ts {FRAME})", False),
    ],
)
def test_frames_are_warned_of(sql: str, warned: bool) -> None:
    found: list[TranslationWarning] = []
    assert translate(sql, batch=BATCH, warn=found.append) == translate(sql)
    assert [w.message for w in found] == [
        "dbt cuts what is read here to the rows of a batch, so rows of earlier times are missing at its start"
    ] * warned
