"""A server that speaks S3's protocol, and a Spark whose warehouse is in it."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.spark.session import CATALOG
from dbt.adapters.sparkstream.spark.session_conf import METASTORE_URL, local_conf
from tests.functional.adapter.project import PARAMETERS, ROOT
from tests.lib.support import free_port
from tests.parts.parameters import ICEBERG, catalog_parameters

if TYPE_CHECKING:
    pass

JARS = ROOT / "parts" / "jars" / "s3"
BUCKET = "lake"
CLOUD = "org.apache.spark.internal.io.cloud"

# As docs/storage.md has them.
SETTINGS = {
    "spark.hadoop.fs.s3a.path.style.access": "true",
    "spark.hadoop.fs.s3a.access.key": "test",
    "spark.hadoop.fs.s3a.secret.key": "test",
    "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
    "spark.sql.streaming.checkpointFileManagerClass": f"{CLOUD}.AbortableStreamBasedCheckpointFileManager",
    # Spark 4.1 takes the magic committer by itself where it finds it, and that can't replace partitions.
    "spark.hadoop.fs.s3a.committer.magic.enabled": "false",
    "spark.sql.warehouse.dir": f"s3a://{BUCKET}/warehouse",
}


def _hadoop_fits() -> bool:
    """Whether the jars are of the Hadoop that the installed Spark has."""
    import pyspark

    [jars] = [Path(path) / "jars" for path in pyspark.__path__]
    own = next(jars.glob("hadoop-client-api-*.jar")).stem.rpartition("-")[2]
    return (JARS / f"hadoop-aws-{own}.jar").exists()


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """The address of a store with an empty bucket."""
    if not JARS.is_dir() or importlib.util.find_spec("moto") is None:
        pytest.skip("hadoop-aws or moto isn't here: `make parts` gets them from Maven Central and PyPI")
    if not _hadoop_fits():
        pytest.skip(
            "hadoop-aws isn't of this Spark's Hadoop: `make test-parts` runs these tests with a Spark that fits"
        )
    port = free_port()
    code = f"from moto.server import main; main(['-H', '127.0.0.1', '-p', '{port}'])"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as store:
        address = f"http://127.0.0.1:{port}"
        try:
            _make_bucket(address)
            yield address
        finally:
            store.terminate()


def _make_bucket(address: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(urllib.request.Request(f"{address}/{BUCKET}", method="PUT"), timeout=10).close()
            return
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


@pytest.fixture(scope="session")
def parameters(endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The `server_side_parameters` of a profile. Who says where the warehouse is says where the catalog is, too."""
    jars = ",".join(map(str, sorted(JARS.glob("*.jar"))))
    own = {CATALOG: "hive", **local_conf(tmp_path_factory.mktemp("catalog"), 2), **PARAMETERS, **SETTINGS}
    return {**own, "spark.jars": jars, "spark.hadoop.fs.s3a.endpoint": endpoint}


@pytest.fixture(scope="session")
def formats(parameters: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The same for a Spark of its own that has Delta, and Iceberg in catalogs of both types."""
    iceberg, delta = list(ICEBERG.glob("*.jar")), list(JARS.glob("delta-spark_*.jar"))
    if not iceberg or not delta:
        pytest.skip("Delta for this Spark, or Iceberg, isn't here: `make parts` gets them from Maven Central")
    jars = ",".join([parameters["spark.jars"], *map(str, iceberg)])
    extensions = [
        "io.delta.sql.DeltaSparkSessionExtension",
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    ]
    own = {
        "spark.jars": jars,
        "spark.sql.extensions": ",".join(extensions),
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.hadoop.iceberg.engine.hive.lock-enabled": "false",
        "spark.sql.session.timeZone": "UTC",
    }
    warehouse = f"s3a://{BUCKET}/formats"
    return {
        **parameters,
        METASTORE_URL: local_conf(tmp_path_factory.mktemp("formats"), 2)[METASTORE_URL],
        **catalog_parameters(warehouse + "/iceberg"),
        **own,
        "spark.sql.warehouse.dir": warehouse,
    }


@pytest.fixture(scope="session")
def keys(endpoint: str) -> Callable[[str], list[str]]:
    """Tells the names of the objects in the store that begin with a text."""

    def listed(prefix: str) -> list[str]:
        found: list[str] = []
        more = ""
        while True:
            question = urllib.parse.urlencode(
                {"list-type": "2", "prefix": prefix, **({"start-after": more} if more else {})}
            )
            with urllib.request.urlopen(f"{endpoint}/{BUCKET}?{question}", timeout=60) as answer:
                page = re.findall(r"<Key>([^<]*)</Key>", answer.read().decode())
            if not page:
                return found
            found += page
            more = page[-1]

    return listed


@pytest.fixture(scope="session")
def profile(parameters: dict[str, str]) -> dict[str, Any]:
    return {"server_side_parameters": parameters}
