"""Call over a window: its arguments, its columns in the query below, Spark's aggregates over its frame's rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.core.source import SPAN
from dbt.adapters.sparkstream.sql.passes.framing.aggregates import usage
from dbt.adapters.sparkstream.sql.passes.framing.calls import Call, Window
from dbt.adapters.sparkstream.sql.passes.framing.rowsets import (
    Attached,
    Framed,
    Limited,
    Past,
    Remaining,
    by_key,
    row_set,
)
from dbt.adapters.sparkstream.sql.passes.framing.select import FramedSelect
from dbt.adapters.sparkstream.sql.passes.framing.streams import SOURCE, Stream
from dbt.adapters.sparkstream.sql.passes.optimize.aggregates import Arguments, running


class Additions:
    """Additions that the calls of a SELECT need; each text once.

    Attributes:
        windows: the WINDOW clause of the query with the calls, an entry in some lines.
        columns: calls that become columns of the query in FROM: name -> SQL.
        attached: aggregates at every row, which later rows look up: name -> SQL.
    """

    def __init__(self, *, inline_unnamed: bool) -> None:
        self.windows: list[list[str]] = []
        self.columns: dict[str, str] = {}
        self.attached: dict[str, str] = {}
        self._inline = inline_unnamed
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}
        self._names_of: dict[str, str] = {}

    def over(self, window: Window, spec: str, comment: str | None = None) -> str:
        """`OVER ...` of a specification, by the name of its window if it has one."""
        if spec not in self._names:
            if window.name is None and self._inline:
                return f"OVER ({spec})"
            base = window.name or "__window"
            name, number = base, self._counts.get(base, 1)
            while name.lower() in self._taken:
                number += 1
                name = f"`{base[1:-1]}_{number}`" if base.startswith("`") else f"{base}_{number}"
            self._names[spec] = name
            self._taken.add(name.lower())
            self._counts[base] = number
            note = [f"/* {comment} */"] if comment and number == 1 else []
            self.windows.append([*note, f"{name} AS ({spec})"])
        return f"OVER {self._names[spec]}"

    def column(self, text: str, call: Call | None = None) -> str:
        """A column of the query in FROM: it holds an expression that a call needs, or the rows of a frame."""
        stem = re.sub(r"\W", "", call.name.lower()) if call else "rows"
        return self._named(self.columns, text, f"__{stem}")

    def attach(self, text: str) -> str:
        """A column of the ordered rows that holds an expression."""
        return self._named(self.attached, text, "__newest")

    def _named(self, columns: dict[str, str], text: str, stem: str) -> str:
        """The name of an expression among columns, to which it is added under `stem_3` if it is new."""
        name = self._names_of.get(text, "")
        if name not in columns:
            name = self._names_of[text] = f"{stem}_{len(columns) + 1}"
            columns[name] = text
        return name


@dataclass(frozen=True)
class Rows:
    """The rows of a frame that an aggregate reads.

    Spark takes FILTER before OVER from 4.2 on, so the aggregates select their rows in their argument.

    Attributes:
        condition: condition of the rows; empty for all rows of the frame.
    """

    condition: str

    def only(self, value: str) -> str:
        """A value, and NULL in other rows: the argument of an aggregate that passes over NULLs."""
        if not self.condition:
            return value
        return f"CASE WHEN {self.condition} THEN {1 if value == '*' else value} END"

    def edge(self, function: str, value: str, over: str, *, ignore_nulls: bool = False) -> str:
        """A call of `first_value` or `last_value`; the value found may be NULL unless `ignore_nulls`."""
        if ignore_nulls:
            return f"{function}({self.only(value)}, TRUE){over}"
        if not self.condition:
            return f"{function}({value}){over}"
        row = self.only(f"named_struct('value', {value})")
        return f"({function}({row}, TRUE){over}).value"

    @property
    def filter(self) -> str:
        """The condition as FILTER, for aggregates that may not pass over NULLs; not for Spark before 4.2."""
        return f" FILTER (WHERE {self.condition})" if self.condition else ""


Aggregate = Callable[[Rows, str], str]
"""Writes an aggregate, given the rows that it is of, and OVER with its window."""


def nothing(value: str) -> str:
    """NULL of a value's type."""
    return f"IF(FALSE, {value}, NULL)"


class Evaluation:
    """One call over one window.

    Attributes:
        select: the SELECT that has the call.
        stream: the rows that its window draws from.
        additions: the columns and joins that it needs in its query.
        name: the function, in upper case and without OpenMLDB's prefix FZ_.
        frame: the frame of its window.
        set: the rows of the frame, as Spark has them.
        arguments: its arguments as Spark SQL.
    """

    def __init__(self, select: FramedSelect, stream: Stream, additions: Additions, call: Call) -> None:
        self.select = select
        self.stream = stream
        self.additions = additions
        self.call = call
        self.name = call.name.removeprefix("FZ_")
        self.frame = call.window.spec.frame
        self._keyed = by_key(self.frame) and not stream.ordered
        self.set = row_set(
            self.frame, unions=bool(stream.sources), literal=stream.literal, keyed=self._keyed, running=stream.running
        )
        self.arguments = [select.source.rendered(a) for a in call.arguments]

    @property
    def word(self) -> str:
        """The function's name in errors."""
        return self.call.name.lower()

    # -- errors and arguments ------------------------------------------------------------------------
    def fail(self, message: str, hint: str | None = None) -> Exception:
        """An error that points at the call."""
        return self.select.source.error(self.call.call, message, hint)

    def take(self, least: int, most: int | None = None) -> list[str]:
        """The arguments, after their number is checked: `take(1, 2)` for one or two."""
        most = most or least
        if not least <= len(self.arguments) <= most:
            count = str(least) if least == most else f"{least} {'or' if most == least + 1 else 'to'} {most}"
            raise self.fail(
                f"{self.word} takes {count} argument{'s' if most > 1 else ''}, and this has {len(self.arguments)}",
                f"write {usage(self.call.name)}",
            )
        return self.arguments

    def constant(self, index: int) -> int:
        """An argument that is a whole number."""
        text = self.select.source.written(self.call.arguments[index])
        if not re.fullmatch(r"-?\s*\d+", text):
            raise self.select.source.error(
                self.call.arguments[index],
                f"{self.word} takes a constant whole number here",
                f"write {self.word}({self.arguments[0]}, 1)",
            )
        return int(re.sub(r"\s", "", text))

    def type(self, index: int = 0) -> str | None:
        """The Spark type of an argument, or None where it isn't known."""
        return self.select.type_of(self.call.arguments[index]) if index < len(self.call.arguments) else None

    @property
    def may_be_time(self) -> bool:
        """True if the first argument may well be a time and its type isn't known, where times are milliseconds."""
        if not self.select.rules.millis or not self.arguments or self.type() is not None:
            return False
        return self.select.may_be_time(self.call.arguments[0])

    def typed(self, value: str) -> str:
        """An expression of a value's type, for `typeof`, in a query with the call's aggregate."""
        return value

    # -- rows of the frame ---------------------------------------------------------------------------
    def _over(self, frame: str, *, by_key_: bool = False) -> str:
        spec = self.stream.spec(frame, by_key=by_key_)
        return self.additions.over(self.call.window, spec, self._comment())

    def _comment(self) -> str:
        text = self.frame.words()
        if self.stream.sources:
            text += ", with rows of " + ", ".join(
                re.sub(r"\s+", " ", self.select.source.text[slice(*union.meta[SPAN])]).replace("*/", "* /")
                for union in self.call.window.spec.unions
            )
        return text

    @staticmethod
    def _rows(unions_only: bool, condition: str | None) -> Rows:
        parts = [f"{SOURCE} > 0"] if unions_only else []
        if condition:
            parts.append(f"({condition})" if parts else condition)
        return Rows(" AND ".join(parts))

    def aggregated(self, function: str, value: str, *, default: str, condition: str | None = None) -> str:
        """A call that passes over NULLs, such as `sum(price)`, over the rows that Spark's frames give."""
        if isinstance(self.set.past, Remaining):
            argument = self._rows(False, condition).only(value)
            come, gone = self._over(self.set.past.come), self._over(self.set.past.gone, by_key_=True)
            key = self.stream.wide_key if self.stream.nullable else None
            return running(Arguments(function, argument, self.type(), distinct=False), come, gone, key)
        return self.past(
            lambda rows, over: f"{function}({rows.only(value)}){over}", default=default, condition=condition
        )

    def past(self, aggregate: Aggregate, *, default: str, condition: str | None = None) -> str:
        """An aggregate over the rows that Spark's frames give; `default` if the frame holds no rows."""
        return self._over_past(self.set.past, aggregate, default, condition)

    def _over_past(self, rows: Past, aggregate: Aggregate, default: str, condition: str | None) -> str:
        if rows is None:
            return default
        if isinstance(rows, Framed):
            over = self._over(rows.frame, by_key_=self._keyed)
            return f"{aggregate(self._rows(rows.unions_only, condition), f' {over}')}"
        if isinstance(rows, Limited):
            count = f"count({self._rows(rows.all.unions_only, None).only('1')}) {self._over(rows.all.frame)}"
            many = self._over_past(rows.newest, aggregate, default, condition)
            few = self._over_past(rows.all, aggregate, default, condition)
            return f"CASE WHEN {count} > {rows.limit} THEN {many} ELSE {few} END"
        assert isinstance(rows, Attached)
        spec = self.stream.unions_spec(rows.frame) if rows.unions_only else self.stream.spec(rows.frame)
        column = self.additions.attach(f"{aggregate(self._rows(False, condition), f' OVER ({spec})')}")
        return self.latest(column, rows.reach, rows.unions_only, default)

    def latest(self, column: str, reach: str, unions_only: bool, default: str) -> str:
        """The value of a column in the newest row within reach; `default` if no row is within reach."""
        over = self._over(f"RANGE BETWEEN UNBOUNDED PRECEDING AND {reach}")
        value = self._rows(unions_only, None).edge("last_value", column, f" {over}")
        return value if default.startswith("IF(") else f"coalesce({value}, {default})"

    @staticmethod
    def current(value: str, condition: str | None) -> str:
        """A value of the current row, if the row meets a condition."""
        return f"IF({condition}, {value}, NULL)" if condition else value

    def rows(self, fields: dict[str, str], condition: str | None = None) -> str:
        """The rows of the frame as an array of structs, newest first."""
        struct = f"named_struct({', '.join(f'{name!r}, {text}' for name, text in fields.items())})"
        past = self.aggregated("collect_list", struct, default="array()", condition=condition)
        if not self.set.add_current:
            return f"reverse({past})" if self.set.past else f"filter(array({struct}), r -> FALSE)"
        current = f"filter(array({struct}), r -> {condition})" if condition else f"array({struct})"
        return f"concat({current}, reverse({past}))" if self.set.past else current
