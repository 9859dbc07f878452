"""Values and names as Spark SQL writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from dbt.adapters.sparkstream.sql.core.names import backticked

_COLUMN = re.compile(r"(?!\d)\w+|`(?:[^`]|``)+`", re.ASCII)


def string_literal(text: str) -> str:
    """A text as a literal of Spark SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def string_map(texts: Mapping[str, str]) -> str:
    """Texts by name, such as options of a function, as a MAP of Spark SQL."""
    return f"map({', '.join(string_literal(text) for pair in texts.items() for text in pair)})"


def is_column(text: str) -> bool:
    """Whether a text is the name of one column as Spark SQL has it: `seq`, or in backticks."""
    return _COLUMN.fullmatch(text) is not None


def quoted(name: str) -> str:
    """A name as it can stand in SQL."""
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else backticked(name)


def read_time(text: str) -> datetime:
    """A time as Spark and JSON write it, such as `2024-03-01T10:00:00.5Z`.

    Python 3.10 takes fractions of three or six digits only, and no Z; from 3.11 on it takes 20240301 for a day.

    Raises:
        ValueError: the text is no time.
    """
    whole, point, rest = text.replace("Z", "+00:00").partition(".")
    zone = rest.lstrip("0123456789")
    digits = rest.removesuffix(zone)
    if "-" not in text[1:] or (point and not digits):
        raise ValueError(text)
    return datetime.fromisoformat(f"{whole}.{digits[:6]:0<6}{zone}" if point else whole)
