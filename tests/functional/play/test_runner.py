"""Queries of the playground: its examples, and those that it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.play.page import examples
from dbt.adapters.sparkstream.play.runner import MOST_ROWS, Outcome, Runner
from dbt.adapters.sparkstream.play.task import PlayError, Table, Task
from dbt.adapters.sparkstream.sql import TranslationError
from tests.golden.runner import Case, Relation, load

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = {
    case.id: case for name in ("flink_documented", "openmldb_cases", "sqlstream_cases") for case in load(f"{name}.json")
}
BIDS = Table(
    "bids",
    (("ts", "timestamp_ntz"), ("v", "int"), ("a b", "string")),
    (("2024-03-01 10:00", "1", "x"), ("2024-03-01 10:07", None, "it's"), ("2024-03-01 10:12", "3", None)),
)


@pytest.fixture(scope="module")
def runner(embedded: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """On the Spark of the other tests, in sessions of its own."""
    runner = Runner(tmp_path_factory.mktemp("play"), seconds=60)
    runner.start = lambda: embedded  # type: ignore[method-assign]
    yield runner


def run(runner: Runner, sql: str, dialect: str = "spark", table: Table = BIDS) -> Outcome:
    return runner.run(Task(sql, dialect, (table,)))


def rows(outcome: Outcome) -> list[tuple[str | None, ...]]:
    assert outcome.error is None, outcome.error
    assert outcome.result is not None
    return list(outcome.result.rows)


def read(value: Any) -> Any:
    """A value as it compares: `2020-04-15 08:05` and `2020-04-15 08:05:00.000` are one time."""
    if value is None:
        return None
    text = str(value)
    for kind in (lambda: Decimal(text), lambda: datetime.fromisoformat(text)):
        try:
            return kind()
        except (ArithmeticError, ValueError):
            pass
    return text


def in_order(found: list[Any]) -> list[Any]:
    return sorted(([read(value) for value in row] for row in found), key=repr)


@pytest.mark.parametrize("example", examples(), ids=lambda example: example["case"])
def test_examples_give_the_rows_recorded(runner: Runner, example: dict[str, Any]) -> None:
    case: Case = CASES[example["case"]]
    task = Task.read({name: example[name] for name in ("sql", "dialect", "tables")})
    recorded: Relation | None = case.expected
    assert recorded is not None
    for table in task.tables:
        assert in_order(list(table.rows)) == in_order(list(case.tables[table.name].rows))
    outcome = runner.run(task)
    assert in_order(rows(outcome)) == in_order(recorded.rows)
    assert outcome.report.sections
    assert all(section.picture is not None for section in outcome.report.sections)


def test_values_have_the_types_of_their_columns(runner: Runner) -> None:
    outcome = run(runner, "select ts, v, `a b`, v as v from bids order by ts")
    assert outcome.result is not None
    assert outcome.result.columns == (("ts", "timestamp_ntz"), ("v", "int"), ("a b", "string"), ("v", "int"))
    assert rows(outcome)[1] == ("2024-03-01 10:07:00", None, "it's", None)


def test_a_table_without_rows(runner: Runner) -> None:
    empty = Table("bids", (("ts", "timestamp"), ("v", "int")), ())
    window = "tumble(table bids, descriptor(ts), interval '1' hour)"
    sql = f"select window_start, count(*) from {window} group by window_start, window_end"
    assert rows(run(runner, sql, "flink", empty)) == []


def test_the_first_rows_of_many(runner: Runner) -> None:
    outcome = run(runner, "select id from range(1000)")
    assert outcome.result is not None
    assert (len(outcome.result.rows), outcome.result.more) == (MOST_ROWS, True)


def test_a_value_that_is_none_of_its_type(runner: Runner) -> None:
    table = Table("bids", (("v", "int"),), (("1",), ("one",)))
    with pytest.raises(PlayError, match="bids, row 2: one is no int, which v is"):
        run(runner, "select * from bids", table=table)
    with pytest.raises(PlayError, match="numbr is no type for column v"):
        run(runner, "select * from bids", table=Table("bids", (("v", "numbr"),), ()))


def test_mistakes_have_their_place(runner: Runner) -> None:
    with pytest.raises(TranslationError, match="line 1, column"):
        run(runner, "select * from tumble(table bids, descriptor(nope), interval '1' hour)", "flink")
    assert "nope" in str(run(runner, "select * from nope").error)


@pytest.mark.parametrize(
    "sql",
    [
        "drop table bids",
        "set x=1",
        "create table zz as select 1",
        "insert into bids select * from bids",
        "select * from csv.`/etc/passwd`",
        "select reflect('java.lang.System', 'getenv', 'HOME')",
        "select system.builtin.java_method('java.lang.System', 'getenv', 'HOME')",
        "select try_reflect('java.lang.System', 'getenv', 'HOME')",
        "select (select max(x) from (select transform(v) using 'cat' as (x) from bids))",
        "with t as (select transform(v) using 'cat' as (x) from bids) select * from t",
    ],
)
def test_nothing_is_changed_and_nothing_else_is_read(runner: Runner, sql: str) -> None:
    try:
        outcome = run(runner, sql)
    except (PlayError, TranslationError):
        return
    assert outcome.error is not None
    assert outcome.result is None


FORMS = ("{}", "`{}`", "builtin.{}", "system.builtin.{}", "IDENTIFIER('{}')")
CALLS = (
    ("from_xml", "'<a/>', 'b int', map('rowValidationXSDPath', '{file}')"),
    ("from_xml", "'<a/>', schema_of_xml('<a/>', map('rowValidationXSDPath', '{file}'))"),
    ("schema_of_xml", "'<a/>', map('rowValidationXSDPath', '{file}')"),
    ("from_protobuf", "x'00', 'M', '{file}'"),
    ("to_protobuf", "struct(1 as a), 'M', '{file}'"),
    ("from_avro", "x'00', '\"int\"', map('avroSchemaUrl', '{file}')"),
    ("reflect", "'java.nio.file.Files', 'exists', '{file}'"),
)


@pytest.mark.parametrize(
    ("function", "name", "arguments"),
    [
        pytest.param(form, *call, marks=() if form == FORMS[0] or call == CALLS[0] else pytest.mark.full)
        for form, call in product(FORMS, CALLS)
    ],
)
def test_no_function_opens_a_file(runner: Runner, tmp_path: Path, function: str, name: str, arguments: str) -> None:
    said = set()
    for file in (tmp_path / "there", tmp_path / "nowhere"):
        file.touch() if file.name == "there" else None
        outcome = run(runner, f"select {function.format(name)}({arguments.format(file=file)})")
        assert outcome.result is None
        assert outcome.error is not None
        said.add(outcome.error)
    assert len(said) == 1
    [error] = said
    if not function.startswith("system."):  # Spark has other words for a name with a catalog's
        assert any(words in error for words in ("can open files, which", "calls into Java, which"))


def test_functions_are_gone_from_the_playground_alone(runner: Runner, embedded: SparkSession) -> None:
    assert rows(run(runner, "select to_xml(named_struct('a', 1)) is null, from_json('{\"a\":1}', 'a int').a")) == [
        ("false", "1")
    ]
    assert embedded.newSession().sql("select from_xml('<a><b>1</b></a>', 'b int').b as b").collect() == [(1,)]


def test_a_query_that_takes_too_long_is_ended(embedded: SparkSession, tmp_path: Path) -> None:
    runner = Runner(tmp_path, seconds=3)
    runner.start = lambda: embedded  # type: ignore[method-assign]
    with pytest.raises(PlayError, match="it took more than 3 seconds, and was ended"):
        run(runner, "select count(*) from range(100000000000) a cross join range(1000) b")
