"""A mutant in the place of a module that is imported already.

Other modules hold the module's functions and classes by `from ... import`, so these stay the same objects, and get the
mutant's code.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from types import FunctionType
from typing import Any

from tools.mutation.mutants import Mutant

_PACKAGE = "dbt.adapters.sparkstream.sql."

Undo = Callable[[], None]


@contextmanager
def faulty(mutant: Mutant) -> Iterator[None]:
    """The module has the mutant's fault within."""
    parts = mutant.path.with_suffix("").parts
    name = ".".join(parts[parts.index("adapters") + 1 :])
    module = vars(importlib.import_module(name))
    made: dict[str, Any] = {k: v for k, v in module.items() if k.startswith("__")}
    exec(compile(mutant.tree, str(mutant.path), "exec"), made)
    undo: list[Undo] = []
    try:
        for key, new in made.items():
            if key in module and not key.startswith("__"):
                undo += _swap(module[key], new, name)
        if mutant.at_import:
            undo += [u for key, new in made.items() if key in module for u in _rebind(module[key], new)]
        yield
    finally:
        for one in reversed(undo):
            one()


def _swap(old: Any, new: Any, module: str) -> Iterator[Undo]:
    """Gives the functions of an object the code of another one."""
    if isinstance(old, type) and old.__module__ == module:
        for key, value in list(vars(old).items()):
            other = vars(new).get(key)
            if isinstance(value, (int, str, tuple, frozenset)) and not key.startswith("__"):
                setattr(old, key, other)
                yield lambda key=key, value=value: setattr(old, key, value)  # type: ignore[misc]
            elif (
                isinstance(value, FunctionType) and value.__closure__ and "__class__" not in value.__code__.co_freevars
            ):
                setattr(old, key, other)  # what a dataclass makes holds the defaults of its fields
                yield lambda key=key, value=value: setattr(old, key, value)  # type: ignore[misc]
            else:
                yield from _swap(value, other, module)
    elif isinstance(old, property):
        yield from _swap(old.fget, new.fget, module)
    elif isinstance(old, cached_property):
        yield from _swap(old.func, new.func, module)
    elif isinstance(old, (staticmethod, classmethod)):
        yield from _swap(old.__func__, new.__func__, module)
    elif hasattr(old, "__wrapped__"):  # a context manager or the like
        yield from _swap(old.__wrapped__, new.__wrapped__, module)
    elif isinstance(old, FunctionType) and old.__module__ == module:
        before = old.__code__, old.__defaults__, old.__kwdefaults__
        old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__

        def undo() -> None:
            old.__code__, old.__defaults__, old.__kwdefaults__ = before

        yield undo


def _rebind(old: Any, new: Any) -> Iterator[Undo]:
    """Puts a constant in the place of another one, in all modules of the translator."""
    if isinstance(old, (type, FunctionType)) or old is new:
        return
    for name, module in list(sys.modules.items()):
        if name.startswith(_PACKAGE):
            for key in [k for k, v in vars(module).items() if v is old]:
                setattr(module, key, new)
                yield lambda module=module, key=key: setattr(module, key, old)  # type: ignore[misc]
