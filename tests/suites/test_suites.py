"""dbt-tests-adapter: each suite of dbt on each target."""

from __future__ import annotations

import pytest

from tests.suites.adaptations import ADAPTATIONS
from tests.suites.adapting import without
from tests.suites.discovery import suites
from tests.suites.reasons import PARTS, reason


def _adapted(name: str, suite: type) -> type:
    adaptation = ADAPTATIONS.get(name)
    own = {"suite": name, **(adaptation(suite) if adaptation else {})}
    if name in PARTS:
        own |= without(*PARTS[name])(suite)
    cls = type("Test_" + name.replace(".", "_"), (suite,), own)
    why_not = reason(name)
    return pytest.mark.skip(reason=why_not)(cls) if why_not else cls


for _name, _suite in suites().items():
    _class = _adapted(_name, _suite)
    globals()[_class.__name__] = _class
