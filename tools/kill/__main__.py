"""`python -m tools.kill`: kills dbt and Spark at work, and says what was lost, doubled or stuck."""

from __future__ import annotations

import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import click

from tools.kill.formats import FORMATS
from tools.kill.kinds import KINDS
from tools.kill.method import METHODS
from tools.kill.moments import BATCH, BETWEEN, COMMITTED, CORRECTED, DROPPING, RECORDED, REPLACING, STARTING, STREAM
from tools.kill.report import keep, table
from tools.kill.series import VICTIMS, Series, Tally

MOMENTS = tuple(
    dict.fromkeys(
        moment.name
        for moment in (STARTING, *STREAM, *BATCH, RECORDED, CORRECTED, DROPPING, BETWEEN, REPLACING, COMMITTED)
    )
)


def _names(known: tuple[str, ...]) -> click.ParamType:
    class Names(click.ParamType):
        name = "NAME,..."

        def convert(self, value: object, param: object, ctx: object) -> tuple[str, ...]:
            if isinstance(value, tuple):
                return value
            names = tuple(name.strip() for name in str(value).split(","))
            for name in names:
                if name not in known:
                    self.fail(f"there is no {name!r}; there are {', '.join(known)}")
            return names

    return Names()


@click.command(context_settings={"max_content_width": 110})
@click.option(
    "--kinds",
    type=_names(tuple(KINDS)),
    default=tuple(KINDS),
    help=f"What to kill, by default all: {', '.join(KINDS)}.",
)
@click.option("--method", type=click.Choice(tuple(METHODS)), default="session", show_default=True, help="Way to Spark.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(tuple(FORMATS)),
    default="parquet",
    show_default=True,
    help="What the tables are stored as; for the others, `make parts` gets what they need.",
)
@click.option("--kills", type=click.IntRange(1), default=20, show_default=True, help="How many processes to kill.")
@click.option("--minutes", type=float, help="Kill no more after this many minutes.")
@click.option("--seed", type=int, help="Of rows, victims, moments and delays; another one each time by default.")
@click.option("--victims", type=_names(VICTIMS), default=VICTIMS, help=f"Whom to kill: {', '.join(VICTIMS)}.")
@click.option(
    "--moments", type=_names(MOMENTS), default=(), help=f"When to kill, by default all: {', '.join(MOMENTS)}."
)
@click.option("--kinds-per-project", type=click.IntRange(1), default=6, show_default=True)
@click.option("--kills-per-project", type=click.IntRange(1), default=10, show_default=True)
@click.option("--together", type=click.IntRange(1), default=4, show_default=True, help="Kinds that a run has, at most.")
@click.option("--threads", type=click.IntRange(1), default=3, show_default=True, help="Models that run at a time.")
@click.option("--limit", type=float, default=300, show_default=True, help="Seconds after which a run counts as stuck.")
@click.option("--dir", "parent", type=click.Path(path_type=Path, file_okay=False), help="Where the projects go.")
@click.option("--keep/--no-keep", "keeps", help="Keep the projects in which nothing went wrong, too.")
def main(
    kinds: tuple[str, ...],
    method: str,
    format_name: str,
    kills: int,
    minutes: float | None,
    seed: int | None,
    victims: tuple[str, ...],
    moments: tuple[str, ...],
    kinds_per_project: int,
    kills_per_project: int,
    together: int,
    threads: int,
    limit: float,
    parent: Path | None,
    keeps: bool,
) -> None:
    """Runs dbt on projects of its own, again and again, and kills it, its Spark or both with SIGKILL.

    Rows come meanwhile. After a kill, dbt is run again, as a user would. In the end all rows are compared with what
    the same queries give in batch. Ends with 1 when a row is lost or doubled, when a run fails or takes too long, or
    when a table that is made anew was found half. The folder of such a project stays, with FAILED.txt in it.

    A process that is killed counts as one kill for each kind that was at work.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends what it has started, as Ctrl-C does
    seed = random.randrange(1_000_000) if seed is None else seed
    rng = random.Random(seed)
    deadline = time.monotonic() + 60 * minutes if minutes else float("inf")
    begun = time.monotonic()
    stored = FORMATS[format_name]()
    kinds = tuple(name for name in kinds if not any(model.is_refused_in(stored.name) for model in KINDS[name].models))
    tallies = {name: Tally() for name in kinds}
    killed = missed = busy = projects = failures = 0
    waiting: list[str] = []
    click.echo(f"seed {seed}")
    try:
        while killed < kills and time.monotonic() < deadline:
            while len(waiting) < min(kinds_per_project, len(kinds)):
                more = [name for name in kinds if name not in waiting]
                waiting += rng.sample(more, len(more))
            chosen, waiting = waiting[:kinds_per_project], waiting[kinds_per_project:]
            if parent is not None:
                parent.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix=f"kill-{method}-", dir=parent)).resolve()
            own = seed + projects
            project_kills = min(kills_per_project, kills - killed)
            click.echo(f"project {folder}, seed {own}: {', '.join(chosen)}")
            series = Series(
                folder,
                [KINDS[name] for name in chosen],
                METHODS[method](folder, stored.parameters),
                own,
                together,
                threads,
                limit,
                victims,
                moments,
                lambda line: click.echo(f"  {line}"),
                stored,
            )
            told = series(project_kills, deadline)
            killed += told.kills
            missed += told.missed
            busy += told.busy
            projects += 1
            for name, tally in told.tallies.items():
                tallies[name] += tally
            if told.failures:
                failures += 1
                again = (
                    f"python -m tools.kill --method {method} --format {format_name} --kinds {','.join(chosen)} "
                    f"--seed {own} "
                    f"--kills {project_kills} --kills-per-project {kills_per_project} "
                    f"--kinds-per-project {len(chosen)} --together {together} --threads {threads} "
                    f"--victims {','.join(victims)}" + (f" --moments {','.join(moments)}" if moments else "")
                )
                path = keep(folder, told, again)
                click.echo("\n\n".join([*told.failures, f"the project is kept: {path}", f"again: {again}"]))
            elif not keeps:
                shutil.rmtree(folder, ignore_errors=True)
    except (KeyboardInterrupt, SystemExit):
        click.echo("ended before its time: the project that was under way isn't in the table")
        failures += 1
    click.echo(f"\n{table(tallies)}\n")
    spent = (time.monotonic() - begun) / 60
    click.echo(
        f"{killed} processes killed in {projects} projects in {spent:.1f} minutes, {missed} of them with no model at "
        f"work; {failures} projects failed; {busy} runs again as the machine was busy; seed {seed}"
    )
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
