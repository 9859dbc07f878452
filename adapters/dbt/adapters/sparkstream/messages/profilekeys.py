"""Checks of a profile's keys and values: dbt ignores unknown keys, and refuses values without naming their key."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.dataclass_schema import ValidationError

from dbt.adapters.sparkstream.sql.core.errors import did_you_mean

logger = AdapterLogger("SparkStream")

_OF_DBT = frozenset({"type", "threads"})
_NEAR = 0.8
"""Least similarity, from 0 to 1, at which an unknown key counts as a known key misspelt."""


def check(profile: Mapping[str, Any], known: Collection[str]) -> None:
    """Warns of keys that nothing reads.

    Args:
        profile: the keys of a target and their values.
        known: the keys that the adapter reads.

    Raises:
        ValidationError: a key is a known one, misspelt.
    """
    for key in profile:
        if key in known or key in _OF_DBT:
            continue
        hint = did_you_mean(str(key).lower().replace("-", "_"), sorted({*known, *_OF_DBT}), cutoff=_NEAR)
        if hint:
            raise ValidationError(f"there is no key {key!r}\n  {hint}")
        logger.warning(f"nothing reads the key {key!r} of the profile; it has {', '.join(sorted(known))}")


def message(error: ValidationError, methods: Iterable[str]) -> str:
    """Message about a value of a profile, with its key; dbt's own message has the value alone.

    Args:
        error: JSON schema's error.
        methods: the values of `method`.
    """
    if not error.path:
        return str(error.message)
    key, value = ".".join(map(str, error.path)), error.instance
    kinds = error.validator_value
    if key == "method":
        hint = did_you_mean(str(value).lower(), methods, f"write one of {', '.join(methods)}")
    elif error.validator == "type":
        hint = f"write a value of type {kinds if isinstance(kinds, str) else ' or '.join(kinds)}"
    elif error.validator == "anyOf":
        types = [str(one["type"]) for one in kinds if one.get("type") not in (None, "null")]
        hint = f"write a value of type {' or '.join(types)}"
    else:
        hint = str(error.message)
    return f"{key} can't be {value!r}\n  {hint}"
