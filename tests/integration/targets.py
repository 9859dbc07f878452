"""Sparks for dbt, which answer questions of tests: in this process, on a local server, on a cluster."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.golden.runner import family
from tests.lib.support import Done

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]

# Queries here are tiny: compiling one takes longer than interpreting it.
SMALL_QUERIES = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@dataclass(frozen=True)
class Answer:
    """Rows, with times and dates as text, and the columns' names and Spark types."""

    columns: tuple[tuple[str, str], ...]
    rows: list[list[Any]]


class Target(ABC):
    """Where dbt runs: a target of the profile, and a way to ask it without dbt."""

    name: str

    def output(self, schema: str, type_: str = "sparkstream", zone: str = "UTC") -> dict[str, Any]:
        """The target in a profile.

        Args:
            schema: what dbt's tables go to.
            type_: `sparkstream` or `spark`.
            zone: the session's time zone.
        """
        parameters = {**SMALL_QUERIES, "spark.sql.session.timeZone": zone}
        return {"type": type_, "schema": schema, "server_side_parameters": parameters, **self._connection()}

    @abstractmethod
    def _connection(self) -> dict[str, Any]: ...

    @abstractmethod
    def _collect(self, statement: str, zone: str) -> list[list[Any]]: ...

    def ask(self, query: str, zone: str = "UTC") -> Answer:
        """What Spark answers to a query whose columns have different names."""
        columns = tuple((row[0], row[1]) for row in self._collect(f"DESCRIBE QUERY {query}", zone))
        texts = ", ".join(
            f"CAST({_quoted(name)} AS STRING)" if family(type_) in ("timestamp", "date") else _quoted(name)
            for name, type_ in columns
        )
        return Answer(columns, self._collect(f"SELECT {texts} FROM ({query})", zone))

    def do(self, statement: str) -> None:
        """Runs a statement that gives no rows."""
        self._collect(statement, "UTC")

    def drop_schema(self, schema: str) -> None:
        """Removes a schema and all that is in it."""
        self._collect(f"DROP SCHEMA IF EXISTS {schema} CASCADE", "UTC")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What Spark answers, sorted, with times as text."""
        return sorted(map(tuple, self.ask(query).rows), key=lambda row: [(v is not None, str(v)) for v in row])


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


class SessionTarget(Target):
    """The Spark of this process."""

    name = "session"

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def _connection(self) -> dict[str, Any]:
        return {"method": "session", "host": "localhost", "threads": 2}

    def _collect(self, statement: str, zone: str) -> list[list[Any]]:
        self._spark.conf.set("spark.sql.session.timeZone", zone)
        return [list(row) for row in self._spark.sql(statement).collect()]


class ThriftTarget(Target):
    """A server on this machine."""

    name = "thrift"

    def __init__(self, port: int | None, connect_port: int | None) -> None:
        self.port = port
        self._connect_url = f"sc://127.0.0.1:{connect_port}"
        self._cursors: dict[str, Any] = {}

    def _connection(self) -> dict[str, Any]:
        return {"method": "thrift", "host": "127.0.0.1", "port": self.port, "auth": "NOSASL", "threads": 4}

    def output(self, schema: str, type_: str = "sparkstream", zone: str = "UTC") -> dict[str, Any]:
        output = super().output(schema, type_, zone)
        return output if type_ == "spark" else {**output, "connect_url": self._connect_url}

    def _collect(self, statement: str, zone: str) -> list[list[Any]]:
        cursor = self._cursors.get(zone) or self._open(zone)
        cursor.execute(statement)
        return [list(row) for row in cursor.fetchall()] if cursor.description else []

    def _open(self, zone: str) -> Any:
        """A connection of its own for each time zone, as a new one costs the server more than a small query."""
        from pyhive import hive

        configuration = {"set:hiveconf:spark.sql.session.timeZone": zone}
        connection = hive.connect("127.0.0.1", self.port, auth="NOSASL", username="test", configuration=configuration)
        self._cursors[zone] = connection.cursor()
        return self._cursors[zone]


class ConnectTarget(ThriftTarget):
    """The same server, to which dbt speaks Spark Connect alone."""

    name = "connect"

    def _connection(self) -> dict[str, Any]:
        return {"method": "connect", "connect_url": self._connect_url, "threads": 4}

    def output(self, schema: str, type_: str = "sparkstream", zone: str = "UTC") -> dict[str, Any]:
        if type_ == "spark":
            pytest.skip("dbt-spark speaks no Spark Connect")
        return super().output(schema, type_, zone)


class ClusterTarget(ThriftTarget):
    """A server whose tasks run on a standalone cluster."""

    name = "cluster"


class DbtProject:
    """A dbt project in a folder of its own, which runs on a target.

    Attributes:
        folder: where it lies.
        schema: where its tables go.
    """

    def __init__(
        self, folder: Path, target: Target, *, schema: str, type_: str = "sparkstream", zone: str = "UTC"
    ) -> None:
        self.folder = folder
        self.target = target
        self.schema = schema
        output = target.output(schema, type_, zone)
        profile = {"target": target.name, "outputs": {target.name: output}}
        name = yaml.safe_load((folder / "dbt_project.yml").read_text())["profile"]
        (folder / "profiles.yml").write_text(yaml.safe_dump({name: profile}))

    def invoke(self, *arguments: str, quiet: bool = True) -> Done:
        """Runs dbt and returns what came of it, good or bad."""
        from dbt.cli.main import dbtRunner

        here = ["--project-dir", str(self.folder), "--profiles-dir", str(self.folder)]
        general = ["--no-use-colors", "--no-send-anonymous-usage-stats", "--no-version-check"]
        return dbtRunner().invoke([*general, "--quiet" if quiet else "--no-quiet", *arguments, *here])

    def dbt(self, *arguments: str) -> Any:
        """Runs dbt, which has to succeed, and returns its result."""
        done = self.invoke(*arguments)
        assert done.success, problems(done)
        return done.result

    def compiled(self, name: str) -> str:
        """The compiled SQL of a model, test, ... by its file name without `.sql`."""
        [path] = (self.folder / "target" / "compiled").rglob(f"{name}.sql")
        return path.read_text()


def problems(done: Done) -> str:
    """What went wrong, node by node."""
    if done.exception:
        return str(done.exception)
    return "\n".join(
        f"{getattr(result.node, 'unique_id', '')}: {result.message}"
        for result in getattr(done.result, "results", [])
        if result.status not in ("success", "pass")
    )


def copy_project(name: str, to: Path) -> Path:
    """A copy of a dbt project of this repository, which installs the package from here."""
    ignored = shutil.ignore_patterns("target", "logs", "dbt_packages", ".sparkstream", "package-lock.yml")
    shutil.copytree(ROOT / name, to, ignore=ignored)
    packages = to / "packages.yml"
    if packages.exists():
        packages.write_text(yaml.safe_dump({"packages": [{"local": str(ROOT)}]}))
    return to


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Writes files, whose paths are relative to the folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
