"""`sparkstream import flink`: `dbt build` runs what it makes, with the rows that Flink 2.3.0 gave for the scripts."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from benchmarks.nexmark import generator
from benchmarks.nexmark.results import recorded
from benchmarks.nexmark.run import differences, found

from dbt.adapters.sparkstream.flinkscript import Project as Imported
from dbt.adapters.sparkstream.flinkscript import read
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from tests.functional.adapter.project import PARAMETERS, Project
from tests.unit.flinkscript import nexmark
from tests.unit.flinkscript.test_import import SCRIPTS, loaded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MakeProject = Callable[..., Project]


def at(time: str) -> datetime:
    return datetime.fromisoformat(f"2020-04-15 {time}:00")


def made(make_project: MakeProject, script: Path) -> Project:
    """The project of a script, with the Spark of the tests."""
    files = dict(Imported(read(script.read_text(encoding="utf-8")), script).files)
    del files["profiles.yml"]
    parameters = {**PARAMETERS, "spark.sql.session.timeZone": "UTC"}
    return make_project(files, server_side_parameters=parameters)


def build(project: Project) -> dict[str, str]:
    """Builds a project; model -> message."""
    return {result.node.name: result.message for result in project.dbt("build", "--profile", "shop").results}


def of(make_project: MakeProject, tmp_path: Path, name: str) -> Project:
    """The project of a script of the unit tests, built, with files of its own."""
    shutil.copytree(SCRIPTS, tmp_path / "job")
    project = made(make_project, tmp_path / "job" / f"{name}.sql")
    build(project)
    return project


def test_a_seed(make_project: MakeProject, tmp_path: Path) -> None:
    project = of(make_project, tmp_path, "tumble")
    assert project.rows("select * from {}.totals") == [
        (at("08:00"), at("08:10"), Decimal("11.00"), 3),
        (at("08:10"), at("08:20"), Decimal("10.00"), 3),
    ]
    types = {row[0]: row[1] for row in project.rows("describe {}.totals")}
    assert types == {"starts": "timestamp_ntz", "ends": "timestamp_ntz", "total": "decimal(10,2)", "n": "bigint"}


def test_files(make_project: MakeProject, tmp_path: Path) -> None:
    project = of(make_project, tmp_path, "windows")
    assert [row[2] for row in project.rows("select * from {}.hops")] == [60, 100, 40, 50, 50]
    grown = project.rows("select usr, sum(n) from {}.grown group by usr")
    assert grown == [("ada", 16), ("bob", 11)]
    assert project.rows("select usr, count(*), sum(pages) from {}.spells group by usr") == [
        ("ada", 2, 3),
        ("bob", 1, 2),
    ]


@pytest.mark.long
def test_views_on_views(make_project: MakeProject, tmp_path: Path) -> None:
    project = of(make_project, tmp_path, "views")
    assert project.rows("select * from {}.report") == [("F", None, 6.0, None)]
    assert project.rows("select * from {}.query_1") == [(5,)]


@pytest.mark.long
def test_top_n(make_project: MakeProject, tmp_path: Path) -> None:
    project = of(make_project, tmp_path, "topn")
    assert project.rows("select item, rn from {}.top2") == [("B", 2), ("C", 2), ("D", 1), ("F", 1)]
    assert project.rows("select * from {}.last_of_supplier") == [("supplier1", "E", 1.0), ("supplier2", "F", 6.0)]


@pytest.mark.long
def test_joins(make_project: MakeProject, tmp_path: Path) -> None:
    project = of(make_project, tmp_path, "joins")
    assert project.rows("select * from {}.both") == [
        ("ada", at("08:00"), 2, Decimal("9.50")),
        ("ada", at("08:10"), 1, Decimal("3.00")),
        ("bob", at("08:00"), 1, Decimal("7.25")),
    ]
    assert project.rows("select click, `order` from {}.soon") == [(1, 1), (3, 2), (4, 3)]


@pytest.mark.long
def test_several_inserts(make_project: MakeProject, tmp_path: Path) -> None:
    project = of(make_project, tmp_path, "multi")
    assert project.rows("select * from {}.summary") == [("cheap", 2), ("dear", 4)]
    assert project.rows("select item, dt from {}.daily where kind = 'cheap'") == [
        ("A", "2020-04-15"),
        ("E", "2020-04-15"),
    ]


@pytest.mark.long
def test_streams(make_project: MakeProject, tmp_path: Path) -> None:
    project = of(make_project, tmp_path, "streaming")
    counts = "select starts, usr, n from {}.counts"
    assert project.rows(counts) == [(at("08:00"), "ada", 2), (at("08:00"), "bob", 1), (at("08:10"), "ada", 1)]
    assert project.rows("select id, usr from {}.shouted") == [(1, "ADA"), (3, "BOB"), (5, "BOB")]
    assert project.rows("select * from {}.per_user") == [("ada", 3), ("bob", 2)]

    # What comes later is appended, once.
    (tmp_path / "job" / "data" / "clicks" / "2.csv").write_text(
        "6,ada,2020-04-15 08:26:00\n7,ada,2020-04-15 08:45:00\n"
    )
    build(project)
    assert project.rows(counts)[3:] == [(at("08:20"), "ada", 1), (at("08:20"), "bob", 1)]
    assert project.rows("select id, usr from {}.shouted")[3:] == [(7, "ADA")]
    assert project.rows("select * from {}.per_user") == [("ada", 5), ("bob", 2)]
    assert build(project)["counts"] == "+0 rows, nothing new"


@pytest.mark.long
def test_files_that_come_to_an_end(make_project: MakeProject, tmp_path: Path) -> None:
    """Flink closes all windows at the end of files that it isn't told to watch."""
    shutil.copytree(SCRIPTS, tmp_path / "job")
    script = tmp_path / "job" / "streaming.sql"
    script.write_text(script.read_text().replace(", 'source.monitor-interval' = '1 s'", ""))
    project = made(make_project, script)
    build(project)
    assert project.rows("select starts, usr, n from {}.counts") == [
        (at("08:00"), "ada", 2),
        (at("08:00"), "bob", 1),
        (at("08:10"), "ada", 1),
        (at("08:20"), "bob", 1),
    ]


@pytest.mark.long
def test_what_has_no_rows_yet(make_project: MakeProject, tmp_path: Path) -> None:
    project = of(make_project, tmp_path, "pulsar")
    assert project.rows("select * from {}.hourly") == project.rows("select * from {}.lost") == []
    project.sql(
        "insert into {}_inputs.orders values (1, 'ada', 2.50, timestamp'2020-04-15 08:05:00', 0), "
        "(2, 'ada', 2.50, timestamp'2020-04-15 08:10:00', 0), (3, 'bob', 1, timestamp'2020-04-15 09:30:00', 0)"
    )
    build(project)
    assert project.rows("select w, n, amount from {}.hourly") == [(at("08:00"), 2, Decimal("5.00"))]


@pytest.mark.long
def test_names_of_files(make_project: MakeProject, tmp_path: Path) -> None:
    shutil.copytree(SCRIPTS / "data", tmp_path / "data")
    (tmp_path / "job.sql").write_text(
        "SET 'execution.runtime-mode' = 'batch';\n"
        "CREATE TABLE clicks (id BIGINT, `an odd name` STRING, ts TIMESTAMP(3), clock AS DATE_FORMAT(ts, 'HH:mm'), "
        "file STRING METADATA FROM 'file.name')\n"
        "WITH ('connector' = 'filesystem', 'path' = 'data/clicks', 'format' = 'csv');\n"
        "CREATE VIEW v AS SELECT `an odd name`, clock, file FROM clicks WHERE id = 4;"
    )
    project = made(make_project, tmp_path / "job.sql")
    build(project)
    assert project.rows("select * from {}.v") == [("ada", "08:12", "1.csv")]


@pytest.mark.long
def test_partitions_in_folders(make_project: MakeProject, tmp_path: Path) -> None:
    for day, row in (("2020-01-01", "1\n"), ("2020-01-02", "2\n")):
        (tmp_path / "data" / f"dt={day}").mkdir(parents=True)
        (tmp_path / "data" / f"dt={day}" / "a.csv").write_text(row)
    (tmp_path / "job.sql").write_text(
        "CREATE TABLE t (dt STRING, a INT) PARTITIONED BY (dt)\n"
        "WITH ('connector' = 'filesystem', 'path' = 'data', 'format' = 'csv');\n"
        "SET 'execution.runtime-mode' = 'batch';\n"
        "CREATE TABLE o WITH ('connector' = 'print') AS SELECT * FROM t;"
    )
    project = made(make_project, tmp_path / "job.sql")
    build(project)
    assert project.rows("select * from {}.o") == [("2020-01-01", 1), ("2020-01-02", 2)]


KINDS = """
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE j (id INT, b BIGINT, f BOOLEAN, d DECIMAL(4, 1), x DOUBLE, s STRING, ts TIMESTAMP(3),
  r ROW<n INT, `t s` ARRAY<BIGINT>>, m MAP<STRING, INT>, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'j', 'format' = 'json', 'json.ignore-parse-errors' = '{lenient}');
CREATE TABLE c (id BIGINT, k STRING, n INT, f BOOLEAN, day DATE)
WITH ('connector' = 'filesystem', 'path' = 'c', 'format' = 'csv', 'csv.ignore-parse-errors' = '{lenient}');
CREATE TABLE o WITH ('connector' = 'print') AS SELECT * FROM j;
CREATE TABLE p WITH ('connector' = 'print') AS SELECT * FROM c;
CREATE TABLE n WITH ('connector' = 'print') AS SELECT COUNT(*) AS n FROM j;
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE q WITH ('connector' = 'print') AS SELECT id, b FROM j;
"""


def test_values_of_other_kinds(make_project: MakeProject, tmp_path: Path) -> None:
    """Flink converts a value of another kind of JSON, and trims a number in CSV."""
    (tmp_path / "j").mkdir()
    (tmp_path / "c").mkdir()
    good = (
        '{"id": 1, "b": "2", "f": "TRUE", "d": "1.25", "x": "1e2", "s": 1.10, "ts": "2020-04-15 08:00:00.5", '
        '"r": {"n": "4", "t s": ["5", 6.9]}, "m": {"k": " 7 "}}\n'
        '{"id": 7.9, "b": " 6\\t", "f": 1, "d": 12345.6, "x": 3, "s": {"a": [1]}, "r": null, "m": {}}\n'
    )
    (tmp_path / "j" / "a.json").write_text(good)
    (tmp_path / "c" / "a.csv").write_text(" 6, a , 7 , true,2020-4-5\n8,b,9,no,2020-04-15\n")
    (tmp_path / "job.sql").write_text(KINDS.format(lenient="false"))
    project = made(make_project, tmp_path / "job.sql")
    build(project)
    first = (1, 2, True, Decimal("1.3"), 100.0, "1.10", datetime(2020, 4, 15, 8, 0, 0, 500000), (4, [5, 6]), {"k": 7})
    second: tuple[Any, ...] = (7, 6, False, None, 3.0, '{"a": [1]}', None, None, {})
    assert project.rows("select * from {}.o") == [first, second]
    assert project.rows("select id, b from {}.q") == [(1, 2), (7, 6)]
    texts = [(6, " a ", 7, True, date(2020, 4, 5)), (8, "b", 9, False, date(2020, 4, 15))]
    assert project.rows("select * from {}.p") == texts

    # What can't be converted is an error, with file and row.
    (tmp_path / "j" / "b.json").write_text('{"id": "7.9"}\n')
    (tmp_path / "c" / "b.csv").write_text("1,c,7.9,,\n")
    words = project.failure("run", "--profile", "shop", "--exclude", "q")
    for told in ("id: a value that isn't INT", '{"id":"7.9"}', "j/b.json", "n: a value that isn't INT", "c/b.csv"):
        assert told in words

    # ... and else NULL; a line that is no JSON is no row.
    (tmp_path / "j" / "c.json").write_text('no JSON\n{"id": true, "r": 5, "m": {"k": "x"}, "b": 1e3}\n')
    (tmp_path / "job.sql").write_text(KINDS.format(lenient="true"))
    other = made(make_project, tmp_path / "job.sql")
    for table in ("j", "c"):
        other.sql(f"drop table if exists {{}}_inputs.{table}")
    build(other)
    nothing = (None,) * 6
    rows = other.rows("select * from {}.o")
    assert len(rows) == 4
    assert {(None, 1000, None, None, None, None, None, None, (("k", None),)), (None, None, *nothing, None)} == {
        (*row[:-1], tuple(row[-1].items()) if row[-1] else None) for row in rows if row[0] is None
    }
    assert other.rows("select n from {}.n") == [(4,)]
    assert other.rows("select id, n from {}.p where k = 'c'") == [(1, None)]


COLUMNS = (
    "id INT, b BIGINT, f BOOLEAN, d DECIMAL(3, 1), x DOUBLE, s STRING, ts TIMESTAMP(3), r ROW<n BIGINT, a ARRAY<INT>>, "
    "m MAP<STRING, SMALLINT>"
)


@pytest.mark.parametrize("lenient", [True, False])
def test_values_of_other_kinds_in_records(embedded: SparkSession, lenient: bool) -> None:
    """The values of Kafka's records are converted as those of files are."""
    options = "'topic' = 'a', 'properties.bootstrap.servers' = 'h:1', 'format' = 'json'"
    options += f", 'json.ignore-parse-errors' = '{str(lenient).lower()}'"
    script = f"CREATE TABLE t ({COLUMNS}) WITH ('connector' = 'kafka', {options});"
    [source] = loaded(Imported(read(script), Path("job.sql")), "models/inputs.yml")["sources"]
    stream = source["tables"][0]["config"]["meta"]["stream"]

    def rows(*records: str) -> list[tuple[Any, ...]]:
        values = ", ".join(string_literal(record) for record in records)
        parsed = f"from_json(v, {string_literal(stream['schema'])})"
        query = f"SELECT inline(array({parsed})) FROM (SELECT explode(array({values})) v)"
        return [tuple(row) for row in embedded.sql(f"SELECT {', '.join(stream['select'])} FROM ({query})").collect()]

    good = (
        '{"id": "2", "b": 7.9, "f": "TRUE", "d": "1.25", "x": "1e2", "s": true, "ts": "2020-04-15 08:00:00.5", '
        '"r": {"n": "4", "a": ["5", 6.9]}, "m": {"k": " 7 "}}'
    )
    other = '{"id": 7.9, "b": " 6 ", "f": 1, "d": 12345.6, "x": 3, "s": {"a": [1]}, "m": {}}'
    first = (2, 7, True, Decimal("1.3"), 100.0, "true", datetime(2020, 4, 15, 8, 0, 0, 500000), (4, [5, 6]), {"k": 7})
    assert rows(good, other) == [first, (7, 6, False, None, 3.0, '{"a":[1]}', None, None, {})]
    if lenient:
        assert rows('{"id": "7.9", "b": 5, "r": {"n": "x", "a": ["y", 1]}}')[0][:2] == (None, 5)
    else:
        wrong = {"id": '"7.9"', "ts": '"2020-04-15T08:00:00"', "r": '{"n": "x"}', "m": '{"k": "x"}'}
        for field, value in wrong.items():
            with pytest.raises(Exception, match=f"{field}: a value that isn't"):
                rows(f'{{"{field}": {value}}}')


@pytest.mark.long
def test_texts_that_mean_something_elsewhere(make_project: MakeProject, tmp_path: Path) -> None:
    """A path, names of columns and a partition with quotes, backticks and Jinja."""
    folder = tmp_path / "da'ta" / "day`s=1"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text('{"it\'s {{ x }}": 1}\n')
    (tmp_path / "job.sql").write_text(
        "SET 'execution.runtime-mode' = 'batch';\n/* {{ x }} /* {% raw %} */\n"
        "CREATE TABLE t (`it's {{ x }}` INT COMMENT '{{ y }}''\\', `day``s` INT) COMMENT '{% raw %}'\n"
        "PARTITIONED BY (`day``s`) WITH ('connector' = 'filesystem', 'path' = 'da''ta', 'format' = 'json');\n"
        "CREATE TABLE o WITH ('connector' = 'print') AS\n"
        "SELECT `it's {{ x }}` AS a, `day``s` AS b, '{{ z }}''\\' AS c -- {# \\\nFROM t;"
    )
    project = made(make_project, tmp_path / "job.sql")
    build(project)
    assert project.rows("select * from {}.o") == [(1, 1, "{{ z }}'\\")]


@pytest.mark.full
def test_nexmark(make_project: MakeProject, embedded: SparkSession, tmp_path: Path) -> None:
    generator.write(tmp_path / "data", 20_000, file_format="json")
    (tmp_path / "job.sql").write_text(nexmark.script("batch"))
    project = made(make_project, tmp_path / "job.sql")
    build(project)
    expected = {name: result for name, result in recorded(20_000).items() if name in nexmark.queries()}
    wrong = differences(found(embedded, project.schema, expected), expected)
    assert not wrong, "\n".join(wrong)


@pytest.mark.full
def test_nexmark_as_streams(make_project: MakeProject, tmp_path: Path) -> None:
    generator.write(tmp_path / "data", 2_000, file_format="json")
    (tmp_path / "job.sql").write_text(nexmark.script("streaming"))
    project = made(make_project, tmp_path / "job.sql")
    built = build(project)
    assert {f"q{number}" for number in range(23)} - {"q12"} <= set(built)
    assert project.rows("select count(*) from {}.q0") == [(1840,)]
