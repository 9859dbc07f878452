"""A schema registry in a thread: what is asked of Confluent's REST interface, with its answers and errors."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class FakeRegistry:
    """The registry.

    Attributes:
        url: where it is.
        subjects: subject -> the numbers of its schemas, the first version first.
        schemas: number -> what the registry has of it, such as `schema`.
        asked: the paths that were asked for.
    """

    url: str = ""
    subjects: dict[str, list[int]] = field(default_factory=dict)
    schemas: dict[int, dict[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    refuses: str | None = None
    """Why a schema that is registered isn't compatible with those before it; None to take every schema."""

    def register(self, subject: str, schema: dict[str, Any], id_: int, **facts: Any) -> int:
        """Adds a version to a subject, and gives the number of its schema."""
        self.schemas[id_] = {"schema": json.dumps(schema), **facts}
        self.subjects.setdefault(subject, []).append(id_)
        return id_

    def take(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Registers a schema, as a producer does."""
        _, subject, _ = path.strip("/").split("/")
        known = {number: json.loads(facts["schema"]) for number, facts in self.schemas.items()}
        schema = json.loads(body["schema"])
        number = next((number for number, other in known.items() if other == schema), None)
        if number is None or number not in self.subjects.get(subject, []):
            if self.refuses is not None:
                return 409, {"error_code": 409, "message": self.refuses}
            number = self.register(subject, schema, number or max([100, *known]) + 1)
        return 200, {"id": number}

    def answer(self, path: str) -> tuple[int, Any]:
        self.asked.append(path)
        match path.strip("/").split("/"):
            case ["schemas", "ids", number]:
                found = self.schemas.get(int(number))
                return (200, found) if found else (404, {"error_code": 40403, "message": "Schema not found"})
            case ["subjects", subject, *_] if subject not in self.subjects:
                return 404, {"error_code": 40401, "message": f"Subject '{subject}' not found."}
            case ["subjects", subject, "versions"]:
                return 200, list(range(1, len(self.subjects[subject]) + 1))
            case ["subjects", subject, "versions", version] if 0 < int(version) <= len(self.subjects[subject]):
                id_ = self.subjects[subject][int(version) - 1]
                return 200, {"subject": subject, "version": int(version), "id": id_, **self.schemas[id_]}
            case ["subjects", *_]:
                return 404, {"error_code": 40402, "message": "Version not found."}
        return 500, {"error_code": 50001, "message": "Error in the backend data store"}


@contextmanager
def registry() -> Iterator[FakeRegistry]:
    """A registry that answers on loopback."""
    fake = FakeRegistry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(*fake.answer(self.path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.reply(*fake.take(self.path, json.loads(body)))

        def reply(self, status: int, found: Any) -> None:
            body = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
