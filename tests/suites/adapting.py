"""Functions that adapt a suite: each makes a class that overrides its attributes, as a subclass would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Adaptation = Callable[[type], dict[str, Any]]
"""A suite -> the attributes that its subclass here has of its own."""


def fixture(function: Any, name: str) -> Any:
    """A fixture of a class, made of a function of its own fixtures."""
    return pytest.fixture(scope="class", name=name)(function)


def replaced(name: str, function: Any) -> Adaptation:
    """Another fixture in the place of the suite's."""
    return lambda suite: {name: fixture(function, name)}


def added(name: str, files: dict[str, str]) -> Adaptation:
    """Files besides those that the suite's own fixture of this name gives."""

    def override(suite: type) -> dict[str, Any]:
        function = _function_of(getattr(suite, name))

        def given(self: Any) -> dict[str, str]:
            return {**function(self), **files}

        return {name: fixture(given, name)}

    return override


def edited(name: str, *changes: tuple[str, str]) -> Adaptation:
    """What the suite's own fixture of this name gives, files or settings, with other words in its texts."""

    def override(suite: type) -> dict[str, Any]:
        function = _function_of(getattr(suite, name))
        return {name: fixture(lambda self: _changed(function(self), changes), name)}

    return override


def _changed(value: Any, changes: tuple[tuple[str, str], ...]) -> Any:
    if isinstance(value, dict):
        return {key: _changed(item, changes) for key, item in value.items()}
    if isinstance(value, list):
        return [_changed(item, changes) for item in value]
    if isinstance(value, str):
        for old, new in changes:
            value = value.replace(old, new)
    return value


def both(*adaptations: Adaptation) -> Adaptation:
    """Several adaptations of one suite."""
    return lambda suite: {name: value for adaptation in adaptations for name, value in adaptation(suite).items()}


def _function_of(fixture_definition: Any) -> Any:
    return getattr(fixture_definition, "__wrapped__", None) or fixture_definition._get_wrapped_function()


def given(**values: Any) -> Adaptation:
    """Fixtures that are constants."""

    def override(suite: type) -> dict[str, Any]:
        return {name: fixture(lambda self, value=value: value, name) for name, value in values.items()}

    return override


def without(test: str, reason: str) -> Adaptation:
    """A suite but for one of its tests."""

    @pytest.mark.skip(reason=reason)
    def left_out(self: Any) -> None: ...

    return lambda suite: {test: left_out}


def instead(test: str, function: Any) -> Adaptation:
    """Another test, or another method that the tests call, in the place of the suite's."""
    return lambda suite: {test: function}
