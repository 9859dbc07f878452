"""Flink's functions of regular expressions in Spark SQL."""

from __future__ import annotations

import re

from dbt.adapters.sparkstream.sql.core.errors import RefusedError
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.passes.flink.calls import FlinkCall

_NOTHING = "CAST(NULL AS STRING)"
_WRONG = ("missing )", "unbalanced parenthesis", "unterminated character set", "nothing to repeat")
"""What Python says of a pattern that Java doesn't read either."""
_REGEX_ONLY = {"\\": r"\\", "$": r"\$"}
"""What means something in Java's patterns, but stands for itself in SQL's."""
_SIMILAR_SPECIALS = frozenset("[]()|^-+*_%?{}")


def replacement(call: FlinkCall) -> str:
    """The third argument for REGEXP_REPLACE, which takes it as a text: `$1` is no group."""
    literal = call.literals[2]
    if literal is None:
        return f"REPLACE(REPLACE({call.args[2]}, '\\\\', '\\\\\\\\'), '$', '\\\\$')"
    if "\\" in literal or "$" in literal:
        return string_literal(literal.replace("\\", "\\\\").replace("$", "\\$"))
    return call.args[2]


def _groups(pattern: str | None) -> int | None:
    """How many groups a pattern has; None where it isn't known."""
    try:
        return None if pattern is None else re.compile(pattern).groups
    except (re.error, OverflowError):
        return None


def _is_missing(group: str, pattern: str | None) -> bool:
    """Whether a pattern is known to have no group of a number."""
    groups = _groups(pattern)
    return group.startswith("-") or (groups is not None and group.isdigit() and int(group) > groups)


def _is_wrong(pattern: str | None) -> bool:
    """Whether a constant is no pattern at all, such as `(`: Flink finds nothing, where Spark fails."""
    try:
        re.compile(pattern or "")
    except (re.error, OverflowError) as error:
        return str(error).startswith(_WRONG)
    return False


def found(type_: str, call: FlinkCall) -> str:
    """REGEXP_COUNT, REGEXP_INSTR or REGEXP_SUBSTR: NULL for what is no pattern."""
    return f"CAST(NULL AS {type_})" if _is_wrong(call.literals[1]) else call.same()


def matches(call: FlinkCall) -> str:
    """REGEXP: an empty pattern, or none at all, matches nothing."""
    text, pattern = call.args
    if call.literals[1] == "" or _is_wrong(call.literals[1]):
        return f"CASE WHEN {text} IS NOT NULL THEN FALSE END"
    if call.literals[1] is not None:
        return call.same()
    return f"CASE WHEN {pattern} = '' AND {text} IS NOT NULL THEN FALSE ELSE {call.same()} END"


def regexp_replace(call: FlinkCall) -> str:
    if _is_wrong(call.literals[1]):
        return _NOTHING
    return f"{call.name}({call.args[0]}, {call.args[1]}, {replacement(call)})"


def regexp_extract(call: FlinkCall) -> str:
    # Without a match Spark gives an empty text; without a group it takes the first, not the whole match.
    text, pattern = call.args[:2]
    if _is_wrong(call.literals[1]):
        return _NOTHING
    group = call.args[2] if len(call.args) > 2 else "0"
    if _is_missing(group, call.literals[1]):
        return _NOTHING
    return f"CASE WHEN {text} RLIKE {pattern} THEN {call.name}({text}, {pattern}, {group}) END"


def extract_all(call: FlinkCall) -> str:
    """REGEXP_EXTRACT_ALL: NULL for a group that isn't there, such as the first one of a pattern without any."""
    group = call.args[2] if len(call.args) > 2 else "1"
    nothing = _is_missing(group, call.literals[1]) or _is_wrong(call.literals[1])
    return "CAST(NULL AS ARRAY<STRING>)" if nothing else call.same()


def similar(pattern: str, escape: str) -> str:
    """A pattern of SIMILAR TO as a Java pattern for the whole text (Calcite: Like.sqlToRegexSimilar).

    Raises:
        RefusedError: Java has no such pattern.
    """
    out, characters = [], iter(pattern)
    for character in characters:
        if escape and character == escape:
            following = next(characters, "")
            if following != escape and following not in _SIMILAR_SPECIALS:
                raise RefusedError(f"{escape!r} escapes nothing here", "put it before % or _")
            out.append(f"\\{following}")
        elif character == "%":
            out.append("(?s:.*)")
        elif character == "_":
            out.append(".")
        else:
            out.append(_REGEX_ONLY.get(character, character))
    text = "".join(out)
    if "[:" in text:
        raise RefusedError("a named class of characters can't be translated", "write [a-zA-Z]")
    return f"\\A(?:{text})\\z"
