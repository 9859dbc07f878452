"""CTEs with windows that a stream is read through more than once, as subqueries: each reading has windows of its own.

    WITH w AS (SELECT * FROM << tumble(bid, ts, '1 minute') >>) SELECT ... FROM w JOIN (SELECT ... FROM w GROUP BY ...)
    ->  ... FROM w JOIN (SELECT ... FROM (SELECT * FROM << tumble(bid, ts, '1 minute') >>) AS w GROUP BY ...)

Spark gives the columns of the second reading other ids and forgets there that the watermark closes them: their windows
would never end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.scope import find_cte
from dbt.adapters.sparkstream.sql.core.nodes import find
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.windows import window_functions
from dbt.adapters.sparkstream.sql.passes.inlined import inlined
from dbt.adapters.sparkstream.sql.streaming.names import Streams, ctes_of


def ctes_as_subqueries(tree: exp.Expr, source: Source, streams: Streams) -> Iterator[Edit]:
    """Subqueries by which the CTEs of a query with windows on streams are read once.

    A CTE that the copies read may then be read more than once, so the function is called again on the new text.

    Raises:
        TranslationError: a name within the CTE means another one where it is read.
    """
    readings = [(table, cte) for table in find(tree, exp.Table) if (cte := find_cte(table))]
    counts = Counter(id(cte) for _, cte in readings)
    again = {id(cte) for _, cte in readings if counts[id(cte)] > 1 and streams.feeds(cte.this) and _has_windows(cte)}
    for table, cte in readings:
        if id(cte) in again:
            # One reading keeps the CTE; the others may be within CTEs that are read more than once themselves.
            yield from inlined(table, cte, source) if counts[id(cte)] > 1 else ()
            counts[id(cte)] -= 1


def _has_windows(cte: exp.CTE) -> bool:
    """True if the rows of a CTE come from windows, its own or those of CTEs that it reads."""
    return any(window_functions(each.this) for each in (cte, *ctes_of(cte.this)))
