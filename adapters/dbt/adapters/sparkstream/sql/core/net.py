"""What the public functions of the translator stand in: nothing that nobody foresaw leaves them as it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlglot.errors import SqlglotError

from dbt.adapters.sparkstream.sql.core.errors import (
    ArgumentError,
    Finding,
    RequestError,
    TranslationError,
    TranslatorFault,
)

_PYTHON = ("builtins", "decimal", "re", "_decimal")
_PACKAGE = "dbt.adapters.sparkstream.sql"


@contextmanager
def net(sql: str) -> Iterator[None]:
    """Makes a TranslationError of whatever a block raises because of the text that it translates.

    What others raise passes: dbt, for one, in a macro that a batch asks.

    Args:
        sql: the text.

    Raises:
        TranslationError: the block raised one, or went too deep.
        TranslatorFault: the block raised what nobody foresaw, which is the cause.
    """
    try:
        yield
    except (Finding, RequestError, ArgumentError):
        raise
    except RecursionError as error:
        raise TranslationError(
            "this statement is nested too deeply to be translated",
            hint="take its innermost part into a CTE of its own, or into a model",
            source_line=_first_line(sql),
        ) from error
    except Exception as error:
        if not _is_ours(error):
            raise
        raise TranslatorFault(
            f"the translator fails on this statement, which is a fault of its own: {type(error).__name__}: {error}",
            hint="please report it with the statement; a smaller one shows which part it is",
            source_line=_first_line(sql),
        ) from error


def _is_ours(error: Exception) -> bool:
    module = type(error).__module__
    return module in _PYTHON or module.startswith(_PACKAGE) or isinstance(error, SqlglotError)


def _first_line(sql: str) -> str:
    return sql.partition("\n")[0].rstrip("\r")
