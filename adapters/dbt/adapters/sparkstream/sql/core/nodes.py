"""Nodes of a syntax tree: those that sqlglot has not, rows of values, aggregate functions; and searches of a tree.

The searches take no longer in a deep tree: they keep answers, so the tree may not change.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

from sqlglot import exp


class Opaque(exp.Select):
    """Query that sqlglot can't parse and that has no construct of ours, such as `FROM t SELECT a`: it stays unchanged.

    It is a Select, as a query is where it stands. `queries` are the queries within it, in parentheses of its text, as
    far as they can be parsed: they may hold constructs of ours.
    """

    arg_types = {**exp.Select.arg_types, "queries": False}


class Unknown(exp.Expression):
    """`UNKNOWN`, the BOOLEAN that is neither TRUE nor FALSE; behind IS it is a word of the grammar."""

    arg_types = {}


class WhenValues(exp.Expression):
    """The values `1, 2` of `WHEN 1, 2 THEN y`."""

    arg_types = {"expressions": True}


def compared(case: exp.Expr) -> list[exp.Expr]:
    """Values behind each WHEN of a CASE: `1`, `2` and `3` of `CASE x WHEN 1, 2 THEN y WHEN 3 THEN z END`."""
    found = [branch.this for branch in case.args.get("ifs") or []]
    return [value for each in found for value in (each.expressions if isinstance(each, WhenValues) else [each])]


def results(node: exp.Case | exp.If) -> list[exp.Expr]:
    """Values of which a CASE or IF gives one: `y` and `z` of `CASE WHEN x THEN y ELSE z END`."""
    branches, last = (node.args.get("ifs") or [], "default") if isinstance(node, exp.Case) else ([node], "false")
    otherwise = node.args.get(last)
    return [*(branch.args["true"] for branch in branches), *([] if otherwise is None else [otherwise])]


def excepted(star: exp.Expr) -> list[exp.Expr]:
    """The columns that `*` or `t.*` leaves out: `a` and `b` of `* EXCEPT (a, b)`."""
    bare = star.this if isinstance(star, exp.Column) else star
    return bare.args.get("except_") or []


class Difference(exp.Expression):
    """`(a - b) DAY`.

    Attributes:
        this: the subtraction.
        unit: the unit in upper case; the first one of DAY TO SECOND.
    """

    arg_types = {"this": True, "unit": True}


SETS = (exp.GroupingSets, exp.Rollup, exp.Cube)
"""Items of GROUP BY that group rows in several ways."""
UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
"""Units of a difference."""


class JsonPath(exp.Expression, exp.Func):
    """JSON_VALUE, JSON_QUERY or JSON_EXISTS: what a path finds in a text.

    Attributes:
        this: the text.
        path: the path.
        kind: VALUE, QUERY or EXISTS.
        returning: the type behind RETURNING, or None.
        wrapper: UNCONDITIONAL, CONDITIONAL or None, for an array around what JSON_QUERY finds.
        empty: what stands before ON EMPTY: a word such as NULL, ERROR or EMPTY ARRAY, or the expression behind DEFAULT.
        error: the same before ON ERROR.
    """

    arg_types = {
        "this": True, "path": True, "kind": True, "returning": False, "wrapper": False, "empty": False, "error": False
    }  # fmt: skip


class JsonConstructor(exp.Expression, exp.Func):
    """JSON_OBJECT or JSON_ARRAY.

    Attributes:
        expressions: the values; each value of an object stands behind its key.
        kind: OBJECT or ARRAY.
        absent: True if NULLs are left out.
    """

    arg_types = {"expressions": True, "kind": True, "absent": True}


def has_more(node: exp.Expr, *known: str) -> bool:
    """True if a node has other parts than some: other clauses of a query, or more behind a table's name."""
    return any(value for name, value in node.args.items() if name not in known)


def is_row(node: exp.Expr | None) -> bool:
    """True if a value is written `ROW(1, 2)`."""
    return isinstance(node, exp.Anonymous) and node.name.upper() == "ROW"


def row_values(row: exp.Expr) -> list[exp.Expr] | None:
    """The values of `(a, b)` or `ROW(a, b)`; None for anything else."""
    return row.expressions if isinstance(row, exp.Tuple) or is_row(row) else None


def row_pairs(left: exp.Expr, right: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]] | None:
    """Pairs of the values of two rows such as `(a, b)`; None for anything else."""
    one, other = row_values(left), row_values(right)
    if one is None or other is None or len(one) != len(other):
        return None
    return list(zip(one, other, strict=True))


def is_written_by_values(row: exp.Expr) -> bool:
    """True if Spark SQL has the values of a ROW, and no row: in VALUES, and where it is compared with another row."""
    around = row.parent
    if isinstance(around, exp.EQ):
        return row_pairs(around.left, around.right) is not None
    if isinstance(around, exp.In):
        return bool(around.args.get("query")) or all(row_pairs(around.this, value) for value in around.expressions)
    return isinstance(around, exp.Tuple) and len(around.expressions) == 1 and isinstance(around.parent, exp.Values)


def cells(row: exp.Expr) -> list[exp.Expr]:
    """The values of a row of VALUES: `(1, 2)`, `ROW(1, 2)` or `1`."""
    values = row.expressions if isinstance(row, exp.Tuple) else [row]
    return values[0].expressions if len(values) == 1 and is_row(values[0]) else values


# -- searches ------------------------------------------------------------------------------------------
_E = TypeVar("_E", bound=exp.Expr)
_T = TypeVar("_T")
_STEPS = 16
"""Distance of the nodes on a climb that keep what the climb has found."""


def once(answer: Callable[[_E], _T]) -> Callable[[_E], _T]:
    """Decorator: keeps a function's answer about a node with the node, but not with its copies."""
    key = f"{answer.__module__}.{answer.__qualname__}"

    @wraps(answer)
    def kept(node: _E) -> _T:
        answers = vars(node)
        if key not in answers:
            answers[key] = answer(node)
        return answers[key]

    return kept


@once
def every(tree: exp.Expr) -> list[exp.Expr]:
    """All nodes of a statement, breadth first, which are collected once: a dozen passes read them."""
    found = [tree]
    for node in found:  # and those that are added on the way
        for value in node.args.values():
            for child in value if type(value) is list else (value,):
                if isinstance(child, exp.Expr):
                    found.append(child)
    return found


def find(tree: exp.Expr, *kinds: type[_E]) -> Iterator[_E]:
    """The nodes of some kinds in a statement."""
    return (node for node in every(tree) if isinstance(node, kinds))


def enclosing(node: exp.Expr, *kinds: type[_E]) -> _E | None:
    """The innermost node of some kinds around a node."""
    return _climb(node, kinds, lambda around: isinstance(around, kinds))


def enclosing_such(node: exp.Expr, test: Callable[[exp.Expr], bool]) -> exp.Expr | None:
    """The innermost node around a node that passes a test, which is always the same function."""
    found: exp.Expr | None = _climb(node, test, test)
    return found


def _climb(node: exp.Expr, question: Any, ends: Callable[[Any], bool]) -> Any:
    """The innermost node around a node that passes the test `ends`.

    A condition of a thousand parts is a thousand nodes deep, and a pass asks for each of them. So some nodes on the way
    keep the answer, and a later climb ends there.
    """
    found = node.parent
    passed: list[exp.Expr] = []
    steps = 0
    while found is not None and not ends(found):
        known = vars(found).get("climbs")
        if known is not None and question in known:
            found = known[question]
            break
        steps += 1
        if steps % _STEPS == 0:
            passed.append(found)
        found = found.parent
    for each in passed:
        vars(each).setdefault("climbs", {})[question] = found
    return found


def own(part: exp.Expr, *kinds: type[_E]) -> Iterator[_E]:
    """The nodes of some kinds in a SELECT, or in a part of one, that are in no SELECT within it."""
    waiting: deque[exp.Expr] = deque(part.iter_expressions() if isinstance(part, exp.Select) else [part])
    while waiting:
        node = waiting.popleft()
        if isinstance(node, kinds):
            yield node
        if not isinstance(node, exp.Select):
            waiting.extend(node.iter_expressions())


def within(node: exp.Expr, outer: exp.Expr) -> bool:
    """True if `node` is `outer`, or is within it."""
    at: exp.Expr | None = node
    while at is not None:
        if at is outer:
            return True
        at = at.parent
    return False


# -- aggregate functions -------------------------------------------------------------------------------
AGGREGATES = frozenset(
    """any any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate array_agg avg bit_and
    bit_or bit_xor bitmap_and_agg bitmap_construct_agg bitmap_or_agg bool_and bool_or collect_list collect_set corr
    count count_if count_min_sketch covar_pop covar_samp every first first_value histogram_numeric hll_sketch_agg
    hll_union_agg kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float kll_sketch_agg_bigint
    kll_sketch_agg_double kll_sketch_agg_float kurtosis last last_value listagg max
    max_by mean measure median min min_by mode percentile percentile_approx percentile_cont percentile_disc product
    regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg
    skewness some std stddev stddev_pop stddev_samp string_agg sum theta_intersection_agg theta_sketch_agg
    theta_union_agg try_avg try_sum var_pop var_samp variance""".split()  # noqa: SIM905
)
"""The names of Spark's aggregate functions."""


def aggregate_name(node: exp.Expr) -> str | None:
    """The name, in lower case, of the aggregate function that a node calls; None where it calls none."""
    if not isinstance(node, exp.Anonymous) or not isinstance(node.this, str):
        return None
    name = node.this.lower()
    return name if name in AGGREGATES else None


def has_aggregate(node: exp.Expr) -> bool:
    """True if an expression calls an aggregate function, at any depth."""
    return any(aggregate_name(call) for call in node.find_all(exp.Anonymous))
