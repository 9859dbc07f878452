"""The SQL of nodes and the statements that are sent, kept for the places of errors."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbt.adapters.sparkstream.compiling import renderings
from dbt.adapters.sparkstream.messages.faults import Fault
from dbt.adapters.sparkstream.messages.places import Place, Text, found, located
from dbt.adapters.sparkstream.messages.sparkerror import SparkError
from dbt.adapters.sparkstream.sql.core.traced import Traced

_KEPT = 16
"""Most texts that are kept of a node: a microbatch model has one for each batch."""


class _Thread(threading.local):
    translations: list[tuple[str, Traced]] | None = None
    rendered: Traced | None = None
    sent: tuple[str, Traced] | None = None


class Texts:
    """The SQL of nodes, from their templates to Spark, and each thread's last statement."""

    def __init__(self) -> None:
        renderings.install()
        self._thread = _Thread()
        self._of: defaultdict[str, deque[Text]] = defaultdict(lambda: deque(maxlen=_KEPT))

    @contextmanager
    def compiling(self) -> Iterator[list[list[renderings.Piece]]]:
        """Records how a node's template is rendered and translated, in this thread; the pieces for `is_rendered`."""
        thread = self._thread
        outer = thread.translations, thread.rendered
        thread.translations, thread.rendered = [], None
        try:
            with renderings.recording() as notes:
                yield notes
        finally:
            thread.translations, thread.rendered = outer

    def note(self, sql: str, translated: Traced | None) -> str:
        """Records a translation; returns its text."""
        found = Traced.same(sql) if translated is None else translated
        if self._thread.translations is not None:
            self._thread.translations.append((sql, found))
        return found.text

    def is_rendered(self, node: Any, notes: list[list[renderings.Piece]]) -> None:
        """Records the output of a node's template, once Jinja has rendered it from pieces."""
        self._thread.rendered = renderings.traced(node.raw_code, node.compiled_code, notes)

    def is_compiled(self, node: Any, subject: Any) -> None:
        """Keeps a node's SQL, once it is translated; the subject is the node in whose file the SQL is."""
        rendered, recorded = self._thread.rendered, self._thread.translations or []
        assert rendered is not None
        sql = node.compiled_code
        found = [traced for given, traced in recorded if given == rendered.text and traced.text == sql]
        whole = Traced(sql, ((0, (0, len(rendered.text)), False),))
        blocks = tuple((given, traced) for given, traced in recorded if given != rendered.text and traced.text != given)
        translated = found[-1] if found else Traced.same(sql) if sql == rendered.text else whole
        self._of[node.unique_id].append(Text(subject, rendered, translated, blocks))

    def rendered(self, sql: str) -> Traced | None:
        """Rendered SQL of this thread's node, with each piece's place in the template; None for other SQL."""
        rendered = self._thread.rendered
        return rendered if rendered is not None and rendered.text == sql else None

    def sending(self, statement: str, translated: Traced | None, bound: bool) -> str:
        """Records the statement that is sent in this thread; returns the text to send.

        Args:
            bound: True if the driver inserts values, which moves the text after them.
        """
        sent = Traced.same(statement) if translated is None else translated
        self._thread.sent = None if bound else (statement, sent)
        return sent.text

    @contextmanager
    def placing(self, node: Any | None, header: str, root: Path) -> Iterator[None]:
        """Adds the place in the user's file to Spark's error about this thread's statement.

        Args:
            node: the node that dbt works on.
            header: the comment that dbt puts before the statement.
            root: the folder of the dbt project.
        """
        try:
            yield
        except SparkError as error:
            if self._thread.sent is not None and not error.is_placed:
                statement, sent = self._thread.sent
                texts = list(self._texts(node))
                of_node = any(compiled in statement for _, compiled in texts)
                place: Place | None = None
                if error.fault.spot is not None:
                    place = located(error.fault.spot, statement, sent, texts, header, root)
                elif of_node:
                    place = found(error.fault, texts, root)
                error.show(place, of_node if place is None else place.in_node)
            raise

    def found(self, fault: Fault, node: Any | None, root: Path) -> Place | None:
        """Place in a node's SQL of an error in a text made from it; None for an unknown place."""
        return found(fault, self._texts(node), root)

    def _texts(self, node: Any | None) -> Iterator[tuple[Text, str]]:
        """The SQL of a node, and of the ephemeral models that it reads, each with the compiled code."""
        id_ = getattr(node, "unique_id", "")
        for text in self._of.get(id_, ()):
            yield text, text.translated.text
            compiled = getattr(node, "compiled_code", None)
            if compiled and compiled != text.translated.text:
                yield text, compiled
        for cte in getattr(node, "extra_ctes", None) or ():
            for text in self._of.get(cte.id, ()):
                yield text, text.translated.text
