"""SQLstream's spelling where Spark's differs, apart from windows: names, SELECT STREAM, FLOOR, STEP."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.interval import TIME_UNITS, IntervalError, read_interval
from dbt.adapters.sparkstream.sql.core.literals import backticked, string_literal
from dbt.adapters.sparkstream.sql.core.names.columns import NO_SELECT, Resolver
from dbt.adapters.sparkstream.sql.core.nodes import enclosing, every, find, own
from dbt.adapters.sparkstream.sql.core.source import SPAN, Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.types import INTEGERS
from dbt.adapters.sparkstream.sql.dialects.sqlstream import Elapsed, Step, is_stream_word
from dbt.adapters.sparkstream.sql.passes.conditions import COMPARISONS, loose_operands
from dbt.adapters.sparkstream.sql.passes.editor import Editor, Insertions
from dbt.adapters.sparkstream.sql.passes.framing.column_names import NAMED, counted_name
from dbt.adapters.sparkstream.sql.passes.framing.stream_joins import stream_joins


def extent(source: Source, tree: exp.Expr) -> Span:
    """Span from the first to the last token of a statement."""
    spans = [node.meta[SPAN] for node in every(tree) if node._meta and SPAN in node.meta]
    return (min(start for start, _ in spans), max(end for _, end in spans)) if spans else (0, len(source.text))


class SQLstreamSpelling(Editor):
    """Edits names, SELECT STREAM, FLOOR(x TO unit), STEP, divisions, joins of streams, and edges of groups."""

    def __init__(self, source: Source, resolver: Resolver, *, arrival: str | None = None) -> None:
        super().__init__(source, resolver)
        self._arrival = arrival

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """The edits of a statement."""
        refuse_what_spark_lacks(self.source, tree)
        inserted = Insertions()
        yield from stream_joins(self.source, tree, inserted)
        yield from self._tokens(self.source.tokens_in(extent(self.source, tree)))
        for node in find(tree, exp.Floor, exp.Ceil):
            if node.args.get("to"):
                yield self._rounding(node)
        for step in find(tree, Step):
            yield self._step(step)
        for elapsed in find(tree, Elapsed):
            behind, end = self.source.span(elapsed.this)[1], self.source.span(elapsed)[1]
            inserted.wrap(self.source.span(elapsed), ("CAST(", ""))
            yield Edit.to((behind, end), f" AS INTERVAL {elapsed.args['units']})")
        for call in find(tree, exp.Anonymous):
            # MONOTONIC(x) is x, with a promise that x grows.
            if call.name.upper() == "MONOTONIC" and len(call.expressions) == 1:
                start = self.source.call_span(call)[0]
                yield Edit.to((start, self.source.span(call.expressions[0])[0]), "(")
        yield from whole_divisions(self.source, self.resolver, tree, inserted)
        for compared in find(tree, exp.Is, *COMPARISONS):
            for operand in loose_operands(compared):
                inserted.wrap(self.source.span(operand), ("(", ")"))
        yield from inserted.edits()
        for select in find(tree, exp.Select):
            yield from self._names(select)
            if select.args.get("group"):
                yield from self._edges(select)

    def _tokens(self, tokens: list[Token]) -> Iterator[Edit]:
        for i, token in enumerate(tokens):
            raw = self.source.text[token.start : token.end + 1]
            span = token.start, token.end + 1
            if token.token_type == TokenType.IDENTIFIER and raw.startswith('"'):
                yield Edit.to(span, backticked(token.text))
            elif token.token_type == TokenType.STRING and ("''" in raw[1:-1] or "\\" in raw):
                yield Edit.to(span, string_literal(token.text))
            elif is_stream_word(tokens, i):
                end = tokens[i + 1].start
                between = self.source.text[token.end + 1 : end]
                yield Edit.to((token.start, end if not between.strip() else token.end + 1), "")

    def _names(self, select: exp.Select) -> Iterator[Edit]:
        """EXPR$0 for a column without an alias; one with a window is named by `Frames`."""
        for index, item in enumerate(select.expressions):
            if isinstance(item, NAMED) or item.find(exp.Window):
                continue
            name = counted_name(select, index)
            if name:
                end = self.source.span(item)[1], self.source.span(item)[1]
                yield Edit(end, lambda end=end, name=name: f"{self.source.render(end)} AS {backticked(name)}", level=1)  # type: ignore[misc]

    def _rounding(self, node: exp.Expr) -> Edit:
        source = self.source
        span = source.span(node)
        value = source.span(node.this)
        unit = node.args["to"].name.upper()
        floor = isinstance(node, exp.Floor)
        if unit not in TIME_UNITS:  # date_trunc would give NULL
            word = "FLOOR" if floor else "CEIL"
            raise source.error(span, f"{word} has no unit {unit}", f"its units are {', '.join(reversed(TIME_UNITS))}")

        def text() -> str:
            time = source.render(value)
            start = f"date_trunc('{unit}', {time})"
            return start if floor else f"IF({start} = {time}, {start}, {start} + INTERVAL '1' {unit})"

        return Edit(span, text)

    def _step(self, node: Step) -> Edit:
        source = self.source
        by = source.span(node.args["by"])
        tokens = source.tokens_in(by)
        value = source.span(node.this)
        micros: int | None = None
        if tokens[0].token_type == TokenType.INTERVAL:
            try:
                micros = read_interval(tokens).micros
            except IntervalError as error:
                raise source.error(by, f"STEP: {error}", error.hint) from None
            if micros <= 0:
                raise source.error(by, "STEP takes a positive interval", "write STEP(ROWTIME BY INTERVAL '5' MINUTE)")
        elif re.fullmatch(r"[-+]?\s*0*\.?0*", source.text[slice(*by)]):
            raise source.error(by, "STEP takes a positive number", "write STEP(n BY 10)")

        def text() -> str:
            value_ = source.render(value)
            if micros is None:
                return f"(({value_}) - pmod({value_}, {source.render(by)}))"
            return f"timestamp_micros(unix_micros({value_}) - pmod(unix_micros({value_}), {micros}))"

        return Edit(source.span(node), text)

    def _edges(self, select: exp.Select) -> Iterator[Edit]:
        """FIRST_VALUE and LAST_VALUE of a group go by ROWTIME, and by arrival."""
        source = self.source
        for call in own(select, exp.Anonymous):
            name = call.name.upper()
            if name not in ("FIRST_VALUE", "LAST_VALUE") or len(call.expressions) != 1:
                continue
            if isinstance(call.parent, exp.Window):
                continue
            value = source.span(call.expressions[0])
            columns = list(call.expressions[0].find_all(exp.Column))
            prefix = source.written(columns[0].args["table"]) + "." if columns and columns[0].table else ""
            prefix = prefix.replace('"', "`")
            order = f"struct({prefix}ROWTIME, {prefix}{self._arrival})" if self._arrival else f"{prefix}ROWTIME"
            function = "min_by" if name == "FIRST_VALUE" else "max_by"
            span, only = source.call_span(call), ""
            if isinstance(call.parent, (exp.IgnoreNulls, exp.RespectNulls)):
                words = source.tokens[source.tokens.behind(source.tokens.at(span[0]) + 1) + 1]
                span = span[0], words.end + 1  # IGNORE NULLS
                only = f" FILTER (WHERE {source.written(call.expressions[0])} IS NOT NULL)"
                only = only if isinstance(call.parent, exp.IgnoreNulls) else ""
            text = lambda v=value, f=function, o=order, w=only: f"{f}({source.render(v)}, {o}){w}"  # noqa: E731
            yield Edit(span, text)


def whole_divisions(source: Source, resolver: Resolver, tree: exp.Expr, inserted: Insertions) -> Iterator[Edit]:
    """`CAST(a DIV b AS INT)` of `a / b`, where both are known to be integers."""
    for node in find(tree, exp.Div):
        select = enclosing(node, exp.Select) or NO_SELECT
        if any(resolver.type(side, select) not in INTEGERS for side in (node.left, node.right)):
            continue
        operator = next(
            token
            for token in source.tokens_in((source.span(node.left)[1], source.span(node.right)[0]))
            if token.token_type == TokenType.SLASH
        )
        around = source.text[operator.start - 1], source.text[operator.end + 1]
        word = f"{'' if around[0].isspace() else ' '}DIV{'' if around[1].isspace() else ' '}"
        yield Edit.to((operator.start, operator.end + 1), word)
        type_ = resolver.type(node, select)
        if type_ != "bigint":  # as DIV is
            inserted.wrap(source.span(node), ("CAST(", f" AS {str(type_).upper()})"))


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
            raise source.error(node, "Spark has no SIMILAR TO", "write text RLIKE '^(a|b)$', a pattern as Java has it")
        if isinstance(node, exp.Column):
            is_clock = node.name.upper() == "CURRENT_ROW_TIMESTAMP"  # as SQLstream writes it, without parentheses
            if is_clock and not node.table and not node.this.args.get("quoted"):
                raise source.error(node, "Spark has no clock that goes on from row to row", _CLOCK)
        elif isinstance(node, exp.Anonymous) and not isinstance(node.parent, exp.Dot):  # else a user's own, s.f()
            _check_call(source, node)


def _check_call(source: Source, call: exp.Anonymous) -> None:
    name, span = call.name.upper(), source.call_span(call)
    if name in _FUNCTIONS:
        raise source.error(span, f"Spark has no {name}", _FUNCTIONS[name])
    unit = call.expressions[0] if len(call.expressions) == 3 else None
    if name == "DATEDIFF" and isinstance(unit, exp.Literal) and unit.is_string:
        raise source.error(unit, "Spark's DATEDIFF takes its unit without quotes", f"write DATEDIFF({unit.name}, a, b)")
