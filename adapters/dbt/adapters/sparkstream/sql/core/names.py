"""Names in SQL. Sinks use it beside Spark's driver, so it imports nothing."""

_WRITTEN = frozenset("`()")


def backticked(name: str) -> str:
    """A name in backticks, whatever is in it: the one place that writes them around a value."""
    return "`" + name.replace("`", "``") + "`"


def named(text: str) -> str:
    """A column as a config names it: in backticks where its name asks for them.

    A name that has its backticks, a field of a struct (`a.b`) and an expression such as `days(ts)` stay.
    """
    text = text.strip()
    plain = text.replace("_", "a").replace(".", "a")
    written = not _WRITTEN.isdisjoint(text)
    return text if written or (plain.isascii() and plain.isalnum() and not plain[0].isdigit()) else backticked(text)
