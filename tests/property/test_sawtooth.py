"""Sawtooth windows: a frame whose head is the row itself and whose tail moves in hops, against its definition."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.sql import translate
from tests.lib.support import quick_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOP, LENGTH = 300, 3600
"""Seconds."""

HOP_OF = f"timestamp_seconds(unix_seconds(ts) div {HOP} * {HOP})"
FRAME = f"PARTITION BY k ORDER BY {HOP_OF}, id ROWS_RANGE BETWEEN 1h PRECEDING AND CURRENT ROW"


def test_the_tail_moves_in_hops(embedded: SparkSession) -> None:
    spark = quick_session(embedded)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    rng = random.Random(4)
    # Numbered by their times. Ties, gaps, and times at both edges of hops and of the length.
    times = [rng.randrange(0, 20_000) for _ in range(150)]
    times += [hop * HOP + edge for hop in range(0, 40, 3) for edge in (0, HOP - 1, 1)] + times[:20]
    rows = [(i, time, rng.choice("ab"), rng.choice((None, 1, 2, 5))) for i, time in enumerate(sorted(times))]
    values = ", ".join(f"({i}, timestamp_seconds({t}), '{k}', {'NULL' if v is None else v})" for i, t, k, v in rows)
    spark.sql(f"SELECT * FROM VALUES {values} AS v (id, ts, k, v)").createOrReplaceTempView("sawn")
    schema = {"sawn": {"id": "int", "ts": "timestamp", "k": "string", "v": "int"}}
    sql = translate(f"SELECT id, sum(v) OVER ({FRAME}) AS s, count(*) OVER ({FRAME}) AS n FROM sawn", schema=schema)
    found = {row["id"]: (row["s"], row["n"]) for row in spark.sql(sql).collect()}
    lengths = set()
    for i, time, k, _ in rows:
        since = time // HOP * HOP - LENGTH
        frame = [row for row in rows if row[2] == k and since <= row[1] and (row[1], row[0]) <= (time, i)]
        numbers = [v for _, _, _, v in frame if v is not None]
        assert found[i] == (sum(numbers) if numbers else None, len(frame)), (i, time)
        lengths.add(time - since)
    assert min(lengths) == LENGTH and max(lengths) == LENGTH + HOP - 1
