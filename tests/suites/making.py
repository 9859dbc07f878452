"""Makes the classes of tests: each suite of dbt, adapted, for tables in a format."""

from __future__ import annotations

import pytest

from tests.suites.adapting import without
from tests.suites.discovery import suites
from tests.suites.formats import adaptation_of
from tests.suites.reasons import part_left_out, reason


def suite_classes(file_format: str) -> dict[str, type]:
    """The classes by name; those of suites that can't pass are skipped, with the reason."""
    classes = (_adapted(name, suite, file_format) for name, suite in suites().items())
    return {cls.__name__: cls for cls in classes}


def _adapted(name: str, suite: type, file_format: str) -> type:
    adaptation = adaptation_of(name, file_format)
    own = {"suite": name, **(adaptation(suite) if adaptation else {})}
    if part := part_left_out(name, file_format):
        own |= without(*part)(suite)
    cls = type("Test_" + name.replace(".", "_"), (suite,), own)
    why_not = reason(name, file_format)
    return pytest.mark.skip(reason=why_not)(cls) if why_not else cls
