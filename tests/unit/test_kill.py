"""The harness that kills: it has to see what is wrong, and to aim at what it says it aims at."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from tools.kill.command import told_errors, told_of_model
from tools.kill.compare import compare, is_complete
from tools.kill.kinds import KINDS
from tools.kill.moments import COMMITS, MOVED, OFFSETS, RECORDED, STAGING, SWAPPED, Moment, paths
from tools.kill.project import Project
from tools.kill.report import table
from tools.kill.series import Tally

ROWS: list[dict[str, Any]] = [{"k": "a", "n": 1}, {"k": "b", "n": 2}, {"k": "b", "n": 2}, {"k": "c"}]


def test_equal_rows_in_another_order_are_no_difference() -> None:
    found = compare(reversed(ROWS), [{"n": 1, "k": "a"}, *ROWS[1:]])
    assert not found
    assert (found.rows, found.lines()) == (4, [])


def test_a_lost_row_is_found() -> None:
    found = compare(ROWS[:2] + ROWS[3:], ROWS)
    assert found
    assert (found.lost.total(), found.doubled.total(), found.strange.total()) == (1, 0, 0)
    assert found.lines() == ['lost: {"k": "b", "n": 2} (1 times)']
    assert compare([], ROWS).lost.total() == 4


def test_a_doubled_row_is_found() -> None:
    found = compare([*ROWS, ROWS[0], ROWS[0]], ROWS)
    assert (found.lost.total(), found.doubled.total(), found.strange.total()) == (0, 2, 0)
    assert found.lines() == ['doubled: {"k": "a", "n": 1} (2 times)']


def test_a_window_with_another_count_is_found() -> None:
    found = compare([{"k": "a", "n": 7}, *ROWS[1:]], ROWS)
    assert found.lines() == ['lost: {"k": "a", "n": 1} (1 times)', 'strange: {"k": "a", "n": 7} (1 times)']
    assert compare([{"k": "c", "n": None}], [{"k": "c", "n": 0}])


@pytest.mark.parametrize(
    ("rows", "least", "complete"),
    [
        ("20", None, True),
        ("40", 20, True),
        ("40", 40, True),
        ("none", None, True),
        ("none", 20, False),  # the table is gone
        ("0", None, False),  # it is there, and empty
        ("0", 20, False),
        ("33", 20, False),  # half
        ("20", 40, False),  # rows that were there are gone
    ],
)
def test_half_a_table_is_found(rows: str, least: int | None, complete: bool) -> None:
    assert is_complete(rows, least, [20, 40, 60]) == complete
    # Between the two statements of a swap there is no table.
    assert is_complete(rows, least, [20, 40, 60], swaps=True) == (complete or rows == "none")


@pytest.mark.parametrize(
    ("moment", "path", "seen"),
    [
        (OFFSETS, "_sparkstream/t-1f/checkpoint/offsets/3", True),
        (OFFSETS, "_sparkstream/t-1f/checkpoint/offsets/.3.tmp", False),
        (OFFSETS, "_sparkstream/t-1f/checkpoint/commits/3", False),
        (COMMITS, "_sparkstream/t-1f/checkpoint/commits/0", True),
        (RECORDED, "_sparkstream/t-1f/checkpoint_done/part-0.txt", True),
        (STAGING, "t/.spark-staging-1234", True),
        (STAGING, "t/_temporary/0", True),
        (MOVED, "t/micro_batch=4", True),
        (MOVED, "t/p=1/micro_batch=4", True),
        (MOVED, "t/.spark-staging-1/micro_batch=4", False),
        (SWAPPED, "t__dbt_tmp", True),
        (SWAPPED, "t/part-0.parquet", False),
    ],
)
def test_moments(moment: Moment, path: str, seen: bool) -> None:
    assert moment.seen is not None
    assert moment.seen(path) == seen


def test_the_files_of_a_table(tmp_path: Path) -> None:
    checkpoint = "_sparkstream/t-1f/checkpoint"
    names = (
        f"{checkpoint}/offsets/0",
        f"{checkpoint}/state/0",
        "_sparkstream/t2-9a/x",
        "_sparkstream/t__rebuilt-0a-1f/x",
    )
    for name in (*names, "t/micro_batch=0/x.parquet", "t__late/x", "t2/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = paths(tmp_path, "t")
    assert {"t", f"{checkpoint}/offsets/0", "t/micro_batch=0", "t__late", "_sparkstream/t__rebuilt-0a-1f/x"} <= found
    assert not [path for path in found if "t2" in path or path.endswith("state/0")]
    assert paths(tmp_path / "nowhere", "t") == set()


def test_what_dbt_says() -> None:
    line = "21:25:15  2 of 3 OK created sql table model shop.hop ....... [OK in 30.14s]"
    assert told_of_model(line) == ("OK", "hop")
    assert told_of_model("21:24:44  1 of 2 START hook: shop.on-run-start.0 ... [RUN]") is None
    assert told_of_model("12:00:00  1 of 1 START python table model shop.a ... [RUN]") == ("START", "a")
    log = (
        "21:31:34.41 [debug] [Thread-3 (]: Runtime Error in model rows (models/rows.sql)\n  it is gone\n"
        "    run it again\n21:31:34.42 [error] [Thread-3 (]: 3 of 6 ERROR creating sql model shop.rows\n"
    )
    assert told_errors(log) == {"rows": "it is gone\n    run it again"}


def test_a_project_has_the_same_query_as_a_stream_and_in_batch(tmp_path: Path) -> None:
    project = Project(tmp_path, list(KINDS.values()), {"type": "sparkstream"}, random.Random(1))
    model = (tmp_path / "models/join.sql").read_text().splitlines()
    proof = (tmp_path / "models/proof/join__proof.sql").read_text().splitlines()
    assert model[-1].count("stream(source('raw', 'bid'))") == 1
    assert (
        model[-1]
        .replace("stream(source('raw', 'bid'))", "source('raw', 'bid')")
        .replace("stream(source('raw', 'ask'))", "source('raw', 'ask')")
        == proof[-1]
    )
    assert "ref('cascade_first__proof')" in (tmp_path / "models/proof/cascade__proof.sql").read_text()
    assert len({model.name for model in project.models}) == len(project.models) == len(KINDS) + 1


def test_rows_are_never_too_late(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    project = Project(tmp_path, [KINDS["rows"]], {}, random.Random(2))
    for _ in range(8):
        project.arrive()
    project.close()
    latest, late, ids = 0.0, 0, []
    for file in sorted((tmp_path / "incoming/bid").glob("*.parquet")):
        rows = pq.read_table(file).to_pylist()
        times = [row["ts"].timestamp() for row in rows]
        assert min(times) > latest - 10
        late += sum(time < latest for time in times)
        latest = max(latest, *times)
        ids += [row["id"] for row in rows]
    assert late > 5
    assert project.counts == [*range(0, 161, 20), 162]
    assert len(ids) == len(set(ids)) == 162


def test_the_report() -> None:
    lines = table({"rows": Tally(3, 4, 1000, 1, 0, 0, 0, 12.4), "hop": Tally(2, 1, 10, 0, 2, 1, 0, 1.0)}).splitlines()
    assert lines[2:] == [
        "| rows | 3 | 4 | 1,000 | 1 | 0 | 0 | 0 | 12 |",
        "| hop | 2 | 1 | 10 | 0 | 2 | 1 | 0 | 1 |",
        "| **all** | 5 | 5 | 1,010 | 1 | 2 | 1 | 0 | 13 |",
    ]
