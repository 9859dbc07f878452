"""Spark's own Thrift server, as clusters run it: `sparkstream server start` starts one without passwords only."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import escape

from dbt.adapters.sparkstream.spark.session_conf import local_conf
from tests.lib.support import free_port
from tests.server.standalone import kill, start

LISTENS = "Starting ThriftBinaryCLIService"
"""What the log says when the server takes connections."""


@contextmanager
def thrift_server(
    folder: Path,
    hive: Mapping[str, str],
    conf: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    seconds: float = 240,
) -> Iterator[int]:
    """A Thrift server on loopback while the block runs; gives its port.

    Args:
        folder: for its warehouse, catalog, settings and log; new.
        hive: Hive's settings, for `hive-site.xml`: the server reads those of LDAP nowhere else.
        conf: Spark's settings, beside the port.
        environ: variables of its process, beside this one's.
        seconds: it has to listen until then.
    """
    (folder / "conf").mkdir(parents=True)
    port, log = free_port(), folder / "log"
    settings = {
        **local_conf(folder, 2),
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
        "spark.hadoop.hive.server2.thrift.port": str(port),
        **(conf or {}),
    }
    (folder / "spark.conf").write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    properties = (f"<property><name>{escape(k)}</name><value>{escape(v)}</value></property>" for k, v in hive.items())
    (folder / "conf" / "hive-site.xml").write_text(f"<configuration>{''.join(properties)}</configuration>")
    process = start(
        log,
        "org.apache.spark.deploy.SparkSubmit",
        *("--class", "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"),
        *("--properties-file", str(folder / "spark.conf"), "spark-internal"),
        environ={"SPARK_CONF_DIR": str(folder / "conf"), **(environ or {})},
    )
    try:
        deadline = time.monotonic() + seconds
        while LISTENS not in log.read_text():
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()[-5000:]
            time.sleep(0.2)
        yield port
    finally:
        kill(process)
