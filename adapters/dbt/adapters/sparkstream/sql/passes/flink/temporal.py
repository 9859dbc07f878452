"""Temporal joins of Flink SQL: each row with the version of another table that was valid at its time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.paths import is_called, names_of, output_name
from dbt.adapters.sparkstream.sql.core.names.scope import conjuncts, find_cte, sources
from dbt.adapters.sparkstream.sql.core.nodes import enclosing, find
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter, handles

_HINT = (
    "say its key and its time in the same statement: WITH versions AS (SELECT k, x, ts FROM (SELECT *, ROW_NUMBER() "
    "OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM t) WHERE rn = 1) ... JOIN versions FOR SYSTEM_TIME AS OF ..."
)
_JOIN = "write a JOIN versions FOR SYSTEM_TIME AS OF a.ts ON a.k = versions.k"


@dataclass(frozen=True)
class Versioned:
    """A query that keeps the last row for each key, which Flink reads as a table with versions.

    Attributes:
        query: the query.
        keys: names of its key columns.
        time: name of the column from when on a version is valid.
        number: the `ROW_NUMBER() OVER (...)` of its rows.
        condition: the `WHERE rn = 1` that keeps the last one.
    """

    query: exp.Select
    keys: tuple[str, ...]
    time: str
    number: exp.Window
    condition: exp.Where


@dataclass(frozen=True)
class TemporalJoin:
    """A join with `FOR SYSTEM_TIME AS OF`.

    Attributes:
        left: the input that has the time.
        keys: its columns that equal the keys of the versions.
        equations: the terms of `on` that say so.
    """

    table: exp.Table
    on: exp.Expr
    left: exp.Expr
    time: exp.Column
    keys: list[exp.Column]
    equations: list[exp.Expr]
    cte: exp.CTE
    versions: Versioned

    @property
    def column(self) -> str:
        """The column of the left input that holds the version of a row."""
        return quoted(f"__{self.table.alias_or_name}")


def versioned(query: exp.Expr) -> Versioned | None:
    """A query as a table with versions: rows with ROW_NUMBER() = 1 per key, the latest first; None for any other."""
    where = query.args.get("where") if isinstance(query, exp.Select) else None
    beside = ("group", "having", "limit", "distinct", "joins", "order", "qualify")
    if not isinstance(query, exp.Select) or where is None or any(query.args.get(part) for part in beside):
        return None
    inner = [s.this for s in sources(query) if isinstance(s, exp.Subquery) and isinstance(s.this, exp.Select)]
    one = where.this.unnest()
    kept = isinstance(one, exp.EQ) and isinstance(one.left, exp.Column) and one.right == exp.Literal.number(1)
    if len(inner) != 1 or not kept:
        return None
    named = {p.alias.casefold(): p.this for p in inner[0].expressions if isinstance(p, exp.Alias)}
    window = named.get(one.left.name.casefold())
    if not isinstance(window, exp.Window) or window.this.name.upper() != "ROW_NUMBER":
        return None
    order = window.args["order"].expressions if window.args.get("order") else []
    keys = window.args.get("partition_by")
    if len(order) != 1 or not order[0].args.get("desc") or not keys:
        return None
    names = [_passed(query, inner[0], column) for column in (*keys, order[0].this)]
    known = [name for name in names if name is not None]
    return Versioned(query, tuple(known[:-1]), known[-1], window, where) if len(known) == len(names) else None


def _passed(query: exp.Select, inner: exp.Select, column: exp.Expr) -> str | None:
    """The name under which a query gives a column of its inner query's input."""
    if not isinstance(column, exp.Column):
        return None
    name: str | None = column.name
    for select in (inner, query):
        found = [
            p
            for p in select.expressions
            if isinstance(p.unalias(), exp.Column) and p.unalias().name.casefold() == (name or "").casefold()
        ]
        star = any(p.is_star for p in select.expressions)
        name = output_name(found[0]) if found else name if star else None
        if name is None:
            return None
    return name


class TemporalJoins(Rewriter):
    """Edits joins with `FOR SYSTEM_TIME AS OF`.

    Rows and versions are put together and sorted once by key and time: the last version before a row is its own.
    """

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self._written: set[int] = set()

    @handles(exp.Version)
    def _version(self, version: exp.Version) -> Iterator[Edit]:
        table = version.parent
        assert isinstance(table, exp.Table)
        join, time = table.parent, version.expression
        select = enclosing(table, exp.Select)
        if not isinstance(join, exp.Join) or select is None:
            return  # a table as it was at a time, as Spark has it
        if not isinstance(time, exp.Column):
            self.refuse(time or table, "a temporal join takes a time column of its left side", _JOIN)
        on, side = join.args.get("on"), join.side
        if on is None or side in ("RIGHT", "FULL") or join.kind not in ("", "INNER", "OUTER"):
            self.refuse(table, "a temporal join is JOIN or LEFT JOIN, and has ON", _JOIN)
        if on.find(exp.Query):
            self.refuse(on, "a query can't stand in the condition of a temporal join", "put it in WHERE")
        found = self.resolver.find(time, select)
        if found is not None and found.origin == "proctime":
            self.refuse(time, "processing time has no meaning in batch", "join without FOR SYSTEM_TIME AS OF")
        cte = find_cte(table)
        versions = versioned(cte.this) if cte is not None else None
        if cte is None or versions is None:
            self.refuse(table, f"the versions of {table.name} aren't known", _HINT)
        if cte.alias_column_names or not self.resolver.columns(table).complete:
            self.refuse(table, f"the columns of {cte.alias} are to be listed", _HINT)
        inputs = sources(select)
        left = self._owner(time, list(takewhile(lambda s: s is not table, inputs)))
        pairs = [self._key(table, key, on, left) for key in versions.keys]
        keys, equations = [key for key, _ in pairs], [term for _, term in pairs]
        yield from self._edits(join, TemporalJoin(table, on, left, time, keys, equations, cte, versions))

    def _owner(self, column: exp.Column, inputs: list[exp.Expr]) -> exp.Expr:
        """The input that a column of the left side is of."""
        names = names_of(column) or []
        owners = [s for s in inputs if len(names) > 1 and is_called(s, names[:1])]
        owners = owners or [s for s in inputs if self.resolver.columns(s).find(names[0])] or inputs
        if len(owners) != 1 or not owners[0].alias_or_name:
            self.refuse(column, "it isn't known which input this is a column of", f"write a.{column.name}")
        return owners[0]

    def _key(self, table: exp.Table, key: str, on: exp.Expr, left: exp.Expr) -> tuple[exp.Column, exp.Expr]:
        """The column of the left side that equals a key column of the versions, and the term that says so."""
        alias = table.alias_or_name.casefold()
        for term in conjuncts(on):
            if not isinstance(term, (exp.EQ, exp.NullSafeEQ)):
                continue
            for own, other in ((term.left, term.right), (term.right, term.left)):
                names = [name.casefold() for name in names_of(own) or []]
                if names == [alias, key.casefold()] and isinstance(other, exp.Column):
                    path = names_of(other) or []
                    if not (is_called(left, path[:1]) or self.resolver.columns(left).find(path[0])):
                        self.refuse(
                            other,
                            f"the key of a temporal join is of the input of its time, {left.alias_or_name}",
                            "put the join on its left into a subquery",
                        )
                    return other, term
        self.refuse(on, f"a temporal join equates the key: {key}", f"write ON a.{key} = {table.alias_or_name}.{key}")

    def _edits(self, join: exp.Join, of: TemporalJoin) -> Iterator[Edit]:
        place = self.source.span(of.left)
        level = 10 + (join.index or 0)
        yield Edit(place, lambda: self._with_version(place, of), level=level)
        span = self.join_start(self.source.span(of.table)), self.source.span(of.on)[1]
        yield from self._references(of)
        outer = "_OUTER" if join.side == "LEFT" else ""

        def text() -> str:
            version = f"ARRAY({quoted(of.left.alias_or_name)}.{of.column})"
            rows = f"INLINE{outer}(FILTER({version}, __row -> {self.text(of.on)}))"
            return f"CROSS JOIN LATERAL {rows} AS {quoted(of.table.alias_or_name)}"

        yield Edit(span, text, level=1)
        select = enclosing(join, exp.Select)
        for star in select.expressions if select is not None else ():
            if star.is_star and (not isinstance(star, exp.Column) or is_called(of.left, (names_of(star) or [])[:-1])):
                yield Edit(self.source.span(star), partial(self._without, star, of.column), level=level)
        if id(of.cte) not in self._written:
            self._written.add(id(of.cte))
            yield self._all_versions(of.cte, of.versions)

    def _without(self, star: exp.Expr, name: str) -> str:
        """A star without the column that holds versions."""
        text = self.text(star)
        if text.endswith(")") and " EXCEPT (" in text:
            return f"{text[:-1]}, {name})"
        return f"{text} EXCEPT ({name})" if text.endswith("*") else text

    def _references(self, of: TemporalJoin) -> Iterator[Edit]:
        """Columns of the versions in ON, as fields of a version, which has the keys of its row, NULL or not."""
        for term in of.equations:
            yield Edit(self.source.span(term), lambda: "__row IS NOT NULL", level=1)
        own = {column.name.casefold() for column in self.resolver.columns(of.table).items}
        keys = {id(column) for term in of.equations for column in term.find_all(exp.Column)}
        for column in of.on.find_all(exp.Column):
            if id(column) in keys:
                continue
            names = names_of(column) or []
            qualified = len(names) > 1 and is_called(of.table, names[:1])
            bare = len(names) == 1 and names[0].casefold() in own
            if qualified or bare:
                path = ".".join(["__row", *map(quoted, names[qualified:])])
                yield Edit.to(self.source.span(column), path)

    def _with_version(self, place: Span, of: TemporalJoin) -> str:
        """The left input with the version that is valid at each row's time."""
        written = self.source.written
        numbers = [f"__key{i}" for i in range(len(of.keys))]
        left = [f"{written(key)} AS {number}" for key, number in zip(of.keys, numbers, strict=True)]
        right = [quoted(key) for key in of.versions.keys]
        both = [
            f"SELECT STRUCT(*) AS __row, NULL AS __version, {', '.join(left)},",
            f"  {written(of.time)} AS __time, TRUE AS __is_row",
            f"FROM {self.source.render(place)}",
            "UNION ALL",
            f"SELECT NULL, STRUCT(*), {', '.join(right)}, {quoted(of.versions.time)}, FALSE",
            f"FROM {_name_of_all(of.cte)}",
        ]
        frame = f"PARTITION BY {', '.join(numbers)} ORDER BY __time, __is_row ROWS UNBOUNDED PRECEDING"
        indent = self.source.indent(place[0])
        lines = [
            "(",
            f"  /* temporal join: rows with the version of {of.cte.alias} at {written(of.time)} */",
            f"  SELECT __row.*, {of.column}",
            "  FROM (",
            f"    SELECT __row, LAST_VALUE(__version, TRUE) OVER ({frame}) AS {of.column}",
            "    FROM (",
            *(f"      {line}" for line in both),
            "    )",
            "  )",
            "  WHERE __row IS NOT NULL",
            f") AS {quoted(of.left.alias_or_name)}",
        ]
        return f"\n{indent}".join(lines)

    def _all_versions(self, cte: exp.CTE, versions: Versioned) -> Edit:
        """The query of all versions: the query of the latest ones without its `WHERE rn = 1`.

        Each version was number 1 once. The query is added to the query of the latest versions, or replaces it where
        nothing else reads that query.
        """
        span, (start, end) = self.source.span(cte), self.source.span(versions.query)
        number, where = self.source.span(versions.number), self.source.span(versions.condition)
        tables = find(cte.root(), exp.Table)
        is_read = any(find_cte(table) is cte for table in tables if table.args.get("version") is None)
        at = self.source.tokens.at(where[0])
        first = self.source.tokens[at if self.source.tokens[at].token_type == TokenType.WHERE else at - 1].start

        def text() -> str:
            render = self.source.render
            rows = f"{render((start, number[0]))}CAST(1 AS BIGINT){render((number[1], first)).rstrip()}"
            latest = f"{render(span)},\n" if is_read else ""
            return f"{latest}{_name_of_all(cte)} AS ({rows}{render((where[1], end))})"

        return Edit(span, text, level=1)


def _name_of_all(cte: exp.CTE) -> str:
    return quoted(f"__all_{cte.alias}")
