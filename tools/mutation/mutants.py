"""Mutants of a module: its syntax tree with one small fault."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
# What a generated query says, and what it could say wrongly.
_SQL = (
    (r" < ", " <= "),
    (r" <= ", " < "),
    (r" > ", " >= "),
    (r" >= ", " > "),
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" = ", " <> "),
    (r"\bAND\b", "OR"),
    (r"\bPRECEDING\b", "FOLLOWING"),
    (r"\bFOLLOWING\b", "PRECEDING"),
    (r"\bmin\b", "max"),
    (r"\bmax\b", "min"),
    (r"\bTRUE\b", "FALSE"),
    (r"\bFALSE\b", "TRUE"),
    (r"\bIS NOT NULL\b", "IS NULL"),
    (r"\bROWS\b", "RANGE"),
    (r" DESC\b", ""),
    (r"(?<![\w.'])1(?![\w.'])", "2"),
    (r"(?<![\w.'])0(?![\w.'])", "1"),
)


@dataclass(frozen=True)
class Mutant:
    """One fault.

    Attributes:
        path: the module's file.
        line: where the fault is.
        before: the code as it is.
        after: the code with the fault.
        lines: the lines of the statement that the fault is in, the first and the one behind the last.
        at_import: True if the module's import runs the statement, and no function.
        tree: the module's syntax tree with the fault.
    """

    path: Path
    line: int
    before: str
    after: str
    lines: tuple[int, int]
    at_import: bool
    tree: ast.Module = field(repr=False)

    def __str__(self) -> str:
        place = f"{self.path.parent.name}/{self.path.name}:{self.line}"
        return f"{place}  {_short(self.before)}  ->  {_short(self.after)}"


def count(path: Path) -> int:
    """How many mutants a module has."""
    return len(_changes(_parsed(path)))


def mutant(path: Path, number: int) -> Mutant:
    """One of a module's mutants."""
    tree = _parsed(path)
    place, change = _changes(tree)[number]
    before, lines = ast.unparse(place), _statement(tree, place)
    at_import = not any(place in ast.walk(f) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef))
    change()
    return Mutant(path, place.lineno, before, ast.unparse(place), lines, at_import, ast.fix_missing_locations(tree))


def _statement(tree: ast.Module, place: ast.AST) -> tuple[int, int]:
    """The lines of the innermost statement around a node; of one with a body, those before the body."""
    around = [s for s in ast.walk(tree) if isinstance(s, ast.stmt) and any(n is place for n in ast.walk(s))]
    inner = min(around, key=lambda s: sum(1 for _ in ast.walk(s)))
    body = getattr(inner, "body", None)
    return inner.lineno, max(body[0].lineno if body else (inner.end_lineno or 0) + 1, inner.lineno + 1)


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def _short(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= 110 else line[:107] + "..."


Change = tuple[ast.expr | ast.stmt, Callable[[], object]]
"""The code to show, and what puts the fault into it."""


def _changes(tree: ast.Module) -> list[Change]:
    """Every fault that a module can have."""
    return [change for node in _code(tree) for change in _faults(node)]


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run and whose value counts: no docstring, annotation, assertion or message of an error."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)):
                continue
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue
            yield node
            yield from _code(node)


def _faults(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            for other in _COMPARISONS.get(type(operator), ()):
                yield node, lambda i=i, other=other: node.ops.__setitem__(i, other())  # type: ignore[misc]
    elif isinstance(node, ast.BoolOp):
        yield node, lambda: setattr(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
        for i in range(len(node.values)):
            if len(node.values) > 2:
                yield node, lambda i=i: node.values.pop(i)  # type: ignore[misc]
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC and not _is_text(node):
        yield node, lambda: setattr(node, "op", _ARITHMETIC[type(node.op)]())
    elif isinstance(node, (ast.If, ast.IfExp)):
        for value in (True, False):
            yield node.test, lambda value=value: _become(node.test, ast.Constant(value))  # type: ignore[misc]
    elif isinstance(node, ast.comprehension):
        for condition in node.ifs:
            yield condition, lambda condition=condition: _become(condition, ast.Constant(True))  # type: ignore[misc]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, lambda: _become(node, node.operand)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield node, lambda: _become(node.value, ast.Constant(None))
    elif isinstance(node, ast.Call) and getattr(node.func, "id", None) != "isinstance":
        for i, keyword in enumerate(node.keywords):
            if keyword.arg != "strict":  # it would only let zip() hide another fault
                yield node, lambda i=i: node.keywords.pop(i)  # type: ignore[misc]
        if len(node.args) > 1 and not isinstance(node.args[-1], ast.Starred):
            yield node, lambda: node.args.pop()
    elif isinstance(node, (ast.Tuple, ast.Set)) and len(node.elts) > 1:
        if all(isinstance(e, (ast.Constant, ast.Attribute)) for e in node.elts):
            for i in range(len(node.elts)):
                yield node, lambda i=i: node.elts.pop(i)  # type: ignore[misc]
    elif isinstance(node, ast.Constant):
        yield from _constants(node)


def _constants(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield node, lambda: setattr(node, "value", not value)
    elif isinstance(value, int):
        for by in (1, -1):
            yield node, lambda by=by: setattr(node, "value", value + by)  # type: ignore[misc]
    elif isinstance(value, str):
        for pattern, other in _SQL:
            for found in re.finditer(pattern, value):
                text = value[: found.start()] + other + value[found.end() :]
                yield node, lambda text=text: setattr(node, "value", text)  # type: ignore[misc]


def _become(node: ast.expr, other: ast.expr) -> None:
    """Makes a node another one, in its place."""
    place = {name: getattr(node, name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
    node.__class__ = other.__class__
    node.__dict__ = {**other.__dict__, **place}


def _is_text(node: ast.BinOp) -> bool:
    """Whether texts or lists are put together, where another operator is no fault that could stay unseen."""
    kinds = (ast.JoinedStr, ast.List, ast.Tuple)
    return any(
        isinstance(n, kinds) or (isinstance(n, ast.Constant) and isinstance(n.value, str))
        for n in (node.left, node.right)
    )
