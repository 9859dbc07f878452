"""Types of expressions that a SELECT with windows has as text."""

from __future__ import annotations

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.dialects import DIALECTS


def type_of(text: str, dialect: str, select: exp.Select, resolver: Resolver) -> str | None:
    """The Spark type of an expression of a SELECT, written in a dialect; None where it isn't known."""
    node = parsed(text, dialect)
    return resolver.type(node, select) if node else None


def parsed(text: str, dialect: str) -> exp.Expr | None:
    """An expression that is written in a dialect; None where it can't be read by itself."""
    try:
        return parse_one(text, read=DIALECTS[dialect])
    except (SqlglotError, TranslationError):
        return None
