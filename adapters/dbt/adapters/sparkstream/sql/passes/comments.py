"""Comments that Spark reads otherwise than the dialect of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbt.adapters.sparkstream.sql.core.source import Edit, Source

_COMMENT = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)|#[^\n]*", re.DOTALL)
"""A comment; it is looked for between tokens only."""


def comments(source: Source) -> Iterator[Edit]:
    r"""`-- x` of OpenMLDB's `# x`, and `-- C:\ ` of `-- C:\`: Spark takes the line behind such a backslash in."""
    text = source.text
    if "#" not in text and "\\\n" not in text:
        return
    at = 0
    ends = [(token.start, token.end + 1) for token in source.tokens_in((0, len(text)))]
    for start, end in [*ends, (len(text), 0)]:
        for comment in _COMMENT.finditer(text, at, start):
            if comment[0].startswith("#"):
                yield Edit((comment.start(), comment.start() + 1), lambda: "--")
            if not comment[0].startswith("/*") and comment[0].endswith("\\"):
                yield Edit((comment.end() - 1, comment.end()), lambda: "\\ ")
        at = end
