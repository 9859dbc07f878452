"""Sidecar folders and files of a streaming run, read and written by Spark wherever they lie."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from dbt.adapters.sparkstream.spark.connect import expression
from dbt.adapters.sparkstream.sql.core.literals import exactly, string_literal
from dbt.adapters.sparkstream.streaming.refusals import ignored, spark_errors
from dbt.adapters.sparkstream.streaming.worker.sink import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NO_FOLDER = "PATH_NOT_FOUND"
"""Condition of Spark's error about a folder that doesn't exist."""

_IN_A_JOB = "spark.sql.sources.parallelPartitionDiscovery.threshold"
"""Setting of the number of folders from which Spark lists them in a job."""

_BEGINNING = re.compile(r"(?:([A-Za-z][\w+.-]*):(?://([^/]*))?)?")
"""Scheme and host of a path."""

_SIGNS = {"*": "[^/]*", "?": "[^/]", "{": "(?:"}
_IN_BRACES = {"}": ")", ",": "|"}
"""Signs in a path with Hadoop's wildcards -> what they are in a regular expression."""


class Stored(NamedTuple):
    """A file: milliseconds from the epoch to its last change, its size in bytes, and its path as Spark writes it."""

    time: int
    size: int
    uri: str


def listed_at_once(spark: SparkSession, folder: str) -> AbstractContextManager[None]:
    """Has Spark list the files below a folder on a disk without a job, which takes longer than a thousand folders.

    The folder has its scheme (`file:/warehouse/t`): in a store each takes a request, so nothing is changed there.
    """
    return settings(spark, {_IN_A_JOB: "10000"} if folder.startswith("file:") else {})


class Folders:
    """Folders as a Spark session sees them: on this machine, a cluster's file system or an object store."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def lines(self, path: str) -> list[str]:
        """The lines of the text files in a folder; none where there is no folder."""
        return [line for (line,) in self._read(exactly(path), "value")]

    def named_lines(self, path: str) -> list[tuple[str, str]]:
        """Lines of the text files in folders, each with its file's path; the folders' path may have wildcards."""
        return [(file, line) for file, line in self._read(path, "_metadata.file_path", "value")]

    def write_lines(self, path: str, lines: Sequence[str], mode: str = "overwrite") -> None:
        """Replaces a folder by one with a text file; with mode `append`, adds the file to the folder."""
        values = ", ".join(f"({string_literal(line)})" for line in lines)
        with spark_errors():
            self._spark.sql(f"SELECT * FROM VALUES {values} AS t (line)").coalesce(1).write.mode(mode).text(path)

    def write(self, path: str, query: str, mode: str = "overwrite", is_one: bool = True) -> None:
        """Writes the rows of a query in Parquet, as one file or several, in place of the files in a folder.

        Mode `append` adds them to the folder, and `ignore` leaves a folder as it is.
        """
        with spark_errors():
            rows = self._spark.sql(query)
            (rows.coalesce(1) if is_one else rows).write.mode(mode).parquet(path)

    def stored_files(self, path: str, options: Mapping[str, str] | None = None) -> dict[str, Stored]:
        """The files in a folder and in folders below, by their paths. Empty where there is no folder.

        Files and folders with names that begin with `_` or `.` are left out. With options, those of a source that lists
        its files, the path may have wildcards.
        """
        if options is None:
            path, options = exactly(path), {"recursiveFileLookup": "true"}
        # And not the content, which Spark doesn't read then. Partitions may have the names of the format's columns.
        with ignored(_NO_FOLDER), spark_errors(), listed_at_once(self._spark, path):
            files = self._spark.read.format("binaryFile").options(**options).load(path)
            changed, size = "unix_millis(_metadata.file_modification_time)", "_metadata.file_size"
            rows = files.selectExpr(changed, size, "_metadata.file_path").collect()
            return {path_of(str(row[2])): Stored(*row) for row in rows}
        return {}

    def digests(self, path: str, options: Mapping[str, str], uris: Collection[str]) -> dict[str, str]:
        """A hash of the lines of each of some files, by the files' paths."""
        if not uris:
            return {}
        with ignored(_NO_FOLDER), spark_errors():
            lines = self._spark.read.format("text").options(**options).load(path)
            chosen = ", ".join(map(string_literal, uris))
            hashed = "SUM(CAST(xxhash64(value) AS DECIMAL(20, 0)))"
            rows = lines.where(f"_metadata.file_path IN ({chosen})").selectExpr("_metadata.file_path AS file", "value")
            found = rows.groupBy("file").agg(expression(rows, f"CONCAT(COUNT(*), ' ', {hashed}) AS hash")).collect()
            return {path_of(str(row[0])): str(row[1]) for row in found}
        return {}

    def clear(self, path: str) -> None:
        """Removes all files in a folder; the folder itself stays, or is made."""
        # Spark has no statement that removes a folder. This one writes no rows in place of all there is.
        with spark_errors():
            rows = self._spark.sql("SELECT 1 AS x, 1 AS p WHERE FALSE").write.partitionBy("p").mode("overwrite")
            rows.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").parquet(path)

    def names(self, path: str) -> set[str]:
        """The names of the files in a folder; none where there is no folder."""
        return {name for (name,) in self._read(exactly(path), "_metadata.file_name")}

    def _read(self, path: str, *columns: str) -> list[tuple[str, ...]]:
        with ignored(_NO_FOLDER), spark_errors():
            return [tuple(map(str, row)) for row in self._spark.read.text(path).selectExpr(*columns).collect()]
        return []


def path_of(name: str) -> str:
    """A file's path, however its URI is written: `file:///a b` of `file:/a%20b`."""
    parts = urlsplit(name)
    return f"{parts.scheme}://{parts.netloc}{unquote(parts.path)}" if parts.scheme else name


def is_relative(path: str) -> bool:
    """True if a path has no scheme and doesn't begin with a slash."""
    return not path.startswith("/") and _BEGINNING.match(path)[1] is None  # type: ignore[index]


def within(place: str) -> Callable[[str], bool]:
    """Test of paths of files, as of `path_of`: True for the place, or a file in this folder or below it.

    The place is a path or a URI, which may have Hadoop's wildcards. A path without a scheme is the same in each.
    """
    scheme, host, path = _parts(place)
    matched = re.compile(_pattern(posixpath.normpath(path)) + "(?:/.*)?", re.DOTALL)

    def lies_there(name: str) -> bool:
        its_scheme, its_host, its_path = _parts(name)
        return (scheme is None or (its_scheme, its_host) == (scheme, host)) and bool(matched.fullmatch(its_path))

    return lies_there


def _parts(path: str) -> tuple[str | None, str, str]:
    begins = _BEGINNING.match(path)
    assert begins is not None
    return begins[1], begins[2] or "", path[begins.end() :]


def _pattern(glob: str) -> str:
    """A path with Hadoop's wildcards, as a regular expression."""
    found, depth = [], 0
    pieces = re.findall(r"\\.|\[[^\]/]{1,200}\]|.", glob, re.DOTALL)
    for piece in pieces:
        if piece in _SIGNS:
            found.append(_SIGNS[piece])
        elif depth and piece in _IN_BRACES:
            found.append(_IN_BRACES[piece])
        elif len(piece) > 2 and piece.startswith("["):
            inner = re.sub(r"([\\\[&~|])", r"\\\1", piece[1:-1])
            found.append(f"[^{inner[1:]}]" if inner[0] in "^!" else f"[{inner}]")
        else:
            found.append(re.escape(piece[-1] if piece.startswith("\\") else piece))
        depth += (piece == "{") - (piece == "}" and depth > 0)
    return "".join(found) + ")" * depth


def parent_of(folder: str) -> str:
    """The folder that a folder lies in."""
    return folder.rstrip("/").rpartition("/")[0]
