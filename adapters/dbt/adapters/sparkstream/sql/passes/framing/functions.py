"""Calls over windows as Spark SQL: by Spark's aggregates where a frame has them, else over arrays."""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.core.frames import Frame, Kind
from dbt.adapters.sparkstream.sql.core.interval import IntervalError, read_interval
from dbt.adapters.sparkstream.sql.passes.framing import lists
from dbt.adapters.sparkstream.sql.passes.framing.aggregates import AGGREGATES, CATEGORIES, RANKS, usage
from dbt.adapters.sparkstream.sql.passes.framing.evaluation import Evaluation, Rows, nothing
from dbt.adapters.sparkstream.sql.passes.framing.rowsets import reach_end
from dbt.adapters.sparkstream.sql.passes.framing.times import zero

_ZEROS = {
    "string": "''", "boolean": "FALSE", "timestamp": "timestamp_millis(0)",
    **{t: f"CAST(0 AS {t.upper()})" for t in ("tinyint", "smallint", "int", "bigint", "float", "double")},
}  # fmt: skip

_BY_ARGUMENT = {
    **dict.fromkeys(("MAX_BY", "MIN_BY"), 1),
    **dict.fromkeys(("ANY_VALUE", "APPROX_TOP_K", "PERCENTILE_CONT", "PERCENTILE_DISC")),
}
"""Aggregate -> index of the argument whose NULL skips a row, if not 0; None where only FILTER skips rows."""


def call_sql(aggregate: Evaluation) -> str:
    """An aggregate over a window as Spark SQL."""
    name = aggregate.name
    if "*" in aggregate.arguments and name not in ("COUNT", "COUNT_WHERE"):
        raise aggregate.fail(f"{aggregate.word} takes columns, and no *", f"write {usage(aggregate.call.name)}")
    if name == "EXP_AVG" and aggregate.select.rules.exp_avg:
        return _exp_avg(aggregate)
    if name in RANKS:
        raise aggregate.fail(
            f"{name.lower()} numbers a partition, and this window has a frame", "write a window without a frame"
        )
    if name in ("LAG", "AT"):
        return lag(aggregate)
    record = AGGREGATES.get(name)
    if record and record.listed:
        return over_array(aggregate, aggregate.rows({f"a{i}": a for i, a in enumerate(aggregate.arguments)}))
    condition = aggregate.select.source.rendered(aggregate.call.filter) if aggregate.call.filter else None
    if name.endswith("_WHERE") and name.removesuffix("_WHERE") in CATEGORIES:
        value, given = aggregate.take(2)
        condition = f"{condition} AND ({given})" if condition else given
        return _basic(aggregate, name.removesuffix("_WHERE"), value, condition)
    if name == "COUNT" and aggregate.call.distinct:
        several = len(aggregate.arguments) > 1
        value = f"struct({', '.join(aggregate.arguments)})" if several else aggregate.take(1)[0]
        return _distinct(aggregate, condition, value)
    if name in ("SUM", "AVG") and aggregate.call.distinct:
        values = _distinct_values(aggregate, condition, aggregate.take(1)[0])
        wide = "x + 0L" if name == "SUM" else "CAST(x AS DOUBLE)"
        return lists.FOLDS[name](f"transform({values}, x -> {wide})")
    if name in CATEGORIES and name != "COUNT":
        aggregate.take(1)
    if name in CATEGORIES and len(aggregate.arguments) == 1:  # DISTINCT is nothing to MIN and MAX
        return _basic(aggregate, name, aggregate.arguments[0], condition)
    if name == "DISTINCT_COUNT":
        return _distinct(aggregate, condition, _counted(aggregate, aggregate.take(1)[0]))
    if name in ("FIRST_VALUE", "LAST_VALUE", "FIRST", "LAST"):
        return _edge(aggregate, condition)
    if name in ("MEDIAN", "PERCENTILE") or (name.startswith(("STD", "VAR")) and aggregate.set.add_current):
        return over_array(aggregate, aggregate.rows({"a0": next(iter(aggregate.arguments), "")}, condition))
    return _spark_aggregate(aggregate, condition)


def over_array(aggregate: Evaluation, rows: str) -> str:
    """A call over rows as an array."""
    record = AGGREGATES.get(aggregate.name)
    if record is None or record.over_rows is None:
        raise aggregate.fail(
            f"{aggregate.word} can't take the result of another aggregate", "compute the inner one in a subquery"
        )
    aggregate.take(*record.counts)
    return record.over_rows(aggregate, rows)


def _basic(aggregate: Evaluation, name: str, value: str, condition: str | None) -> str:
    """SUM, COUNT, MIN, MAX or AVG of one value."""
    timed = name == "SUM" and aggregate.select.rules.millis and aggregate.type() == "timestamp"
    of = value
    origin = zero(of) if name == "SUM" and aggregate.may_be_time else None
    if timed:  # milliseconds, as everything about time in OpenMLDB
        value = f"unix_millis({value})"
    elif origin:
        value = f"{value} - {origin}"
    add = aggregate.set.add_current
    current = aggregate.current(value, condition)
    if name == "COUNT":
        past = aggregate.aggregated("count", value, default="CAST(0 AS BIGINT)", condition=condition)
        if not add:
            return past
        test = condition if value == "*" else f"{current} IS NOT NULL"
        return f"{past} + IF({test}, 1, 0)" if test else f"{past} + 1"
    if name == "AVG":
        if not add:
            return aggregate.aggregated("avg", value, default="CAST(NULL AS DOUBLE)", condition=condition)
        total = aggregate.aggregated("sum", value, default="0", condition=condition)
        count = aggregate.aggregated("count", value, default="0", condition=condition)
        return (
            f"(coalesce({total}, 0) + coalesce({current}, 0)) "
            f"/ CAST(nullif({count} + IF({current} IS NOT NULL, 1, 0), 0) AS DOUBLE)"
        )
    text = aggregate.aggregated(name.lower(), value, default=nothing(value), condition=condition)
    if name in ("MIN", "MAX"):
        function = "least" if name == "MIN" else "greatest"
        return f"{function}({text}, {current})" if add else text
    if add:
        text = f"coalesce({text} + {current}, {text}, {current})" if aggregate.set.past else current
    if origin:
        return f"{zero(aggregate.typed(of))} + ({text})"
    return f"timestamp_millis({text})" if timed else _wrapped(aggregate, text, value)


def _wrapped(aggregate: Evaluation, total: str, value: str) -> str:
    """Sum in the type of its argument, with silent overflow in OpenMLDB."""
    if not aggregate.select.rules.narrow_sums:
        return total
    type_ = aggregate.type()
    bits = {"smallint": 16, "int": 32}
    if type_ in bits:
        half = 2 ** (bits[type_] - 1)
        return f"CAST(pmod(CAST({total} AS BIGINT) + {half}, {2 * half}) - {half} AS {type_.upper()})"
    if type_ is not None:
        return f"CAST({total} AS FLOAT)" if type_ == "float" else total
    return (
        f"CASE typeof({aggregate.typed(value)}) WHEN 'int' THEN pmod({total} + 2147483648, 4294967296) - 2147483648 "
        f"WHEN 'smallint' THEN pmod({total} + 32768, 65536) - 32768 "
        f"WHEN 'timestamp' THEN raise_error('the sum of a time needs its type, from a schema') ELSE {total} END"
    )


def _exp_avg(aggregate: Evaluation) -> str:
    """EXP_AVG(value, INTERVAL '10' SECOND): each ten seconds further back count half as much."""
    value = aggregate.take(2)[0]
    source = aggregate.select.source
    place = source.span(aggregate.call.arguments[1])
    try:
        micros = read_interval(source.tokens_in(place)).micros
    except IntervalError as error:
        raise source.error(place, f"exp_avg: {error}", error.hint) from None
    if micros <= 0:
        raise source.error(place, "exp_avg takes a positive interval", "write exp_avg(x, INTERVAL '10' SECOND)")
    time = next(iter(aggregate.stream.ties), aggregate.stream.key)
    now = f"unix_micros({time})"
    return lists.exp_avg(aggregate.rows({"a0": value, "a1": now}), now, micros)


def _counted(aggregate: Evaluation, value: str) -> str:
    """Value that DISTINCT_COUNT counts: for NULL the zero of its type; NULL of a DATE is one more value."""
    type_ = aggregate.type()
    if type_ in _ZEROS:
        return f"coalesce({value}, {_ZEROS[type_]})"
    if type_ is not None:
        return f"struct({value})"
    zeros = (
        "WHEN 'string' THEN '' WHEN 'boolean' THEN 'false' WHEN 'date' THEN 'NULL' WHEN 'double' THEN '0.0' "
        "WHEN 'float' THEN '0.0' WHEN 'timestamp' THEN CAST(timestamp_millis(0) AS STRING)"
    )
    return f"coalesce(CAST({value} AS STRING), CASE typeof({value}) {zeros} ELSE '0' END)"


def _distinct(aggregate: Evaluation, condition: str | None, value: str) -> str:
    return f"CAST(size({_distinct_values(aggregate, condition, value)}) AS BIGINT)"


def _distinct_values(aggregate: Evaluation, condition: str | None, value: str) -> str:
    """The distinct values in the frame that aren't NULL, as an array."""
    past = aggregate.aggregated("collect_set", value, default="array()", condition=condition)
    if aggregate.set.add_current:
        current = f"filter(array({aggregate.current(value, condition)}), x -> x IS NOT NULL)"
        past = f"array_distinct(concat({past}, {current}))" if aggregate.set.past else current
    return past


def _edge(aggregate: Evaluation, condition: str | None) -> str:
    """FIRST_VALUE, the oldest row's, and LAST_VALUE, the newest row's."""
    arguments = aggregate.take(1, 2)
    value = arguments[0]
    ignore = aggregate.call.ignore_nulls or (len(arguments) > 1 and arguments[1].strip().lower() == "true")
    first = aggregate.name.startswith("FIRST")
    function = "first_value" if first else "last_value"
    past = aggregate.past(
        lambda rows, over: rows.edge(function, value, over, ignore_nulls=ignore),
        default=nothing(value),
        condition=condition,
    )
    if not aggregate.set.add_current:
        return past
    if condition:
        raise aggregate.fail(f"FILTER can't stand behind {function} over this window", "put the condition in a CASE")
    if ignore:
        return f"coalesce({past}, {value})" if first else f"coalesce({value}, {past})"
    if not first or aggregate.set.past is None:
        return value
    count = aggregate.aggregated("count", "1", default="0")
    return f"IF({count} > 0, {past}, {value})"


def _spark_aggregate(aggregate: Evaluation, condition: str | None) -> str:
    """Any other aggregate that Spark has."""
    if aggregate.call.distinct:
        raise aggregate.fail(
            f"DISTINCT can't stand in {aggregate.word} over a window", "write count(DISTINCT x), or no DISTINCT"
        )
    value = aggregate.arguments[0] if aggregate.arguments else "1"
    if aggregate.call.from_last:
        return _nth_from_last(aggregate, condition)
    if aggregate.set.add_current:
        return _merged(aggregate, condition)
    head = aggregate.select.render(aggregate.call.call)
    if aggregate.call.ignore_nulls:
        head = head[:-1] + ", TRUE)"
    lists_ = aggregate.name in ("COLLECT_LIST", "COLLECT_SET", "ARRAY_AGG")
    default = "array()" if lists_ else nothing(value)
    if aggregate.set.past is None and not lists_ and aggregate.name not in AGGREGATES:
        raise aggregate.fail(
            f"{aggregate.word} can't be computed over a window that holds no rows",
            "write a frame that starts before it ends",
        )
    at = _BY_ARGUMENT.get(aggregate.name, 0)

    def of(rows: Rows, over: str) -> str:
        if not rows.condition or at is None or len(aggregate.arguments) <= at:
            return f"{head}{rows.filter}{over}"
        argument = aggregate.arguments[at]
        source, call = aggregate.select.source, aggregate.call
        before = source.render((call.call[0], source.span(call.arguments[at])[0]))
        return f"{before}{rows.only(argument)}{head[len(before) + len(argument) :]}{over}"

    return aggregate.past(of, default=default, condition=condition)


def _nth_from_last(aggregate: Evaluation, condition: str | None) -> str:
    """NTH_VALUE(x, n) FROM LAST: the n-th value of the frame, counted from its newest row."""
    value, place = aggregate.take(2)
    ignore = aggregate.call.ignore_nulls
    kept = value if ignore else f"struct({value} AS v)"
    rows = aggregate.aggregated("collect_list", kept, default="array()", condition=condition)
    found = f"get(reverse({rows}), {place} - 1)"
    return found if ignore else f"{found}.v"


def _merged(aggregate: Evaluation, condition: str | None) -> str:
    """An aggregate over the earlier rows and the current row."""
    value = aggregate.arguments[0] if aggregate.arguments else ""
    current = aggregate.current(value, condition)
    name = aggregate.name
    if name in ("COLLECT_LIST", "ARRAY_AGG", "COLLECT_SET"):
        past = aggregate.aggregated(name.lower(), value, default="array()", condition=condition)
        both = f"concat({past}, filter(array({current}), x -> x IS NOT NULL))"
        return f"array_distinct({both})" if name == "COLLECT_SET" else both
    if name in ("BOOL_AND", "EVERY", "BOOL_OR", "SOME", "ANY"):
        past = aggregate.aggregated(name.lower(), value, default="CAST(NULL AS BOOLEAN)", condition=condition)
        operator = "AND" if name in ("BOOL_AND", "EVERY") else "OR"
        return f"coalesce({past} {operator} {current}, {past}, {current})"
    if name == "COUNT_IF":
        past = aggregate.aggregated("count_if", value, default="CAST(0 AS BIGINT)", condition=condition)
        return f"{past} + IF({current}, 1, 0)"
    if name == "APPROX_COUNT_DISTINCT":
        return _distinct(aggregate, condition, value)
    raise aggregate.fail(
        f"{aggregate.word} can't have EXCLUDE CURRENT_TIME or INSTANCE_NOT_IN_WINDOW in its window",
        "collect the rows with collect_list(x) OVER the window, and compute it from the array",
    )


def lag(aggregate: Evaluation) -> str:
    """The value n rows back: of the partition where the call is a whole output column, else of its frame."""
    value, *further = aggregate.take(1, aggregate.select.rules.lag_arguments)
    n = aggregate.constant(1) if further else 1
    if len(further) > 1:
        return _lag_or(aggregate, value, n, further[1])
    if n < 0:
        raise aggregate.select.source.error(
            aggregate.call.arguments[1], f"{aggregate.word} looks back only", "write a number of rows, 0 or more"
        )
    if aggregate.call.ignore_nulls and not (aggregate.call.top and n):
        raise aggregate.fail(
            f"{aggregate.word} with IGNORE NULLS is a column of its own here, and looks back at least one row",
            f"select {aggregate.word}(...) AS p in a subquery, and write the expression around it",
        )
    frame = aggregate.frame
    flagged = frame.exclude_time or frame.instance_not_in_window
    if aggregate.call.top:
        return _lag_flagged(aggregate, value, n) if flagged else _lag_rows(aggregate, value, n)
    if flagged or (frame.end and frame.kind is Kind.ROWS_RANGE) or aggregate.set.past is None:
        return f"get({aggregate.rows({'a0': value})}, {n}).a0"
    back = n + (frame.end or int(frame.exclude_row))
    if frame.kind is Kind.ROWS:
        return nothing(value) if frame.start is not None and back > frame.start else _lag_rows(aggregate, value, back)
    if frame.maxsize is not None and n >= frame.maxsize:
        return nothing(value)
    if frame.start is None or back == 0:
        return _lag_rows(aggregate, value, back)
    key = aggregate.stream.key_column
    return (
        f"IF({_lag_rows(aggregate, key, back)} >= {key} - {frame.start}, {_lag_rows(aggregate, value, back)}, "
        f"{nothing(value)})"
    )


def _lag_or(aggregate: Evaluation, value: str, n: int, default: str) -> str:
    """SQLstream's LAG(x, n, d), with d where there is no row n rows back."""
    if not aggregate.call.top or n < 1:
        raise aggregate.fail(
            f"{aggregate.word} with a default is a column of its own here, and looks back at least one row",
            f"select {aggregate.word}(...) AS p in a subquery, and write the expression around it",
        )
    return f"lag({value}, {n}, {default}){_nulls(aggregate)} OVER ({aggregate.stream.spec('')})"


def _nulls(aggregate: Evaluation) -> str:
    """IGNORE NULLS where the call has it (SQLstream)."""
    return " IGNORE NULLS" if aggregate.call.ignore_nulls else ""


def _lag_rows(aggregate: Evaluation, value: str, n: int) -> str:
    """The value n rows back in the stream."""
    if n == 0:
        return value
    return f"lag({value}, {n}){_nulls(aggregate)} OVER ({aggregate.stream.spec('')})"


def _lag_flagged(aggregate: Evaluation, value: str, n: int) -> str:
    """The value n rows back, among rows of another time (EXCLUDE CURRENT_TIME) or rows of UNION tables alone."""
    only = aggregate.frame.instance_not_in_window
    if n == 0:
        return value
    if only and not aggregate.stream.sources:
        return nothing(value)
    unflagged = Frame(Kind.ROWS, None, 0, exclude_time=aggregate.frame.exclude_time)
    reach = reach_end(unflagged, aggregate.stream.literal)
    if n == 1:
        return aggregate.latest(value, reach, only, nothing(value))
    spec = aggregate.stream.unions_spec("").strip() if only else aggregate.stream.spec("")
    column = aggregate.additions.attach(f"lag({value}, {n - 1}) OVER ({spec})")
    return aggregate.latest(column, reach, only, nothing(value))
