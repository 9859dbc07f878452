"""What stands above the part of a query that runs as a stream: it has the closed rows of one micro-batch at a time.

So it can't read another stream, or make windows of these rows. Rows of a table that no closed row has to match would
come again with every micro-batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.aggregates import has_aggregate
from dbt.adapters.sparkstream.sql.core.scope import find_cte
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.streaming.names import Streams, ctes_of, within


@dataclass(frozen=True)
class Part:
    """What reads the closed rows, for messages.

    Attributes:
        name: such as `a SESSION`.
        hint: what to do instead.
    """

    name: str
    hint: str


def check_around(
    tree: exp.Expr, reader: exp.Expr, below: Sequence[exp.Expr], source: Source, streams: Streams, part: Part
) -> None:
    """Refuses what would need rows beside the closed ones of a micro-batch.

    Args:
        tree: the query.
        reader: the window function, or the query with OVER, that reads the closed rows.
        below: what runs as a stream.
        part: what `reader` is.

    Raises:
        TranslationError: what it is, and what to do instead.
    """
    readers = []
    _check_beside(reader, source, part)
    for table in tree.find_all(exp.Table):
        if any(within(table, node) for node in below) or table.this is reader or not streams.feeds(table):
            continue
        if isinstance(table.this, WindowFunction):
            message = f"windows over the rows of {part.name} don't stream in the same model"
            raise source.error(source.span(table.this), message, part.hint)
        cte = find_cte(table)
        if cte is None or not reads_from(cte.this, reader):
            message = f"{part.name} and another stream in the same model don't stream"
            raise source.error(source.span(table), message, part.hint)
        readers.append((cte, table))
        _check_beside(table, source, part)
    for cte, table in readers:
        if sum(other is cte for other, _ in readers) > 1:
            raise source.error(source.span(table), f"the rows of {part.name} are read twice here", part.hint)


def _check_beside(read: exp.Expr, source: Source, part: Part) -> None:
    """Refuses rows of a table that would be rows of every micro-batch, as no row of the stream has to match them."""
    for relation in _relations(read):
        select = relation.find_ancestor(exp.Select)
        joins = (select.args.get("joins") or []) if select is not None else []
        at = next((i for i, join in enumerate(joins) if join.this is relation), -1)
        keeping = [join for join in joins[at + 1 :] if join.side in ("RIGHT", "FULL")]
        if at >= 0 and (joins[at].side in ("LEFT", "FULL") or joins[at].kind in ("SEMI", "ANTI")):
            keeping.append(joins[at])
        if keeping:
            raise source.error(
                source.span(keeping[0].this),
                "this join keeps rows of a table, which would come again with every micro-batch",
                f"write {part.name.removeprefix('a ')} first, and JOIN or LEFT JOIN behind it",
            )
    operation = read.find_ancestor(exp.SetOperation)
    if operation is not None:
        message = f"the rows of {part.name} and other rows beside them don't stream in the same model"
        raise source.error(source.span(operation), message, part.hint)


def _relations(read: exp.Expr) -> Iterator[exp.Expr]:
    """What reads some rows in FROM, and the subqueries around that."""
    at: exp.Expr | None = read
    while at is not None and not isinstance(at, exp.CTE):
        if isinstance(at, (exp.Table, exp.Subquery)) or at is read:
            yield at
        at = at.parent


def reads_from(node: exp.Expr, other: exp.Expr) -> bool:
    """Whether a node reads from another one, within itself or through CTEs."""
    return any(within(other, read) for read in (node, *ctes_of(node)))


def grouping_keys(select: exp.Select, group: exp.Group) -> list[exp.Expr]:
    """What a query is grouped by, with what a number or the name of an output column stands for."""
    if group.args.get("all"):
        return [p for p in select.expressions if not has_aggregate(p)]
    outputs = {p.alias.casefold(): p.unalias() for p in select.expressions if isinstance(p, exp.Alias)}
    keys: list[exp.Expr] = [group]
    for key in group.expressions:
        if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.name) <= len(select.expressions):
            keys.append(select.expressions[int(key.name) - 1])
        elif isinstance(key, exp.Column) and key.name.casefold() in outputs:
            keys.append(outputs[key.name.casefold()])
    return keys
