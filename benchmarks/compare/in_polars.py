"""The questions in Polars, as frames of its own. The rows of `events` lie in order of time, and Polars is told so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

with suppress(ImportError):  # where it is missing, nobody calls what is here
    import polars as pl

Tables = Mapping[str, "pl.LazyFrame"]
Frames = Callable[[Tables], "pl.LazyFrame"]

BOUNDS = ("window_start", "window_end")


def tumble(tables: Tables) -> pl.LazyFrame:
    """Minutes."""
    minute = pl.col("ts").dt.truncate("1m").alias("window_start")
    found = tables["events"].group_by(minute, "k").agg(*_aggregates())
    return found.select("window_start", _later("window_start", minutes=1).alias("window_end"), "k", *_NAMES)


def hop(minutes: int) -> Frames:
    """Windows every minute."""

    def query(tables: Tables) -> pl.LazyFrame:
        windows = _slices(tables).group_by_dynamic(
            "m", every="1m", period=f"{minutes}m", offset=f"-{minutes - 1}m", group_by="k"
        )
        end = _later("m", minutes=minutes).alias("window_end")
        return windows.agg(*_of_slices()).select(pl.col("m").alias("window_start"), end, "k", *_NAMES)

    return query


def cumulate(minutes: int) -> Frames:
    """Windows that grow by a minute."""

    def query(tables: Tables) -> pl.LazyFrame:
        start = pl.col("m").dt.truncate(f"{minutes}m").alias("window_start")
        end = (pl.col("m") + pl.duration(minutes=pl.col("w"))).alias("window_end")
        copies = _slices(tables).join(pl.LazyFrame({"w": range(1, minutes + 1)}), how="cross").with_columns(start, end)
        windows = copies.filter(pl.col("window_end") <= _later("window_start", minutes=minutes))
        return windows.group_by(*BOUNDS, "k").agg(*_of_slices()).select(*BOUNDS, "k", *_NAMES)

    return query


def session(tables: Tables) -> pl.LazyFrame:
    """Sessions with a gap of a minute: a row begins one where the key changes or the row before is too far away."""
    rows = tables["events"].filter(pl.col("ts").dt.minute() % 10 < 7).sort("k", "ts")
    begins = (pl.col("k") != pl.col("k").shift()) | (pl.col("ts") - pl.col("ts").shift() > pl.duration(minutes=1))
    numbered = rows.with_columns(begins.fill_null(True).cum_sum().alias("session"))
    start, end = pl.col("ts").min().alias("window_start"), pl.col("ts").max().alias("last")
    found = numbered.group_by("session").agg(start, end, pl.col("k").first(), *_aggregates())
    return found.select("window_start", _later("last", minutes=1).alias("window_end"), "k", *_NAMES)


def asof(quote: str, tolerance: str) -> Frames:
    """The last quote before each trade.

    Args:
        quote: SQL's condition for the rows that are quotes.
        tolerance: such as `20s`.
    """

    def query(tables: Tables) -> pl.LazyFrame:
        events = tables["events"].set_sorted("ts")
        bid, time = pl.col("price").alias("bid"), pl.col("ts").alias("bid_ts")
        quotes = events.filter(pl.sql_expr(quote)).select("k", "ts", bid, time)
        trades = events.filter(pl.col("v") < 500).select("k", "ts", "price")
        return trades.join_asof(quotes, on="ts", by="k", tolerance=tolerance, check_sortedness=False)

    return query


def frame_sums(tables: Tables) -> pl.LazyFrame:
    """A sum, a whole average and a count of the last 20 minutes."""
    rows = tables["events"].set_sorted("ts").with_columns(pl.lit(1).cast(pl.Int32).alias("one"))
    total, count = (pl.col(c).rolling_sum_by("ts", "20m", closed="both").over("k") for c in ("v", "one"))
    found = rows.select("k", "ts", total.alias("s"), count.alias("n"))
    return found.select("k", "ts", "s", (pl.col("s") // pl.col("n")).alias("mean"), "n")


def frame_extremes(tables: Tables) -> pl.LazyFrame:
    """A minimum and a maximum of the last 20 minutes."""
    low = pl.col("v").rolling_min_by("ts", "20m", closed="both").over("k")
    high = pl.col("price").rolling_max_by("ts", "20m", closed="both").over("k")
    return tables["events"].set_sorted("ts").select("k", "ts", low, high)


def frame_rows(rows: int) -> Frames:
    """A sum and a maximum of the last rows."""

    def query(tables: Tables) -> pl.LazyFrame:
        total = pl.col("v").rolling_sum(rows, min_samples=1).over("k")
        high = pl.col("price").rolling_max(rows, min_samples=1).over("k")
        return tables["events"].set_sorted("ts").select("k", "ts", total, high)

    return query


_NAMES = ("n", "v", "mean", "price")


def _aggregates() -> list[pl.Expr]:
    """What is asked of each window, of rows."""
    v = pl.col("v")
    return [pl.len().alias("n"), v.sum().alias("v"), v.mean().alias("mean"), pl.col("price").max()]


def _slices(tables: Tables) -> pl.LazyFrame:
    """Counts, sums and maxima of each minute and key, in order of time: windows are made of these, not of rows."""
    minute = pl.col("ts").dt.truncate("1m").alias("m")
    return tables["events"].group_by(minute, "k").agg(*_aggregates()).sort("m")


def _of_slices() -> list[pl.Expr]:
    n, v = pl.col("n").sum(), pl.col("v").sum()
    return [n.alias("n"), v.alias("v"), (v / n).alias("mean"), pl.col("price").max()]


def _later(column: str, *, minutes: int) -> pl.Expr:
    return pl.col(column) + pl.duration(minutes=minutes)


def highest_counts(tables: Tables) -> pl.LazyFrame:
    """NEXMark's query 5."""
    two = pl.col("dateTime").dt.truncate("2s").alias("m")
    slices = tables["bid"].group_by(two, "auction").agg(pl.len().alias("num")).sort("m")
    hops = slices.group_by_dynamic("m", every="2s", period="10s", offset="-8s", group_by="auction")
    counted = hops.agg(pl.col("num").sum())
    most = counted.filter(pl.col("num") == pl.col("num").max().over("m"))
    start, end = pl.col("m").alias("window_start"), (pl.col("m") + pl.duration(seconds=10)).alias("window_end")
    return most.select(start, end, "auction", "num")


def highest_bids(tables: Tables) -> pl.LazyFrame:
    """NEXMark's query 7."""
    bids = tables["bid"].with_columns(_ten_seconds())
    highest = bids.group_by("s").agg(pl.col("price").max())
    return bids.join(highest, on=["s", "price"]).select("auction", "bidder", "price", "dateTime", "extra")


def new_sellers(tables: Tables) -> pl.LazyFrame:
    """NEXMark's query 8."""
    people = tables["person"].select("id", "name", _ten_seconds())
    sellers = tables["auction"].select(pl.col("seller").alias("id"), _ten_seconds())
    return people.join(sellers, on=["id", "s"], how="semi")


def bidders_sessions(tables: Tables) -> pl.LazyFrame:
    """NEXMark's query 11."""
    time = pl.col("dateTime")
    rows = tables["bid"].select("bidder", "dateTime").sort("bidder", "dateTime")
    begins = (pl.col("bidder") != pl.col("bidder").shift()) | (time - time.shift() > pl.duration(seconds=10))
    numbered = rows.with_columns(begins.fill_null(True).cum_sum().alias("session"))
    start, end = time.min().alias("start"), (time.max() + pl.duration(seconds=10)).alias("end")
    found = numbered.group_by("session").agg(pl.col("bidder").first(), pl.len().alias("n"), start, end)
    return found.select("bidder", "n", "start", "end")


def bidders_counts(tables: Tables) -> pl.LazyFrame:
    """NEXMark's query 12, by the bids' own time."""
    found = tables["bid"].group_by("bidder", _ten_seconds()).agg(pl.len().alias("n"))
    return found.select("bidder", "s", (pl.col("s") + pl.duration(seconds=10)).alias("end"), "n")


def last_bids(tables: Tables) -> pl.LazyFrame:
    """NEXMark's query 18."""
    last = tables["bid"].sort("dateTime", descending=True).unique(["auction", "bidder"], keep="first")
    return last.select("auction", "bidder", "price", "channel", "url", "dateTime", "extra")


def bids_on_items(tables: Tables) -> pl.LazyFrame:
    """NEXMark's query 20."""
    items = tables["auction"].filter(pl.col("category") == 10)
    joined = tables["bid"].join(items, left_on="auction", right_on="id", suffix="_of_item")
    bid = ("auction", "bidder", "price", "channel", "url", "dateTime", "extra")
    item = ("itemName", "description", "initialBid", "reserve", "dateTime_of_item", "expires", "seller", "category")
    return joined.select(*bid, *item, "extra_of_item")


def _ten_seconds() -> pl.Expr:
    return pl.col("dateTime").dt.truncate("10s").alias("s")
