"""Imports of the translator go one way: from what is on top to what it is built of."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import dbt.adapters.sparkstream.sql as sql

ROOT = Path(sql.__path__[0])
PACKAGE = "dbt.adapters.sparkstream.sql"
LAYERS = (
    ("core",),
    ("grammar", "dialects"),
    ("passes",),
    ("statement",),
    ("streaming",),
    ("translate",),
    ("explain", "membership", "requests"),
)
"""From the bottom to the top; a module imports from its own layer and from those below."""


def _modules() -> dict[str, Path]:
    """Name of a module within the package -> its file."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            found[name] = path
    return found


MODULES = _modules()


def _imports(path: Path) -> Iterator[str]:
    """The modules of the package that a file imports, also within functions and for type checks alone."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.name} has a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith(f"{PACKAGE}."):
                inner = name.removeprefix(f"{PACKAGE}.")
                yield inner if inner in MODULES else inner.rpartition(".")[0]


def _layer(module: str) -> int:
    [layer] = [i for i, names in enumerate(LAYERS) if module.partition(".")[0] in names]
    return layer


def test_every_module_has_a_layer() -> None:
    assert {module.partition(".")[0] for module in MODULES} == {name for names in LAYERS for name in names}


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module: str) -> None:
    wrong = [name for name in _imports(MODULES[module]) if name and _layer(name) > _layer(module)]
    assert not wrong, f"{module} is below {', '.join(wrong)}"


def test_no_cycles() -> None:
    """No module needs itself, not even through imports within functions and for type checks alone."""
    needed = {module: set(_imports(path)) - {"", module} for module, path in MODULES.items()}
    try:
        list(TopologicalSorter(needed).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_names_of_classes() -> None:
    """No two classes of the translator have one name."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in MODULES.values()]
    names = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    assert not [name for name, times in names.items() if times > 1]


def test_nothing_of_dbt_or_pyspark() -> None:
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            foreign = [n for n in names if n.startswith(("dbt", "pyspark")) and not n.startswith(PACKAGE)]
            assert not foreign, f"{module} imports {', '.join(foreign)}"
