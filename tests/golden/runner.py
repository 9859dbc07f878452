"""Cases with the answers of other systems: read them, make their tables in Spark, compare rows.

A case file is `{"about": [...], "cases": [...]}`. A case has `tables`, `sql`, and either `expected` (columns with
the other system's types, and rows) or `error`.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DATA = Path(__file__).parent / "data"

Row = list[Any]


@dataclass(frozen=True)
class Relation:
    """Columns with the type that the other system gives them, and rows; times are text."""

    columns: tuple[tuple[str, str], ...]
    rows: list[Row]

    @property
    def families(self) -> list[str]:
        return [family(type_) for _, type_ in self.columns]


@dataclass(frozen=True)
class Case:
    """A statement on tables, and what it must give.

    Attributes:
        expected: what a translation gives, or None where it is refused.
        error: what the other system says when it refuses the statement.
        more: the case as the file has it.
    """

    id: str
    sql: str
    tables: Mapping[str, Relation]
    expected: Relation | None
    error: str | None
    zone: str = "UTC"
    setup: Sequence[str] = ()
    tags: Sequence[str] = ()
    more: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def schema(self, spark_type: Callable[[str], str]) -> dict[str, dict[str, str]]:
        """Table -> column -> Spark type, as `translate` takes it.

        Args:
            spark_type: from a type in the case to Spark's.
        """
        return {
            name: {column: spark_type(type_) for column, type_ in table.columns} for name, table in self.tables.items()
        }


def load(file: str) -> list[Case]:
    """The cases of a file in `data/`; a case may name tables that stand at the top of its file."""
    data = json.loads((DATA / file).read_text(encoding="utf-8"))
    shared, cases = data.get("tables", {}), data["cases"]
    return [
        Case(
            id=case["id"],
            sql=case["sql"],
            tables={
                name: _relation(table)
                for each in case["tables"]
                for name, table in [(each, shared[each]) if isinstance(each, str) else (each["name"], each)]
            },
            expected=_relation(case["expected"]) if "expected" in case else None,
            error=case.get("error"),
            zone=case.get("zone") or "UTC",
            setup=case.get("setup") or (),
            tags=case.get("tags") or (),
            more=case,
        )
        for case in cases
    ]


def covering(cases: Iterable[Case], least: int = 1) -> list[Case]:
    """Few of the cases, which have every tag and every time zone between them.

    Args:
        least: how many cases a tag has to have. Those of few say what is special in a case, the others its construct.
    """
    left = list(cases)
    often = Counter(tag for case in left for tag in case.tags)
    wanted = {tag for tag, number in often.items() if number >= least} | {case.zone for case in left}
    chosen: list[Case] = []
    while wanted:
        case = max(left, key=lambda case: len(wanted & {*case.tags, case.zone}))
        chosen.append(case)
        wanted -= {*case.tags, case.zone}
    return chosen


def params(cases: Iterable[Case]) -> list[Any]:
    """Cases for `parametrize`, with their names; `make test` takes few that have every tag, `make test-all` all."""
    cases = list(cases)
    quick = {case.id for case in covering(cases)}
    return [pytest.param(case, id=case.id, marks=() if case.id in quick else pytest.mark.full) for case in cases]


def _relation(data: Mapping[str, Any]) -> Relation:
    return Relation(tuple((name, type_) for name, type_ in data["columns"]), data["rows"])


# -- types -----------------------------------------------------------------------------------------
_FAMILIES = {
    "string": ("string", "char", "varchar"),
    "integer": ("tinyint", "smallint", "int", "integer", "bigint", "long", "short", "byte"),
    "decimal": ("decimal", "numeric"),
    "float": ("float", "real"),
    "double": ("double",),
    "boolean": ("boolean", "bool"),
    "timestamp": ("timestamp", "timestamp_ntz", "timestamp_ltz"),
    "date": ("date",),
    "time": ("time",),
    "array": ("array",),
    "map": ("map",),
}
_FAMILY = {name: family for family, names in _FAMILIES.items() for name in names}


def family(type_: str) -> str:
    """What a type of Spark or another system holds: `DECIMAL(10,2) NOT NULL` -> `decimal`."""
    word = re.match(r"\w+", type_)
    return _FAMILY[word[0].lower()] if word else type_


def flink_type(type_: str) -> str:
    """The Spark type of a column of Flink's: TIMESTAMP has no zone there. A nested type is written as Spark's."""
    if "<" in type_ or type_ == "binary":
        return type_
    if family(type_) != "timestamp":
        return type_
    return "TIMESTAMP" if type_.upper().startswith("TIMESTAMP_LTZ") else "TIMESTAMP_NTZ"


# -- tables ----------------------------------------------------------------------------------------
def quoted(name: str) -> str:
    """A name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def create_view(
    spark: SparkSession, name: str, table: Relation, spark_type: Callable[[str], str] = flink_type, *, zone: str = "Z"
) -> dict[str, str]:
    """Makes a temporary view of a table.

    Args:
        spark_type: from a type in the case to Spark's.
        zone: the zone of the values of TIMESTAMP columns, as Spark reads it behind a timestamp.

    Returns:
        Column -> Spark type, as `translate` takes it in `schema`.
    """
    view = spark.sql(rows_query(table, spark_type, zone=zone))
    view.createOrReplaceTempView(quoted(name))
    return dict(view.dtypes)


def rows_query(table: Relation, spark_type: Callable[[str], str] = flink_type, *, zone: str = "Z") -> str:
    """A query that gives the rows of a table; arguments as for `create_view`."""
    types = [spark_type(type_) for _, type_ in table.columns]
    # Everything as text, so that one VALUES list serves all types.
    texts = ",\n".join(
        "(" + ", ".join(_text(value, type_, zone) for value, type_ in zip(row, types, strict=True)) + ")"
        for row in table.rows or [[None] * len(types)]
    )
    columns = ", ".join(
        f"{_value(f'c{i}', type_)} AS {quoted(name)}"
        for i, ((name, _), type_) in enumerate(zip(table.columns, types, strict=True))
    )
    names = ", ".join(f"c{i}" for i in range(len(types)))
    return f"SELECT {columns} FROM VALUES {texts} AS v({names}){'' if table.rows else ' WHERE FALSE'}"


def _value(text: str, type_: str) -> str:
    """A text as a value: an array, a row or a map is JSON, and bytes are hexadecimal digits."""
    if "<" in type_:
        return f"FROM_JSON({text}, '{type_}')"
    return f"UNHEX({text})" if type_ == "binary" else f"CAST({text} AS {type_})"


def _text(value: Any, type_: str, zone: str) -> str:
    if value is None:
        return "CAST(NULL AS STRING)"
    if isinstance(value, (list, dict)):
        value = json.dumps(value)
    text = str(value) + (zone if type_.upper() == "TIMESTAMP" else "")
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# -- rows ------------------------------------------------------------------------------------------
def rows_of(result: DataFrame) -> list[Row]:
    """The rows of a result, with times, dates and times of day as text in the session's zone."""
    kinds = [field.dataType.typeName() for field in result.schema.fields]
    if not set(kinds) & set(_SHOWN):
        return [list(row) for row in result.collect()]
    names = [quoted(name) for name in result.columns]
    if len({name.casefold() for name in names}) < len(names):
        names = [f"c{i}" for i in range(len(kinds))]
        result = result.toDF(*names)
    flat = result.selectExpr(
        *(f"CAST({name} AS STRING)" if kind in _SHOWN else name for name, kind in zip(names, kinds, strict=True))
    )
    return [list(row) for row in flat.collect()]


_SHOWN = ("timestamp", "timestamp_ntz", "date", "time")
"""Types whose values are compared as text."""
_TIME = re.compile(r"([+-]?\d{4,}-\d\d-\d\d) (\d\d:\d\d(?::\d\d)?)(?:\.(\d+))?")


def _time(text: str) -> str:
    """A timestamp to the millisecond; finer digits stay if there are any."""
    found = _TIME.fullmatch(text)
    if not found:
        return text
    day, clock, fraction = found.groups()
    return f"{day} {clock if len(clock) == 8 else clock + ':00'}.{(fraction or '').rstrip('0').ljust(3, '0')}"


def _as_json(value: Any) -> Any:
    """An array or a map as a case has it: decimals are texts, and so are keys."""
    if isinstance(value, list):
        return [_as_json(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _as_json(each) for key, each in value.items()}
    return format(value, "f") if isinstance(value, Decimal) else value


def same(want: Any, got: Any, kind: str) -> bool:
    """Whether two values of a type family are equal: doubles to 1e-9, FLOAT to 1e-6, times to the millisecond."""
    if want is None or got is None:
        return want is None and got is None
    if kind in ("array", "map"):
        return bool(want == _as_json(got))
    if isinstance(want, bool) or isinstance(got, bool) or kind == "boolean":
        return want is got
    if kind in ("double", "float") or isinstance(got, float):
        if isinstance(got, str):
            return False
        a, b = float(want), float(got)
        tolerance = 1e-6 if kind == "float" else 1e-9
        return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=tolerance, abs_tol=1e-12)
    if kind in ("integer", "decimal"):
        return not isinstance(got, str) and Decimal(str(want)) == Decimal(str(got))
    if not isinstance(got, str):
        return False
    return _time(want) == _time(got) if kind == "timestamp" else str(want) == got


def compare(want: Relation, result: DataFrame) -> None:
    """Asserts that a result has the rows, in any order, the column names (in any case) and the type families.

    Raises:
        AssertionError: what is missing, and what is too much.
    """
    fields = result.schema.fields
    names = [name for name, _ in want.columns]
    assert len(fields) == len(names), f"columns are {result.columns}, and should be {names}"
    left = rows_of(result)
    missing = []
    for row in want.rows:
        found = next(
            (i for i, got in enumerate(left) if all(map(same, row, got, want.families))),
            None,
        )
        if found is None:
            missing.append(row)
        else:
            del left[found]
    assert not missing and not left, "\n".join(
        [
            f"{len(missing)} of {len(want.rows)} rows are missing, and {len(left)} are too many",
            *(f"  missing   {row}" for row in missing[:10]),
            *(f"  too many  {[str(v) if isinstance(v, Decimal) else v for v in row]}" for row in left[:10]),
        ]
    )
    assert [f.name.casefold() for f in fields] == [name.casefold() for name in names]
    assert [family(f.dataType.simpleString()) for f in fields] == want.families
