"""Calls over windows as Spark SQL: by Spark's aggregates where a frame has them, else over arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.sql.core.frames import Frame, Kind
from dbt.adapters.sparkstream.sql.passes.framing import lists
from dbt.adapters.sparkstream.sql.passes.framing.calls import Call
from dbt.adapters.sparkstream.sql.passes.framing.names import (
    AGGREGATES,
    CATEGORIES,
    RANKS,
    SPARK_AGGREGATES,
    forbidden_types,
    usage,
)
from dbt.adapters.sparkstream.sql.passes.framing.rowsets import (
    Attached,
    Framed,
    Limited,
    Past,
    RowSet,
    by_key,
    reach_end,
    row_set,
)
from dbt.adapters.sparkstream.sql.passes.framing.streams import SOURCE, Stream

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.sql.passes.framing.lowering import Lowering

Aggregate = Callable[[str], str]
"""Writes an aggregate, given what goes between it and OVER: a FILTER, or nothing."""

_LISTED = {
    "TOP", "TOPN_FREQUENCY", "TOP1_RATIO", "EW_AVG", "DRAWDOWN", "NTH_VALUE_WHERE", "WINDOW_SPLIT",
    "WINDOW_SPLIT_BY_KEY", "WINDOW_SPLIT_BY_VALUE", "TOP_N_KEY_RATIO_CATE", "TOP_N_VALUE_RATIO_CATE",
    *lists.CATE, *lists.CATE_WHERE, *lists.TOP_N_KEY, *lists.TOP_N_VALUE,
}  # fmt: skip
_UNORDERED = {
    "SUM", "COUNT", "MIN", "MAX", "AVG", "DISTINCT_COUNT", "MEDIAN", "STDDEV", "STDDEV_SAMP", "STDDEV_POP", "VARIANCE",
    "VAR_SAMP", "VAR_POP", "TOP", "TOPN_FREQUENCY", "TOP1_RATIO", "PERCENTILE",
    *(f"{name}_WHERE" for name in CATEGORIES),
    *lists.CATE, *lists.CATE_WHERE, *lists.TOP_N_KEY, *lists.TOP_N_VALUE,
    "TOP_N_KEY_RATIO_CATE", "TOP_N_VALUE_RATIO_CATE",
}  # fmt: skip
_DEVIATIONS = {
    "STDDEV": (True, False), "STDDEV_SAMP": (True, False), "STD": (True, False), "STDDEV_POP": (False, False),
    "VARIANCE": (True, True), "VAR_SAMP": (True, True), "VAR_POP": (False, True),
}  # fmt: skip
_ZEROS = {
    "string": "''", "boolean": "FALSE", "timestamp": "timestamp_millis(0)",
    **{t: f"CAST(0 AS {t.upper()})" for t in ("tinyint", "smallint", "int", "bigint", "float", "double")},
}  # fmt: skip


def keeps_order(call: Call) -> bool:
    """Whether a call's result depends on the order of rows with equal keys."""
    return call.name not in _UNORDERED or any(keeps_order(c) for c in call.inner)


class Evaluation:
    """One aggregate over one window."""

    def __init__(self, lowering: Lowering, call: Call) -> None:
        self.lowering = lowering
        self.query = lowering.query
        self.call = call
        self.name = call.name.removeprefix("FZ_")
        self.window = call.window
        self.stream: Stream = self.query.stream_of[id(call.window)]
        self.frame: Frame = call.window.spec.frame
        self.keyed = by_key(self.frame) and not self.stream.ordered
        self.set: RowSet = row_set(
            self.frame, unions=bool(self.stream.sources), literal=self.stream.literal, keyed=self.keyed
        )
        self.arguments = [self.query.render(a) for a in call.arguments]

    # -- errors and arguments ------------------------------------------------------------------------
    def _fail(self, message: str, hint: str | None = None) -> Exception:
        return self.query.source.error(self.call.call, message, hint)

    def _take(self, least: int, most: int | None = None) -> list[str]:
        most = most or least
        if not least <= len(self.arguments) <= most:
            count = str(least) if least == most else f"{least} or {most}"
            raise self._fail(
                f"{self.call.name.lower()} takes {count} argument{'s' if most > 1 else ''}, and this has "
                f"{len(self.arguments)}",
                f"write {usage(self.call.name)}",
            )
        return self.arguments

    def _constant(self, index: int) -> int:
        text = self.query.source.text[slice(*self.call.arguments[index])].strip()
        if not re.fullmatch(r"-?\s*\d+", text):
            raise self.query.source.error(
                self.call.arguments[index],
                f"{self.call.name.lower()} takes a constant whole number here",
                f"write {self.call.name.lower()}({self.arguments[0]}, 1)",
            )
        return int(re.sub(r"\s", "", text))

    def _type(self, index: int = 0) -> str | None:
        return self.query.type_of(self.call.arguments[index]) if index < len(self.call.arguments) else None

    def _check_types(self) -> None:
        """OpenMLDB's argument types: refused here where they are known, else by Spark."""
        if self.query.dialect != "openmldb" or self.call.inner:
            return
        for index, forbidden, hint in forbidden_types(self.name):
            if index >= len(self.arguments):
                continue
            type_, name = self._type(index), self.call.name.lower()
            if type_ is None and self.arguments[index].strip() != "*":
                self.query.guard_type(self.arguments[index], forbidden, f"{name} takes no {', '.join(forbidden)}")
            elif type_ in forbidden:
                raise self.query.source.error(self.call.arguments[index], f"{name} takes no {type_} here", hint)

    # -- windows -------------------------------------------------------------------------------------
    def _over(self, frame: str, *, by_key_: bool = False) -> str:
        spec = self.stream.spec(frame, by_key=by_key_)
        return self.lowering.windows.over(self.window, spec, self._comment())

    def _comment(self) -> str:
        text = self.frame.words()
        if self.stream.sources:
            text += ", with rows of " + ", ".join(
                re.sub(r"\s+", " ", self.query.source.text[slice(*u.meta["span"])]).replace("*/", "* /")
                for u in self.window.spec.unions
            )
        return text

    def _filter(self, unions_only: bool, condition: str | None) -> str:
        parts = [f"{SOURCE} > 0"] if unions_only else []
        if condition:
            parts.append(f"({condition})" if parts else condition)
        return f" FILTER (WHERE {' AND '.join(parts)})" if parts else ""

    def _past(self, aggregate: Aggregate, *, default: str, condition: str | None = None, past: Past | str = "") -> str:
        """An aggregate over the rows that Spark's frames give; `default` for none."""
        rows = self.set.past if isinstance(past, str) else past
        if rows is None:
            return default
        if isinstance(rows, Framed):
            over = self._over(rows.frame, by_key_=self.keyed)
            return f"{aggregate(self._filter(rows.unions_only, condition))} {over}"
        if isinstance(rows, Limited):
            count = f"count(1){self._filter(rows.all.unions_only, None)} {self._over(rows.all.frame)}"
            many = self._past(aggregate, default=default, condition=condition, past=rows.newest)
            few = self._past(aggregate, default=default, condition=condition, past=rows.all)
            return f"CASE WHEN {count} > {rows.limit} THEN {many} ELSE {few} END"
        assert isinstance(rows, Attached)
        spec = self.stream.unions_spec(rows.frame) if rows.unions_only else self.stream.spec(rows.frame)
        column = self.lowering.attach(f"{aggregate(self._filter(False, condition))} OVER ({spec})")
        return self._latest(column, rows.reach, rows.unions_only, default)

    def _latest(self, column: str, reach: str, unions_only: bool, default: str) -> str:
        over = self._over(f"RANGE BETWEEN UNBOUNDED PRECEDING AND {reach}")
        value = f"last_value({column}){self._filter(unions_only, None)} {over}"
        return value if default.startswith("IF(") else f"coalesce({value}, {default})"

    @staticmethod
    def _nothing(value: str) -> str:
        """NULL of a value's type."""
        return f"IF(FALSE, {value}, NULL)"

    def _current(self, value: str, condition: str | None) -> str:
        """A value of the current row, if it meets a condition."""
        return f"IF({condition}, {value}, NULL)" if condition else value

    # -- aggregates ----------------------------------------------------------------------------------
    def sql(self) -> str:
        """The call as Spark SQL."""
        self._check_types()
        name = self.name
        if self.query.dialect != "spark" and name not in (AGGREGATES | SPARK_AGGREGATES | RANKS):
            raise self._fail(
                f"{self.call.name.lower()} is no aggregate, and can't stand before OVER",
                "aggregate with sum, count, min, max, avg, first_value, last_value, lag, distinct_count, ...",
            )
        if name in RANKS:
            raise self._fail(
                f"{name.lower()} numbers a partition, and this window has a frame", "write a window without a frame"
            )
        if name in ("LAG", "AT"):
            return self._lag()
        if name in _LISTED:
            count = len(self.arguments)
            return self.listed(self.rows({f"a{i}": a for i, a in enumerate(self.arguments[:count])}))
        condition = self.query.render(self.call.filter) if self.call.filter else None
        if name.endswith("_WHERE") and name.removesuffix("_WHERE") in CATEGORIES:
            value, given = self._take(2)
            condition = f"{condition} AND ({given})" if condition else given
            return self._basic(name.removesuffix("_WHERE"), value, condition)
        if name == "COUNT" and self.call.distinct:
            return self._distinct(
                condition, [f"struct({', '.join(self.arguments)})"] if len(self.arguments) > 1 else None
            )
        if name in ("SUM", "AVG") and self.call.distinct:
            values = self._distinct_values(condition, self._take(1)[0])
            wide = "x + 0L" if name == "SUM" else "CAST(x AS DOUBLE)"
            return lists.fold_values(name, f"transform({values}, x -> {wide})")
        if name in CATEGORIES and name != "COUNT":
            self._take(1)
        if name in CATEGORIES and len(self.arguments) == 1:  # DISTINCT is nothing to MIN and MAX
            return self._basic(name, self.arguments[0], condition)
        if name == "DISTINCT_COUNT":
            return self._distinct(condition, [self._counted(self._take(1)[0])])
        if name in ("FIRST_VALUE", "LAST_VALUE", "FIRST", "LAST"):
            return self._edge(condition)
        if name == "PERCENTILE":
            return self.listed(self.rows({"a0": self._take(2)[0]}, condition))
        if name == "MEDIAN" or (name in _DEVIATIONS and self.set.add_current):
            return self.listed(self.rows({"a0": self._take(1)[0]}, condition))
        return self._spark_aggregate(condition)

    def _basic(self, name: str, value: str, condition: str | None) -> str:
        """SUM, COUNT, MIN, MAX or AVG of one value."""
        timed = name == "SUM" and self.query.dialect == "openmldb" and self._type() == "timestamp"
        if timed:  # milliseconds, as everything about time in OpenMLDB
            value = f"unix_millis({value})"
        add = self.set.add_current
        current = self._current(value, condition)
        nothing = self._nothing(value)
        if name == "COUNT":
            past = self._past(lambda f: f"count({value}){f}", default="CAST(0 AS BIGINT)", condition=condition)
            if not add:
                return past
            test = condition if value == "*" else f"{current} IS NOT NULL"
            return f"{past} + IF({test}, 1, 0)" if test else f"{past} + 1"
        if name == "AVG":
            if not add:
                return self._past(lambda f: f"avg({value}){f}", default="CAST(NULL AS DOUBLE)", condition=condition)
            total = self._past(lambda f: f"sum({value}){f}", default="0", condition=condition)
            count = self._past(lambda f: f"count({value}){f}", default="0", condition=condition)
            return (
                f"(coalesce({total}, 0) + coalesce({current}, 0)) "
                f"/ CAST(nullif({count} + IF({current} IS NOT NULL, 1, 0), 0) AS DOUBLE)"
            )
        text = self._past(lambda f: f"{name.lower()}({value}){f}", default=nothing, condition=condition)
        if name in ("MIN", "MAX"):
            function = "least" if name == "MIN" else "greatest"
            return f"{function}({text}, {current})" if add else text
        if add:
            text = f"coalesce({text} + {current}, {text}, {current})" if self.set.past else current
        return f"timestamp_millis({text})" if timed else self._wrapped(text, value)

    def _wrapped(self, total: str, value: str) -> str:
        """A sum in the type of its argument, which it overflows silently (OpenMLDB)."""
        if self.query.dialect != "openmldb":
            return total
        type_ = self.query.type_of(self.call.arguments[0]) if self.call.arguments else None
        bits = {"smallint": 16, "int": 32}
        if type_ in bits:
            half = 2 ** (bits[type_] - 1)
            return f"CAST(pmod(CAST({total} AS BIGINT) + {half}, {2 * half}) - {half} AS {type_.upper()})"
        if type_ is not None:
            return f"CAST({total} AS FLOAT)" if type_ == "float" else total
        return (
            f"CASE typeof({value}) WHEN 'int' THEN pmod({total} + 2147483648, 4294967296) - 2147483648 "
            f"WHEN 'smallint' THEN pmod({total} + 32768, 65536) - 32768 ELSE {total} END"
        )

    def _counted(self, value: str) -> str:
        """What DISTINCT_COUNT counts: NULL as the zero of its type, a date's NULL as a value of its own."""
        type_ = self._type()
        if type_ in _ZEROS:
            return f"coalesce({value}, {_ZEROS[type_]})"
        if type_ is not None:
            return f"struct({value})"
        zeros = (
            "WHEN 'string' THEN '' WHEN 'boolean' THEN 'false' WHEN 'date' THEN 'NULL' WHEN 'double' THEN '0.0' "
            "WHEN 'float' THEN '0.0' WHEN 'timestamp' THEN CAST(timestamp_millis(0) AS STRING)"
        )
        return f"coalesce(CAST({value} AS STRING), CASE typeof({value}) {zeros} ELSE '0' END)"

    def _distinct(self, condition: str | None, values: list[str] | None) -> str:
        return f"CAST(size({self._distinct_values(condition, (values or self._take(1))[0])}) AS BIGINT)"

    def _distinct_values(self, condition: str | None, value: str) -> str:
        """The distinct values in the frame that aren't NULL, as an array."""
        past = self._past(lambda f: f"collect_set({value}){f}", default="array()", condition=condition)
        if self.set.add_current:
            current = f"filter(array({self._current(value, condition)}), x -> x IS NOT NULL)"
            past = f"array_distinct(concat({past}, {current}))" if self.set.past else current
        return past

    def _edge(self, condition: str | None) -> str:
        """FIRST_VALUE, the oldest row's, and LAST_VALUE, the newest row's."""
        arguments = self._take(1, 2)
        value = arguments[0]
        ignore = self.call.ignore_nulls or (len(arguments) > 1 and arguments[1].strip().lower() == "true")
        first = self.name.startswith("FIRST")
        function = "first_value" if first else "last_value"
        flag = ", TRUE" if ignore else ""
        past = self._past(lambda f: f"{function}({value}{flag}){f}", default=self._nothing(value), condition=condition)
        if not self.set.add_current:
            return past
        if condition:
            raise self._fail(f"FILTER can't stand behind {function} over this window", "put the condition in a CASE")
        if ignore:
            return f"coalesce({past}, {value})" if first else f"coalesce({value}, {past})"
        if not first or self.set.past is None:
            return value
        count = self._past(lambda f: f"count(1){f}", default="0")
        return f"IF({count} > 0, {past}, {value})"

    def _spark_aggregate(self, condition: str | None) -> str:
        """Any other aggregate that Spark has."""
        if self.call.distinct:
            raise self._fail(
                f"DISTINCT can't stand in {self.call.name.lower()} over a window",
                "write count(DISTINCT x), or no DISTINCT",
            )
        value = self.arguments[0] if self.arguments else "1"
        if self.set.add_current:
            return self._merged(condition)
        head = self.query.render(self.call.call)
        if self.call.ignore_nulls:
            head = head[:-1] + ", TRUE)"
        lists_ = self.name in ("COLLECT_LIST", "COLLECT_SET", "ARRAY_AGG")
        default = "array()" if lists_ else self._nothing(value)
        if self.set.past is None and not lists_ and self.name not in AGGREGATES:
            raise self._fail(
                f"{self.call.name.lower()} can't be computed over a window that holds no rows",
                "write a frame that starts before it ends",
            )
        return self._past(lambda f: f"{head}{f}", default=default, condition=condition)

    def _merged(self, condition: str | None) -> str:
        """An aggregate over the past and the current row beside it."""
        value = self.arguments[0] if self.arguments else ""
        current = self._current(value, condition)
        name = self.name
        if name in ("COLLECT_LIST", "ARRAY_AGG", "COLLECT_SET"):
            past = self._past(lambda f: f"{name.lower()}({value}){f}", default="array()", condition=condition)
            both = f"concat({past}, filter(array({current}), x -> x IS NOT NULL))"
            return f"array_distinct({both})" if name == "COLLECT_SET" else both
        if name in ("BOOL_AND", "EVERY", "BOOL_OR", "SOME", "ANY"):
            past = self._past(
                lambda f: f"{name.lower()}({value}){f}", default="CAST(NULL AS BOOLEAN)", condition=condition
            )
            operator = "AND" if name in ("BOOL_AND", "EVERY") else "OR"
            return f"coalesce({past} {operator} {current}, {past}, {current})"
        if name == "COUNT_IF":
            past = self._past(lambda f: f"count_if({value}){f}", default="CAST(0 AS BIGINT)", condition=condition)
            return f"{past} + IF({current}, 1, 0)"
        raise self._fail(
            f"{self.call.name.lower()} can't have EXCLUDE CURRENT_TIME or INSTANCE_NOT_IN_WINDOW in its window",
            "collect the rows with collect_list(x) OVER the window, and compute it from the array",
        )

    # -- rows as arrays ------------------------------------------------------------------------------
    def rows(self, fields: dict[str, str], condition: str | None = None) -> str:
        """The rows of the frame as an array of structs, newest first."""
        struct = f"named_struct({', '.join(f'{name!r}, {text}' for name, text in fields.items())})"
        past = self._past(lambda f: f"collect_list({struct}){f}", default="array()", condition=condition)
        if not self.set.add_current:
            return f"reverse({past})" if self.set.past else f"filter(array({struct}), r -> FALSE)"
        current = f"filter(array({struct}), r -> {condition})" if condition else f"array({struct})"
        return f"concat({current}, reverse({past}))" if self.set.past else current

    def listed(self, rows: str) -> str:
        """The call over rows as an array."""
        name, arguments = self.name, self.arguments
        count = len(arguments)

        def take(least: int, most: int | None = None) -> None:
            self._take(least, most)

        if name in lists.CATE:
            take(2)
            return lists.print_pairs(lists.by_category(lists.CATE[name], rows, cond=None, category="a1"))
        if name in lists.CATE_WHERE:
            take(3)
            return lists.print_pairs(lists.by_category(lists.CATE_WHERE[name], rows, cond="a1", category="a2"))
        if name in lists.TOP_N_KEY or name in lists.TOP_N_VALUE:
            take(4)
            table = lists.TOP_N_KEY if name in lists.TOP_N_KEY else lists.TOP_N_VALUE
            pairs = lists.by_category(table[name], rows, cond="a1", category="a2")
            choose = lists.newest_keys if name in lists.TOP_N_KEY else lists.greatest_values
            return lists.print_pairs(choose(pairs, str(self._constant(3))))
        if name in ("TOP_N_KEY_RATIO_CATE", "TOP_N_VALUE_RATIO_CATE"):
            take(4)
            pairs = lists.ratio_by_category(rows, cond="a1", category="a2")
            choose = lists.newest_keys if "KEY" in name else lists.greatest_values
            return lists.print_pairs(choose(pairs, str(self._constant(3))))
        if name in ("TOP", "TOPN_FREQUENCY"):
            take(2)
            n = str(self._constant(1))
            return lists.top(rows, n) if name == "TOP" else lists.topn_frequency(rows, n)
        if name == "NTH_VALUE_WHERE":
            take(3)
            return lists.nth_value_where(rows, self._constant(1))
        if name == "EW_AVG":
            take(2)
            return lists.ew_avg(rows, arguments[1])
        if name == "WINDOW_SPLIT":
            take(2)
            return lists.window_split(rows, arguments[1])
        if name in ("WINDOW_SPLIT_BY_KEY", "WINDOW_SPLIT_BY_VALUE"):
            take(3)
            return lists.window_split_pairs(rows, arguments[1], arguments[2], int(name.endswith("VALUE")))
        if name in _DEVIATIONS:
            sample, squared = _DEVIATIONS[name]
            return lists.deviation(rows, sample=sample, squared=squared)
        if name == "PERCENTILE":
            return lists.percentile(rows, arguments[1])
        simple = {"TOP1_RATIO": lists.top1_ratio, "DRAWDOWN": lists.drawdown, "MEDIAN": lists.median}
        if name in simple:
            take(1)
            return simple[name](rows)
        if name.removesuffix("_WHERE") in CATEGORIES:
            return lists.fold(name.removesuffix("_WHERE"), rows, "r.a1" if name.endswith("_WHERE") else None)
        if name == "DISTINCT_COUNT":
            return f"CAST(size(array_distinct(transform({rows}, r -> r.a0))) AS BIGINT)"
        if name in ("FIRST_VALUE", "LAST_VALUE"):
            ordered = f"reverse({rows})" if name == "FIRST_VALUE" else rows
            return f"get({ordered}, 0).a0"
        if name in ("LAG", "AT"):
            return f"get({rows}, {self._constant(1) if count > 1 else 1}).a0"
        raise self._fail(
            f"{self.call.name.lower()} can't take the result of another aggregate",
            "compute the inner one in a subquery",
        )

    # -- LAG -----------------------------------------------------------------------------------------
    def _lag(self) -> str:
        """The value so many rows back: of all rows where it is a whole column, else of the frame."""
        value = self._take(1, 2)[0]
        n = self._constant(1) if len(self.arguments) > 1 else 1
        if n < 0:
            raise self.query.source.error(
                self.call.arguments[1], f"{self.call.name.lower()} looks back only", "write a number of rows, 0 or more"
            )
        frame = self.frame
        flagged = frame.exclude_time or frame.instance_not_in_window
        if self.call.top:
            return self._lag_flagged(value, n) if flagged else self._lag_rows(value, n)
        if flagged or (frame.end and frame.kind is Kind.ROWS_RANGE) or self.set.past is None:
            return f"get({self.rows({'a0': value})}, {n}).a0"
        back = n + (frame.end or int(frame.exclude_row))
        if frame.kind is Kind.ROWS:
            return (
                self._nothing(value) if frame.start is not None and back > frame.start else self._lag_rows(value, back)
            )
        if frame.maxsize is not None and n >= frame.maxsize:
            return self._nothing(value)
        if frame.start is None or back == 0:
            return self._lag_rows(value, back)
        key = self.stream.key_column
        return (
            f"IF({self._lag_rows(key, back)} >= {key} - {frame.start}, {self._lag_rows(value, back)}, "
            f"{self._nothing(value)})"
        )

    def _lag_rows(self, value: str, n: int) -> str:
        """A value so many rows back in the stream."""
        if n == 0:
            return value
        return f"lag({value}, {n}) OVER ({self.stream.spec('')})"

    def _lag_flagged(self, value: str, n: int) -> str:
        """The same among rows that are not of the same time, or of UNION tables only."""
        only = self.frame.instance_not_in_window
        if n == 0:
            return value
        if only and not self.stream.sources:
            return self._nothing(value)
        unflagged = Frame(Kind.ROWS, None, 0, exclude_time=self.frame.exclude_time)
        reach = reach_end(unflagged, self.stream.literal)
        if n == 1:
            return self._latest(value, reach, only, self._nothing(value))
        spec = self.stream.unions_spec("").strip() if only else self.stream.spec("")
        column = self.lowering.attach(f"lag({value}, {n - 1}) OVER ({spec})")
        return self._latest(column, reach, only, self._nothing(value))
