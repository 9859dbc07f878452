"""The fenced blocks of the README and of the pages in docs/."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = {
    path.relative_to(ROOT).as_posix(): path
    for path in (
        *(ROOT / "README.md", ROOT / "CONTRIBUTING.md"),
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "examples").glob("*/README.md")),
    )
}

_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>not run|run as|given)(?:: (?P<why>.*?))? -->\n)?"
    r'^(?P<indent> *)```(?P<language>\w*)(?: (?P<dialect>\w+)(?!=))?(?: title="(?P<title>[^"]*)")?\n'
    r"(?P<text>.*?)^(?P=indent)```$",
    re.M | re.S,
)


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        page: the page it is on, relative to the repository.
        line: its first line on the page.
        language: what it is, such as `sql`; empty for output.
        dialect: the dialect after `sql`, or "".
        title: the file that it is, or "".
        mark: `not run`, from a comment in the line above, or "".
        why: the reason that the comment gives.
        text: what is in it.
    """

    page: str
    line: int
    language: str
    dialect: str
    title: str
    mark: str
    why: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    return list(_blocks(page, PAGES[page].read_text(encoding="utf-8")))


def _blocks(page: str, text: str) -> Iterator[Block]:
    for found in _BLOCK.finditer(text):
        parts = {name: found[name] or "" for name in ("language", "dialect", "title", "mark", "why", "text")}
        yield Block(page, text.count("\n", 0, found.start("language")) + 1, **parts)
