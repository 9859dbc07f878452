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

    A class that another class is made from is left to that one.
    """
    classes = {
        cls
        for module in _modules()
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if cls.__module__ == module.__name__ and _tests(cls)
    }
    found = {_name(cls): cls for cls in classes if not any(_stands_for(other, cls) for other in classes)}
    return dict(sorted(found.items()))


def _stands_for(other: type, cls: type) -> bool:
    """Whether a class is what another one is made from, and no suite itself."""
    near = other.__module__ == cls.__module__ or not cls.__name__.startswith("Test")
    return near and cls in other.__mro__[1:]


def _name(cls: type) -> str:
    return f"{cls.__module__.removeprefix(PREFIX).split('.')[0]}.{_short(cls)}"


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
