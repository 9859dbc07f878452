"""Values in Avro: the schemas that they are written with, and SQL that reads them.

Spark makes NULLs of all fields of a value that it can't read, which is a value, too. So it is told that the value is
the only field of a record, whose bytes are the same, and that field is NULL where the value can't be read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dbt.adapters.sparkstream.sql.core.literals import string_literal, string_map
from dbt.adapters.sparkstream.streaming.refusals import UNKNOWN_SCHEMA, StreamingError
from dbt.adapters.sparkstream.streaming.sources.schema_registry import SchemaRegistry

AVRO = "avro"

FORMATS = ("json", "csv", AVRO)
"""Formats of values."""

SUFFIX = ".avsc"
"""Suffix of a file with a schema."""

_FIELD = "value"


def schema_of(given: Any, relation: str, root: Path, has_registry: bool) -> str | int:
    """Schema by the key `schema` (JSON, the path of a file, or a version): as JSON, or the number of its version."""
    example = f"write it such as schema: schemas/bid{SUFFIX}, or the JSON of the schema itself"
    if isinstance(given, int) and not isinstance(given, bool):
        if has_registry:
            return given
        raise StreamingError(f"{relation}: a version such as schema: {given} needs a schema_registry\n  {example}")
    if not isinstance(given, str) or not given.strip():
        registered = "; or schema: 1, a version in the registry" if has_registry else ""
        raise StreamingError(f"{relation}: value_format: avro needs the schema of the value\n  {example}{registered}")
    text = given
    if given.strip().endswith(SUFFIX):
        try:
            text = (root / given.strip()).read_text(encoding="utf-8")
        except OSError as error:
            raise StreamingError(
                f"{relation}: the schema {given} can't be read: {error.strerror}\n"
                "  its path begins in the folder of dbt_project.yml"
            ) from error
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise StreamingError(f"{relation}: the schema is no JSON: {error}\n  {example}") from error
    if not isinstance(schema, dict) or schema.get("type") != "record" or fields_of(schema) is None:
        raise StreamingError(
            f'{relation}: the schema is no record of Avro, whose fields would be columns\n  write it such as {{"type": '
            '"record", "name": "bid", "fields": [{"name": "id", "type": "long"}]}'
        )
    return json.dumps(schema)


def fields_of(record: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The fields of a record's schema, each with `name` and `type`; None if a field lacks one, or there is no list."""
    fields = record.get("fields")
    if not isinstance(fields, list):
        return None
    whole = all(isinstance(one, dict) and isinstance(one.get("name"), str) and "type" in one for one in fields)
    return fields if whole else None


def registry_of(given: Any, relation: str, topics: str) -> dict[str, Any]:
    """Registry by the key `schema_registry`: its `url`, and the `subjects` whose schemas values are written with.

    Args:
        given: a URL, or a mapping with `url` and `subject`.
        topics: the topics that the source subscribes to, with commas between them; empty if they aren't known.
    """
    example = "write it such as schema_registry: 'http://HOST:8081'"
    said = dict(given) if isinstance(given, Mapping) else {"url": given}
    if strange := next((name for name in said if name not in ("url", "subject")), None):
        raise StreamingError(f"{relation}: schema_registry has no {strange!r}\n  it has url and subject")
    parts = urlsplit(said["url"]) if isinstance(said.get("url"), str) else urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise StreamingError(f"{relation}: schema_registry isn't a URL\n  {example}")
    if parts.username or parts.password:
        raise StreamingError(
            f"{relation}: the URL of schema_registry has a user or a password, and dbt writes it into its manifest\n"
            f"  write them into ~/.netrc: machine {parts.hostname} login USER password PASSWORD"
        )
    subject = said.get("subject")
    if subject is not None and (not isinstance(subject, str) or not subject.strip()):
        raise StreamingError(f"{relation}: subject is the name of a subject of the registry, and not {subject!r}")
    subjects = [subject] if subject else [f"{topic.strip()}-value" for topic in topics.split(",") if topic.strip()]
    if not subjects:
        raise StreamingError(
            f"{relation}: which subject of the registry is it? Without subscribe the topics aren't known\n"
            "  write schema_registry: {url: ..., subject: ...}"
        )
    return {"url": said["url"], "subjects": subjects}


@dataclass
class Schemas:
    """The schemas of a source's values, in one run.

    Attributes:
        read_as: the schema whose fields are the columns, as JSON.
        registry: the registry, if there is one. Without it no number stands before the values, which are written with
            `read_as`.
        written: of a registry, number -> schema; None as a schema for a number that the registry hasn't.
    """

    read_as: str
    registry: SchemaRegistry | None = None
    written: dict[int, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, reader: Mapping[str, Any]) -> Schemas:
        """The schemas of a source, with all that its registry has, if there is one."""
        given, registry = reader["schema"], reader.get("schema_registry")
        if registry is None:
            return cls(given)
        found, subjects = SchemaRegistry(registry["url"]), registry["subjects"]
        known = {(subject, n): found.version(subject, n) for subject in subjects for n in found.versions(subject)}
        written: dict[int, str | None] = {one.id: one.schema for one in known.values()}
        if isinstance(given, int):
            own = known.get((subjects[0], given)) or found.version(subjects[0], given)
            given = own.schema
        return cls(given, found, written)

    def learn(self, id_: int) -> None:
        """Reads a schema from the registry that came after the registry was read first."""
        if self.registry is not None:
            self.written[id_] = self.registry.by_id(id_)

    def sql(self, value: str, options: Mapping[str, str], relation: str) -> str:
        """The record of a value as SQL, NULL where it can't be read.

        Values with the number of an unknown schema end the query (`UNKNOWN_SCHEMA`); the schema is read then.
        """
        if self.registry is None:
            return self._read(value, self.read_as, options)
        behind = f"substring({value}, 6)"
        known = "".join(
            f" WHEN substring({value}, 1, 5) = X'00{id_:08X}' THEN "
            + ("NULL" if schema is None else self._read(behind, schema, options))
            for id_, schema in sorted(self.written.items())
        )
        number = f"conv(hex(substring({value}, 2, 4)), 16, 10)"
        said = f"concat({string_literal(UNKNOWN_SCHEMA)}, ' ', {number}, {string_literal(f' <{relation}>')})"
        unknown = f"length({value}) >= 5 AND substring({value}, 1, 1) = X'00'"
        return f"CASE{known} WHEN {unknown} THEN raise_error({said}) END"

    def _read(self, value: str, written: str, options: Mapping[str, str]) -> str:
        given = {**options, "mode": "PERMISSIVE", "avroSchema": _only(self.read_as)}
        return f"from_avro({value}, {string_literal(_only(written))}, {string_map(given)}).{_FIELD}"


def _only(schema: str) -> str:
    """The schema of a record with one field, which has a schema. Its bytes are the bytes of the field."""
    fields = [{"name": _FIELD, "type": json.loads(schema)}]
    return json.dumps({"type": "record", "name": "sparkstream_value", "fields": fields})
