"""Error messages for the person who made the mistake."""

from __future__ import annotations

import re

from dbt.adapters.sparkstream.messages.faults import OF_JAVA, Fault, without_spot, words_at
from dbt.adapters.sparkstream.messages.places import Place, shown
from dbt.adapters.sparkstream.secrecy.redaction import redacted
from dbt.adapters.sparkstream.spark.session_conf import LOCAL
from dbt.adapters.sparkstream.sql.core.errors import Finding
from dbt.adapters.sparkstream.sql.core.literals import backticked

CHANGES_ROWS = ("delta", "iceberg", "hudi")
"""Formats whose rows a statement can change."""
FOR_CHANGES = (
    "write file_format='delta' or 'iceberg'. Delta needs its jar and Spark 4.2, so pip install 'pyspark==4.2.*'\n"
    "  where Spark starts: here with method: session, else on the server; see docs/delta.md"
)
"""Hint on the file formats that a model needs for its rows to be changed."""

_STACK_LINE = re.compile(r"^\s*(at [\w.$<>/@]+\(.*\)|\.\.\. \d+ more)\s*$")
NO_WORKER = "Python worker failed to connect back"
"""Spark's error when a Python process that it starts doesn't report within ten seconds."""

_NO_CATALOG = (
    "Spark knows no catalog of the name in front: `database` in the profile or a config is a catalog's, which\n"
    "  spark.sql.catalog.NAME makes, in server_side_parameters (method: session) or where the server starts"
)
_NO_KAFKA = (
    "this Spark lacks its connector to Kafka, org.apache.spark:spark-sql-kafka-0-10_2.13, of its own version:\n"
    "  with method: session write spark.jars.packages to server_side_parameters; else start the server with it"
)
_NO_TIME = (
    "Flink's TIME needs Spark 4.3 and spark.sql.timeType.enabled: write the time of day as a text, "
    "DATE_FORMAT(ts, 'HH:mm:ss')"
)
_RESERVED = "anti|cross|except|full|inner|intersect|join|lateral|left|minus|natural|on|right|semi|union|using"
"""Words that Spark doesn't take as the alias of a table."""
_HINTS_OF_CONDITIONS = {
    r"\[DATA_SOURCE_NOT_FOUND\] Failed to find the data source: kafka": _NO_KAFKA,
    r"\[REQUIRES_SINGLE_PART_NAMESPACE\]": _NO_CATALOG,
    r"\[UNSUPPORTED_TIME_TYPE\]": "TIME needs Spark 4.3 and a setting: "
    "write spark.sql.timeType.enabled: true to server_side_parameters",
    r'\[UNSUPPORTED_DATATYPE\] Unsupported data type "TIME\b': _NO_TIME,
    r'\[DATATYPE_MISMATCH\.CAST_[^\n]{0,2000}? cannot cast "TIMESTAMP(_NTZ)?" to "TIME\(': _NO_TIME,
    r"\[UNRESOLVED_ROUTINE\] Cannot resolve routine `CURRENT_TIME`": _NO_TIME,
    r'\[MISSING_AGGREGATION\][^\n]{0,2000}?"window_(start|end|time)"': "write group by window_start, window_end, and "
    "then what else stands beside the aggregates, such as a key",
    r'\[MISSING_AGGREGATION\] The non-aggregating expression "(?!window_(start|end|time)")': "write group by ... and "
    "this column, or an aggregate such as max(column)",
    r"\[AMBIGUOUS_REFERENCE\]": "write the table before the column, such as t.id",
    r"\[DATATYPE_MISMATCH\.(UNEXPECTED_INPUT_TYPE|BINARY_OP_DIFF_TYPES|DATA_DIFF_TYPES)\]": "write cast(... as the "
    "type that it takes)",
    r"\[DATATYPE_MISMATCH\.FILTER_NOT_BOOLEAN\]": "compare it with something, as in x > 0",
    r"\[QUALIFY_REQUIRES_WINDOW_FUNCTION\]": "write where, or having for an aggregate",
    r"\[INVALID_WHERE_CONDITION\]": "write having for an aggregate, or qualify for a window function",
    r"\[WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE\]": "write qualify, or compute it in a subquery and filter around it",
    r"\[GROUP_BY_AGGREGATE\]": "write the columns alone, and having for a condition on the aggregate",
    r"\[UNSUPPORTED_EXPR_FOR_OPERATOR\] The query operator Sort ": "select it under a name, and write order by with "
    "the name",
    rf"\[PARSE_SYNTAX_ERROR\] Syntax error at or near '(?i:{_RESERVED})'": "where this word is a name, write it in "
    "backticks",
    r"\[UNRESOLVED_ROUTINE\] Cannot resolve routine `(?!CURRENT_TIME`)": "write one of Spark's; sql_dialect in the "
    "config, such as 'flink', adds those of that system",
    r"\[NUM_COLUMNS_MISMATCH\]": "select as many columns on both sides",
    r"\[MISSING_GROUP_BY\]": "write group by with what stands beside the aggregate, "
    "such as group by window_start, window_end",
    r"\[TABLE_OR_VIEW_NOT_FOUND\] The table or view `[^`]+` cannot": "for a model, seed or snapshot of the project "
    "write {{ ref('name') }}",
    r"\[INVALID_TEMP_OBJ_REFERENCE\][^\n]{0,2000}?`sparkstream_[0-9a-f]{20}`": "it reads a source with meta: stream:, "
    "which is no table, and a view can't: write materialized='table'",
    r"\[LOCATION_ALREADY_EXISTS\]": "files lie where the table is to lie, and no table has them: look at them, and "
    "move or remove the folder",
}
"""The beginning of a message with a condition -> the hint on it in a dbt project with windows."""
_HINTS_OF_OTHERS = {
    r"Answer from Java side is empty|Error while sending or receiving": "the Spark in this process has ended; "
    ".sparkstream/session/spark.log says why",
    NO_WORKER: "the server starts a Python process for this, and after ten seconds it had not imported pyspark:\n"
    "  the machine is busy. Run fewer models at a time (--threads 1), or try again later: dbt retry\n"
    "  if it is never in time, look at the Python that the server starts: `sparkstream server status` names it",
    r"[Ff]ailed to find (the )?data source: kafka": _NO_KAFKA,
    r"Not enough memory to continue external sort|Resources exhausted: ": "Comet's memory is too small: write a larger "
    "spark.memory.offHeap.size to server_side_parameters\n  (method: session), or to --conf where the server starts",
    r"Nested databases are not supported by v1 session catalog": _NO_CATALOG,
    r"(Creating|Replacing) a view is not supported by catalog": "this catalog has no views: write "
    "materialized='table' or 'ephemeral' in the config,\n  or database='spark_catalog'",
}
"""The beginning of a message without a condition, after all that py4j and Spark put before it -> its hint."""
_PATTERNS = {begins: re.compile(begins) for begins in (*_HINTS_OF_CONDITIONS, *_HINTS_OF_OTHERS)}
_SUGGESTED = " Did you mean one of the following? ["
_CAUSE = re.compile(r"^Caused by: [\w.$]+: ")
_MOST_CAUSES = 20
"""Most causes that are looked for in earlier lines; a message with data may have as many as it has lines."""


def readable(error: BaseException | str | Fault, place: Place | None = None) -> str:
    """Spark's message, without Java's stack trace, a server's words before it, the query plan after it, and secrets.

    Args:
        error: an exception of pyspark or PyHive, or its message.
        place: its place, which is shown instead of the one in Spark's words.
    """
    fault = error if isinstance(error, Fault) else Fault.of(error)
    lines: list[str] = []
    causes = 0
    for line in fault.message.strip().splitlines():
        cause = _CAUSE.match(line) if causes < _MOST_CAUSES else None
        causes += cause is not None
        repeated = cause is not None and any(line[cause.end() :] in earlier for earlier in lines)
        if not _STACK_LINE.match(line) and not repeated:
            lines.append(line)
    text = "\n".join(lines).split("\n\nJVM stacktrace:")[0].split("\nDriver stacktrace:")[0]
    text = _without_ours(_without_plan(text, fault.condition).strip())
    if fault.condition and text.startswith("["):
        found = [hint for begins, hint in _HINTS_OF_CONDITIONS.items() if _PATTERNS[begins].match(text)]
    else:
        text = _unwritable(_of_call(text))
        start = words_at(text)
        found = [hint for begins, hint in _HINTS_OF_OTHERS.items() if _PATTERNS[begins].match(text, start)]
    if place is not None:
        return redacted(shown(Finding(without_spot(text), hint="\n  ".join(found)), place))
    return redacted("".join([text, *(f"\n  {hint}" for hint in found)]))


_PLAN = r";\n(?=['~!+:\w])"
"""The beginning of the plan behind an analysis error: `'` is a node that isn't resolved, `~` a stream's."""
_BEHIND_STATE = re.compile(rf"(SQLSTATE: [0-9A-Z]{{5}}(?:; line \d{{1,9}} pos \d{{1,9}})?){_PLAN}.*\Z", re.DOTALL)


def _without_plan(text: str, condition: str) -> str:
    """Spark's message without the query plan behind it.

    A message with a condition has its SQLSTATE before the plan. A semicolon at the end of another line is a row's text.
    """
    if condition and text.startswith("["):
        return _BEHIND_STATE.sub(r"\1", text)
    return re.split(_PLAN, text, maxsplit=1)[0]


_CALL = re.compile(
    r"<_\w{1,40} of RPC that terminated with:\n\tstatus = StatusCode\.(\w{1,40})(?:\n\tdetails = \"([^\n]{0,4000})\")?"
)
"""The error of a call of Spark Connect's client: gRPC's status and details."""
_CALLED = re.compile(r"\bipv[46]:(?:(\d{1,3}(?:\.\d{1,3}){3})|%5B([0-9a-f:.]{2,45})%5D):(\d{1,5})\b")


def _of_call(text: str) -> str:
    """The error of a call of Spark Connect's client without gRPC's words around it; any other text as it is."""
    failed = _CALL.match(text)
    status, said = failed.groups() if failed else ("", text)
    if status != "UNAVAILABLE" and not text.startswith("failed to connect to all addresses"):
        return said or text
    called = _CALLED.search(said or "")
    host = (called[1] or called[2]) if called else ""
    place = f" at {host}:{called[3]}" if called else ""
    return lost(f"the server{place} is gone: it was stopped, killed, or has died", host)


def lost(what: str, host: str) -> str:
    """Message for a server that doesn't answer any more.

    Args:
        what: what has become of it.
        host: its host; empty if unknown.
    """
    if host in LOCAL:
        advice = "`sparkstream server status` says what it does; start one with: sparkstream server start"
    else:
        advice = "its log says why"
    return f"{what}\n  {advice}\n  nobody knows whether the statement had ended; when the server runs: dbt retry"


_NOT_WRITTEN = re.compile(
    OF_JAVA + r"(?:(?:Mkdirs failed to create|Parent path is not a directory:) (\S{1,4000})"
    r"|((?:\w{1,20}:)?/\S{1,4000}) \((Permission denied|Read-only file system|No space left on device)\))"
)
"""Java's words for a folder that can't be written to, with all that Spark puts in front of them."""


def _unwritable(text: str) -> str:
    """Message for a folder that can't be written to; any other text as it is."""
    found = _NOT_WRITTEN.match(text)
    if found is None:
        return text
    folder = (found[1] or found[2]).partition("/_temporary/")[0].partition("/.spark-staging")[0]
    why = f" ({found[3].lower()})" if found[3] else ""
    return (
        f"Spark can't write to {folder}{why}\n"
        "  give its user the right to, or name another folder: checkpoint_location or location_root in the model's "
        "config,\n  or spark.sql.warehouse.dir in server_side_parameters"
    )


def _without_ours(text: str) -> str:
    """Spark's message without columns such as `__wall`, which only our SQL has, among its suggestions."""
    before, found, rest = text.partition(_SUGGESTED)
    names, closed, after = rest.partition("]")
    if not (found and closed and "`__" in names):
        return text
    kept: list[str] = []
    for name in names.split(", "):
        parts = name.removeprefix("`").removesuffix("`").split("`.`")
        parts = [part.replace("``", "`") for part in parts]
        if not parts[-1].startswith("__"):
            kept.append(".".join(map(backticked, parts[1:] if parts[0].startswith("__") else parts)))
    return f"{before}{found}{', '.join(dict.fromkeys(kept))}]{after}" if kept else before + after
