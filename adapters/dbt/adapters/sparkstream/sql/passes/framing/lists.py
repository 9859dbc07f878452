"""Functions over the rows of a frame as an array, for what no aggregate of Spark computes.

`rows` is the SQL of an array of structs, newest row first, with a field for every argument: a0, a1, ...
"""

from __future__ import annotations

from collections.abc import Callable


def let(name: str, value: str, body: str) -> str:
    """An expression in which a part has a name: `let("vs", values, "size(vs)")`."""
    return f"get(transform(array({value}), {name} -> {body}), 0)"


def known(rows: str, argument: str = "a0") -> str:
    """The values of an argument that aren't NULL."""
    return f"transform(filter({rows}, r -> r.{argument} IS NOT NULL), r -> r.{argument})"


def as_text(value: str, type_: str | None) -> str:
    """A value of a type as OpenMLDB prints it: six decimals for floating point, and a timestamp to the second."""
    if type_ in ("float", "double"):
        return f"format_string('%.6f', {value})"
    if type_ is not None:
        return f"left(CAST({value} AS STRING), 19)" if type_ == "timestamp" else f"CAST({value} AS STRING)"
    text = f"CAST({value} AS STRING)"  # what a number would be made of; a date can't be cast to one
    return (
        f"CASE WHEN typeof({value}) IN ('double', 'float') THEN format_string('%.6f', CAST({text} AS DOUBLE)) "
        f"WHEN typeof({value}) LIKE 'timestamp%' THEN left({text}, 19) ELSE {text} END"
    )


def total(values: str) -> str:
    """The sum of an array in the type of its elements; NULL if it is empty."""
    return f"aggregate(slice({values}, 2, greatest(size({values}) - 1, 0)), get({values}, 0), (s, x) -> s + x)"


FOLDS: dict[str, Callable[[str], str]] = {
    "SUM": lambda v: let("vs", v, total("vs")),
    "COUNT": lambda v: f"CAST(size({v}) AS BIGINT)",
    "MIN": lambda v: f"array_min({v})",
    "MAX": lambda v: f"array_max({v})",
    "AVG": lambda v: let("vs", f"transform({v}, x -> CAST(x AS DOUBLE))", f"{total('vs')} / nullif(size(vs), 0)"),
}
"""Aggregates of an array without NULLs."""


def fold(name: str, rows: str, condition: str | None = None) -> str:
    """SUM, COUNT, MIN, MAX or AVG of the argument a0."""
    where = f"filter({rows}, r -> {condition})" if condition else rows
    return FOLDS[name](known(where))


def by_category(name: str, rows: str, *, cond: str | None, category: str) -> str:
    """An array of `struct(k, v)`, a key and the aggregate of its values, by ascending key.

    Args:
        name: the aggregate, of the values that meet the condition; RATIO is their part of all values.
    """
    kept = f"r.a0 IS NOT NULL AND r.{category} IS NOT NULL"
    mine = f"filter(kept, r -> r.{category} = k)"
    if name == "RATIO":
        value = f"CAST(size(filter({mine}, r -> r.{cond})) AS DOUBLE) / size({mine})"
    else:
        kept += f" AND r.{cond}" if cond else ""
        value = FOLDS[name](f"transform({mine}, r -> r.a0)")
    keys = f"array_sort(array_distinct(transform(kept, r -> r.{category})))"
    pairs = f"transform({keys}, k -> named_struct('k', k, 'v', {value}))"
    return let("kept", f"filter({rows}, r -> {kept})", pairs)


def print_pairs(pairs: str, key: str | None, value: str | None) -> str:
    """`k:v,k:v` of an array of `struct(k, v)`, whose types are given."""
    return f"array_join(transform({pairs}, g -> concat({as_text('g.k', key)}, ':', {as_text('g.v', value)})), ',')"


def newest_keys(pairs: str, n: str) -> str:
    """The n greatest keys, descending."""
    return f"slice(reverse({pairs}), 1, {n})"


def greatest_values(pairs: str, n: str) -> str:
    """The n greatest values, descending, then by key, descending."""
    turned = f"array_sort(transform({pairs}, g -> named_struct('v', g.v, 'k', g.k)))"
    return f"slice(reverse({turned}), 1, {n})"


def top(rows: str, n: str, type_: str | None) -> str:
    """The n greatest values of a type."""
    return f"array_join(transform(slice(reverse(array_sort({known(rows)})), 1, {n}), x -> {as_text('x', type_)}), ',')"


def _frequencies(rows: str) -> str:
    count = "size(filter(vs, x -> x = k))"
    return let("vs", known(rows), f"transform(array_sort(array_distinct(vs)), k -> named_struct('n', {count}, 'k', k))")


def topn_frequency(rows: str, n: str, type_: str | None) -> str:
    """The n most frequent values, among equal counts the smaller value; NULL for each value missing to n.

    No rows give an empty text.
    """
    order = "(x, y) -> CASE WHEN x.n <> y.n THEN y.n - x.n WHEN x.k < y.k THEN -1 WHEN x.k > y.k THEN 1 ELSE 0 END"
    keys = f"transform(slice(array_sort({_frequencies('kept')}, {order}), 1, {n}), g -> {as_text('g.k', type_)})"
    padded = f"slice(concat({keys}, array_repeat('NULL', {n})), 1, {n})"
    return let("kept", rows, f"IF(size(kept) > 0, array_join({padded}, ','), '')")


def top1_ratio(rows: str) -> str:
    counts = f"transform({_frequencies(rows)}, g -> g.n)"
    return let(
        "ns", counts, "coalesce(CAST(array_max(ns) AS DOUBLE) / nullif(aggregate(ns, 0, (s, x) -> s + x), 0), 0.0D)"
    )


def entropy(rows: str) -> str:
    """Shannon's entropy of the values, in bits."""
    counts = f"transform({_frequencies(rows)}, g -> CAST(g.n AS DOUBLE))"
    bits = "aggregate(ns, 0.0D, (s, n) -> s - n / size_ * log2(n / size_))"
    named = let("size_", "aggregate(ns, 0.0D, (s, n) -> s + n)", bits)
    return let("ns", counts, f"CASE WHEN size(ns) > 0 THEN {named} END")


def percentile(rows: str, part: str) -> str:
    """The value below which a part of the values lies: `percentile(rows, "0.5")` of 1 and 2 is 1.5."""
    values = f"array_sort(transform({known(rows)}, x -> CAST(x AS DOUBLE)))"
    place = f"(size(vs) - 1) * CAST({part} AS DOUBLE)"
    low, high = f"get(vs, CAST(floor({place}) AS INT))", f"get(vs, CAST(ceil({place}) AS INT))"
    between = f"{low} + ({high} - {low}) * ({place} - floor({place}))"
    return let("vs", values, f"CASE WHEN size(vs) > 0 THEN {between} END")


def deviation(rows: str, *, sample: bool, squared: bool) -> str:
    """Standard deviation or variance."""
    values = f"transform({known(rows)}, x -> CAST(x AS DOUBLE))"
    mean = f"{total('vs')} / size(vs)"
    spread = let("mean", mean, "aggregate(vs, 0.0D, (s, x) -> s + (x - mean) * (x - mean))")
    variance = f"{spread} / {'nullif(size(vs) - 1, 0)' if sample else 'size(vs)'}"
    result = variance if squared else f"sqrt({variance})"
    return let("vs", values, f"CASE WHEN size(vs) > 0 THEN {result} END")


def nth_value_where(rows: str, n: int) -> str:
    """The n-th value that meets a condition: from the oldest, or from the newest if n is negative."""
    kept = f"filter({rows}, r -> r.a2)"
    if n == 0:
        return f"get(slice({kept}, 1, 0), 0).a0"
    return f"get(reverse({kept}), {n - 1}).a0" if n > 0 else f"get({kept}, {-n - 1}).a0"


def ew_avg(rows: str, alpha: str) -> str:
    """The mean with weights that fall by 1 - alpha with every older value."""
    values = f"transform({known(rows)}, x -> CAST(x AS DOUBLE))"
    weight = f"power(CAST(1 AS DOUBLE) - {alpha}, i)"
    above = f"aggregate(transform(vs, (x, i) -> x * {weight}), 0.0D, (s, x) -> s + x)"
    below = f"aggregate(transform(vs, (x, i) -> {weight}), 0.0D, (s, x) -> s + x)"
    return let("vs", values, f"CASE WHEN size(vs) > 0 THEN {above} / {below} END")


def exp_avg(rows: str, now: str, micros: int) -> str:
    """The mean of a0 with weights that halve with every `micros` between the time a1 of a row and now."""
    kept = f"filter({rows}, r -> r.a0 IS NOT NULL)"
    pairs = (
        f"transform({kept}, r -> named_struct('x', CAST(r.a0 AS DOUBLE), 'w', power(0.5D, (n - r.a1) DIV {micros})))"
    )
    above = "aggregate(vs, 0.0D, (s, v) -> s + v.x * v.w)"
    below = "aggregate(vs, 0.0D, (s, v) -> s + v.w)"
    return let("n", now, let("vs", pairs, f"CASE WHEN size(vs) > 0 THEN {above} / {below} END"))


def drawdown(rows: str) -> str:
    """The biggest fall from a peak, as a part of the peak; negative values don't count."""
    values = f"transform(filter(reverse({known(rows)}), x -> x >= 0), x -> CAST(x AS DOUBLE))"
    start = "named_struct('peak', 0.0D, 'fall', 0.0D)"
    fall = "CASE WHEN greatest(s.peak, x) > 0 THEN (greatest(s.peak, x) - x) / greatest(s.peak, x) ELSE 0.0D END"
    step = f"named_struct('peak', greatest(s.peak, x), 'fall', greatest(s.fall, {fall}))"
    return let("vs", values, f"CASE WHEN size(vs) > 0 THEN aggregate(vs, {start}, (s, x) -> {step}, s -> s.fall) END")


def literal_pattern(delimiter: str) -> str:
    """A regular expression that finds a text as it is."""
    return f"concat('\\\\Q', {delimiter}, '\\\\E')"


def window_split(rows: str, delimiter: str) -> str:
    return f"flatten(transform({known(rows)}, x -> split(x, {literal_pattern(delimiter)})))"


def window_split_pairs(rows: str, delimiter: str, pair_delimiter: str, part: int) -> str:
    """The keys (part 0) or values (part 1) of `k:v,k:v`; what is no pair is left out."""
    pairs = f"transform({window_split(rows, delimiter)}, x -> split(x, {literal_pattern(pair_delimiter)}))"
    return f"transform(filter({pairs}, p -> size(p) >= 2), p -> get(p, {part}))"
