"""The documentation as a site: it builds without a warning, needs no network, and has every macro."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.docs.blocks import ROOT
from tests.lib.support import PATIENCE


def build_site(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "docs"
    build_site(folder)
    return folder


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    loads = re.compile(
        r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?(?:https?:)?//"""
        r"""|<link[^>]*rel=["']?(?:stylesheet|preconnect|icon)[^>]*href=["']?(?:https?:)?//"""
        r"""|@import[^;]*//|url\(["']?(?:https?:)?//"""
    )
    pages = [*site.rglob("*.html"), *site.rglob("*.css"), *site.rglob("*.svg")]
    assert len(pages) > 30
    assert [page.name for page in pages if loads.search(page.read_text(encoding="utf-8"))] == []


def test_links_to_the_repository_lead_to_files(site: Path) -> None:
    link = re.compile(r'href="https://github\.com/dbt-sparkstream/dbt-sparkstream/blob/main/([^"#]+)')
    targets = {target for page in site.rglob("*.html") for target in link.findall(page.read_text(encoding="utf-8"))}
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_macro_has_a_page(site: Path) -> None:
    for path in (ROOT / "macros").rglob("*.yml"):
        for macro in yaml.safe_load(path.read_text())["macros"]:
            name = macro["name"].removeprefix("test_")
            kind = "tests" if macro["name"] != name else "macros"
            page = (site / "reference" / kind / f"{name}.html").read_text(encoding="utf-8")
            for argument in macro.get("arguments", []):
                assert f"<code>{argument['name']}</code>" in page, macro["name"]
            assert "{%" not in page


def test_the_reference_knows_defaults_commands_and_keys(site: Path) -> None:
    text = {page.stem: re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")) for page in site.rglob("*.html")}
    assert "tumble(relation, timecol, size, offset=none)" in text["tumble"]
    assert "sparkstream server start" in text["cli"] and "--connect-port" in text["cli"]
    assert "connect_url" in text["profile"] and "server_side_parameters" in text["profile"]
    assert "TranslationError" in text["python"]


def test_every_page_is_in_the_navigation(site: Path) -> None:
    home = (site / "index.html").read_text(encoding="utf-8")
    pages = {page.relative_to(site).as_posix() for page in site.rglob("*.html")} - {"404.html", "index.html"}
    # The start page shows the sections, and a section's page all that is in it.
    linked = set(re.findall(r'href="([\w/.-]+\.html)"', home))
    assert linked and pages - linked == set()


def test_the_navigation_names_a_page_once() -> None:
    named = re.findall(r"[\w/]+\.md", (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2].partition("\ntheme:")[0])
    assert sorted(named) == sorted(set(named))
