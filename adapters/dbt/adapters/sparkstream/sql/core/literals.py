"""Values, names and paths as Spark reads them. Sinks use it in the driver's worker, so it imports no sqlglot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

_COLUMN = re.compile(r"(?!\d)\w+|`(?:[^`]|``)+`", re.ASCII)


def backticked(name: str) -> str:
    """A name in backticks, whatever is in it: the one place that writes them around a value."""
    return "`" + name.replace("`", "``") + "`"


def unquoted(name: str) -> str:
    """A name as a table has it, without the backticks that SQL has around it."""
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def named(text: str) -> str:
    """A column as a config names it: in backticks where its name asks for them.

    A name that has its backticks, a field of a struct (`a.b`) and an expression such as `days(ts)` stay. A text with a
    backtick or a bracket that has no other one is a name.
    """
    text = text.strip()
    parts = text.split("`")
    plain = "a".join(parts[::2]).replace("_", "a").replace(".", "a")
    is_sql = plain.isascii() and plain.isalnum() and not plain[0].isdigit()
    if "(" in plain:
        is_sql = plain.find("(") < plain.find(")") and plain.count("(") == plain.count(")")
    return text if is_sql and len(parts) % 2 else backticked(text)


def exactly(path: str) -> str:
    """A path of which Spark takes nothing for a wildcard: `a[b]` is no `ab`."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)


def string_literal(text: str) -> str:
    """A text as a literal of Spark SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def string_map(texts: Mapping[str, str]) -> str:
    """Texts by name, such as options of a function, as a MAP of Spark SQL."""
    return f"map({', '.join(string_literal(text) for pair in texts.items() for text in pair)})"


def is_column(text: str) -> bool:
    """True if a text is one column's name in Spark SQL: `seq`, or a name in backticks."""
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
