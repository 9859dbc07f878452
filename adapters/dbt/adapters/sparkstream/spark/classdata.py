"""The archive of classes from which an embedded Spark's Java starts.

Half of what Java does until Spark has answered its first statements is reading and checking classes from 280 jars. An
archive has 15,000 of them as they lie in memory. It belongs to one Java and one installed Spark, and Java goes without
it where it doesn't fit. The first process with such a Spark has another one make it when it ends, in the background:

    python -m dbt.adapters.sparkstream.spark.classdata
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from dbt.adapters.sparkstream.secrecy import private
from dbt.adapters.sparkstream.spark.java import Java, cache_folder, find_java
from dbt.adapters.sparkstream.spark.session_conf import DEFAULT_JAVA_OPTIONS, java_option

_OTHERS = ("SPARK_CONF_DIR", "SPARK_DIST_CLASSPATH", "SPARK_PREPEND_CLASSES", "HADOOP_CONF_DIR", "YARN_CONF_DIR")
"""Variables of the environment that put more on Spark's class path; an archive can't be of a folder's files."""

_AGAIN = 24 * 3600.0
"""Seconds after which an archive is tried again that couldn't be made, or whose making was killed."""


class Archive:
    """The archive of one Java and one installed Spark.

    Args:
        java: the Java that reads it.
        spark: the folder of Spark.
        folder: of archives; only this user can enter it.
    """

    def __init__(self, java: Java, spark: Path, folder: Path) -> None:
        self.java = java
        self.spark = spark
        self.folder = folder
        jars = sorted((jar.name, jar.stat().st_size, jar.stat().st_mtime_ns) for jar in spark.glob("jars/*.jar"))
        key = repr((str(java.executable), java.version, str(spark), jars))
        self.name = hashlib.sha256(key.encode()).hexdigest()[:16]
        self.file = folder / f"{self.name}.jsa"
        self.base = folder / f"{self.name}-base.jsa"
        """Classes of Java's own, on which the archive stands. Not every Java brings them, such as the one from PyPI."""
        self.log = folder / f"{self.name}.log"
        """Output of the process that makes the archive, after a line with Spark's folder; locked while it is made."""

    @property
    def is_made(self) -> bool:
        """True if the archive exists, and only this user can have written it."""
        try:
            private.make_folder(self.folder)
            for file in (self.base, self.file):
                private.check_file(file)
        except OSError:
            return False
        return self.base.is_file() and self.file.is_file()

    def options(self) -> str:
        """Java's options for the archive; none without one."""
        if not self.is_made:
            return ""
        # Java says on its standard output, which is dbt's terminal, why it goes without an archive.
        archive = java_option(f"-XX:SharedArchiveFile={self.base}{os.pathsep}{self.file}")
        return f"{archive} -Xlog:disable -Xlog:all=warning:stderr"

    def make_at_exit(self) -> None:
        """Has another process make the archive when this one ends, unless it is made or was tried not long ago."""
        if self.is_made or (self.log.exists() and time.time() - self.log.stat().st_mtime < _AGAIN):
            return
        atexit.unregister(_spawn)
        atexit.register(_spawn, self.log)

    def make(self) -> None:
        """Makes the archive with the classes of a Spark that answers some statements.

        Raises:
            OSError: no archive has come of it, or the folder can't be written.
        CalledProcessError: Java makes none of its own classes.
        """
        from dbt.adapters.sparkstream.spark.session import spark_session

        self._remove_old()
        with TemporaryDirectory(prefix="making-", dir=self.folder) as temporary:
            base, made = Path(temporary) / self.base.name, Path(temporary) / self.file.name
            dump = ["-XX:+UseG1GC", "-Xshare:dump", f"-XX:SharedArchiveFile={base}"]
            subprocess.run([self.java.executable, *dump], stdout=subprocess.DEVNULL, check=True)
            base.chmod(0o600)
            base.replace(self.base)
            options = f"-XX:SharedArchiveFile={self.base}", f"-XX:ArchiveClassesAtExit={made}"
            settings = {DEFAULT_JAVA_OPTIONS: " ".join(map(java_option, options))}
            session = spark_session(settings, Path(temporary))
            for statement in _STATEMENTS.split(";\n"):
                session.sql(statement).collect()
            gateway = session.sparkContext._gateway
            assert gateway is not None
            java = gateway.proc
            session.stop()
            java.stdin.close()
            java.wait()
            made.chmod(0o600)
            made.replace(self.file)

    def _remove_old(self) -> None:
        """Removes archives whose Spark is gone or was replaced, and the temporary folders of killed processes."""
        for left in self.folder.glob("making-*"):
            shutil.rmtree(left, ignore_errors=True)
        for log in self.folder.glob("*.log"):
            spark = log.read_text("utf-8", "replace").partition("\n")[0]
            same = spark == str(self.spark) and log != self.log
            if same or not Path(spark).is_dir():
                for file in self.folder.glob(f"{log.stem}*"):
                    file.unlink()


def archive_of(java: Java, environ: Mapping[str, str] = os.environ) -> Archive | None:
    """The archive for a Java and the Spark that pyspark starts; None where more than Spark's jars is on the class path.

    Args:
        java: as `find_java` found it.
        environ: environment variables to look in.
    """
    from pyspark.find_spark_home import _find_spark_home

    spark = Path(_find_spark_home())
    conf = spark / "conf"
    if os.name != "posix" or any(environ.get(name) for name in _OTHERS) or (conf.is_dir() and any(conf.iterdir())):
        return None
    return Archive(java, spark, cache_folder(environ) / "dbt-sparkstream" / "classes")


def _spawn(log: Path) -> None:
    """Starts a process of its own that makes the archive, at the lowest priority."""
    try:
        private.make_folder(log.parent)
        with open(private.opened(log, os.O_WRONLY | os.O_APPEND), "ab") as output:
            subprocess.Popen(
                [sys.executable, "-m", __name__],
                cwd=log.parent,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
    except OSError:
        return  # a cache that can't be written: Java starts as it did


def _main() -> None:
    import fcntl

    # Options and settings for another Java are none for this one.
    for name in [*os.environ]:
        if name != "SPARK_HOME" and name.startswith(("JDK_JAVA_", "JAVA_TOOL_", "SPARK_", "PYSPARK_")):
            del os.environ[name]
    archive = archive_of(find_java())
    if archive is None:
        return
    private.make_folder(archive.folder)
    with open(private.opened(archive.log, os.O_WRONLY | os.O_APPEND), "a") as log:
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        log.truncate(0)
        log.write(f"{archive.spark}\n")
        log.flush()
        os.nice(19)
        archive.make()


_STATEMENTS = """\
show databases;
create schema shop;
show table extended in shop like '*';
create table shop.bid using parquet as
select id, timestamp_seconds(id) t, id % 7 item, id * 1.5d price from range(0, 1000, 1, 2);
insert into shop.bid select id, timestamp_seconds(id), id % 7, 2d from range(10);
create or replace view shop.a comment 'a view' as select item, count(*) n from shop.bid group by item;
describe extended shop.bid;
describe query select * from shop.a;
alter table shop.bid rename to shop.bids;
alter table shop.bids alter column price comment 'a price';
create or replace view shop.a as select item, count(*) n from shop.bids group by item;
select * from shop.a limit 5;
select b.item, window.start, sum(price), avg(price), count(distinct b.id), a.n
from shop.bids b join shop.a a on a.item = b.item where t > '1970-01-01'
group by b.item, window(t, '1 minute'), a.n order by 1, 2 limit 100;
select item, avg(price) over (partition by item order by t range between interval 1 minute preceding and current row)
from shop.bids;
select explode(sequence(1, item)) x from shop.bids where item > 5
union all select count(*) from shop.bids having count(*) <> 0;
drop view shop.a;
drop table shop.bids"""
"""Statements like an adapter's: the classes that they need are in the archive."""


if __name__ == "__main__":
    _main()
