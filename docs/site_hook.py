"""Pages that MkDocs can't make itself, as they are made of other files of this repository, and links to these.

The reference is written from the macros' YAML, the commands' help and the docstrings; the start page is the README.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
from reference import reference_pages

ROOT = Path(__file__).parents[1]
REPOSITORY = "https://github.com/dbt-sparkstream/dbt-sparkstream/blob/main/"
COPIED = {
    "index.md": "README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "flights.md": "examples/flights/README.md",
    "aircraft.md": "examples/aircraft/README.md",
}
"""Page -> the file of the repository that it is."""

ALONE = {"index.md"}
"""Pages that are a section of their own."""

DIALECTS = {"flink": "Flink", "openmldb": "OpenMLDB", "sqlstream": "SQLstream", "spark": "Spark"}
"""How a block ```sql <dialect> is headed."""

log = get_plugin_logger("docs")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Puts pages in the place of the stars of the navigation."""
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    there |= set(COPIED) | set(reference_pages())
    named = set(_named(config.nav))
    config.nav = _with_pages(config.nav or [], sorted(there - named))
    return config


def _named(entry: Any) -> Iterator[str]:
    """The pages that a navigation names, without those with a star."""
    if isinstance(entry, str):
        if "*" not in entry:
            yield entry
    else:
        for inner in entry.values() if isinstance(entry, dict) else entry:
            yield from _named(inner)


def _with_pages(entry: Any, rest: list[str]) -> Any:
    if isinstance(entry, dict):
        return {title: _with_pages(inner, rest) for title, inner in entry.items()}
    if isinstance(entry, list):
        inner = [_with_pages(one, rest) for one in entry]
        return [page for one in inner for page in (one if isinstance(one, list) else [one])]
    if "*" not in entry:
        return entry
    pattern = PurePosixPath(entry)
    return [page for page in rest if PurePosixPath(page).parent == pattern.parent]


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Adds the pages that aren't in docs/."""
    pages = {page: (ROOT / source).read_text(encoding="utf-8") for page, source in COPIED.items()}
    for page, text in (pages | reference_pages()).items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Makes a page that GitHub shows too one of this site."""
    name = page.file.src_uri
    page.meta.setdefault("hide", _hidden(name))
    source = ROOT / COPIED[name] if name in COPIED else ROOT / "docs" / name

    def link(found: re.Match[str]) -> str:
        target, anchor = found["target"], found["anchor"] or ""
        path = (source.parent / unquote(target)).resolve()
        if not path.exists():
            if files.get_file_from_path(target) is None and not name.startswith("reference/"):
                log.warning(f"{name}: {target} isn't there")
            return found[0]
        return f"]({_address(path, name)}{anchor})"

    markdown = re.sub(r"\]\((?P<target>(?!\w+:)[^)#\s]+)(?P<anchor>#[^)]*)?\)", link, markdown)
    return re.sub(r"^```sql (\w+)$", lambda m: f'```sql title="{DIALECTS.get(m[1], m[1])}"', markdown, flags=re.M)


def _hidden(page: str) -> list[str]:
    """What isn't beside a page that is a section of its own, or that needs the room for two queries."""
    if page.startswith("migrate/"):
        return ["toc"]
    return ["navigation"] if page in ALONE else []


def _address(path: Path, page: str) -> str:
    """Where a file is that a page links to: on this site, or in the repository."""
    inside = path.relative_to(ROOT).as_posix()
    copied = {source: name for name, source in COPIED.items()}
    target = copied.get(inside) or (
        inside.removeprefix("docs/") if inside.startswith("docs/") and path.is_file() else ""
    )
    if not target:
        return REPOSITORY + inside
    return "../" * page.count("/") + target
