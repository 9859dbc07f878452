"""The archive of classes: which Java and Spark it is for, who may have written it, when it is made."""

from __future__ import annotations

import atexit
import os
from pathlib import Path

import pytest

from dbt.adapters.sparkstream.spark import classdata
from dbt.adapters.sparkstream.spark.classdata import Archive, archive_of
from dbt.adapters.sparkstream.spark.java import Java

JAVA = Java(Path("/java/bin/java"), "17.0.15", "PATH")


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """That of a Spark with one jar."""
    (tmp_path / "spark/jars").mkdir(parents=True)
    (tmp_path / "spark/jars/spark-core.jar").write_text("classes")
    (tmp_path / "cache").mkdir(mode=0o700)
    return Archive(JAVA, tmp_path / "spark", tmp_path / "cache")


@pytest.fixture
def at_exit(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What is to be done when the process ends."""
    found: list[object] = []
    monkeypatch.setattr(atexit, "register", lambda function, *args: found.append(args))
    return found


def test_another_spark_has_another_one(archive: Archive) -> None:
    before = Archive(archive.java, archive.spark, archive.folder).name
    (archive.spark / "jars/delta.jar").write_text("more")
    assert Archive(archive.java, archive.spark, archive.folder).name != before
    assert Archive(Java(JAVA.executable, "21.0.2", "PATH"), archive.spark, archive.folder).name != before


def test_none_is_no_option(archive: Archive) -> None:
    assert archive.options() == ""


def test_java_says_nothing_of_it_in_the_terminal(archive: Archive) -> None:
    archive.file.touch(0o600)
    assert archive.options() == ""
    archive.base.touch(0o600)
    assert f'"-XX:SharedArchiveFile={archive.base}:{archive.file}"' in archive.options()
    assert "-Xlog:disable -Xlog:all=warning:stderr" in archive.options()


def test_one_that_others_can_write_is_not_read(archive: Archive) -> None:
    archive.file.touch(0o600)
    archive.base.touch(0o600)
    archive.base.chmod(0o622)
    assert archive.options() == ""


def test_a_link_is_not_read(archive: Archive) -> None:
    archive.base.touch(0o600)
    (archive.folder / "other").touch(0o600)
    archive.file.symlink_to(archive.folder / "other")
    assert archive.options() == ""


def test_it_is_made_once(archive: Archive, at_exit: list[object]) -> None:
    archive.make_at_exit()
    assert at_exit == [(archive.log,)]
    archive.base.touch(0o600)
    archive.file.touch(0o600)
    archive.make_at_exit()
    assert len(at_exit) == 1


def test_one_that_could_not_be_made_is_tried_again_a_day_later(archive: Archive, at_exit: list[object]) -> None:
    archive.log.touch()
    archive.make_at_exit()
    assert not at_exit
    day = archive.log.stat().st_mtime - 86401
    os.utime(archive.log, (day, day))
    archive.make_at_exit()
    assert at_exit


def test_those_of_other_sparks_go(archive: Archive, tmp_path: Path) -> None:
    logs = {"old": str(archive.spark), "gone": str(tmp_path / "removed"), "other": str(tmp_path)}
    for name, spark in logs.items():
        (archive.folder / f"{name}.log").write_text(f"{spark}\nNOTE\n")
        (archive.folder / f"{name}.jsa").touch()
        (archive.folder / f"{name}-base.jsa").touch()
    (archive.folder / "making-1").mkdir()
    archive._remove_old()
    assert {path.name for path in archive.folder.iterdir()} == {"other.log", "other.jsa", "other-base.jsa"}


@pytest.mark.parametrize("name", classdata._OTHERS)
def test_none_beside_other_classes(name: str, tmp_path: Path) -> None:
    assert archive_of(JAVA, {"XDG_CACHE_HOME": str(tmp_path), name: "/etc/hadoop"}) is None


def test_it_lies_in_the_cache_folder(tmp_path: Path) -> None:
    found = archive_of(JAVA, {"XDG_CACHE_HOME": str(tmp_path)})
    assert found is not None
    assert found.file.parent == tmp_path / "dbt-sparkstream/classes"


def test_none_beside_settings_of_spark(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", str(archive.spark))
    assert archive_of(JAVA, {}) is not None
    (archive.spark / "conf").mkdir()
    (archive.spark / "conf/spark-defaults.conf").touch()
    assert archive_of(JAVA, {}) is None
