"""Part of a query above the stream: it reads the emitted rows of one micro-batch at a time.

So it can't read another stream, or make windows of these rows. Rows of a table that no closed row has to match would
come again with every micro-batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.names.scope import find_cte
from dbt.adapters.sparkstream.sql.core.nodes import enclosing, has_aggregate, within
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.passes.forms import normal_form
from dbt.adapters.sparkstream.sql.streaming.asofjoins import alone_with_a_table, sides_of
from dbt.adapters.sparkstream.sql.streaming.names import Streams, ctes_of


@dataclass(frozen=True)
class Part:
    """Part of a query that reads the closed rows, for messages.

    Attributes:
        name: such as `a SESSION`.
        hint: what to do instead.
    """

    name: str
    hint: str

    def needs_several(self, node: exp.Expr, source: Source) -> TranslationError:
        """The error for a node above the part, if the node needs rows of several micro-batches."""
        message = f"this needs rows of several micro-batches, as it stands above {self.name}"
        return source.error(node, message, self.hint)


def check_around(
    tree: exp.Expr, reader: exp.Expr, below: Sequence[exp.Expr], source: Source, streams: Streams, part: Part
) -> None:
    """Refuses constructs that need more rows than the emitted rows of a micro-batch.

    Args:
        tree: the query.
        reader: the window function, or the query with OVER, that reads the closed rows; or these rows themselves.
        below: what runs as a stream.
        part: what `reader` is.

    Raises:
        TranslationError: what it is, and what to do instead.
    """
    readers = []
    _check_way(reader, source, streams, part)
    for table in tree.find_all(exp.Table):
        if any(within(table, node) for node in below) or table.this is reader or not streams.feeds(table):
            continue
        if isinstance(table.this, WindowFunction):
            message = f"windows over the rows of {part.name} don't stream in the same model"
            raise source.error(table.this, message, part.hint)
        cte = find_cte(table)
        if cte is None or not reads_from(cte.this, reader):
            message = f"{part.name} and another stream in the same model don't stream"
            raise source.error(table, message, part.hint)
        readers.append((cte, table))
        _check_way(table, source, streams, part)
    for cte, table in readers:
        if sum(other is cte for other, _ in readers) > 1:
            raise source.error(table, f"the rows of {part.name} are read twice here", part.hint)


_READERS = (exp.From, exp.Join, exp.Lateral, exp.SetOperation, exp.Subquery, exp.Table, WindowFunction)
"""Nodes that pass on the rows of a query."""


def _check_way(read: exp.Expr, source: Source, streams: Streams, part: Part) -> None:
    """Refuses operations that need other rows, too, on the way of some rows to the result or to their CTE."""
    for node in _up(read):
        _check_alone(node, source, part)
        around = node.parent
        if isinstance(around, exp.SetOperation) and not _is_as_of_a_time(around, streams):
            message = f"the rows of {part.name} and other rows beside them don't stream in the same model"
            raise source.error(around, message, part.hint)
        _check_joins(node, source, part)
        is_passed_on = isinstance(around, _READERS) and node.arg_key in ("this", "expression")
        if isinstance(node, exp.Query) and not is_passed_on:
            # It stands in a condition, or for a value: the rows of the result come from somewhere else.
            message = f"rows of a table that {part.name} picks would come again with every micro-batch"
            raise source.error(node, message, f"read {part.name} in FROM, and JOIN the table to it")


def _up(read: exp.Expr) -> Iterator[exp.Expr]:
    """Nodes from some rows up to the place where they leave their CTE or the query: each reads the one before."""
    at = read
    while at.parent is not None and not isinstance(at.parent, exp.CTE):
        yield at
        at = at.parent


def _check_alone(relation: exp.Expr, source: Source, part: Part) -> None:
    """Refuses PIVOT and a sample by rows: they need all rows at once."""
    pivots = [pivot for pivot in relation.args.get("pivots") or [] if not pivot.args.get("unpivot")]
    sample = relation.args.get("sample")
    if pivots or (sample is not None and sample.args.get("size")):
        raise part.needs_several(relation, source)


def _check_joins(relation: exp.Expr, source: Source, part: Part) -> None:
    """Refuses rows of a table that would be rows of every micro-batch, as no row of the stream has to match them."""
    # FROM (a JOIN b ON ...): the joins belong to the first relation.
    later = [] if isinstance(relation, exp.Select) else list(relation.args.get("joins") or [])
    around, keeping = relation.parent, []
    if isinstance(around, (exp.From, exp.Join)) and around.parent is not None:
        joins = around.parent.args.get("joins") or []
        later += joins[(around.index or 0) + 1 :] if isinstance(around, exp.Join) else joins
    if isinstance(around, exp.Join) and (around.side in ("LEFT", "FULL") or around.kind in ("SEMI", "ANTI")):
        keeping.append(around)
    keeping += [join for join in later if join.side in ("RIGHT", "FULL")]
    if keeping:
        raise source.error(
            keeping[0].this,
            "this join keeps rows of a table, which would come again with every micro-batch",
            f"write {part.name.removeprefix('a ')} first, and JOIN or LEFT JOIN behind it",
        )


def _is_as_of_a_time(operation: exp.SetOperation, streams: Streams) -> bool:
    """True if a UNION ALL of a table's and a stream's rows serves a join as of a time alone."""
    select = enclosing(operation, exp.Select)
    if select is None or all(side is not operation.this for side in sides_of(select)):
        return False
    return alone_with_a_table(select, streams) is not None


def reads_from(node: exp.Expr, other: exp.Expr) -> bool:
    """True if `node` reads from `other`, within itself or through CTEs."""
    return any(within(other, read) for read in (node, *ctes_of(node)))


def grouping_keys(select: exp.Select, group: exp.Group) -> list[exp.Expr]:
    """The keys that a query is grouped by in each of its grouping sets, with what a number or a name stands for."""
    if group.args.get("all"):
        return [p.unalias() for p in select.expressions if not has_aggregate(p)]
    if any(group.args.get(kind) for kind in ("rollup", "cube", "grouping_sets")):
        return []
    outputs = {p.alias.casefold(): p.unalias() for p in select.expressions if isinstance(p, exp.Alias)}
    keys: list[exp.Expr] = []
    for key in (part for item in group.expressions for part in _in_each_set(item)):
        if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.name) <= len(select.expressions):
            keys.append(select.expressions[int(key.name) - 1].unalias())
            continue
        keys.append(key)
        if isinstance(key, exp.Column) and key.name.casefold() in outputs:
            keys.append(outputs[key.name.casefold()])
    return keys


def _in_each_set(item: exp.Expr) -> list[exp.Expr]:
    """The keys that an item of GROUP BY has in each of the grouping sets that it makes: ROLLUP and CUBE have none."""
    if isinstance(item, (exp.Rollup, exp.Cube)):
        return []
    if isinstance(item, exp.GroupingSets):
        first, *others = [_in_each_set(inner) for inner in item.expressions]
        forms = [{normal_form(key) for key in keys} for keys in others]
        return [key for key in first if all(normal_form(key) in keys for keys in forms)]
    if isinstance(item, exp.Tuple):
        return [key for inner in item.expressions for key in _in_each_set(inner)]
    return [item.unnest()]
