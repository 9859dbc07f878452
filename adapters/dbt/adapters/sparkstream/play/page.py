"""The playground's page, and the answer to a query: HTML that loads nothing."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from dbt.adapters.sparkstream.__version__ import __version__
from dbt.adapters.sparkstream.explain.draw import environment
from dbt.adapters.sparkstream.explain.page import page_script, page_style, parts
from dbt.adapters.sparkstream.play.runner import MOST_ROWS, Outcome
from dbt.adapters.sparkstream.secrecy.redaction import redacted
from dbt.adapters.sparkstream.sql.dialects import DIALECTS

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"


@cache
def examples() -> list[dict[str, Any]]:
    """The examples, of Flink's pages as in the gallery, and one each of OpenMLDB and SQLstream.

    Each has `title`, `dialect`, `sql`, `tables`, and the recorded `case` that it is.
    """
    found: list[dict[str, Any]] = json.loads((Path(__file__).parent / "examples.json").read_text(encoding="utf-8"))
    return found


@cache
def _templates() -> Environment:
    """The templates of the playground, which use the templates of explain's page."""
    from jinja2 import ChoiceLoader, FileSystemLoader

    explain = environment()
    assert explain.loader is not None
    return explain.overlay(loader=ChoiceLoader([FileSystemLoader(TEMPLATES), explain.loader]))


def page(nonce: str, token: str) -> str:
    """The page.

    Args:
        nonce: the mark of its script, which is in its header, too.
        token: the token that it sends with its requests.
    """
    return (
        _templates()
        .get_template("play.html.jinja")
        .render(
            style=Markup(page_style() + _part("play.css")),
            script=Markup(page_script() + _part("play.js")),
            # Within a script element, nothing may look like its end.
            data=Markup(json.dumps({"examples": examples(), "token": token}).replace("<", "\\u003c")),
            dialects=list(DIALECTS),
            examples=examples(),
            nonce=nonce,
            version=__version__,
        )
    )


def outcome(found: Outcome) -> str:
    """Report on a query, with its rows or its error, as a piece of HTML."""
    return (
        _templates()
        .get_template("outcome.html.jinja")
        .render(**parts(found.report), result=found.result, error=found.error, most=MOST_ROWS)
    )


def failure(message: str) -> str:
    """Message about a query that wasn't run, as a piece of HTML."""
    return _templates().get_template("failure.html.jinja").render(error=redacted(message))


def _part(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")
