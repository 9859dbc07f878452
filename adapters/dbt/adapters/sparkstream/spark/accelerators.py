"""Comet, a native engine that runs Spark's plans: the value of `accelerator` in a profile and of `--accelerator`."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from dbt.adapters.sparkstream.sql.core.errors import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLUGINS = "spark.plugins"
_OFF_HEAP, _OFF_HEAP_SIZE = "spark.memory.offHeap.enabled", "spark.memory.offHeap.size"
_UNITS = {"": 0, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}

COMET = "comet"
EXAMPLE = "org.apache.datafusion:comet-spark-spark4.1_2.13:1.2.0"
"""A value of `spark.jars.packages`."""
PLUGIN = "org.apache.spark.CometPlugin"
"""The class that Spark loads at its start."""
DEFAULTS = {
    _OFF_HEAP_SIZE: "1g",
    "spark.shuffle.manager": "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager",
}
"""Further settings; those of the user win."""
_JAR = "comet-spark-spark"
"""The jar's name until the version of Spark that the jar is built for."""
_EXTENSION = "org.apache.comet.CometSparkSessionExtensions"
"""The class that the plug-in adds to `spark.sql.extensions` where the engine runs."""
_LEAST_MEMORY = 256 << 20
"""Least bytes of `spark.memory.offHeap.size`: two tasks that sort a million rows fail with 32 MB, and 64 are enough."""


def check_name(name: str) -> None:
    """Refuses an accelerator that isn't Comet.

    Raises:
        ValueError: there is no such accelerator.
    """
    if name != COMET:
        hint = did_you_mean(str(name).lower(), [COMET], f"write {COMET}, or leave it out")
        raise ValueError(f"accelerator can't be {name!r}\n  {hint}")


def accelerated(given: Mapping[str, str], spark: Path) -> dict[str, str]:
    """The settings with which Spark runs Comet, to put on top of the given ones.

    Args:
        given: all settings that Spark starts with.
        spark: the folder of Spark.

    Raises:
        ValueError: the engine can't run; the message says why and what to do.
    """
    _check_jar(given, spark)
    _check_memory(given)
    plugins = [name for name in map(str.strip, given.get(PLUGINS, "").split(",")) if name]
    if PLUGIN not in plugins:
        plugins.append(PLUGIN)
    added = {name: value for name, value in DEFAULTS.items() if name not in given}
    return {**added, _OFF_HEAP: "true", PLUGINS: ",".join(plugins)}


def check_running(session: SparkSession) -> None:
    """Checks that Comet is in a Spark that has started.

    Raises:
        RuntimeError: it isn't, as the jar has no native code for this machine, or the Spark was there before.
    """
    if _EXTENSION not in (session.conf.get("spark.sql.extensions", "") or ""):
        raise RuntimeError(
            "Spark runs without Comet: see its log for the reason\n"
            "  a Spark that this process had already can't get it, and its jar has native code for Linux alone"
        )


def _check_jar(given: Mapping[str, str], spark: Path) -> None:
    names = [*_jars(given), *(jar.name for jar in spark.glob(f"jars/{_JAR}*.jar"))]
    found = [match for name in names if (match := re.match(rf"{_JAR}(\d+\.\d+)_", name))]
    if not found:
        raise ValueError(
            "accelerator: comet needs Comet's jar, and no setting names one that is there\n"
            "  write spark.jars: PATH of the jar (for a server: --jars PATH); with method: session, Spark fetches\n"
            f"  it by spark.jars.packages: {EXAMPLE}"
        )
    version = version_of(spark)
    if not any(version.startswith(f"{match[1]}.") for match in found):
        raise ValueError(
            f"{found[0].string} is built for Spark {found[0][1]}, and this is Spark {version}\n"
            f"  name the jar that is built for it, if there is one, or install pyspark {found[0][1]}"
        )


def _check_memory(given: Mapping[str, str]) -> None:
    if given.get(_OFF_HEAP, "true").strip().lower() != "true":
        raise ValueError(f"Comet works in memory off Java's heap\n  take out {_OFF_HEAP}: {given[_OFF_HEAP]}")
    size = given.get(_OFF_HEAP_SIZE, DEFAULTS[_OFF_HEAP_SIZE])
    number = re.fullmatch(r"\s*(\d+)([bkmgtp]?)b?\s*", size.lower())
    if number is None or int(number[1]) << _UNITS[number[2]] < _LEAST_MEMORY:
        raise ValueError(
            f"{_OFF_HEAP_SIZE} is {size}, and Comet needs {_LEAST_MEMORY >> 20}m at least\n"
            f"  write a larger one, or none for {DEFAULTS[_OFF_HEAP_SIZE]}"
        )


def _jars(given: Mapping[str, str]) -> Iterator[str]:
    """Names of the jars and packages that Spark gets; a file of this machine that doesn't exist is left out."""
    for package in given.get("spark.jars.packages", "").split(","):
        yield package.partition(":")[2].partition(":")[0]
    files = [*given.get("spark.jars", "").split(","), *given.get("spark.driver.extraClassPath", "").split(os.pathsep)]
    for name in map(str.strip, files):
        address = urlsplit(name)
        if address.scheme in ("", "file", "local"):
            path = unquote(address.path) if address.scheme else name
            yield from (Path(file).name for file in {path, *glob.glob(path)} if Path(file).is_file())
        else:
            yield Path(address.path).name


def version_of(spark: Path) -> str:
    """The version of the Spark in a folder; "package" where it has no jars."""
    return next((jar.stem.rpartition("-")[2] for jar in spark.glob("jars/spark-core_*.jar")), "package")
