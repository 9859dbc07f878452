"""The configs of models that only this adapter knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt.adapters.sparkstream.streaming.settings import OURS


def with_those_of_meta(config: Mapping[str, Any]) -> dict[str, Any]:
    """A config with this adapter's configs in its `meta` added: dbt 2 takes unknown configs only in `meta`.

    They have their own names there, as dbt-autofix moves them.
    """
    meta = config.get("meta")
    found = {name: meta[name] for name in meta if name in OURS} if isinstance(meta, Mapping) else {}
    return {**found, **config}
