"""One project from its first run to its proof, with kills between."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dbt.adapters.sparkstream.messages.readable import NO_WORKER
from tools.kill.command import Command
from tools.kill.compare import is_complete
from tools.kill.formats import PARQUET, Format
from tools.kill.kinds import Kind, Model
from tools.kill.method import Method, Stuck
from tools.kill.moments import STARTING, WHENEVER, Moment, paths
from tools.kill.project import PROOF, WITNESS, Project

VICTIMS = ("client", "server", "both")
PROBABLE = 0.9
"""Of a run to be killed; the others are left to end."""
PATIENCE = 5
"""How often a model may end with `NO_WORKER` before it counts as stuck. Spark gives a Python on the server ten seconds
to start, and a busy machine may take longer. It has nothing to do with kills, so dbt is run again."""
TURNS = 0.6
"""Of a run to have another number for models that take turns."""
PART = 0.4
"""Of a cascade to be run without the model that it reads."""
LOOKS = 0.02
"""Seconds between two looks at the files of a table."""


@dataclass(frozen=True)
class Plan:
    """How a run is going to be killed.

    Attributes:
        victim: `client` (dbt), `server` (Spark) or `both`.
        moment: what to wait for.
        aim: the model whose files are watched.
        delay: seconds from the moment to the kill; as a part of what a run takes, where the moment is by the clock.
        arrival: seconds after the first model began at which rows come; None for no rows.
    """

    victim: str
    moment: Moment
    aim: str
    delay: float
    arrival: float | None


@dataclass
class Tally:
    """What came of a kind.

    Attributes:
        kills: of processes while one of its models was at work.
        runs: that ended by themselves with its models done.
        rows: that were compared.
        lost: rows that are missing.
        doubled: rows that are there too often, or are no rows of the batch query.
        stuck: runs that failed or took too long.
        halves: times that a table, which is no stream, was found with neither its old rows nor its new ones.
        seconds: that its models were at work.
    """

    kills: int = 0
    runs: int = 0
    rows: int = 0
    lost: int = 0
    doubled: int = 0
    stuck: int = 0
    halves: int = 0
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        return bool(self.lost or self.doubled or self.stuck or self.halves)

    def __iadd__(self, other: Tally) -> Tally:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self


@dataclass
class Told:
    """What happened in a project.

    Attributes:
        tallies: by kind.
        kills: of processes.
        missed: kills that came when no model was at work.
        busy: runs of a model that ended with `NO_WORKER`.
        journal: a line for each run.
        failures: what went wrong, with the evidence.
    """

    tallies: dict[str, Tally]
    kills: int = 0
    missed: int = 0
    busy: int = 0
    journal: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


class Series:
    """A project.

    Args:
        folder: for it, empty.
        kinds: that it has.
        method: the way to Spark, of the folder.
        seed: of rows, victims, moments and delays. The same seed makes the same plans; what a process is doing at a
            chosen moment is another matter.
        together: how many kinds a run has, at most.
        threads: how many models dbt runs at a time.
        limit: seconds that a run may take.
        victims: of `VICTIMS`.
        moments: names of the moments to aim at; empty for all.
        say: told a line now and then.
        format: what the tables are stored as.
    """

    def __init__(
        self,
        folder: Path,
        kinds: Sequence[Kind],
        method: Method,
        seed: int,
        together: int = 4,
        threads: int = 3,
        limit: float = 300.0,
        victims: Sequence[str] = VICTIMS,
        moments: Sequence[str] = (),
        say: Callable[[str], None] = lambda line: None,
        format: Format = PARQUET,
    ) -> None:
        self.told = Told({kind.name: Tally() for kind in kinds})
        self._folder = folder
        self._kinds = {kind.name: kind for kind in kinds}
        self._method = method
        self._rng = random.Random(seed)
        self._project = Project(folder, kinds, method.output(), random.Random(seed + 1), threads, format)
        self._format = format
        self._kind_of = {model.name: kind.name for kind in kinds for model in kind.models}
        self._together = together
        self._limit = limit
        self._victims = victims
        self._moments = moments
        self._say = say
        self._commands: list[Command] = []
        self._span = 10.0
        self._seen: dict[str, int] = {}
        self._broken: set[str] = set()
        self._made: set[str] = set()
        self._busy: Counter[str] = Counter()
        self._takes_turns = any(model.takes_turns for kind in kinds for model in kind.models)
        self._turn = 0

    def __call__(self, kills: int, deadline: float = float("inf")) -> Told:
        """Kills that many processes, and proves what is left.

        Args:
            kills: how many.
            deadline: of `time.monotonic()`, after which none is killed any more.
        """
        try:
            self._method.up()
            while self.told.kills < kills and time.monotonic() < deadline and len(self._broken) < len(self._kinds):
                self._step()
            self._prove()
        except Stuck as stuck:
            self._fail(list(self._kinds), "stuck", str(stuck))
        finally:
            for command in self._commands:
                command.sweep()
            self._method.down()
        return self.told

    @property
    def _whole(self) -> list[Kind]:
        """The kinds of which nothing is known to be wrong."""
        return [kind for name, kind in self._kinds.items() if name not in self._broken]

    # -- a run -------------------------------------------------------------------------------------
    def _step(self) -> None:
        """Rows come, and dbt runs some of the kinds; mostly until it is killed."""
        kinds = self._rng.sample(self._whole, min(len(self._whole), self._together))
        models = [model for kind in kinds for model in self._some(kind)]
        plan = self._plan(kinds, models) if self._rng.random() < PROBABLE else None
        self._project.arrive()
        before = paths(self._method.tables, plan.aim) if plan is not None else set()
        held = (plan.aim, plan.moment.statement) if plan is not None and plan.moment.statement else None
        self._turn += self._rng.random() < TURNS
        command = self._dbt("run", "--select", *(model.name for model in models), waits_before=held)
        killed = plan is not None and self._come_to(plan, command, before)
        failed, at_work = command.failed, command.at_work
        if plan is not None and killed:
            self._kill(plan, command, at_work)
        else:
            self._ended(command, models)
        self._judge(command, failed if killed else command.failed)
        self._look(command, models)

    def _some(self, kind: Kind) -> tuple[Model, ...]:
        """The models of a kind, or the last one alone once the others are there: nobody has to run those, too."""
        *others, last = kind.models
        if others and all(model.name in self._made for model in others) and self._rng.random() < PART:
            return (last,)
        return kind.models

    def _plan(self, kinds: Sequence[Kind], models: Sequence[Model]) -> Plan:
        rng = self._rng
        kind = rng.choice(kinds)
        aim = rng.choice([model for model in kind.models if model in models])
        moments = (*self._format.moments_of(kind.moments), STARTING)
        allowed = [moment for moment in moments if not self._moments or moment.name in self._moments]
        weights = [0.3 if m is STARTING else 1.0 for m in allowed]
        moment = rng.choices(allowed, weights)[0] if allowed else WHENEVER
        delay = rng.random() if moment.seen is None else rng.choice((0.0, rng.uniform(0, 0.1), rng.uniform(0, 1)))
        arrival = rng.uniform(0, 5) if rng.random() < 0.5 else None
        return Plan(rng.choice(self._victims), moment, aim.name, delay, arrival)

    def _dbt(self, *arguments: str, waits_before: tuple[str, str] | None = None) -> Command:
        log = self._folder / "runs" / f"{len(self._commands):03}"
        # With other variables dbt reads the whole project again.
        turn = ["--vars", f"{{turn: {self._turn}}}"] if self._takes_turns else []
        command = Command(self._folder, log, *arguments, *turn, waits_before=waits_before)
        self._commands.append(command)
        return command

    def _come_to(self, plan: Plan, command: Command, before: set[str]) -> bool:
        """Waits for the moment of a plan. Whether it came before dbt's end; if so, dbt is at that very moment."""
        arrival = plan.arrival
        deadline = command.begun + self._limit
        if plan.moment is STARTING:
            return not command.wait(plan.delay * self._begins(command))
        while command.runs and time.monotonic() < deadline:
            first = min(command.starts.values(), default=None)
            now = time.monotonic()
            if first is not None and arrival is not None and now > first + arrival:
                self._project.arrive()
                arrival = None
            if plan.moment is WHENEVER:
                if first is not None and now > first + plan.delay * self._span:
                    return True
            elif plan.moment.statement:
                if command.waits:
                    return not command.wait(min(plan.delay, 0.1))
            elif plan.aim in command.starts:
                here = paths(self._method.tables, plan.aim)
                if any(plan.moment.seen(path) for path in here ^ before):  # type: ignore[misc]
                    return not command.wait(plan.delay)
                # What goes has been there: a folder that appears and goes again is two changes.
                before &= here
            time.sleep(LOOKS)
        return False

    def _begins(self, command: Command) -> float:
        """Seconds that it takes until the first model begins, as in the runs so far."""
        earlier = [min(c.starts.values()) - c.begun for c in self._commands if c is not command and c.starts]
        return sum(earlier) / len(earlier) if earlier else 10.0

    def _kill(self, plan: Plan, command: Command, at_work: Sequence[str]) -> None:
        told = self.told
        seconds = time.monotonic() - command.begun
        self._method.kill(command, plan.victim)
        told.kills += 1
        told.missed += not at_work
        for kind in {self._kind_of[name] for name in at_work}:
            told.tallies[kind].kills += 1
        for name in at_work:
            told.tallies[self._kind_of[name]].seconds += time.monotonic() - command.starts[name]
        self._note(
            f"{command.log.name}: {plan.victim} killed after {seconds:.1f} s, {plan.moment.name} of {plan.aim}"
            f" + {plan.delay:.2f}; at work: {', '.join(at_work) or 'nothing'}"
        )
        if plan.victim == "server":
            if self._rng.random() < 0.5:
                # It has to find out.
                if not command.wait(self._limit):
                    self._fail(
                        [self._kind_of[name] for name in at_work],
                        "stuck",
                        f"dbt goes on {self._limit:.0f} seconds after its Spark was killed\n{command.output}",
                    )
            else:
                command.wait(self._rng.uniform(0, 3))
            if command.runs:
                command.kill()
        if plan.victim != "client":
            self._method.up()

    def _ended(self, command: Command, models: Sequence[Model]) -> None:
        """A run that nobody kills: it has to end, and well."""
        if not command.wait(command.begun + self._limit - time.monotonic()):
            names = [name for name in command.at_work if name in self._kind_of]
            broken = {self._kind_of[name] for name in names} or {self._kind_of[model.name] for model in models}
            self._fail(sorted(broken), "stuck", f"dbt took longer than {self._limit:.0f} seconds\n{command.output}")
            command.sweep()
            return
        if command.starts:
            first = min(command.starts.values())
            last = max((end for _, end in command.ends.values()), default=first)
            if not any(name.endswith(PROOF) for name in command.starts):
                self._span = max(5.0, last - first)
        self._note(
            f"{command.log.name}: ended with {command.code} after {time.monotonic() - command.begun:.1f} s"
            + "".join(f", {name}" for name in command.ends)
        )
        if command.code and not command.failed:
            self._fail([self._kind_of[model.name] for model in models], "stuck", command.output)

    def _judge(self, command: Command, failed: Sequence[str]) -> None:
        """Notes how the models of a run did, up to its kill if there was one."""
        for name, (how, end) in command.ends.items():
            if name in self._kind_of and name in command.starts:
                tally = self.told.tallies[self._kind_of[name]]
                tally.seconds += end - command.starts[name]
                if how == "OK":
                    tally.runs += 1
                    self._made.add(name)
                    del self._busy[name]
        for name in failed:
            reason = command.reason(name)
            if NO_WORKER in reason and self._busy[name] < PATIENCE:
                self._busy[name] += 1
                self.told.busy += 1
            else:
                self._fail([self._kind_of[name.removesuffix(PROOF)]], "stuck", f"{command.log}: {name}\n{reason}")

    def _look(self, command: Command, models: Sequence[Model]) -> None:
        """What whoever reads a table that is no stream found: the rows of some moment, none older than before."""
        for model in models:
            if model.counted is None or model.name in self._broken:
                continue
            told = [line for line in list(command.lines) if f"{WITNESS} {model.name}: " in line]
            if not told:
                continue
            rows = told[-1].rpartition(": ")[2].strip()
            least = self._seen.get(model.name)
            complete = self._project.counts[0 if model.streams else 1 :]
            if not is_complete(rows, least, complete, swaps=model.streams and self._format.swaps):
                had = "no table" if least is None else f"{least} rows"
                evidence = f"{command.log}: there are {rows} rows, after {had}; complete are {complete}"
                self._fail([self._kind_of[model.name]], "half", evidence)
            elif rows.isdigit():
                self._seen[model.name] = int(rows)

    # -- the end -----------------------------------------------------------------------------------
    def _prove(self) -> None:
        """Closes all windows, runs everything once more, and compares it with the same queries in batch."""
        self._project.close()
        limit, self._limit = self._limit, 3 * self._limit
        again = True
        while again and len(self._broken) < len(self._kinds):
            models = [model for kind in self._whole for model in kind.models]
            proofs = [f"{model.name}{PROOF}" for model in models]
            busy = self.told.busy
            command = self._dbt("run", "--select", *(model.name for model in models), *proofs)
            self._ended(command, models)
            self._judge(command, command.failed)
            self._look(command, models)
            again = self.told.busy > busy
        self._limit = limit
        for name, found in self._project.differences(m for kind in self._whole for m in kind.models).items():
            tally = self.told.tallies[self._kind_of[name]]
            tally.rows += found.rows
            tally.lost += found.lost.total()
            tally.doubled += found.doubled.total() + found.strange.total()
            if not found.rows:
                self._fail([self._kind_of[name]], "stuck", f"{name}: the proof has no rows to compare with")
            if found:
                self._tell([self._kind_of[name]], f"{name} isn't what batch gives", "\n".join(found.lines()))

    # -- telling -----------------------------------------------------------------------------------
    def _note(self, line: str) -> None:
        self.told.journal.append(line)
        self._say(line)

    def _fail(self, kinds: Sequence[str], how: str, evidence: str) -> None:
        """A kind that doesn't work any more takes no part in what follows."""
        for kind in dict.fromkeys(kinds):
            if kind not in self._broken:
                self._broken.add(kind)
                tally = self.told.tallies[kind]
                tally.stuck += how == "stuck"
                tally.halves += how == "half"
        self._tell(kinds, how, evidence)

    def _tell(self, kinds: Sequence[str], what: str, evidence: str) -> None:
        self.told.failures.append(f"{', '.join(dict.fromkeys(kinds))}: {what}\n{evidence}")
        self._note(f"FAILED {', '.join(dict.fromkeys(kinds))}: {what}")
