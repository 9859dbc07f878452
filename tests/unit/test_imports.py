"""Imports between the modules of the package."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = "dbt.adapters.sparkstream"
ROOT = Path(__file__).parents[2]
ADAPTER = ROOT / "adapters" / Path(*PACKAGE.split("."))
MODULES = {
    ".".join(path.relative_to(ADAPTER).with_suffix("").parts).removesuffix("__init__").rstrip("."): path
    for path in sorted(ADAPTER.rglob("*.py"))
}
"""Module, without the package's name -> its file."""


BESIDE_SPARK = {
    f"{PACKAGE}.{name}"
    for name in (
        "sql.core.literals",
        *(module for module in MODULES if module.startswith("streaming.worker.")),
    )
}
"""What runs beside Spark's driver, in a Python that hasn't the package: it is sent there by value."""


def imported(node: ast.AST, functions: bool) -> Iterator[str]:
    """The modules of the package that are imported, for type checks, too.

    Args:
        functions: True if imports within functions count: they come when all modules are there.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom) and (child.module or "").startswith(PACKAGE):
            for alias in child.names:
                inner = f"{child.module}.{alias.name}".removeprefix(PACKAGE).lstrip(".")
                yield inner if inner in MODULES else inner.rpartition(".")[0]
        if functions or not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from imported(child, functions)


@cache
def needed(module: str, functions: bool) -> frozenset[str]:
    """The modules that a module imports; arguments as for `imported`."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    return frozenset(imported(tree, functions)) - {module}


def test_no_cycles() -> None:
    try:
        list(TopologicalSorter({module: needed(module, False) for module in MODULES}).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("name", ["errors", "leftovers", "models", "refusals", "settings", "decide", "plan"])
def test_no_two_modules_of_a_name_that_says_little(name: str) -> None:
    found = [module for module in MODULES if module.rpartition(".")[2] == name]
    assert len(found) <= 1, found


@pytest.mark.parametrize("module", sorted(BESIDE_SPARK))
def test_what_runs_beside_spark_needs_nothing_else(module: str) -> None:
    path = MODULES[module.removeprefix(PACKAGE).lstrip(".")]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    checked = [n for n in ast.walk(tree) if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
    for block in checked:
        block.body = [ast.Pass()]
    assert {f"{PACKAGE}.{name}" for name in imported(tree, functions=True)} <= BESIDE_SPARK


IMPORTERS = {
    "streaming.run": ["streaming.adapter"],
    "streaming.operations": ["streaming.adapter", "cli", "compiling.answers"],
    "streaming.worker": [
        *(f"streaming.{name}" for name in ("spark", "sinks", "tables", "job", "sidecars", "refusals")),
        "impl",
    ],
    "streaming.sinks": [
        *(f"streaming.{name}" for name in ("model", "spark", "reports")),
        "flinkscript",
        "editors",
    ],
    "streaming.adapter": ["impl", "compiling.answers"],
    "gateway": ["cli"],
    "play": ["cli"],
    "export": ["compiling.answers", "connections"],
}
"""A module or folder -> what may import it, beside itself."""


@pytest.mark.parametrize("folder", IMPORTERS)
def test_a_folder_says_what_may_import_it(folder: str) -> None:
    def within(module: str, folder: str) -> bool:
        return f"{module}.".startswith(f"{folder}.")

    allowed = {folder, *IMPORTERS[folder]}
    importers = (module for module in MODULES if any(within(name, folder) for name in needed(module, True)))
    assert [module for module in importers if not any(within(module, name) for name in allowed)] == []


@pytest.mark.parametrize("folder", ["streaming"])
def test_the_page_of_the_architecture_names_every_module(folder: str) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    names = [path.stem for path in (ADAPTER / folder).rglob("*.py") if path.stem != "__init__"]
    assert [name for name in names if f"{name}.py" not in page] == []


def test_files_that_the_page_of_the_architecture_and_comments_name_are_there() -> None:
    texts = [ROOT / "docs" / "architecture.md", *(ROOT / "macros").rglob("*.sql"), *MODULES.values()]
    folders = ("adapters", "macros", "tests", "tools")
    files = {path.relative_to(ROOT).as_posix() for folder in folders for path in (ROOT / folder).rglob("*.*")}
    named = {
        (path.name, name) for path in texts for name in re.findall(r"`([\w/]+\.(?:py|sql))`", path.read_text("utf-8"))
    }
    written = {("readme.py", "macros/create_inputs.sql")}  # by `sparkstream import`
    assert {one for one in named if not any(f"/{file}".endswith(f"/{one[1]}") for file in files)} == written
