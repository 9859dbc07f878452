"""Streams that models read, recorded while dbt renders them: `stream()` puts a name into the SQL."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import replace

from dbt.adapters.sparkstream.streaming.sources.source import StreamSource


class Registry:
    """Names for the streams of each model."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._streams: dict[str, dict[str, StreamSource]] = {}

    def add(self, model: str, source: StreamSource) -> str:
        """Records a stream of a model, and gives the name that its SQL has for it.

        Args:
            model: the model's unique id.
            source: the stream; its `view` is where the name begins, and is numbered if another stream has it.
        """
        with self._lock:
            streams = self._streams.setdefault(model, {})
            base = re.sub(r"\W", "_", source.view)
            name, number = base, 1
            while name in streams and streams[name] != replace(source, view=name):
                number += 1
                name = f"{base}_{number}"
            streams[name] = replace(source, view=name)
            return name

    def of(self, model: str) -> Mapping[str, StreamSource]:
        """The streams of a model, by name."""
        with self._lock:
            return dict(self._streams.get(model, {}))
