"""The SQL in the documentation is what the translator makes of it.

`python tests/unit/test_docs.py` writes the Spark SQL into the pages anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt.adapters.sparkstream.sql import translate

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["flink.md", "flink-from.md", "frames.md", "appendix/optimizer_sql.md", "appendix/sql.md"]
OURS = "sparkstream"
"""How a page calls Spark SQL with our constructs in it."""
SCHEMA = {
    "bid": {"bidtime": "timestamp_ntz", "price": "decimal(10,2)", "item": "string", "supplier_id": "string"},
    "click": {"ts": "timestamp_ntz", "usr": "string", "dur": "int", "event": "string"},
    "orders": {
        "order_id": "int",
        "customer": "struct<name:string,city:string>",
        "items": "array<struct<sku:string,amount:int>>",
        "tags": "array<string>",
        "labels": "map<string,string>",
        "currency": "string",
        "order_time": "timestamp_ntz",
    },
    "rates": {"currency": "string", "rate": "decimal(10,2)", "rate_time": "timestamp_ntz"},
    "trades": {"id": "int", "sym": "string", "ts": "timestamp", "qty": "int", "px": "double"},
    "quotes": {"id": "int", "sym": "string", "ts": "timestamp", "qty": "int", "px": "double"},
    "bids": {"ID": "int", "ROWTIME": "timestamp", "PKEY": "int", "PRICE": "int"},
}


def translated(page: str) -> str:
    """A page's text, each block ```sql spark holding what its block ```sql <dialect> above translates to."""
    parts = page.split("```sql ")
    out = [parts[0]]
    spark = ""
    for part in parts[1:]:
        dialect, _, rest = part.partition("\n")
        body, _, tail = rest.partition("```")
        if dialect == "spark":
            body = f"{spark}\n"
        else:
            spark = translate(body.strip(), dialect="spark" if dialect == OURS else dialect, schema=SCHEMA)
        out.append(f"{dialect}\n{body}```{tail}")
    return "```sql ".join(out)


@pytest.mark.parametrize("name", PAGES)
def test_spark_sql_in_docs_is_what_runs(name: str) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    assert page.count("```sql spark") >= 1
    assert translated(page) == page


def test_pictures_of_frames_are_what_the_script_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)
    from make_frames import pictures

    drawn = pictures()
    assert {p.name: p.read_text(encoding="utf-8") for p in (DOCS / "frames").iterdir()} == drawn
    page = (DOCS / "frames.md").read_text(encoding="utf-8")
    assert all(f"(frames/{name})" in page for name in drawn)


def test_pictures_of_windows_are_what_the_script_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)
    from make_windows import pictures

    drawn = pictures()
    assert {p.name: p.read_text(encoding="utf-8") for p in (DOCS / "windows").iterdir()} == drawn
    page = (DOCS / "explain.md").read_text(encoding="utf-8")
    assert all(f"(windows/{name})" in page for name in drawn)


KINDS = ("Breaking", "Added", "Changed", "Fixed")


def test_the_changelog_is_short() -> None:
    lines = (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8").split("## 0.1.0")[0].splitlines()
    assert [line for line in lines if line.startswith("- ") and len(line) > 162] == []
    assert {line for line in lines if line.startswith("### ")} <= {f"### {kind}" for kind in KINDS}


def test_changes_are_lines_for_the_changelog() -> None:
    """`make changelog` passes over a file with another name."""
    for path in (DOCS.parent / "changes").iterdir():
        if path.name != "README.md":
            name, kind, end = path.name.rsplit(".", 2)
            assert name.startswith("+") and kind.capitalize() in KINDS and end == "md", path.name
            [line] = path.read_text(encoding="utf-8").splitlines()
            assert len(line) <= 160, path.name


def test_the_page_of_configs_is_what_the_script_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)
    from make_settings import PAGE, page

    assert PAGE.read_text(encoding="utf-8") == page(), "run python docs/make_settings.py"


def test_pictures_of_series_are_what_the_script_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)
    from make_series import pictures

    drawn = pictures()
    assert {p.name: p.read_text(encoding="utf-8") for p in (DOCS / "series").iterdir()} == drawn
    pages = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("asof.md", "gapfill.md", "aggregates.md"))
    assert all(f"(series/{name})" in pages for name in drawn)


if __name__ == "__main__":
    for page in PAGES:
        path = DOCS / page
        path.write_text(translated(path.read_text(encoding="utf-8")), encoding="utf-8")
