"""Pictures: the places of rows and windows, and the words beside them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import combinations, pairwise

import pytest

from dbt.adapters.sparkstream.explain.draw import svg
from dbt.adapters.sparkstream.explain.layout import lay_out
from dbt.adapters.sparkstream.explain.picture import Bar, Dot, Picture, clock
from tests.property.window_reference import HOUR, MINUTE, Cumulate, Hop, Session, Tumble
from tests.unit.explain.examples import NASTY, frames, micros, windows

TEN = micros("2024-03-01 10:00:00")
TIMES = [TEN + int(minute * MINUTE) for minute in (0, 1, 1, 3, 9.5, 9.7, 9.9, 10, 10.1, 10.2, 17, 26)]
NS = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    "window",
    [Tumble(10 * MINUTE), Hop(MINUTE, 10 * MINUTE), Cumulate(2 * MINUTE, HOUR), Session(2 * MINUTE)],
    ids=lambda w: type(w).__name__,
)
class TestWindows:
    def test_a_row_is_between_the_ends_of_its_windows(self, window: object) -> None:
        layout = lay_out(windows(window, TIMES))  # type: ignore[arg-type]
        x = {d.dot.id: d.x for d in layout.dots}
        assert layout.bars
        for bar in layout.bars:
            for dot in layout.dots:
                within = bar.x - 1 <= x[dot.dot.id] <= bar.x + bar.width + 1
                assert within or dot.dot.id not in bar.bar.rows

    def test_nothing_overlaps_and_all_is_in_the_picture(self, window: object) -> None:
        layout = lay_out(windows(window, TIMES))  # type: ignore[arg-type]
        shown = [bar for bar in layout.bars if not bar.folded]
        for one, other in combinations(shown, 2):
            apart = one.x + one.width <= other.x or other.x + other.width <= one.x
            assert apart or one.y + one.height <= other.y or other.y + other.height <= one.y
        for a, b in combinations(layout.dots, 2):
            assert (a.x - b.x) ** 2 + (a.y - b.y) ** 2 >= (a.r + b.r) ** 2
        lowest = max(b.y + b.height for b in layout.bars)
        assert all(lowest < d.y - d.r and d.y + d.r < layout.axis for d in layout.dots)
        assert all(d.x - d.r >= 0 and d.x + d.r <= layout.width for d in layout.dots)
        assert all(b.x >= 0 and b.x + b.width <= layout.width for b in layout.bars)


def test_sessions_stand_in_the_lane_of_their_key() -> None:
    picture = windows(Session(2 * MINUTE, keyed=True), TIMES, ["A", "B"] * 6)
    layout = lay_out(picture)
    assert [lane.name for lane in layout.lanes] == ["A", "B"]
    for bar in layout.bars:
        lane = layout.lanes[bar.bar.lane or 0]
        assert lane.top <= bar.y and bar.y + bar.height <= lane.bottom
    for dot in layout.dots:
        lane = layout.lanes[dot.dot.lane]
        assert lane.top <= dot.y - dot.r and dot.y + dot.r <= lane.bottom


def test_rows_of_one_time_stand_above_one_another_in_order_of_arrival() -> None:
    layout = lay_out(Picture("", (*tuple(Dot(i, 5.0) for i in range(30)), Dot(30, 9.0)), timed=False))
    stacked = [d for d in layout.dots if d.dot.at == 5.0]
    assert [d.dot.id for d in sorted(stacked, key=lambda d: -d.y)] == list(range(30))


def test_windows_far_longer_than_the_rows_are_cut() -> None:
    layout = lay_out(windows(Tumble(24 * HOUR), TIMES[:4]))
    [bar] = layout.bars
    assert bar.cut == (True, True)
    assert layout.dots[-1].x - layout.dots[0].x > 0.2 * layout.width


def test_one_row_alone() -> None:
    layout = lay_out(windows(Tumble(10 * MINUTE), TIMES[:1]))
    assert [t.text for t in layout.ticks if t.text == "10:00"] == ["10:00"]
    assert layout.bars[0].text == "10:00 – 10:10 · 1 row"


def test_no_rows() -> None:
    assert "<svg" in svg(Picture("nothing", ()))


class TestFolding:
    def test_of_many_windows_those_of_one_row_are_shown(self) -> None:
        layout = lay_out(windows(Hop(MINUTE, HOUR), TIMES))
        assert len(layout.bars) == 60 + 26
        assert layout.fold is not None
        shown = [bar for bar in layout.bars if not bar.folded]
        assert len(shown) == 60
        assert all(layout.fold.row in bar.bar.rows for bar in shown)
        assert not any(layout.fold.row in bar.bar.rows for bar in layout.bars if bar.folded)
        assert layout.height < 500

    def test_one_below_another_as_they_begin(self) -> None:
        layout = lay_out(windows(Hop(MINUTE, HOUR), TIMES))
        assert layout.fold is not None
        shown = [bar for bar in layout.bars if not bar.folded]
        assert [bar.bar.start for bar in shown] == sorted(bar.bar.start for bar in shown)
        steps = {round(b.y - a.y, 6) for a, b in pairwise(shown)}
        assert steps == {layout.fold.step}

    def test_the_row_is_one_in_most_windows(self) -> None:
        layout = lay_out(windows(Cumulate(MINUTE, HOUR), TIMES))
        assert layout.fold is not None
        assert layout.fold.row == 0
        assert layout.fold.note == "windows of the row at 2024-03-01 10:00: 60 of 60, the others are folded"

    @pytest.mark.parametrize(("slide", "folds"), [(5, False), (4, True)])
    def test_few_are_all_shown(self, slide: int, folds: bool) -> None:
        layout = lay_out(windows(Hop(slide * MINUTE, HOUR), TIMES))
        assert (layout.fold is not None) == folds
        assert any(bar.folded for bar in layout.bars) == folds

    def test_a_file_of_its_own_has_no_folded_ones(self) -> None:
        picture = windows(Hop(MINUTE, HOUR), TIMES)
        groups = [g.get("class") or "" for g in ET.fromstring(svg(picture)).iter(f"{NS}g")]
        assert len([g for g in groups if g.startswith("bar")]) == 60
        assert [g for g in groups if "current" in g] == ["dot current"]
        assert "60 of 86, the others are folded" in svg(picture)


@pytest.mark.parametrize(
    ("span", "labels"),
    [
        (MINUTE // 60 // 10, ["10:00:00.000", "10:00:00.010"]),
        (20 * MINUTE, ["10:00", "10:02"]),
        (48 * HOUR, ["12:00", "18:00"]),
        (90 * 24 * HOUR, ["2024-02-29", "2024-03-14"]),
    ],
)
def test_marks_of_the_axis(span: int, labels: list[str]) -> None:
    layout = lay_out(Picture("", (Dot(0, TEN), Dot(1, TEN + span))))
    assert [t.text for t in layout.ticks][:2] == labels
    assert 2 <= len(layout.ticks) <= 14
    gaps = [b.x - a.x for a, b in zip(layout.ticks, layout.ticks[1:], strict=False)]
    assert min(gaps) > 60


def test_the_date_stands_at_the_first_mark_of_a_day() -> None:
    layout = lay_out(Picture("", (Dot(0, micros("1969-12-31 22:00:00")), Dot(1, micros("1970-01-01 02:00:00")))))
    assert [t.date for t in layout.ticks if t.date] == ["1969-12-31", "1970-01-01"]


@pytest.mark.parametrize(
    ("time", "text"),
    [
        ("2024-03-01 10:00:00", "2024-03-01 10:00"),
        ("1969-12-31 23:59:59.500", "1969-12-31 23:59:59.5"),
        ("0001-01-01 00:00:01", "0001-01-01 00:00:01"),
    ],
)
def test_times_as_text(time: str, text: str) -> None:
    assert clock(micros(time)) == text


def test_words() -> None:
    picture = windows(Tumble(24 * HOUR), TIMES)
    assert picture.words(picture.bars[0]) == "window 2024-03-01 00:00 – 2024-03-02 00:00: 12 rows"
    framed = frames()
    assert framed.words(framed.bars[1]) == "A, frame of the row at 2024-03-01 10:00:05: 2 rows"
    assert framed.label(framed.dots[2]) == "B, row at 2024-03-01 10:00:05: id 2"


class TestSvg:
    def test_it_is_xml_whatever_is_written_in_the_rows(self) -> None:
        picture = Picture(NASTY, (Dot(0, 1.0, 0, ((NASTY, NASTY),)),), (Bar(0, 2, (0,), 0),), (NASTY,), timed=False)
        for alone in (True, False):
            tree = ET.fromstring(svg(picture, alone=alone))
            assert tree.find(f"{NS}title").text == NASTY  # type: ignore[union-attr]
            assert not list(tree.iter(f"{NS}script")) and not list(tree.iter("script"))

    def test_a_file_of_its_own_needs_nothing_else(self) -> None:
        text = svg(frames())
        tree = ET.fromstring(text)
        assert tree.find(f"{NS}style") is not None
        assert "prefers-color-scheme: dark" in text
        assert text.replace('xmlns="http://www.w3.org/2000/svg"', "").count("http") == 0

    def test_the_current_row_and_its_frame_are_marked(self) -> None:
        picture = Picture("w", tuple(Dot(i, i) for i in range(4)), timed=False, current=2, inside=frozenset({1, 2}))
        classes = [g.get("class") for g in ET.fromstring(svg(picture)).iter(f"{NS}g")]
        assert classes[:4] == ["dot", "dot in", "dot in current", "dot"]

    def test_windows_and_rows_can_be_reached_and_are_named(self) -> None:
        tree = ET.fromstring(svg(windows(Tumble(10 * MINUTE), TIMES), alone=False))
        groups = list(tree.iter(f"{NS}g"))
        assert all(g.get("aria-label") and g.get("role") == "button" for g in groups)
        assert [g.get("tabindex") for g in groups].count("0") == 2
        bars = [g for g in groups if g.get("class") == "bar"]
        assert [b.get("data-rows") for b in bars] == ["0 1 2 3 4 5 6", "7 8 9 10", "11"]
