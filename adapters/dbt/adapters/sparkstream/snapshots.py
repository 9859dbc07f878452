"""Preparation of dbt's snapshots: a format whose rows change, and columns that SQL takes for columns."""

from __future__ import annotations

from typing import Any

import sqlglot
from dbt_common.exceptions import DbtRuntimeError
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt.adapters.sparkstream.messages.readable import CHANGES_ROWS, FOR_CHANGES
from dbt.adapters.sparkstream.sql.core.literals import backticked, is_column, quoted

_COLUMNS = ("unique_key", "check_cols", "updated_at")
_EVERY = "all"
_NO_EXPRESSION = (exp.Alias, exp.Parameter, exp.Placeholder, exp.Star)


def prepare(node: Any) -> None:
    """Refuses a snapshot in files that can't be changed, and quotes its columns.

    dbt-spark refuses it later and without advice, and dbt's macros write the columns into SQL as the config has them.

    Raises:
        DbtRuntimeError: the rows of its file format can't be changed.
    """
    file_format = node.config.get("file_format") or "parquet"
    if file_format not in CHANGES_ROWS:
        raise DbtRuntimeError(
            f"Invalid file format: {file_format}\n"
            "Snapshot functionality requires file_format be set to 'delta' or 'iceberg' or 'hudi'\n"
            f"  {FOR_CHANGES}"
        )
    for name in _COLUMNS:
        given = node.config.get(name)
        if isinstance(given, list):
            node.config[name] = [column_or_expression(one) for one in given]
        elif given and given != _EVERY:
            node.config[name] = column_or_expression(given)
    own = node.config.get("snapshot_meta_column_names")
    for name, given in vars(own).items() if own else ():
        if given and not is_column(given):
            setattr(own, name, backticked(given))


def column_or_expression(text: str) -> str:
    """SQL for a column or an expression: text that isn't a whole expression is a column's name, put in backticks."""
    try:
        # A list of two is no Paren, and a comment at the end has no parenthesis behind it.
        around = sqlglot.parse_one(f"({text})", dialect="spark")
        whole = isinstance(around, exp.Paren) and len(sqlglot.parse(text, dialect="spark")) == 1
    except (SqlglotError, RecursionError):
        return backticked(text)
    tree = around.this
    if not whole or isinstance(tree, _NO_EXPRESSION):
        return backticked(text)
    names = [part for part in tree.parts if isinstance(part, exp.Identifier)] if isinstance(tree, exp.Column) else []
    plain = all(name.quoted or quoted(name.name) == name.name for name in names)
    return text if plain else backticked(text)
