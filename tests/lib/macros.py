"""The project's macros without dbt: a Jinja that has what they ask for, and no more.

`Macros().call("tumble", "bid", "bidtime", "10 minutes")` is what the macro gives in a model.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any, NoReturn

import jinja2

from dbt.adapters.sparkstream.sql.core.literals import named

FOLDER = Path(__file__).parents[2] / "macros"
_FILES = (
    "spark/configs.sql",  # what others call without dispatch
    *("private/*.sql", "windows/*.sql", "aggregates/*.sql", "tests/*.sql", "streaming/stream.sql", "requests/*.sql"),
    *("incremental/read.sql", "incremental/in_batch.sql", "incremental/logged.sql", "incremental/merge.sql"),
    *("spark/persist_constraints.sql", "spark/clauses.sql", "spark/snapshot_columns.sql", "spark/catalogs.sql"),
)


class CompilerError(Exception):
    """What `exceptions.raise_compiler_error` says."""


class _Return(Exception):
    """Carries what a macro returns, as dbt's own `return` does."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Macros:
    """The window macros, and what they stand on.

    Args:
        adapter: `sparkstream`, whose macros leave windows to the translator; or another name for the package alone.
        names: further names that dbt gives to macros, such as `model`, or other values for those below.
    """

    def __init__(self, adapter: str = "sparkstream", **names: Any) -> None:
        self._adapter = adapter
        self._environment = _environment()
        self._environment.globals.update(
            adapter=SimpleNamespace(
                dispatch=self._dispatch,
                type=lambda: adapter,
                named=named,
                get_columns_in_relation=lambda relation: [SimpleNamespace(name="ID")],
            ),
            exceptions=SimpleNamespace(raise_compiler_error=_fail, warn=lambda message: ""),
            execute=True,
            config=SimpleNamespace(get=lambda name, default=None: default),
            ref=lambda name: name,
            **{"return": _give},
        )
        self._environment.globals.update(names)
        for pattern in _FILES:
            for file in sorted(FOLDER.glob(pattern)):
                self._load(file)

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """What a macro gives, by its public or its private name.

        Raises:
            CompilerError: what the macro says is wrong.
        """
        return self._environment.globals[name](*args, **kwargs)  # type: ignore[operator]

    def render(self, text: str, **more: Any) -> str:
        """A model's text, with its macros called.

        Args:
            more: further names that the text may use.
        """
        return self._environment.from_string(text).render(**more)

    def _load(self, file: Path) -> None:
        environment = self._environment
        module = jinja2.Template.from_code(environment, _compiled(file), environment.make_globals(None)).module
        for name, macro in vars(module).items():
            if isinstance(macro, jinja2.runtime.Macro):
                self._environment.globals[name] = _returning(macro)

    def _dispatch(self, name: str, package: str) -> Callable[..., Any]:
        known = self._environment.globals
        found: Any = known.get(f"{self._adapter}__{name}") or known[f"default__{name}"]
        return found


def _environment() -> jinja2.Environment:
    return jinja2.Environment(extensions=["jinja2.ext.do"], undefined=jinja2.StrictUndefined)


@lru_cache
def _compiled(file: Path) -> CodeType:
    """A file's macros, compiled once for all `Macros`: compiling takes far longer than all else here."""
    text = file.read_text(encoding="utf-8")
    for tag, as_dbt_has_it in [("{% test ", "{% macro test_"), ("{% endtest %}", "{% endmacro %}")]:
        text = text.replace(tag, as_dbt_has_it)
    return _environment().compile(text)


def _returning(macro: jinja2.runtime.Macro) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return macro(*args, **kwargs)
        except _Return as given:
            return given.value

    return call


def _give(value: Any = None) -> NoReturn:
    raise _Return(value)


def _fail(message: str) -> NoReturn:
    raise CompilerError(message)


@lru_cache
def macros(adapter: str = "sparkstream", *, streams: bool = False) -> Macros:
    """The macros of an adapter, loaded once.

    Args:
        streams: True if they are called in a streaming model.
    """
    if not streams:
        return Macros(adapter)
    config = {"materialized": "streaming_incremental"}
    return Macros(adapter, model=SimpleNamespace(resource_type="model"), config=config)
