"""Comments that begin with # in OpenMLDB's SQL, and with -- in Spark's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbt.adapters.sparkstream.sql.core.source import Edit, Source

_COMMENT = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)|#[^\n]*", re.DOTALL)
"""A comment; it is looked for between tokens only."""


def hash_comments(source: Source) -> Iterator[Edit]:
    """`-- x` of `# x`."""
    at = 0
    ends = [(token.start, token.end + 1) for token in source.tokens_in((0, len(source.text)))]
    for start, end in [*ends, (len(source.text), 0)]:
        for comment in _COMMENT.finditer(source.text, at, start):
            if comment[0].startswith("#"):
                yield Edit((comment.start(), comment.start() + 1), lambda: "--")
        at = end
