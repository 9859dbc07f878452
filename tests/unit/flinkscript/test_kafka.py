"""`sparkstream import flink`: tables of Kafka become streams that models read, and sinks of models that stream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.sparkstream.flinkscript import Project
from dbt.adapters.sparkstream.flinkscript.readings import Reading
from dbt.adapters.sparkstream.streaming.sinks.topic import Topic
from dbt.adapters.sparkstream.streaming.sources.reader import reader_of
from tests.unit.flinkscript.test_import import configs, loaded, model, project

SERVERS = "'properties.bootstrap.servers' = 'broker:9092'"
BROKER = {"kafka.bootstrap.servers": "broker:9092"}


def stream(columns: str, options: str, servers: str = SERVERS) -> dict[str, Any]:
    """`meta: stream:` of a table that a script reads; it is one that the adapter takes."""
    with_options = f"'connector' = 'kafka', 'topic' = 'a', {servers}, {options}"
    made = project(f"CREATE TABLE t ({columns}) WITH ({with_options});")
    [source] = loaded(made, "models/inputs.yml")["sources"]
    meta: dict[str, Any] = source["tables"][0]["config"]["meta"]["stream"]
    assert reader_of({"stream": meta}, "t", Path()) == meta
    return meta


def sink(columns: str, options: str, connector: str = "kafka") -> dict[str, Any]:
    """`sink` of a model that streams into a table; it is one that the adapter takes."""
    made = project(
        "CREATE TABLE s (a INT, ts TIMESTAMP(3), l TIMESTAMP_LTZ(3)) WITH ('connector' = 'datagen');\n"
        f"CREATE TABLE t ({columns}) WITH ('connector' = '{connector}', 'topic' = 'b', {SERVERS}, {options});\n"
        "INSERT INTO t SELECT * FROM s;"
    )
    [written] = [one for one in made.models if one.node == "t"]
    assert written.config["materialized"] == "streaming_incremental"
    found = written.config["sink"]
    assert isinstance(found, dict)
    Topic.read(found)
    return found


def strict(value: str, type_: str, name: str, kind: str = "json") -> str:
    """A value of a record in its type, where another fails."""
    return Reading(kind, lenient=False, in_files=False).converted(value, name, type_)


OF_KEY = "from_json(CAST(kafka_key AS STRING), 'id variant').id"


class TestSources:
    def test_json(self) -> None:
        assert stream(
            "a STRING, `an odd` ROW<b STRING>", "'format' = 'json', 'scan.startup.mode' = 'earliest-offset'"
        ) == {
            "format": "kafka",
            "options": {**BROKER, "subscribe": "a", "startingOffsets": "earliest"},
            "value_format": "json",
            "schema": "a string, `an odd` struct<b:string>",
        }

    @pytest.mark.parametrize("before", ["", "value."])
    def test_values_of_another_type(self, before: str) -> None:
        columns = "a INT, b BOOLEAN, r ROW<n BIGINT>, t TIMESTAMP(3)"
        found = stream(columns, f"'{before}format' = 'json'")
        assert found["schema"] == "a variant, b string, r struct<n:variant>, t string"
        assert found["select"][0] == f"{strict('a', 'int', 'a')} AS a"
        assert "NAMED_STRUCT('n', COALESCE(" in found["select"][2] and "RAISE_ERROR(CONCAT('r: " in found["select"][2]
        assert "INPUT_FILE_NAME" not in str(found)
        lenient = f"'{before}format' = 'json', '{before}json.ignore-parse-errors' = 'true'"
        times = f"'{before}json.timestamp-format.standard' = 'ISO-8601'"
        found = stream(columns, f"{lenient}, {times}")
        assert "RAISE_ERROR" not in str(found)
        assert "T[0-9]{2}:" in found["select"][3]

    def test_csv(self) -> None:
        found = stream("a INT", "'value.format' = 'csv', 'value.csv.field-delimiter' = ';', 'format' = 'json'")
        assert (found["value_format"], found["value_options"]) == ("csv", {"escape": '"', "sep": ";"})
        assert (found["schema"], found["select"]) == ("a string", [f"{strict('a', 'int', 'a', 'csv')} AS a"])

    def test_raw(self) -> None:
        found = stream("line STRING, ts TIMESTAMP(3) METADATA FROM 'timestamp'", "'format' = 'raw'")
        assert "value_format" not in found
        assert found["select"] == ["CAST(value AS string) AS line", "CAST(timestamp AS timestamp_ntz) AS ts"]

    def test_what_kafka_knows_of_a_record(self) -> None:
        columns = (
            "p INT METADATA FROM 'partition' VIRTUAL, a INT, h MAP<STRING, BYTES> METADATA FROM 'headers', "
            "e INT METADATA FROM 'leader-epoch' VIRTUAL"
        )
        found = stream(columns, "'format' = 'json'")
        assert found["select"] == [
            "CAST(kafka_partition AS int) AS p",
            f"{strict('a', 'int', 'a')} AS a",
            "CAST(map_from_entries(kafka_headers) AS map<string,binary>) AS h",
            "CAST(NULL AS int) AS e",
        ]
        assert found["options"]["includeHeaders"] == "true"
        assert found["schema"] == "a variant"

    @pytest.mark.parametrize(
        ("key_format", "item"),
        [
            ("raw", "CAST(CAST(kafka_key AS STRING) AS bigint) AS k_id"),
            (
                "json",
                f"{strict(OF_KEY, 'bigint', 'k_id')} AS k_id",
            ),
            ("csv", "CAST(from_csv(CAST(kafka_key AS STRING), 'f0 STRING').f0 AS bigint) AS k_id"),
        ],
    )
    def test_keys(self, key_format: str, item: str) -> None:
        keys = f"'key.format' = '{key_format}', 'key.fields' = 'k_id', 'key.fields-prefix' = 'k_'"
        found = stream("k_id BIGINT, a INT", f"{keys}, 'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY'")
        assert (found["select"], found["schema"]) == ([item, f"{strict('a', 'int', 'a')} AS a"], "a variant")
        # Where the value has the key's columns as well, Flink takes them from the value.
        assert "kafka_key" not in str(stream("k_id BIGINT, a INT", f"{keys}, 'value.format' = 'json'"))

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ("'format' = 'json'", {"startingOffsets": "earliest"}),
            ("'format' = 'json', 'properties.auto.offset.reset' = 'latest'", {"startingOffsets": "latest"}),
            ("'format' = 'json', 'scan.startup.mode' = 'latest-offset'", {"startingOffsets": "latest"}),
            (
                "'format' = 'json', 'scan.startup.mode' = 'timestamp', 'scan.startup.timestamp-millis' = '17'",
                {"startingTimestamp": "17", "startingOffsetsByTimestampStrategy": "latest"},
            ),
            (
                "'format' = 'json', 'scan.startup.mode' = 'specific-offsets', "
                "'scan.startup.specific-offsets' = 'partition:0,offset:42;partition:1,offset:300'",
                {"startingOffsets": '{"a": {"0": 42, "1": 300}}'},
            ),
        ],
    )
    def test_where_it_begins(self, options: str, expected: dict[str, str]) -> None:
        assert stream("a INT", options)["options"] == {**BROKER, "subscribe": "a", **expected}

    def test_settings_of_the_client(self) -> None:
        secret = f"{SERVERS}, 'properties.security.protocol' = 'SASL_SSL', 'properties.group.id' = 'me'"
        found = stream("a INT", "'format' = 'json'", secret)
        assert found["options"]["kafka.security.protocol"] == "SASL_SSL"
        assert not any("group" in name for name in found["options"])

    def test_computed_columns_are_in_the_model_that_reads_the_topic(self) -> None:
        made = project(
            "CREATE TABLE clicks (ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), "
            "WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) "
            f"WITH ('connector' = 'kafka', 'topic' = 'a', {SERVERS}, 'format' = 'json');\n"
            "CREATE TABLE o (w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'print');\n"
            "INSERT INTO o SELECT window_start, COUNT(*) FROM TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR) "
            "GROUP BY window_start, window_end;"
        )
        assert configs(made) == {"clicks": "streaming_incremental", "o": "streaming_incremental"}
        assert model(made, "clicks") == (
            "SELECT\n  ms,\n  TO_TIMESTAMP_LTZ(ms, 3) AS ts\nFROM {{ stream(source('inputs', 'clicks')) }}\n"
        )
        assert "{{ stream(ref('clicks'), watermark='1 second', event_time='ts') }}" in model(made, "o")
        assert "macros/create_inputs.sql" not in made.files
        [target] = loaded(made, "profiles.yml")["job"]["outputs"].values()
        assert "spark-sql-kafka" in target["server_side_parameters"]["spark.jars.packages"]

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            ("'topic' = 'a', 'format' = 'json'", "WITH has no properties.bootstrap.servers"),
            (f"{SERVERS}, 'format' = 'json'", "WITH has no topic"),
            (f"'topic' = 'a', {SERVERS}, 'format' = 'debezium-json'", "debezium-json needs a PRIMARY KEY here"),
            (f"'topic' = 'a', {SERVERS}, 'format' = 'protobuf'", "values in the format protobuf need"),
            (f"'topic' = 'a', {SERVERS}, 'format' = 'avro-confluent'", "WITH has no avro-confluent.url"),
            (f"'topic' = 'a', {SERVERS}, 'format' = 'raw'", "one column, of STRING or BYTES"),
        ],
    )
    def test_what_stays_an_empty_table(self, options: str, why: str) -> None:
        made = project(f"CREATE TABLE t (a INT, b INT) WITH ('connector' = 'kafka', {options});")
        [source] = loaded(made, "models/inputs.yml")["sources"]
        assert source["tables"][0]["config"]["meta"] == {"table": {"format": "parquet"}}
        assert why in made.files["README.md"]


RATES = (
    "CREATE TABLE rates (cur STRING, rate DECIMAL(10, 2), since TIMESTAMP(3), WATERMARK FOR since AS since, "
    f"PRIMARY KEY (cur) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 'r', {SERVERS}, "
    "'key.format' = 'json', 'value.format' = 'json');\n"
    "CREATE TABLE orders (c STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)"
    f" WITH ('connector' = 'kafka', 'topic' = 'a', {SERVERS}, 'format' = 'json');\n"
    "CREATE TABLE o (c STRING, rate DECIMAL(10, 2)) WITH ('connector' = 'print');\n"
)


def of_topic(made: Project) -> dict[str, Any]:
    """`meta: stream:` of the first source of a project."""
    [source] = loaded(made, "models/inputs.yml")["sources"]
    meta: dict[str, Any] = source["tables"][0]["config"]["meta"]["stream"]
    assert reader_of({"stream": meta}, "t", Path()) == meta
    return meta


class TestUpserts:
    def test_changes_and_the_newest_rows(self) -> None:
        made = project(RATES)
        assert configs(made) == {
            "rates_changes": "streaming_incremental",
            "rates": "view",
            "orders": "streaming_incremental",
        }
        assert of_topic(made) == {
            "format": "kafka",
            "options": {**BROKER, "subscribe": "r", "startingOffsets": "earliest"},
            "value_format": "json",
            "schema": "cur string, rate string, since string",
            "select": [
                "from_json(CAST(kafka_key AS STRING), 'cur string').cur AS cur",
                f"{strict('rate', 'decimal(10,2)', 'rate')} AS rate",
                f"{strict('since', 'timestamp_ntz', 'since')} AS since",
                "kafka_offset",
                "kafka_value IS NULL AS kafka_deleted",
            ],
        }
        assert model(made, "rates_changes") == (
            "SELECT\n  cur,\n  rate,\n  since,\n  kafka_offset,\n  kafka_deleted\n"
            "FROM {{ stream(source('inputs', 'rates')) }}\n"
        )
        assert "PARTITION BY cur ORDER BY kafka_offset DESC" in model(made, "rates")
        assert "newest row of each key" in made.files["README.md"]

    def test_versions_are_those_of_the_changes(self) -> None:
        made = project(
            RATES + "INSERT INTO o SELECT o.c, r.rate FROM orders AS o\n"
            "JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.c = r.cur;"
        )
        assert configs(made)["o"] == "table, no stream"
        assert "FROM {{ ref('rates_changes') }} WHERE NOT kafka_deleted" in model(made, "o")

    @pytest.mark.parametrize("around", ["rates", "good"])
    def test_a_stream_is_not_joined_with_rows_that_change(self, around: str) -> None:
        made = project(
            RATES + "CREATE VIEW good AS SELECT * FROM rates WHERE rate > 1;\n"
            f"INSERT INTO o SELECT o.c, r.rate FROM orders AS o JOIN {around} AS r ON o.c = r.cur;"
        )
        assert configs(made)["o"] == "table, no stream"
        assert f"rows of {around} change" in made.files["README.md"]

    def test_values_without_the_key_and_raw_ones(self) -> None:
        alone = RATES.replace(
            "'value.format' = 'json')", "'value.format' = 'csv', 'value.fields-include' = 'EXCEPT_KEY')"
        )
        assert of_topic(project(alone))["schema"] == "rate string, since string"
        raw = (
            "CREATE TABLE names (id INT PRIMARY KEY NOT ENFORCED, name STRING) WITH ('connector' = 'upsert-kafka', "
            f"'topic' = 'r', {SERVERS}, 'key.format' = 'raw', 'value.format' = 'raw', "
            "'value.fields-include' = 'EXCEPT_KEY');"
        )
        assert of_topic(project(raw))["select"] == [
            "CAST(CAST(key AS STRING) AS int) AS id",
            "CAST(value AS string) AS name",
            "offset AS kafka_offset",
            "value IS NULL AS kafka_deleted",
        ]

    @pytest.mark.parametrize(
        ("old", "new", "why"),
        [
            (", PRIMARY KEY (cur) NOT ENFORCED", "", "upsert-kafka needs a PRIMARY KEY"),
            ("'key.format' = 'json'", "'key.format' = 'avro'", "keys in the format avro need"),
            ("rate DECIMAL(10, 2), since", "kafka_deleted INT, since", "it has kafka_deleted"),
        ],
    )
    def test_what_stays_an_empty_table(self, old: str, new: str, why: str) -> None:
        made = project(RATES.replace(old, new, 1))
        assert configs(made) == {"orders": "streaming_incremental"}
        assert why in made.files["README.md"]


def of_change(name: str) -> str:
    return f"IF(op = 'd', before.{name}, after.{name})"


class TestChanges:
    SCRIPT = (
        "CREATE TABLE products (id BIGINT, price DECIMAL(10, 2), "
        "since TIMESTAMP(3) METADATA FROM 'value.source.timestamp' VIRTUAL, PRIMARY KEY (id) NOT ENFORCED, "
        f"WATERMARK FOR since AS since) WITH ('connector' = 'kafka', 'topic' = 'p', {SERVERS}, "
        "'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json'OPTIONS);"
    )

    def test_of_debezium(self) -> None:
        made = project(self.SCRIPT.replace("OPTIONS", ""))
        assert configs(made) == {"products_changes": "streaming_incremental", "products": "view"}
        found = of_topic(made)
        assert found["value_format"] == "json"
        assert found["schema"] == (
            "before struct<id:variant,price:string>, after struct<id:variant,price:string>, op string, "
            "ts_ms bigint, source struct<ts_ms:bigint,db:string,`schema`:string,`table`:string>"
        )
        assert found["select"] == [
            f"{strict(of_change('id'), 'bigint', 'id')} AS id",
            f"{strict(of_change('price'), 'decimal(10,2)', 'price')} AS price",
            "CAST(timestamp_millis(source.ts_ms) AS timestamp_ntz) AS since",
            "kafka_offset",
            "coalesce(op = 'd', TRUE) AS kafka_deleted",
        ]

    def test_with_its_schema(self) -> None:
        found = of_topic(project(self.SCRIPT.replace("OPTIONS", ", 'debezium-json.schema-include' = 'true'")))
        assert found["schema"].startswith("payload struct<before:struct<id:variant,")
        assert found["select"][-1] == "coalesce(payload.op = 'd', TRUE) AS kafka_deleted"


def avro(columns: str, options: str) -> Project:
    with_options = f"'connector' = 'kafka', 'topic' = 'a', {SERVERS}, {options}"
    return project(f"CREATE TABLE t ({columns}) WITH ({with_options});")


class TestAvro:
    COLUMNS = "id BIGINT, price DECIMAL(10, 2), ts TIMESTAMP(3), l TIMESTAMP_LTZ(6), n SMALLINT"

    def test_of_a_registry(self) -> None:
        [source] = loaded(
            avro(self.COLUMNS, "'format' = 'avro-confluent', 'avro-confluent.url' = 'http://r:8081'"),
            "models/inputs.yml",
        )["sources"]
        found = source["tables"][0]["config"]["meta"]["stream"]
        read = reader_of({"stream": found}, "t", Path())
        assert read["schema_registry"] == {"url": "http://r:8081", "subjects": ["a-value"]}
        assert (found["value_format"], found["schema_registry"]) == ("avro", "http://r:8081")
        fields = {field["name"]: field["type"][1] for field in json.loads(found["schema"])["fields"]}
        assert fields["ts"] == {"type": "long", "logicalType": "local-timestamp-millis"}
        assert fields["l"] == {"type": "long", "logicalType": "timestamp-micros"}
        assert (fields["id"], fields["price"]["scale"]) == ("long", 2)
        assert found["select"][-1] == "CAST(n AS smallint) AS n"

    def test_without_one(self) -> None:
        made = avro("a INT", "'format' = 'avro'")
        assert "schema_registry" not in of_topic(made)
        [target] = loaded(made, "profiles.yml")["job"]["outputs"].values()
        packages = target["server_side_parameters"]["spark.jars.packages"].split(",")
        assert [package.split(":")[1] for package in packages] == ["spark-sql-kafka-0-10_2.13", "spark-avro_2.13"]

    def test_a_subject_and_a_login(self) -> None:
        made = avro(
            "a INT",
            "'value.format' = 'avro-confluent', 'value.avro-confluent.url' = 'http://r', "
            "'value.avro-confluent.subject' = 's', 'value.avro-confluent.basic-auth.user-info' = 'a:b'",
        )
        [source] = loaded(made, "models/inputs.yml")["sources"]
        registry = source["tables"][0]["config"]["meta"]["stream"]["schema_registry"]
        assert registry == {"url": "http://r", "subject": "s"}
        assert "~/.netrc" in made.files["README.md"]

    @pytest.mark.parametrize(
        ("columns", "why"),
        [
            ("a ROW<t TIMESTAMP(3)>", "the times in a may be milliseconds or"),
            ("a MAP<INT, INT>", "values are in Avro, which has no type for a"),
        ],
    )
    def test_what_it_has_no_schema_for(self, columns: str, why: str) -> None:
        assert why in avro(columns, "'format' = 'avro'").files["README.md"]

    def test_rows_into_a_topic(self) -> None:
        columns = "a INT, ts TIMESTAMP(3), l TIMESTAMP_LTZ(3)"
        found = sink(columns, "'format' = 'avro-confluent', 'avro-confluent.url' = 'http://r:8081'")
        assert (found["value_format"], found["schema_registry"]) == ("avro", "http://r:8081")


class TestSinks:
    def test_json(self) -> None:
        columns = "a INT, ts TIMESTAMP(3), l TIMESTAMP_LTZ(3)"
        assert sink(columns, "'format' = 'json'") == {
            "format": "kafka",
            "topic": "b",
            "value_options": {
                "timestampNTZFormat": "yyyy-MM-dd HH:mm:ss.SSS",
                "timestampFormat": "yyyy-MM-dd HH:mm:ss.SSS'Z'",
                "timeZone": "UTC",
            },
            "options": BROKER,
        }
        iso = sink(columns, "'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601'")["value_options"]
        assert iso["timestampNTZFormat"] == "yyyy-MM-dd'T'HH:mm:ss.SSS"

    def test_keys(self) -> None:
        columns = "a INT, ts TIMESTAMP(3), l TIMESTAMP_LTZ(3)"
        assert sink(columns, "'key.format' = 'raw', 'key.fields' = 'a', 'value.format' = 'json'")["key"] == "a"
        of_rows = f"{columns}, PRIMARY KEY (a, ts) NOT ENFORCED"
        upserts = sink(of_rows, "'key.format' = 'json', 'value.format' = 'csv'", "upsert-kafka")
        assert (upserts["key"], upserts["value_format"]) == (["a", "ts"], "csv")

    def test_what_is_not_sent(self) -> None:
        made = project(
            "CREATE TABLE s (a INT) WITH ('connector' = 'datagen');\n"
            f"CREATE TABLE t (n BIGINT) WITH ('connector' = 'kafka', 'topic' = 'b', {SERVERS}, 'format' = 'json');\n"
            f"CREATE TABLE u (a INT) WITH ('connector' = 'kafka', 'topic' = 'c', {SERVERS}, 'format' = 'protobuf');\n"
            "INSERT INTO t SELECT COUNT(*) FROM s;\nINSERT INTO u SELECT a FROM s;"
        )
        assert not any("sink" in one.config for one in made.models)
        assert (
            "its rows don't go to Kafka: t is a table, and only streaming models send rows on"
            in made.files["README.md"]
        )
        assert "its rows don't go to Kafka: values in the format protobuf need" in made.files["README.md"]


class TestLookups:
    def test_a_table_is_joined_as_it_is(self) -> None:
        made = project(
            "CREATE TABLE orders (c INT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)"
            f" WITH ('connector' = 'kafka', 'topic' = 'a', {SERVERS}, 'format' = 'json');\n"
            "CREATE TABLE customers (id INT, name STRING) WITH ('connector' = 'jdbc');\n"
            "CREATE TABLE o (ts TIMESTAMP(3), name STRING) WITH ('connector' = 'print');\n"
            "INSERT INTO o SELECT o.ts, c.name FROM orders AS o\n"
            "JOIN customers FOR SYSTEM_TIME AS OF o.p AS c ON o.c = c.id;"
        )
        assert "JOIN {{ source('inputs', 'customers') }} AS c ON o.c = c.id" in model(made, "o")
        assert "`FOR SYSTEM_TIME AS OF o.p`" in made.files["README.md"]

    @pytest.mark.parametrize(
        ("view", "read", "expected"),
        [
            ("SELECT c, p FROM orders", "v", "SELECT c FROM"),
            ("SELECT p AS q, c FROM orders", "v", "SELECT c FROM"),
            ("SELECT c, PROCTIME() AS q FROM orders", "v", "SELECT c FROM"),
            ("SELECT c FROM orders", "(SELECT c, p AS q FROM orders)", "(SELECT c FROM"),
            ("SELECT c FROM orders", "(SELECT *, PROCTIME() AS q FROM orders)", "(SELECT * FROM"),
        ],
    )
    def test_columns_of_processing_time_are_left_out(self, view: str, read: str, expected: str) -> None:
        made = project(
            "CREATE TABLE orders (c INT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)"
            f" WITH ('connector' = 'kafka', 'topic' = 'a', {SERVERS}, 'format' = 'json');\n"
            "CREATE TABLE customers (id INT, name STRING) WITH ('connector' = 'jdbc');\n"
            "CREATE TABLE o (c INT, name STRING) WITH ('connector' = 'print');\n"
            f"CREATE VIEW v AS {view};\n"
            f"INSERT INTO o SELECT o.c, n.name FROM {read} AS o\n"
            f"JOIN customers FOR SYSTEM_TIME AS OF o.{'q' if ' q' in view + read else 'p'} AS n ON o.c = n.id;"
        )
        assert configs(made)["o"] == "streaming_incremental"
        assert expected in model(made, "o")
        assert "AS OF" not in model(made, "o")

    def test_a_column_of_processing_time_that_is_written(self) -> None:
        made = project(
            f"CREATE TABLE s (a INT, p AS PROCTIME()) WITH ('connector' = 'kafka', 'topic' = 'a', {SERVERS}, "
            "'format' = 'json');\nCREATE TABLE o (a INT, p TIMESTAMP_LTZ(3)) WITH ('connector' = 'print');\n"
            "CREATE VIEW v (a, p) AS SELECT a, p FROM s;\nINSERT INTO o SELECT a, p FROM s;"
        )
        assert (configs(made)["v"], configs(made)["o"]) == ("disabled", "disabled")

    def test_versions_of_a_topic_are_refused(self) -> None:
        topic = f"('connector' = 'kafka', 'topic' = 'a', {SERVERS}, 'format' = 'json')"
        made = project(
            f"CREATE TABLE orders (c INT, p AS PROCTIME()) WITH {topic};\n"
            f"CREATE TABLE customers (id INT, name STRING) WITH {topic};\n"
            "SELECT * FROM orders AS o JOIN customers FOR SYSTEM_TIME AS OF o.p AS c ON o.c = c.id;"
        )
        assert configs(made)["query_1"] == "disabled"
