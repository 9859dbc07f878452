"""Values of seeds in statements."""

from __future__ import annotations

from decimal import Decimal
from typing import Any


def text_of(value: Any) -> str | None:
    """A value as text, of which the statement makes its column's type; None for NULL.

    As dbt-spark's float, an integer loses digits, and NaN is a column's name; its times lose their zone and digits.
    """
    if isinstance(value, Decimal) and abs(value.adjusted()) < 40:
        return f"{value:f}"  # no BIGINT is read from 1E+5
    return None if value is None else str(value)
