"""The package's regular expressions, and the texts that could make each one slow."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import dbt.adapters.sparkstream as package

if sys.version_info >= (3, 11):
    from re import _constants as parts
    from re import _parser as parser
else:
    import sre_constants as parts
    import sre_parse as parser

_REPEATS = (parts.MAX_REPEAT, parts.MIN_REPEAT)
_CATEGORIES = {
    parts.CATEGORY_DIGIT: r"\d",
    parts.CATEGORY_NOT_DIGIT: r"\D",
    parts.CATEGORY_SPACE: r"\s",
    parts.CATEGORY_NOT_SPACE: r"\S",
    parts.CATEGORY_WORD: r"\w",
    parts.CATEGORY_NOT_WORD: r"\W",
}
_CHARACTERS = "".join(map(chr, [*range(97, 123), *range(97), *range(123, 256)]))
_MANY = 20
"""Repeats of no more than this cost nothing that matters."""


@dataclass(frozen=True)
class Expression:
    """An expression, and the method that the package calls: `search` stands for all that look for it everywhere."""

    pattern: re.Pattern[str]
    method: str

    def texts(self, size: int) -> Iterator[str]:
        """Texts that begin to match again and again, or once and for long."""
        items: Any = parser.parse(self.pattern.pattern, self.pattern.flags)
        for before, repeated in dict.fromkeys(_starts(items)):
            again = before + repeated
            yield (again * (size // len(again) + 1))[:size]
            if before:
                yield before + repeated * (size // len(repeated))

    def read(self, text: str) -> None:
        """Reads a text to its end."""
        if self.method == "search":
            for _ in self.pattern.finditer(text):
                pass
        else:
            getattr(self.pattern, self.method)(text)


def expressions() -> dict[str, Expression]:
    """All expressions of the package that repeat something without end: those of modules and classes, and in calls."""
    found: dict[str, Expression] = {}
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if module.name.endswith("__main__"):
            continue
        short = module.name.removeprefix(package.__name__ + ".")
        loaded = importlib.import_module(module.name)
        tree = ast.parse(inspect.getsource(loaded))
        classes = [of for of in vars(loaded).values() if isinstance(of, type) and of.__module__ == module.name]
        for name, value in [*vars(loaded).items(), *(item for of in classes for item in vars(of).items())]:
            for place, pattern in _within(value, name):
                found.setdefault(f"{short}.{place}", Expression(pattern, _method(tree, name)))
        for line, method, text in _calls(tree):
            found[f"{short}:{line}"] = Expression(re.compile(text), method)
    by_value = {(e.pattern, e.method): name for name, e in reversed(found.items())}
    return {name: Expression(*key) for key, name in by_value.items() if any(Expression(*key).texts(1))}


def _within(value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, re.Pattern[str]]]:
    if isinstance(value, re.Pattern):
        yield name, value
    elif depth < 4 and isinstance(value, dict):
        yield from _within([*value.keys(), *value.values()], name, depth + 1)
    elif depth < 4 and isinstance(value, (list, tuple, set, frozenset)):
        for i, item in enumerate(value):
            yield from _within(item, f"{name}[{i}]", depth + 1)


def _method(tree: ast.AST, name: str) -> str:
    """The method that a module calls of an expression; `search` where it isn't always the same one."""
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    }
    return used.pop() if len(used) == 1 and used <= {"match", "fullmatch"} else "search"


def _calls(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """The calls such as `re.split("...", text)`: line, method and expression."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr not in ("escape", "compile")
            and isinstance(node.args[0], ast.Constant)
        ):
            method = node.func.attr if node.func.attr in ("match", "fullmatch") else "search"
            yield node.lineno, method, str(node.args[0].value)


def _starts(items: Sequence[Any], before: str = "") -> Iterator[tuple[str, str]]:
    """What comes before each repeat of an expression, and what it repeats."""
    for i, (kind, value) in enumerate(items):
        here = before + _sample(items[:i])
        if kind is parts.SUBPATTERN:
            yield from _starts(value[-1], here)
        elif kind is parts.BRANCH:
            for branch in value[1]:
                yield from _starts(branch, here)
        elif kind in (parts.ASSERT, parts.ASSERT_NOT):
            yield from _starts(value[1], here)
        elif kind in _REPEATS:
            if value[1] > _MANY and _sample(value[2]):
                yield here, _sample(value[2])
            yield from _starts(value[2], here)


def _sample(items: Sequence[Any]) -> str:
    """A short text that items of an expression match."""
    text = ""
    for kind, value in items:
        if kind is parts.LITERAL:
            text += chr(value)
        elif kind in (parts.IN, parts.ANY, parts.NOT_LITERAL):
            allowed = value if kind is parts.IN else [(parts.NEGATE, None), (parts.LITERAL, value or ord("\n"))]
            text += next(character for character in _CHARACTERS if _is(character, allowed))
        elif kind is parts.BRANCH:
            text += _sample(value[1][0])
        elif kind is parts.SUBPATTERN:
            text += _sample(value[-1])
        elif kind in _REPEATS:
            text += _sample(value[2]) * value[0]
        elif kind is parts.ASSERT and value[0] > 0:
            text += _sample(value[1])
    return text


def _is(character: str, items: Sequence[Any]) -> bool:
    """Whether a character is in a set."""
    found = any(
        (kind is parts.LITERAL and ord(character) == value)
        or (kind is parts.RANGE and value[0] <= ord(character) <= value[1])
        or (kind is parts.CATEGORY and re.match(_CATEGORIES[value], character))
        for kind, value in items
    )
    return found != (items[0][0] is parts.NEGATE)
