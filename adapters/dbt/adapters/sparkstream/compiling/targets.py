"""`target.type` of templates, as the profile's `target_type` has it.

Packages ask `target.type == 'spark'`, and this adapter is one for Spark. dbt itself, its dispatch of macros and
`adapter.type()` keep the adapter's own name.
"""

from __future__ import annotations

from typing import Any

from dbt.adapters.sparkstream.compiling.wrapping import wrap


def install() -> None:
    """Wraps dbt-core's method, once, where there is a dbt-core."""
    wrap("dbt.config.profile", "Profile.to_target_dict", _typed)


def _typed(original: Any) -> Any:
    def to_target_dict(profile: Any) -> dict[str, Any]:
        target = original(profile)
        return {**target, "type": getattr(profile.credentials, "target_type", target["type"])}

    return to_target_dict
