"""The tables that the pages' queries read, as models of a dbt project; tests/unit/test_docs.py has their columns."""

from __future__ import annotations


def _rows(columns: str, *rows: str) -> str:
    return f"{{{{ config(materialized='table') }}}}\nselect {columns}\nfrom values\n  " + ",\n  ".join(rows)


TABLES = {
    "bid": _rows(
        "cast(col1 as timestamp_ntz) as bidtime, cast(col2 as decimal(10, 2)) as price, "
        "col3 as item, col4 as supplier_id",
        "('2020-04-15 08:05:00', 4, 'C', 'supplier1')",
        "('2020-04-15 08:07:00', 2, 'A', 'supplier1')",
        "('2020-04-15 08:09:00', 5, 'D', 'supplier2')",
        "('2020-04-15 08:11:00', 3, 'B', 'supplier2')",
        "('2020-04-15 08:13:00', 1, 'E', 'supplier1')",
        "('2020-04-15 08:17:00', 6, 'F', 'supplier2')",
    ),
    "click": _rows(
        "cast(col1 as timestamp_ntz) as ts, col2 as usr, col2 as user_id, col3 as dur, col4 as event",
        "('2024-01-01 10:00:00', 'ann', 5, 'login')",
        "('2024-01-01 10:20:00', 'ann', 7, 'logout')",
        "('2024-01-01 11:30:00', 'bob', 1, 'login')",
    ),
    "orders": _rows(
        "col1 as order_id, named_struct('name', col2, 'city', col3) as customer, "
        "array(named_struct('sku', col4, 'amount', col5)) as items, array(col4, 'test') as tags, "
        "map('from', col3) as labels, col6 as currency, cast(col7 as timestamp_ntz) as order_time",
        "(1, 'ann', 'Oslo', 'pen', 4, 'NOK', '2024-03-01 10:00:00')",
        "(2, 'bob', 'Rome', 'ink', 7, 'EUR', '2024-03-01 10:20:00')",
        "(3, 'ann', 'Oslo', 'cap', 2, 'SEK', '2024-03-01 11:10:00')",
    ),
    "rates": _rows(
        "col1 as currency, cast(col2 as decimal(10, 2)) as rate, cast(col3 as timestamp_ntz) as rate_time",
        "('EUR', 1.08, '2024-03-01 09:00:00')",
        "('EUR', 1.09, '2024-03-01 10:20:00')",
        "('NOK', 0.09, '2024-03-01 09:30:00')",
        "('NOK', 0.10, '2024-03-01 10:30:00')",
    ),
    "trades": _rows(
        "col1 as id, col2 as sym, cast(col3 as timestamp) as ts, col4 as qty, col5 as px",
        "(1, 'A', '2024-03-01 10:00:00', 10, 1.5D)",
        "(2, 'A', '2024-03-01 10:00:04', 20, 1.4D)",
        "(3, 'B', '2024-03-01 10:00:05', 30, 7.0D)",
        "(4, 'A', '2024-03-01 10:00:14', 40, 1.6D)",
        "(5, 'A', '2024-03-01 10:00:24.001', 50, 1.2D)",
    ),
    "quotes": _rows(
        "col1 as id, col2 as sym, cast(col3 as timestamp) as ts, col4 as qty, col5 as px",
        "(1, 'A', '2024-03-01 09:59:30', 1, 1.3D)",
        "(2, 'A', '2024-03-01 10:00:10', 1, 1.1D)",
        "(3, 'B', '2024-03-01 10:00:01', 1, 6.9D)",
    ),
    "readings_10min": _rows(
        "col1 as sensor, cast(col2 as timestamp) as window_start, cast(col3 as timestamp) as window_end, "
        "col4 as temperature, col5 as state, col6 as readings",
        "('a', '2024-05-01 08:00:00', '2024-05-01 08:10:00', 20.0D, 'on', 6)",
        "('a', '2024-05-01 08:10:00', '2024-05-01 08:20:00', 21.0D, 'on', 5)",
        "('a', '2024-05-01 08:40:00', '2024-05-01 08:50:00', 24.0D, 'off', 6)",
        "('b', '2024-05-01 08:20:00', '2024-05-01 08:30:00', 15.0D, 'on', 2)",
    ),
    "readings": _rows(
        "col1 as sensor, cast(col2 as timestamp) as ts, col3 as temperature, col4 as packets, col5 as state",
        "('a', '2024-05-01 08:00:00', 20.0D, 100, 'heating')",
        "('a', '2024-05-01 08:02:00', 22.0D, 160, 'off')",
        "('a', '2024-05-01 08:08:00', 21.0D, 10, 'heating')",
        "('a', '2024-05-01 08:11:00', 20.0D, 30, 'off')",
    ),
    "candles": _rows(
        "cast(col1 as timestamp) as window_start, cast(col2 as timestamp) as window_end, col3 as sym, col4 as open, "
        "col5 as high, col6 as low, col7 as close, col8 as volume",
        "('2024-03-01 10:00:00', '2024-03-01 10:01:00', 'A', 1.5D, 1.6D, 1.2D, 1.2D, 120)",
        "('2024-03-01 10:01:00', '2024-03-01 10:02:00', 'A', 1.3D, 1.8D, 1.3D, 1.7D, 10)",
    ),
    "bids": _rows(
        "col1 as ID, cast(col2 as timestamp) as ROWTIME, col3 as PKEY, col4 as PRICE",
        "(1, '2024-03-01 10:00:00', 1, 10)",
        "(2, '2024-03-01 10:00:30', 1, 7)",
        "(3, '2024-03-01 10:01:15', 1, 5)",
        "(4, '2024-03-01 10:06:00', 2, 9)",
    ),
}
"""Model -> its text."""
