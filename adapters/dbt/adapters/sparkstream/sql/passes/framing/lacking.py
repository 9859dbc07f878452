"""SQLstream's functions and operators that Spark has not, or has otherwise: refused, with Spark's way to say it.

Their patterns of times, their places and what they make of NULL differ from Spark's functions, so their author chooses.
"""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.tree import find

_PATTERN = "write date_format(ts, 'yyyy-MM-dd')"
_PARSE = "write to_timestamp(text, 'yyyy-MM-dd')"
_CLOCK = "write current_timestamp(), the time when the query starts"
_FIELDS = "write regexp_extract(text, pattern, 1) for each column"

_FUNCTIONS = {
    "CHAR_TO_DATE": "write to_date(text, 'yyyy-MM-dd')",
    "CHAR_TO_TIME": _PARSE,
    "CHAR_TO_TIMESTAMP": _PARSE,
    "DATE_TO_CHAR": _PATTERN,
    "TIME_TO_CHAR": _PATTERN,
    "TIMESTAMP_TO_CHAR": _PATTERN,
    "TSDIFF": "write unix_millis(a) - unix_millis(b)",
    "CURRENT_ROW_TIMESTAMP": _CLOCK,
    "REGEX_REPLACE": "write regexp_replace(text, pattern, replacement)",
    "GROUP_RANK": "write RANK() OVER (PARTITION BY ... ORDER BY ...) in a query around the groups",
    **dict.fromkeys(
        (
            *("REGEX_LOG_PARSE", "FAST_REGEX_LOG_PARSE", "W3C_LOG_PARSE", "SYS_LOG_PARSE"),
            *("VARIABLE_COLUMN_LOG_PARSE", "FIXED_COLUMN_LOG_PARSE", "COLUMN_LOG_PARSE"),
        ),
        _FIELDS,
    ),
}
"""Name of a function -> what to write instead."""


def refuse_what_spark_lacks(source: Source, tree: exp.Expr) -> None:
    """Refuses SQLstream's own functions, SIMILAR TO, and a unit of DATEDIFF in quotes."""
    for node in find(tree, exp.Anonymous, exp.SimilarTo, exp.Column):
        if isinstance(node, exp.SimilarTo):
            raise source.error(
                source.span(node), "Spark has no SIMILAR TO", "write text RLIKE '^(a|b)$', a pattern as Java has it"
            )
        if isinstance(node, exp.Column):
            _check_word(source, node)
        elif isinstance(node, exp.Anonymous) and not isinstance(node.parent, exp.Dot):  # else its author's
            _check_call(source, node)


def _check_word(source: Source, column: exp.Column) -> None:
    """Refuses CURRENT_ROW_TIMESTAMP as SQLstream writes it, without parentheses."""
    name = column.name.upper()
    if name == "CURRENT_ROW_TIMESTAMP" and not column.table and not column.this.args.get("quoted"):
        raise source.error(source.span(column), "Spark has no clock that goes on from row to row", _CLOCK)


def _check_call(source: Source, call: exp.Anonymous) -> None:
    name, span = call.name.upper(), source.call_span(call)
    if name in _FUNCTIONS:
        raise source.error(span, f"Spark has no {name}", _FUNCTIONS[name])
    unit = call.expressions[0] if len(call.expressions) == 3 else None
    if name == "DATEDIFF" and isinstance(unit, exp.Literal) and unit.is_string:
        raise source.error(
            source.span(unit), "Spark's DATEDIFF takes its unit without quotes", f"write DATEDIFF({unit.name}, a, b)"
        )
