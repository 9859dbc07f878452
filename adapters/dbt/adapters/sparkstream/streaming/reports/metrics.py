"""Output of `sparkstream streams`: a table for people, JSON, or Prometheus' text format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.sparkstream.streaming.reports.overview import LEFT_OUT, RUNNING, TOTALS

Streams = Sequence[Mapping[str, Any]]
"""What `overview` gives."""

_GAUGES = {
    "ended_at": ("last_micro_batch_timestamp_seconds", "when the last micro-batch ended", 1.0),
    "duration_ms": ("last_micro_batch_duration_seconds", "how long the last micro-batch took", 1e-3),
    "rows": ("last_micro_batch_rows", "rows that the last micro-batch has read", 1.0),
    "batch": ("micro_batch", "number of the last micro-batch", 1.0),
    "watermark": ("watermark_timestamp_seconds", "windows up to here are closed", 1.0),
    "state_rows": ("state_rows", "rows kept for windows that are open", 1.0),
    "state_bytes": ("state_bytes", "memory that the rows kept take", 1.0),
}
"""What is known of a stream -> name, help text and factor of its metric."""

_COUNTERS = {
    "rows_read": "rows that came from the sources",
    "rows_appended": "rows that went into the table",
    "windows_closed": "windows that are in the table",
    "windows_corrected": "windows that late rows have corrected after they were closed",
    "rows_late": "rows that came after their windows were closed",
    "rows_ahead": "rows left out as their time was further ahead than max_future",
    "rows_without_time": "rows that no window has as they have no time",
    "rows_unreadable": "rows left out as their values can not be read",
}


def prometheus(streams: Streams) -> str:
    """The metrics in Prometheus' text format."""
    lines = _metric("up", "gauge", "1 while a run of the model is on its way", streams, _is_up)
    for key, (name, text, factor) in _GAUGES.items():
        lines += _metric(name, "gauge", text, streams, lambda s, k=key, f=factor: _scaled(s.get(k), f))
    for key in TOTALS + LEFT_OUT:
        lines += _metric(f"{key}_total", "counter", _COUNTERS[key], streams, lambda s, k=key: s.get(k))
    return "\n".join(lines) + "\n"


def _is_up(stream: Mapping[str, Any]) -> int:
    return int(stream["status"] == RUNNING)


def _scaled(value: Any, factor: float) -> Any:
    return value if value is None or factor == 1 else value * factor


def _metric(name: str, kind: str, text: str, streams: Streams, value_of: Any) -> list[str]:
    values = [(stream, value_of(stream)) for stream in streams]
    lines = [
        f'sparkstream_{name}{{model="{_label(stream["model"])}",relation="{_label(stream["relation"])}"}} {value:.15g}'
        for stream, value in values
        if value is not None
    ]
    return [f"# HELP sparkstream_{name} {text}", f"# TYPE sparkstream_{name} {kind}", *lines] if lines else []


def _label(text: str) -> str:
    return str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


_HEAD = ("model", "status", "last micro-batch", "rows/s", "rows", "left out", "watermark", "state")


def table(streams: Streams, now: float) -> list[str]:
    """Lines for people.

    Args:
        streams: what is known of the streams.
        now: in seconds since the epoch.
    """
    rows = [_HEAD, *(_row(stream, now) for stream in streams)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _row(stream: Mapping[str, Any], now: float) -> tuple[str, ...]:
    status = str(stream["status"])
    if stream.get("process") is not None:
        status += f" (process {stream['process']} on {stream['host']})"
    if "batch" not in stream:
        return (str(stream["model"]), status, *["-"] * (len(_HEAD) - 2))
    seconds = stream["duration_ms"] / 1e3
    return (
        str(stream["model"]),
        status,
        f"{stream['batch']}, {_ago(now - stream['ended_at'])}",
        f"{stream['rows'] / seconds:,.0f}" if seconds else "-",
        f"{stream['rows_appended']:,}",
        f"{sum(stream[name] for name in LEFT_OUT):,}",
        "-" if stream["watermark"] is None else _ago(now - stream["watermark"]),
        f"{stream['state_rows']:,} rows, {_bytes(stream['state_bytes'])}",
    )


_UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


def _ago(seconds: float) -> str:
    """A duration in its largest unit: `3 minutes ago`."""
    size, unit = next(((size, unit) for size, unit in _UNITS if abs(seconds) >= size), _UNITS[-1])
    count = int(abs(seconds) // size)
    return f"{count:,} {unit}{'' if count == 1 else 's'} {'ago' if seconds >= 0 else 'ahead'}"


def _bytes(size: int) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size //= 1000
    return f"{size:,} GB"
