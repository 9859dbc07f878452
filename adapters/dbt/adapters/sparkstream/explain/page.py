"""The page: everything of a report in one HTML file that loads nothing."""

from __future__ import annotations

from markupsafe import Markup

from dbt.adapters.sparkstream.__version__ import __version__
from dbt.adapters.sparkstream.explain.draw import TEMPLATES, environment, style, svg
from dbt.adapters.sparkstream.explain.report import Report, Section, Size
from dbt.adapters.sparkstream.sql.passes.optimize.passes import Decision


def page(report: Report, size: Size | None = None) -> str:
    """A report as HTML.

    Args:
        size: size of the windows' inputs, for the estimates; counted where it is None.
    """
    return (
        environment()
        .get_template("page.html.jinja")
        .render(
            **parts(report, size),
            style=Markup(page_style()),
            script=Markup(page_script()),
            version=__version__,
        )
    )


def parts(report: Report, size: Size | None = None) -> dict[str, object]:
    """Values for the template `report.html.jinja`; arguments as of `page`."""
    return {
        "report": report,
        "versions": [(change, _drawing(change.before)) for change in report.changes()] if report.before else [],
        "drawings": [_drawing(section) for section in report.sections],
        "rulings": [(d, _steps(report, d, size or Size())) for d in report.explanation.decisions],
        "apart": _lengths_differ(report),
    }


def _drawing(section: Section | None) -> Markup | None:
    return Markup(svg(section.picture, alone=False)) if section and section.picture else None


def page_style() -> str:
    """The style of a page with reports."""
    return style() + _part("page.css")


def page_script() -> str:
    """JavaScript by which reports react to the mouse; `watch(element)` sets it up for a report that comes later."""
    return _part("page.js")


def _part(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _lengths_differ(report: Report) -> bool:
    """True if one text is so much longer that the space next to the shorter text would stay empty."""
    shorter, longer = sorted(text.count("\n") for text in (report.written, report.explanation.sql))
    return longer - shorter > 12


def _steps(report: Report, decision: Decision, size: Size) -> list[tuple[str, int]]:
    reads = report.size_of(decision, size)
    return decision.steps(reads.rows, reads.keys, reads.seconds)
