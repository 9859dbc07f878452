"""OpenMLDB's functions over frames, for arguments of every type, with what Python works out from the rules."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, timezone
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.sql import translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = dict[str, Any]
Rows = list[Row]
"""The rows of a frame, newest first."""
Function = Callable[[Rows], Any]

COLUMNS = {
    "id": "int", "k": "string", "ts": "timestamp", "i": "int", "f": "float", "s": "string", "d": "date", "b": "boolean",
    "sm": "smallint", "big": "bigint", "x": "double",
}  # fmt: skip
START = datetime(2024, 3, 1, 10)
VALUES: list[tuple[Any, ...]] = [
    # id, k, second, i, f, s, d, b, sm, big, x
    (1, "p", 0, 4, 1.5, "x", date(2024, 1, 1), True, 1, 100, 1.25),
    (2, "p", 1, None, None, None, None, None, None, None, None),
    (3, "p", 2, 4, 2.5, "", date(2024, 1, 2), False, 2, 200, 2.5),
    (4, "p", 3, 0, 0.5, "y", date(2024, 1, 1), True, 32767, 300, -3.75),
    (5, None, 1, 1, 1.0, "z", date(2024, 1, 1), True, 1, 1, 1.0),
    (6, None, 2, 2, 2.0, "w", date(2024, 1, 1), False, 1, 1, 2.0),
    (7, "", 2, 3, 3.0, "w", date(2024, 1, 1), False, 1, 1, 3.0),
]
TABLE: Rows = [
    {**dict(zip(COLUMNS, v, strict=True)), "ts": START.replace(second=v[2])} for v in VALUES
]  # no two rows of a key have the same time
NUMBERS = ("i", "f", "sm", "big", "x")
BITS = {"i": 32, "sm": 16, "big": 64}
ZEROS = {"i": 0, "f": 0.0, "s": "", "b": False, "sm": 0, "big": 0, "x": 0.0, "d": "no date", "ts": datetime(1970, 1, 1)}

FRAMES: dict[str, Callable[[Rows], Rows]] = {
    "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW": lambda rows: rows[:4],
    "ROWS_RANGE BETWEEN 2s PRECEDING AND CURRENT ROW EXCLUDE CURRENT_TIME": lambda rows: [
        r for r in rows if (rows[0]["ts"] - r["ts"]).total_seconds() <= 2
    ],
    "ROWS BETWEEN 9 PRECEDING AND 8 PRECEDING": lambda rows: [],
    "ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING": lambda rows: rows[1:3],
    "ROWS_RANGE BETWEEN 9s PRECEDING AND CURRENT ROW MAXSIZE 2 EXCLUDE CURRENT_TIME": lambda rows: rows[:2],
    "ROWS_RANGE BETWEEN 9s PRECEDING AND CURRENT ROW INSTANCE_NOT_IN_WINDOW": lambda rows: rows[:1],
    "ROWS_RANGE BETWEEN 9s PRECEDING AND CURRENT ROW EXCLUDE CURRENT_ROW INSTANCE_NOT_IN_WINDOW": lambda rows: [],
}


def listed(current: Row) -> Rows:
    """A row and those of its key before it, newest first."""
    before = [r for r in TABLE if r["k"] == current["k"] and r["ts"] < current["ts"]]
    return [current, *sorted(before, key=lambda r: r["ts"], reverse=True)]


# -- functions -------------------------------------------------------------------------------------
def known(rows: Rows, column: str) -> list[Any]:
    return [r[column] for r in rows if r[column] is not None]


def text(value: Any) -> str:
    """A value as OpenMLDB prints it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.6f}"
    return value.strftime("%Y-%m-%d %H:%M:%S") if isinstance(value, datetime) else str(value)


def aggregate(name: str, values: list[Any], column: str) -> Any:
    if name == "count":
        return len(values)
    if not values:
        return None
    if name == "sum" and column in BITS:
        half = 2 ** (BITS[column] - 1)
        return (sum(values) + half) % (2 * half) - half
    if name == "avg":
        return sum(values) / len(values)
    computed: dict[str, Callable[[list[Any]], Any]] = {"sum": sum, "min": min, "max": max}
    return computed[name](values)


def groups(
    rows: Rows, name: str, column: str, category: str, condition: Callable[[Row], bool]
) -> list[tuple[Any, Any]]:
    """Category and aggregate of its values, by category."""
    found: dict[Any, list[Any]] = {}
    for row in rows:
        if row[column] is not None and row[category] is not None and condition(row):
            found.setdefault(row[category], []).append(row[column])
    return [(k, aggregate(name, v, column)) for k, v in sorted(found.items())]


def pairs(items: list[tuple[Any, Any]]) -> str:
    return ",".join(f"{text(k)}:{text(v)}" for k, v in items)


def over_one(condition: Row) -> bool:
    return condition["f"] is not None and condition["f"] > 1.0


def anywhere(row: Row) -> bool:
    return True


Groups = list[tuple[Any, Any]]


def all_of(found: Groups) -> Groups:
    return found


def last_keys(found: Groups) -> Groups:
    """The groups of the two greatest keys."""
    return found[::-1][:2]


def top_values(found: Groups) -> Groups:
    """The two groups of the greatest values."""
    return sorted(found, key=lambda p: (p[1], p[0]), reverse=True)[:2]


def _deviation(column: str, sample: int, squared: bool, rows: Rows) -> Any:
    return deviation(known(rows, column), sample, squared)


def _aggregate(name: str, column: str, condition: Callable[[Row], bool], rows: Rows) -> Any:
    return aggregate(name, known([row for row in rows if condition(row)], column), column)


def _groups(
    name: str,
    column: str,
    category: str,
    condition: Callable[[Row], bool],
    chosen: Callable[[Groups], Groups],
    rows: Rows,
) -> str:
    return pairs(chosen(groups(rows, name, column, category, condition)))


def median(values: list[Any]) -> Any:
    ordered, half = sorted(values), len(values) // 2
    if not values:
        return None
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def deviation(values: list[Any], sample: int, squared: bool) -> Any:
    if len(values) <= sample:
        return None
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / (len(values) - sample)
    return variance if squared else math.sqrt(variance)


def first(values: list[Any]) -> Any:
    return values[0] if values else None


def numeric(c: str) -> dict[str, Function]:
    """Calls on a column of numbers."""
    found: dict[str, Function] = {
        f"median({c})": lambda rows: median(known(rows, c)),
        f"ew_avg({c}, 0.5)": lambda rows: (
            sum(v * 0.5**n for n, v in enumerate(known(rows, c))) / sum(0.5**n for n, _ in enumerate(known(rows, c)))
            if known(rows, c)
            else None
        ),
    }
    for name, sample, squared in (
        ("stddev", 1, False),
        ("stddev_pop", 0, False),
        ("variance", 1, True),
        ("var_samp", 1, True),
        ("var_pop", 0, True),
    ):
        found[f"{name}({c})"] = partial(_deviation, c, sample, squared)
    for a in ("sum", "avg", "min", "max"):
        found[f"{a}({c})"] = partial(_aggregate, a, c, anywhere)
        found[f"{a}_where({c}, f > 1.0)"] = partial(_aggregate, a, c, over_one)
        for g in {"i": ("s", "ts"), "x": ("i", "s"), "f": ("d",), "sm": ("big",), "big": ("sm",)}[c]:
            found[f"{a}_cate({c}, {g})"] = partial(_groups, a, c, g, anywhere, all_of)
            found[f"{a}_cate_where({c}, f > 1.0, {g})"] = partial(_groups, a, c, g, over_one, all_of)
            found[f"top_n_key_{a}_cate_where({c}, f > 1.0, {g}, 2)"] = partial(_groups, a, c, g, over_one, last_keys)
            found[f"top_n_value_{a}_cate_where({c}, f > 1.0, {g}, 2)"] = partial(_groups, a, c, g, over_one, top_values)
    return found


def of_any_type(c: str) -> dict[str, Function]:
    """Calls on a column of any type."""
    found: dict[str, Function] = {
        f"count({c})": lambda rows: len(known(rows, c)),
        f"count_where({c}, f > 1.0)": lambda rows: len(known([r for r in rows if over_one(r)], c)),
        f"count_cate({c}, s)": lambda rows: pairs(groups(rows, "count", c, "s", lambda r: True)),
        f"distinct_count({c})": lambda rows: len({ZEROS[c] if r[c] is None else r[c] for r in rows}),
        f"first_value({c})": lambda rows: first([r[c] for r in rows][::-1]),
        f"last_value({c})": lambda rows: first([r[c] for r in rows]),
        f"first_value({c}, true)": lambda rows: first(known(rows, c)[::-1]),
        f"last_value({c}, true)": lambda rows: first(known(rows, c)),
        f"identity(case when true then lag({c}, 1) end)": lambda rows: first([r[c] for r in rows[1:]]),
        f"top1_ratio({c})": lambda rows: max(Counter(known(rows, c)).values(), default=0) / max(len(known(rows, c)), 1),
    }
    found[f"nth_value_where({c}, 1, i >= 0)"] = lambda rows: first([r[c] for r in rows if r["i"] is not None][::-1])
    if c != "b":
        found[f"min({c})"] = lambda rows: min(known(rows, c), default=None)
        found[f"max({c})"] = lambda rows: max(known(rows, c), default=None)
        found[f"top({c}, 2)"] = lambda rows: ",".join(text(v) for v in sorted(known(rows, c), reverse=True)[:2])
        found[f"topn_frequency({c}, 2)"] = lambda rows: ",".join(
            [
                *(text(v) for v, _ in sorted(Counter(known(rows, c)).items(), key=lambda p: (-p[1], p[0]))),
                "NULL",
                "NULL",
            ][: 2 if rows else 0]
        )
    return found


CALLS: dict[str, Function] = {
    "count(*)": len,
    "count_where(id, i = lag(i, 0))": lambda rows: sum(r["i"] is not None and r["i"] == rows[0]["i"] for r in rows),
}
for one in NUMBERS:
    CALLS |= numeric(one)
for one in ZEROS:
    CALLS |= of_any_type(one)

PER_STATEMENT = 60
STATEMENTS = [list(CALLS)[i : i + PER_STATEMENT] for i in range(0, len(CALLS), PER_STATEMENT)]


def same(want: Any, got: Any) -> bool:
    if isinstance(want, float) and isinstance(got, (int, float)):
        return math.isclose(want, got, rel_tol=1e-6, abs_tol=1e-9)
    return bool(want == got)


@pytest.fixture(scope="module")
def values(spark: SparkSession) -> SparkSession:
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    texts = ", ".join(
        "(" + ", ".join("CAST(NULL AS STRING)" if v is None else f"'{v}'" for v in row.values()) + ")" for row in TABLE
    )
    columns = ", ".join(f"CAST({c} AS {t}) AS {c}" for c, t in COLUMNS.items())
    view = spark.sql(f"SELECT {columns} FROM VALUES {texts} AS t({', '.join(COLUMNS)})")
    view.createOrReplaceTempView("typed_values")
    return spark


SOME = [(frame, number % 2 == 0, number % 2 == 0) for number, frame in enumerate([*FRAMES][:2])]


@pytest.mark.long
@pytest.mark.parametrize(
    ("frame", "typed", "ansi"),
    [
        pytest.param(frame, typed, ansi, marks=[] if (frame, typed, ansi) in SOME else [pytest.mark.full])
        for frame in FRAMES
        for typed in (True, False)
        for ansi in (True, False)
    ],
)
def test_every_function_on_every_type(values: SparkSession, frame: str, typed: bool, ansi: bool) -> None:
    values.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    schema = {"typed_values": COLUMNS} if typed else None
    wrong = []
    try:
        for calls in STATEMENTS:
            items = ", ".join(f"{call} OVER w AS y{n}" for n, call in enumerate(calls))
            sql = f"SELECT id, {items} FROM typed_values WINDOW w AS (PARTITION BY k ORDER BY ts {frame})"
            got = {row[0]: row[1:] for row in values.sql(translate(sql, "openmldb", schema=schema)).collect()}
            for current in TABLE:
                rows = FRAMES[frame](listed(current))
                for call, have in zip(calls, got[current["id"]], strict=True):
                    if isinstance(have, datetime):
                        have = have.astimezone(timezone.utc).replace(tzinfo=None)
                    want = CALLS[call](rows)
                    if not same(want, have):
                        wrong.append(f"{call} of id {current['id']}: {have!r}, and should be {want!r}")
    finally:
        values.conf.set("spark.sql.ansi.enabled", "false")
    assert not wrong, "\n".join(wrong)
