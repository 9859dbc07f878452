"""Errors of the arguments that a node gives to a macro, placed where the argument stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbt.adapters.sparkstream.sql import TranslationError
from dbt.adapters.sparkstream.sql.core.errors import did_you_mean
from dbt.adapters.sparkstream.sql.core.literals import unquoted


def unknown_argument(macro: str, argument: str, known: Sequence[str]) -> TranslationError:
    """Error for an argument that a macro doesn't have, or that is given by its place, too."""
    order = f"its arguments are {', '.join(known)}"
    if argument in known:
        message, hint = f"{macro} has its {argument} twice: by its place and by its name", order
    else:
        message, hint = f"{macro} has no argument {argument}", did_you_mean(argument, known, order)
    return TranslationError(message, hint=hint, source_line=f"{argument}=", width=len(argument))


def check_columns(macro: str, relation: str, names: Iterable[tuple[str, str]], columns: Sequence[str]) -> None:
    """Refuses columns that a macro's relation doesn't have.

    Args:
        names: (argument, column); the argument `windows` for the bounds that windows have.
        columns: the relation's; empty if unknown.

    Raises:
        TranslationError: there is no such column.
    """
    known = {column.casefold() for column in columns}
    for argument, name in names if columns else []:
        plain = unquoted(name)
        if plain.casefold() in known:
            continue
        hint = did_you_mean(plain, columns, f"it has {', '.join(columns)}")
        message = f"{macro}'s {argument} names {plain}, and {relation} has no such column"
        if argument == "windows":
            message = f"{macro} takes windows, and {relation} has no column {plain}"
            hint = "give it rows of tumble, hop or cumulate, with window_start and window_end among their columns"
        raise TranslationError(message, hint=hint, source_line=plain, width=len(plain))
