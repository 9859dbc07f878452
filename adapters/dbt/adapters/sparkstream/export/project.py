"""Exported project: a dbt project in plain Spark SQL."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.__version__ import __version__
from dbt.adapters.sparkstream.export import properties
from dbt.adapters.sparkstream.export.marks import Unwritable
from dbt.adapters.sparkstream.export.nodes import Writer
from dbt.adapters.sparkstream.messages.mistakes import PACKAGES
from dbt.adapters.sparkstream.secrecy import private

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.compiling.host import Host

LIST = "sparkstream-build.json"
"""Name of the file that lists the written files, so that the next build can remove them."""

_PATHS = ("model_paths", "seed_paths", "test_paths", "analysis_paths", "snapshot_paths", "macro_paths", "docs_paths")
_YAML = (".yml", ".yaml")
_KINDS = ("model", "test", "analysis", "snapshot")
_OF_TESTS = "sparkstream"
"""The folder of the tests that were generic ones."""


@dataclass
class Outcome:
    """Outcome of a build.

    Attributes:
        translated: the nodes whose SQL differs from that in the project.
        unchanged: number of nodes that stay as they are.
        refused: node -> why it can't be written.
        left_out: node -> why it isn't written, though it could be.
        notes: node -> remarks for the user.
    """

    translated: list[str] = field(default_factory=list)
    unchanged: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)


class Build:
    """Export of a project to a folder.

    Args:
        adapter: of the project's target.
        into: the folder to write.
        selected: unique ids of the nodes to write; all of them if None.
        as_tables: True to write models that only the adapter can add to as tables.
    """

    def __init__(
        self, adapter: Host, into: Path, selected: Sequence[str] | None = None, as_tables: bool = False
    ) -> None:
        self._config: Any = adapter.config
        self._manifest: Any = adapter.get_macro_resolver()
        self._folder = Path(self._config.project_root)
        self._into = into
        self._selected = None if selected is None else set(selected)
        self._writer = Writer(adapter, self._manifest, as_tables)
        self._texts: dict[Path, str] = {}
        self._absent: set[Path] = set()
        self._out: set[str] = set()
        self._tests: set[str] = set()
        self._lost_hooks: set[str] = set()
        self.outcome = Outcome()

    def plan(self) -> Outcome:
        """Translates the project; writes nothing."""
        own = [n for n in self._manifest.nodes.values() if n.package_name == self._config.project_name]
        nodes = [n for n in own if n.resource_type in _KINDS and not _is_generic(n)]
        for node in nodes:
            if self._selected is not None and node.unique_id not in self._selected and node.resource_type != "test":
                self._leave_out(node, "not selected")
            else:
                self._node(node)
        self._drop_dependents(nodes)
        self._generic([n for n in own if _is_generic(n)])
        self._hooks([n for n in own if n.resource_type == "operation"])
        self._of_packages()
        for node in (n for found in self._manifest.disabled.values() for n in found):
            if node.package_name != self._config.project_name or node.resource_type not in _KINDS:
                continue
            if not _is_generic(node):
                self._drop(node)
            elif self._writer.uses_ours(node):
                self._tests.add(node.test_metadata.name)
        return self.outcome

    def write(self) -> int:
        """Writes the planned files.

        Returns:
            The number of files.

        Raises:
            DbtRuntimeError: the folder holds files that aren't of a build.
        """
        _clear(self._into)
        files: dict[Path, bytes] = {path: text.encode() for path, text in self._texts.items()}
        for path in self._files():
            if path not in files and path not in self._absent:
                files[path] = self._copied(path)
        project = (self._folder / "dbt_project.yml").read_text(encoding="utf-8")
        files[Path("dbt_project.yml")] = properties.project(project, self._lost_hooks).encode()
        for name in ("packages.yml", "dependencies.yml"):
            if (self._folder / name).is_file():
                text = properties.packages((self._folder / name).read_text(encoding="utf-8"), self._folder, self._into)
                if text is not None:
                    files[Path(name)] = text.encode()
        if (self._folder / "selectors.yml").is_file():
            files[Path("selectors.yml")] = (self._folder / "selectors.yml").read_bytes()
        listed = {"version": __version__, "files": sorted(path.as_posix() for path in files)}
        files[Path(LIST)] = (json.dumps(listed, indent=2) + "\n").encode()
        for path, content in files.items():
            private.write_below(self._into, path, content)
        return len(files)

    def _node(self, node: Any) -> None:
        path = Path(node.original_file_path)
        if getattr(node, "language", "sql") != "sql":
            self.outcome.unchanged += 1
            self.outcome.notes[node.name] = ["a Python model stays as it is, and needs a Spark that runs those"]
            return
        try:
            written = self._writer.write(node)
        except Unwritable as error:
            self.outcome.refused[node.name] = str(error)
            self._drop(node)
            return
        if written.notes:
            self.outcome.notes[node.name] = written.notes
        if written.text is None:
            self.outcome.unchanged += 1
            return
        self.outcome.translated.append(node.name)
        if node.resource_type == "snapshot":
            file = self._texts.get(path) or (self._folder / path).read_text(encoding="utf-8")
            self._texts[path] = file.replace(node.raw_code.strip(), written.text.strip())
        else:
            self._texts[path] = written.text

    def _leave_out(self, node: Any, why: str) -> None:
        self.outcome.left_out[node.name] = why
        self._drop(node)

    def _drop(self, node: Any) -> None:
        path = Path(node.original_file_path)
        self._out.add(node.unique_id)
        if path.suffix not in _YAML:  # where a snapshot's entry goes, and what else is there stays
            self._absent.add(path)

    def _drop_dependents(self, nodes: Sequence[Any]) -> None:
        """Leaves out nodes that read a node that isn't written: dbt would refuse the project."""
        out = {
            n.unique_id: n.name for n in nodes if n.unique_id in self._out or Path(n.original_file_path) in self._absent
        }
        found = True
        while found:
            found = False
            for node in nodes:
                missing = [out[name] for name in node.depends_on.nodes if name in out]
                if missing and node.unique_id not in out:
                    found = True
                    out[node.unique_id] = node.name
                    self._leave_out(node, f"it reads {', '.join(missing)}")
        for exposure in self._manifest.exposures.values():
            if missing := [out[name] for name in exposure.depends_on.nodes if name in out]:
                self.outcome.left_out[f"{properties.EXPOSURE}{exposure.name}"] = f"it shows {', '.join(missing)}"

    def _generic(self, nodes: Sequence[Any]) -> None:
        """Makes generic tests of the package, or with windows, singular tests: all of a name, as YAML has the name."""
        absent = set(self.outcome.refused) | set(self.outcome.left_out)
        by_name: dict[str, list[Any]] = {}
        for node in nodes:
            by_name.setdefault(node.test_metadata.name, []).append(node)
        for name, tests in by_name.items():
            written: dict[Any, str | None] = {}
            for test in tests:
                if {name.split(".")[2] for name in test.depends_on.nodes if not name.startswith("source.")} & absent:
                    continue  # of model.shop.bids.v2 the name is bids
                try:
                    written[test.unique_id] = self._writer.test(test)
                except Unwritable as error:
                    self.outcome.refused[test.name] = str(error)
                    self._tests.add(name)
            if any(text is not None for text in written.values()) or any(self._writer.uses_ours(t) for t in tests):
                self._tests.add(name)
                self._singular([t for t in tests if t.unique_id in written], written)

    def _singular(self, tests: Sequence[Any], written: dict[Any, str | None]) -> None:
        for test in tests:
            text = written[test.unique_id]
            if text is None:
                self.outcome.refused[test.name] = "other tests of its name hold windows, and this one has none"
                continue
            self._texts[Path(self._config.test_paths[0]) / _OF_TESTS / f"{test.alias}.sql"] = text
            self.outcome.translated.append(test.name)

    def _hooks(self, nodes: Sequence[Any]) -> None:
        for node in nodes:
            try:
                changed = self._writer.write(node).text is not None
                why = "it holds a window, and the hooks of dbt_project.yml stay as they are"
            except Unwritable as error:
                changed = self._writer.uses_ours(node)
                why = str(error)
            if changed:
                self.outcome.refused[node.name] = why
                self._lost_hooks.add(node.raw_code.strip())

    def _of_packages(self) -> None:
        """Refuses nodes of other packages that call our macros, as other packages aren't written."""
        for node in self._manifest.nodes.values():
            other = node.package_name not in (self._config.project_name, *PACKAGES)
            if other and node.resource_type in _KINDS and self._writer.uses_ours(node):
                self.outcome.refused[f"{node.package_name}.{node.name}"] = (
                    "it is another package's, and calls our macros"
                )

    def _files(self) -> Iterator[Path]:
        """The files of the project, from its folder."""
        folders = {path for name in _PATHS for path in getattr(self._config, name, None) or ()}
        for folder in sorted(folders):
            for path in sorted((self._folder / folder).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    yield path.relative_to(self._folder)

    def _copied(self, path: Path) -> bytes:
        content = (self._folder / path).read_bytes()
        if path.suffix in _YAML:
            without = frozenset(set(self.outcome.refused) | set(self.outcome.left_out))
            text = properties.properties(content.decode("utf-8"), frozenset(self._tests), without)
            return text.encode()
        return content


def build(
    adapter: Host,
    into: str,
    selected: Sequence[str] | None = None,
    as_tables: bool = False,
    skip: bool = False,
) -> str:
    """Writes a project.

    Args:
        into: the folder to write.
        selected: unique ids of the nodes to write; all of them if None.
        as_tables: True to write models that only the adapter can add to as tables.
        skip: True to write the rest if a node can't be written.

    Returns:
        The outcome as JSON, with the number of `files`: 0 if a node can't be written, without `skip`.
    """
    project = Build(adapter, Path(into), selected, as_tables)
    outcome = project.plan()
    files = project.write() if skip or not outcome.refused else 0
    return json.dumps({**asdict(outcome), "files": files})


def _is_generic(node: Any) -> bool:
    return node.resource_type == "test" and getattr(node, "test_metadata", None) is not None


def _clear(into: Path) -> None:
    """Removes the files of an earlier build.

    Raises:
        DbtRuntimeError: the folder holds other files, and no earlier build, or its list names files elsewhere.
    """
    if not into.exists() or not any(into.iterdir()):
        return
    if not (into / LIST).is_file():
        raise DbtRuntimeError(
            f"{into} holds files that no build has written\n  name a folder that is empty or not there"
        )
    old = [into / name for name in json.loads((into / LIST).read_text(encoding="utf-8"))["files"]]
    # A list that came with the folder may be anybody's.
    for path in old:
        if not private.is_below(into, path):
            raise DbtRuntimeError(
                f"{into / LIST} names {path}, which lies elsewhere\n  name a folder that is empty or not there"
            )
    for path in old:
        path.unlink(missing_ok=True)
