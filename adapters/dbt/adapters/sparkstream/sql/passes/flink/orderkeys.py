"""Keys of ORDER BY in Flink SQL: places and names of a query's columns, and constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import isinf

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.paths import output_name, unused_name
from dbt.adapters.sparkstream.sql.core.source import Edit
from dbt.adapters.sparkstream.sql.core.tree import own
from dbt.adapters.sparkstream.sql.passes.flink.outputs import behind
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

_KEY = "__order_"


class OrderKeys(Rewriter):
    """Refuses keys that mean no column or two, and writes places and constants as Spark reads them."""

    def of_select(self, node: exp.Select) -> Iterator[Edit]:
        """Keys of a SELECT."""
        names = self._names(node)
        folded: dict[str, list[str]] = {}
        for name in names:
            folded.setdefault(name.casefold(), []).append(name)
        for item in _items(node):
            key = item.this
            number = _number(key)
            if number is not None:
                yield from self._place(key, number)
                continue
            for column in _bare_columns(key):
                self._check_name(column, folded)
        yield from self._windows(node, names)

    def _windows(self, select: exp.Select, names: list[str]) -> Iterator[Edit]:
        """Takes a query whose ORDER BY has a window function into another one: Spark sorts by none."""
        keys = [item.this for item in _items(select)]
        windows = [key for key in keys if any(True for _ in own(key, exp.Window))]
        if not windows:
            return
        if select.args.get("distinct") or isinstance(select.parent, exp.SetOperation):
            self.refuse(windows[0], "Spark orders by no window function", "select it, and order by its name")
        values: list[str] = []
        for key in keys:
            if _number(key) is None and not (isinstance(key, exp.Column) and not key.table and key.name in names):
                self._check_aliases(select, key)
                yield self.edit(key, lambda k=key: self._taken(k, values), level=9)  # type: ignore[misc]
        start, end = self.source.span(select)
        behind = self.source.span(select.expressions[-1])[1]
        tokens = self.source.tokens
        order = tokens[tokens.at(self.source.span(select.args["order"])[0]) - 1].start  # at ORDER BY

        def text() -> str:
            more = ", ".join(f"{value} AS {_KEY}{i}" for i, value in enumerate(values))
            gone = ", ".join(f"{_KEY}{i}" for i in range(len(values)))
            inner = f"{self.source.render((start, behind))}, {more}{self.source.render((behind, order)).rstrip()}"
            return f"SELECT * EXCEPT ({gone}) FROM ({inner}) {self.source.render((order, end), behind=True)}"

        yield Edit((start, end), text, level=9)

    def _check_aliases(self, select: exp.Select, key: exp.Expr) -> None:
        """Refuses the name of another value in a key that becomes a column: there it would be a column of the input."""
        named = {p.alias.casefold(): p.this for p in select.expressions if isinstance(p, exp.Alias)}
        for column in key.find_all(exp.Column):
            value = named.get(column.name.casefold()) if not column.table else None
            if value is not None and output_name(value).casefold() != column.name.casefold():
                self.refuse(column, f"{column.name} is an alias, beside a window function", "repeat what it stands for")

    def _taken(self, key: exp.Expr, values: list[str]) -> str:
        """The name of a key that the query within has as a column."""
        values.append(self.text(key))
        return f"{_KEY}{len(values) - 1}"

    def of_set_operation(self, node: exp.SetOperation) -> Iterator[Edit]:
        """Keys of a UNION, EXCEPT or INTERSECT."""
        if not _items(node):
            return
        first: exp.Expr = node
        while isinstance(first, (exp.SetOperation, exp.Subquery, exp.Paren)):
            first = first.this
        names = self._names(first) if isinstance(first, exp.Select) else []
        twice = next((name for name, times in Counter(names).items() if name and times > 1), None)
        for item in _items(node):
            key, number = item.this, _number(item.this)
            if twice is not None:  # also where the key is a column that stands once (measured in 2.3)
                self._refuse_twice(key, twice)
            if number is not None:
                yield from self._place(key, number)

    def _names(self, select: exp.Select) -> list[str]:
        """The names that ORDER BY knows the columns of a query by, as far as they are known.

        Of the columns of a star, one whose name has come before gets a number behind it; what is written out keeps its
        name, also where it comes again (measured in 2.3).
        """
        names: list[str] = []
        for projection in select.expressions:
            if not projection.is_star:
                names.append(output_name(projection))
                continue
            taken, columns = {*names}, behind(self, select, projection) or ()
            names += [unused_name(name, taken) for _, name in columns]
        return names

    def _place(self, key: exp.Expr, number: float) -> Iterator[Edit]:
        """The place of a column: Flink cuts what stands behind the point, and takes a number below 0 for a constant."""
        if number < 0:
            yield self.edit(key, lambda: f"CAST({self.text(key)} AS INT)")
            return
        if isinf(number):
            self.refuse(key, "no column has this place", "order by the name of a column")
        if not self.source.written(key).isdecimal():
            yield self.edit(key, lambda: str(int(number)))

    def _check_name(self, column: exp.Column, folded: dict[str, list[str]]) -> None:
        alike = folded.get(column.name.casefold(), [])
        if alike.count(column.name) > 1:
            self._refuse_twice(column, column.name)
        if len({*alike}) > 1:
            self.refuse(
                column, f"Spark doesn't tell {' from '.join(dict.fromkeys(alike))}", "call one of them otherwise"
            )

    def _refuse_twice(self, key: exp.Expr, name: str) -> None:
        self.refuse(
            key, f"{name} is ambiguous: two columns of this query are called so", "call one of them otherwise, with AS"
        )


def _items(query: exp.Expr) -> list[exp.Expr]:
    order = query.args.get("order")
    return order.expressions if isinstance(order, exp.Order) else []


def _number(key: exp.Expr) -> float | None:
    """The value of a key that is a number, such as `2` or `-(2)`; None for a key that is no number."""
    if isinstance(key, exp.Paren):
        return _number(key.this)
    if isinstance(key, exp.Neg):
        inner = _number(key.this)
        return None if inner is None else -inner
    return float(key.name) if isinstance(key, exp.Literal) and key.is_number else None


def _bare_columns(key: exp.Expr) -> Iterator[exp.Column]:
    """The columns without a table's name in a key; columns of a query within the key are left out."""
    for column in own(key, exp.Column):
        if not column.table:
            yield column
