"""Random frames on random rows: Spark's rows are those of the reference, for every flag, unions, ties and NULLs.

`SPARKSTREAM_FRAMES` is the number of frames to compare (180 unless set); `SPARKSTREAM_SEED` where to start.
"""

from __future__ import annotations

import math
import os
import random
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.sql import translate
from tests.property.frame_reference import Frame, Row, evaluate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FRAMES = int(os.environ.get("SPARKSTREAM_FRAMES", "180"))
SEED = int(os.environ.get("SPARKSTREAM_SEED", "0"))
PER_STATEMENT = 12

CALLS = {
    "ids": "collect_list(id) OVER {w}",
    "sum": "sum(v) OVER {w}",
    "count": "count(v) OVER {w}",
    "count_all": "count(*) OVER {w}",
    "min": "min(v) OVER {w}",
    "max": "max(v) OVER {w}",
    "avg": "avg(v) OVER {w}",
    "first_value": "first_value(v) OVER {w}",
    "last_value": "last_value(v) OVER {w}",
    "first_known": "first_value(v, true) OVER {w}",
    "distinct_count": "distinct_count(v) OVER {w}",
    "count_where": "count_where(v, c = 'a') OVER {w}",
    "sum_where": "sum_where(v, c = 'a') OVER {w}",
    "sum_cate": "sum_cate(v, c) OVER {w}",
    "top": "top(v, 2) OVER {w}",
    "topn_frequency": "topn_frequency(v, 2) OVER {w}",
    "lag_0": "lag(v, 0) OVER {w}",
    "lag_1": "lag(v, 1) OVER {w}",
    "lag_2": "at(v, 2) OVER {w}",
    "lag_in_0": "CASE WHEN TRUE THEN lag(v, 0) OVER {w} END",
    "lag_in_1": "CASE WHEN TRUE THEN lag(v, 1) OVER {w} END",
    "lag_in_2": "CASE WHEN TRUE THEN lag(v, 2) OVER {w} END",
    "nested": "sum(v - count(v)) OVER {w}",
}


def random_table(chance: random.Random, source: int, timed: bool) -> list[Row]:
    """A few rows with many ties, in no order of time."""
    rows = []
    scale = 500 if timed else 1
    for i in range(chance.randint(0 if source else 1, 14)):
        rows.append(
            Row(
                id=source * 100 + i,
                source=source,
                arrival=i,
                partition=chance.choice([None, 1, 1, 2]),
                key=chance.randint(-4, 8) * scale,
                value=chance.choice([None, 0, 1, 2, 5, 2**31 - 1, -7]),
                category=chance.choice([None, "a", "a", "b"]),
            )
        )
    return rows


def random_frame(chance: random.Random, timed: bool) -> tuple[str, Frame]:
    """A frame as OpenMLDB spells it, and as the reference reads it."""
    rows = chance.random() < 0.45
    unit = 1 if rows or not timed else 500
    end = chance.choice([0, 0, 0, 1, 2, 3]) * unit
    start = chance.choice([None, end, end + unit, end + 2 * unit, end + 5 * unit])
    text_start, text_end = ("UNBOUNDED" if start is None else str(start)), str(end)
    if chance.random() < 0.3 and start is not None and start - 1 >= end:
        text_start, start = f"{start} OPEN", start - 1
    if chance.random() < 0.3 and (start is None or start >= end + 1):
        text_end, end = f"{end} OPEN", end + 1
    upper = "CURRENT ROW" if text_end == "0" and chance.random() < 0.7 else f"{text_end} PRECEDING"
    text = f"{'ROWS' if rows else 'ROWS_RANGE'} BETWEEN {text_start} PRECEDING AND {upper}"
    maxsize = chance.randint(1, 4) if not rows and chance.random() < 0.4 else None
    flags = {
        "EXCLUDE CURRENT_TIME": chance.random() < 0.3,
        "EXCLUDE CURRENT_ROW": chance.random() < 0.3,
        "INSTANCE_NOT_IN_WINDOW": chance.random() < 0.3,
    }
    text += f" MAXSIZE {maxsize}" if maxsize else ""
    text += "".join(f" {flag}" for flag, on in flags.items() if on)
    return text, Frame(rows, start, end, maxsize, *flags.values())


def create_view(spark: SparkSession, name: str, rows: list[Row], timed: bool) -> None:
    """A temporary view of rows in their order of arrival."""

    def text(value: Any) -> str:
        return "NULL" if value is None else f"'{value}'"

    values = ", ".join(
        f"({r.id}, {text(r.partition)}, {r.key}, {text(r.value)}, {text(r.category)}, {r.arrival})" for r in rows
    )
    key = "timestamp_millis(CAST(key AS BIGINT))" if timed else "CAST(key AS BIGINT)"
    spark.sql(
        f"SELECT CAST(id AS INT) AS id, CAST(k AS INT) AS k, {key} AS ts, CAST(v AS INT) AS v, "
        f"CAST(c AS STRING) AS c, CAST(seq AS INT) AS seq "
        f"FROM VALUES {values or '(0, NULL, 0, NULL, NULL, 0)'} AS t(id, k, key, v, c, seq)"
        + ("" if rows else " WHERE FALSE")
    ).createOrReplaceTempView(name)


SCHEMA = {"id": "int", "k": "int", "v": "int", "c": "string", "seq": "int"}


def same(want: Any, got: Any) -> bool:
    if isinstance(want, float) and isinstance(got, float):
        return math.isclose(want, got, rel_tol=1e-9)
    return bool(want == got)


@pytest.mark.parametrize("batch", range(-(-FRAMES // PER_STATEMENT)))
def test_frames_hold_the_rows_of_the_rules(spark: SparkSession, batch: int) -> None:
    chance = random.Random(f"{SEED}/{batch}")
    timed = chance.random() < 0.5
    tables = {name: random_table(chance, i, timed) for i, name in enumerate(("main", "one", "two"))}
    for name, rows in tables.items():
        create_view(spark, name, rows, timed)
    windows: list[tuple[str, Frame, tuple[str, ...]]] = []
    for i in range(PER_STATEMENT):
        text, frame = random_frame(chance, timed)
        unions = chance.choice([(), (), ("one",), ("one", "two"), ("two", "one")]) if batch % 3 else ()
        union = f"UNION {', '.join(unions)} " if unions else ""
        windows.append((f"w{i} AS ({union}PARTITION BY k ORDER BY ts {text})", frame, unions))
    names = [[*chance.sample(sorted(CALLS), 2), "ids"] for _ in windows]
    calls = [f"{CALLS[name].format(w=f'w{i}')} AS {name}_{i}" for i, chosen in enumerate(names) for name in chosen]
    listing = ",\n       "
    sql = f"SELECT id, {listing.join(calls)}\nFROM main\nWINDOW {listing.join(w for w, _, _ in windows)}"
    typed = chance.random() < 0.5
    columns = {**SCHEMA, "ts": "timestamp" if timed else "bigint"}
    schema = dict.fromkeys(tables, columns) if typed else None
    translated = translate(sql, "openmldb", schema=schema, arrival=chance.choice([None, "seq"]))
    got = {row["id"]: row for row in spark.sql(translated).collect()}
    assert sorted(got) == sorted(r.id for r in tables["main"])
    for i, (text, frame, unions) in enumerate(windows):
        rows = [*tables["main"]]
        for place, name in enumerate(unions, 1):
            rows += [Row(**{**vars(r), "source": place}) for r in tables[name]]
        for current in tables["main"]:
            for name in names[i]:
                want = evaluate(name, current, rows, frame)
                have = got[current.id][f"{name}_{i}"]
                assert same(want, have), f"{name} of id {current.id} over {text}: {have}, and should be {want}\n{sql}"
