"""The playground in a real browser, on a real Spark."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from dbt.adapters.sparkstream.play.page import examples
from dbt.adapters.sparkstream.play.runner import Runner
from dbt.adapters.sparkstream.play.server import PlayServer
from tests.browser.test_page import CHROMIUM, FLAGS
from tests.lib.support import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from pyspark.sql import SparkSession

api = pytest.importorskip("playwright.sync_api", reason="playwright is missing: pip install playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def server(embedded: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlayServer]:
    runner = Runner(tmp_path_factory.mktemp("play"))
    runner.start = lambda: embedded  # type: ignore[method-assign]
    server = PlayServer(runner)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with api.sync_playwright() as started:
        made = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=1000 * PATIENCE)
        yield made
        made.close()


@pytest.fixture
def tab(browser: Browser, server: PlayServer) -> Iterator[Page]:
    """The page, after its first example; whatever goes wrong in it is an error here."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.set_default_timeout(1000 * PATIENCE)
    faults: list[str] = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    tab.on(
        "request", lambda asked: None if asked.url.startswith(server.url.split("?")[0]) else faults.append(asked.url)
    )
    tab.goto(server.url)
    done(tab)
    yield tab
    tab.close()
    assert faults == []


def done(tab: Page) -> None:
    tab.wait_for_selector("#outcome[aria-busy=false] section", timeout=1000 * PATIENCE)


def run(tab: Page, sql: str, dialect: str = "spark") -> str:
    """What the page shows of a query."""
    tab.fill("#sql", sql)
    tab.select_option("#dialect", dialect)
    tab.evaluate("document.getElementById('outcome').replaceChildren()")
    tab.keyboard.press("Control+Enter")
    done(tab)
    return tab.locator("#outcome").inner_text()


def test_the_first_example_is_run_and_drawn(tab: Page) -> None:
    assert tab.locator("#example option").count() == len(examples())
    assert "2 rows" in tab.locator("#outcome").inner_text()
    assert tab.locator("#outcome section.window svg .bar").count() == 2
    tab.locator("#outcome svg .bar").first.hover()
    assert tab.locator("#outcome svg .dot.in").count() == 3


def test_a_cell_is_changed(tab: Page) -> None:
    price = tab.locator("#tables tbody tr").first.locator("input").nth(1)
    price.fill("40.00")
    tab.evaluate("document.getElementById('outcome').replaceChildren()")
    tab.click("#run")
    done(tab)
    assert "47.00" in tab.locator("#outcome section.result").inner_text()


def test_a_row_a_column_and_a_table_are_added(tab: Page) -> None:
    before = tab.locator("#tables tbody tr").count()
    tab.get_by_role("button", name="Add a row").click()
    assert tab.locator("#tables tbody tr").count() == before + 1
    tab.get_by_role("button", name="add a column to Bid").click()
    tab.click("#add-table")
    assert "7" in run(tab, "select count(*) as n from Bid where c5 is null")
    assert "timestamp_ntz" in run(tab, "select typeof(ts) as t from t2")


def test_a_mistake_is_said_with_its_place(tab: Page) -> None:
    text = run(tab, "SELECT * FROM TUMBLE(TABLE Bid, DESCRIPTOR(nope), INTERVAL '10' MINUTES)", "flink")
    assert "It doesn't run" in text
    assert "line 1" in text
    assert "nope" in text


def test_what_users_write_is_no_script(tab: Page) -> None:
    tab.evaluate("window.hit = 0")
    nasty = '<img src=x onerror="hit=1"><script>hit=1</script>'
    text = run(tab, f"select '{nasty}' as `{nasty}`")
    assert nasty in text
    assert tab.evaluate("window.hit") == 0


def test_it_is_usable_on_a_narrow_screen(tab: Page) -> None:
    tab.set_viewport_size({"width": 420, "height": 900})
    tab.set_default_timeout(1000 * PATIENCE)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 420
