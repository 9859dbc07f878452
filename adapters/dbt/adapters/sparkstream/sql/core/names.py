"""Names in SQL. Sinks use it beside Spark's driver, so it imports nothing."""


def backticked(name: str) -> str:
    """A name in backticks, whatever is in it: the one place that writes them around a value."""
    return "`" + name.replace("`", "``") + "`"
