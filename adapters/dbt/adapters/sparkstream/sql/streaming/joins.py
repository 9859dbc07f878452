"""Joins of two streams that Spark's streams lack: LEFT ANTI JOIN, and FULL JOIN of rows without a key.

A LEFT ANTI JOIN gives the rows of a LEFT JOIN that have found nothing. In a FULL JOIN, Spark takes NULL for a key like
others and keeps its rows in the state: the condition says that a row without a key goes into the table alone, at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.scope import conjuncts
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS
from dbt.adapters.sparkstream.sql.passes.framing.block import Block
from dbt.adapters.sparkstream.sql.streaming.names import Streams

_MATCHED = "__matched"


def joins_as_spark_has_them(tree: exp.Expr, source: Source, streams: Streams) -> Iterator[Edit]:
    """The edits of the anti joins and the full joins of streams."""
    for left, join in streams.joins(tree):
        if join.kind == "ANTI":
            yield from _anti(left, join, source)
        elif join.side == "FULL":
            yield from _full(join, source)


def _anti(left: exp.Expr, join: exp.Join, source: Source) -> Iterator[Edit]:
    select = join.parent
    place = source.span(join.this)
    if not isinstance(select, exp.Select) or len(select.args["joins"]) > 1:
        raise source.error(place, "an ANTI JOIN beside other joins doesn't stream", "put it into a subquery")
    name = source.name_of(join.this)
    inner = source.unaliased(join.this)
    if not name:
        raise source.error(place, "the right side of this ANTI JOIN has no name", "write AS r behind it")
    keywords = [t for t in source.tokens_in((source.span(left)[1], place[0])) if t.text.upper() in ("LEFT", "ANTI")]
    anti = keywords[-1]
    before = "" if any(t.text.upper() == "LEFT" for t in keywords) else "LEFT"
    yield Edit((anti.start, anti.end + 1), lambda: before)
    yield Edit(place, lambda: f"(SELECT *, TRUE AS {_MATCHED} FROM {source.render(inner)}) AS {name}", level=1)
    for item, (start, _) in zip(select.expressions, Block(source, select).projections, strict=True):
        if isinstance(item, exp.Star):
            yield Edit((start, start + 1), lambda: f"{source.name_of(left)}.*")
    where = select.args.get("where")
    test = f"{name}.{_MATCHED} IS NULL"
    on = join.args.get("on")
    if where is not None:
        condition = source.span(where.this)
        yield Edit(condition, lambda: f"({source.render(condition)}) AND {test}", level=1)
    elif on is not None:
        span = source.span(on)
        yield Edit(span, lambda: f"{source.render(span)} WHERE {test}", level=3)
    else:
        raise source.error(place, "an ANTI JOIN with USING, or a NATURAL one, doesn't stream", "write ON l.k = r.k")


def _full(join: exp.Join, source: Source) -> Iterator[Edit]:
    if join.args.get("using") or join.method == "NATURAL":
        raise source.error(
            join.this,
            "a FULL JOIN with USING, or a NATURAL one, doesn't stream",
            "name the columns: ON l.k = r.k, and coalesce(l.k, r.k) AS k in the SELECT list",
        )
    on = join.args.get("on")
    keys = [term.left for term in conjuncts(on) if isinstance(term, exp.EQ)]
    # The bound of a window is never NULL.
    keys = [key for key in keys if not (isinstance(key, exp.Column) and key.name.casefold() in WINDOW_COLUMNS)]

    def tested() -> str:
        texts = [source.rendered(key) if isinstance(key, exp.Column) else f"({source.rendered(key)})" for key in keys]
        return "".join([source.rendered(join.args["on"]), *(f" AND {text} IS NOT NULL" for text in texts)])

    if keys:
        yield Edit(source.span(join.args["on"]), tested, level=3)
