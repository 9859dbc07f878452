"""A dbt project in a folder of its own, and dbt run on it within this process."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.lib.support import Done

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[3]

# The same for every project, as they share one Spark. Queries are tiny: compiling one takes longer than running it.
PARAMETERS = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def with_package(files: Mapping[str, str]) -> dict[str, str]:
    """A project's files, and the package installed from this checkout (by `dbt deps`)."""
    return {"packages.yml": f"packages:\n  - local: {ROOT}\n", **files}


class Project:
    """A dbt project.

    Attributes:
        folder: where it lies.
        schema: the schema that its tables go to, its own.
    """

    def __init__(self, folder: Path, spark: SparkSession, files: Mapping[str, str], target: Mapping[str, Any]) -> None:
        self.folder = folder
        self.schema = re.sub(r"\W", "_", folder.name)
        self._spark = spark
        output = {
            "type": "sparkstream",
            "method": "session",
            "schema": self.schema,
            "threads": 2,
            **target,
        }
        profile = {"target": "test", "outputs": {"test": output}}
        self.write(
            {
                "dbt_project.yml": "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n",
                "profiles.yml": yaml.safe_dump({"shop": profile}),
                **files,
            }
        )

    def write(self, files: Mapping[str, str]) -> None:
        """Writes files, whose paths are relative to the project."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def invoke(self, *arguments: str, quiet: bool = True) -> Done:
        """Runs dbt and returns what came of it, good or bad."""
        from dbt.cli.main import dbtRunner

        here = ["--project-dir", str(self.folder), "--profiles-dir", str(self.folder)]
        flags = ["--no-use-colors", "--no-send-anonymous-usage-stats", "--no-version-check"]
        return dbtRunner().invoke([*flags, *(["--quiet"] if quiet else []), *arguments, *here])

    def dbt(self, *arguments: str) -> Any:
        """Runs dbt, which has to succeed, and returns its result."""
        done = self.invoke(*arguments)
        assert done.success, self._messages(done)
        return done.result

    def failure(self, *arguments: str) -> str:
        """Runs dbt, which has to fail, and returns its messages."""
        done = self.invoke(*arguments)
        assert not done.success, "dbt succeeded"
        return self._messages(done)

    @staticmethod
    def _messages(done: Done) -> str:
        if done.exception:
            return str(done.exception)
        return "\n".join(str(r.message) for r in getattr(done.result, "results", [done.result]) if r.message)

    def sql(self, statement: str) -> None:
        """Runs a statement on Spark. `{}` stands for the project's schema."""
        self._spark.sql(statement.replace("{}", self.schema))

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What Spark answers, sorted. `{}` in the query stands for the project's schema."""
        found = [tuple(row) for row in self._spark.sql(query.replace("{}", self.schema)).collect()]
        return sorted(found, key=lambda row: [(value is not None, str(value)) for value in row])

    def compiled(self, name: str) -> str:
        """The SQL in target/compiled of a model, test, ... by its file name without `.sql`."""
        [path] = (self.folder / "target" / "compiled").rglob(f"{name}.sql")
        return path.read_text()

    def executed(self, name: str) -> str:
        """The statement in target/run of a model, test, ... by its file name without `.sql`."""
        [path] = (self.folder / "target" / "run").rglob(f"{name}.sql")
        return path.read_text()

    def manifest(self) -> dict[str, Any]:
        manifest: dict[str, Any] = json.loads((self.folder / "target" / "manifest.json").read_text())
        return manifest
