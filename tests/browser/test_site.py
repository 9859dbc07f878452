"""The documentation in a real browser, opened from disk: its search, and code on narrow and wide pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.test_page import CHROMIUM, FLAGS, api
from tests.docs.test_site import build_site
from tests.lib.support import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: apt-get install chromium")
CUT = """() => [...document.querySelectorAll('.md-content .highlight:not(.language-text) pre > code')]
    .filter(code => code.scrollWidth > code.clientWidth + 1).map(code => code.innerText)"""
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "docs"
    build_site(folder)
    return folder


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    with api.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=1000 * PATIENCE)
        tab = browser.new_page()
        tab.set_default_timeout(1000 * PATIENCE)
        yield tab
        browser.close()


def test_search_works_from_disk(site: Path, tab: Page) -> None:
    tab.goto((site / "migrate" / "flink.html").as_uri())
    tab.keyboard.press("/")
    tab.keyboard.type("watermark")
    tab.locator(".md-search-result__item").first.wait_for()
    tab.locator(".md-search-result__link").first.click()
    assert "watermark" in tab.locator(".md-content").inner_text().lower()


@pytest.mark.parametrize("width", [420, 1300])
def test_code_is_not_cut(width: int, site: Path, tab: Page) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    for name in ("index", "quickstart", "streaming", "frames", "migrate/openmldb", "appendix/sql", "reference/cli"):
        tab.goto((site / f"{name}.html").as_uri())
        assert (tab.evaluate(CUT), tab.evaluate(OVERFLOW)) == ([], 0), name
