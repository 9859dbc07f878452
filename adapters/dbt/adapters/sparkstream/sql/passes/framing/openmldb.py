"""OpenMLDB's spelling where Spark's differs, apart from windows: functions, operators, numbers, arrays, aggregates.

An edit never holds an expression, only what stands around it: a call over a window within it is written by `Frames`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import ascii_lowercase

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.errors import RefusedError
from dbt.adapters.sparkstream.sql.core.frames import Frame, Kind
from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import aggregate_name, enclosing, find, results
from dbt.adapters.sparkstream.sql.core.source import SPAN, Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.types import INTEGERS, TIMES, is_numeric, is_string, spark_type
from dbt.adapters.sparkstream.sql.dialects.openmldb import begins_fraction, is_mod, mode_of_execution
from dbt.adapters.sparkstream.sql.grammar.specs import WindowSpec
from dbt.adapters.sparkstream.sql.passes.editor import Editor, Insertions
from dbt.adapters.sparkstream.sql.passes.framing.aggregates import AGGREGATES, usage
from dbt.adapters.sparkstream.sql.passes.framing.calls import Call, Window, read_call
from dbt.adapters.sparkstream.sql.passes.framing.column_names import NAMED, column_name
from dbt.adapters.sparkstream.sql.passes.framing.conversions import (
    CONVERSIONS,
    SPARK_TYPES,
    TO_INT,
    Around,
    conversion,
    text,
)
from dbt.adapters.sparkstream.sql.passes.framing.evaluation import Additions, Aggregate, Evaluation
from dbt.adapters.sparkstream.sql.passes.framing.functions import call_sql
from dbt.adapters.sparkstream.sql.passes.framing.scalars import (
    SCALARS,
    are_texts,
    as_text,
    named,
    one_of,
    substring,
    whole,
    whole_text,
)
from dbt.adapters.sparkstream.sql.passes.framing.select import FramedSelect
from dbt.adapters.sparkstream.sql.passes.framing.spelling import extent
from dbt.adapters.sparkstream.sql.passes.framing.streams import Stream
from dbt.adapters.sparkstream.sql.passes.framing.times import (
    is_millis,
    is_shift,
    likely_times,
    may_be_time,
    shift,
    shifted_column,
)
from dbt.adapters.sparkstream.sql.passes.framing.typing import OPENMLDB

_NUMERIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In)
_CHOOSING = {name: 0 for name, returns in OPENMLDB.functions.items() if returns is one_of} | {"NVL2": 1}
"""Function that gives one of its arguments -> how many others are before these."""
_SYMBOLS = {TokenType.XOR: "<>", TokenType.DAMP: "AND"}
_TO_MILLIS = ("unix_millis(", ")")
_WHOLE = Frame(Kind.ROWS, None, 0)
_IN_ORDER = frozenset({"LAG", "AT", "EW_AVG", "DRAWDOWN", "NTH_VALUE_WHERE"})
"""Functions that need the order of a window."""
_OTHER_SUMS = ("smallint", "int", "float", "timestamp", None)
"""Types of SUM's argument whose sum has another type in Spark; None is an unknown type."""


class _Group(Evaluation):
    """An aggregate of all rows of a group, to which Spark's aggregates need no OVER."""

    def __init__(self, select: FramedSelect, call: Call) -> None:
        super().__init__(select, Stream(1, (), None, None), Additions(inline_unnamed=True), call)

    def typed(self, value: str) -> str:
        return f"any_value({value})"

    def past(self, aggregate: Aggregate, *, default: str, condition: str | None = None) -> str:
        return aggregate(self._rows(False, condition), "")


class OpenMLDBSpelling(Editor):
    """Edits syntax and functions of OpenMLDB that Spark has not, or has otherwise."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self._times: frozenset[str] = frozenset()
        self._inserted = Insertions()

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """The edits of a statement."""
        self._inserted = Insertions()
        self._times = likely_times(tree)
        yield from self._tokens(self.source.tokens.within(extent(self.source, tree)))
        for places in mode_of_execution(self.source.tokens):
            yield Edit.to((self.source.tokens[places.start - 1].end + 1, self.source.tokens.span(places)[1]), "")
        yield from self._expressions(tree)
        yield from self._grouped(tree)
        self._name_items(tree)
        yield from self._inserted.edits()

    def _expressions(self, tree: exp.Expr) -> Iterator[Edit]:
        for node in tree.walk(bfs=False):
            if isinstance(node, exp.Anonymous):
                yield from self._call(node)
            elif isinstance(node, exp.Cast):
                yield from self._cast(node)
            elif isinstance(node, exp.Array):
                yield from self._array(node)
            elif isinstance(node, exp.Substring):
                yield from self._substring(node)
            elif isinstance(node, (exp.Floor, exp.Ceil)):
                yield from self._rounded(node)
            elif isinstance(node, exp.RegexpLike):
                self._wrap(node.expression, whole_text())
            elif isinstance(node, (exp.Case, exp.If)):
                self._unified(results(node))
            elif isinstance(node, exp.Neg) and self.type(node.this) == "boolean":
                yield Edit.to((self.source.span(node)[0], self.source.span(node.this)[0]), "")  # -TRUE is TRUE
            else:
                self._operands(node)

    def _name_items(self, tree: exp.Expr) -> None:
        """Names columns without an alias as OpenMLDB does; a column with a window is named by `Frames`."""
        for select in find(tree, exp.Select):
            for item in select.expressions:
                if not isinstance(item, (*NAMED, exp.Subquery)) and not item.find(exp.Window):
                    name = column_name(self.source, item)
                    self._inserted.append(self.source.span(item)[1], f" AS {backticked(name)}")

    def _tokens(self, places: range) -> Iterator[Edit]:
        """DOUBLE for 1.5, which is a DECIMAL in Spark; no comma before FROM; `%` for MOD, AND for `&&`."""
        tokens = self.source.tokens
        for i in places:
            token = tokens[i]
            span = token.start, token.end + 1
            raw = self.source.text[slice(*span)]
            following = tokens[i + 1].token_type if i + 1 in places else None
            if (
                token.token_type is TokenType.NUMBER
                and ("." in raw or begins_fraction(tokens, i))
                and raw[-1].isdigit()
            ):
                yield Edit.to(span, f"{raw}D")
            elif token.token_type is TokenType.STRING and following is TokenType.STRING:
                if tokens[i + 1].start == span[1] and raw[-1] == self.source.text[span[1]]:
                    yield Edit.to((token.end, span[1] + 1), f"\\{raw[-1]}")  # 'it''s' is two texts in Spark 4.0
            elif token.token_type is TokenType.COMMA and following is TokenType.FROM:
                yield Edit.to(span, "")
            elif is_mod(tokens, i):
                yield Edit.to(span, "%")
            elif token.token_type in _SYMBOLS:
                yield Edit.to(span, _SYMBOLS[token.token_type])

    # -- calls ---------------------------------------------------------------------------------------
    def _call(self, node: exp.Anonymous) -> Iterator[Edit]:
        name = node.name.upper()
        function = SCALARS.get(name)
        arguments = node.expressions
        if name in _CHOOSING:
            self._unified(arguments[_CHOOSING[name] :])
        if function is None and name not in CONVERSIONS:
            return
        types = [self.type(argument) for argument in arguments]
        for argument, type_ in zip(arguments, types, strict=True):
            by_itself = function.each(argument, type_) if function is not None and function.each else None
            if by_itself is not None:
                self._wrap(argument, by_itself)
        span = self.source.call_span(node)
        if name == "CONCAT_WS" and len(arguments) > 1:
            yield from self._joined(span, arguments)
        try:
            around = None
            if name in CONVERSIONS and len(types) == 1:
                around = self._conversion(name, arguments[0])
            if function is not None and function.around is not None:
                around = function.around(arguments, types)
        except RefusedError as error:
            raise self.source.error(span, str(error), error.hint) from None
        if around is not None:
            yield from self._around(span, arguments, around)

    def _conversion(self, name: str, value: exp.Expr) -> Around | None:
        return conversion(name, value, self.type(value), timed=may_be_time(value, self._times))

    def _joined(self, call: Span, arguments: list[exp.Expr]) -> Iterator[Edit]:
        """CONCAT_WS is NULL if a value is, where Spark leaves the value out: `concat(a, '-', b)`."""
        separator, *joined_values = arguments
        first, *others = map(self.source.span, joined_values)
        if isinstance(separator, exp.Literal):
            yield Edit.to((call[0], first[0]), "concat(")
            ends = [first[1], *(end for _, end in others)]
            for end, (start, _) in zip(ends, others, strict=False):
                yield Edit.to((end, start), f", {self.source.written(separator)}, ")
            return
        values = ascii_lowercase.replace("v", "").replace("s", "")[: len(others) + 1]
        if len(values) <= len(others):
            raise self.source.error(call, f"concat_ws takes {len(values)} values here", "write concat(a, sep, b, ...)")
        joined = ", v.s, ".join(f"v.{value}" for value in values)
        yield from self._around(call, arguments, named(f"s{values}", f"concat({joined})"))

    def _around(self, call: Span, arguments: list[exp.Expr], around: Around) -> Iterator[Edit]:
        """Other texts around the arguments of a call; arguments behind the last text are left out."""
        kept = [self.source.span(argument) for argument in arguments[: len(around) - 1]]
        if len(kept) < len(around) - 1:
            raise self.source.error(
                call, "this call has too few arguments", "write all of its arguments, with commas between them"
            )
        starts = [call[0], *(end for _, end in kept)]
        ends = [*(start for start, _ in kept), call[1]]
        for start, end, text_ in zip(starts, ends, around, strict=True):
            yield Edit.to((start, end), text_)

    def _cast(self, node: exp.Cast) -> Iterator[Edit]:
        """CAST(x AS BIGINT) is BIGINT(x)."""
        if SPAN not in node.meta or not isinstance(node.to, exp.DataType):
            return
        whole, value = self.source.span(node), self.source.span(node.this)
        if value[0] <= whole[0] or whole[1] <= value[1]:
            return
        name = (spark_type(node.to) or "").upper()
        try:
            around = self._conversion(name, node.this) if name in CONVERSIONS else None
        except RefusedError as error:
            raise self.source.error(whole, str(error), error.hint) from None
        if around is None:
            tokens = self.source.tokens_in(self.source.span(node.to))
            sized = any(token.token_type is TokenType.L_PAREN for token in tokens)
            for token in tokens:
                word = token.text.upper()
                if word in SPARK_TYPES and not sized:
                    yield Edit.to((token.start, token.end + 1), SPARK_TYPES[word])
        elif len(around) == 1:
            yield Edit.to(whole, around[0])
        else:
            yield Edit.to((whole[0], value[0]), around[0])
            yield Edit.to((value[1], whole[1]), around[1])

    def _substring(self, node: exp.Substring) -> Iterator[Edit]:
        """SUBSTRING from place 0, or from before the first character, is empty; Spark gives what follows."""
        start = node.args.get("start")
        if SPAN not in node.meta or start is None or (isinstance(start, exp.Literal) and start.name.strip("0")):
            return
        arguments = [node.this, start, *([length] if (length := node.args.get("length")) is not None else [])]
        yield from self._around(self.source.span(node), arguments, substring(length is not None))

    def _rounded(self, node: exp.Floor | exp.Ceil) -> Iterator[Edit]:
        """FLOOR and CEIL of a DOUBLE or BOOL are DOUBLEs."""
        name, type_ = type(node).__name__, self.type(node.this)
        around = whole(name.lower(), type_) if SPAN in node.meta and not node.args.get("to") else None
        if around:
            yield from self._around(self.source.span(node), [node.this], around)

    def _array(self, node: exp.Array) -> Iterator[Edit]:
        """array(1, 2) for [1, 2] and ARRAY[1, 2]."""
        if SPAN not in node.meta:
            return
        start, end = node.meta[SPAN]
        tokens = self.source.tokens
        first = next((i for i in tokens.within((start, end)) if tokens[i].token_type is TokenType.L_BRACKET), None)
        if first is not None and first <= tokens.at(start) + 1:
            yield Edit.to((start, tokens[first].end + 1), "array(")
            yield Edit.to((end - 1, end), ")")

    # -- operators -----------------------------------------------------------------------------------
    def _operands(self, node: exp.Expr) -> None:
        """Converts operands: a TIMESTAMP with a number to milliseconds, a number to a condition, a BOOL to a number."""
        if isinstance(node, exp.Xor):
            self._wrap(node, ("(", ")"))
            for side in (node.left, node.right):
                self._wrap(side, ("(", ")"))
        if isinstance(node, (exp.Connector, exp.Not, exp.Where)):
            for condition in (node.this, node.args.get("expression")):
                if isinstance(condition, exp.Expr):
                    self._as_condition(condition, node)
            return
        if isinstance(node, exp.DPipe):
            for side in (node.left, node.right):
                if around := as_text(side, self.type(side)):
                    self._wrap(side, around)
            return
        if isinstance(node, (exp.Between, exp.In)):
            parts = [node.this, node.args.get("low"), node.args.get("high"), *node.expressions]
            self._compared(node, [part for part in parts if part is not None])
        if not isinstance(node, (*_NUMERIC, exp.Predicate)) or not isinstance(node, exp.Binary):
            return
        if isinstance(node, exp.Predicate):
            self._compared(node, [node.left, node.right])
        else:
            self._computed(node)

    def _as_condition(self, value: exp.Expr, node: exp.Expr) -> None:
        """Makes a condition of a number or time that isn't 0, of a text that isn't empty, and of a day, which holds."""
        type_ = self.type(value)
        if is_numeric(type_):
            self._wrap(value, ("(", " <> 0)"))
        elif type_ is None and isinstance(value, exp.Column):
            self._wrap(value, ("boolean(", ")"))
        elif isinstance(node, exp.Where):
            return  # to Spark, which refuses it: OpenMLDB gives no rows
        elif is_string(type_):
            self._wrap(value, ("(", " <> '')"))
        elif type_ == "timestamp":
            self._wrap(value, ("boolean(", ")"))
        elif type_ == "date":
            self._wrap(value, ("nullif(isnotnull(", "), FALSE)"))

    def _compared(self, node: exp.Expr, sides: list[exp.Expr]) -> None:
        """Converts what is compared: a TIMESTAMP and a number as milliseconds, a number or BOOL and a text as texts."""
        types = list(map(self.type, sides))
        if None in types and any(map(is_millis, sides)):
            self._wrap_all(sides, None, CONVERSIONS["BIGINT"](node, None) or ("", ""))
        elif "timestamp" in types and any(type_ in INTEGERS for type_ in types):
            self._wrap_all(sides, "timestamp", _TO_MILLIS)
        elif "boolean" in types and any(is_numeric(type_) for type_ in types):
            self._wrap_all(sides, "boolean", TO_INT)
        elif isinstance(node, _COMPARISONS) and any(is_string(type_) for type_ in types):
            self._as_texts([side for side in sides if self.type(side) not in (*TIMES, "date")])

    def _unified(self, values: Sequence[exp.Expr]) -> None:
        """Gives the values of which an expression gives one OpenMLDB's common type: of `ifnull(x, '-')` a text."""
        types = list(map(self.type, values))
        if are_texts(types):
            self._as_texts(values)
        elif "timestamp" in types:
            for type_ in INTEGERS:
                self._wrap_all(values, type_, ("timestamp_millis(", ")"))
        elif any(map(is_numeric, types)):
            self._wrap_all(values, "boolean", TO_INT)

    def _as_texts(self, values: Sequence[exp.Expr]) -> None:
        """Writes numbers, BOOLs, times and days as texts."""
        for value in values:
            type_ = self.type(value)
            if is_numeric(type_) or type_ in ("boolean", "date", *TIMES):
                self._wrap(value, text(type_) or ("CAST(", " AS STRING)"))

    def _computed(self, node: exp.Binary) -> None:
        sides = [node.left, node.right]
        types = list(map(self.type, sides))
        if "timestamp" in types:
            if isinstance(node, (exp.Add, exp.Sub)):
                if None in types:
                    return
                self._wrap(node, ("timestamp_millis(", ")"))
            self._wrap_all(sides, "timestamp", _TO_MILLIS)
            return
        if isinstance(node, (exp.Add, exp.Sub)) and None in types:
            self._shifted(node)
            return
        to = self.type(node)
        if (isinstance(node, exp.IntDiv) and to in ("smallint", "int")) or (to == "float" and set(types) != {"float"}):
            self._wrap(node, ("CAST(", f" AS {to.upper()})"))  # a BIGINT and, in some cases, a DOUBLE in Spark
        if "boolean" in types and all(t == "boolean" or is_numeric(t) for t in types):
            self._wrap_all(sides, "boolean", TO_INT)

    def _shifted(self, node: exp.Binary) -> None:
        """`ts - 1000`, and `min(ts) OVER w - 1000`, of a column that may be a time."""
        for side, number in ((node.left, node.right), (node.right, node.left)):
            column = shifted_column(side)
            if self.type(side) is None and isinstance(number, exp.Literal) and is_shift(column, number, self._times):
                self._wrap(number, shift(self.source.written(column), number))

    def _wrap_all(self, values: Sequence[exp.Expr], type_: str | None, around: Around) -> None:
        """Writes texts around the values of a type."""
        for value in values:
            if self.type(value) == type_:
                self._wrap(value, around)

    def _wrap(self, node: exp.Expr, around: Around) -> None:
        """Writes texts before and behind an expression."""
        self._inserted.wrap(self.source.span(node), (around[0], around[1]))

    def _grouped(self, tree: exp.Expr) -> Iterator[Edit]:
        """One edit for each aggregate that Spark has not, or that gives another type there."""
        read: dict[int, FramedSelect] = {}
        for node in find(tree, exp.Anonymous):
            select = enclosing(node, exp.Select)
            if node.name.upper() not in AGGREGATES or select is None or SPAN not in select.meta:
                continue
            if "start" not in node.meta or isinstance(enclosing(node, exp.Window, exp.Select), exp.Window):
                continue
            if id(select) not in read:
                read[id(select)] = FramedSelect(self.source, self.resolver, select, dialect="openmldb")
            if not read[id(select)].our_windows:
                yield from self._grouped_call(node, read[id(select)])

    def _grouped_call(self, node: exp.Anonymous, select: FramedSelect) -> Iterator[Edit]:
        span = self.source.call_span(node)
        window = Window(None, WindowSpec(span, _WHOLE), span)
        group = _Group(select, read_call(self.source, node, window))
        if group.name in _IN_ORDER:
            raise group.fail(
                f"{group.word} goes by the order of rows, and needs a window",
                f"write {usage(group.call.name)} OVER (PARTITION BY ... ORDER BY ... ROWS BETWEEN ...)",
            )
        summed = group.name == "SUM" and not group.call.distinct and group.type() in _OTHER_SUMS
        if aggregate_name(node) is None or summed:
            yield Edit(span, lambda: call_sql(_Group(select, group.call)))
