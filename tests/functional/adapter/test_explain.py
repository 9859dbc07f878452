"""`sparkstream explain MODEL`: rows of tables and of unit tests in the windows that Spark gives them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt.adapters.sparkstream.cli import main
from dbt.adapters.sparkstream.explain import subject
from dbt.adapters.sparkstream.explain.picture import clock
from dbt.adapters.sparkstream.explain.report import Report, Section, Size
from tests.functional.adapter.project import Project

TRADES = """\
id,sym,ts,qty
1,A,2024-03-01 10:00:00,10
2,A,2024-03-01 10:00:01,20
3,B,2024-03-01 10:00:02,5
4,A,2024-03-01 10:00:02,40
5,A,2024-03-01 10:00:09,7
6,B,,1
"""
QUOTES = "id,sym,ts,qty\n101,A,2024-03-01 10:00:01,1\n102,B,2024-03-01 10:00:01,2\n103,A,2024-03-01 11:00:00,2\n"
TYPES = "{id: int, sym: string, ts: timestamp, qty: int}"
MODELS = {
    "tumbling": "select window_start, window_end, sum(qty) as q from {{ tumble(ref('trades'), 'ts', '2 seconds') }} "
    "group by window_start, window_end",
    "hopping": "with large as (select * from {{ ref('trades') }} where qty > 5)\n"
    "select window_start, window_end, count(*) as n from {{ hop('large', 'ts', '1 second', '20 seconds') }} "
    "group by window_start, window_end",
    "sessions": "select * from {{ session(ref('trades'), 'ts', '1 second', partition_by='sym') }}",
    "features": "{{ config(sql_dialect='openmldb') }}\nSELECT id, sum(qty) OVER w AS total FROM {{ ref('trades') }} "
    "WINDOW w AS (UNION {{ ref('quotes') }} PARTITION BY sym ORDER BY ts "
    "ROWS_RANGE BETWEEN 1s PRECEDING AND CURRENT ROW MAXSIZE 2 EXCLUDE CURRENT_TIME)",
    "running": "select id, sum(qty) over (partition by sym order by ts desc rows 1 preceding) as q, "
    "row_number() over (order by ts) as nth from {{ ref('trades') }}",
    "block": "select * from (\n{% call window_sql(dialect='flink') %}\nSELECT window_start, window_end, MAX(qty) AS q "
    "FROM CUMULATE(TABLE {{ ref('trades') }}, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '10' SECOND)\n"
    "GROUP BY window_start, window_end\n{% endcall %}\n)",
    "middle": "{{ config(materialized='ephemeral') }} select id, ts from {{ ref('trades') }}",
    "over_ephemeral": "select * from {{ tumble(ref('middle'), 'ts', '1 minute') }}",
    "nothing": "select * from {{ tumble('(select * from ' ~ ref('trades') ~ ' where false)', 'ts', '1 minute') }}",
    "no_table": "select * from {{ tumble('gone', 'ts', '1 minute') }}",
    "plain": "select 1 as x",
    "live": "{{ config(materialized='streaming_incremental', event_time='ts', watermark='1 minute') }}\n"
    "select window_start, window_end, count(*) as n from {{ tumble(stream(ref('trades')), 'ts', '1 minute') }} "
    "group by window_start, window_end",
    "live_hop": "{{ config(materialized='streaming_incremental', event_time='ts', watermark='1 minute') }}\n"
    "select window_start, window_end, count(*) as n "
    "from {{ hop(stream(ref('trades')), 'ts', '1 second', '20 seconds') }} group by window_start, window_end",
    "live_values": "{{ config(materialized='streaming_incremental', event_time='ts', watermark='1 minute') }}\n"
    "select window_start, window_end, max(qty) as q, count(distinct sym) as n "
    "from {{ hop(stream(ref('trades')), 'ts', '1 second', '20 seconds') }} group by window_start, window_end",
    "autumn": "select * from {{ tumble('(select timestamp_micros(t) as ts from values (1729987200000000), "
    "(1729989000000000), (1729990800000000), (1729992600000000) as v(t))', 'ts', '1 hour') }}",
}
UNIT_TESTS = """\
unit_tests:
  - name: before_1970
    model: tumbling
    given:
      - input: ref('trades')
        rows:
          - {id: 1, ts: "1969-12-31 23:59:59.5", qty: 1}
          - {id: 2, ts: "1970-01-01 00:00:00", qty: 1}
          - {id: 3, ts: null, qty: 1}
    expect: {rows: []}
"""


@pytest.fixture(scope="module")
def shop(make_project: Callable[..., Project]) -> Project:
    project = make_project(
        {
            "seeds/trades.csv": TRADES,
            "seeds/quotes.csv": QUOTES,
            "seeds/seeds.yml": "seeds:\n"
            + "".join(f"  - name: {n}\n    config: {{column_types: {TYPES}}}\n" for n in ("trades", "quotes")),
            "models/tests.yml": UNIT_TESTS,
            **{f"models/{name}.sql": text for name, text in MODELS.items()},
        }
    )
    project.dbt("seed")
    return project


def run(shop: Project, *arguments: str) -> Result:
    here = ["--project-dir", str(shop.folder), "--profiles-dir", str(shop.folder)]
    return CliRunner().invoke(main, ["explain", *arguments, *here])


def report(shop: Project, model: str, **options: Any) -> Report:
    """What the command draws of a model."""
    with subject.receiving() as found:
        shop.dbt("run-operation", "sparkstream_explain", "--args", str({"options": {"model": model, **options}}))
    return found[0]


def section(shop: Project, model: str, **options: Any) -> Section:
    [found] = report(shop, model, **options).sections
    return found


def windows(found: Section, column: str = "id") -> list[tuple[str, str, list[str | None]]]:
    """Start and end of each window, and the rows in it."""
    assert found.picture is not None
    value = {dot.id: dict(dot.columns).get(column) for dot in found.picture.dots}
    return [(clock(b.start)[11:], clock(b.end)[11:], [value[r] for r in b.rows]) for b in found.picture.bars]


def frames(found: Section) -> dict[str | None, list[str | None]]:
    """id of each row -> ids of the rows in its frame."""
    assert found.picture is not None
    value = {dot.id: dict(dot.columns)["id"] for dot in found.picture.dots}
    return {value[b.owner]: [value[r] for r in b.rows] for b in found.picture.bars if b.owner is not None}


class TestRowsOfTheWarehouse:
    def test_tumble(self, shop: Project) -> None:
        found = section(shop, "tumbling")
        assert windows(found) == [
            ("10:00", "10:00:02", ["1", "2"]),
            ("10:00:02", "10:00:04", ["3", "4"]),
            ("10:00:08", "10:00:10", ["5"]),
        ]
        assert found.untimed == ((("id", "6"), ("sym", "B"), ("ts", None), ("qty", "1")),)
        assert found.notes == ("1 row has no time: it is in no window.",)
        assert found.count and (found.count.rows, found.count.timed, found.count.seconds) == (6, 5, 9)

    def test_hop_over_a_cte(self, shop: Project) -> None:
        found = section(shop, "hopping")
        bars = windows(found)
        assert len(bars) == 29
        assert bars[0] == ("09:59:41", "10:00:01", ["1"])
        assert ("10:00", "10:00:20", ["1", "2", "4", "5"]) in bars

    def test_sessions_per_key(self, shop: Project) -> None:
        found = section(shop, "sessions")
        assert found.picture and found.picture.lanes == ("A", "B")
        assert [(b.lane, rows) for b, (_, _, rows) in zip(found.picture.bars, windows(found), strict=True)] == [
            (0, ["1", "2", "4"]),
            (1, ["3"]),
            (0, ["5"]),
        ]

    def test_frames_with_rows_of_another_table(self, shop: Project) -> None:
        found = section(shop, "features")
        assert found.picture and found.picture.lanes == ("A", "A · UNION 1", "B", "B · UNION 1")
        assert {row: sorted(map(str, rows)) for row, rows in frames(found).items()} == {
            "1": ["1"],
            "2": ["1", "2"],
            "3": ["102", "3"],
            "4": ["2", "4"],
            "5": ["5"],
        }

    def test_frames_of_spark(self, shop: Project) -> None:
        found = section(shop, "running")
        assert frames(found) == {"1": ["2", "1"], "2": ["4", "2"], "3": ["3"], "4": ["5", "4"], "5": ["5"]}

    def test_sql_of_another_system_within_a_model(self, shop: Project) -> None:
        found = report(shop, "block")
        assert found.dialect == "flink"
        assert [decision.rule for decision in found.explanation.decisions] == ["cumulate-slices"]
        assert [d.rule for d in found.explanation.decisions] == ["cumulate-slices"]
        assert [len(rows) for _, _, rows in windows(found.sections[0])] == [1, 2, 4, 4, 4, 4, 4, 4, 4, 5]

    def test_an_ephemeral_model_below(self, shop: Project) -> None:
        assert windows(section(shop, "over_ephemeral")) == [("10:00", "10:01", ["1", "2", "3", "4", "5"])]

    def test_a_streaming_model(self, shop: Project) -> None:
        assert [len(rows) for _, _, rows in windows(section(shop, "live"))] == [5]

    def test_what_a_stream_keeps(self, shop: Project) -> None:
        """The same query in batch has the values of count(DISTINCT ...) by slices."""
        found = report(shop, "live_hop", read=False)
        assert [(d.rule, d.reason) for d in found.explanation.decisions] == [("hop-slices", None)]
        assert "CREATE VIEW __kept_rows" in found.explanation.sql
        estimates = list(found.lines(Size(1_000, 1, 600)))
        assert [line.split() for line in estimates[2:]] == [
            ["1,000", "rows", "read"],
            ["600", "slices"],
            ["620", "windows"],
        ]
        found = report(shop, "live_values", read=False)
        why = "the different values of count(DISTINCT ...) would be kept"
        assert [(d.rule, d.reason) for d in found.explanation.decisions] == [(None, why)]
        assert found.explanation.sql.startswith(f"/* windows are kept, and no slices: {why} */")

    def test_a_stream_without_slices(self, shop: Project) -> None:
        found = report(shop, "live")
        assert list(found.lines(Size())) == [
            "no HOP or CUMULATE of a stream here: nothing to optimise",
            "the stream is not built, and no micro-batch is recorded",
        ]

    def test_the_hour_that_comes_twice(self, shop: Project) -> None:
        """From 00:00 UTC on the clock of the zone shows 02:00 twice; its windows are by the clock."""
        shop.sql("SET TIME ZONE 'Europe/Berlin'")
        try:
            found = section(shop, "autumn")
        finally:
            shop.sql("SET TIME ZONE 'UTC'")
        assert [(start, end, len(rows)) for start, end, rows in windows(found, "ts")] == [("02:00", "03:00", 4)]

    def test_a_sample_of_many_rows(self, shop: Project) -> None:
        found = section(shop, "tumbling", sample=2)
        assert windows(found) == [("10:00", "10:00:02", ["1", "2"])]
        assert found.notes[1] == (
            "A sample: the first 2 of 5 rows. At the right edge, windows may hold rows that aren't drawn."
        )
        later = section(shop, "tumbling", sample=2, since="2024-03-01 10:00:02")
        assert [rows for _, _, rows in windows(later)] == [["3", "4"]]
        assert "from 2024-03-01 10:00:02 on" in later.notes[1]

    def test_no_rows(self, shop: Project) -> None:
        found = section(shop, "nothing")
        assert (found.picture, found.notes) == (None, ("There are no rows.",))

    def test_no_table(self, shop: Project) -> None:
        found = section(shop, "no_table")
        assert found.picture is None
        assert found.notes[0].startswith("No rows can be drawn: [TABLE_OR_VIEW_NOT_FOUND]")
        assert found.notes[0] in report(shop, "no_table").lines(Size())

    def test_a_model_without_windows(self, shop: Project) -> None:
        assert report(shop, "plain").sections == ()


class TestRowsOfAUnitTest:
    def test_before_1970(self, shop: Project) -> None:
        found = section(shop, "tumbling", unit_test="before_1970")
        assert found.picture
        assert [(clock(b.start), len(b.rows)) for b in found.picture.bars] == [
            ("1969-12-31 23:59:58", 1),
            ("1970-01-01 00:00", 1),
        ]
        assert found.notes == ("1 row has no time: it is in no window.",)

    def test_no_such_test(self, shop: Project) -> None:
        result = run(shop, "tumbling", "--unit-test", "before_1971", "--html", "x.html")
        assert result.exit_code == 1
        assert "tumbling has no unit test before_1971\n    did you mean before_1970?" in result.output
        assert not Path("x.html").exists()


class TestCommand:
    def test_text_with_what_was_counted(self, shop: Project) -> None:
        result = run(shop, "hopping")
        assert (result.exit_code, result.stderr) == (0, "")
        assert [line.strip() for line in result.stdout.splitlines()] == [
            "hop: windows of 20 seconds every 1 second",
            "hop-slices: rows are aggregated once, into slices as long as a slide, and slices into windows",
            "4  rows read",
            "4  slices",
            "29  windows",
        ]

    def test_page_and_pictures(self, shop: Project, tmp_path: Path) -> None:
        page, picture = tmp_path / "a" / "page.html", tmp_path / "picture.svg"
        result = run(shop, "tumbling", "--html", str(page), "--svg", str(picture))
        assert result.exit_code == 0, result.output
        assert result.stderr.splitlines() == [f"wrote {picture}", f"wrote {page}"]
        assert page.read_text().count("<svg") == 1
        assert "{{ tumble(ref(" in page.read_text().replace("&#39;", "'")
        assert picture.read_text().startswith("<svg")

    def test_a_file_with_tables_of_the_project(self, shop: Project, tmp_path: Path) -> None:
        file, page = tmp_path / "q.sql", tmp_path / "page.html"
        file.write_text(f"SELECT * FROM TUMBLE(TABLE {shop.schema}.trades, DESCRIPTOR(ts), INTERVAL '2' SECOND)")
        result = run(shop, str(file), "--dialect", "flink", "--html", str(page))
        assert result.exit_code == 0, result.output
        assert page.read_text().count('class="bar"') == 3

    def test_a_model_that_is_not_there(self, shop: Project) -> None:
        result = run(shop, "tumblin", "--svg", "x.svg")
        assert result.exit_code == 1
        assert "there is no model tumblin\n    did you mean tumbling or autumn?" in result.output

    def test_nothing_to_draw(self, shop: Project) -> None:
        result = run(shop, "plain", "--svg", "x.svg")
        assert result.exit_code == 1
        assert "there is nothing to draw" in result.output


@pytest.mark.long
class TestTheLastRunOfAStream:
    def test_its_watermark_state_and_late_rows(self, shop: Project, tmp_path: Path) -> None:
        (shop.folder / "models" / "live_run.sql").write_text(MODELS["live"].replace("'1 minute'", "'2 seconds'"))
        try:
            done = run(shop, "live_run")
            assert "the stream is not built, and no micro-batch is recorded" in done.output
            shop.dbt("run", "--select", "live_run")
            done = run(shop, "live_run", "--html", str(tmp_path / "page.html"))
            assert done.exit_code == 0, done.output
            assert "the stream is stopped, after micro-batch" in done.output
            # The latest row is of 10:00:09.
            assert "watermark 2024-03-01 10:00:07: windows that end by then are closed" in done.output
            assert "6 rows read by all runs since the table was made; left out: 1 without a time" in done.output
            page = (tmp_path / "page.html").read_text()
            assert ">The stream<" in page
            assert "The dashed line is the watermark, 2024-03-01 10:00:07" in page
        finally:
            (shop.folder / "models" / "live_run.sql").unlink()


class TestAnotherVersion:
    def test_a_file(self, shop: Project, tmp_path: Path) -> None:
        other = tmp_path / "sessions.sql"
        other.write_text(MODELS["sessions"].replace("'1 second'", "'10 seconds'"))
        done = run(shop, "sessions", "--against", str(other), "--html", str(tmp_path / "page.html"))
        assert done.exit_code == 0, done.output
        lines = [line.strip() for line in done.output.splitlines()]
        at = lines.index(f"against {other}:")
        assert "gap of 1 second" in lines[at + 1]
        assert "gap of 10 seconds" in lines[at + 2]
        assert f"rows drawn: 5, as in {other}" in lines
        assert f"windows: 3, in {other} 2" in lines
        assert f"most rows in a window: 3, in {other} 4" in lines
        page = (tmp_path / "page.html").read_text()
        assert page.count("<svg") == 2

    def test_a_revision_of_git(self, shop: Project) -> None:
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(shop.folder)]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "models"], check=True)
        subprocess.run([*git, "commit", "-qm", "before"], check=True)
        model = shop.folder / "models" / "tumbling.sql"
        model.write_text(MODELS["tumbling"].replace("2 seconds", "5 seconds"))
        try:
            done = run(shop, "tumbling", "--against", "HEAD")
            assert done.exit_code == 0, done.output
            assert "windows: 2, in HEAD 3" in done.output
            done = run(shop, "tumbling", "--against", "no_such")
            assert done.exit_code == 1
            assert "there is no file no_such, and no revision no_such with models/tumbling.sql" in done.output
        finally:
            model.write_text(MODELS["tumbling"])

    def test_a_file_has_no_other_version(self, tmp_path: Path) -> None:
        (tmp_path / "q.sql").write_text("select 1")
        done = CliRunner().invoke(main, ["explain", str(tmp_path / "q.sql"), "--against", "HEAD"])
        assert done.exit_code == 2
        assert "two versions are those of a model" in done.output
