"""The calls over windows of ours in a SELECT: their names, arguments and windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.sql.core.nodes import own
from dbt.adapters.sparkstream.sql.core.source import Source, Span
from dbt.adapters.sparkstream.sql.grammar.specs import FROM_LAST, FramedWindow, WindowSpec
from dbt.adapters.sparkstream.sql.passes.framing.aggregates import AGGREGATES
from dbt.adapters.sparkstream.sql.passes.framing.block import Block, inside

_BEHIND_CALL = (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)
"""Nodes that may stand between a call and OVER."""


@dataclass(eq=False)
class Window:
    """A window of ours in a SELECT.

    Attributes:
        name: its name as the text has it, or None if it is written in OVER.
        place: where to point in errors.
    """

    name: str | None
    spec: WindowSpec
    place: Span


@dataclass(eq=False)
class Call:
    """A call over a window.

    Attributes:
        name: the function, in upper case.
        span: from the name to the end of OVER, or to the end of the arguments if a call around it has the window.
        call: from the name to the closing parenthesis.
        filter: the condition of FILTER.
        from_last: True if it counts from the last row, as NTH_VALUE(x, 2) FROM LAST does (SQLstream).
        top: True if it is a whole item of the SELECT list.
        inner: aggregates within the arguments, over the same window.
    """

    name: str
    span: Span
    call: Span
    arguments: list[exp.Expr]
    window: Window
    distinct: bool = False
    filter: exp.Expr | None = None
    ignore_nulls: bool = False
    from_last: bool = False
    top: bool = False
    inner: list[Call] = field(default_factory=list)

    @property
    def is_aggregate(self) -> bool:
        return self.name in AGGREGATES or not self.inner


def find_windows(source: Source, block: Block) -> dict[str, Window | None]:
    """The declared windows of a SELECT by name, in lower case; None for one that Spark has itself."""
    found: dict[str, Window | None] = {}
    pending: dict[str, exp.Window] = {}
    for node in block.select.args.get("windows") or []:
        name = node.this
        key = name.name.lower()
        place = source.span(name)
        if key in found or key in pending:
            raise source.error(place, f"there are two windows named {name.name}", "give one of them another name")
        if isinstance(node, FramedWindow):
            text = source.written(name)
            found[key] = Window(backticked(text[1:-1]) if text.startswith('"') else text, node.value, place)
        elif isinstance(node.args.get("alias"), exp.Identifier) and not any(
            map(node.args.get, ("partition_by", "order", "spec"))
        ):
            pending[key] = node
        else:
            found[key] = None
    for key, node in pending.items():
        target = node.args["alias"]
        if target.name.lower() not in found:
            raise _unknown(source, target, found)
        found[key] = found[target.name.lower()]
    return found


def _unknown(source: Source, name: exp.Expr, known: dict[str, Window | None]) -> Exception:
    names = ", ".join(known)
    return source.error(
        name,
        f"there is no window named {name.name}",
        f"this SELECT declares {names}" if names else f"declare it: WINDOW {name.name} AS (PARTITION BY ...)",
    )


def find_calls(source: Source, block: Block, windows: dict[str, Window | None]) -> list[Call]:
    """The outermost calls over windows of ours, in the order of the text."""
    found: list[Call] = []
    definitions = {id(node) for node in block.select.args.get("windows") or []}
    for node in own(block.select, exp.Window):
        if id(node) in definitions:
            continue
        window = _window_of(source, node, windows)
        call = _read(source, node, window) if window else None
        if call is not None:
            found.append(call)
    found.sort(key=lambda c: (c.span[0], -c.span[1]))
    outer: list[Call] = []
    for call in found:
        if outer and inside(call.span, outer[-1].span):
            same = call.window.spec is outer[-1].window.spec
            if same and any(_spread(inner, call) for inner in outer[-1].inner):
                continue
            raise source.error(
                call.span,
                "a call over a window can't stand in another one",
                "compute the inner call in a subquery: it has another window",
            )
        outer.append(call)
    return outer


def _spread(inner: Call, over: Call) -> bool:
    """True if a call with OVER is an inner call, or within one; the inner call then spans its OVER, too."""
    if inner.call == over.call:
        inner.span = over.span
        return True
    return any(_spread(each, over) for each in inner.inner)


def _window_of(source: Source, node: exp.Window, windows: dict[str, Window | None]) -> Window | None:
    if isinstance(node, FramedWindow):
        return Window(None, node.value, node.value.span)
    name = node.args.get("alias")
    if not isinstance(name, exp.Identifier):
        return None
    if name.name.lower() not in windows:
        if windows:  # else Spark refuses it
            raise _unknown(source, name, windows)
        return None
    return windows[name.name.lower()]


def _read(source: Source, node: exp.Window, window: Window) -> Call | None:
    """A call with OVER; None for what is no call of a function, behind which Spark refuses OVER."""
    function, ignore, condition = node.this, False, None
    while isinstance(function, _BEHIND_CALL):
        ignore = ignore or isinstance(function, exp.IgnoreNulls)
        condition = function.expression.this if isinstance(function, exp.Filter) else condition
        function = function.this
    if not isinstance(function, exp.Anonymous):
        return None
    call = read_call(source, function, window)
    call.span, call.filter, call.ignore_nulls = source.span(node), condition, ignore
    call.from_last = bool(function.meta.get(FROM_LAST))
    item: exp.Expr = node
    while isinstance(item.parent, (exp.Paren, exp.Alias)):
        item = item.parent
    call.top = item.arg_key == "expressions" and isinstance(item.parent, exp.Select)
    return call


def read_call(source: Source, function: exp.Anonymous, window: Window) -> Call:
    """A call of a function over a window, and the aggregates in its arguments."""
    place, arguments = source.call_span(function), function.expressions
    distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
    if distinct:
        arguments = arguments[0].expressions
    call = Call(function.name.upper(), place, place, arguments, window, distinct)
    call.inner = [each for argument in arguments for each in _inner(source, argument, window)]
    return call


def _inner(source: Source, part: exp.Expr, window: Window) -> Iterator[Call]:
    """The outermost aggregates in an argument."""
    if isinstance(part, exp.Anonymous) and part.name.upper() in AGGREGATES:
        yield read_call(source, part, window)
    else:
        for child in part.iter_expressions():
            yield from _inner(source, child, window)
