"""`sparkstream import flink`: secrets of a script stay out of the project, and its texts come back as they were."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import jinja2
import markdown  # type: ignore[import-untyped]
import pytest
import yaml
from click.testing import CliRunner

from dbt.adapters.sparkstream.cli import main
from dbt.adapters.sparkstream.flinkscript import Project, read
from dbt.adapters.sparkstream.flinkscript.escapes import (
    comment_line,
    jinja_text,
    jinja_value,
    markdown_code,
    markdown_text,
    yaml_file,
)
from dbt.adapters.sparkstream.flinkscript.hidden import is_harmless, is_harmless_setting
from dbt.adapters.sparkstream.sql.dialects.flink import Flink
from dbt.adapters.sparkstream.sql.translate import translate

S = "S3CR3T"
JAAS = f'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="{S}";'
SERVERS = "'properties.bootstrap.servers' = 'broker:9092'"
KAFKA = f"'connector' = 'kafka', 'topic' = 'a', {SERVERS}, 'format' = 'json'"


def project(script: str, folder: Path = Path()) -> Project:
    return Project(read(script), folder / "job.sql")


def files(script: str) -> str:
    """All that a script becomes."""
    return "\n".join(text for path, text in project(script).files.items())


def stream(made: Project) -> dict[str, Any]:
    """`meta: stream:` of the only source of a project."""
    [source] = yaml.safe_load(made.files["models/inputs.yml"])["sources"]
    found: dict[str, Any] = source["tables"][0]["config"]["meta"]["stream"]
    return found


def of_table(options: str) -> str:
    return f"CREATE TABLE t (a INT) WITH ({options});"


OPTIONS = [
    f"{KAFKA}, 'properties.sasl.jaas.config' = '{JAAS}'",
    f"{KAFKA}, 'properties.sasl.jaas.config' = 'x required\n  password=\"{S}\";'",
    f"{KAFKA}, 'properties.ssl.truststore.password' = '{S}'",
    f"{KAFKA}, 'properties.ssl.keystore.key' = '-----BEGIN KEY-----\n{S}\n'",
    f"{KAFKA}, 'properties.basic.auth.user.info' = 'me:{S}'",
    f"{KAFKA}, 'properties.of.nobody.knows.what' = '{S}'",
    f"{KAFKA}, 'properties.config.providers.vault.param.token' = '{S}'",
    f"'connector' = 'kafka', 'topic' = 'a', 'properties.bootstrap.servers' = 'SASL://me:{S}@h:9092', 'format' = 'json'",
    f"'connector' = 'kafka', 'topic' = 'a', 'properties.bootstrap.servers' = 'me:{S}@h:9092', 'format' = 'json'",
    f"'connector' = 'kafka', 'topic' = 'https://me:{S}@h/x', {SERVERS}, 'format' = 'json'",
    f"'connector' = 'kafka', 'topic-pattern' = 'password={S}', {SERVERS}, 'format' = 'raw'",
    f"{KAFKA}, 'value.format' = 'avro-confluent', 'value.avro-confluent.url' = 'http://u:{S}@reg:8081'",
    f"{KAFKA}, 'value.format' = 'avro-confluent', 'value.avro-confluent.url' = 'http://{S}@reg'",
    f"{KAFKA}, 'value.format' = 'avro-confluent', 'value.avro-confluent.url' = 'http://u:{S}/x@reg'",
    f"{KAFKA}, 'value.format' = 'avro-confluent', 'value.avro-confluent.url' = 'http://reg/?token={S}'",
    f"{KAFKA}, 'value.format' = 'avro-confluent', 'value.avro-confluent.url' = 'http://reg', "
    f"'value.avro-confluent.basic-auth.user-info' = 'u:{S}', 'value.avro-confluent.ssl.keystore.password' = '{S}'",
    f"'connector' = 'filesystem', 'format' = 'csv', 'path' = 's3a://key:{S}@bucket/data'",
    f"'connector' = 'filesystem', 'format' = 'json', 'path' = 'https://host/data?sig={S}'",
    f"'connector' = 'filesystem', 'format' = 'json', 'path' = 'wasbs://c@a.blob.core.windows.net/d?sv=1&sig={S}'",
    f"'connector' = 'filesystem', 'format' = 'json', 'path' = 'abfss://c:{S}@a.dfs.core.windows.net/d'",
    f"'connector' = 'jdbc', 'url' = 'jdbc:postgresql://db/x?user=me&password={S}', 'table-name' = 't'",
    f"'connector' = 'jdbc', 'url' = 'jdbc:oracle:thin:scott/{S}@db:1521:x', 'table-name' = 't'",
    f"'connector' = 'jdbc', 'url' = 'jdbc:sqlserver://db;user=me;password={S}', 'table-name' = 't'",
    f"'connector' = 'jdbc', 'url' = 'jdbc:mysql://me:{S}@db/x', 'username' = 'me', 'password' = '{S}'",
    f"'connector' = 'elasticsearch-7', 'hosts' = 'http://me:{S}@h:9200', 'password' = '{S}'",
    f"'connector' = 'mongodb', 'uri' = 'mongodb://me:{S}@h'",
    f"'connector' = 'password={S}'",
    f"'connector' = 'filesystem', 'path' = '/x', 'format' = 'token={S}'",
]

STATEMENTS = [
    f"SET 's3.secret-key' = '{S}'",
    f"SET 'fs.azure.account.auth' = '{S}'",
    f"SET s3.secret-key = {S}",
    f"SET nobody.knows = {S} x",
    f"SET 'nobody.knows' = '{S}'",
    f"SET 'pipeline.global-job-parameters' = 'key:{S}'",
    f"SET 'table.some.password' = '{S}'",
    f"SET 'pipeline.name' = 'https://me:{S}@host'",
    f"SET 'execution.checkpointing.dir' = 's3://key:{S}@bucket/x'",
    f"CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = 'jdbc:x://h', 'password' = '{S}')",
    f"CREATE CATALOG c WITH ('type' /* x */ = /* y */ 'jdbc', 'password' /* = */ = '{S}')",
    f"CREATE MODEL m INPUT (a STRING) OUTPUT (b STRING) WITH ('provider' = 'openai', 'openai.api-key' = '{S}')",
    f"CREATE CONNECTION c WITH ('type' = 'x', 'auth' = '{S}')",
    f"CREATE FUNCTION f AS 'a.B' USING JAR 'https://me:{S}@host/f.jar'",
    f"ADD JAR 'https://me:{S}@host/f.jar'",
    f"ADD JAR 'https://host/f.jar?token={S}'",
    f"ALTER TABLE t SET ('password' = '{S}')",
    f"ALTER TABLE t SET ('nobody.knows' = '{S}')",
    f"CALL sys.login('me', '{S}')",
    f"CREATE DATABASE d COMMENT 'password: {S}' WITH ('x' = '{S}')",
    f"LOAD MODULE m WITH ('x' = '{S}')",
]

COMMENTS = [
    f"-- password: {S}",
    f"-- 'properties.sasl.jaas.config' = '{JAAS}'",
    f"-- 'properties.sasl.jaas.config' =\n--   '{JAAS}'",
    f"-- 'nobody.knows' = '{S}',",
    f"-- SET 's3.secret-key' = '{S}';",
    f"-- 'password' = 'it''s {S}'",
    f"-- see https://me:{S}@host/x",
    f"/* see https://me:{S}@host/x */",
    f"/* https://{S}@host */",
    f"/* password: {S} */",
    f"/* password:\n   {S}\n*/",
    f"/* 'password' = '{S} */",
    f"/***** password={S} *****/",
    f"/* jdbc:oracle:thin:scott/{S}@db */",
]


class TestSecrets:
    @pytest.mark.parametrize("options", OPTIONS)
    def test_of_options(self, options: str) -> None:
        assert S not in files(of_table(options))
        assert S not in files(of_table(options) + "CREATE TABLE u (b INT) LIKE t;")
        # As a table that is written to: by a stream, and by a batch.
        for mode in ("streaming", "batch"):
            fed = f"SET 'execution.runtime-mode' = '{mode}'; CREATE TABLE s (a INT) WITH ({KAFKA}); {of_table(options)}"
            assert S not in files(f"{fed} INSERT INTO t SELECT a FROM s;")

    @pytest.mark.parametrize("statement", STATEMENTS)
    def test_of_statements(self, statement: str) -> None:
        assert S not in files(f"{statement};\nCREATE TABLE t (a INT) WITH ({KAFKA});\nSELECT a FROM t;")

    @pytest.mark.parametrize("comment", COMMENTS)
    def test_in_comments(self, comment: str) -> None:
        """Wherever a comment stands; what is around it stays as it is."""
        script = (
            f"{comment}\nCREATE TABLE t ({comment}\n  a INT, b AS a + {comment}\n 1) WITH ({KAFKA});\n"
            f"{comment}\nCREATE VIEW v AS {comment}\nSELECT a FROM t {comment}\nWHERE a > 1;\n"
            f"{comment}\nCREATE TABLE o (a INT, p STRING) {comment}\nWITH ('connector' = 'print');\n"
            f"INSERT INTO o PARTITION (p = {comment}\n'x') {comment}\nSELECT a FROM v; EXPLAIN {comment}\nSELECT 1"
        )
        made = project(script)
        assert S not in "\n".join(made.files.values())
        assert not made.disabled
        plain = made.files["models/v.sql"]
        for line in ("SELECT a FROM {{ ref('t') }}", "WHERE a > 1"):
            assert line in plain

    @pytest.mark.parametrize("comment", COMMENTS)
    def test_lines_stay_where_they_are(self, comment: str) -> None:
        lines = comment.count("\n") + 3
        made = project(f"{comment}\nCREATE VIEW v AS\n  SELECT NO_SUCH(1, FROM t")
        assert f"(job.sql:{lines}:" in made.files["README.md"]

    def test_of_hints(self) -> None:
        made = project(
            f"CREATE TABLE t (a INT) WITH ({KAFKA});\n"
            f"SELECT a FROM t /*+ OPTIONS('scan.startup.mode' = 'latest-offset',"
            f" 'x' = '{S}', 'password'='{S}') */ AS u;"
        )
        assert S not in "\n".join(made.files.values())
        shown = "/*+ OPTIONS('scan.startup.mode' = 'latest-offset', 'x' = '...', 'password'='...') */"
        assert f"`{shown}`" in made.files["README.md"]
        behind = f"SELECT a FROM t /*+ OPTIONS('x' = '{S}') */ -- ;\n;;\n-- Of v.\nCREATE VIEW v AS SELECT 1 AS a"
        made = project(f"CREATE TABLE t (a INT) WITH ({KAFKA});\n{behind};")
        assert "`/*+ OPTIONS('x' = '...') */`" in made.files["README.md"]
        assert made.files["models/v.sql"].endswith(" }}\n-- Of v.\nSELECT 1 AS a\n")

    def test_of_an_option_are_hidden_where_else_they_stand(self) -> None:
        """In comments, in what COMMENT says of tables, views and columns, and in what isn't in the project."""
        made = project(
            f"-- It is {S}.\nCREATE TABLE t (a INT COMMENT 'not {S}', b AS a + 1 COMMENT 'nor {S}') COMMENT 'and {S}'\n"
            f"WITH ({KAFKA}, 'properties.ssl.key.password' = '{S}');\n"
            f"/* {S} */ CREATE VIEW v COMMENT 'or {S}' AS SELECT a /* {S} */ FROM t;\n"
            f"CREATE TABLE o (a INT COMMENT '{S}') COMMENT '{S}' WITH ('connector' = 'print');\n"
            f"INSERT INTO o SELECT a FROM v;\nEXPLAIN SELECT '{S}';"
        )
        assert S not in "\n".join(made.files.values())
        [source] = yaml.safe_load(made.files["models/inputs.yml"])["sources"]
        assert source["tables"][0]["description"] == "It is ....\nand ..."

    def test_on_the_terminal(self, tmp_path: Path) -> None:
        script = tmp_path / "job.sql"
        options = f"{KAFKA}, 'properties.sasl.jaas.config' = '{JAAS}'"
        script.write_text(f"CREATE TABLE t (a INT) WITH ({options});\nSELECT NO_SUCH( /* password={S} */ FROM t;")
        done = CliRunner().invoke(main, ["import", "flink", str(script)])
        assert done.exit_code == 0
        assert S not in done.output
        assert "set 1 variable for the script's secrets: see README.md" in done.output
        for file in (tmp_path / "job").rglob("*.*"):
            assert S not in file.read_text()

    def test_harmless_options_stay(self) -> None:
        made = project(
            of_table(
                f"{KAFKA}, 'properties.security.protocol' = 'SASL_SSL', 'properties.fetch.min.bytes' = '17', "
                f"'properties.sasl.mechanism' = 'PLAIN', 'properties.sasl.jaas.config' = '{JAAS}'"
            )
        )
        assert stream(made)["options"] == {
            "kafka.bootstrap.servers": "broker:9092",
            "kafka.security.protocol": "SASL_SSL",
            "kafka.fetch.min.bytes": "17",
            "kafka.sasl.mechanism": "PLAIN",
            "kafka.sasl.jaas.config": "{{ env_var('KAFKA_SASL_JAAS_CONFIG') }}",
            "subscribe": "a",
            "startingOffsets": "earliest",
        }
        line = "| `KAFKA_SASL_JAAS_CONFIG` | `properties.sasl.jaas.config` | `models/inputs.yml`, table `t` |"
        assert line in made.files["README.md"]

    @pytest.mark.parametrize(
        ("option", "value"),
        [
            ("path", "abfss://container@account.dfs.core.windows.net/data"),
            ("path", "s3a://bucket/data"),
            ("path", "/data/a@b c"),
            ("url", "jdbc:postgresql://db:5432/shop"),
            ("value.avro-confluent.url", "https://registry:8081/apis/ccompat/v7"),
            ("properties.bootstrap.servers", "a:9092,b:9092"),
            ("Properties.Client.Id", "me"),
            ("password", ""),
        ],
    )
    def test_what_is_harmless(self, option: str, value: str) -> None:
        assert is_harmless(option, value)

    def test_settings_that_are_harmless(self) -> None:
        assert is_harmless_setting("table.exec.state.ttl", "1 h")
        assert is_harmless_setting("state.checkpoints.dir", "s3://bucket/x")
        assert not is_harmless_setting("table.x.token", "1 h")


class TestVariables:
    def test_equal_values_of_an_option_share_one(self) -> None:
        def table(name: str, password: str) -> str:
            return f"CREATE TABLE {name} (a INT) WITH ({KAFKA}, 'properties.ssl.key.password' = '{password}');"

        made = project(table("a", "1") + table("b", "2") + table("c", "1") + table("dbt", "3"))
        found = {variable.name: places for variable, places in made.variables.items()}
        assert found == {
            "KAFKA_SSL_KEY_PASSWORD": ["`models/inputs.yml`, table `a`", "`models/inputs.yml`, table `c`"],
            "TABLE_B_KAFKA_SSL_KEY_PASSWORD": ["`models/inputs.yml`, table `b`"],
            "TABLE_DBT_KAFKA_SSL_KEY_PASSWORD": ["`models/inputs.yml`, table `dbt`"],
        }

    def test_names_are_unique_and_for_a_shell(self) -> None:
        made = project(
            f"CREATE TABLE `ü ß` (a INT) WITH ({KAFKA}, 'properties.x.y' = '1', 'properties.x_y' = '2', "
            "'properties.x-y' = '3', 'properties.ж''' = '4');"
        )
        names = [variable.name for variable in made.variables]
        assert len(set(names)) == 4
        assert all(re.fullmatch(r"[A-Z_][A-Z0-9_]*", name) and not name.startswith("DBT_") for name in names)

    def test_one_of_a_sink_is_an_expression(self) -> None:
        made = project(
            f"CREATE TABLE s (a INT) WITH ({KAFKA});\n"
            f"CREATE TABLE t (a INT) WITH ({KAFKA}, 'properties.sasl.jaas.config' = '{JAAS}');\n"
            "INSERT INTO t SELECT a FROM s;"
        )
        assert "'kafka.sasl.jaas.config': env_var('KAFKA_SASL_JAAS_CONFIG')" in made.files["models/t.sql"]
        assert "| `models/t.sql` |" in made.files["README.md"]

    def test_a_registry_needs_none_for_its_login(self) -> None:
        options = "'value.format' = 'avro-confluent', 'value.avro-confluent.url' = "
        made = project(of_table(f"{KAFKA}, {options}'http://u:pw@reg:8081/x'"))
        assert stream(made)["schema_registry"] == "http://reg:8081/x"
        assert "~/.netrc" in made.files["README.md"]
        assert not made.variables
        strange = project(of_table(f"{KAFKA}, {options}'http://reg:8081/?key=x'"))
        assert stream(strange)["schema_registry"] == "{{ env_var('TABLE_T_VALUE_AVRO_CONFLUENT_URL') }}"


HOSTILE = [
    'it\'s "it"',
    "{{ x }}",
    "'{{ x }}'",
    "{% raw %}",
    "{# gone #}",
    "{{{ x }}}",
    "{{% x",
    "}} %} #} \n",
    "[1, {{ 2 }}]",
    "{{ '{{' }}",
    "a\\nb\\",
    "a\nb\r\nc\rd\n",
    "\x1b[0m\x00\u2028\x85\u202e\ufeff",
    "`a` ``b``",
    "*/ /* /* x",
    "a|b `c|d`",
    "<b>&amp;</b>",
    "- *a* _b_ [c](d) ~~e~~",
    "true",
    "123",
    "${env:HOME}",
    "$$$DBT_SECRET_START$$$X$$$DBT_SECRET_END$$$",
    "{{ env_var('HOME') }}",
    "{",
    " x ",
    "ü 😀",
]


def rendered(template: str, **names: Any) -> str:
    # As dbt's: a newline at the end of a file isn't the point here.
    return jinja2.Environment(keep_trailing_newline=True).from_string(template).render(names)


class TestTexts:
    @pytest.mark.parametrize("text", HOSTILE)
    def test_in_sql(self, text: str) -> None:
        """Jinja makes one newline of all kinds of them, as SQL has only one."""
        assert rendered(jinja_text(text)) == text.replace("\r\n", "\n").replace("\r", "\n")
        assert rendered(jinja_text(text) + "{{ 1 }}").endswith("1")

    @pytest.mark.parametrize("text", HOSTILE)
    def test_as_a_value(self, text: str) -> None:
        value = {text: [text, {"a": text, "b": {"c": True}}, 1, None]}
        found: list[Any] = []
        rendered("{{ take(x=" + jinja_value(value) + ") }}", take=lambda x: found.append(x))
        assert found == [value]

    def test_in_config(self) -> None:
        """The parser that dbt tries first knows no escapes, and mustn't take such a value."""
        from dbt_extractor import ExtractionError, py_extract_from_source  # type: ignore[import-untyped]

        for text in HOSTILE:
            config = "{{ config(sink={'a': " + jinja_value(text) + "}) }} select 1"
            try:
                assert py_extract_from_source(config)["configs"] == [("sink", {"a": text})]
            except ExtractionError:
                assert "| string" in config

    @pytest.mark.parametrize("text", HOSTILE)
    def test_in_yaml(self, text: str) -> None:
        from dbt.clients.jinja import get_rendered

        [[found]] = yaml.safe_load(yaml_file({"a": [text]})).values()
        assert get_rendered(found, {}, native=True) == get_rendered(found, {}) == text

    @pytest.mark.parametrize("text", HOSTILE)
    def test_in_a_line_of_comment(self, text: str) -> None:
        line = rendered(comment_line(text))
        assert line.split() == ["--", *text.split()]
        assert len(line.splitlines()) == 1
        assert not line.endswith("\\")

    @pytest.mark.parametrize("text", [text for text in HOSTILE if text.isprintable() or "\n" in text])
    def test_in_markdown(self, text: str) -> None:
        table = f"| a | b |\n|---|---|\n| {markdown_text(text)} | {markdown_code(text)} |\n"
        made = markdown.markdown(table, extensions=["tables"])
        first, second = re.findall(r"<td>(.*?)</td>", made, re.DOTALL)
        assert html.unescape(re.sub(r"&#13;|&#10;", " ", first)).split() == text.split()
        code = re.fullmatch(r"<code>(.*)</code>", second, re.DOTALL)
        assert code is not None
        assert html.unescape(code[1]).split() == text.split()

    @pytest.mark.parametrize(
        "comment",
        [
            "/* a /* b */",
            "/* /* /* */",
            "/*/ x */",
            "/* a /*/",
            "/**//*/*//**/",
            "/* x //***/",
            "-- a \\",
            "-- a \\\n--b\\",
            "--{{ x }}{",
        ],
    )
    def test_comments_end_for_spark_where_they_do_for_flink(self, comment: str) -> None:
        made = project(f"{comment}\nCREATE VIEW v AS SELECT 1 AS a, {comment}\n2 AS b")
        body = rendered(made.files["models/v.sql"], config=lambda **_: "")
        assert not made.disabled
        words = [token.text for token in Flink().tokenize(translate(body, "flink"))]
        assert words == ["SELECT", "1", "AS", "a", ",", "2", "AS", "b"]
        assert not re.search(r"\\$", body, re.MULTILINE)


HOSTILE_SCRIPT = r"""
SET 'pipeline.name' = 'it''s {{ x }} {% raw %}\';
SET 'table.local-time-zone' = 'UTC';
SET 'nobody.{{ knows }}|`x`' = 'HUSH-HUSH';
/* {{ x }} {% raw %} /* a */
CREATE TABLE files (
  `{{ a }}` INT COMMENT '{{ doc("x") }} it''s',
  `b``'\{% c` STRING COMMENT '`|`\n* -- */ {#',
  dt STRING
) COMMENT '{{ x }}
-- stays */ \'
PARTITIONED BY (dt) WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.field-delimiter' = '\',
  'csv.null-literal' = '{{ null }}''', 'path' = 'da''ta/{{ x }}/\{% y %}');
CREATE TABLE secret_files (a INT) WITH ('connector' = 'filesystem', 'format' = 'json',
  'path' = 's3://k:{{ x }}''@bucket/x');
CREATE TABLE topic (
  `k'{{ k }}` STRING, `v}} %}` ROW<`f'{{ f }}` INT>, `ts{{ }}` TIMESTAMP(3),
  m STRING METADATA FROM 'it''s|`{{ m }}`', WATERMARK FOR `ts{{ }}` AS `ts{{ }}` - INTERVAL '1' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'a', 'properties.bootstrap.servers' = 'broker:9092',
  'key.format' = 'json', 'key.fields' = 'k''{{ k }}', 'value.format' = 'json',
  'value.fields-include' = 'EXCEPT_KEY', 'properties.sasl.jaas.config' = 'a "b\" {{ 1 + 1 }} ''c''
d {% raw %}', 'properties.client.id' = 'me {{ 1 + 1 }} it''s \');
CREATE TABLE sent (`k'{{ k }}` STRING, ts TIMESTAMP(3)) WITH ('connector' = 'kafka', 'topic' = 'b',
  'properties.bootstrap.servers' = 'broker:9092', 'key.format' = 'raw', 'key.fields' = 'k''{{ k }}',
  'value.format' = 'csv', 'value.csv.escape-character' = '\', 'properties.ssl.key.password' = '12345',
  'properties.client.id' = '{{ 2 }} \');
INSERT INTO sent SELECT `k'{{ k }}`, `ts{{ }}` FROM topic /*+ OPTIONS('x' = '{{ x }}') */;
CREATE VIEW v COMMENT '{% raw %} {{ v }}' AS
SELECT '{{ x }} it''s' AS a, `{{ a }}` AS b /* {{ x }} */ FROM files -- {% raw %} \
WHERE `b``'\{% c` <> '{#';
CREATE VIEW w AS SELECT x FROM `data'base {{ x }}`.t;
SELECT NO_SUCH('{{ x }}', FROM v;
"""


def test_dbt_reads_the_texts_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dbt.cli.main import dbtRunner

    made = project(HOSTILE_SCRIPT, tmp_path)
    values = {
        "properties.sasl.jaas.config": "a \"b\\\" {{ 1 + 1 }} 'c'\nd {% raw %}",
        "properties.ssl.key.password": "12345",
        "path": "s3://k:{{ x }}'@bucket/x",
    }
    folder = tmp_path / "made"
    for path, text in made.files.items():
        for value in (*values.values(), "HUSH"):
            assert value not in text
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    assert {variable.option for variable in made.variables} == set(values)
    for variable in made.variables:
        monkeypatch.setenv(variable.name, values[variable.option])
    here = [f"--project-dir={folder}", f"--profiles-dir={folder}"]
    done = dbtRunner().invoke(["--quiet", "--warn-error", "--no-partial-parse", "parse", *here])
    assert done.success, str(done.exception)
    manifest = json.loads((folder / "target" / "manifest.json").read_text())
    sources = {node["name"]: node for node in manifest["sources"].values()}
    models = {node["name"]: node for node in manifest["nodes"].values()}

    files = sources["files"]
    assert files["description"] == "{{ x }} {% raw %} // a\n{{ x }}\n-- stays */ \\"
    assert [(column["name"], column["description"]) for column in files["columns"].values()] == [
        ("{{ a }}", '{{ doc("x") }} it\'s'),
        ("b`'\\{% c", "`|`\\n* -- */ {#"),
        ("dt", ""),
    ]
    table = files["config"]["meta"]["table"]
    assert table["location"] == f"{tmp_path}/da'ta/{{{{ x }}}}/\\{{% y %}}"
    assert table["options"]["nullValue"] == "{{ null }}'"
    assert table["options"]["sep"] == "\\"
    assert sources["secret_files"]["config"]["meta"]["table"]["location"] == values["path"]

    stream = sources["topic"]["config"]["meta"]["stream"]
    assert stream["options"]["kafka.sasl.jaas.config"] == values["properties.sasl.jaas.config"]
    assert stream["options"]["kafka.client.id"] == "me {{ 1 + 1 }} it's \\"
    assert stream["schema"] == "`v}} %}` struct<`f'{{ f }}`:variant>, `ts{{ }}` string"
    assert stream["select"][0] == (
        r"from_json(CAST(kafka_key AS STRING), '`k\'{{ k }}` string').`k'{{ k }}` AS `k'{{ k }}`"
    )
    assert sources["t"]["schema"] == "data'base {{ x }}"

    sent = models["sent"]["config"]
    assert sent["sink"]["key"] == "k'{{ k }}"
    assert sent["sink"]["options"] == {
        "kafka.bootstrap.servers": "broker:9092",
        "kafka.client.id": "{{ 2 }} \\",
        "kafka.ssl.key.password": "12345",
    }
    assert sent["sink"]["value_options"] == {"escape": "\\"}
    assert models["v"]["description"] == "{% raw %} {{ v }}"
    assert "query_1" not in models  # disabled

    profile = yaml.safe_load(made.files["profiles.yml"])["job"]["outputs"]["session"]
    name = profile["server_side_parameters"]["spark.app.name"]
    assert rendered(name) == "it's {{ x }} {% raw %}\\"
    names: dict[str, Any] = {"config": lambda **_: "", "ref": lambda name: name, "source": lambda _, name: name}
    body = rendered(made.files["models/v.sql"], **names)
    assert "SELECT '{{ x }} it''s' AS a, `{{ a }}` AS b /* {{ x }} */ FROM files -- {% raw %} \\ \n" in body
    streamed: list[dict[str, Any]] = []
    names["stream"] = lambda *_, **given: streamed.append(given)
    rendered(made.files["models/sent.sql"], **names, env_var=lambda name: name)
    assert streamed == [{"watermark": "1 second", "event_time": "ts{{ }}"}]


def test_the_table_of_files_is_made_of_what_the_script_says(tmp_path: Path) -> None:
    """The SQL that the project's macro sends to Spark."""
    made = project(HOSTILE_SCRIPT, tmp_path)
    macro = made.files["macros/create_inputs.sql"]
    table = {
        "format": "csv",
        "options": {"nullValue": "\\'"},
        "partitions": ["a`b", "c"],
        "location": "/it's {{ x }}\\",
    }
    column = {"name": "a`b", "data_type": "int"}
    source = {
        **{"source_name": "inputs", "relation_name": "`s`.`t`", "schema": "s`", "database": None},
        **{"config": {"meta": {"table": table}}, "columns": {"a`b": column}},
    }
    sent: list[str] = []

    class Adapter:
        def quote(self, name: str) -> str:
            return "`" + name.replace("`", "``") + "`"

        def create_schema(self, relation: dict[str, Any]) -> None:
            sent.append(str(relation["schema"]))

    class Relation:
        def create(self, **given: Any) -> dict[str, Any]:
            return given

    names = {
        "graph": {"sources": {"x": source}},
        "execute": True,
        "adapter": Adapter(),
        "api": {"Relation": Relation()},
        "run_query": sent.append,
    }
    environment = jinja2.Environment(extensions=["jinja2.ext.do"])
    environment.from_string(macro + "{{ create_inputs() }}").render(names)
    assert sent[0] == "s`"
    assert " ".join(sent[1].split()) == (
        r"create table if not exists `s`.`t` (`a``b` int) using csv options (nullValue '\\\'') "
        r"partitioned by (`a``b`, `c`) location '/it\'s {{ x }}\\'"
    )


@pytest.mark.parametrize("size", ["`1) evil`", "1, 2 x", "'1'", "9" * 5000, "-1", "1.5"])
@pytest.mark.parametrize("kind", ["DECIMAL", "TIME", "VARCHAR"])
def test_sizes_of_types_are_numbers(kind: str, size: str) -> None:
    from dbt.adapters.sparkstream.sql import TranslationError

    with pytest.raises(TranslationError):
        project(f"CREATE TABLE t (a {kind}({size})) WITH ({KAFKA})")


def test_the_name_of_a_single_file_is_no_pattern(tmp_path: Path) -> None:
    name = "a[1]{b}*?.json"
    (tmp_path / name).write_text('{"a": 1}\n')
    made = project(of_table(f"'connector' = 'filesystem', 'path' = '{name}', 'format' = 'json'"), tmp_path)
    [source] = yaml.safe_load(made.files["models/inputs.yml"])["sources"]
    table = source["tables"][0]["config"]["meta"]["table"]
    assert table["location"] == "{{ var('inputs') }}"
    assert table["options"]["pathGlobFilter"] == r"a\[1\]\{b\}\*\?.json"
