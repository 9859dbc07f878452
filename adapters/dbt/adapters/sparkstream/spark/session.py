"""Spark inside the dbt process: its start, its settings, and the folder of its tables."""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.secrecy import private
from dbt.adapters.sparkstream.secrecy.pythonlog import silence_python_log
from dbt.adapters.sparkstream.spark.accelerators import accelerated, check_running
from dbt.adapters.sparkstream.spark.session_conf import (
    AUTHENTICATE,
    DEFAULT_JAVA_OPTIONS,
    LOCAL_DIR,
    METASTORE_POOL,
    METASTORE_URL,
    embedded_session_conf,
    java_properties,
    read_properties,
    secret_java_options,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CATALOG = "spark.sql.catalogImplementation"
WAREHOUSE = "spark.sql.warehouse.dir"
PLACES = (
    WAREHOUSE,
    "spark.hadoop.hive.metastore.warehouse.dir",
    "spark.hadoop.hive.metastore.uris",
    METASTORE_URL,
)
"""Settings of the place of tables. If the user sets one, the others keep Spark's own defaults."""

_SUBMIT = "PYSPARK_SUBMIT_ARGS"
"""Environment variable with pyspark's arguments for Spark's launcher: options, and `pyspark-shell`."""

_MISSING = re.compile(r"unresolved dependency: ([\w.-]{1,200})#([\w.-]{1,200});([\w.-]{1,200}): not found")
"""Pattern of the error of Spark's launcher about a jar that no repository has."""

_lock = threading.Lock()
_launching = threading.Lock()
_early: threading.Thread | None = None
_failure: Exception | None = None
_session: SparkSession | None = None
_parameters: Mapping[str, str] | None = None


def spark_session(parameters: Mapping[str, str], project: Path, accelerator: str | None = None) -> SparkSession:
    """The session of this process, made on first use; threads and connections share it.

    Args:
        parameters: the profile's `server_side_parameters`; they go before the defaults that are set here.
        project: the folder of the dbt project.
        accelerator: the profile's native engine.

    Raises:
        JavaNotFound: there is no Java to run Spark on.
        RuntimeError: an option of Java holds a secret, or Spark doesn't start, or not with its native engine.
        ValueError: the native engine can't run; the message says what it lacks.
    """
    global _session, _parameters
    if accelerator is not None:
        from pyspark.find_spark_home import _find_spark_home

        parameters = {**parameters, **accelerated({**_spark_defaults(), **parameters}, Path(_find_spark_home()))}
    if why := secret_java_options(parameters):
        raise RuntimeError(why)
    _await_early()
    with _lock:
        session = _session
        if session is None or session.sparkContext._jsc is None:  # stopped
            session = _start(parameters, project)
        elif parameters != _parameters:
            # Another profile in the same process: what can be changed at run time is.
            session = _build(parameters)
        if accelerator is not None:
            check_running(session)
        _session, _parameters = session, dict(parameters)
        return session


def start_early(parameters: Mapping[str, str], project: Path, accelerator: str | None = None) -> None:
    """Starts the session in a thread, while dbt parses.

    Args: as `spark_session`, which raises the error if this start fails.
    """
    global _early

    def start() -> None:
        global _failure
        try:
            # Its catalog takes as long as the rest, and each command of dbt asks for this first.
            spark_session(parameters, project, accelerator).sql("show databases")
        except Exception as error:
            _failure = error

    if _session is None and _early is None:
        _early = threading.Thread(target=start, name="spark", daemon=True)
        _early.start()
        # A process that ends before leaves no folder of pyspark's behind; Java sees its end, and ends.
        atexit.register(_launching.acquire)


def is_starting() -> bool:
    """True while a thread starts the session."""
    return _early is not None and _early.is_alive()


def _await_early() -> None:
    """Waits for a session that is being started, and raises the error of its start, once."""
    global _early, _failure
    early = _early
    if early is None or early is threading.current_thread():
        return
    early.join()
    failure, _early, _failure = _failure, None, None
    if failure is not None:
        raise failure


def _start(parameters: Mapping[str, str], project: Path) -> SparkSession:
    from pyspark import SparkContext

    from dbt.adapters.sparkstream.spark.classdata import archive_of
    from dbt.adapters.sparkstream.spark.java import prepare_session_environment

    if SparkContext._gateway is not None:
        # Someone else's Spark, such as a notebook's: its settings are not ours to choose.
        return _build(parameters)
    archive = archive_of(prepare_session_environment())
    # Python functions in a model run where dbt's packages are.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    silence_python_log()
    defaults = session_defaults(parameters, project)
    if archive is not None and DEFAULT_JAVA_OPTIONS in defaults:
        defaults[DEFAULT_JAVA_OPTIONS] += f" {archive.options()}"
        archive.make_at_exit()
    settings = {**defaults, **parameters}
    with _own_control_c():
        if WAREHOUSE in defaults:
            _launch(Path(defaults[WAREHOUSE]).parent, settings)
        else:
            with _launching, _handed_over(settings, None):
                SparkContext._ensure_initialized()
        return _build(settings)


@contextmanager
def _handed_over(settings: Mapping[str, str], folder: Path | None) -> Iterator[None]:
    """Has Spark's launcher read the settings from a file, as everybody on the machine sees a command line.

    All of them: it fetches jars itself, and needs the settings of the file systems that they come from.

    Args:
        settings: of Spark.
        folder: for the file, which only this user can read; the machine's folder of temporary files if None.
    """
    before = os.environ.get(_SUBMIT, "pyspark-shell")  # what pyspark takes where there is none
    with TemporaryDirectory(prefix="launch-", dir=folder) as temporary:
        file = Path(temporary) / "spark.conf"
        private.write(file, java_properties({n: v for n, v in settings.items() if n.startswith("spark.")}))
        options = f"--load-spark-defaults --properties-file {shlex.quote(str(file))}"
        os.environ[_SUBMIT] = f"{options} {before}"
        try:
            yield
        finally:
            # It stays: dbt, which parses meanwhile, looks through the variables, and fails if one of them goes.
            os.environ[_SUBMIT] = before


def _launch(home: Path, settings: Mapping[str, str]) -> None:
    """Starts Java with Spark in it. What they print goes to a file: the terminal belongs to dbt."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    private.make_folder(home)
    private.write(home / ".gitignore", "*\n")
    # Else Spark looks the machine's name up, and warns or fails where that has no address.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {"spark.app.name": "dbt", CATALOG: "hive", **settings}
    log = home / "spark.log"
    with claimed(home) as handle, open(private.opened(log), "wb") as output:
        _remove_temporary(Path(settings.get(LOCAL_DIR, "")), home)
        try:
            with _launching, _handed_over(settings, home):
                gateway = launch_gateway(popen_kwargs={"stderr": output, "pass_fds": handle})
            SparkContext(conf=SparkConf().setAll(list(settings.items())), gateway=gateway)
        except Exception as error:
            raise RuntimeError(f"{_why(log) or error}\nits log is {log}") from error


def _why(log: Path) -> str:
    """Advice about jars that Spark can't find, by the log of a Java that ended at its start; empty for other causes."""
    missing = dict.fromkeys(":".join(parts) for parts in _MISSING.findall(log.read_text("utf-8", "replace")))
    if not missing:
        return ""
    return (
        f"there is no {', '.join(missing)} for spark.jars.packages\n"
        "  look at the names and versions, and whether this machine reaches Maven Central, or the repository that\n"
        "  spark.jars.repositories names"
    )


def _remove_temporary(folder: Path, home: Path) -> None:
    """Removes the temporary folders that a killed Spark has left in the session's own; nobody else has it open now."""
    own = [*folder.glob("blockmgr-*"), *folder.glob("spark-*")] if folder.parent == home else []
    for left in [*own, *home.glob("launch-*")]:
        shutil.rmtree(left, ignore_errors=True)


@contextmanager
def claimed(home: Path, patience: float = 15) -> Iterator[tuple[int, ...]]:
    """Keeps other processes from opening the metastore in a folder, which Derby can't share.

    Args:
        home: the folder.
        patience: seconds to wait for a Spark that is just ending.

    Yields:
        File handles to hand to the process that opens the metastore; the folder is claimed as long as it lives.

    Raises:
        RuntimeError: another process has the folder.
    """
    try:
        import fcntl
    except ImportError:  # Windows: Derby refuses the second process, in its own words
        yield ()
        return
    with open(private.opened(home / "lock", os.O_RDWR | os.O_APPEND), "a+") as file:
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    file.seek(0)
                    raise RuntimeError(
                        f"process {file.read().strip() or '?'} runs Spark in {home}, and only one at a time can\n"
                        "wait for its end, or let both use one server: `sparkstream server start` and `method: thrift`"
                    ) from None
                time.sleep(0.1)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield (file.fileno(),)


@contextmanager
def _own_control_c() -> Iterator[None]:
    """Restores this process's handler of Ctrl-C, which pyspark replaces.

    On Ctrl-C, pyspark asks Java to cancel all jobs; in the midst of a call to Java that fails with a stack trace.
    """
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and handler is not None:
            signal.signal(signal.SIGINT, handler)


def _build(parameters: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("dbt").enableHiveSupport()
    for name, value in parameters.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def session_defaults(parameters: Mapping[str, str], project: Path) -> dict[str, str]:
    """Settings for an embedded Spark with a local master: its data goes to `.sparkstream/session` in the project.

    A project that has its tables elsewhere keeps them there: where the profile or Spark's own configuration files
    say, or in the `metastore_db` that Spark makes in the folder it is started in.

    Args:
        parameters: the profile's `server_side_parameters`.
        project: the folder of the dbt project.
    """
    configured = {**_spark_defaults(), **parameters}
    if not has_local_master(parameters):
        return {}
    home = project.absolute() / ".sparkstream" / "session"
    settings = embedded_session_conf(home)
    if configured.get("spark.master", "local").startswith("local-cluster"):
        del settings[AUTHENTICATE]  # its executors know no secret
    if any(name in configured for name in PLACES) or _hive_site() or Path("metastore_db").exists():
        settings = {name: value for name, value in settings.items() if str(home) not in value}
    if METASTORE_URL in configured or _hive_site():
        del settings[METASTORE_POOL]  # it may be another database than Derby
    return {name: value for name, value in settings.items() if name not in configured}


def has_local_master(parameters: Mapping[str, str]) -> bool:
    """True if a Spark in this process does all of its work on this machine.

    Args:
        parameters: the profile's `server_side_parameters`.
    """
    return {**_spark_defaults(), **parameters}.get("spark.master", "local").startswith("local")


def _configuration_folder() -> Path | None:
    if folder := os.environ.get("SPARK_CONF_DIR"):
        return Path(folder)
    if home := os.environ.get("SPARK_HOME"):
        return Path(home) / "conf"
    return None


def _spark_defaults() -> dict[str, str]:
    """The settings of spark-defaults.conf, which the adapter's own settings would override otherwise."""
    folder = _configuration_folder()
    path = folder / "spark-defaults.conf" if folder else None
    return {} if path is None or not path.is_file() else read_properties(path)


def _hive_site() -> bool:
    folder = _configuration_folder()
    return folder is not None and (folder / "hive-site.xml").is_file()
