"""Values and names as Spark SQL writes them."""

from __future__ import annotations

import re

_COLUMN = re.compile(r"(?!\d)\w+|`(?:[^`]|``)+`", re.ASCII)


def string_literal(text: str) -> str:
    """A text as a literal of Spark SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def is_column(text: str) -> bool:
    """Whether a text is the name of one column as Spark SQL has it: `seq`, or in backticks."""
    return _COLUMN.fullmatch(text) is not None


def quoted(name: str) -> str:
    """A name as it can stand in SQL."""
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else "`" + name.replace("`", "``") + "`"
