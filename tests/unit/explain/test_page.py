"""Content of the page."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

from dbt.adapters.sparkstream.explain.page import page
from dbt.adapters.sparkstream.explain.report import Report, Size
from dbt.adapters.sparkstream.sql import explain
from tests.unit.explain.examples import NASTY, SQL, report


class _Parts(HTMLParser):
    """Elements with their attributes, and the text in each kind of element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "img", "br", "hr", "input"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._open[-1] if self._open else "", []).append(data)


def test_what_a_user_wrote_stays_text() -> None:
    parts = _Parts(page(report()))
    assert [tag for tag, _ in parts.elements].count("script") == 1
    assert parts.texts["h1"] == [f"bids {NASTY}"]
    assert NASTY in parts.texts["td"]
    assert any(NASTY in text for text in parts.texts["pre"])


def test_nothing_is_loaded() -> None:
    parts = _Parts(page(report()))
    for tag, attributes in parts.elements:
        assert tag not in ("link", "img", "iframe", "object")
        assert not {"src", "href", "srcset", "action", "data"} & set(attributes)
    policy = next(a for t, a in parts.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert str(policy["content"]).startswith("default-src 'none'")


def test_sections_rows_and_notes() -> None:
    parts = _Parts(page(report()))
    titles = list(parts.texts["h2"])
    assert titles[:2] == ["tumble: what tumble is", "hop: windows of 20 minutes every 1 minute"]
    assert len([t for t, _ in parts.elements if t == "svg"]) == 4
    rows = [a["data-row"] for t, a in parts.elements if t == "tr" and "data-row" in a]
    assert len(rows) == 3 * 12 + 8
    assert "1 row has no time: it is in no window." in parts.texts["p"]
    assert "There are no rows." in parts.texts["p"]


def test_the_rules_with_what_was_counted() -> None:
    text = page(report())
    assert "hop-slices" in text
    assert "2,000,000" in text
    assert "500" in page(report(), Size(500))


def test_one_of_a_kind_is_no_plural() -> None:
    text = page(report(), Size(1, seconds=0.0))
    assert ">row read</span>" in text and ">slice</span>" in text
    assert ">rows read</span>" not in text and ">slices</span>" not in text


def test_texts_of_different_lengths_stand_one_below_the_other() -> None:
    assert 'class="sides apart"' in page(report())
    assert 'class="sides"' in page(Report("q", "select 1", "spark", explain("select 1")))


def test_why_there_is_no_rule() -> None:
    sql = SQL.replace("count(*)", "count(distinct a)")
    text = page(Report("q", sql, "spark", explain(sql)))
    assert "no rule" in text
    assert "DISTINCT" in text


def test_nothing_to_draw_and_nothing_to_optimize() -> None:
    text = page(Report("q", "select 1", "spark", explain("select 1")))
    assert "No windows are drawn here" in text
    assert "nothing to optimize" in text


def test_two_versions() -> None:
    now = report()
    changed = replace(now.sections[1], words="windows of 5 minutes every 1 minute", picture=now.sections[0].picture)
    before = replace(now, name="HEAD", sections=(now.sections[0], changed))
    both = replace(now, before=before)
    parts = _Parts(page(both))
    assert parts.texts["h2"][0] == "Against HEAD"
    assert "In HEAD, hop: windows of 5 minutes every 1 minute" in parts.texts["h2"]
    assert len([t for t, _ in parts.elements if t == "svg"]) == 6
    assert parts.texts["td"].count("none") == 3
    lines = list(both.lines(Size()))
    at = lines.index("against HEAD:")
    assert lines[at + 1] == "  tumble: what tumble is"
    assert "    in HEAD: hop: windows of 5 minutes every 1 minute" in lines
    assert now.sections[1].picture and now.sections[0].picture
    counts = len(now.sections[1].picture.bars), len(now.sections[0].picture.bars)
    assert f"    windows: {counts[0]}, in HEAD {counts[1]}" in lines
    assert "  session: what session is: only here" in lines
    identifiers = [a["id"] for _, a in parts.elements if "id" in a]
    assert len(identifiers) == len(set(identifiers))
