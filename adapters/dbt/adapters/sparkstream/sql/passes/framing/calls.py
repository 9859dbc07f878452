"""The calls over windows of ours in a SELECT: their names, arguments and windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.sql.core.source import SPAN, Source, Span
from dbt.adapters.sparkstream.sql.core.tree import own
from dbt.adapters.sparkstream.sql.grammar.specs import CALL_START, FROM_LAST, FramedWindow, WindowSpec
from dbt.adapters.sparkstream.sql.passes.framing.block import Block, holding, inside
from dbt.adapters.sparkstream.sql.passes.framing.names import AGGREGATES


@dataclass(eq=False)
class Window:
    """A window of ours in a SELECT.

    Attributes:
        name: its name as the text has it, or None if it stands in OVER itself.
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
        arguments: where its arguments stand.
        call: from the name to the closing parenthesis.
        filter: where the condition of FILTER stands.
        from_last: whether it counts from the last row, as NTH_VALUE(x, 2) FROM LAST does (SQLstream).
        top: whether it is a whole item of the SELECT list.
        inner: aggregates within the arguments, over the same window.
    """

    name: str
    span: Span
    call: Span
    arguments: list[Span]
    window: Window
    distinct: bool = False
    filter: Span | None = None
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
            found[key] = Window(_raw_name(source.text[slice(*place)]), node.value, place)
        elif isinstance(node.args.get("alias"), exp.Identifier) and not _has_content(node):
            pending[key] = node
        else:
            found[key] = None
    for key, node in pending.items():
        target = node.args["alias"]
        if target.name.lower() not in found:
            raise _unknown(source, target, found)
        found[key] = found[target.name.lower()]
    return found


def _raw_name(text: str) -> str:
    """A name as written, in Spark's quotes."""
    return backticked(text[1:-1]) if text.startswith('"') else text


def _has_content(node: exp.Window) -> bool:
    return any(node.args.get(part) for part in ("partition_by", "order", "spec"))


def _unknown(source: Source, name: exp.Expr, known: dict[str, Window | None]) -> Exception:
    names = ", ".join(known)
    return source.error(
        source.span(name),
        f"there is no window named {name.name}",
        f"this SELECT declares {names}" if names else f"declare it: WINDOW {name.name} AS (PARTITION BY ...)",
    )


def find_calls(source: Source, block: Block, windows: dict[str, Window | None], *, strict: bool) -> list[Call]:
    """The outermost calls over windows of ours, in the order of the text.

    Args:
        strict: whether a window that isn't declared is an error here; Spark says it itself otherwise.
    """
    found: list[Call] = []
    definitions = {id(node) for node in block.select.args.get("windows") or []}
    for node in own(block.select, exp.Window):
        if id(node) in definitions:
            continue
        window = _window_of(source, node, windows, strict)
        if window:
            found.append(_read(source, node, window))
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
    for call in outer:
        item = holding(call.span, block.projections)
        call.top = item is not None and _is_item(source, call, block.projections[item])
    return outer


def _spread(inner: Call, over: Call) -> bool:
    """Whether a call with OVER is an inner call, which gets the place of OVER, or stands within one."""
    if inner.call == over.call:
        inner.span = over.span
        return True
    return any(_spread(each, over) for each in inner.inner)


def _window_of(source: Source, node: exp.Window, windows: dict[str, Window | None], strict: bool) -> Window | None:
    if isinstance(node, FramedWindow):
        return Window(None, node.value, node.value.span)
    name = node.args.get("alias")
    if not isinstance(name, exp.Identifier):
        return None
    if name.name.lower() not in windows:
        if strict or windows:
            raise _unknown(source, name, windows)
        return None
    return windows[name.name.lower()]


def _read(source: Source, node: exp.Window, window: Window) -> Call:
    function = node.this
    ignore = False
    while isinstance(function, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
        ignore = ignore or isinstance(function, exp.IgnoreNulls)
        function = function.this
    start = node.meta.get(CALL_START)
    if start is None or not _is_call(source, start):
        end = source.span(node)[1]
        raise source.error(
            (start if start is not None else node.meta.get(SPAN, (end, end))[0], end),
            "OVER stands behind a call, and this is none",
            "write it behind every aggregate, or identity(expression) OVER w",
        )
    end = node.value.span[1] if isinstance(node, FramedWindow) else source.span(node.args["alias"])[1]
    tokens = source.tokens
    name = tokens.at(start)
    call = read_call(source, name, window, end)
    call.ignore_nulls = ignore
    call.from_last = bool(function.meta.get(FROM_LAST))
    behind = tokens.behind(name + 1)
    if behind < len(tokens) and tokens[behind].token_type == TokenType.FILTER:
        call.filter = tokens.span(range(behind + 3, tokens.behind(behind + 1) - 1))
    return call


def _is_call(source: Source, start: int) -> bool:
    """Whether a name and a parenthesis stand at an offset."""
    tokens = source.tokens
    name = tokens.at(start)
    called = name + 1 < len(tokens) and tokens[name + 1].token_type == TokenType.L_PAREN
    return called and tokens[name].token_type != TokenType.CASE


def read_call(source: Source, name: int, window: Window, end: int | None = None) -> Call:
    """Reads a call from its tokens, the first of which is its name."""
    tokens = source.tokens
    closing = tokens.behind(name + 1) - 1
    first = name + 2
    distinct = tokens[first].token_type == TokenType.DISTINCT
    first += distinct
    pieces = tokens.pieces(first, closing) if first < closing else []
    for piece in pieces:
        if not piece:
            missing = tokens[piece.stop]
            what = "comma" if missing.token_type == TokenType.COMMA else ")"
            raise source.error((missing.start, missing.end + 1), f"an argument is missing before this {what}")
    place = tokens.span(range(name, closing + 1))
    word = source.text[place[0] : tokens[name].end + 1].strip("`").upper()
    arguments = [tokens.span(piece) for piece in pieces]
    call = Call(word, (place[0], end or place[1]), place, arguments, window, distinct)
    call.inner = list(_inner(source, range(first, closing), window))
    return call


def _inner(source: Source, places: range, window: Window) -> Iterator[Call]:
    """The outermost aggregates among some tokens."""
    tokens = source.tokens
    i = places.start
    while i + 1 < places.stop:
        word = source.text[tokens[i].start : tokens[i].end + 1].upper()
        if word in AGGREGATES and tokens[i + 1].token_type == TokenType.L_PAREN:
            yield read_call(source, i, window)
            i = tokens.behind(i + 1)
        else:
            i += 1


def _is_item(source: Source, call: Call, item: Span) -> bool:
    """Whether a call is an item of the SELECT list, but for parentheses and an alias."""
    if not inside(call.span, item):
        return False
    tokens = source.tokens
    places, own = tokens.within(item), tokens.within(call.span)
    first, last = own.start, own.stop
    while (
        first > places.start
        and last < places.stop
        and tokens[first - 1].token_type == TokenType.L_PAREN
        and tokens[last].token_type == TokenType.R_PAREN
    ):
        first, last = first - 1, last + 1
    if first > places.start:
        return False
    return last >= places.stop - 1 or tokens[last].token_type == TokenType.ALIAS
