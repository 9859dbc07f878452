"""Flink, in a Python of its own that has apache-flink."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow

TYPES = {"int": "INT", "bigint": "BIGINT", "double": "DOUBLE", "string": "STRING"}
"""Spark's types of columns as Flink's; any other is a time."""


class Flink:
    """Flink on tables of CSV files.

    Args:
        python: the interpreter.
        cores: how many tasks run at a time.
        memory: of its JVM, such as `4g`.
        streaming: True if it reads the files as streams, and not in batch.
    """

    def __init__(self, python: str, cores: int, memory: str, streaming: bool = False) -> None:
        worker = Path(__file__).with_name("flink_worker.py")
        self._process = subprocess.Popen(
            [python, str(worker), "streaming" if streaming else "batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "JAVA_TOOL_OPTIONS": f"-Xmx{memory}"},
        )
        settings = {
            "parallelism.default": str(cores),
            "table.local-time-zone": "UTC",
            # All of Flink is in one JVM: sorting and hashing get half of it, as Spark's do.
            "taskmanager.memory.managed.size": f"{int(memory.rstrip('g')) * 512}m",
            "taskmanager.memory.network.max": "256m",
        }
        self._say(settings)
        self._results = 0
        self._python = python

    def read(self, name: str, path: Path, columns: Mapping[str, str], watermark: str = "") -> None:
        """Makes a name be the table in a folder.

        Args:
            columns: name -> Spark's type.
            watermark: of the column `dateTime`, which has milliseconds then.
        """
        time = "TIMESTAMP(3)" if watermark else "TIMESTAMP(6)"
        listed = ", ".join(f"`{column}` {TYPES.get(type_, time)}" for column, type_ in columns.items())
        listed += f", WATERMARK FOR `dateTime` AS {watermark}" if watermark else ""
        self._run(f"DROP TEMPORARY TABLE IF EXISTS `{name}`")
        options = f"'connector' = 'filesystem', 'path' = 'file://{path}', 'format' = 'csv'"
        self._run(f"CREATE TEMPORARY TABLE `{name}` ({listed}) WITH ({options})")

    def seconds(self, sql: str) -> float:
        """How long a query takes whose rows are thrown away."""
        self._results += 1
        return self._run(f"CREATE TABLE result_{self._results} WITH ('connector' = 'blackhole') AS {sql}")

    def rows(self, sql: str, folder: Path) -> pyarrow.Table:
        """The rows of a query, which writes them into a folder that isn't there yet; all values are texts.

        An empty value is NULL.
        """
        import pandas
        import pyarrow

        self._results += 1
        options = f"'connector' = 'filesystem', 'path' = 'file://{folder}', 'format' = 'csv'"
        self._run(f"CREATE TABLE result_{self._results} WITH ({options}) AS {sql}")
        files = [f for f in sorted(folder.rglob("*")) if f.is_file() and f.stat().st_size]
        read = {"header": None, "dtype": str, "keep_default_na": False, "na_values": [""]}
        found = pandas.concat([pandas.read_csv(file, **read) for file in files])
        return pyarrow.Table.from_pandas(found.rename(columns=str), preserve_index=False)

    @property
    def version(self) -> str:
        """Of apache-flink."""
        asked = "from importlib.metadata import version; print(version('apache-flink'))"
        return subprocess.run([self._python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()

    def _say(self, what: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()

    def _run(self, sql: str) -> float:
        assert self._process.stdout is not None
        self._say(sql)
        for line in self._process.stdout:
            if line.startswith("answer "):
                answer = json.loads(line.removeprefix("answer "))
                if "error" in answer:
                    raise RuntimeError(f"{answer['error']}\nin {sql}")
                return float(answer["seconds"])
        raise RuntimeError("Flink has ended; its Python needs apache-flink and a Java")
