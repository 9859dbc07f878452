"""Templates read as Jinja's tokens, without rendering them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import jinja2

LEXER = jinja2.Environment(extensions=["jinja2.ext.do"])  # noqa: S701 - reads tokens only
"""Reads templates as dbt does, which has `{% do %}`."""

Token = TypeVar("Token", bound="tuple[Any, ...]")


def located(template: str) -> Iterator[tuple[int, int, str, str]]:
    """The tokens of a template: offset, line, kind and text of each; up to a token that isn't found."""
    at = 0
    for line, kind, text in LEXER.lex(template):
        # The lexer leaves out blanks around `{%-`; what it gives is in the template in the same order.
        start = template.find(text, at) if text else at
        if start < 0:
            return
        yield start, line, kind, text
        at = start + len(text)


def split_arguments(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """The arguments of a call, up to its closing parenthesis, each as tokens; after a last comma, one is empty.

    Args:
        tokens: the tokens after the call's opening parenthesis; the last two items of each are its kind and text.
    """
    depth, argument = 0, list[Token]()
    for token in tokens:
        kind, text = token[-2:]
        if kind == "operator" and not depth and text in (",", ")"):
            yield argument
            argument = []
            if text == ")":
                return
            continue
        depth += (text in "([{") - (text in ")]}") if kind == "operator" else 0
        argument.append(token)
    yield argument
