"""Flink's answers around the changes of the clock: expressions over one table, in four zones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.messages.diagnosis import version
from dbt.adapters.sparkstream.sql import translate
from tests.golden.runner import DATA, Relation, create_view, flink_type
from tests.golden.test_flink_expressions import kind_of, plain, same_value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FILE = json.loads((DATA / "flink_zones.json").read_text(encoding="utf-8"))
_COLUMNS = tuple((name, type_) for name, type_ in _FILE["columns"])
_SCHEMA = {"moments": {name: flink_type(type_).lower() for name, type_ in _COLUMNS}}
_TOGETHER = 30
"""Expressions that one query has."""


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    yield spark
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.catalog.dropTempView("moments")


def _written(sql: str, type_: str) -> str:
    """An expression whose instants are shown in UTC, and other times as they are."""
    text = translate(f"SELECT {sql} AS v FROM moments", "flink", schema=_SCHEMA, warn=lambda _: None)
    text = text.removeprefix("SELECT ").removesuffix(" AS v FROM moments")
    if type_.startswith("TIMESTAMP_LTZ"):
        return f"CAST(TIMESTAMP_NTZ '1970-01-01' + INTERVAL '0.000001' SECOND * unix_micros({text}) AS STRING)"
    return f"CAST({text} AS STRING)" if type_.startswith(("TIME", "DATE")) else text


FRAMED = [
    *("2024-03-09 02:30", "2024-03-09 12:00", "2024-03-09 13:00", "2024-03-10 12:00", "2024-03-10 13:00"),
    *("2024-11-02 11:00", "2024-11-02 12:00", "2024-11-03 11:00", "2024-11-03 12:00"),
]
"""Times of New York's clock, which has 23 hours on 10 March and 25 on 3 November."""


@pytest.mark.parametrize(
    ("length", "counts"),
    [("'1' DAY", [1, 2, 3, 3, 4, 1, 2, 2, 2]), ("'25' HOUR", [1, 2, 3, 3, 4, 1, 2, 3, 3])],
)
@pytest.mark.parametrize("call", ["COUNT(*)", "COUNT(DISTINCT id)"])
def test_frames_of_days(session: SparkSession, call: str, length: str, counts: list[int]) -> None:
    """What Flink 2.3 gave in a stream; its batch has no plan for them."""
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    rows = ", ".join(f"({i}, TIMESTAMP '{time}')" for i, time in enumerate(FRAMED))
    session.sql(f"SELECT * FROM VALUES {rows} AS t (id, lt)").createOrReplaceTempView("moments")
    frame = f"RANGE BETWEEN INTERVAL {length} PRECEDING AND CURRENT ROW"
    asked = f"SELECT {call} OVER (ORDER BY lt {frame}) AS n, id FROM moments"
    sql = translate(asked, "flink", schema={"moments": {"id": "int", "lt": "timestamp"}})
    assert [row["n"] for row in session.sql(sql).orderBy("id").collect()] == counts


@pytest.mark.parametrize("zone", _FILE["tables"])
def test_values(session: SparkSession, zone: str) -> None:
    session.conf.set("spark.sql.session.timeZone", zone)
    create_view(session, "moments", Relation(_COLUMNS, _FILE["tables"][zone]))
    old = version(session.version) < (4, 3)
    asked = [e for e in _FILE["expressions"] if "differs" not in e and not (old and e["type"].startswith("TIME("))]
    wrong = []
    for start in range(0, len(asked), _TOGETHER):
        chunk = asked[start : start + _TOGETHER]
        items = ", ".join(f"{_written(each['sql'], each['type'])} AS v{i}" for i, each in enumerate(chunk))
        rows = session.sql(f"SELECT {items} FROM moments ORDER BY id").collect()
        for i, each in enumerate(chunk):
            want: list[Any] = each["values"][zone] if "values" in each else [each["value"]] * len(rows)
            got = [plain(row[i]) for row in rows]
            if not all(same_value(a, b, kind_of(each["type"])) for a, b in zip(want, got, strict=True)):
                wrong.append(f"{each['sql']}\n  Flink {want}\n  here  {got}")
    assert not wrong, "\n".join(wrong)
