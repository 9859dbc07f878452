"""Edits of expressions and queries that Spark would answer otherwise than Flink, or that Flink refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.columns import NO_SELECT, Resolver, sources
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.windows import AUXILIARY, GROUP_WINDOWS, WindowFunction
from dbt.adapters.sparkstream.sql.passes.flink.constructs import Constructs, is_map_constructor
from dbt.adapters.sparkstream.sql.passes.flink.datetime import ceil_to, floor_to, months_between
from dbt.adapters.sparkstream.sql.passes.flink.functions import (
    AGGREGATES,
    FUNCTIONS,
    RANKING,
    Call,
    RefusedError,
    UntypedError,
)
from dbt.adapters.sparkstream.sql.passes.flink.typing import NUMBERS, arithmetic_type

_OTHER_CALLS = frozenset({"TIMESTAMPADD", "TIMESTAMPDIFF", *AUXILIARY, *GROUP_WINDOWS})
"""Calls that are no entry of the function table, as another place translates them or Spark has them as they are."""


def _field(name: str) -> Callable[[str, str | None], str]:
    return lambda time, _: f"CAST(EXTRACT({name} FROM {time}) AS BIGINT)"


def _epoch(time: str, type_: str | None) -> str:
    if type_ == "timestamp":
        return f"UNIX_SECONDS({time})"
    # Without a zone the clock itself counts, whatever the session's zone.
    return f"((CAST({time} AS TIMESTAMP_NTZ) - TIMESTAMP_NTZ '1970-01-01') DIV INTERVAL '1' SECOND)"


_EXTRACTED: dict[str, Callable[[str, str | None], str]] = {
    **{name: _field(name) for name in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOY", "DOW", "HOUR", "MINUTE")},
    "ISODOW": _field("DAYOFWEEK_ISO"),
    "ISOYEAR": _field("YEAROFWEEK"),
    "CENTURY": lambda time, _: f"CAST(CEIL(YEAR({time}) / 100) AS BIGINT)",
    "MILLENNIUM": lambda time, _: f"CAST(CEIL(YEAR({time}) / 1000) AS BIGINT)",
    "DECADE": lambda time, _: f"CAST(YEAR({time}) DIV 10 AS BIGINT)",
    "SECOND": lambda time, _: f"CAST(FLOOR(EXTRACT(SECOND FROM {time})) AS BIGINT)",
    "MILLISECOND": lambda time, _: f"CAST(FLOOR(EXTRACT(SECOND FROM {time}) * 1000) % 1000 AS BIGINT)",
    "EPOCH": _epoch,
}
"""Fields of EXTRACT -> Spark SQL from the time and its type; all BIGINT and whole in Flink."""

_UNIT_FIRST = ("TIMESTAMPADD", "TIMESTAMPDIFF")
_DIFF_UNITS = ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")


class FlinkExpressions:
    """Edits the expressions of a statement written in Flink SQL."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        self._source = source
        self._resolver = resolver
        self._handlers: dict[type[exp.Expr], Callable[[exp.Expr], Iterator[Edit]]] = {
            exp.Anonymous: self._call,
            exp.Cast: self._cast,
            exp.TryCast: self._cast,
            exp.Div: self._divide,
            exp.Add: self._arithmetic,
            exp.Sub: self._arithmetic,
            exp.Mul: self._arithmetic,
            exp.Mod: self._arithmetic,
            exp.Extract: self._extract,
            exp.Substring: self._substring,
            exp.Floor: self._round,
            exp.Ceil: self._round,
            exp.Interval: self._interval,
            exp.DPipe: self._concat,
            **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), self._compare),
            exp.In: self._in,
            exp.Case: self._case,
            **dict.fromkeys((exp.Union, exp.Except, exp.Intersect), self._set_operation),
            exp.Literal: self._literal,
            exp.Column: self._column,
            exp.Window: self._window,
            exp.Select: self._select,
            **Constructs(source).handlers,
        }

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """Spark's way of saying what Flink means, wherever they differ.

        Raises:
            TranslationError: Flink refuses it, or Spark has no way to say it.
        """
        for node in tree.walk():
            handler = self._handlers.get(type(node))
            if handler:
                yield from handler(node)

    # -- helpers -----------------------------------------------------------------------------------
    def _text(self, node: exp.Expr) -> str:
        return self._source.rendered(node)

    def _type(self, node: exp.Expr | None) -> str | None:
        if node is None:
            return None
        return self._resolver.type(node, node.find_ancestor(exp.Select) or NO_SELECT)

    def _refuse(self, node: exp.Expr | Span, message: str, hint: str | None = None) -> None:
        span = self._source.span(node) if isinstance(node, exp.Expr) else node
        raise self._source.error(span, message, hint)

    def _edit(self, node: exp.Expr, text: Callable[[], str]) -> Edit:
        return Edit(self._source.span(node), text)

    # -- functions ---------------------------------------------------------------------------------
    def _call(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Anonymous)
        name = node.name.upper()
        span = self._source.call_span(node)
        if name in ("TIMESTAMPADD", "TIMESTAMPDIFF"):
            yield from self._timestamp_arithmetic(node, name, span)
            return
        if name in _OTHER_CALLS or isinstance(node.parent, (exp.Interval, exp.IntervalSpan)):
            return
        function = FUNCTIONS.get(name)
        if function is None:
            self._refuse(
                span,
                f"{name} is no function of Flink that has a counterpart in Spark",
                "call Spark's functions outside the Flink SQL, in the model around it",
            )
            return
        arguments = [a for a in node.expressions if not isinstance(a, exp.Distinct)]
        distinct = [a for a in node.expressions if isinstance(a, exp.Distinct)]
        arguments += [inner for a in distinct for inner in a.expressions]
        if function.arguments and not function.arguments[0] <= len(arguments) <= function.arguments[1]:
            least, most = function.arguments
            counts = str(least) if least == most else f"{least} to {most}"
            self._refuse(span, f"{name} takes {counts} argument{'' if counts == '1' else 's'}")
        outer = self._outer(node, name)
        if function.rewrite is None:
            return
        rewrite = function.rewrite
        whole = self._source.span(outer) if outer is not node else span
        types_ = tuple(self._type(a) for a in arguments)

        def text() -> str:
            call = Call(
                name=self._source.text[node.meta["start"] : node.meta["end"] + 1],
                args=tuple(self._text(a) for a in arguments),
                types=types_,
                literals=tuple(a.name if isinstance(a, exp.Literal) and a.is_string else None for a in arguments),
                distinct=bool(distinct),
                suffix=self._source.render((span[1], whole[1])),
            )
            try:
                return rewrite(call)
            except UntypedError:
                return call.same()
            except RefusedError as error:
                raise self._source.error(span, str(error), error.hint) from None

        yield Edit((span[0], whole[1]), text)

    def _outer(self, node: exp.Anonymous, name: str) -> exp.Expr:
        """The call with its FILTER and OVER."""
        outer: exp.Expr = node
        while isinstance(outer.parent, (exp.Filter, exp.Window, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
            if outer.arg_key != "this":
                break
            outer = outer.parent
            if isinstance(outer, exp.WithinGroup):
                self._refuse(outer, f"Flink's {name} takes no WITHIN GROUP")
            if isinstance(outer, (exp.IgnoreNulls, exp.RespectNulls)):
                self._refuse(outer, f"Flink's {name} takes no IGNORE or RESPECT NULLS: it skips NULLs")
        return outer

    def _timestamp_arithmetic(self, node: exp.Anonymous, name: str, span: Span) -> Iterator[Edit]:
        if len(node.expressions) != 3:
            self._refuse(span, f"{name} takes a unit and two values", f"write {name}(MINUTE, a, b)")
        unit, first, last = node.expressions
        word = unit.name.upper().removeprefix("SQL_TSI_")
        if word not in _DIFF_UNITS:
            self._refuse(unit, f"{name} knows no unit {unit.name}", f"one of {', '.join(_DIFF_UNITS)}")
        if name == "TIMESTAMPADD":
            if self._type(last) == "date" and word in ("DAY", "WEEK", "MONTH", "QUARTER", "YEAR"):
                yield Edit(span, lambda: f"CAST({self._source.render(span)} AS DATE)", level=1)
            return

        def text() -> str:
            start, end = self._text(first), self._text(last)
            if word in ("MONTH", "QUARTER", "YEAR"):
                months = months_between(start, end)
                per = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}[word]
                return f"CAST({months} AS INT)" if per == 1 else f"CAST(({months}) DIV {per} AS INT)"
            return f"CAST(TIMESTAMPDIFF({word}, {start}, {end}) AS INT)"

        yield Edit(span, text)

    def _window(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Window)
        if node.arg_key == "windows":
            yield from ()
            return
        function = node.this
        if isinstance(function, exp.Filter):
            self._refuse(
                function, "FILTER can't stand before OVER", "write SUM(CASE WHEN condition THEN x END) OVER ..."
            )
        spec = self._spec(node)
        name = function.name.upper() if isinstance(function, exp.Anonymous) else ""
        if name in RANKING and spec is not None and spec.args.get("spec"):
            self._refuse(node, f"{name} takes no ROWS or RANGE", "leave the frame out")
        if name not in RANKING and name not in AGGREGATES and name:
            self._refuse(node, f"OVER takes an aggregate function, and {name} is none")
        where = node.find_ancestor(exp.Where, exp.Having, exp.Group, exp.Select)
        if isinstance(where, (exp.Where, exp.Having, exp.Group)):
            self._refuse(
                node,
                f"a window function can't stand in {where.key.upper()}",
                "compute it in a subquery, and filter around that",
            )
        order = spec.args.get("order") if spec is not None else None
        frame = spec.args.get("spec") if spec is not None else None
        if frame is not None and order is not None and (frame.args.get("kind") or "").upper() == "RANGE":
            bounded = any(isinstance(frame.args.get(side), exp.Expr) for side in ("start", "end"))
            if bounded and len(order.expressions) > 1:
                self._refuse(
                    node, "a RANGE offset needs exactly one column in ORDER BY", "order by the time column alone"
                )

    def _spec(self, node: exp.Window) -> exp.Window | None:
        """The window itself, or the one that its name stands for in the WINDOW clause."""
        alias = node.args.get("alias")
        if not isinstance(alias, exp.Identifier) or node.args.get("order") or node.args.get("partition_by"):
            return node
        select = node.find_ancestor(exp.Select)
        named = select.args.get("windows") or [] if select else []
        return next((w for w in named if w.name.casefold() == alias.name.casefold()), None)

    # -- casts and literals ------------------------------------------------------------------------
    def _cast(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, (exp.Cast, exp.TryCast))
        span = self._source.span(node)
        to = types.spark_type(node.to)
        tokens = self._source.tokens_in(span)
        called = self._called(node)
        if to is None and node.to.this not in (exp.DType.ARRAY, exp.DType.MAP, exp.DType.STRUCT):
            written = self._target(node)[0] if called else tokens[0].text
            self._refuse(span, f"the type {written} has no counterpart in Spark")
        if to is None:
            return
        if not called:
            if to == "timestamp_ntz":  # TIMESTAMP '...' has no zone in Flink
                yield Edit((span[0], tokens[0].end + 1), lambda: "TIMESTAMP_NTZ")
            return
        from_ = self._type(node.this)
        self._check_cast(node, from_, to)
        function = tokens[0].text
        yield Edit(span, lambda: self._cast_text(function, node, from_, to))

    def _check_cast(self, node: exp.Expr, from_: str | None, to: str) -> None:
        if from_ in types.TIMES and types.is_numeric(to):
            self._refuse(
                node, "a timestamp can't be cast to a number", "write UNIX_TIMESTAMP(...) or TIMESTAMPDIFF(...)"
            )
        if types.is_numeric(from_) and to in types.TIMES:
            self._refuse(node, "a number can't be cast to a timestamp", "write TO_TIMESTAMP_LTZ(epoch_millis, 3)")

    def _cast_text(self, function: str, node: exp.Cast | exp.TryCast, from_: str | None, to: str) -> str:
        inner = self._text(node.this)
        if to == "string":
            text = inner if types.is_string(from_) else f"{function}({inner} AS STRING)"
            if from_ == "boolean":
                text = f"UPPER({text})"
            elif from_ in types.TIMES:
                text = f"DATE_FORMAT({inner}, 'yyyy-MM-dd HH:mm:ss{self._fraction(node.this)}')"
            name, size = self._target(node)
            if name in ("CHAR", "CHARACTER"):
                return f"RPAD({text}, {size or 1}, ' ')"
            if size is not None and size < 2**31 - 1:
                return f"LEFT({text}, {size})"
            return text if text != inner else f"{function}({inner} AS STRING)"
        if types.is_decimal(to) and types.is_numeric(from_):
            function = "TRY_CAST"  # an overflow is NULL
        return f"{function}({inner} AS {to.upper()})"

    def _target(self, node: exp.Expr) -> tuple[str, int | None]:
        """Name and size of a cast's type as written, such as CHAR and 5; sqlglot keeps neither of text types."""
        tokens = self._source.tokens_in(self._source.span(node))
        at = max(i for i, token in enumerate(tokens) if token.token_type == TokenType.ALIAS) + 1
        size = tokens[at + 2].text if tokens[at + 1].token_type == TokenType.L_PAREN else ""
        return tokens[at].text.upper(), int(size) if size.isdecimal() else None

    def _fraction(self, time: exp.Expr) -> str:
        """The digits behind the second: as the inner CAST says, else three."""
        while isinstance(time, exp.Paren):
            time = time.this
        digits = 3
        if isinstance(time, (exp.Cast, exp.TryCast)):
            if self._called(time):
                name, size = self._target(time)
                digits = size if size is not None else 6 if name.startswith("TIMESTAMP") else 3
            else:
                digits = len(time.this.name.partition(".")[2])
        return f".{'S' * digits}" if digits else ""

    def _called(self, node: exp.Expr) -> bool:
        """Whether a cast is written `CAST(x AS type)`, and not `type 'x'`."""
        tokens = self._source.tokens_in(self._source.span(node))
        return len(tokens) > 1 and tokens[1].token_type == TokenType.L_PAREN and tokens[0].text.upper().endswith("CAST")

    def _literal(self, node: exp.Expr) -> Iterator[Edit]:
        if not (isinstance(node, exp.Literal) and node.is_string and "\\" in node.name):
            return
        for token in self._source.tokens_in(self._source.span(node)):
            if token.token_type == TokenType.STRING and "\\" in token.text:
                span = token.start, token.end + 1
                yield Edit(span, lambda span=span: self._source.text[slice(*span)].replace("\\", "\\\\"))  # type: ignore[misc]

    def _column(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Column)
        if is_map_constructor(node.parent):
            return
        if isinstance(node.this, exp.Identifier) and not node.table and not node.this.quoted:
            # Functions without parentheses are reserved words in Flink, and no columns.
            if node.name.upper() == "LOCALTIMESTAMP":
                yield self._edit(node, lambda: "LOCALTIMESTAMP()")
                return
            if node.name.upper() in ("LOCALTIME", "CURRENT_TIME"):
                self._refuse(
                    node, f"{node.name} is a TIME, a type that has no counterpart in Spark", "write LOCALTIMESTAMP"
                )
        self._check_column(node)

    def _check_column(self, column: exp.Column) -> None:
        """Refuses a name that is no column in scope, or that of two."""
        select = column.find_ancestor(exp.Select)
        if select is None or column.is_star or column.find_ancestor(WindowFunction, exp.Select) is not select:
            return
        if isinstance(column.parent, exp.Anonymous) and column.parent.name.upper() in _UNIT_FIRST and column.index == 0:
            return
        if isinstance(column.parent, exp.Join) or any(j.args.get("using") for j in select.args.get("joins") or []):
            return
        found = self._resolver.candidates(column, select)
        if found is None or len(found) == 1:
            return
        if len(found) > 1:
            self._refuse(
                column,
                f"{column.name} is ambiguous: two inputs have it",
                f"write the input before it: {sources(select)[0].alias_or_name or 'L'}.{column.name}",
            )
        aliases = {p.alias_or_name.casefold() for p in select.expressions}
        if column.find_ancestor(exp.Order, exp.Select) is not select and column.name.casefold() in aliases:
            return
        known = [c.name for s in sources(select) for c in self._resolver.columns(s).items]
        written = self._source.written(column)
        self._refuse(column, f"there is no column {written} here", f"there are {', '.join(known)}" if known else None)

    def _interval(self, node: exp.Expr) -> Iterator[Edit]:
        unit = node.args.get("unit")
        if unit is None:
            return
        names = [
            str(u.name or u.sql()).upper()
            for u in ([unit.this, unit.expression] if isinstance(unit, exp.IntervalSpan) else [unit])
        ]
        if names[0] in ("WEEK", "WEEKS"):
            self._refuse(
                node, "WEEK is no unit that Flink can be trusted with (2.2 reads it as one hour)", "write '7' DAY"
            )
        if names[0] in ("QUARTER", "QUARTERS"):
            self._refuse(node, "Flink reads a QUARTER as one month", "write '3' MONTH")
        # Spark takes no precision: DAY(3), SECOND(3).
        tokens = self._source.tokens_in(self._source.span(node))
        for i, token in enumerate(tokens):
            if (
                token.token_type == TokenType.L_PAREN
                and i + 2 < len(tokens)
                and tokens[i + 2].token_type == TokenType.R_PAREN
            ):
                yield Edit((token.start, tokens[i + 2].end + 1), lambda: "")

    # -- operators ---------------------------------------------------------------------------------
    def _divide(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Div)
        left, right = self._type(node.left), self._type(node.right)
        if left in types.INTEGERS and right in types.INTEGERS:
            result = NUMBERS.common([left, right]) or "bigint"
            yield self._edit(
                node, lambda: f"CAST({self._operand(node.left)} DIV {self._operand(node.right)} AS {result.upper()})"
            )
            return
        if "double" in (left, right) or "float" in (left, right):
            never_zero = isinstance(node.right, exp.Literal) and float(node.right.name or 0) != 0
            narrow = arithmetic_type(node, left, right) == "float"
            if narrow or not never_zero:
                yield self._edit(node, lambda: self._float_division(node, never_zero, narrow))
            return
        yield from self._arithmetic(node)

    def _operand(self, node: exp.Expr) -> str:
        text = self._text(node)
        return f"({text})" if isinstance(node, (exp.Add, exp.Sub)) else text

    def _float_division(self, node: exp.Div, never_zero: bool, narrow: bool) -> str:
        """Division that gives infinities, where Spark gives NULL or an error; narrow to give a FLOAT."""
        a, b = self._operand(node.left), self._operand(node.right)
        if never_zero:
            return f"CAST({a} / {b} AS FLOAT)"
        infinite = f"CASE WHEN {a} = 0 THEN 'NaN' WHEN {a} > 0 THEN 'Infinity' ELSE '-Infinity' END"
        text = f"CASE WHEN {b} = 0 AND {a} IS NOT NULL THEN CAST({infinite} AS DOUBLE) ELSE {a} / {b} END"
        return f"CAST({text} AS FLOAT)" if narrow else text

    def _arithmetic(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Binary)
        left, right = self._type(node.left), self._type(node.right)
        if isinstance(node, exp.Sub) and left in types.TIMES and right in types.TIMES:
            self._refuse(node, "Flink takes no difference of two timestamps", "write TIMESTAMPDIFF(SECOND, b, a)")
        if isinstance(node, exp.Sub) and left == right == "date":
            self._refuse(node, "Flink takes no difference of two dates", "write TIMESTAMPDIFF(DAY, b, a)")
        if types.mixed(left, right):
            self._refuse(node, "a number and a text can't be calculated with", "write CAST(... AS INT) around the text")
        for operand, other in ((node.left, right), (node.right, left)):
            if types.is_decimal(other) and isinstance(operand, exp.Literal) and self._type(operand) in types.INTEGERS:
                # Spark sizes an integer literal by its digits.
                digits = NUMBERS.digits[self._type(operand) or "int"]
                yield self._edit(operand, lambda o=operand, d=digits: f"CAST({self._text(o)} AS DECIMAL({d},0))")  # type: ignore[misc]
        if left == "float" and right == "double":
            yield Edit(self._source.span(node), lambda: f"CAST({self._text(node)} AS FLOAT)", level=1)

    def _concat(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.DPipe)
        for operand in (node.left, node.right):
            if types.is_numeric(self._type(operand)):
                self._refuse(operand, "|| joins texts, and this is a number", "write CAST(... AS STRING)")
        yield from ()

    def _compare(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Binary)
        self._comparable(node, node.left, node.right)
        yield from ()

    def _in(self, node: exp.Expr) -> Iterator[Edit]:
        for value in node.expressions:
            self._comparable(node, node.this, value)
        yield from ()

    def _comparable(self, node: exp.Expr, left: exp.Expr, right: exp.Expr) -> None:
        """Refuses what Flink doesn't compare; an order between a number and a text it does (it reads the number)."""
        one, other = self._type(left), self._type(right)
        if types.mixed(one, other) and isinstance(node, (exp.EQ, exp.NEQ, exp.In)):
            self._refuse(node, "a number and a text can't be compared", "write CAST(... AS INT) around the text")
        if "date" in (one, other) and (one in types.TIMES or other in types.TIMES):
            self._refuse(
                node, "a date and a timestamp can't be compared", "write CAST(... AS TIMESTAMP) around the date"
            )

    def _case(self, node: exp.Expr) -> Iterator[Edit]:
        branches = [branch.args.get("true") for branch in node.args.get("ifs") or []]
        known = [self._type(b) for b in (*branches, node.args.get("default")) if b is not None]
        if any(types.is_numeric(t) for t in known) and any(types.is_string(t) for t in known):
            self._refuse(
                node, "CASE gives a number here and a text there", "write CAST(... AS STRING) around the number"
            )
        yield from ()

    def _set_operation(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.SetOperation)
        left, right = self._resolver.columns(node.this), self._resolver.columns(node.expression)
        if left.complete and right.complete:
            name, counts = node.key.upper(), (len(left.items), len(right.items))
            if counts[0] != counts[1]:
                self._refuse(
                    node.expression, f"{name} takes as many columns on both sides, not {counts[0]} and {counts[1]}"
                )
            for a, b in zip(left.items, right.items, strict=True):
                if types.mixed(a.type, b.type):
                    where = a.name or b.name
                    self._refuse(
                        node.expression,
                        f"{name} finds {a.type} and {b.type} in column {where}",
                        "write CAST(...) on one side",
                    )
        yield from ()

    def _substring(self, node: exp.Expr) -> Iterator[Edit]:
        if types.is_numeric(self._type(node.this)):
            self._refuse(node.this, "SUBSTRING takes a text, and this is a number", "write CAST(... AS STRING)")
        yield from ()

    def _extract(self, node: exp.Expr) -> Iterator[Edit]:
        unit = node.this.name.upper()
        if unit not in _EXTRACTED:
            self._refuse(node, f"EXTRACT({unit} FROM ...) has no counterpart", f"one of {', '.join(_EXTRACTED)}")
        type_ = self._type(node.expression)

        def text() -> str:
            return _EXTRACTED[unit](self._text(node.expression), type_)

        yield self._edit(node, text)

    def _round(self, node: exp.Expr) -> Iterator[Edit]:
        to = node.args.get("to")
        type_ = self._type(node.this)
        name = type(node).__name__.upper()
        if to is None:
            if type_ in ("double", "float") or type_ in types.INTEGERS:
                yield self._edit(node, lambda: f"CAST({name}({self._text(node.this)}) AS {(type_ or '').upper()})")
            return
        convert = floor_to if isinstance(node, exp.Floor) else ceil_to

        def text() -> str:
            try:
                return convert(self._text(node.this), to.name.upper(), type_)
            except ValueError as error:
                raise self._source.error(self._source.span(node), str(error)) from None

        yield self._edit(node, text)

    # -- queries -----------------------------------------------------------------------------------
    def _select(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Select)
        self._check_group(node)
        self._check_grouped(node)
        if _names_matter(node):
            yield from self._names(node)

    def _check_group(self, select: exp.Select) -> None:
        """GROUP BY takes columns of the input: neither aliases nor positions."""
        group = select.args.get("group")
        aliases = {p.alias.casefold() for p in select.expressions if isinstance(p, exp.Alias)}
        for key in group.expressions if group else []:
            if isinstance(key, exp.Literal) and key.is_number:
                self._refuse(key, "GROUP BY takes no positions", "repeat the expression")
            if isinstance(key, exp.Column) and not key.table and key.name.casefold() in aliases:
                inputs = [self._resolver.columns(s) for s in sources(select)]
                if all(c.complete for c in inputs) and not any(c.find(key.name) for c in inputs):
                    self._refuse(
                        key,
                        f"{key.name} is an alias of this SELECT, and no column of its input",
                        "repeat the expression",
                    )

    def _check_grouped(self, select: exp.Select) -> None:
        """Refuses a column that is neither a key of GROUP BY nor within an aggregate."""
        group = select.args.get("group")
        having = select.args.get("having")
        outputs = [*select.expressions, *([having.this] if having else [])]
        if group is None and not any(self._aggregates(select, output) for output in outputs):
            return
        keys = list(group.expressions) if group else []
        for kind in ("grouping_sets", "cube", "rollup"):
            keys += (group.args.get(kind) or []) if group else []
        flat = [inner for key in keys for inner in _key_parts(key)]
        for output in outputs:
            self._check_in_group(select, output, flat)

    def _aggregates(self, select: exp.Select, node: exp.Expr) -> bool:
        return any(
            isinstance(n, exp.Anonymous)
            and n.name.upper() in AGGREGATES
            and n.find_ancestor(exp.Select) is select
            and not isinstance(n.parent, exp.Window)
            for n in node.walk()
        )

    def _check_in_group(self, select: exp.Select, node: exp.Expr, keys: list[exp.Expr]) -> None:
        if isinstance(node, (exp.Query, exp.Filter)) or any(_same(node, key) for key in keys):
            return
        if isinstance(node, exp.Anonymous) and node.name.upper() in (
            *AGGREGATES,
            *AUXILIARY,
            "GROUPING",
            "GROUPING_ID",
        ):
            window = isinstance(node.parent, exp.Window) and node.arg_key == "this"
            for inner in node.expressions if window else ():
                self._check_in_group(select, inner, keys)
            return
        if isinstance(node, exp.Column) and self._resolver.candidates(node, select):
            if node.is_star or not self._of_query(node, select):
                return
            self._refuse(
                node,
                f"{node.name} is neither in GROUP BY nor in an aggregate function",
                f"write GROUP BY ..., {node.name}",
            )
        for child in node.iter_expressions():
            self._check_in_group(select, child, keys)

    def _of_query(self, column: exp.Column, select: exp.Select) -> bool:
        """Whether a column is one of the query's own inputs, and not of a query around it."""
        table = column.table.casefold()
        scope = [s for s in sources(select) if not table or s.alias_or_name.casefold() == table]
        return any(self._resolver.columns(s).find(column.name) for s in scope)

    def _names(self, select: exp.Select) -> Iterator[Edit]:
        """Names what Flink names: EXPR$0, EXPR$1 by position, and a number behind a name that comes again."""
        taken: set[str] = set()
        for position, projection in enumerate(select.expressions):
            if projection.is_star:
                stars = self._star(select, projection, taken)
                if stars is None:
                    return
                yield from stars
                continue
            name = projection.output_name if isinstance(projection, (exp.Alias, exp.Column)) else f"EXPR${position}"
            given = _unused(name, taken)
            quoted = _quoted(given)
            if given != name and isinstance(projection, exp.Alias):
                yield self._edit(projection.args["alias"], lambda n=quoted: n)  # type: ignore[misc]
            elif given != name or not isinstance(projection, (exp.Alias, exp.Column)):
                text = lambda p=projection, n=quoted: f"{self._text(p)} AS {n}"  # noqa: E731
                yield Edit(self._source.span(projection), text, level=2)

    def _star(self, select: exp.Select, star: exp.Expr, taken: set[str]) -> list[Edit] | None:
        """Writes out a star that brings a name again; None where its columns aren't all known."""
        table = star.table.casefold() if isinstance(star, exp.Column) else ""
        scope = [s for s in sources(select) if not table or s.alias_or_name.casefold() == table]
        columns = [(s.alias_or_name, c.name) for s in scope for c in self._resolver.columns(s).items]
        if not all(self._resolver.columns(s).complete for s in scope) or any(
            j.args.get("using") or j.method for j in select.args.get("joins") or []
        ):
            return None
        named = [(source, name, _unused(name, taken)) for source, name in columns]
        if all(name == given for _, name, given in named) or not all(source for source, _, _ in named):
            return []
        items = [
            f"{_quoted(t)}.{_quoted(n)}" + ("" if n == given else f" AS {_quoted(given)}") for t, n, given in named
        ]
        return [self._edit(star, lambda: ", ".join(items))]


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _unused(name: str, taken: set[str]) -> str:
    """A name, with the first number behind it that makes it new."""
    given, number = name, 0
    while given in taken:
        given = f"{name}{number}"
        number += 1
    taken.add(given)
    return given


def _key_parts(key: exp.Expr) -> Iterator[exp.Expr]:
    """The expressions of an element of GROUP BY, through GROUPING SETS, ROLLUP, CUBE and parentheses."""
    if isinstance(key, (exp.GroupingSets, exp.Cube, exp.Rollup, exp.Tuple)):
        for inner in key.expressions:
            yield from _key_parts(inner)
    elif isinstance(key, exp.Paren):
        yield from _key_parts(key.this)
    else:
        yield key


def _same(node: exp.Expr, key: exp.Expr) -> bool:
    """Whether an output expression is a key of GROUP BY; a column may have its table's name or not."""
    if isinstance(node, exp.Column) and isinstance(key, exp.Column):
        return node.name.casefold() == key.name.casefold() and (
            not node.table or not key.table or node.table.casefold() == key.table.casefold()
        )
    return node == key


def _names_matter(select: exp.Select) -> bool:
    """Whether somebody sees the names of a query's columns: the reader of the result, or a query around it."""
    node: exp.Expr = select
    while isinstance(node.parent, exp.SetOperation):
        if node.arg_key != "this":
            return False
        node = node.parent
    if isinstance(node.parent, exp.Subquery):
        return isinstance(node.parent.parent, (exp.From, exp.Join))
    return node.parent is None or isinstance(node.parent, (exp.CTE, exp.Create, exp.Insert))
