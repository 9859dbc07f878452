"""NEXMark's queries that are about windows, and three that are about rows: the texts of `benchmarks/nexmark`.

Ours and Flink run the models' SQL; DuckDB runs what the models' results are recorded with, or what is faster.
"""

from __future__ import annotations

from pathlib import Path

import jinja2
from benchmarks.compare import in_polars
from benchmarks.nexmark.record import sql as recorded
from benchmarks.nexmark.run import PROJECT
from benchmarks.windows.data import AUCTIONS
from benchmarks.windows.queries import DUCKDB, FLINK, HAND, OURS, POLARS, SPARK, Query, Question

from dbt.adapters.sparkstream.sql import translate

_TUMBLE = "window(dateTime, '10 seconds')"
_HOP = "window(dateTime, '10 seconds', '2 seconds')"
_START = f"{_TUMBLE}.start AS s"
_SLICES = "SELECT auction, {} AS m, count(*) AS n FROM bid GROUP BY ALL"
_LAST = "ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY dateTime DESC)"
_BID = "auction, bidder, price, channel, url, dateTime, extra"

SPARKS = {
    5: f"""
        WITH c AS (SELECT {_HOP} AS w, auction, count(*) AS num FROM bid GROUP BY {_HOP}, auction)
        SELECT w.start, w.end, auction, num
        FROM c JOIN (SELECT w, max(num) AS num FROM c GROUP BY w) USING (w, num)""",
    7: f"""
        SELECT auction, bidder, price, dateTime, extra
        FROM (SELECT *, {_START} FROM bid)
        JOIN (SELECT s, max(price) AS price FROM (SELECT price, {_START} FROM bid) GROUP BY s) USING (s, price)""",
    8: f"""
        SELECT id, name, s
        FROM (SELECT DISTINCT id, name, {_START} FROM person)
        JOIN (SELECT DISTINCT seller AS id, {_START} FROM auction) USING (id, s)""",
    11: """
        SELECT bidder, count(*) AS n, session_window.start, session_window.end
        FROM bid
        GROUP BY bidder, session_window(dateTime, '10 seconds')""",
    12: f"SELECT bidder, window.start, window.end, count(*) AS n FROM bid GROUP BY bidder, {_TUMBLE}",
    18: f"SELECT {_BID} FROM (SELECT *, {_LAST} AS place FROM bid) WHERE place = 1",
}
"""Query -> it in Spark's own SQL. What isn't here is the same in ours."""

BY_HAND = {
    5: f"""
        WITH slices AS ({_SLICES.format("window(dateTime, '2 seconds').start")}),
        c AS (
          SELECT s, auction, sum(n) AS num
          FROM (SELECT *, explode(sequence(m - INTERVAL 8 SECONDS, m, INTERVAL 2 SECONDS)) AS s FROM slices)
          GROUP BY s, auction
        )
        SELECT s, s + INTERVAL 10 SECONDS, auction, num
        FROM (SELECT *, rank() OVER (PARTITION BY s ORDER BY num DESC) AS place FROM c)
        WHERE place = 1""",
    11: """
        WITH marked AS (
          SELECT
            bidder, `dateTime`,
            `dateTime` > lag(`dateTime`) OVER (PARTITION BY bidder ORDER BY `dateTime`) + INTERVAL '10' SECOND AS begins
          FROM bid
        ),
        numbered AS (
          SELECT
            *, sum(CASE WHEN begins THEN 1 ELSE 0 END)
              OVER (PARTITION BY bidder ORDER BY `dateTime` ROWS UNBOUNDED PRECEDING) AS number
          FROM marked
        )
        SELECT bidder, count(*) AS n, min(`dateTime`) AS s, max(`dateTime`) + INTERVAL '10' SECOND AS e
        FROM numbered
        GROUP BY bidder, number""",
}

DUCKDBS = {
    5: f"""
        WITH slices AS ({_SLICES.format("time_bucket(INTERVAL 2 SECOND, dateTime)")}),
        c AS (
          SELECT m - w * INTERVAL 2 SECOND AS s, auction, sum(n) AS num FROM slices, range(5) AS r(w) GROUP BY ALL
        )
        SELECT s, s + INTERVAL 10 SECOND, auction, num
        FROM c
        QUALIFY rank() OVER (PARTITION BY s ORDER BY num DESC) = 1""",
    12: """
        SELECT bidder, time_bucket(INTERVAL 10 SECOND, dateTime) AS s, s + INTERVAL 10 SECOND, count(*) AS n
        FROM bid
        GROUP BY bidder, s""",
    18: f"SELECT {_BID} FROM bid QUALIFY {_LAST} = 1",
}
"""Query -> SQL that is faster than what the results are recorded with."""

TWELVE = """
SELECT bidder, window_start, window_end, COUNT(*) AS bid_count
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end"""
"""Query 12 by the bids' own time; the benchmark's own is by the clock on the wall, which a table hasn't."""

ASKS = {
    5: (
        "Which auctions got the most bids in the last 10 seconds, every 2 seconds: HOP, joined.",
        in_polars.highest_counts,
    ),
    7: ("Which bids were the highest of their 10 seconds: TUMBLE, joined.", in_polars.highest_bids),
    8: ("Who registered and opened an auction within the same 10 seconds: TUMBLE, joined.", in_polars.new_sellers),
    11: ("How many bids did somebody make before resting for 10 seconds: SESSION.", in_polars.bidders_sessions),
    12: ("How many bids does somebody make in 10 seconds: TUMBLE, by the bids' own time.", in_polars.bidders_counts),
    18: ("What was everybody's last bid on each auction: no window.", in_polars.last_bids),
    20: ("Bids on items of a category, with the item: a join, no window.", in_polars.bids_on_items),
}


def questions() -> list[Question]:
    """All of them, in their order."""
    return [_question(number) for number in ASKS]


def _question(number: int) -> Question:
    flink = TWELVE if number == 12 else rendered(PROJECT / "models" / "queries" / f"q{number}.sql")
    ours = translate(flink, "flink", schema=AUCTIONS)
    asks, polars = ASKS[number]
    found: dict[str, Query] = {
        OURS: ours,
        SPARK: SPARKS.get(number, ours),
        DUCKDB: DUCKDBS.get(number) or recorded(f"q{number}"),
        POLARS: polars,
        FLINK: BY_HAND[number] if number == 11 else flink,  # Flink has no sessions in batch
    }
    if number in BY_HAND:
        found[HAND] = BY_HAND[number]
    return Question(f"NEXMark {number}", number, found, {}, asks)


def rendered(path: Path) -> str:
    """The SQL of a model's file, with the names of tables for `ref`."""
    return jinja2.Template(path.read_text(encoding="utf-8")).render(ref=lambda name: name)
