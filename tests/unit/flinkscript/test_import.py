"""`sparkstream import flink`: what scripts become. The scripts lie in `scripts/`, with the files that they read."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from dbt.adapters.sparkstream.cli import main
from dbt.adapters.sparkstream.flinkscript import Project, read
from dbt.adapters.sparkstream.sql import TranslationError
from tests.lib.support import sampled
from tests.unit.flinkscript import nexmark

SCRIPTS = Path(__file__).parent / "scripts"
NAMES = sorted(path.stem for path in SCRIPTS.glob("*.sql"))


def project(script: str, folder: Path = SCRIPTS) -> Project:
    """The project of a script, as text or by the name of its file."""
    path = SCRIPTS / f"{script}.sql"
    if script in NAMES:
        return Project(read(path.read_text(encoding="utf-8")), path)
    return Project(read(script), folder / "job.sql")


def loaded(made: Project, file: str) -> Any:
    return yaml.safe_load(made.files[file])


def model(made: Project, name: str) -> str:
    """A model's text without its first line, the configs."""
    return made.files[f"models/{name}.sql"].partition("\n")[2]


def configs(made: Project) -> dict[str, str]:
    """Model -> its materialization, `disabled`, or `table, no stream`."""
    found = {}
    for one in made.models:
        kind = str(one.config["materialized"])
        found[one.node] = "disabled" if one.disabled else f"{kind}, no stream" if one.reason else kind
    return found


def imported(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["import", "flink", *map(str, arguments)])


class TestScripts:
    def test_tumble(self) -> None:
        made = project("tumble")
        assert configs(made) == {"totals": "table"}
        assert made.files["models/totals.sql"] == (
            "{{ config(materialized='table', sql_dialect='flink') }}\n"
            "-- Every ten minutes;\n"
            "-- all suppliers.\n"
            "SELECT\n  starts,\n  ends,\n  CAST(total AS DECIMAL(10, 2)) AS total,\n  n\nFROM (\n"
            "SELECT window_start, window_end, SUM(price), COUNT(*)\n"
            "FROM TABLE(TUMBLE(TABLE {{ ref('bid') }}, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)) -- ten\n"
            "GROUP BY window_start, window_end\n"
            ") AS q (starts, ends, total, n)\n"
        )
        [seed] = loaded(made, "seeds/seeds.yml")["seeds"]
        assert seed["config"]["event_time"] == "bidtime"
        assert seed["config"]["column_types"]["bidtime"] == "timestamp_ntz"
        assert seed["description"] == "What was bid.\nBids"
        assert seed["columns"][1]["description"] == "{{ 'in dollars; never {{ negative }}' }}"
        rows = list(csv.reader(made.files["seeds/bid.csv"].splitlines()))
        assert rows[:2] == [
            ["bidtime", "price", "item", "supplier_id"],
            ["2020-04-15 08:05:00", "4.00", "C", "supplier1"],
        ]
        assert len(rows) == 7
        [target] = loaded(made, "profiles.yml")["tumble"]["outputs"].values()
        assert target["server_side_parameters"] == {
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "2",
        }
        assert "on-run-start" not in loaded(made, "dbt_project.yml")

    def test_windows(self) -> None:
        made = project("windows")
        views = {"visits_files": "view", "visits": "view"}
        assert configs(made) == {**views, "hops": "table", "grown": "table", "spells": "table"}
        assert "  TO_TIMESTAMP_LTZ(ms, 3) AS ts\nFROM {{ ref('visits_files') }}" in model(made, "visits")
        assert "FROM {{ source('inputs', 'visits') }}\nWHERE" in model(made, "visits_files")
        assert "event_time='ts'" in made.files["models/visits.sql"]
        assert model(made, "hops").startswith(
            "-- Ten minutes, every five.\nSELECT window_start, window_end, SUM(dur) AS dur"
        )
        assert "HOP(TABLE {{ ref('visits') }}, DESCRIPTOR(ts)" in model(made, "hops")
        assert ") AS q (usr, s, e, pages)" in model(made, "spells")
        [source] = loaded(made, "models/inputs.yml")["sources"]
        [table] = source["tables"]
        assert table["config"]["meta"]["table"] == {
            "format": "json",
            "location": "{{ var('inputs') }}/data/visits",
            "options": {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "json_broken"},
        }
        assert [c["data_type"] for c in table["columns"]] == ["string", "string", "variant", "variant", "string"]
        assert loaded(made, "dbt_project.yml")["vars"] == {"inputs": str(SCRIPTS)}

    def test_views(self) -> None:
        made = project("views")
        assert set(configs(made).values()) == {"view", "table"}
        assert model(made, "dear") == "-- Only what costs something.\nSELECT * FROM {{ ref('bid') }} WHERE price > 1\n"
        assert ") AS q (item, price, `at`)" in model(made, "dear_ones")
        assert "FROM {{ ref('dear_ones') }})\nSELECT" in model(made, "best")
        assert model(made, "best").count("ref(") == 1
        assert "  CAST(NULL AS TIMESTAMP(3)) AS `at`,\n  CAST(price AS DOUBLE) AS price," in model(made, "report")
        assert "-- What there is." in model(made, "query_1")
        models = {entry["name"]: entry for entry in loaded(made, "models/models.yml")["models"]}
        assert models["dear_ones"]["description"] == "dear; with other names"

    def test_streaming(self) -> None:
        made = project("streaming")
        assert configs(made) == {
            "clicks": "view",
            "known": "view",
            "per_window": "view",
            "counts": "streaming_incremental",
            "odd": "streaming_incremental",
            "per_user": "table, no stream",
            "shouted": "streaming_incremental",
        }
        # Views over streams are CTEs of what streams, as a stream reads tables.
        text = model(made, "counts")
        assert text.startswith(
            "WITH known AS (\nSELECT id, usr, ts FROM {{ stream(ref('clicks'), watermark='1 minute') }}"
        )
        assert "\nper_window AS (" in text
        assert "FROM TUMBLE(TABLE known, DESCRIPTOR(ts)" in text
        assert "CAST(starts AS TIMESTAMP(3)) AS starts" in text
        assert "FROM {{ stream(ref('odd')) }}" in model(made, "shouted")
        assert model(made, "per_user").startswith(
            "-- A table, and no stream: on a stream, GROUP BY needs the end of a window"
        )
        assert "event_time='ts'" in made.files["models/clicks.sql"]
        assert "each `dbt run` of a streaming model is a checkpoint" in made.files["README.md"]

    def test_topn(self) -> None:
        made = project("topn")
        assert configs(made) == {"top2": "table", "last_of_supplier": "table"}
        assert model(made, "top2").startswith("SELECT window_end, item, price, rn FROM (\n  SELECT *, ROW_NUMBER()")
        assert "CAST(price AS DOUBLE) AS price" in model(made, "last_of_supplier")

    def test_joins(self) -> None:
        made = project("joins")
        assert "{{ ref('clicks') }}, {{ ref('orders') }}\nWHERE clicks.usr" in model(made, "soon")
        assert "AS q (usr, window_start, clicks, amount)" in model(made, "both")
        tables = {t["name"]: t for t in loaded(made, "models/inputs.yml")["sources"][0]["tables"]}
        assert tables["orders"]["config"]["meta"]["table"]["options"]["sep"] == ";"

    def test_times_of_day(self) -> None:
        """INSERT cuts the digits that a column of TIME(0) hasn't, as Flink 2.3.0 does."""
        made = project(
            "CREATE TABLE a (t TIME(3), u TIME WITHOUT TIME ZONE, n TIME(9)) "
            "WITH ('connector' = 'kafka', 'topic' = 'a');\n"
            "CREATE TABLE b (x TIME, y TIME(3), z TIME(0)) WITH ('connector' = 'print');\n"
            "INSERT INTO b SELECT t, FLOOR(t TO HOUR), u + INTERVAL '1' HOUR FROM a;\n"
        )
        [table] = loaded(made, "models/inputs.yml")["sources"][0]["tables"]
        assert [c["data_type"] for c in table["columns"]] == ["time(3)", "time(0)", "time(3)"]
        assert "SELECT\n  CAST(x AS TIME) AS x,\n  y,\n  z\nFROM (" in model(made, "b")

    def test_types(self) -> None:
        made = project("types")
        tables = {t["name"]: t for t in loaded(made, "models/inputs.yml")["sources"][0]["tables"]}
        types = {c["name"]: c["data_type"] for c in tables["all_types"]["columns"]}
        assert " ".join(types[name] for name in "abcdefghij") == (
            "boolean tinyint smallint int int bigint float double double decimal(10,0)"
        )
        assert " ".join(types[name] for name in "klmnopqrst") == (
            "decimal(5,0) decimal(7,3) string string string binary binary date timestamp_ntz timestamp_ntz"
        )
        assert types["u"] == types["v"] == "timestamp"
        assert [types[name] for name in "wxyz"] == [
            "array<int>",
            "map<string,array<double>>",
            "struct<a:int,`b c`:struct<z:string>>",
            "map<string,int>",
        ]
        assert types["clock"] == "time(0)"
        assert tables["all_types"]["config"]["meta"]["table"]["location"] == "s3://bucket/all"
        assert {c["name"] for c in tables["copied"]["columns"]} == set(types)
        assert "_metadata.file_name AS file_name" in model(made, "all_types_files")
        assert (
            "  f * 2 AS f2,\n  s + INTERVAL '1 02:03' DAY TO MINUTE AS later\nFROM {{ ref('all_types_files') }}"
            in model(made, "all_types")
        )
        assert "PROCTIME()" not in model(made, "all_types")
        assert [left.what for left in made.leftovers if left.line] == ["PROCTIME()"]
        assert "VALUES ('x', 1), ('{{ '{%' }} y %}', 2)\n) AS q (`d e`, a)" in model(made, "numbers_2")
        assert model(made, "numbers").count("UNION ALL") == 2
        assert configs(made)["numbers_1"] == "table"

    def test_several_inserts(self) -> None:
        made = project("multi")
        assert configs(made) == {"daily_1": "table", "daily_2": "table", "daily": "view", "summary": "table"}
        assert "partition_by=['kind', 'dt']" in made.files["models/daily_1.sql"]
        assert "CAST('cheap' AS STRING) AS kind,\n  CAST('2020-04-15' AS STRING) AS dt\nFROM (" in model(
            made, "daily_1"
        )
        assert "CAST('dear' AS STRING) AS kind,\n  dt\nFROM (\n(SELECT item" in model(made, "daily_2")
        assert "FROM {{ ref('daily') }} GROUP BY kind" in model(made, "summary")

    def test_what_has_no_counterpart(self) -> None:
        made = project("pulsar")
        assert configs(made) == {
            "orders": "view",
            "hourly": "streaming_incremental",
            "masked": "disabled",
            "looked_up": "streaming_incremental",
            "arrived": "disabled",
            "lost": "table, no stream",
        }
        readme = made.files["README.md"]
        for words in (
            "mask is a function that CREATE FUNCTION makes of Flink's classes, and Spark hasn't it (pulsar.sql:27:27)",
            "proctime is PROCTIME(): a table doesn't know when its rows arrived (pulsar.sql:29:32)",
            "| 1 | `ADD JAR '/opt/pulsar.jar'` |",
            "| 22 | `EXPLAIN SELECT * FROM orders` |",
            "| 25 | `/*+ OPTIONS('scan.startup.mode' = 'earliest-offset') */` |",
            "| `made_up` | datagen |",
        ):
            assert words in readme
        assert "table.exec.state.ttl" not in readme
        assert "OPTIONS" not in model(made, "hourly")
        assert "TUMBLE(TABLE {{ stream(ref('orders'), watermark='10 seconds') }}, DESCRIPTOR(ts)" in model(
            made, "hourly"
        )
        assert "enabled=False" in made.files["models/masked.sql"]
        [target] = loaded(made, "profiles.yml")["pulsar"]["outputs"].values()
        assert target["server_side_parameters"] == {"spark.app.name": "hourly orders"}

    def test_catalogs(self) -> None:
        made = project("catalogs")
        sources = {s["name"]: s for s in loaded(made, "models/inputs.yml")["sources"]}
        assert [t["name"] for t in sources["inputs"]["tables"]] == ["t", "t_2", "t2", "elsewhere"]
        assert sources["dwh"]["schema"] == "dwh"
        assert model(made, "made") == (
            "SELECT t.c, x.b FROM {{ ref('t_2') }} AS t JOIN {{ source('inputs', 't') }} AS x ON t.A = x.a\n"
        )
        # Of the two tables t, the one that the name says, whatever the database in use.
        text = "SELECT t.c FROM {{ ref('t_2') }} AS t WHERE default_catalog.default_database.t.c > 1\n"
        assert model(made, "qualified") == text
        assert [c["name"] for c in sources["inputs"]["tables"][2]["columns"]] == ["a", "b", "d", "json_broken"]

    def test_nexmark_in_batch(self) -> None:
        made = project(nexmark.script("batch"))
        assert {n for n, kind in configs(made).items() if kind == "disabled"} == {"q12"}
        assert {kind for n, kind in configs(made).items() if n not in ("q12", *nexmark.TABLES)} == {"table"}
        for name, text in nexmark.queries().items():
            if name != "q12":
                plain = model(made, name)
                for table in nexmark.TABLES:
                    plain = plain.replace("{{ ref('" + table + "') }}", table)
                assert plain == text + "\n"

    def test_nexmark_as_streams(self) -> None:
        found = configs(project(nexmark.script("streaming")))
        streams = {name for name, kind in found.items() if kind == "streaming_incremental"}
        assert streams >= {"q0", "q1", "q2", "q3", "q5", "q7", "q8", "q10", "q14", "q20", "q21", "q22"}
        assert {found[name] for name in ("q4", "q15", "q17", "q18", "q19")} == {"table, no stream"}


class TestPieces:
    @pytest.mark.parametrize(
        ("watermark", "expected"),
        [
            ("ts - INTERVAL '5' SECOND", "5 seconds"),
            ("ts - INTERVAL '0.001' SECOND", "0.001 seconds"),
            ("`ts` - INTERVAL '1:30' HOUR TO MINUTE", "90 minutes"),
            ("ts", "0 seconds"),
        ],
    )
    def test_watermarks(self, watermark: str, expected: str) -> None:
        made = project(
            f"CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS {watermark}) WITH ('connector' = 'kafka');"
            "CREATE TABLE o (ts TIMESTAMP_LTZ(3)) WITH ('connector' = 'print'); INSERT INTO o SELECT ts FROM t;"
        )
        assert "{{ stream(source('inputs', 't'), watermark='" + expected + "') }}" in model(made, "o")

    def test_a_watermark_that_is_no_delay(self) -> None:
        made = project(
            "CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MONTH) WITH ('connector' = 'kafka')"
        )
        assert "no watermark: it isn't the event time less an interval" in made.files["README.md"]

    @pytest.mark.parametrize(("option", "flushed"), [("", True), (", 'source.monitor-interval' = '1 s'", False)])
    def test_files_that_come_to_an_end(self, option: str, flushed: bool) -> None:
        made = project(
            "CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)\n"
            f"WITH ('connector' = 'filesystem', 'path' = '/t', 'format' = 'json'{option});\n"
            "CREATE TABLE o WITH ('connector' = 'print') AS SELECT window_end, COUNT(*) AS n\n"
            "FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR) GROUP BY window_start, window_end;\n"
            "CREATE TABLE p WITH ('connector' = 'print') AS SELECT a FROM t;"
        )
        assert configs(made) == {"t": "view", "o": "streaming_incremental", "p": "streaming_incremental"}
        assert ("flush=True" in made.files["models/o.sql"]) == flushed
        assert ("flush=True" in made.files["README.md"]) == flushed
        assert "flush" not in made.files["models/p.sql"]

    def test_versions_of_a_table(self) -> None:
        files = "WITH ('connector' = 'filesystem', 'path' = '/x', 'format' = 'json')"
        script = (
            f"CREATE TABLE t (c STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) {files};\n"
            "CREATE TABLE rates (c STRING, rate DOUBLE, ts TIMESTAMP(3), PRIMARY KEY (c) NOT ENFORCED, "
            f"WATERMARK FOR ts AS ts) {files};\n"
            "CREATE TABLE o WITH ('connector' = 'print') AS\n"
            "SELECT t.c, rates.rate FROM t JOIN rates FOR SYSTEM_TIME AS OF t.ts ON t.c = rates.c;"
        )
        made = project("SET 'execution.runtime-mode' = 'batch';\n" + script)
        assert configs(made) == {"t": "view", "rates": "view", "o": "table"}
        assert model(made, "o") == (
            "WITH rates AS (\nSELECT c, rate, ts FROM (\n"
            "  SELECT *, ROW_NUMBER() OVER (PARTITION BY c ORDER BY ts DESC) AS rn\n"
            "  FROM {{ ref('rates') }}\n) WHERE rn = 1\n)\n"
            "SELECT t.c, rates.rate FROM {{ ref('t') }} "
            "JOIN rates FOR SYSTEM_TIME AS OF t.ts ON t.c = rates.c\n"
        )
        assert configs(project(script)) == {"t": "view", "rates": "view", "o": "table, no stream"}

    def test_comments_go_with_what_follows_them(self) -> None:
        made = project(
            "-- a; b\nCREATE VIEW v AS SELECT 1 AS x; -- of v\n/* of w;\n two */ CREATE VIEW w AS SELECT 'a;b' AS x"
        )
        assert model(made, "v") == "-- a; b\nSELECT 1 AS x\n"
        assert model(made, "w") == "/* of w;\n two */\nSELECT 'a;b' AS x\n"

    def test_a_table_that_writes_to_itself(self) -> None:
        made = project("CREATE TABLE t (a INT) WITH ('connector' = 'print');\nINSERT INTO t SELECT a FROM t")
        assert configs(made) == {"t": "disabled"}
        assert "t is written from its own rows, and a model can't read itself (job.sql:2:29)" in made.files["README.md"]

    def test_what_reads_something_disabled_is_disabled(self) -> None:
        made = project(
            "CREATE FUNCTION f AS 'x';\nCREATE VIEW a AS SELECT f(1) AS x;\nCREATE VIEW b AS SELECT x FROM a;\n"
            "CREATE VIEW c AS SELECT 1 AS x"
        )
        assert configs(made) == {"a": "disabled", "b": "disabled", "c": "view"}

    @pytest.mark.parametrize(
        ("rows", "is_seed"),
        [
            ("1,a\n2,b\n", True),
            ("1,a\n2,\n", False),
            ("1,a\n2,null\n", False),
            ("1\n", False),
            ('1,"a\nb"\n', True),
            ("7.9,a\n", False),
            (" 6,a\n", False),
            ("true,a\n", False),
            ("2147483648,a\n", False),
        ],
    )
    def test_a_csv_file_becomes_a_seed_where_that_has_the_same_rows(
        self, tmp_path: Path, rows: str, is_seed: bool
    ) -> None:
        (tmp_path / "t.csv").write_text(rows)
        options = "'connector' = 'filesystem', 'path' = 't.csv', 'format' = 'csv'"
        made = project(f"CREATE TABLE t (a INT, b STRING) WITH ({options})", tmp_path)
        assert bool(made.seeds) == is_seed
        assert bool(made.sources) != is_seed

    def test_a_single_file_is_its_folder_and_its_name(self, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "t.json").write_text('{"a": 1}\n')
        options = "'connector' = 'filesystem', 'path' = 'data/t.json', 'format' = 'json'"
        made = project(f"CREATE TABLE t (a INT) WITH ({options})", tmp_path)
        [table] = loaded(made, "models/inputs.yml")["sources"][0]["tables"]
        assert table["config"]["meta"]["table"] == {
            "format": "json",
            "location": "{{ var('inputs') }}/data",
            "options": {
                "mode": "PERMISSIVE",
                "columnNameOfCorruptRecord": "json_broken",
                "pathGlobFilter": "t.json",
            },
        }

    def test_partitions_are_columns_at_their_place(self) -> None:
        options = "'connector' = 'filesystem', 'path' = '/d', 'format' = 'parquet'"
        made = project(f"CREATE TABLE t (dt STRING, a INT) PARTITIONED BY (dt) WITH ({options})")
        assert model(made, "t") == "SELECT\n  dt,\n  a\nFROM {{ source('inputs', 't') }}\n"
        [table] = loaded(made, "models/inputs.yml")["sources"][0]["tables"]
        assert table["config"]["meta"]["table"]["partitions"] == ["dt"]

    def test_group_windows_of_a_stream_in_several_inserts(self) -> None:
        made = project(
            "CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka');\n"
            "CREATE TABLE u (a INT) WITH ('connector' = 'kafka');\n"
            "INSERT INTO u SELECT a FROM t WHERE a > 1; INSERT INTO u SELECT a FROM t WHERE a < 1;\n"
            "CREATE TABLE o (b INT) WITH ('connector' = 'print'); INSERT INTO o SELECT a + 1 FROM u;"
        )
        assert configs(made) == {
            "u_1": "streaming_incremental",
            "u_2": "streaming_incremental",
            "u": "view",
            "o": "streaming_incremental",
        }
        assert model(made, "o").startswith(
            "WITH u AS (\nSELECT a FROM {{ stream(ref('u_1')) }}\nUNION ALL\nSELECT a FROM {{ stream(ref('u_2')) }}\n)"
        )


class TestErrors:
    @pytest.mark.parametrize(
        ("script", "message", "line", "column"),
        [
            ("CREATE TABLE t (a GEOMETRY)", "Spark has no type GEOMETRY", 1, 19),
            ("SELECT 1;\n  FROBNICATE x", "FROBNICATE begins no statement of Flink SQL", 2, 3),
            ("SELECT 1;\nSELECT 'a", "never closed", 2, 8),
            ("EXECUTE STATEMENT SET BEGIN\nINSERT INTO t SELECT 1;", "this statement set has no END", 1, 1),
            ("CREATE TABLE t (a INT);\nCREATE VIEW t AS SELECT 1", "t is made a second time", 2, 13),
            ("CREATE VIEW v SELECT 1", "AS is missing here", 1, 15),
            ("INSERT INTO t", "a query is missing here", 1, 14),
            ("SET 'execution.runtime-mode' = 'fast'", "there is no mode 'fast'", 1, 32),
            ("CREATE TABLE t (a INT) WITH ('connector')", "= is missing here", 1, 41),
            ("CREATE TABLE t LIKE u", "the script has no table u before this", 1, 21),
            ("CREATE TABLE t (a INT,\n a INT)", "a is a column of this table already", 2, 7),
        ],
    )
    def test_have_their_place(self, script: str, message: str, line: int, column: int) -> None:
        with pytest.raises(TranslationError) as raised:
            project(script)
        assert message in raised.value.message
        assert (raised.value.line, raised.value.column) == (line, column)

    @pytest.mark.parametrize(
        ("script", "words"),
        [
            (
                "CREATE TABLE t (a INT, b INT);\nINSERT INTO t\nSELECT 1",
                "this gives 1 columns, and t takes 2 (job.sql:3:1)",
            ),
            ("CREATE VIEW v AS\nSELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(x), INTERVAL '0' DAY)", "(job.sql:2:46)"),
            ("CREATE TABLE t (\n a INT,\n b AS CURRENT_DATABASE(),\n c INT)", "(job.sql:3:7)"),
            ("CREATE TABLE t (a INT, b AS CURRENT_DATABASE())", "(job.sql:1:29)"),
        ],
    )
    def test_of_a_query_disable_its_model(self, script: str, words: str) -> None:
        made = project(script)
        assert "disabled" in configs(made).values()
        assert words in made.files["README.md"]


class TestCommand:
    def test_writes_a_project_and_says_what(self, tmp_path: Path) -> None:
        shutil.copytree(SCRIPTS, tmp_path / "job")
        result = imported(tmp_path / "job" / "pulsar.sql")
        assert result.exit_code == 0
        lines = result.stdout.splitlines()
        folder = tmp_path / "job" / "pulsar"
        assert lines[0] == f"wrote {folder}: 3 sources, 6 models"
        assert lines[-1] == f"build it: cd {folder} && dbt build"
        assert "masked is disabled: mask is a function" in result.stderr
        assert "made_up has no rows yet" in result.stderr
        assert (folder / "models" / "hourly.sql").is_file()

    def test_leaves_other_files_alone(self, tmp_path: Path) -> None:
        (tmp_path / "mine.txt").write_text("mine")
        refused = imported(SCRIPTS / "tumble.sql", "--into", tmp_path)
        assert refused.exit_code == 1
        assert (
            refused.stderr == f"{tmp_path} holds files\n  name a folder that is empty or not there, or write --force\n"
        )
        assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
        assert imported(SCRIPTS / "tumble.sql", "--into", tmp_path, "--force").exit_code == 0
        assert (tmp_path / "mine.txt").read_text() == "mine"

    def test_an_error_has_file_line_and_column(self, tmp_path: Path) -> None:
        script = tmp_path / "job.sql"
        script.write_text("SELECT 1;\nCREATE TABLE t (a GEOMETRY);\n")
        result = imported(script)
        assert (result.exit_code, result.stdout) == (1, "")
        message, place, *_ = result.stderr.splitlines()
        assert message == "Spark has no type GEOMETRY"
        assert place.strip() == f"{script}:2:19"
        assert not (tmp_path / "job").exists()

    def test_an_empty_script(self, tmp_path: Path) -> None:
        (tmp_path / "job.sql").write_text("-- nothing\n")
        assert "makes no table and no view" in imported(tmp_path / "job.sql").stderr


@pytest.mark.parametrize("name", [*sampled(NAMES), "nexmark"])
def test_dbt_parses_it(name: str, tmp_path: Path) -> None:
    from dbt.cli.main import dbtRunner

    script = SCRIPTS / f"{name}.sql"
    if name == "nexmark":
        script = tmp_path / "nexmark.sql"
        script.write_text(nexmark.script("streaming"))
    folder = tmp_path / "made"
    assert imported(script, "--into", folder).exit_code == 0
    here = [f"--project-dir={folder}", f"--profiles-dir={folder}"]
    done = dbtRunner().invoke(["--quiet", "--warn-error", "--show-all-deprecations", "parse", *here])
    assert done.success, str(done.exception)
    manifest = json.loads((folder / "target" / "manifest.json").read_text())
    models = [node for node in manifest["nodes"].values() if node["resource_type"] == "model"]
    made = project(name) if name in NAMES else project(nexmark.script("streaming"))
    assert {node["name"] for node in models} == {one.node for one in made.models if not one.disabled}
    for node in models:
        known = {n.rpartition(".")[2] for n in node["depends_on"]["nodes"]}
        assert known <= {m.node for m in made.models} | {t.node for t in (*made.sources, *made.seeds)}


def test_the_script_of_the_documentation() -> None:
    page = (Path(__file__).parents[3] / "docs" / "import.md").read_text(encoding="utf-8")
    script = page.split("```sql flink\n")[1].split("```")[0]
    shown = page.split("```sql\n")[1].split("```")[0]
    assert project(script).files["models/counts.sql"] == shown


def test_a_table_of_a_database_is_empty_and_says_how_spark_reads_it() -> None:
    made = project(
        "CREATE TABLE users (id INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:mysql://db:3306/shop', "
        "'table-name' = 'users', 'username' = 'ada', 'password' = 's3cret');"
    )
    options = "url 'jdbc:mysql://db:3306/shop', dbtable 'users', user '...', password '...'"
    assert f"USING jdbc OPTIONS ({options})" in made.files["README.md"]
    assert not any("s3cret" in text for text in made.files.values())


def test_names_that_flink_keeps_for_itself() -> None:
    made = project(
        "CREATE TABLE t (value INT, day STRING, twice AS value * 2) WITH ('connector' = 'datagen');\n"
        "CREATE TABLE o (day STRING, result BIGINT) WITH ('connector' = 'print');\n"
        "CREATE VIEW v AS SELECT t.day, value, value + twice AS year /* value */, 'value' AS c FROM t;\n"
        "INSERT INTO o SELECT day, SUM(value) AS total FROM v WHERE year > 1 GROUP BY day;"
    )
    assert "value * 2 AS twice" in model(made, "t")
    assert "SELECT t.day, value, value + twice AS year /* value */, 'value' AS c FROM" in model(made, "v")
    assert "SELECT day, SUM(value) AS total FROM" in model(made, "o")
    assert "WHERE year > 1 GROUP BY day" in model(made, "o")
    assert not made.disabled


FILES = "WITH ('connector' = 'filesystem', 'path' = 'data', 'format' = 'csv')"


@pytest.mark.parametrize(
    ("column", "lenient", "strict"),
    [
        ("a STRING", "a", "a"),
        ("a BIGINT", "TRY_CAST(a AS BIGINT) AS a", "COALESCE(TRY_CAST(a AS BIGINT), IF(a IS NULL, NULL, {})) AS a"),
        ("a BOOLEAN", "LOWER(TRIM(a)) = 'true' AS a", "LOWER(TRIM(a)) = 'true' AS a"),
        (
            "a DECIMAL(4, 1)",
            "TRY_CAST(a AS DECIMAL(4, 1)) AS a",
            "COALESCE(TRY_CAST(a AS DECIMAL(4, 1)), IF(a IS NULL OR TRY_CAST(a AS DOUBLE) IS NOT NULL, NULL, {})) AS a",
        ),
        ("a TIME(3)", "TRY_CAST(a AS TIME(3)) AS a", "COALESCE(TRY_CAST(a AS TIME(3)), IF(a IS NULL, NULL, {})) AS a"),
        (
            "a BYTES",
            "IF(LENGTH(a) % 4 = 0, TRY_TO_BINARY(a, 'base64'), NULL) AS a",
            "COALESCE(IF(LENGTH(a) % 4 = 0, TRY_TO_BINARY(a, 'base64'), NULL), IF(a IS NULL, NULL, {})) AS a",
        ),
    ],
)
def test_values_in_csv(column: str, lenient: str, strict: str) -> None:
    """A text column more doesn't change how a number is read."""
    definition = f"CREATE TABLE s ({column}, k BIGINT) {FILES}"
    type_ = column.removeprefix("a ").replace("4, 1", "4,1").replace("BYTES", "BINARY")
    error = "RAISE_ERROR(CONCAT('a: a value that isn\\'t " + type_ + "', ': ', TO_JSON(STRUCT(*)), ' in ', "
    expected = strict.replace("{}", error + "INPUT_FILE_NAME()))")
    made = project(definition)
    assert f"SELECT\n  {expected},\n" in model(made, "s")
    [table] = loaded(made, "models/inputs.yml")["sources"][0]["tables"]
    assert [entry["data_type"] for entry in table["columns"]] == ["string", "string"]
    ignoring = definition.replace("'csv')", "'csv', 'csv.ignore-parse-errors' = 'true')")
    assert f"SELECT\n  {lenient},\n" in model(project(ignoring), "s")


def test_nested_values_in_json() -> None:
    """Structs, arrays and maps are converted where a value in them is; without one, they are read as they are."""
    files = FILES.replace("'csv')", "'json', 'json.ignore-parse-errors' = 'true')")
    made = project(
        f"CREATE TABLE s (a ROW<`x y` ARRAY<DOUBLE>, z STRING>, m MAP<STRING, FLOAT>, t ARRAY<STRING>) {files}"
    )
    assert model(made, "s").startswith(
        "SELECT\n  IF(a IS NULL, NULL, NAMED_STRUCT('x y', TRANSFORM(a.`x y`, e0 -> TRY_CAST(e0 AS DOUBLE)), "
        "'z', a.z)) AS a,\n  TRANSFORM_VALUES(m, (k0, e0) -> TRY_CAST(e0 AS FLOAT)) AS m,\n  t\nFROM"
    )
    [table] = loaded(made, "models/inputs.yml")["sources"][0]["tables"]
    assert [entry["data_type"] for entry in table["columns"]] == [
        "struct<`x y`:array<string>,z:string>",
        "map<string,string>",
        "array<string>",
        "string",
    ]


def test_nested_values_in_csv() -> None:
    made = project(f"CREATE TABLE s (id BIGINT, tags ARRAY<INT>, m MAP<STRING, INT>) {FILES}")
    [table] = loaded(made, "models/inputs.yml")["sources"][0]["tables"]
    assert "location" not in table["config"]["meta"]["table"]
    assert "reads no nested values from CSV (tags, m)" in made.files["README.md"]


@pytest.mark.parametrize("connector", ["print", "blackhole", "jdbc", "filesystem"])
def test_a_sink_that_nothing_is_written_to(connector: str) -> None:
    made = project(
        f"CREATE TABLE s (id BIGINT) {FILES}; CREATE TABLE t (id BIGINT) WITH ('connector' = '{connector}');"
        "INSERT INTO t SELECT id FROM s;"
    )
    assert f"nothing is written to the script's {connector}: the rows are in this table" in made.files["README.md"]


def test_a_window_function_over_processing_time() -> None:
    made = project(
        f"CREATE TABLE s (id BIGINT, pt AS PROCTIME()) {FILES}; CREATE VIEW v AS SELECT window_start, COUNT(*) AS n "
        "FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(pt), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;"
    )
    assert configs(made)["v"] == "disabled"
    assert "pt is PROCTIME(): a table doesn't know when its rows arrived" in made.files["README.md"]


RATES = """
CREATE TABLE quotes (cur STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'r', 'format' = 'json', 'source.monitor-interval' = '1s');
CREATE TABLE rates (cur STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (cur) NOT ENFORCED)
  WITH ('connector' = 'print');
INSERT INTO rates SELECT {} FROM quotes;
CREATE VIEW v AS SELECT o.cur, r.rate FROM quotes AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur;
"""


def test_versions_in_a_table_that_the_script_fills() -> None:
    """Rows of a stream are all versions; a table that is computed anew has only the last ones."""
    made = project(RATES.format("cur, rate, ts"))
    assert configs(made) == {"quotes": "view", "rates": "streaming_incremental", "v": "view"}
    assert "PARTITION BY cur ORDER BY ts DESC) AS rn\n  FROM {{ ref('rates') }}" in model(made, "v")
    made = project(RATES.format("cur, MAX(rate), MAX(ts)").replace("FROM quotes;", "FROM quotes GROUP BY cur;"))
    assert configs(made) == {"quotes": "view", "rates": "table, no stream", "v": "disabled"}


ROWTIMES = """
CREATE TABLE bids (item STRING, price INT, at_time TIMESTAMP(3), seen TIMESTAMP(3), WATERMARK FOR at_time AS at_time)
  WITH ('connector' = 'filesystem', 'path' = 'b', 'format' = 'parquet');
CREATE TABLE asks (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH ('connector' = 'filesystem', 'path' = 'a', 'format' = 'parquet');
CREATE TABLE odd (item STRING, t TIMESTAMP(3), WATERMARK FOR t AS t - INTERVAL '1' SECOND * 5)
  WITH ('connector' = 'filesystem', 'path' = 'c', 'format' = 'parquet');
CREATE TABLE odder (t TIMESTAMP(3), u TIMESTAMP(3), WATERMARK FOR u AS u - INTERVAL '1' SECOND * 5)
  WITH ('connector' = 'filesystem', 'path' = 'd', 'format' = 'parquet');
CREATE TABLE names (item STRING, name STRING) WITH ('connector' = 'filesystem', 'path' = 'n', 'format' = 'parquet');
"""


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT $rowtime, item FROM bids", "SELECT at_time, item FROM bids"),
        ("SELECT b.$ROWTIME AS t FROM bids AS b", "SELECT b.at_time AS t FROM bids AS b"),
        (
            "SELECT window_end, COUNT(*) AS n FROM TUMBLE(TABLE bids, DESCRIPTOR($rowtime), INTERVAL '1' HOUR)\n"
            "GROUP BY window_start, window_end",
            "SELECT window_end, COUNT(*) AS n FROM TUMBLE(TABLE bids, DESCRIPTOR(at_time), INTERVAL '1' HOUR)\n"
            "GROUP BY window_start, window_end",
        ),
        (
            "SELECT b.item FROM bids AS b JOIN asks AS a ON a.item = b.item\n"
            "AND a.$rowtime BETWEEN b.$rowtime AND b.$rowtime + INTERVAL '1' HOUR",
            "SELECT b.item FROM bids AS b JOIN asks AS a ON a.item = b.item\n"
            "AND a.ts BETWEEN b.at_time AND b.at_time + INTERVAL '1' HOUR",
        ),
        (
            "WITH c AS (SELECT $rowtime AS t FROM asks) SELECT '$rowtime' AS a, t /* $rowtime */ FROM c",
            "WITH c AS (SELECT ts AS t FROM asks) SELECT '$rowtime' AS a, t /* $rowtime */ FROM c",
        ),
        ("SELECT $rowtime, name FROM bids NATURAL JOIN names", "SELECT at_time, name FROM bids NATURAL JOIN names"),
        ("SELECT $rowtime FROM odd", "SELECT t FROM odd"),
        ("SELECT $rowtime FROM odder", ""),
        ("SELECT $rowtime FROM names", ""),
        ("SELECT $rowtime FROM asks NATURAL JOIN bids", ""),
    ],
)
def test_confluents_event_time(query: str, expected: str) -> None:
    """`$rowtime` is the column with the watermark of the table that is meant."""
    made = project(f"{ROWTIMES}CREATE VIEW v AS {query};")
    for table in ("bids", "asks", "names", "odd"):
        expected = expected.replace(f" {table}", " {{ source('inputs', '" + table + "') }}")
    assert model(made, "v").strip() == expected or not expected
    assert configs(made)["v"] == ("view" if expected else "disabled")
    if not expected:
        assert "which column has it isn't known here" in made.files["README.md"]
        assert "write the column that has the watermark" in made.files["README.md"]
