"""The page of figures: the part of docs/benchmarks.md that the command writes, and its plots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.compare.figures import IN_SPARK, Loss, Seconds, best_by_hand, losses, others, ratio
from benchmarks.windows.plot import ratios
from benchmarks.windows.queries import COMET, OURS

BEGIN, END = "<!-- begin: written by `make bench` -->", "<!-- end: written by `make bench` -->"
PLOTS = "benchmarks"
"""The folder of the plots, beside the page."""


@dataclass(frozen=True)
class Figures:
    """What was measured for a question.

    Attributes:
        name: of the question.
        asks: it in words.
        rows: of its table, and of its answer.
        seconds: engine -> its runs.
        left_out: engine -> why it has no seconds, though it has a query.
    """

    name: str
    asks: str
    rows: tuple[int, int]
    seconds: Seconds
    left_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """The questions of a plot.

    Attributes:
        name: of its file, without the ending.
        title: of the section.
        text: what is to say of all its questions.
    """

    name: str
    title: str
    figures: Sequence[Figures]
    text: str = ""


def write(folder: Path, template: str, sections: Sequence[Section], facts: Mapping[str, str], notes: list[str]) -> None:
    """Writes the page and its plots into a folder.

    Args:
        template: the page, whose generated part is replaced.
        facts: what was measured on.
        notes: further sentences about the whole.

    Raises:
        ValueError: the template has no generated part.
    """
    before, begin, rest = template.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no {BEGIN} or no {END} behind it")
    (folder / PLOTS).mkdir(parents=True, exist_ok=True)
    for section in sections:
        if plotted := _plotted(section):
            plot = ratios(f"{section.title}: ours to the other engine", plotted)
            (folder / PLOTS / f"{section.name}.svg").write_text(plot, encoding="utf-8")
    text = "\n".join(_lines(sections, facts, notes))
    (folder / "benchmarks.md").write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def _plotted(section: Section) -> dict[str, dict[str, tuple[float, float, float]]]:
    found: dict[str, dict[str, tuple[float, float, float]]] = {}
    for one in section.figures:
        for engine in others(one.seconds):
            its = ratio(one.seconds, engine)
            found.setdefault(one.name, {})[engine] = (its.least, its.median, its.most)
    return found


def _lines(sections: Sequence[Section], facts: Mapping[str, str], notes: list[str]) -> Iterator[str]:
    yield from ("## The machine", "", "| | |", "|---|---|")
    yield from (f"| {what} | {value} |" for what, value in facts.items())
    yield ""
    yield from (line for note in notes for line in (note, ""))
    yield from ("## Where ours is slower", "")
    lost = [loss for loss in losses({f.name: f.seconds for s in sections for f in s.figures}) if loss.engine != COMET]
    yield from ("Beside the best in Spark's own SQL:", "")
    yield from _losses([loss for loss in lost if loss.engine in IN_SPARK])
    yield from ("", "Beside other engines:", "")
    yield from _losses([loss for loss in lost if loss.engine not in IN_SPARK])
    for section in sections:
        yield from ("", f"## {section.title}", "")
        if section.text:
            yield from (section.text, "")
        if _plotted(section):
            yield f"![{section.title}: how many times as long as other engines ours takes]({PLOTS}/{section.name}.svg)"
        yield from ("", *map(_question, section.figures), "", *_table(section.figures))


def _losses(found: Sequence[Loss]) -> Iterator[str]:
    if not found:
        yield "Nowhere: in no question the median of their runs is faster."
        return
    yield from ("| question | faster | ours : it | |", "|---|---|---|---|")
    for loss in found:
        doubt = "" if loss.ratio.certain else "not in all runs"
        yield f"| {loss.question} | {loss.engine} | {loss.ratio} | {doubt} |"


def _question(figures: Figures) -> str:
    came, went = figures.rows
    return f"- **{figures.name}**: {figures.asks} {came:,} rows in, {went:,} out."


def _table(found: Sequence[Figures]) -> Iterator[str]:
    engines = list(dict.fromkeys(engine for one in found for engine in (*one.seconds, *one.left_out)))
    yield f"| | {' | '.join(engines)} |"
    yield "|---" * (1 + len(engines)) + "|"
    for one in found:
        yield f"| {one.name} | {' | '.join(_cell(one, engine) for engine in engines)} |"


def _cell(figures: Figures, engine: str) -> str:
    if engine not in figures.seconds:
        return figures.left_out.get(engine, "")
    seconds = f"{median(figures.seconds[engine]):.2f}"
    if engine == OURS:
        return seconds
    if engine == best_by_hand(figures.seconds):
        seconds = f"**{seconds}**"
    return f"{seconds}<br>{ratio(figures.seconds, engine)}"
