"""`target.type` of templates, as the profile's `target_type` has it.

Packages ask `target.type == 'spark'`, and this adapter is one for Spark. dbt itself, its dispatch of macros and
`adapter.type()` keep the adapter's own name. dbt has no hook for this, so a method of dbt-core is wrapped.
"""

from __future__ import annotations

import functools
from typing import Any


def install() -> None:
    """Wraps dbt-core's method, once, where there is a dbt-core."""
    try:
        from dbt.config.profile import Profile
    except ImportError:
        return
    original = Profile.to_target_dict
    if hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def to_target_dict(self: Any) -> dict[str, Any]:
        target = original(self)
        return {**target, "type": getattr(self.credentials, "target_type", target["type"])}

    Profile.to_target_dict = to_target_dict  # type: ignore[method-assign]
