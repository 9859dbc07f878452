"""Importing the translator costs milliseconds: sqlglot is loaded when a statement needs it."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from dbt.adapters.sparkstream.sql import translate
from dbt.adapters.sparkstream.sql.passes.windows.queries import _Macros

HEAVY = ("sqlglot", "dbt.adapters.sparkstream.sql.statement", "dbt.adapters.sparkstream.sql.passes")


def loaded(code: str) -> set[str]:
    """Which of the heavy modules a new Python has after running some code."""
    program = f"import sys\n{code}\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "from dbt.adapters.sparkstream.sql import TranslationError, explain, translate",
        "from dbt.adapters.sparkstream.sql import translate; translate('select 1 from t')",
        "from dbt.adapters.sparkstream.sql import explain; explain('select 1 from t')",
        "import dbt.adapters.sparkstream.impl",
    ],
)
def test_nothing_heavy_without_a_window(code: str) -> None:
    assert loaded(code) == set()


def test_a_window_loads_the_parser() -> None:
    window = "select * from tumble(t, ts, '1 hour')"
    assert loaded(f"from dbt.adapters.sparkstream.sql import translate; translate({window!r})") == set(HEAVY)


def test_first_windows_of_several_threads() -> None:
    """dbt compiles models in threads: all of them want the windows' queries, which are read with the first window."""
    kinds = [
        "tumble(t, ts, '1 hour')",
        "hop(t, ts, '1 hour', '2 hours')",
        "cumulate(t, ts, '1 hour', '2 hours')",
        "session(t, ts, '1 hour')",
        "session(t, ts, '1 hour', max_duration => '4 hours')",
    ]
    statements = [f"SELECT * FROM {kind}" for kind in kinds]
    expected = [translate(statement) for statement in statements]
    for _ in range(20):
        _Macros.loaded.cache_clear()
        with ThreadPoolExecutor(len(statements)) as threads:
            assert list(threads.map(translate, statements)) == expected
