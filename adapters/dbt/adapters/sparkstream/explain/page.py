"""The page: everything of a report in one HTML file that loads nothing."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from dbt.adapters.sparkstream.__version__ import __version__
from dbt.adapters.sparkstream.explain.draw import TEMPLATES, environment, style, svg
from dbt.adapters.sparkstream.explain.report import Report, Size


@dataclass(frozen=True)
class Step:
    """A step of the estimate; `share` is its part of the largest one, in percent."""

    words: str
    rows: int
    share: float


@dataclass(frozen=True)
class Ruling:
    """What the optimiser decided on a window."""

    name: str
    words: str
    rule: str | None
    reason: str | None
    steps: tuple[Step, ...]


def page(report: Report, size: Size | None = None) -> str:
    """A report as HTML.

    Args:
        size: what the windows read, for the estimates; as counted where it doesn't say.
    """
    return (
        environment()
        .get_template("page.html.jinja")
        .render(
            report=report,
            drawings=[None if s.picture is None else Markup(svg(s.picture, alone=False)) for s in report.sections],
            rulings=_rulings(report, size or Size()),
            style=Markup(style() + _part("page.css")),
            script=Markup(_part("page.js")),
            version=__version__,
        )
    )


def _part(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _rulings(report: Report, size: Size) -> list[Ruling]:
    found = []
    for decision in report.explanation.decisions:
        reads = report.size_of(decision, size)
        steps = decision.steps(reads.rows, reads.keys, reads.seconds)
        most = max((rows for _, rows in steps), default=0) or 1
        found.append(
            Ruling(
                decision.window.name.lower(),
                decision.window.words(),
                decision.rule,
                decision.reason,
                tuple(Step(words, rows, round(100 * rows / most, 1)) for words, rows in steps),
            )
        )
    return found
