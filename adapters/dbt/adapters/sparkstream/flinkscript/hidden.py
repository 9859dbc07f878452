"""Secrets of a script: values that aren't known to be harmless. They become variables of the environment."""

from __future__ import annotations

import re
from itertools import chain, count
from urllib.parse import urlsplit

from dbt.adapters.sparkstream.flinkscript.escapes import Variable
from dbt.adapters.sparkstream.secrecy.names import is_of_kafka, is_secret
from dbt.adapters.sparkstream.secrecy.redaction import redacted
from dbt.adapters.sparkstream.secrecy.written import CONTAINERS

HIDDEN = "..."
"""Text in place of a secret in comments and in README.md: no stars, which would open a comment after a slash."""

PROPERTIES = "properties."
"""Prefix of the options of Kafka's client."""

REGISTRY_URLS = ("avro-confluent.url", "avro-confluent.schema-registry.url")
"""Ends of the names of options that hold the address of a schema registry."""

REGISTRY_LOGIN = "avro-confluent.basic-auth.user-info"
"""The option for a login of the registry."""

_OPTIONS = (
    "connector format path url table-name driver type default-database property-version warehouse catalog-type "
    "base-url hive-conf-dir hadoop-conf-dir hive-version source.monitor-interval source.path.regex-pattern "
    "source.report-statistics auto-compaction partition.default-name partition.time-extractor.kind "
    "partition.time-extractor.timestamp-pattern sink.rolling-policy.file-size sink.rolling-policy.rollover-interval "
    "sink.rolling-policy.check-interval sink.partition-commit.trigger sink.partition-commit.delay "
    "sink.partition-commit.policy.kind sink.parallelism scan.parallelism sink.buffer-flush.max-rows "
    "sink.buffer-flush.interval sink.max-retries scan.fetch-size scan.auto-commit number-of-rows rows-per-second "
    "topic topics topic-pattern fields fields-prefix fields-include scan.startup.mode scan.startup.specific-offsets "
    "scan.startup.timestamp-millis scan.bounded.mode scan.bounded.specific-offsets scan.bounded.timestamp-millis "
    "scan.topic-partition-discovery.interval scan.watermark.idle-timeout scan.watermark.emit.strategy "
    "scan.watermark.alignment.group scan.watermark.alignment.max-drift source.idle-timeout sink.partitioner "
    "sink.semantic sink.delivery-guarantee sink.transactional-id-prefix csv.field-delimiter "
    "csv.disable-quote-character csv.quote-character csv.allow-comments csv.ignore-parse-errors "
    "csv.array-element-delimiter csv.escape-character csv.null-literal json.fail-on-missing-field "
    "json.ignore-parse-errors json.timestamp-format.standard json.map-null-key.mode json.map-null-key.literal "
    "json.encode.decimal-as-plain-number json.encode.ignore-null-fields raw.charset raw.endianness avro.codec "
    "avro.timestamp_mapping.legacy debezium-json.schema-include debezium-json.ignore-parse-errors "
    "debezium-json.timestamp-format.standard avro-confluent.url avro-confluent.schema-registry.url "
    "avro-confluent.subject avro-confluent.schema-registry.subject lookup.cache lookup.cache.max-rows "
    "lookup.cache.ttl lookup.async lookup.max-retries lookup.partial-cache.max-rows "
    "lookup.partial-cache.expire-after-write lookup.partial-cache.expire-after-access "
    "lookup.partial-cache.cache-missing-key changelog.mode "
)
"""Options of tables and catalogs that hold no secret; `key.` and `value.` may be before them."""

_SETTINGS = (
    *("execution.", "table.", "sql-client.", "state.", "restart-strategy", "parallelism.", "pipeline.name"),
    *("pipeline.max-parallelism", "pipeline.auto-watermark-interval", "pipeline.object-reuse"),
    *("pipeline.operator-chaining", "high-availability.type", "jobmanager.memory.", "taskmanager.memory."),
    "taskmanager.numberoftaskslots",
)
"""Beginnings of the names of settings that hold no secret."""

_JDBC = re.compile(r"jdbc:(?:\w+:){1,2}//[\w.,:\[\]-]+(?:/[\w.$-]*)?", re.ASCII)
_PAIR = re.compile(r"('([^'\n]{1,200})'\s{0,20}=\s{0,20}')((?:[^']|'')*)")


def is_harmless(option: str, value: str) -> bool:
    """True if the value of an option of a table or catalog is known to be no secret."""
    name = option.lower()
    for prefix in ("key.", "value."):
        name = name.removeprefix(prefix)
    of_client = name.startswith(PROPERTIES) and is_of_kafka(name.removeprefix(PROPERTIES))
    known = of_client or name in _OPTIONS.split()
    return not value or (known and is_plain(value))


def is_harmless_setting(key: str, value: str) -> bool:
    """True if the value of a setting of SET is known to be no secret."""
    return key.lower().startswith(_SETTINGS) and not is_secret(key) and is_plain(value)


def is_plain(value: str) -> bool:
    """True if nothing in a value looks like a secret: a login, a parameter of an address, `password=...`."""
    if value.lower().startswith("jdbc:"):
        return _JDBC.fullmatch(value) is not None
    scheme, colon, rest = value.partition("://")
    if colon:
        authority, slash, path = rest.partition("/")
        container, at, host = authority.partition("@")
        if at and scheme.lower() in CONTAINERS and ":" not in container:
            value = f"{scheme}://{host}{slash}{path}"
        if any(sign in value for sign in "@?#;"):
            return False
    login, at, _ = value.partition("@")
    return redacted(value) == value and not (at and ":" in login)


def without_login(url: str) -> str:
    """An address without a user and a password before its host, if it has any."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl() if "@" in parts.netloc else url


def without_pairs(text: str) -> str:
    """A comment without the values of the options in it, such as `'password' = '...'`, but for harmless ones."""

    def shown(pair: re.Match[str]) -> str:
        key, value = pair[2], pair[3].replace("''", "'")
        return pair[0] if is_harmless(key, value) or is_harmless_setting(key, value) else f"{pair[1]}{HIDDEN}"

    return _PAIR.sub(shown, text)


class Variables:
    """Variables of the environment, one for each secret: equal values of an option share one."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}

    def of_option(self, table: str, option: str, value: str) -> Variable:
        """The variable of an option of a table, such as `KAFKA_SASL_JAAS_CONFIG` or `TABLE_CLICKS_PATH`."""
        if not option.startswith(PROPERTIES):
            return self._variable(option, value, f"TABLE_{table}_{option}")
        of_client = f"KAFKA_{option.removeprefix(PROPERTIES)}"
        return self._variable(option, value, of_client, f"TABLE_{table}_{of_client}")

    def of_setting(self, key: str, value: str) -> Variable:
        """The variable of a setting, such as `SETTING_PIPELINE_NAME`."""
        return self._variable(key, value, f"SETTING_{key}")

    def _variable(self, option: str, value: str, *names: str) -> Variable:
        if (option, value) not in self._names:
            clean = ["".join(c if c.isascii() and c.isalnum() else "_" for c in name.upper()) for name in names]
            candidates = chain(clean, (f"{clean[-1]}_{number}" for number in count(2)))
            self._names[option, value] = next(name for name in candidates if name not in self._names.values())
        return Variable(self._names[option, value], option)
