"""Output of `sparkstream streams`."""

from __future__ import annotations

from dbt.adapters.sparkstream.streaming.reports.overview import prometheus, table

NOW = 1_000_000.0
BIDS = {
    "model": "bids",
    "relation": 'shop."bids"',
    "status": "running",
    "process": 4711,
    "host": "etl1",
    "batch": 12,
    "ended_at": NOW - 150,
    "duration_ms": 2500,
    "rows": 5000,
    "watermark": NOW - 7200.5,
    "state_rows": 1234,
    "state_bytes": 2_500_000,
    "rows_read": 60000,
    "rows_appended": 300,
    "windows_closed": 30,
    "windows_corrected": 5,
    "rows_late": 2,
    "rows_ahead": 1,
    "rows_without_time": 0,
    "rows_unreadable": 4,
}
NEW = {"model": "asks", "relation": "shop.asks", "status": "not built", "process": None, "host": None}


def test_prometheus() -> None:
    lines = prometheus([BIDS, NEW]).splitlines()
    labels = '{model="bids",relation="shop.\\"bids\\""}'
    assert lines[:4] == [
        "# HELP sparkstream_up 1 while a run of the model is on its way",
        "# TYPE sparkstream_up gauge",
        f"sparkstream_up{labels} 1",
        'sparkstream_up{model="asks",relation="shop.asks"} 0',
    ]
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert values[f"sparkstream_last_micro_batch_duration_seconds{labels}"] == "2.5"
    assert values[f"sparkstream_watermark_timestamp_seconds{labels}"] == "992799.5"
    assert values[f"sparkstream_rows_unreadable_total{labels}"] == "4"
    assert values[f"sparkstream_windows_corrected_total{labels}"] == "5"
    assert sum('model="asks"' in line for line in lines) == 1
    assert all(line.startswith(("# HELP sparkstream_", "# TYPE sparkstream_", "sparkstream_")) for line in lines)


def test_a_model_without_a_watermark() -> None:
    assert "watermark" not in prometheus([{**BIDS, "watermark": None}])


def test_the_table() -> None:
    head, bids, asks = table([BIDS, NEW], NOW)
    assert head.split("  ")[0] == "model"
    columns = [cell.strip() for cell in bids.split("  ") if cell.strip()]
    assert columns == [
        "bids",
        "running (process 4711 on etl1)",
        "12, 2 minutes ago",
        "2,000",
        "300",
        "7",
        "2 hours ago",
        "1,234 rows, 2.4 MB",
    ]
    assert asks.split()[:3] == ["asks", "not", "built"]


def test_times_ahead() -> None:
    [_, line] = table([{**BIDS, "watermark": NOW + 1, "duration_ms": 0}], NOW)
    assert "1 second ahead" in line
    assert "  -  " in line
