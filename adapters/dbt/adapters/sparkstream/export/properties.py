"""The YAML of a project: without tests and configs that only the adapter or its package knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import yaml

from dbt.adapters.sparkstream.messages.mistakes import PACKAGES
from dbt.adapters.sparkstream.streaming import MATERIALIZATION
from dbt.adapters.sparkstream.streaming.settings import OURS

EXPOSURE = "exposure "
"""Text before the name of an exposure, which may be a model's, too."""
_TESTS = ("data_tests", "tests")
_TREES = ("models", "seeds", "snapshots", "tests", "data_tests", "sources", "analyses")
_LISTS = ("models", "seeds", "snapshots", "sources", "tables", "columns", "analyses", "data_tests", "tests")


def properties(text: str, tests: frozenset[str], without: frozenset[str]) -> str:
    """A file of properties; the same text where nothing in it has to go.

    Args:
        tests: names of generic tests that are written as SQL.
        without: names of models, snapshots and, behind `EXPOSURE`, exposures that aren't written; descriptions and unit
            tests of models go with them.
    """
    content = yaml.safe_load(text)
    if not isinstance(content, dict):
        return text
    before = yaml.safe_dump(content)
    _leave_out(content, without)
    _strip(content, tests)
    return text if yaml.safe_dump(content) == before else _written(content)


def _leave_out(content: dict[str, Any], without: frozenset[str]) -> None:
    for key, name, before in (
        ("models", "name", ""),
        ("unit_tests", "model", ""),
        ("snapshots", "name", ""),
        ("exposures", "name", EXPOSURE),
    ):
        if content.get(key):
            content[key] = [entry for entry in content[key] if f"{before}{entry.get(name)}" not in without]


def _strip(entry: Any, tests: frozenset[str]) -> None:
    """Takes tests and configs out of an entry and the entries below it."""
    if not isinstance(entry, dict):
        return
    config = entry.get("config")
    if isinstance(config, dict):
        for given in (config, config.get("meta") or {}):
            for name in [n for n in given if n in OURS]:
                del given[name]
        if config.get("materialized") == MATERIALIZATION:
            config["materialized"] = "table"
        if not config:
            del entry["config"]
    for key in _TESTS:
        if isinstance(entry.get(key), list):
            entry[key] = [test for test in entry[key] if _test_name(test) not in tests]
            if not entry[key]:
                del entry[key]
    for key in _LISTS:
        for below in entry.get(key) or ():
            _strip(below, tests)


def _test_name(test: Any) -> str | None:
    if isinstance(test, dict):
        named = test.get("test_name")
        test = named if named else next((key for key in test if key not in ("name", "config", "arguments")), None)
    return str(test).split(".")[-1] if test else None


def project(text: str, hooks: AbstractSet[str] = frozenset()) -> str:
    """dbt_project.yml; the same text where nothing in it has to go.

    Args:
        hooks: SQL of the hooks at the start and the end of a run that aren't written.
    """
    content: dict[str, Any] = yaml.safe_load(text)
    before = yaml.safe_dump(content)
    for key in ("on-run-start", "on-run-end"):
        given = content.get(key) or ()
        listed = [given] if isinstance(given, str) else list(given)
        kept = [hook for hook in listed if hook.strip() not in hooks]
        if kept != listed:
            content[key] = kept
    for tree in _TREES:
        if isinstance(content.get(tree), dict):
            _prune(content[tree])
            if not content[tree]:
                del content[tree]
    if content.get("dispatch"):
        content["dispatch"] = [d for d in content["dispatch"] if d.get("macro_namespace") not in PACKAGES]
        for entry in content["dispatch"]:
            entry["search_order"] = [name for name in entry.get("search_order") or () if name not in PACKAGES]
    if isinstance(content.get("vars"), dict):
        content["vars"].pop("sparkstream_examples", None)
    return text if yaml.safe_dump(content) == before else _written(content)


def _prune(tree: dict[str, Any]) -> None:
    for key, value in list(tree.items()):
        name = str(key).lstrip("+")
        if name in OURS or key in PACKAGES:
            del tree[key]
        elif name == "materialized" and value == MATERIALIZATION:
            tree[key] = "table"
        elif isinstance(value, dict):
            _prune(value)
            if not value:
                del tree[key]


def packages(text: str, folder: Path, into: Path) -> str | None:
    """packages.yml or dependencies.yml; None where nothing is left of it.

    Args:
        folder: the project's.
        into: the folder that it is written to; paths of local packages are made relative to it.
    """
    import os

    content = yaml.safe_load(text) or {}
    listed: Sequence[Mapping[str, Any]] = content.get("packages") or []
    kept = [dict(entry) for entry in listed if not _is_ours(entry, folder)]
    for entry in kept:
        if "local" in entry and not Path(entry["local"]).is_absolute():
            entry["local"] = os.path.relpath(folder / entry["local"], into)
    if kept == [dict(entry) for entry in listed]:
        return text
    if kept:
        content["packages"] = kept
    else:
        content.pop("packages")
    return _written(content) if content else None


def _is_ours(entry: Mapping[str, Any], folder: Path) -> bool:
    if "local" in entry:
        try:
            found = yaml.safe_load((folder / entry["local"] / "dbt_project.yml").read_text(encoding="utf-8"))
        except (OSError, yaml.YAMLError):
            return False
        return bool(found.get("name") in PACKAGES)
    named = str(entry.get("git") or entry.get("package") or entry.get("tarball") or entry.get("private") or "")
    return named.removesuffix(".git").rstrip("/").split("/")[-1] in (*PACKAGES, "dbt-sparkstream")


def _written(content: Any) -> str:
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
    return text
