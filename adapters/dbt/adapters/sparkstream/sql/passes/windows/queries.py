"""The macros that write the windows' queries: `macros/private/window_queries.sql` and others, rendered without dbt.

The package needs these queries in Jinja, as its macros run on adapters that have none of this code. So Jinja is their
one text, and the translator renders it. Jinja and the macros are loaded when the first window is written.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from dbt.adapters.sparkstream.sql.core.interval import Interval

_DBT = Path(__file__).parents[5]
_FOLDERS = (_DBT / "include/sparkstream/macros", _DBT.parents[1] / "macros")
"""Folders of the macros in an installed wheel, and in a checkout."""
_FILES = ("private/window_queries.sql", "private/hop_cumulate_session.sql", "private/ruled_session.sql")


def render(name: str, *args: Any, **kwargs: Any) -> str:
    """SQL that a private macro writes.

    Args:
        name: its name without `default__sparkstream_`, such as `hop_query`.
        args: SQL texts, lengths in microseconds and flags.
    """
    return str(_Macros.loaded().dispatch(f"sparkstream_{name}")(*args, **kwargs))


class _Macros:
    """The macros of the files, which call each other by `adapter.dispatch`.

    A file is read when a macro is called that isn't in the files before it.
    """

    def __init__(self) -> None:
        import jinja2  # a statement without windows doesn't need it

        self._environment = jinja2.Environment(extensions=["jinja2.ext.do"], undefined=jinja2.StrictUndefined)  # noqa: S701 - makes SQL, not HTML
        self._environment.globals["adapter"] = self
        self._folder = next(folder for folder in _FOLDERS if folder.is_dir())
        self._unread = list(_FILES)
        self._reading = Lock()  # dbt compiles models in several threads
        self._found: dict[str, Any] = {"default__sparkstream_written": _written}

    @staticmethod
    @lru_cache
    def loaded() -> _Macros:
        return _Macros()

    def dispatch(self, name: str, package: str = "sparkstream") -> Any:
        """Macro of a name, as dbt's `adapter.dispatch` gives it."""
        macro = f"default__{name}"
        with self._reading:
            while macro not in self._found and self._unread:
                text = (self._folder / self._unread.pop(0)).read_text(encoding="utf-8")
                self._found |= vars(self._environment.from_string(text).module)
        return self._found[macro]


def _written(micros: int, literal: bool = False) -> str:
    """Length of time as the macro `sparkstream_written` writes it; a test compares the two."""
    return Interval(micros).sql() if literal else Interval(micros).words()
