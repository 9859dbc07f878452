"""All suites of dbt-tests-adapter, found where they are, so that a new version's new ones run too."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import dbt.tests.adapter

PREFIX = "dbt.tests.adapter."


def suites() -> dict[str, type]:
    """The suites by name: `<folder>.<class>`, without `Base` or `Test`.

    A class that another class of its module is made from is left to that one.
    """
    found: dict[str, type] = {}
    for module in _modules():
        classes = [
            cls
            for _, cls in inspect.getmembers(module, inspect.isclass)
            if cls.__module__ == module.__name__ and _tests(cls)
        ]
        leaves = [cls for cls in classes if not any(cls in other.__mro__[1:] for other in classes)]
        for cls in leaves:
            found[f"{module.__name__.removeprefix(PREFIX).split('.')[0]}.{_short(cls)}"] = cls
    return dict(sorted(found.items()))


def _modules() -> Iterator[ModuleType]:
    """Every module; most folders have no __init__.py, so the import system can't list them."""
    for folder in map(Path, dbt.tests.adapter.__path__):
        for file in sorted(folder.rglob("*.py")):
            if file.name != "__init__.py":
                yield importlib.import_module(PREFIX + ".".join(file.relative_to(folder).with_suffix("").parts))


def _tests(cls: type) -> bool:
    return any(name.startswith("test") and callable(getattr(cls, name)) for name in dir(cls))


def _short(cls: type) -> str:
    return cls.__name__.removeprefix("Base").removeprefix("Test")
