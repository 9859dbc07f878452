"""Error messages for the person who made the mistake."""

from __future__ import annotations

import re
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.sparkstream.faults import Fault
from dbt.adapters.sparkstream.redaction import redacted
from dbt.adapters.sparkstream.sql.core.names import backticked

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.sql.core.errors import Finding

_STACK_LINE = re.compile(r"^\s*(at [\w.$<>/@]+\(.*\)|\.\.\. \d+ more)\s*$")
NO_WORKER = "Python worker failed to connect back"
"""What Spark says where a Python process of its own doesn't report within ten seconds."""

_NO_CATALOG = (
    "Spark knows no catalog of the name in front: `database` in the profile or a config is a catalog's, which\n"
    "  spark.sql.catalog.NAME makes, in server_side_parameters (method: session) or where the server starts"
)
_NO_KAFKA = (
    "this Spark lacks its connector to Kafka, org.apache.spark:spark-sql-kafka-0-10_2.13, of its own version:\n"
    "  with method: session write spark.jars.packages to server_side_parameters; else start the server with it"
)
_HINTS_OF_CONDITIONS = [
    (re.compile(r"\[DATA_SOURCE_NOT_FOUND\] Failed to find the data source: kafka"), _NO_KAFKA),
    (
        re.compile(r"\[REQUIRES_SINGLE_PART_NAMESPACE\]"),
        _NO_CATALOG,
    ),
    (
        re.compile(r"\[UNSUPPORTED_TIME_TYPE\]"),
        "TIME needs Spark 4.3 and a setting: write spark.sql.timeType.enabled: true to server_side_parameters",
    ),
    (
        re.compile(
            r'\[UNSUPPORTED_DATATYPE\] Unsupported data type "TIME\b'
            r'|\[DATATYPE_MISMATCH\.CAST_[^\n]{0,2000}? cannot cast "TIMESTAMP(_NTZ)?" to "TIME\('
            r"|\[UNRESOLVED_ROUTINE\] Cannot resolve routine `CURRENT_TIME`"
        ),
        "Flink's TIME needs Spark 4.3 and spark.sql.timeType.enabled: write the time of day as a text, "
        "DATE_FORMAT(ts, 'HH:mm:ss')",
    ),
    (
        re.compile(r'\[MISSING_AGGREGATION\][^\n]{0,2000}?"window_(start|end|time)"'),
        "write group by window_start, window_end",
    ),
    (
        re.compile(r"\[TABLE_OR_VIEW_NOT_FOUND\] The table or view `[^`]+` cannot"),
        "for a model, seed or snapshot of the project write {{ ref('name') }}",
    ),
    (
        re.compile(r"\[INVALID_TEMP_OBJ_REFERENCE\][^\n]{0,2000}?`sparkstream_[0-9a-f]{20}`"),
        "it reads a source with meta: stream:, which is no table, and a view can't: write materialized='table'",
    ),
    (
        re.compile(r"\[LOCATION_ALREADY_EXISTS\]"),
        "files lie where the table is to lie, and no table has them: look at them, and move or remove the folder",
    ),
]
"""The beginning of a message with a condition -> what it means in a dbt project with windows."""
_HINTS_OF_OTHERS = [
    (
        re.compile(r"StatusCode\.UNAVAILABLE|failed to connect to all addresses"),
        "the server is gone: it was stopped, killed, or has died. When it runs again: dbt retry",
    ),
    (
        re.compile(r"Answer from Java side is empty|Error while sending or receiving"),
        "the Spark in this process has ended; .sparkstream/session/spark.log says why",
    ),
    (
        re.compile(NO_WORKER),
        "the server starts a Python process for this, and after ten seconds it had not imported pyspark:\n"
        "  the machine is busy. Run fewer models at a time (--threads 1), or try again later: dbt retry\n"
        "  if it is never in time, look at the Python that the server starts: `sparkstream server status` names it",
    ),
    (
        re.compile(r"ailed to find (the )?data source: kafka"),
        _NO_KAFKA,
    ),
    (re.compile(r"Nested databases are not supported by v1 session catalog"), _NO_CATALOG),
    (
        re.compile(r"(Creating|Replacing) a view is not supported by catalog"),
        "this catalog has no views: write materialized='table' or 'ephemeral' in the config,\n"
        "  or database='spark_catalog'",
    ),
]
"""Part of a message without a condition -> the same. One with a condition may quote data, in which all of this can
stand."""
_SUGGESTED = " Did you mean one of the following? ["
_CAUSE = re.compile(r"^Caused by: [\w.$]+: ")


def readable(error: BaseException | str | Fault) -> str:
    """What Spark says, without Java's stack trace, what a server puts in front, Spark's query plan behind, and secrets.

    Args:
        error: what pyspark or PyHive raised, or its message.
    """
    fault = error if isinstance(error, Fault) else Fault.of(error)
    lines: list[str] = []
    for line in fault.message.strip().splitlines():
        cause = _CAUSE.match(line)
        repeated = cause is not None and any(line[cause.end() :] in earlier for earlier in lines)
        if not _STACK_LINE.match(line) and not repeated:
            lines.append(line)
    text = "\n".join(lines).split("\n\nJVM stacktrace:")[0].split("\nDriver stacktrace:")[0]
    # An analysis error ends with the plan of the query.
    text = _without_ours(re.split(r";\n(?=['+:\w])", text)[0].strip())
    if text.startswith("["):
        found = [hint for pattern, hint in _HINTS_OF_CONDITIONS if pattern.match(text)]
    else:
        found = [hint for pattern, hint in _HINTS_OF_OTHERS if pattern.search(text)]
    return redacted("".join([text, *(f"\n  {hint}" for hint in found)]))


def _without_ours(text: str) -> str:
    """What Spark says; among the columns that it suggests, none that only the SQL of a window has (`__wall`)."""
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


def described(error: Finding, node: Any | None, project: Path, text: str) -> str:
    """What the translator says as text, with its place in the file that the user wrote where that can be told.

    Args:
        error: what is wrong; its position is in the rendered SQL.
        node: what dbt is working on, with `raw_code` and `original_file_path`; None where there is no such thing.
        project: the folder of the dbt project.
        text: what the rendered SQL is to the user, for an error whose place in the file can't be told.
    """
    at = None if node is None else written_place(error, node.raw_code)
    if node is None or at is None:
        path = "" if node is None else f"{node.original_file_path}, "
        return error.describe(f"{path}line {error.line}, column {error.column} of {text}")
    # dbt cuts blank lines, and what is around a snapshot.
    written = _file(project / node.original_file_path)
    start = written.find(node.raw_code)
    if start < 0:  # a file of a package, or a query on the command line
        written, start = node.raw_code, 0
        place = "line {}, column {} of " + node.name
    else:
        place = node.original_file_path + ":{}:{}"
    at += start
    in_file = copy(error)
    in_file.column = at - written.rfind("\n", 0, at)
    in_file.source_line = written[at - in_file.column + 1 :].split("\n", 1)[0]
    return in_file.describe(place.format(written.count("\n", 0, at) + 1, in_file.column))


def _file(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def written_place(error: Finding, raw_code: str) -> int | None:
    """Where in a template, in characters, what the error points at stands; None where it can't be told.

    The piece at fault is looked for in the template; where it is there several times, the one counts that has most
    of the text around it in common with the rendered line.
    """
    start = error.column - 1
    piece = error.source_line[start : start + error.width]
    if not piece.strip():
        return None
    before, after = error.source_line[:start], error.source_line[start + len(piece) :]
    scores: dict[int, int] = {}
    at = raw_code.find(piece)
    while at >= 0:
        left = raw_code[raw_code.rfind("\n", 0, at) + 1 : at]
        right = raw_code[at + len(piece) :].split("\n", 1)[0]
        scores[at] = _common(left.lstrip()[::-1], before.lstrip()[::-1]) + _common(right, after)
        at = raw_code.find(piece, at + 1)
    best = sorted(scores, key=scores.__getitem__)[-2:]
    if not best or (len(best) == 2 and scores[best[0]] == scores[best[1]]):
        return None
    if len(piece.strip()) + scores[best[-1]] < 3:  # a lone comma or parenthesis says nothing
        return None
    return best[-1]


def _common(a: str, b: str) -> int:
    """How many characters two texts begin with alike."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
