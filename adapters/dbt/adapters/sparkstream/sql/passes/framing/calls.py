"""The calls over windows of ours in a SELECT: their names, arguments and windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.source import SPAN, Source, Span
from dbt.adapters.sparkstream.sql.grammar.specs import CALL_START, FramedWindow, WindowSpec
from dbt.adapters.sparkstream.sql.passes.framing.block import Block, inside
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
        span: from the name to the end of OVER, or of the arguments if the window is that of a call around it.
        arguments: where its arguments stand.
        call: from the name to the closing parenthesis.
        filter: where the condition of FILTER stands.
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
    top: bool = False
    inner: list[Call] = field(default_factory=list)

    @property
    def is_aggregate(self) -> bool:
        return self.name in AGGREGATES or not self.inner


def find_windows(source: Source, block: Block) -> dict[str, Window | None]:
    """The declared windows of a SELECT by name, in lower case; None for one that Spark has itself."""
    found: dict[str, Window | None] = {}
    pending: list[tuple[str, exp.Window]] = []
    for node in block.select.args.get("windows") or []:
        name = node.this
        key = name.name.lower()
        place = source.span(name)
        if key in found or any(key == k for k, _ in pending):
            raise source.error(place, f"there are two windows named {name.name}", "give one of them another name")
        if isinstance(node, FramedWindow):
            found[key] = Window(_raw_name(source.text[slice(*place)]), node.value, place)
        elif isinstance(node.args.get("alias"), exp.Identifier) and not _has_content(node):
            pending.append((key, node))
        else:
            found[key] = None
    for key, node in pending:
        target = node.args["alias"]
        if target.name.lower() not in found:
            raise _unknown(source, target, found)
        found[key] = found[target.name.lower()]
    return found


def _raw_name(text: str) -> str:
    """A name as written, in Spark's quotes."""
    return "`" + text[1:-1].replace("`", "``") + "`" if text.startswith('"') else text


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
    definitions = block.select.args.get("windows") or []
    for node in block.select.find_all(exp.Window):
        if any(node is d for d in definitions) or node.find_ancestor(exp.Select) is not block.select:
            continue
        window = _window_of(source, node, windows, strict)
        if window:
            found.append(_read(source, node, window))
    found.sort(key=lambda c: (c.span[0], -c.span[1]))
    outer: list[Call] = []
    for call in found:
        if outer and inside(call.span, outer[-1].span):
            raise source.error(
                call.span,
                "a call over a window can't stand in another one",
                "leave the inner OVER out: it has the same window",
            )
        outer.append(call)
    for call in outer:
        call.top = any(_is_item(source, call, p) for p in block.projections)
    return outer


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
    tokens = source.tokens_in((start, end))
    call, closing = _read_tokens(source, tokens, window, end)
    call.ignore_nulls = ignore
    rest = tokens[closing + 1 :]
    if rest and rest[0].token_type == TokenType.FILTER:
        last = _closing(rest, 1)
        call.filter = (rest[3].start, rest[last - 1].end + 1)
    return call


def _is_call(source: Source, start: int) -> bool:
    """Whether a name and a parenthesis stand at an offset."""
    tokens = source.tokens_in((start, len(source.text)))
    return len(tokens) > 1 and tokens[1].token_type == TokenType.L_PAREN and tokens[0].token_type != TokenType.CASE


def _closing(tokens: list[Token], opening: int) -> int:
    depth = 0
    for i in range(opening, len(tokens)):
        kind = tokens[i].token_type
        depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        if depth == 0:
            return i
    return len(tokens) - 1


def _read_tokens(source: Source, tokens: list[Token], window: Window, end: int | None = None) -> tuple[Call, int]:
    """Reads a call from its tokens, which begin with its name."""
    closing = _closing(tokens, 1)
    inner = tokens[2:closing]
    distinct = bool(inner and inner[0].token_type == TokenType.DISTINCT)
    inner = inner[1:] if distinct else inner
    spans: list[Span] = []
    depth = 0
    piece: list[Token] = []
    for token in inner:
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if depth == 0 and token.token_type == TokenType.COMMA:
            if not piece:
                raise source.error((token.start, token.end + 1), "an argument is missing before this comma")
            spans.append((piece[0].start, piece[-1].end + 1))
            piece = []
        else:
            piece.append(token)
    if spans and not piece:
        raise source.error((tokens[closing].start, tokens[closing].end + 1), "an argument is missing before this )")
    if piece:
        spans.append((piece[0].start, piece[-1].end + 1))
    name = source.text[tokens[0].start : tokens[0].end + 1]
    place = tokens[0].start, tokens[closing].end + 1
    call = Call(name.strip("`").upper(), (place[0], end or place[1]), place, spans, window, distinct)
    call.inner = list(_inner(source, inner, window))
    return call, closing


def _inner(source: Source, tokens: list[Token], window: Window) -> Iterator[Call]:
    i = 0
    while i + 1 < len(tokens):
        word = source.text[tokens[i].start : tokens[i].end + 1].upper()
        if word in AGGREGATES and tokens[i + 1].token_type == TokenType.L_PAREN:
            call, closing = _read_tokens(source, tokens[i:], window)
            yield call
            i += closing
        i += 1


def _is_item(source: Source, call: Call, item: Span) -> bool:
    """Whether a call is an item of the SELECT list, but for parentheses and an alias."""
    if not inside(call.span, item):
        return False
    before = source.tokens_in((item[0], call.span[0]))
    after = source.tokens_in((call.span[1], item[1]))
    while before and after and before[-1].token_type == TokenType.L_PAREN and after[0].token_type == TokenType.R_PAREN:
        before, after = before[:-1], after[1:]
    if before:
        return False
    return not after or after[0].token_type == TokenType.ALIAS or len(after) == 1
