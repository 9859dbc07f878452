"""Flink's functions of texts and regular expressions, LIKE and SIMILAR TO in Spark SQL."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.errors import RefusedError
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.core.source import Edit
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import (
    FlinkCall,
    Rewrite,
    Rewriter,
    cast,
    constant,
    handles,
    text_constant,
)

_WRONG = ("missing )", "unbalanced parenthesis", "unterminated character set", "nothing to repeat")
"""Python's errors for patterns that Java doesn't read either."""
_REGEX_ONLY = {"\\": r"\\", "$": r"\$"}
"""Characters that are special in Java's patterns and plain in SQL's."""
_SIMILAR_SPECIALS = frozenset("[]()|^-+*_%?{}")


def replacement(call: FlinkCall) -> str:
    """The third argument for REGEXP_REPLACE, which takes it as a text: `$1` is no group."""
    literal = call.literals[2]
    if literal is None:
        return f"REPLACE(REPLACE({call.args[2]}, '\\\\', '\\\\\\\\'), '$', '\\\\$')"
    if "\\" in literal or "$" in literal:
        return string_literal(literal.replace("\\", "\\\\").replace("$", "\\$"))
    return call.args[2]


def _read(pattern: str | None) -> tuple[int | None, bool]:
    """Number of groups of a constant pattern, None if unknown; and True for a text that is no pattern, such as `(`."""
    try:
        return None if pattern is None else re.compile(pattern).groups, False
    except (re.error, OverflowError) as error:
        return None, str(error).startswith(_WRONG)


def by_pattern(type_: str, rewrite: Rewrite = "{same}", *, group: str | None = None) -> Rewrite:
    """Rewrite of a function of a pattern: NULL for an invalid pattern, where Spark fails, and for a missing group.

    A group that isn't constant is looked for among those of a constant pattern.

    Args:
        type_: the type of the result.
        group: the number of the group where a call gives none; None for a function that takes none.
    """

    def written(call: FlinkCall) -> str:
        groups, wrong = _read(call.literals[1])
        number = call.args[2] if group is not None and len(call.args) > 2 else group or ""
        below = number.startswith("-") and number[1:].strip().isdecimal() and int(number[1:]) > 0
        missing = below or (groups is not None and number.isdigit() and int(number) > groups)
        if wrong or missing:
            return f"CAST(NULL AS {type_})"
        if groups is None or not number or number.isdecimal():
            return call.by(rewrite)
        return f"CASE WHEN {number} BETWEEN 0 AND {groups} THEN {call.by(rewrite)} END"

    return written


def matches(call: FlinkCall) -> str:
    """REGEXP: an empty pattern, or none at all, matches nothing."""
    text, pattern = call.args
    if call.literals[1] == "" or _read(call.literals[1])[1]:
        return f"CASE WHEN {text} IS NOT NULL THEN FALSE END"
    if call.literals[1] is not None:
        return call.same()
    return f"CASE WHEN {pattern} = '' AND {text} IS NOT NULL THEN FALSE ELSE {call.same()} END"


def regexp_replace(call: FlinkCall) -> str:
    return f"{call.name}({call.args[0]}, {call.args[1]}, {replacement(call)})"


def regexp_extract(call: FlinkCall) -> str:
    """REGEXP_EXTRACT: without a match Spark gives an empty text; without a group it takes the first one."""
    text, pattern, group = (*call.args, "0")[:3]
    return f"CASE WHEN {text} RLIKE {pattern} THEN {call.name}({text}, {pattern}, {group}) END"


def regexp_substr(call: FlinkCall) -> str:
    """REGEXP_SUBSTR: Spark has NULL where an empty text is found."""
    return regexp_extract(dataclasses.replace(call, name="REGEXP_EXTRACT"))


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


def trim(call: FlinkCall, side: str) -> str:
    """LTRIM or RTRIM. With characters to take away, Spark has them before the text."""
    if len(call.args) == 1:
        return call.same()
    return f"TRIM({side} {call.args[1]} FROM {call.args[0]})"


def unhex(call: FlinkCall) -> str:
    """UNHEX. Of an odd number of digits, Flink 2.3 takes the first one for a 0."""
    digits, same = call.args[0], call.same()
    if call.literals[0] is not None and len(call.literals[0]) % 2 == 0:
        return same
    cut = f"IF({same} IS NOT NULL, UNHEX(CONCAT('0', SUBSTRING({digits}, 2))), NULL)"
    return f"CASE WHEN LENGTH({digits}) % 2 = 1 THEN {cut} ELSE {same} END"


def replace(call: FlinkCall) -> str:
    """REPLACE. An empty text is found around each character, where Spark finds it nowhere."""
    same = call.same()
    if call.literals[1]:
        return same
    around = f"REGEXP_REPLACE({call.args[0]}, '', {replacement(call)})"
    return around if call.literals[1] == "" else f"CASE WHEN {call.args[1]} = '' THEN {around} ELSE {same} END"


def _pieces(call: FlinkCall, text: str) -> str:
    """A text split at a separator, which Spark's SPLIT would take for a pattern."""
    separator = call.literals[1]
    if separator is None:
        pattern = f"CONCAT('\\\\Q', {call.args[1]}, '\\\\E')"
    else:
        pattern = string_literal(f"\\Q{separator}\\E" if separator else "")
    return f"SPLIT({text}, {pattern})"


def split(call: FlinkCall) -> str:
    parts = _pieces(call, call.args[0])
    if call.literals[1] is None:  # between `\\Q` and `\\E`, an empty separator would be found at the end as well
        parts = f"IF({call.args[1]} = '', SPLIT({call.args[0]}, ''), {parts})"
    return _unless_empty(call, parts, "ARRAY<STRING>")


def _unless_empty(call: FlinkCall, parts: str, type_: str) -> str:
    """The parts of a text: none of an empty text, where Spark has one empty part; NULL if a separator is NULL."""
    separators = zip(call.args[1:], call.literals[1:], strict=True)
    nulls = [f"{separator} IS NULL" for separator, literal in separators if literal is None]
    cases = [f"WHEN {' OR '.join(nulls)} THEN NULL"] if nulls else []
    if not call.literals[0]:
        cases.append(f"WHEN {call.args[0]} = '' THEN CAST({type_.partition('<')[0]}() AS {type_})")
    return f"CASE {' '.join(cases)} ELSE {parts} END" if cases else parts


def str_to_map(call: FlinkCall) -> str:
    """STR_TO_MAP, with `,` between pairs and `=` between key and value unless they are given.

    The last pair of a key counts, where Spark's STR_TO_MAP fails for two.
    """
    pair, value = (*call.args[1:], *("','", "'='")[len(call.args) - 1 :])
    text = f"REGEXP_REPLACE({call.args[0]}, CONCAT('(', {pair}, ')+$'), '')"  # empty pairs at the end are none
    pairs = f"TRANSFORM(SPLIT({text}, {pair}), __p -> SPLIT(__p, {value}, 2))"
    keys = "ARRAY_DISTINCT(TRANSFORM(__pairs, p -> p[0]))"
    values = f"TRANSFORM({keys}, k -> GET(ELEMENT_AT(FILTER(__pairs, p -> p[0] = k), -1), 1))"
    entries = f"GET(TRANSFORM(ARRAY({pairs}), __pairs -> MAP_FROM_ARRAYS({keys}, {values})), 0)"
    return _unless_empty(dataclasses.replace(call, args=(text, *call.args[1:])), entries, "MAP<STRING, STRING>")


def decode(call: FlinkCall) -> str:
    """DECODE. What is no UTF-8 becomes another character, where Spark fails."""
    return cast(call.args[0], "string") if (call.literals[1] or "").upper() in ("UTF-8", "UTF8") else call.same()


def unless_number(rewrite: Rewrite) -> Rewrite:
    """Rewrite of IS_DIGIT and IS_DECIMAL: TRUE for every number, also a NULL one."""
    return lambda call: "TRUE" if types.is_numeric(call.types[0]) else call.by(rewrite)


def split_index(call: FlinkCall) -> str:
    """SPLIT_INDEX, whose separator may be the number of a character; an empty one is white space."""
    if call.literals[1] == "":
        return f"GET(SPLIT(NULLIF({call.args[0]}, ''), '\\\\s'), {call.args[2]})"
    text = call.args[0] if call.literals[0] else f"NULLIF({call.args[0]}, '')"
    if types.is_numeric(call.types[1]):
        call = dataclasses.replace(call, args=(text, f"CHR({call.args[1]})", call.args[2]))
    return f"GET({_pieces(call, text)}, {call.args[2]})"


def pad(call: FlinkCall) -> str:
    """LPAD or RPAD: NULL for a negative length, and where an empty text is to fill it up."""
    same = call.same()
    if len(call.args) != 3:
        return same
    _, length, filling = call.args
    nothing = [] if length.isdecimal() else [f"{length} < 0"]
    nothing += [] if call.literals[2] else [f"{filling} = ''"]
    return f"CASE WHEN {' OR '.join(nothing)} THEN NULL ELSE {same} END" if nothing else same


def locate_from(part: str, text: str, place: str) -> str:
    """The first place of `part` in `text`, from `place` on, or from the first character where that is before it."""
    if place.isdecimal() and int(place):
        return f"LOCATE({part}, {text}, {place})"
    return f"CASE WHEN {place} IS NOT NULL THEN LOCATE({part}, {text}, GREATEST({place}, 1)) END"


def instr(call: FlinkCall) -> str:
    """INSTR from a place on, or backwards from one counted from the end, and the place of the nth part found.

    Parts may overlap: the next one is looked for from the character behind the first one of the part before.
    """
    text, part, *more = call.args
    if not more:
        return f"INSTR({text}, {part})"
    place, nth = (*more, "1")[:2]
    if nth.lstrip("-").isdecimal() and int(nth) < 1:
        raise RefusedError("INSTR looks for the first part, or a later one", "write INSTR(text, part, 1, 2)")
    if place.isdecimal() and int(place) and nth == "1":
        return locate_from(part, text, place)
    forward = _nth(text, part, place, nth)
    found = _nth(f"REVERSE({text})", f"REVERSE({part})", f"-({place})", nth)
    backward = (
        f"CASE WHEN {found} > 0 THEN CHAR_LENGTH({text}) - CHAR_LENGTH({part}) + 2 - {found} "
        f"WHEN {found} = 0 THEN 0 END"
    )
    nowhere = " AND ".join(f"{value} IS NOT NULL" for value in (text, part, nth) if not value.isdecimal())
    if not place.lstrip("-").isdecimal():
        at_0 = f"{place} = 0 AND {nowhere}"
        return f"CASE WHEN {place} > 0 THEN {forward} WHEN {place} < 0 THEN {backward} WHEN {at_0} THEN 0 END"
    if int(place):
        return forward if int(place) > 0 else backward
    return f"CASE WHEN {nowhere} THEN 0 END"


def _nth(text: str, part: str, place: str, nth: str) -> str:
    """The place of the nth part from a place on; 0 if there are fewer."""
    following = f"LOCATE({part}, {text}, __at + 1)"
    step = f"CASE WHEN __at < 0 OR {following} = 0 THEN -1 ELSE {following} END"
    search = (
        f"AGGREGATE(SEQUENCE(1, {nth}), CAST({place} - 1 AS INT), (__at, __i) -> {step}, __at -> GREATEST(__at, 0))"
    )
    return f"CASE WHEN {text} IS NOT NULL AND {part} IS NOT NULL THEN {search} END"


def hash_code(call: FlinkCall) -> str:
    """HASH_CODE, as Java has it for whole numbers, dates and BOOLEANs, and for texts, of which Flink drops the sign."""
    value, type_ = call.args[0], call.types[0]
    if types.is_string(type_):
        units = f"TRANSFORM(SEQUENCE(1, LENGTH({value})), __i -> ASCII(SUBSTRING({value}, __i, 1)))"
        return (
            f"CASE WHEN {value} = '' THEN 0 ELSE AGGREGATE({units}, 0L, (__h, __c) -> IF(__c < 65536, "
            "(__h * 31 + __c) & 4294967295L, ((__h * 31 + 55232 + SHIFTRIGHT(__c, 10)) & 4294967295L) * 31 + "
            "56320 + (__c & 1023) & 4294967295L), __h -> CAST(ABS(SHIFTRIGHT(__h << 32, 32)) AS INT)) END"
        )
    if type_ in ("tinyint", "smallint", "int"):
        return f"CAST({value} AS INT)"
    if type_ == "bigint":
        return f"CAST(SHIFTRIGHT(({value} ^ SHIFTRIGHTUNSIGNED({value}, 32)) << 32, 32) AS INT)"
    if type_ == "date":
        return f"UNIX_DATE({value})"
    if type_ == "boolean":
        return f"CASE WHEN {value} THEN 1231 WHEN NOT {value} THEN 1237 END"
    raise RefusedError(
        "HASH_CODE takes a text, a whole number, a date or a BOOLEAN here", "write HASH_CODE(CAST(x AS STRING))"
    )


ASCII = "IF({0} = '', 0, SHIFTRIGHT(CAST(CONV(LEFT(HEX({0}), 2), 16, 10) AS INT) << 24, 24))"
"""The first byte of a text in UTF-8, with its sign; Spark gives the first character's number."""
INITCAP = (
    "ARRAY_JOIN(TRANSFORM(REGEXP_EXTRACT_ALL({0}, '[A-Za-z0-9]+|[^A-Za-z0-9]+', 0), w -> CASE WHEN w RLIKE "
    "'^[a-zA-Z0-9]' THEN CONCAT(UPPER(LEFT(w, 1)), LOWER(SUBSTRING(w, 2))) ELSE w END), '')"
)
"""INITCAP, whose words are of A to Z and digits; Spark's words stand between spaces."""


# -- SUBSTRING, LIKE and their like ----------------------------------------------------------------------
class TextParts(Rewriter):
    """Edits SUBSTRING, OVERLAY, POSITION, LIKE and SIMILAR TO.

    Places count as in Flink's `BinaryStringData.substringSQL` and `overlay`.
    """

    @handles(exp.Substring)
    def _substring(self, node: exp.Substring) -> Iterator[Edit]:
        """A part that begins before the text is empty, and one of a negative length NULL."""
        type_ = self.type(node.this)
        start, length = node.args.get("start"), node.args.get("length")
        before = _may_be_negative(start) and type_ != "binary"
        negative = _may_be_negative(length)
        if not (before or negative):
            return

        def text() -> str:
            cases = []
            if length is not None and negative:
                cases.append(f"WHEN {self.text(length)} < 0 THEN NULL")
            if start is not None and before:
                too_early = f"{self.text(start)} + CHAR_LENGTH({self.text(node.this)}) < 0"
                cases.append(f"WHEN {too_early}{self._unless_null(length)} THEN ''")
            return f"CASE {' '.join(cases)} ELSE {self.text(node)} END"

        yield self.edit(node, text, level=1)

    @handles(exp.Like)
    def _like(self, node: exp.Like) -> Iterator[Edit]:
        """Without ESCAPE, Flink has no escape character in a pattern; Spark's is the backslash."""
        pattern = node.expression
        plain = isinstance(pattern, exp.Literal) and "\\" not in pattern.name
        if not plain and not isinstance(node.parent, exp.Escape):
            yield self.edit(node, lambda: f"{self.text(node)} ESCAPE '\\0'", level=1)

    @handles(exp.SimilarTo)
    def _similar(self, node: exp.SimilarTo) -> Iterator[Edit]:
        """`x SIMILAR TO '%a_b'`, whose constant pattern becomes one of Java's."""
        pattern = node.expression
        escaped = node.parent if isinstance(node.parent, exp.Escape) else None
        if not (isinstance(pattern, exp.Literal) and pattern.is_string):
            self.refuse(pattern, "SIMILAR TO takes a constant pattern here", "write REGEXP(text, pattern)")
        try:
            regex = string_literal(similar(pattern.name, escaped.expression.name if escaped else ""))
        except RefusedError as error:
            self.refuse(pattern, str(error), error.hint)
        negated = "NOT " if self.source.is_negated(node) else ""
        yield self.edit(escaped or node, lambda: f"{self.text(node.this)} {negated}RLIKE {regex}")

    @handles(exp.StrPosition)
    def _position(self, node: exp.StrPosition) -> Iterator[Edit]:
        """`POSITION('l' IN text FROM 4)`: Spark's POSITION begins at the first character."""
        start = node.args.get("position")
        if start is not None:
            parts = node.args["substr"], node.this, start
            yield self.edit(node, lambda: locate_from(*map(self.text, parts)))

    @handles(exp.Overlay)
    def _overlay(self, node: exp.Overlay) -> Iterator[Edit]:
        """A place outside of the text changes nothing; a length of 0 or less cuts the rest off."""

        def text() -> str:
            whole, new = self.text(node.this), self.text(node.expression)
            start = self.text(node.args["from_"])
            length = self.text(node.args["for_"]) if node.args.get("for_") else f"CHAR_LENGTH({new})"
            rest = f"CASE WHEN {length} <= 0 THEN '' ELSE SUBSTRING({whole}, {start} + {length}) END"
            parts = f"CONCAT(LEFT({whole}, {start} - 1), {new}, {rest})"
            outside = f"{start} NOT BETWEEN 1 AND CHAR_LENGTH({whole})"
            outside += self._unless_null(node.expression, node.args.get("for_"))
            return f"CASE WHEN {outside} THEN {whole} ELSE {parts} END"

        yield self.edit(node, text)

    def _unless_null(self, *values: exp.Expr | None) -> str:
        """` AND n IS NOT NULL` for each value that may be NULL: then the result is NULL, whatever the others are."""
        given = [v for v in values if v is not None and constant(v) is None and text_constant(v) is None]
        return "".join(f" AND {self.text(value)} IS NOT NULL" for value in given)


def _may_be_negative(node: exp.Expr | None) -> bool:
    """True for any number but a constant such as 3, which has no sign; False for None."""
    return node is not None and not (isinstance(node, exp.Literal) and not node.is_string)
