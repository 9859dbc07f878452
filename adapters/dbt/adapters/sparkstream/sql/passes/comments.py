"""Comments that Spark reads otherwise than the dialect of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbt.adapters.sparkstream.sql.core.source import Edit, Source

_COMMENT = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)|#[^\n]*", re.DOTALL)
"""A comment; it is looked for between tokens only."""


def comments(source: Source) -> Iterator[Edit]:
    r"""Edits OpenMLDB's `# x` to `-- x`, and `-- C:\` to `-- C:\ `: Spark joins the next line to such a comment."""
    if "#" not in source.text and "\\\n" not in source.text:
        return
    for comment in between_tokens(source):
        if comment[0].startswith("#"):
            yield Edit((comment.start(), comment.start() + 1), lambda: "--")
        if not comment[0].startswith("/*") and comment[0].endswith("\\"):
            yield Edit((comment.end() - 1, comment.end()), lambda: "\\ ")


def between_tokens(source: Source) -> Iterator[re.Match[str]]:
    """The comments of a text; SELECT's hint is a token to sqlglot."""
    at, end = 0, len(source.text)
    for start, behind in [*((token.start, token.end + 1) for token in source.tokens), (end, end)]:
        yield from _COMMENT.finditer(source.text, at, start)
        at = behind
