"""Net under the public functions of the translator: an unforeseen exception leaves them as a TranslatorFault."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlglot.errors import SqlglotError

from dbt.adapters.sparkstream.sql.core.depth import with_depth
from dbt.adapters.sparkstream.sql.core.errors import ArgumentError, Finding, RequestError, TranslatorFault
from dbt.adapters.sparkstream.sql.core.source import error_at
from dbt.adapters.sparkstream.sql.core.tokens import Tokens
from dbt.adapters.sparkstream.sql.dialects import DIALECTS
from dbt.adapters.sparkstream.sql.grammar.spans import span_of

_PYTHON = ("builtins", "decimal", "re", "_decimal")
_PACKAGE = "dbt.adapters.sparkstream.sql"
_T = TypeVar("_T")


def netted(sql: str, dialect: str, work: Callable[[], _T]) -> _T:
    """The result of some work, with a TranslationError or a TranslatorFault for any exception because of its text.

    Exceptions of other code pass, such as dbt's in a macro that a batch calls.

    Args:
        sql: the text.
        work: what to do; it is done twice where the text is deeply nested.

    Raises:
        TranslationError: the work raised one, or went too deep.
        TranslatorFault: the work raised what nobody foresaw, which is the cause.
    """
    try:
        return with_depth(work)
    except (Finding, RequestError, ArgumentError):
        raise
    except RecursionError:
        deepest = Tokens(DIALECTS[dialect]().tokenize(sql)).deepest()
        raise error_at(
            sql,
            span_of(deepest, deepest),
            "this statement is nested too deeply to be translated",
            "take its innermost part into a CTE of its own, or into a model",
        ) from None
    except Exception as error:
        if not _is_ours(error):
            raise
        raise TranslatorFault(
            f"the translator fails on this statement, which is a fault of its own: {type(error).__name__}: {error}",
            hint="please report it with the statement; a smaller one shows which part it is",
            source_line=sql.partition("\n")[0].rstrip("\r"),
        ) from error


def _is_ours(error: Exception) -> bool:
    module = type(error).__module__
    return module in _PYTHON or module.startswith(_PACKAGE) or isinstance(error, SqlglotError)
