"""A picture as SVG: for the page, or as a file of its own."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from dbt.adapters.sparkstream.explain.layout import lay_out
from dbt.adapters.sparkstream.explain.picture import Picture

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
_TITLE = 46
"""Space for the title of a file of its own."""
_LEGEND = 14
_MARKED = (
    (16, "current", "current row"),
    (122, "in", "in the frame"),
    (232, "out", "not in the frame"),
    (376, "", "of one time: above = arrived later"),
)
"""Legend of a picture with a current row: place, CSS class and text of each mark."""


@cache
def environment() -> Environment:
    """The templates of the page; whatever a user wrote is escaped in them."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["n"] = _number
    return made


def _number(value: float) -> str:
    """A number of the drawing: a tenth is enough."""
    return f"{round(value, 1):g}"


def svg(picture: Picture, width: float = 1000, *, alone: bool = True) -> str:
    """A picture as SVG.

    Args:
        width: its width, in pixels.
        alone: True for a file of its own; False for a part of the page, which has the style and the script.
    """
    layout = lay_out(picture, width, _TITLE if alone else 14)
    legend = _MARKED if picture.current is not None else ()
    template = environment().get_template("picture.svg.jinja")
    drawn = template.render(
        p=picture,
        l=layout,
        height=layout.height + (_LEGEND if legend else 0),
        alone=alone,
        css=Markup(style()),
        legend=legend,
    )
    return drawn.rstrip() + "\n"


def style() -> str:
    """The style of pictures, without characters that SVG or HTML would take for their own."""
    return (TEMPLATES / "picture.css").read_text(encoding="utf-8")
