"""Wrappers of dbt's own functions, for what dbt has no public place for. Without such a function, all else works."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any

_MARK = "_wrapped_by_sparkstream"


def wrap(module: str, name: str, wrapper: Callable[[Any], Any]) -> None:
    """Wraps a function or method of dbt's, once, where there is one.

    Args:
        module: its module.
        name: its name in the module, such as `Compiler._compile_code`.
        wrapper: makes the new function of dbt's.
    """
    owner, _, name = name.rpartition(".")
    try:
        place: Any = import_module(module)
    except ImportError:
        return
    place = getattr(place, owner, None) if owner else place
    original = getattr(place, name, None)
    if original is None or hasattr(original, _MARK):
        return
    wrapped = functools.wraps(original)(wrapper(original))
    setattr(wrapped, _MARK, True)
    setattr(place, name, wrapped)
