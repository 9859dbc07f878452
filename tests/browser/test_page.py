"""The page of `sparkstream explain` in a real browser: what a mouse and a keyboard find there.

Needs a Chromium on this machine and `pip install playwright`; skipped where one of them is missing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dbt.adapters.sparkstream.explain.page import page
from tests.lib.support import PATIENCE
from tests.unit.explain.examples import NASTY, report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Locator, Page

api = pytest.importorskip("playwright.sync_api", reason="playwright is missing: pip install playwright")
CHROMIUM = next(
    (path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome")) if path), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: apt-get install chromium")
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with api.sync_playwright() as started:
        made = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=1000 * PATIENCE)
        yield made
        made.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page(report()), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser: Browser, file: Path) -> Iterator[Page]:
    """The page in a window of 1200 pixels; whatever goes wrong in it is an error here."""
    tab = browser.new_page(viewport={"width": 1200, "height": 900})
    tab.set_default_timeout(1000 * PATIENCE)
    faults: list[str] = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    tab.on("request", lambda request: None if request.url.startswith("file:") else faults.append(request.url))
    tab.goto(file.as_uri())
    yield tab
    tab.close()
    assert faults == []


def section(tab: Page, number: int) -> Locator:
    return tab.locator("section.window").nth(number)


def marked(part: Locator, kind: str) -> list[str]:
    """The rows or the windows that are marked."""
    attribute = "data-rows" if kind == ".bar" else "data-row"
    return [one.get_attribute(attribute) or "" for one in part.locator(f"{kind}.in").all()]


def test_a_window_shows_its_rows(opened: Page) -> None:
    tumble = section(opened, 0)
    tumble.locator(".bar").nth(1).hover()
    assert marked(tumble, ".bar") == ["6 7"]
    assert marked(tumble, ".dot") == ["6", "7"]
    assert marked(tumble, "tr") == ["6", "7"]
    assert tumble.locator(".status").inner_text() == "window 2024-03-01 10:10 – 10:20: 2 rows"
    assert float(tumble.locator(".shade").get_attribute("width") or 0) > 100
    opened.locator("h1").hover()
    assert marked(tumble, ".dot") == []
    assert tumble.locator(".status").inner_text().startswith("Point at a window")


def test_a_row_shows_its_windows(opened: Page) -> None:
    hop = section(opened, 1)
    hop.locator('.dot[data-row="5"]').hover()
    assert marked(hop, ".dot") == ["5"]
    assert len(marked(hop, ".bar")) == 20
    assert all("5" in rows.split() for rows in marked(hop, ".bar"))
    assert hop.locator(".status").inner_text().endswith("in 20 windows")


def test_a_line_of_the_table_is_the_row(opened: Page) -> None:
    session = section(opened, 2)
    session.locator('tr[data-row="1"]').hover()
    assert marked(session, ".dot") == ["1"]
    assert len(marked(session, ".bar")) == 1


def test_the_frame_of_a_row_and_the_frames_it_is_in(opened: Page) -> None:
    frames = section(opened, 3)
    frames.locator('.bar[data-owner="5"]').hover()
    assert marked(frames, ".dot") == ["1", "3", "5"]
    assert [d.get_attribute("data-row") for d in frames.locator(".dot.current").all()] == ["5"]
    frames.locator('.dot[data-row="1"]').hover()
    assert marked(frames, ".bar") == ["0 1", "0 1 3", "1 3 5"]
    assert "in 3 frames" in frames.locator(".status").inner_text()


def test_a_click_keeps_what_is_shown(opened: Page) -> None:
    tumble = section(opened, 0)
    bar = tumble.locator(".bar").nth(0)
    bar.click()
    opened.locator("h1").hover()
    assert len(marked(tumble, ".dot")) == 6
    bar.press("Escape")
    assert marked(tumble, ".dot") == []


def test_by_keyboard(opened: Page) -> None:
    tumble = section(opened, 0)
    tumble.locator(".bar").nth(0).focus()
    opened.keyboard.press("ArrowRight")
    assert marked(tumble, ".bar") == ["6 7"]
    opened.keyboard.press("Enter")
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.dataset.row") == "0"
    assert marked(tumble, ".bar") == ["6 7"]
    opened.keyboard.press("Escape")
    opened.keyboard.press("ArrowLeft")
    assert marked(tumble, ".dot") == ["11"]


@pytest.mark.parametrize("width", [360, 1600])
def test_it_fits_the_window(opened: Page, width: int) -> None:
    opened.set_viewport_size({"width": width, "height": 900})
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    picture = section(opened, 0).locator("svg").bounding_box()
    assert picture and picture["width"] >= 640
    first, second = (pre.bounding_box() for pre in opened.locator(".sql pre").all())
    assert first and second
    assert second["y"] > first["y"]  # one is much longer than the other
    assert second["x"] + second["width"] <= width
    bar = section(opened, 0).locator(".bar").nth(0)
    bar.scroll_into_view_if_needed()
    bar.hover()
    assert len(marked(section(opened, 0), ".dot")) == 6


def test_windows_of_other_rows_are_folded(opened: Page) -> None:
    hop = section(opened, 1)
    bars = hop.locator(".bar:not(.folded)")
    assert bars.count() == 20
    first = hop.locator(".fold").text_content() or ""
    assert "20 of 51, the others are folded" in first
    hop.locator('.dot[data-row="11"]').hover()
    assert bars.count() == 20
    assert all("11" in (bar.get_attribute("data-rows") or "").split() for bar in bars.all())
    assert "row at 2024-03-01 10:31" in (hop.locator(".fold").text_content() or "")
    boxes = [box for bar in bars.all() if (box := bar.locator("rect").bounding_box())]
    assert [box["y"] for box in boxes] == sorted({box["y"] for box in boxes})
    assert [box["x"] for box in boxes] == sorted(box["x"] for box in boxes)
    opened.locator("h1").hover()
    assert "row at 2024-03-01 10:31" in (hop.locator(".fold").text_content() or "")
    assert [d.get_attribute("data-row") for d in hop.locator(".dot.current").all()] == ["11"]
    bars.nth(0).focus()
    opened.keyboard.press("ArrowLeft")
    assert marked(hop, ".bar") == [bars.nth(19).get_attribute("data-rows")]


def test_what_goes_on_beyond_an_edge_fades_out(opened: Page) -> None:
    opened.set_viewport_size({"width": 420, "height": 900})
    drawing = section(opened, 0).locator(".drawing")
    for left, classes in ((0, " more-right"), (100, " more-right more-left"), (9999, " more-left")):
        drawing.evaluate("(one, left) => { one.scrollLeft = left; }", left)
        opened.wait_for_function(
            "([one, names]) => one.className === names", arg=[drawing.element_handle(), f"drawing{classes}"]
        )
        assert "gradient" in drawing.evaluate("one => getComputedStyle(one).maskImage")
    opened.set_viewport_size({"width": 1400, "height": 900})
    opened.wait_for_function("one => one.className === 'drawing'", arg=drawing.element_handle())
    assert drawing.evaluate("one => getComputedStyle(one).maskImage") == "none"


def test_by_touch(browser: Browser, file: Path) -> None:
    context = browser.new_context(viewport={"width": 420, "height": 900}, has_touch=True, is_mobile=True)
    tab = context.new_page()
    tab.set_default_timeout(1000 * PATIENCE)
    tab.goto(file.as_uri())
    tumble = section(tab, 0)
    assert tumble.locator(".status").inner_text() == "Tap a window to see its rows, or a row to see its windows."
    assert tab.get_by_text("Point at").count() == 0
    tumble.locator(".bar").nth(0).tap()
    assert len(marked(tumble, ".dot")) == 6
    tumble.locator('.dot[data-row="6"]').tap()
    assert marked(tumble, ".dot") == ["6"]
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(opened: Page, scheme: str) -> None:
    """At least the contrast that WCAG AA asks for, of text on the page and in the pictures."""
    opened.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    pairs = opened.evaluate(
        """() => {
          const css = (one, name) => getComputedStyle(one)[name];
          const body = css(document.querySelector(".card"), "backgroundColor");
          const found = [["h2", "color"], [".note", "color"], ["footer", "color"], [".pill.good", "color"]]
            .map(([at, name]) => [css(document.querySelector(at), name),
              at === ".pill.good" ? css(document.querySelector(at), "backgroundColor") : body]);
          const bar = document.querySelector(".bar");
          found.push([css(bar.querySelector("text"), "fill"), css(bar.querySelector("rect"), "fill")]);
          found.push([css(document.querySelector("svg .time"), "fill"), body]);
          return found;
        }"""
    )
    assert len(pairs) == 6
    for text, ground in pairs:
        assert contrast(text, ground) >= 4.5, (text, ground)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, written rgb(r, g, b)."""
    low, high = sorted(luminance(colour) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_that_wants_to_be_html(opened: Page) -> None:
    dialogs: list[str] = []

    def seen(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    opened.on("dialog", seen)
    section(opened, 0).locator('.dot[data-row="0"]').hover()
    assert NASTY in section(opened, 0).locator(".status").inner_text()
    assert opened.locator("h1").inner_text() == f"bids {NASTY}"
    assert dialogs == []
