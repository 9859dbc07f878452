"""`python -m tools.untouched FOLDER`: builds a dbt project with dbt-spark and with this adapter, and compares them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import yaml
from tests.integration.targets import ROOT, SMALL_QUERIES
from tests.lib.support import QUICK_JAVA, free_port, java_options, without_waiting_for_the_disk

SCHEMA = "untouched"


@dataclass(frozen=True)
class Side:
    """One way to Spark, such as dbt-spark's `session`."""

    type: str
    method: str

    def __str__(self) -> str:
        return f"{'dbt-spark' if self.type == 'spark' else 'dbt-sparkstream'}, {self.method}"


@dataclass
class Outcome:
    """What came of a build.

    Attributes:
        statuses: what dbt says of each node.
        messages: why a node failed.
        sql: the compiled SQL of each node.
        tables: columns with types, number of rows and a hash of them, by node.
        log: all that dbt printed.
    """

    statuses: dict[str, str] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    sql: dict[str, str] = field(default_factory=dict)
    tables: dict[str, list[Any]] = field(default_factory=dict)
    log: str = ""

    def counts(self) -> str:
        """How many nodes ended how, in one line."""
        return ", ".join(f"{n} {status}" for status, n in sorted(Counter(self.statuses.values()).items()))


def differences(theirs: Outcome, ours: Outcome) -> list[str]:
    """Each difference between two builds, in words."""
    found = []
    for what, one, other in (
        ("ended", theirs.statuses, ours.statuses),
        ("compiled", theirs.sql, ours.sql),
        ("holds", theirs.tables, ours.tables),
    ):
        for node in sorted(one.keys() | other.keys()):
            if one.get(node) != other.get(node):
                found.append(f"{node} {what}\n    there: {one.get(node)}\n    here:  {other.get(node)}")
                if what == "ended":
                    found[-1] += "".join(f"\n    {m}" for s in (theirs, ours) if (m := s.messages.get(node)))
    return found


@contextmanager
def _spark(side: Side, folder: Path) -> Iterator[dict[str, Any]]:
    """Where dbt connects to; a server for the methods that need one."""
    if side.method == "session":
        yield {"method": "session", "host": "localhost"}
        return
    from dbt.adapters.sparkstream.server import Server, ServerConfig

    config = ServerConfig(
        folder=folder / "server", port=free_port(), connect_port=free_port(), master="local[2]", conf=SMALL_QUERIES
    )
    try:
        Server(config).start()
        if side.method == "thrift":
            yield {"method": "thrift", "host": "127.0.0.1", "port": config.port, "auth": "NOSASL"}
        else:
            yield {"method": "connect", "connect_url": f"sc://127.0.0.1:{config.connect_port}"}
    finally:
        Server(config).stop()


def _copy(project: Path, packages: tuple[Path, ...], to: Path) -> None:
    """A copy of the project with its packages in place, so that nothing is fetched."""
    unwanted = shutil.ignore_patterns("target", "logs", "dbt_packages", ".git")
    shutil.copytree(project, to, ignore=unwanted)
    for name in ("packages.yml", "package-lock.yml", "dependencies.yml"):
        (to / name).unlink(missing_ok=True)
    installed = []
    for package in packages:
        name = yaml.safe_load((package / "dbt_project.yml").read_text())["name"]
        inner = shutil.ignore_patterns("target", "logs", "dbt_packages", ".git", "integration_tests")
        shutil.copytree(package, to / "dbt_packages" / name, ignore=inner)
        installed.append({"local": f"dbt_packages/{name}"})
    # dbt counts what it finds there.
    (to / "packages.yml").write_text(yaml.safe_dump({"packages": installed}))
    macros = (yaml.safe_load((to / "dbt_project.yml").read_text()).get("macro-paths") or ["macros"])[0]
    (to / macros).mkdir(exist_ok=True)
    shutil.copy(Path(__file__).with_name("look.sql"), to / macros / "untouched_look.sql")


def build(project: Path, packages: tuple[Path, ...], side: Side, arguments: tuple[str, ...], folder: Path) -> Outcome:
    """Builds a copy of the project on one side.

    Args:
        project: the folder of a dbt project, which isn't changed.
        packages: folders of the packages that the project needs.
        side: the adapter and its method.
        arguments: further ones for `dbt build`.
        folder: an empty one for the copy, Spark and its tables.
    """
    copy = folder / "project"
    _copy(project, packages, copy)
    with _spark(side, folder) as connection:
        target = {
            "type": side.type,
            "schema": SCHEMA,
            "threads": 1 if side.method == "session" else 4,
            "server_side_parameters": {**SMALL_QUERIES, "spark.sql.session.timeZone": "UTC"},
            **connection,
        }
        name = yaml.safe_load((copy / "dbt_project.yml").read_text())["profile"]
        (copy / "profiles.yml").write_text(yaml.safe_dump({name: {"target": "dev", "outputs": {"dev": target}}}))
        result = folder / "result.json"
        command = [sys.executable, "-m", "tools.untouched.inside", str(result), *arguments]
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        done = subprocess.run(
            command,
            cwd=copy,
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    if not result.exists():
        raise click.ClickException(f"{side}: dbt has stopped\n{done.stdout[-5000:]}")
    return Outcome(**json.loads(result.read_text()), log=done.stdout)


@click.command(context_settings={"max_content_width": 110})
@click.argument("project", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--package",
    "packages",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of a package that the project needs. May be given several times; nothing is fetched.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=click.Choice(("session", "thrift", "connect")),
    default=("session", "thrift", "connect"),
    show_default=True,
    help="Way to Spark. dbt-spark has no `connect`: its `thrift` is what that is compared with.",
)
@click.option("--vars", "variables", help="The project's variables, as for dbt.")
@click.option("--keep", type=click.Path(path_type=Path), help="Folder to keep what dbt printed in.")
def main(
    project: Path, packages: tuple[Path, ...], methods: tuple[str, ...], variables: str | None, keep: Path | None
) -> None:
    """Build PROJECT with dbt-spark and with this adapter, and say what differs: ends of nodes, SQL, columns, rows."""
    arguments = ("--vars", variables) if variables else ()
    outcomes: dict[Side, Outcome] = {}
    different = 0

    def outcome(side: Side) -> Outcome:
        if side not in outcomes:
            folder = Path(tempfile.mkdtemp(prefix="untouched-"))
            with java_options(QUICK_JAVA), without_waiting_for_the_disk():
                outcomes[side] = build(project, packages, side, arguments, folder)
            shutil.rmtree(folder, ignore_errors=True)
            click.echo(f"{side}: {outcomes[side].counts()}; {len(outcomes[side].tables)} tables and views")
            if keep:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{side.type}-{side.method}.log").write_text(outcomes[side].log)
        return outcomes[side]

    for method in methods:
        theirs = Side("spark", "thrift" if method == "connect" else method)
        ours = Side("sparkstream", method)
        found = differences(outcome(theirs), outcome(ours))
        different += len(found)
        click.echo(f"{ours} against {theirs}: " + (f"{len(found)} differences" if found else "no difference"))
        for text in found:
            click.echo(f"  {text}")
    sys.exit(bool(different))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUTF8", "1")
    main()
