"""Schema registry: the schemas of values, by the number that stands before each value.

It has the REST interface of Confluent's registry. Karapace, Apicurio (`/apis/ccompat/v7`) and Redpanda have it, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dbt.adapters.sparkstream.streaming.refusals import StreamingError

if TYPE_CHECKING:
    import requests

SECONDS = 30
"""Seconds for an answer."""

_ABSENT = 404
_REFUSED = (409, 422)
"""Status for an incompatible schema, and for a text that is no schema."""

_JSON = "application/vnd.schemaregistry.v1+json"


@dataclass(frozen=True)
class Registered:
    """A schema in the registry, and the number that stands before the values."""

    id: int
    schema: str


@dataclass(frozen=True)
class SchemaRegistry:
    """A schema registry, reached over HTTP. User and password come from `~/.netrc`, as `requests` reads it."""

    url: str

    def versions(self, subject: str) -> list[int]:
        """The versions that a subject has."""
        found = self._get(f"/subjects/{quote(subject, safe='')}/versions")
        if found is None:
            raise StreamingError(
                f"the schema registry {self.url} has no subject {subject}\n"
                "  a subject is the topic's name with -value behind it, unless the producer says otherwise\n"
                "  name it such as schema_registry: {url: ..., subject: ...}"
            )
        return [int(version) for version in found]

    def version(self, subject: str, version: int) -> Registered:
        """A version of a subject."""
        found = self._get(f"/subjects/{quote(subject, safe='')}/versions/{version}")
        if found is None:
            has = ", ".join(map(str, self.versions(subject)))
            raise StreamingError(
                f"the schema registry {self.url} has no version {version} of the subject {subject}\n  it has {has}"
            )
        return Registered(int(found["id"]), self._avro(found, f"version {version} of {subject}"))

    def register(self, subject: str, schema: str) -> int:
        """Gives a subject a version with a schema, unless it has one; returns the number of the schema."""
        status, found = self._ask(f"/subjects/{quote(subject, safe='')}/versions", {"schema": schema}, _REFUSED)
        if status in _REFUSED:
            raise StreamingError(
                f"the schema registry {self.url} doesn't take the schema of the model's rows as a version of "
                f"{subject}: {found}\n"
                "  what reads the topic could not read them: name another subject or another topic, or say in "
                "the registry which changes it takes"
            )
        return int(found["id"])

    def by_id(self, id_: int) -> str | None:
        """The schema with a number; None if the registry has none."""
        found = self._get(f"/schemas/ids/{id_}")
        return None if found is None else self._avro(found, f"schema {id_}")

    def _avro(self, found: Mapping[str, Any], name: str) -> str:
        if found.get("schemaType", "AVRO") != "AVRO":
            raise StreamingError(
                f"{name} in the schema registry {self.url} is {found['schemaType']}\n  value_format: avro reads Avro"
            )
        if found.get("references"):
            raise StreamingError(
                f"{name} in the schema registry {self.url} refers to other subjects, which isn't supported\n"
                "  register it with the types that it refers to within it"
            )
        return str(found["schema"])

    def _get(self, path: str) -> Any:
        """JSON of the registry's answer; None for its status 404."""
        status, found = self._ask(path, None, (_ABSENT,))
        return None if status == _ABSENT else found

    def _ask(self, path: str, body: Mapping[str, Any] | None, expected: Sequence[int]) -> tuple[int, Any]:
        """Status and JSON of the answer to a GET, or to a POST of a body; for an expected error, its message."""
        import requests

        method, url = "GET" if body is None else "POST", self.url.rstrip("/") + path
        try:
            kinds = {"Accept": _JSON, "Content-Type": _JSON}
            answer = requests.request(method, url, headers=kinds, json=body, timeout=SECONDS)
            if answer.status_code in expected:
                return answer.status_code, _message(answer)
            answer.raise_for_status()
            return answer.status_code, answer.json()
        except requests.RequestException as error:
            raise StreamingError(
                f"the schema registry {self.url} can't be asked: {error}\n"
                "  user and password stand in ~/.netrc: machine HOST login USER password PASSWORD"
            ) from error


def _message(answer: requests.Response) -> str:
    try:
        return str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        return answer.text.strip() or str(answer.status_code)
