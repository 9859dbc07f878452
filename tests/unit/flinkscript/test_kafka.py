"""`sparkstream import flink`: tables of Kafka become streams that models read, and sinks of models that stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.reader import reader_of
from dbt.adapters.sparkstream.streaming.topic import Topic
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


class TestSources:
    def test_json(self) -> None:
        assert stream(
            "a INT, `an odd` ROW<b STRING>", "'format' = 'json', 'scan.startup.mode' = 'earliest-offset'"
        ) == {
            "format": "kafka",
            "options": {**BROKER, "subscribe": "a", "startingOffsets": "earliest"},
            "value_format": "json",
            "schema": "a int, `an odd` struct<b:string>",
        }

    def test_csv(self) -> None:
        found = stream("a INT", "'value.format' = 'csv', 'value.csv.field-delimiter' = ';', 'format' = 'json'")
        assert (found["value_format"], found["value_options"]) == ("csv", {"escape": '"', "sep": ";"})

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
            "a",
            "CAST(map_from_entries(kafka_headers) AS map<string,binary>) AS h",
            "CAST(NULL AS int) AS e",
        ]
        assert found["options"]["includeHeaders"] == "true"
        assert found["schema"] == "a int"

    @pytest.mark.parametrize(
        ("key_format", "item"),
        [
            ("raw", "CAST(CAST(kafka_key AS STRING) AS bigint) AS k_id"),
            ("json", "from_json(CAST(kafka_key AS STRING), 'id bigint').id AS k_id"),
            ("csv", "CAST(from_csv(CAST(kafka_key AS STRING), 'f0 STRING').f0 AS bigint) AS k_id"),
        ],
    )
    def test_keys(self, key_format: str, item: str) -> None:
        keys = f"'key.format' = '{key_format}', 'key.fields' = 'k_id', 'key.fields-prefix' = 'k_'"
        found = stream("k_id BIGINT, a INT", f"{keys}, 'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY'")
        assert (found["select"], found["schema"]) == ([item, "a"], "a int")
        # Where the value has the key's columns as well, Flink takes them from the value.
        assert "select" not in stream("k_id BIGINT, a INT", f"{keys}, 'value.format' = 'json'")

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
            (f"'topic' = 'a', {SERVERS}, 'format' = 'debezium-json'", "values in the format debezium-json need"),
            (f"'topic' = 'a', {SERVERS}, 'format' = 'raw'", "one column, of STRING or BYTES"),
        ],
    )
    def test_what_stays_an_empty_table(self, options: str, why: str) -> None:
        made = project(f"CREATE TABLE t (a INT, b INT) WITH ('connector' = 'kafka', {options});")
        [source] = loaded(made, "models/inputs.yml")["sources"]
        assert source["tables"][0]["config"]["meta"] == {"table": {"format": "parquet"}}
        assert why in made.files["README.md"]


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

    def test_versions_of_a_topic_are_refused(self) -> None:
        topic = f"('connector' = 'kafka', 'topic' = 'a', {SERVERS}, 'format' = 'json')"
        made = project(
            f"CREATE TABLE orders (c INT, p AS PROCTIME()) WITH {topic};\n"
            f"CREATE TABLE customers (id INT, name STRING) WITH {topic};\n"
            "SELECT * FROM orders AS o JOIN customers FOR SYSTEM_TIME AS OF o.p AS c ON o.c = c.id;"
        )
        assert configs(made)["query_1"] == "disabled"
