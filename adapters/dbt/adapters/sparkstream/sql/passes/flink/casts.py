"""Casts and constants of Flink SQL, and values as the texts that its CAST(... AS STRING) gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from string import hexdigits

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.literals import quoted, string_literal
from dbt.adapters.sparkstream.sql.core.nested import element, entry, fields, is_array, nested_type
from dbt.adapters.sparkstream.sql.core.source import SPAN, Edit
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS
from dbt.adapters.sparkstream.sql.passes.flink import clocks
from dbt.adapters.sparkstream.sql.passes.flink.datetime import date_format
from dbt.adapters.sparkstream.sql.passes.flink.functions import record
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter, cast, handles, text_constant
from dbt.adapters.sparkstream.sql.passes.flink.typenames import MONTHS, family

_MICROS = 6
"""Digits behind the second of a TIMESTAMP without a precision, and the most that Spark keeps."""
_WORD = r"^(?!\s*[+-]?(Infinity|NaN)\s*$).*[INin].*$"
"""A text that Spark may take for an infinity, such as `inf`, and Java doesn't."""


class Casts(Rewriter):
    """Edits `CAST(x AS type)`, TRY_CAST and `TIMESTAMP '...'`."""

    @handles(exp.Cast, exp.TryCast)
    def _cast(self, node: exp.Cast | exp.TryCast) -> Iterator[Edit]:
        span = self.source.span(node)
        if node.args.get("format"):  # it would be dropped
            self.refuse(span, "Flink's CAST takes no FORMAT", "write DATE_FORMAT or TO_TIMESTAMP")
        to = nested_type(node.to)
        tokens = self.source.tokens_in(span)
        if to is None:
            return
        if not self._called(node):
            if to == "timestamp_ntz":  # TIMESTAMP '...' has no zone in Flink
                yield Edit((span[0], tokens[0].end + 1), lambda: "TIMESTAMP_NTZ")
            elif types.is_clock(to):  # TIME '...' has six digits behind the second in Spark
                yield Edit(span, lambda: cast(self.text(node.this), to))
            return
        from_ = self.type(node.this)
        word = next(token.text for token in tokens if token.text != "+")  # of `+CAST(x AS INT)`, or a part of `+x::INT`
        called = self.source.span(node.this)[0] != span[0] and word.upper() in ("CAST", "TRY_CAST")
        function = word if called else "CAST"

        def text() -> str:
            value = node.this
            digits = self._digits(value) if from_ in types.TIMES else None
            return self._converted(function, self.text(value), from_, node.to, digits, text_constant(value))

        yield Edit(span, text)

    def _converted(
        self,
        function: str,
        inner: str,
        from_: str | None,
        type_: exp.DataType,
        digits: int | None = None,
        literal: str | None = None,
        depth: int = 0,
    ) -> str:
        """Spark SQL of a value as another type.

        Args:
            function: CAST or TRY_CAST.
            inner: Spark SQL of the value.
            from_: its Spark type.
            type_: the type that is wanted.
            digits: the digits behind the second of a time; None if they aren't known.
            literal: the text itself, if the value is a constant text.
            depth: how many arrays, maps and rows the value lies in.
        """
        to = nested_type(type_) or ""
        name, size = self._target(type_)
        if to == "string":
            text = text_of(inner, from_, digits, function=function, depth=depth)
            if name in ("CHAR", "CHARACTER"):
                return f"RPAD({text}, {1 if size is None else size}, ' ')"
            if size is not None and size < 2**31 - 1:
                return f"LEFT({text}, {size})"
            return text if text != inner else f"{function}({inner} AS STRING)"
        if to == "binary" and name != "BYTES":
            bytes_ = inner if from_ == "binary" else f"{function}({inner} AS BINARY)"
            size = 1 if size is None else size
            return f"RPAD({bytes_}, {size}, X'00')" if name == "BINARY" else f"LEFT({bytes_}, {size})"
        if "<" in to:
            return self._parts(function, inner, from_, type_, depth) or f"{function}({inner} AS {to})"
        if types.is_decimal(to) and types.is_numeric(from_):
            function = "TRY_CAST"  # an overflow is NULL
        elif to in types.INTEGERS and types.is_numeric(from_):
            function = "CAST"  # an overflow wraps, in TRY_CAST too
        elif types.is_string(from_) and function.upper() == "TRY_CAST":
            inner = _tried_text(inner, literal, to, size)
        elif types.is_clock(to) and types.is_string(from_):
            inner = clocks.read(inner, literal)
        elif to in types.TIMES and types.is_clock(from_):
            inner = clocks.on_a_day(inner)
            if to == types.NTZ:
                return inner
        elif to in types.TIMES and size is not None and size < _MICROS:
            if types.is_string(from_):
                inner = clocks.cut_text(inner, literal, size)
            elif from_ in types.TIMES and (digits is None or size < digits):
                inner = clocks.cut_time(inner, size)
        return f"{function}({inner} AS {to.upper()})"

    def _parts(self, function: str, sql: str, from_: str | None, type_: exp.DataType, depth: int) -> str | None:
        """An array, a map or a row whose parts are cast one by one; None where Spark's CAST does the same."""
        each, row, pair = f"e{depth}", fields(from_) or (), entry(from_) or (None, None)
        kinds = [part.args["kind"] if isinstance(part, exp.ColumnDef) else part for part in type_.expressions]
        if type_.this == exp.DType.ARRAY:
            parts = [(each, element(from_))]
        elif type_.this == exp.DType.MAP:
            parts = [(f"{each}.key", pair[0]), (f"{each}.value", pair[1])]
        else:
            parts = [(f"{each}.{quoted(name)}", inner) for name, inner in row]
        if len(parts) != len(kinds):
            return None
        texts = [
            self._converted(function, part, inner, kind, depth=depth + 1)
            for (part, inner), kind in zip(parts, kinds, strict=True)
        ]
        if all(
            text.removeprefix("TRY_").startswith(f"CAST({part} AS ")
            for text, (part, _) in zip(texts, parts, strict=True)
        ):
            return None
        if type_.this == exp.DType.ARRAY:
            return f"TRANSFORM({sql}, {each} -> {texts[0]})"
        if type_.this == exp.DType.MAP:
            return f"MAP_FROM_ENTRIES(TRANSFORM(MAP_ENTRIES({sql}), {each} -> STRUCT({', '.join(texts)})))"
        names = [string_literal(field.name) for field in type_.expressions]
        named = ", ".join(f"{name}, {text}" for name, text in zip(names, texts, strict=True))
        return f"TRANSFORM(ARRAY({sql}), {each} -> CASE WHEN {each} IS NOT NULL THEN NAMED_STRUCT({named}) END)[0]"

    def _target(self, to: exp.DataType) -> tuple[str, int | None]:
        """Name and size of a type as written: CHAR and 5 of `CHAR(5)` and `CHAR(5) ARRAY`, a TEXT to sqlglot."""
        written: exp.Expr = to
        while SPAN not in written.meta and written.parent is not None:  # the CHAR(5) of CHAR(5) ARRAY
            written = written.parent
        name, *size = [token.text for token in self.source.tokens_in(self.source.span(written))[:3]]
        is_size = len(size) == 2 and size[0] == "(" and size[1].isdecimal() and len(size[1]) < 10
        return name.upper(), int(size[1]) if is_size else None

    def _digits(self, time: exp.Expr) -> int | None:
        """Digits behind the second of a time, by its SQL: 3 for a window's column, None for another column."""
        while isinstance(time, exp.Paren):
            time = time.this
        if isinstance(time, exp.Column):
            return 3 if time.name in WINDOW_COLUMNS else None
        if isinstance(time, (exp.Cast, exp.TryCast)):
            if not self._called(time):
                return len(time.this.name.partition(".")[2])
            name, size = self._target(time.to)
            return size if size is not None else 6 if name.startswith("TIMESTAMP") else 3
        if isinstance(time, (exp.If, exp.Window)):  # of IF the first value's, and so of WHEN
            return self._digits(time.args.get("true") or time.this)
        values = [v for v in time.iter_expressions() if self.type(v) in types.TIMES or v.arg_key == "ifs"]
        if not values and time.name.upper() == "TIMESTAMPADD":  # of a date
            return 6
        first = time.name.upper() in ("LAG", "LEAD", "NULLIF")
        known = {self._digits(value) for value in (values[:1] if first else values)}
        return None if None in known else max((each for each in known if each is not None), default=None)

    def _called(self, node: exp.Expr) -> bool:
        """True if a cast is written `CAST(x AS type)` or `x::type`, and not `type 'x'`."""
        return self.source.span(node.args["to"])[0] > self.source.span(node.this)[0]


def _tried_text(text: str, literal: str | None, to: str, digits: int | None) -> str:
    """Spark SQL of the text that TRY_CAST converts: the whole text, or the part of it that Flink reads.

    Args:
        text: Spark SQL of the text.
        literal: the text itself, if it is a constant.
        to: the Spark type of the value.
        digits: the digits behind the second that a time keeps; None if its type has no precision.
    """
    if to in types.INTEGERS:
        # Flink reads 12 in '12.7', and 0 in '.5' and '.': group 1 is the sign, and a 0 stands behind it.
        return _replaced(text, r"^(\s*[+-]?)(\d*)[.]\d*\s*$", "$10$2")
    if to in ("double", "float"):
        return _replaced(text, _WORD, "")
    if to == "boolean":
        return _replaced(text, r"\s", "?")  # Spark leaves white space out
    if to == "date":
        return clocks.read_date(text)
    if to in types.TIMES:
        return clocks.read_time(text, literal, min(_MICROS, _MICROS if digits is None else digits)) or "NULL"
    return clocks.read(text, literal, tried=True) if types.is_clock(to) else text


def _replaced(text: str, pattern: str, replacement: str) -> str:
    return f"REGEXP_REPLACE({text}, {string_literal(pattern)}, '{replacement}')"


_CLOCK = "yyyy-MM-dd HH:mm:ss"
_PLAIN_SCALE = 6
"""Digits behind the point up to which a DECIMAL is never written with an exponent."""


def text_of(sql: str, type_: str | None, digits: int | None = None, *, function: str = "CAST", depth: int = 0) -> str:
    """A value as a text; NULL stays NULL.

    Args:
        sql: Spark SQL of the value.
        type_: its Spark type.
        digits: the digits behind the second of a time; None if they aren't known.
        function: CAST or TRY_CAST.
        depth: how many arrays and maps the value lies in.
    """
    if types.is_string(type_):
        return sql
    if type_ in types.TIMES:
        return _time(sql, digits, type_)
    if type_ is not None and types.is_clock(type_):
        return clocks.text_of(sql, type_)
    if types.is_decimal(type_) and types.decimal_parts(type_ or "")[1] > _PLAIN_SCALE:
        return f"REPLACE(FORMAT_NUMBER({sql}, {types.decimal_parts(type_ or '')[1]}), ',', '')"
    if family(type_) == "interval" and type_ != "interval":
        return _length(sql, type_ == MONTHS)
    if is_array(type_):
        return _array(sql, element(type_), depth)
    pair, row = entry(type_), fields(type_)
    if pair is not None:
        each = f"e{depth}"
        key, value = (
            text_of(f"{each}.{part}", t, depth=depth + 1) for part, t in zip(("key", "value"), pair, strict=True)
        )
        pairs = f"TRANSFORM(MAP_ENTRIES({sql}), {each} -> CONCAT({key}, '=', COALESCE({value}, 'NULL')))"
        return f"CONCAT('{{', ARRAY_JOIN({pairs}, ', '), '}}')"
    if row is not None and set(sql) & set("()[]+-*/ '"):  # no path of names: written once, however many fields it has
        return f"TRANSFORM(ARRAY({sql}), e{depth} -> {text_of(f'e{depth}', type_, depth=depth + 1)})[0]"
    if row is not None:
        return f"CASE WHEN {sql} IS NOT NULL THEN {_row(sql, row, depth)} END"
    text = f"{function}({sql} AS STRING)"
    return f"UPPER({text})" if type_ == "boolean" else text


def _time(sql: str, digits: int | None, type_: str | None) -> str:
    """Text of a time with its digits behind the second; if they aren't known, six, or three if the last three are 0."""
    if digits is None:
        return f"REGEXP_REPLACE({date_format('DATE_FORMAT', sql, f'{_CLOCK}.SSSSSS', type_)}, '000$', '')"
    return date_format("DATE_FORMAT", sql, f"{_CLOCK}{'.' if digits else ''}{'S' * digits}", type_)


def _length(sql: str, months: bool) -> str:
    """Text of a length of time: `+1 02:03:04.500`, or `+1-03` of whole months."""
    sign = f"CASE WHEN {sql} < INTERVAL '0' {'MONTH' if months else 'SECOND'} THEN '-' ELSE '+' END"
    length = f"ABS(CAST({sql} AS INTERVAL {'YEAR TO MONTH' if months else 'DAY TO SECOND'}))"
    first, last = (
        ("YEAR", "'-', LPAD(EXTRACT(MONTH FROM {}), 2, '0')")
        if months
        else ("DAY", "' ', DATE_FORMAT(TIMESTAMP_NTZ '1970-01-01' + {}, 'HH:mm:ss.SSS')")
    )
    return f"CONCAT({sign}, EXTRACT({first} FROM {length}), {last.format(length)})"


def _array(sql: str, inner: str | None, depth: int) -> str:
    each = f"e{depth}"
    text = text_of(each, inner, depth=depth + 1)
    texts = sql if text == each else f"TRANSFORM({sql}, {each} -> {text})"
    return f"CONCAT('[', ARRAY_JOIN({texts}, ', ', 'NULL'), ']')"


def _row(sql: str, row: Iterable[tuple[str, str | None]], depth: int) -> str:
    texts = [f"COALESCE({text_of(f'{sql}.{quoted(name)}', t, depth=depth)}, 'NULL')" for name, t in row]
    separated = [piece for i, text in enumerate(texts) for piece in ([] if i == 0 else ["', '"]) + [text]]
    return f"CONCAT('(', {', '.join(separated)}, ')')"


_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "'": "'"}
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.S)


class Literals(Rewriter):
    """Edits constants."""

    @handles(exp.Literal)
    def _literal(self, node: exp.Literal) -> Iterator[Edit]:
        """A backslash is a plain character, and `''` one quote; Spark before 4.1 reads `'a''b'` as two texts.

        A number such as `5.` is a whole number, and a DECIMAL in Spark.
        """
        if not node.is_string:
            if node.name.endswith("."):
                end = self.source.span(node)[1]
                yield Edit.to((end - 1, end), "")
            yield from self._fraction(node)
        elif set("\\'") & set(node.name):
            for token in self.source.tokens_in(self.source.span(node)):
                if token.token_type == TokenType.STRING and set("\\'") & set(token.text):
                    yield Edit.to((token.start, token.end + 1), string_literal(token.text))

    def _fraction(self, node: exp.Literal) -> Iterator[Edit]:
        """Casts a constant such as 0.5, alone or with exact numbers: its 0 is a digit to Flink, and none to Spark."""
        type_, around = self.type(node), node.parent
        written = self.source.written(node)
        if isinstance(around, exp.Interval) or not written.startswith("0") or not types.is_decimal(type_):
            return
        while isinstance(around, (exp.Paren, exp.Neg)):
            around = around.parent
        if isinstance(around, (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)):
            beside = [around.left, around.right]
        elif isinstance(around, exp.Anonymous) and (function := record(around)) is not None and function.alike:
            beside = around.expressions
        elif isinstance(around.parent if isinstance(around, exp.Alias) else around, exp.Select):
            beside = []
        else:
            return
        if all(types.is_decimal(t) or t in types.INTEGERS for t in map(self.type, beside)):
            yield self.edit(node, lambda: cast(self.text(node), type_ or ""))

    @handles(exp.UnicodeString)
    def _unicode(self, node: exp.UnicodeString) -> Iterator[Edit]:
        r"""`U&'\00e9'` is a text in which four hexadecimal digits behind a backslash are a character."""
        escape = node.args["escape"].name if node.args.get("escape") else "\\"
        first, *rest = node.name.replace(2 * escape, "\0").split(escape)
        for piece in rest:
            if len(piece) < 4 or not set(piece[:4]) <= set(hexdigits):
                self.refuse(
                    node,
                    f"{escape} stands before four hexadecimal digits here",
                    f"write {escape}00e9, or {2 * escape} for {escape} itself",
                )
        text = first + "".join(chr(int(piece[:4], 16)) + piece[4:] for piece in rest)
        # Characters outside Unicode's first plane are written as two of four digits each.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", escape)
        yield self.edit(node, lambda: string_literal(text))

    @handles(exp.ByteString)
    def _escaped(self, node: exp.ByteString) -> Iterator[Edit]:
        r"""`E'a\n'` has a new line behind its a."""
        inner = self.source.written(node)[2:-1].replace("''", "\\'")
        for escape in _ESCAPE.finditer(inner):
            if escape[0][1] not in _ESCAPED and len(escape[0]) == 2:
                self.refuse(node, f"{escape[0]} is no character here", r"write \n, \t, \\ or \u00e9")
        text = _ESCAPE.sub(lambda m: _ESCAPED.get(m[0][1]) or chr(int(m[0][2:], 16)), inner)
        yield self.edit(node, lambda: string_literal(text))

    @handles(exp.National)
    def _national(self, node: exp.National) -> Iterator[Edit]:
        """`N'abc'` is a text like any other."""
        yield self.edit(node, lambda: string_literal(node.name))
