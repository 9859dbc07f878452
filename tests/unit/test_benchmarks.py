"""Ratios of the benchmarks, from the seconds that they measured, and their comparison of answers."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pyarrow
import pytest
from benchmarks.compare.answers import answer
from benchmarks.compare.figures import Ratio, best_by_hand, losses, others, ratio
from benchmarks.compare.page import BEGIN, END, Figures, Section, write
from benchmarks.windows.plot import ratios, svg
from benchmarks.windows.queries import COMET, DUCKDB, HAND, OURS, POLARS, SPARK, Question

SECONDS = {OURS: [2.0, 3.0, 4.0], SPARK: [4.0, 4.0, 4.0], HAND: [3.0, 3.0, 3.0], DUCKDB: [1.0, 1.0, 8.0]}
NOON = datetime(2024, 2, 29, 12, 0, 0, 1)


def test_a_ratio_is_of_runs_beside_each_other() -> None:
    assert ratio(SECONDS, SPARK) == Ratio(0.75, 0.5, 1.0)
    assert ratio(SECONDS, DUCKDB) == Ratio(2.0, 0.5, 3.0)
    assert str(ratio(SECONDS, DUCKDB)) == "2.00 (0.50–3.00)"


def test_runs_that_one_engine_alone_has_do_not_count() -> None:
    assert ratio({OURS: [2.0, 3.0, 4.0], DUCKDB: [4.0]}, DUCKDB) == Ratio(0.5, 0.5, 0.5)
    with pytest.raises(ValueError, match="no run of ours beside one of DuckDB"):
        ratio({OURS: [2.0], DUCKDB: []}, DUCKDB)


@pytest.mark.parametrize(("least", "most", "certain"), [(0.5, 0.9, True), (1.1, 2, True), (0.9, 1.1, False)])
def test_a_ratio_is_certain_where_all_runs_agree(least: float, most: float, certain: bool) -> None:
    assert Ratio((least + most) / 2, least, most).certain is certain


def test_the_best_in_sparks_own_sql_is_the_faster_one() -> None:
    assert best_by_hand(SECONDS) == HAND
    assert best_by_hand({OURS: [1.0], SPARK: [1.0]}) == SPARK
    assert best_by_hand({OURS: [1.0], DUCKDB: [1.0]}) is None
    assert others(SECONDS) == [HAND, DUCKDB]


def test_ours_loses_where_the_median_of_ratios_is_above_one() -> None:
    measured = {
        "even": {OURS: [1.0, 1.0], SPARK: [1.0, 1.0]},
        "slower": {OURS: [3.0, 3.0], SPARK: [9.0, 9.0], HAND: [2.0, 1.0], POLARS: [1.0, 1.5]},
        "in doubt": {OURS: [2.0, 2.0, 2.0], DUCKDB: [1.0, 1.0, 8.0]},
        "faster": {OURS: [1.0], DUCKDB: [2.0]},
    }
    found = losses(measured)
    assert [(loss.question, loss.engine) for loss in found] == [
        ("slower", POLARS),
        ("slower", HAND),
        ("in doubt", DUCKDB),
    ]
    assert [loss.ratio.certain for loss in found] == [True, True, False]


def table(**columns: pyarrow.Array) -> pyarrow.Table:
    return pyarrow.table(columns)


def test_equal_rows_are_equal_in_any_order_and_type() -> None:
    ours = answer(
        table(
            t=pyarrow.array([NOON, None], pyarrow.timestamp("us", "UTC")),
            n=pyarrow.array([1, 2], pyarrow.int64()),
            x=pyarrow.array([0.5, -0.0]),
            s=pyarrow.array(["a", None]),
        )
    )
    theirs = table(
        u=pyarrow.array([None, NOON], pyarrow.timestamp("ns")),
        m=pyarrow.array([Decimal(2), Decimal(1)], pyarrow.decimal128(38, 0)),
        y=pyarrow.array([0.0, 0.5 + 1e-12]),
        z=pyarrow.array([None, "a"]),
    )
    texts = table(
        t=pyarrow.array(["2024-02-29 12:00:00.000001", None]),
        n=pyarrow.array(["1", "2"]),
        x=pyarrow.array(["0.5", "0"]),
        s=pyarrow.array(["a", None]),
    )
    assert answer(theirs, ours) == ours
    assert answer(texts, ours) == ours


@pytest.mark.parametrize(
    "other",
    [
        table(n=pyarrow.array([1, 2]), s=pyarrow.array(["a", "c"])),
        table(n=pyarrow.array([2, 1]), s=pyarrow.array(["a", "b"])),
        table(n=pyarrow.array([1, 2, 2]), s=pyarrow.array(["a", "b", "b"])),
        table(n=pyarrow.array([1, None]), s=pyarrow.array(["a", "b"])),
        table(n=pyarrow.array([1, 2]), s=pyarrow.array(["a", None])),
    ],
)
def test_other_rows_are_other(other: pyarrow.Table) -> None:
    ours = answer(table(n=pyarrow.array([1, 2]), s=pyarrow.array(["a", "b"])))
    assert answer(other, ours) != ours


def test_times_are_instants_to_the_microsecond() -> None:
    ours = answer(table(t=pyarrow.array([NOON])))
    assert answer(table(t=pyarrow.array([NOON.replace(tzinfo=timezone.utc)])), ours) == ours
    assert answer(table(t=pyarrow.array([NOON + timedelta(microseconds=1)])), ours) != ours


def test_values_of_another_kind_are_refused() -> None:
    ours = answer(table(n=pyarrow.array([1])))
    with pytest.raises(ValueError):
        answer(table(n=pyarrow.array([1.5])), ours)
    with pytest.raises(ValueError, match="2 columns instead of 1"):
        answer(table(n=pyarrow.array([1]), m=pyarrow.array([1])), ours)


def test_the_page_keeps_what_is_written_by_hand(tmp_path: Path) -> None:
    one = Figures("HOP", "Windows.", (1000, 10), SECONDS, {POLARS: "gives other rows"})
    sections = [Section("windows", "Windows", [one])]
    page = f"# Title\n\nText.\n\n{BEGIN}\nold\n{END}\n\nThe end.\n"
    write(tmp_path, page, sections, {"CPU": "two cores"}, ["Not there: Flink."])
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert text.startswith(f"# Title\n\nText.\n\n{BEGIN}\n") and text.endswith(f"{END}\n\nThe end.\n")
    assert "old" not in text
    assert "| CPU | two cores |" in text and "Not there: Flink." in text
    assert "| HOP | DuckDB | 2.00 (0.50–3.00) | not in all runs |" in text
    assert "- **HOP**: Windows. 1,000 rows in, 10 out." in text
    assert f"| | {OURS} | {SPARK} | {HAND} | {DUCKDB} | {POLARS} |" in text
    cells = "3.00 | 4.00<br>0.75 (0.50–1.00) | **3.00**<br>1.00 (0.67–1.33) | 1.00<br>2.00 (0.50–3.00)"
    assert f"| HOP | {cells} | gives other rows |" in text
    assert (tmp_path / "benchmarks" / "windows.svg").exists() and "(benchmarks/windows.svg)" in text
    with pytest.raises(ValueError, match="the page has no"):
        write(tmp_path, "# Title\n", sections, {}, [])


def test_ours_in_comet_is_a_column_and_no_loss(tmp_path: Path) -> None:
    conf = {OURS: {"a": "b"}, SPARK: {"c": "d"}}
    question = Question("HOP", 1, {OURS: "SELECT 1", SPARK: "SELECT 2"}, conf).in_comet()
    assert question.queries[COMET] == "SELECT 1"
    assert question.conf == {**conf, COMET: {"a": "b", "spark.comet.enabled": "true"}}
    sections = [Section("windows", "Windows", [Figures("HOP", "", (1, 1), {OURS: [2, 2], COMET: [1, 1]})])]
    write(tmp_path, f"{BEGIN}\n{END}\n", sections, {}, [])
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert "| HOP | 2.00 | 1.00<br>2.00 (2.00–2.00) |" in text
    assert f"| HOP | {COMET} |" not in text
    assert f"{COMET} 2.00" in (tmp_path / "benchmarks" / "windows.svg").read_text(encoding="utf-8")


def test_a_plot_has_each_ratio_and_its_spread() -> None:
    plot = ratios("Title", {"HOP": {DUCKDB: (0.5, 2.0, 3.0), SPARK: (0.5, 0.75, 1.0)}, "TUMBLE": {SPARK: (1, 1, 1)}})
    assert all(f"{engine} {number:.2f}" in plot for engine, number in ((DUCKDB, 2), (SPARK, 0.75), (SPARK, 1)))
    assert plot.count("<circle") == 3


def test_a_plot_has_room_for_long_names() -> None:
    name = "CUMULATE of many more steps than fit, CSV"
    [label] = [line for line in ratios("Title", {name: {SPARK: (1, 1, 1)}}).splitlines() if name in line]
    assert float(label.partition('x="')[2].partition('"')[0]) > 6 * len(name)  # it ends there, in letters of 12


def test_labels_are_in_the_order_of_their_lines() -> None:
    plot = svg("HOP", "keys", {SPARK: [(1, 1), (9, 13)], OURS: [(1, 1), (9, 11)], DUCKDB: [(1, 1), (9, 14)]})
    labels = sorted((float(y), name) for y, name in re.findall(r'<text x="498.0" y="([\d.]+)"[^>]*>(\w+)', plot))
    assert [name for _, name in labels] == [DUCKDB, SPARK, OURS]
