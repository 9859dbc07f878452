"""Parameters of a profile for Delta and Iceberg, with the jars that `make parts` gets."""

from __future__ import annotations

import re
from pathlib import Path

import pyspark

from tests.functional.adapter.project import PARAMETERS, ROOT

DELTA = ROOT / "parts" / "jars" / "delta"
ICEBERG = ROOT / "parts" / "jars" / "iceberg"


def delta_parameters(folder: Path = DELTA) -> dict[str, str]:
    """The `server_side_parameters` of a profile with Delta in `spark_catalog`."""
    return {
        **PARAMETERS,
        "spark.jars": ",".join(map(str, sorted(folder.glob("*.jar")))),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # Tables here have a handful of files: 50 tasks to read the list of them take longer than all else.
        "spark.databricks.delta.snapshotPartitions": "2",
    }


LAKE, HIVE = "lake", "metastore"
"""Catalogs of Iceberg's: in a folder, which has no views and renames nothing; in Hive's metastore, which does both."""


def catalog_parameters(folder: Path | str) -> dict[str, str]:
    """The settings of two catalogs beside `spark_catalog`; `folder` is for the tables of one of them."""
    settings = {}
    for name, own in ((LAKE, {"type": "hadoop", "warehouse": str(folder)}), (HIVE, {"type": "hive"})):
        key = f"spark.sql.catalog.{name}"
        settings[key] = "org.apache.iceberg.spark.SparkCatalog"
        settings |= {f"{key}.{option}": value for option, value in {**own, "cache-enabled": "false"}.items()}
    return settings


def iceberg_parameters(folder: Path = ICEBERG) -> dict[str, str]:
    """The `server_side_parameters` of a profile with Iceberg in `spark_catalog`."""
    return {
        **PARAMETERS,
        "spark.jars": ",".join(map(str, sorted(folder.glob("*.jar")))),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.spark_catalog": "org.apache.iceberg.spark.SparkSessionCatalog",
        "spark.sql.catalog.spark_catalog.type": "hive",
        # The metastore within dbt has no tables for locks; from version 2.3.10 on, it needs none to swap metadata.
        "spark.hadoop.iceberg.engine.hive.lock-enabled": "false",
        # Hive's catalog keeps columns, too, and refuses a table that is made anew with other types.
        # Else the session goes on with a table that another one, or DROP SCHEMA, has removed.
        "spark.sql.catalog.spark_catalog.cache-enabled": "false",
        "spark.hadoop.hive.metastore.disallow.incompatible.col.type.changes": "false",
    }


FORMATS = {"delta": delta_parameters, "iceberg": iceberg_parameters}


def reason_to_skip(file_format: str) -> str | None:
    """Why the Spark here has no tables in a format of `FORMATS`; None where it has."""
    folder, name = {"delta": (DELTA, "delta-spark"), "iceberg": (ICEBERG, "iceberg-spark-runtime")}[file_format]
    jar = next(iter(folder.glob(f"{name}[-_]*.jar")), None)
    if jar is None:
        return f"the jars of {file_format} aren't here: `make parts` gets them from Maven Central"
    built = re.match(rf"{name}[-_]([\d.]+)_", jar.name)
    if built is None or not pyspark.__version__.startswith(built[1] + "."):
        return f"{jar.name} isn't built for Spark {pyspark.__version__}; `make test-parts` has the Spark that it fits"
    return None
