"""Ours beside Spark's own SQL, DuckDB, Polars and Flink: the page of figures, docs/benchmarks.md.

    python -m benchmarks.compare [--rows N] [--keys N] [--runs N] [--flink PYTHON] [--comet] [--only GROUP] [--docs X]

An engine gives the same rows as ours, or isn't timed; ends with status 1 where one gives others. DuckDB and Polars are
asked where they are installed, Flink where `--flink` names a Python that has apache-flink. All read parquet, and once
more CSV beside Flink, which has no reader for parquet without more jars. `--comet` asks ours in Comet, too, with the
jar that `make parts` gets, on the Spark that it fits:

    make bench VENV=parts/.venv-iceberg BENCH=--comet
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import click
from benchmarks.compare.answers import Answer, answer
from benchmarks.compare.machine import described
from benchmarks.compare.page import Figures, Section, write
from benchmarks.compare.questions import Group, Part, groups
from benchmarks.windows.bench import Bench, Measured
from benchmarks.windows.engines import Engines
from benchmarks.windows.queries import COMET, DUCKDB, FLINK, HAND, OURS, POLARS, SPARK, Question

DOCS = Path(__file__).parents[2] / "docs"
COMETS = DOCS.parent / "parts" / "jars" / "comet"
IN_PARQUET = (OURS, SPARK, HAND, DUCKDB, POLARS, COMET)
IN_CSV = (OURS, FLINK)
WARM_UPS = 5
"""Runs behind the check of the answers, which warms up, too."""


@dataclass
class Checked:
    """A question, asked of the engines whose answers are those of ours.

    Attributes:
        rows: of the answer.
        left_out: engine -> what is wrong with its answer.
        equal: True if no engine gave other rows; some may not have answered.
    """

    question: Question
    rows: int
    left_out: dict[str, str]
    equal: bool


def checked(engines: Engines, question: Question) -> Checked:
    """Asks all engines, and keeps those whose rows are ours.

    Raises:
        Exception: ours can't answer.
    """

    def ask(engine: str, like: Answer | None = None) -> Answer:
        return answer(engines.rows(engine, question.queries[engine], question.conf.get(engine, {})), like)

    ours = ask(OURS)
    wrong: dict[str, str] = {}
    equal = True
    for engine in question.queries:
        try:
            its = ask(engine, ours)
        except Exception as error:  # whatever an engine says, the others are asked
            wrong[engine] = f"can't answer: {str(error).strip().splitlines()[0][:200]}"
        else:
            if its != ours:
                equal = False
                wrong[engine] = f"gives other rows: {its}, and ours {ours}"
    for engine, why in wrong.items():
        click.echo(f"{question.name}: {engine} {why}", err=True)
    return Checked(question.only(*(e for e in question.queries if e not in wrong)), ours.rows, wrong, equal)


class Comparison:
    """Measures parts of groups, each behind a check of its answers."""

    def __init__(self, engines: Engines, bench: Bench) -> None:
        self._engines = engines
        self._bench = bench
        self.equal = True

    def figures(self, parts: Iterable[Part], names: tuple[str, ...], *, text: bool) -> list[Figures]:
        """The figures of questions.

        Args:
            names: the engines; those that are there and have a query are asked. A question that ours alone has is
                left out.
            text: True if all read CSV.
        """
        found = []
        for part in parts:
            questions = [question.in_comet() for question in part.questions]
            there = [q.only(*(e for e in names if e in q.queries and self._engines.has(e))) for q in questions]
            asked = [q for q in there if len(q.queries) > 1]
            if asked:
                self._bench.read(part.data, text=text)
                answers = [checked(self._engines, question) for question in asked]
                measured = self._bench.measure(part.data, [one.question for one in answers])
                found += [self._one(part, *pair) for pair in zip(answers, measured, strict=True)]
        return found

    def _one(self, part: Part, asked: Checked, measured: Measured) -> Figures:
        self.equal = self.equal and asked.equal
        question = asked.question
        return Figures(question.name, question.asks, (part.data.rows, asked.rows), measured.seconds, asked.left_out)


@click.command(help=__doc__.splitlines()[0])
@click.option("--rows", default=1_000_000, show_default=True)
@click.option("--keys", default=160, show_default=True)
@click.option("--runs", default=5, show_default=True)
@click.option("--cores", default=2, show_default=True)
@click.option("--memory", default="3g", show_default=True, help="of Spark, and of Flink")
@click.option("--patience", default=60.0, show_default=True, help="seconds; a slower engine is asked once")
@click.option("--flink", metavar="PYTHON", help="an interpreter that has apache-flink")
@click.option("--comet", is_flag=True, help="ask ours in Comet, too")
@click.option("--only", multiple=True, metavar="GROUP", help="a group of questions; may be given several times")
@click.option("--docs", type=click.Path(path_type=Path), default=DOCS, help="where to write; else the docs")
def main(
    rows: int, keys: int, runs: int, cores: int, memory: str, patience: float, flink: str | None,
    comet: bool, only: tuple[str, ...], docs: Path,
) -> None:  # fmt: skip
    jar = next(COMETS.glob("*.jar"), COMETS) if comet else None
    engines = Engines(cores, memory, flink, jar)
    facts = described(engines, cores, memory)
    comparison = Comparison(engines, Bench(engines, engines.folder, runs, patience, warm_ups=WARM_UPS))
    asked = [group for group in groups(rows, keys) if not only or group.name in only]
    sections = [Section(g.name, g.title, comparison.figures(g.parts, IN_PARQUET, text=False)) for g in asked]
    missing = [engine for engine in (DUCKDB, POLARS, FLINK, COMET) if not engines.has(engine)]
    options = f"--rows {rows} --keys {keys} --runs {runs}"
    notes = [f"Medians of {runs} interleaved runs, of `python -m benchmarks.compare {options}`."]
    if missing:
        notes.append(f"Not there, and so not in the tables: {', '.join(missing)}.")
    template = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    write(docs, template, sections, facts, notes)
    if engines.has(FLINK):  # what is written stays where Flink, a process of its own, ends early
        write(docs, template, [*sections, _beside_flink(comparison, asked)], facts, notes)
    click.echo(f"wrote {docs / 'benchmarks.md'}")
    sys.exit(not comparison.equal)


def _beside_flink(comparison: Comparison, asked: list[Group]) -> Section:
    parts = [part for group in asked for part in group.parts]
    text = "The same questions on CSV, which both read here: reading takes much of the time."
    figures = [replace(one, name=f"{one.name}, CSV") for one in comparison.figures(parts, IN_CSV, text=True)]
    return Section("flink", "Flink, from CSV", figures, text)


if __name__ == "__main__":
    main()
