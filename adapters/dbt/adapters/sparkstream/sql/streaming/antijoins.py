"""LEFT ANTI JOIN of two streams, which Spark doesn't have: the rows of a LEFT JOIN that have found nothing."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.streaming.names import Streams, unaliased

MATCHED = "__matched"


class AntiJoins:
    """Edits the anti joins of a statement."""

    def __init__(self, source: Source, streams: Streams) -> None:
        self._source = source
        self._streams = streams

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        for left, join in self._streams.joins(tree):
            if join.kind == "ANTI":
                yield from self._join(left, join)

    def _join(self, left: exp.Expr, join: exp.Join) -> Iterator[Edit]:
        source = self._source
        select = join.parent
        if not isinstance(select, exp.Select) or len(select.args["joins"]) > 1:
            raise source.error(
                source.span(join.this), "an ANTI JOIN beside other joins doesn't stream", "put it into a subquery"
            )
        name = join.this.alias_or_name
        place = source.span(join.this)
        inner = unaliased(source, join.this)
        if not name:
            raise source.error(place, "the right side of this ANTI JOIN has no name", "write AS r behind it")
        keywords = [t for t in source.tokens_in((source.span(left)[1], place[0])) if t.text.upper() in ("LEFT", "ANTI")]
        anti = keywords[-1]
        before = "" if any(t.text.upper() == "LEFT" for t in keywords) else "LEFT"
        yield Edit((anti.start, anti.end + 1), lambda: before)
        yield Edit(place, lambda: f"(SELECT *, TRUE AS {MATCHED} FROM {source.render(inner)}) AS {name}", level=1)
        for star in select.expressions:
            if isinstance(star, exp.Star) and not star.args.get("except_"):
                yield Edit(self._star(select), lambda: f"{left.alias_or_name}.*")
        where = select.args.get("where")
        test = f"{name}.{MATCHED} IS NULL"
        if where is not None:
            condition = source.span(where.this)
            yield Edit(condition, lambda: f"({source.render(condition)}) AND {test}", level=1)
        else:
            on = source.span(join.args["on"])
            yield Edit(on, lambda: f"{source.render(on)} WHERE {test}", level=3)

    def _star(self, select: exp.Select) -> tuple[int, int]:
        start = self._source.span(select)[0]
        token = next(t for t in self._source.tokens_in((start, len(self._source.text))) if t.text == "*")
        return token.start, token.end + 1
