"""JSON schemas for editors: of profiles, of models' YAML files, and of `dbt_project.yml`.

The names of keys, and the words that are allowed as values, come from the adapter's own checks.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from dbt.adapters.sparkstream.compiling.packaged import documented
from dbt.adapters.sparkstream.credentials import Method, SparkStreamCredentials
from dbt.adapters.sparkstream.streaming import MATERIALIZATION, settings
from dbt.adapters.sparkstream.streaming.settings import Kind, Setting
from dbt.adapters.sparkstream.streaming.sinks import topic
from dbt.adapters.sparkstream.streaming.sources import reader
from dbt.adapters.sparkstream.streaming.sources.avro import FORMATS
from dbt.adapters.sparkstream.streaming.sources.kafka import KAFKA
from dbt.adapters.sparkstream.streaming.sources.python import DATA_SOURCE

Schema = dict[str, Any]

_DRAFT = "http://json-schema.org/draft-07/schema#"
_DURATION = {"type": "string", "examples": ["10 minutes"]}
_FLAG = {"anyOf": [{"type": "boolean"}, {"type": "string", "pattern": r"\{\{"}]}
_OPTIONS = {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "null"]}}
_TEMPLATE = {"type": "string", "pattern": r"\{\{"}
"""Schema of a value that Jinja computes."""


def schemas() -> dict[str, Schema]:
    """The schemas by the names of their files, without `.json`."""
    return {"properties": _properties(), "project": _project(), "profiles": _profiles()}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


def _file(title: str, schema: Schema) -> Schema:
    return {"$schema": _DRAFT, "title": f"dbt-sparkstream: {title}", **schema}


def _closed(properties: Mapping[str, Any], required: Iterable[str] = ()) -> Schema:
    schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


def _one_of(words: Iterable[str]) -> Schema:
    return {"anyOf": [{"enum": list(words)}, _TEMPLATE]}


def _described(schema: Mapping[str, Any], text: str) -> Schema:
    return {**schema, "description": text}


def _names() -> Schema:
    return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


def _sink() -> Schema:
    keys: dict[str, Any] = {
        "format": {"const": KAFKA},
        "topic": {"type": "string"},
        "key": _names(),
        "value_format": _one_of(FORMATS),
        "value_options": _OPTIONS,
        "schema": {"description": "of Avro: a schema, its file, or its version in the registry"},
        "schema_registry": {"type": ["object", "string"]},
        "options": _OPTIONS,
    }
    return _closed({key: keys[key] for key in topic.KEYS}, ("format", "topic", "options"))


def _stream() -> Schema:
    """Schema of `meta: stream:` of a source."""
    keys: dict[str, Any] = {
        "format": {"type": "string", "examples": [KAFKA, "json", "csv", "parquet", "text"]},
        DATA_SOURCE: {"type": "string", "pattern": r"^[\w.]+:\w+$", "examples": ["my_module:MySource"]},
        "path": {"type": "string"},
        "archived": _described({"type": "boolean"}, "files go from the folder once they were read"),
        "schema": {"description": "names and types, or for Avro a schema or its file"},
        "options": _OPTIONS,
        "value_format": _one_of(FORMATS),
        "value_options": _OPTIONS,
        "schema_registry": {"type": ["object", "string"]},
        "select": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    }
    one = [{"required": ["format"]}, {"required": [DATA_SOURCE]}]
    return {**_closed({key: keys[key] for key in reader.KEYS}), "oneOf": one}


def _of_models() -> dict[str, Schema]:
    """Schemas of this adapter's own configs of models, by name."""
    ours = sorted((setting for setting in settings.SETTINGS if setting.is_ours), key=lambda setting: setting.name)
    return {setting.name: _described(_value(setting), setting.about) for setting in ours}


def _value(setting: Setting) -> Schema:
    """Schema of a config's value; a number or a word may come from Jinja."""
    trigger = _closed({settings.PROCESSING_TIME: _DURATION}, (settings.PROCESSING_TIME,))
    special: dict[str, Schema] = {
        "max_future": {"anyOf": [_DURATION, {"enum": [settings.OFF, False]}]},
        "trigger": {"anyOf": [{"const": settings.AVAILABLE_NOW}, trigger, _TEMPLATE]},
        "sink": _sink(),
        "window_columns": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
    }
    kinds: dict[Kind, Schema] = {
        Kind.LENGTH: _DURATION,
        Kind.WORD: _one_of(setting.words),
        Kind.TEXT: {"type": "string"},
        Kind.COUNT: {"anyOf": [{"type": "integer", "minimum": 1}, _TEMPLATE]},
        Kind.FLAG: _FLAG,
        Kind.NAMES: _names(),
        Kind.MAPPING: {"type": "object"},
    }
    return special.get(setting.name) or kinds[setting.kind]


def _of_dbt() -> dict[str, Schema]:
    """Schemas of dbt's and dbt-spark's configs of a model, by name: each takes any value."""
    from dbt.adapters.spark.impl import SparkConfig
    from dbt.artifacts.resources.v1.model import ModelConfig

    fields = (*dataclasses.fields(ModelConfig), *dataclasses.fields(SparkConfig))
    names = {field.name for field in fields if not field.name.startswith("_")}
    more = (
        "pre-hook",
        "post-hook",
        "predicates",
        "incremental_predicates",
        "partitions",
        "sql_header",
        "submission_method",
    )
    return {name: {} for name in sorted((*names, *more))}


def _without(names: Iterable[str]) -> Schema:
    return {"properties": dict.fromkeys(sorted(names), False)}


def _config_of_a_model() -> Schema:
    streams = {"materialized": {"const": MATERIALIZATION}}
    return {
        **_closed({**_of_dbt(), **_of_models(), "meta": _object(**_of_models())}),
        "if": {"properties": streams, "required": ["materialized"]},
        "then": _without(settings.MEANINGLESS),
    }


def _properties() -> Schema:
    """Schema of the YAML files of models and sources."""
    meta = _object(stream=_ref("stream"))
    of_source = {"meta": meta, "config": _object(meta=meta)}
    tested = {"data_tests": _ref("tests"), "tests": _ref("tests")}
    table = _object(**of_source, **tested, columns=_ref("columns"))
    model = _object(config=_ref("config"), columns=_ref("columns"), **tested)
    source = _object(**of_source, tables={"type": "array", "items": table})
    listed = _object(
        models={"type": ["array", "null"], "items": model},
        sources={"type": ["array", "null"], "items": source},
    )
    definitions = {
        "config": _config_of_a_model(),
        "stream": _stream(),
        "tests": {"type": "array", "items": {"anyOf": [{"type": "string"}, _tests()]}},
        "columns": {"type": "array", "items": _object(**tested)},
    }
    return _file("models, sources and tests", {**listed, "definitions": definitions})


def _tests() -> Schema:
    """Schema of a test with arguments; a test of another package may have any arguments."""
    ours: dict[str, Any] = {}
    for name, arguments in _generic_tests().items():
        given: Schema = {argument: {} for argument in arguments}
        # dbt has had arguments beside the test's configs, and has them below `arguments` now.
        configs = ("arguments", "config", "name", "description", "where", "severity", "limit", "tags", "meta", "alias")
        beside: Schema = {key: {} for key in (*configs, "store_failures", "error_if", "warn_if", "enabled")}
        ours[name] = ours[f"sparkstream.{name}"] = _closed({**beside, **given, "arguments": _closed(given)})
    return _object(**ours)


def _generic_tests() -> dict[str, tuple[str, ...]]:
    """The package's generic tests and their arguments, as their YAML has them."""
    found: dict[str, tuple[str, ...]] = {}
    for path in documented():
        for macro in yaml.safe_load(path.read_text(encoding="utf-8"))["macros"]:
            if macro["name"].startswith("test_"):
                names = tuple(a["name"] for a in macro.get("arguments", ()) if a["name"] != "model")
                found[macro["name"].removeprefix("test_")] = names
    return found


def _project() -> Schema:
    """Schema of `dbt_project.yml`: configs of folders of models, with a plus sign or without one."""
    configs = _of_models()
    marked = {f"+{name}": schema for name, schema in configs.items()}
    folder = {
        "type": ["object", "null"],
        "properties": marked,
        # What has no plus sign may be a folder of this name.
        "patternProperties": {r"^[^+]": {"anyOf": [_ref("folder"), {"not": {"type": "object"}}]}},
    }
    known = [*_of_dbt(), *configs]
    folder["propertyNames"] = {"anyOf": [{"pattern": r"^[^+]"}, {"enum": [f"+{name}" for name in sorted(known)]}]}
    return _file("dbt_project.yml", {**_object(models=_ref("folder")), "definitions": {"folder": folder}})


def _profiles() -> Schema:
    keys: dict[str, Schema] = {}
    for name, schema in SparkStreamCredentials.json_schema()["properties"].items():
        simple = {key: value for key, value in schema.items() if key != "default"}
        keys[name] = {"anyOf": [simple, _TEMPLATE]}
    keys["method"] = _one_of(method.value for method in Method)
    keys["server_side_parameters"] = _OPTIONS
    keys["type"] = {"const": "sparkstream"}
    # dbt's own, and other names that dbt-spark takes for its keys.
    keys["threads"] = {"anyOf": [{"type": "integer", "minimum": 1}, _TEMPLATE]}
    keys |= {alias: keys[name] for alias, name in SparkStreamCredentials._ALIASES.items() if name in keys}
    ours = _closed(keys, ("type", "method", "schema"))
    target = {
        "type": "object",
        "if": {"properties": {"type": {"const": "sparkstream"}}, "required": ["type"]},
        "then": ours,
    }
    profile = _object(target={"type": "string"}, outputs={"type": "object", "additionalProperties": target})
    return _file("profiles.yml", {**_object(config={"type": "object"}), "additionalProperties": profile})
