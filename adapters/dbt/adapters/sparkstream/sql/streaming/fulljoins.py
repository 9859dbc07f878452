"""FULL JOIN of two streams: Spark finds the rows of the other side by their keys, and takes NULL for a key like others.

It leaves rows without a key out of the state only on the side of which a join doesn't keep all rows. Of a FULL JOIN
there is none, so the condition says it: a row of one side without a key goes into the table alone, at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.scope import conjuncts
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS
from dbt.adapters.sparkstream.sql.streaming.names import Streams


class FullJoins:
    """Edits the full joins of a statement."""

    def __init__(self, source: Source, streams: Streams) -> None:
        self._source = source
        self._streams = streams

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        for _, join in self._streams.joins(tree):
            if join.side != "FULL":
                continue
            if join.args.get("using") or join.method == "NATURAL":
                raise self._source.error(
                    self._source.span(join.this),
                    "a FULL JOIN with USING, or a NATURAL one, doesn't stream",
                    "name the columns: ON l.k = r.k, and coalesce(l.k, r.k) AS k in the SELECT list",
                )
            yield from self._without_nulls(join)

    def _without_nulls(self, join: exp.Join) -> Iterator[Edit]:
        on = join.args.get("on")
        if on is None:
            return
        keys = [term.left for term in conjuncts(on) if isinstance(term, exp.EQ) and not _is_bound(term.left)]
        if keys:
            tests = (f" AND {self._text(key)} IS NOT NULL" for key in keys)
            span = self._source.span(on)
            yield Edit(span, lambda: self._source.render(span) + "".join(tests), level=3)

    def _text(self, key: exp.Expr) -> str:
        """A key as it is written, in parentheses where it is more than a column."""
        text = self._source.render(self._source.span(key))
        return text if isinstance(key, exp.Column) else f"({text})"


def _is_bound(key: exp.Expr) -> bool:
    """Whether a key is a bound of a window, which is never NULL."""
    return isinstance(key, exp.Column) and key.name.casefold() in WINDOW_COLUMNS
