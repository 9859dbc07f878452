"""Missing and stale batches of a microbatch model, for `sparkstream batches`.

The model's table and its inputs are counted by batch, with a query for each. Where their rows are in files, Spark also
says when these were written: a batch is stale when a file of an input is newer than the oldest one of the batch's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.compiling.requests import find_model
from dbt.adapters.sparkstream.messages.sparkerror import SparkError
from dbt.adapters.sparkstream.sql.core.interval import ZERO, Interval, IntervalError
from dbt.adapters.sparkstream.sql.core.literals import named, read_time

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.compiling.host import Host

DONE, EMPTY, MISSING, STALE = "done", "empty", "missing", "stale"

_SHOWN = "yyyy-MM-dd HH:mm:ss"
_WRITTEN = "unix_micros({}(_metadata.file_modification_time))"


@dataclass(frozen=True)
class Counted:
    """A relation's rows in a batch: their number, and when they were written.

    Attributes:
        rows: number of rows.
        written: when a file with some of them was written, in microseconds since the epoch: the newest file of an
            input, the oldest of the model's table; None if unknown.
    """

    rows: int
    written: int | None


@dataclass(frozen=True)
class Batch:
    """A batch of a model.

    Attributes:
        start: when it begins, on the wall clock.
        end: when the next one begins.
        table: its rows in the model's table; None for no rows.
        inputs: name of each input with rows -> count of its rows.
        knows_inputs: True if there is an input whose rows can be counted by batch.
        gives_rows: True if the model's query gives rows for it; None if the query wasn't run.
    """

    start: datetime
    end: datetime
    table: Counted | None
    inputs: Mapping[str, Counted] = field(default_factory=dict)
    knows_inputs: bool = True
    gives_rows: bool | None = None

    @property
    def changed(self) -> list[str]:
        """The inputs that have changed since the batch was written."""
        since = self.table.written if self.table is not None else None
        if since is None:
            return []
        return [name for name, found in self.inputs.items() if found.written is not None and found.written > since]

    @property
    def status(self) -> str:
        if self.table is not None:
            return STALE if self.changed else DONE
        has_rows = bool(self.inputs) or not self.knows_inputs
        return MISSING if has_rows and self.gives_rows is not False else EMPTY

    def as_json(self) -> dict[str, Any]:
        """The batch for JSON; times in seconds since the epoch."""
        newest = max((found.written for found in self.inputs.values() if found.written is not None), default=None)
        return {
            "start": self.start.isoformat(),
            "end": self.end.isoformat(),
            "status": self.status,
            "rows": self.table.rows if self.table else 0,
            "input_rows": sum(found.rows for found in self.inputs.values()) if self.knows_inputs else None,
            "written_at": _seconds(self.table.written if self.table else None),
            "inputs_written_at": _seconds(newest),
            "changed": self.changed,
        }


def batches(
    adapter: Host,
    name: str,
    *,
    before: str | None = None,
    after: str | None = None,
    since: str | None = None,
    until: str | None = None,
    check: bool = False,
) -> dict[str, Any]:
    """The batches of a microbatch model that are over.

    Args:
        adapter: the adapter.
        name: the model's name, or `package.name`.
        before: how much earlier than a batch the inputs' rows that it reads may be, such as `'1 hour'`.
        after: how much later.
        since: the first batch, by a time in it; the model's `begin` if None.
        until: the time before which batches have to end; now if None.
        check: True to run the query of each batch that seems to be missing, as it may give no rows.

    Returns:
        `model`, `batches` (a dict for each, see `Batch.as_json`), and `unknown`: reasons why a status isn't certain.

    Raises:
        DbtRuntimeError: there is no such model, it has no batches, or Spark refuses a query.
    """
    return _BatchList(adapter, name, before, after)(since, until, check)


class _BatchList:
    def __init__(self, adapter: Host, name: str, before: str | None, after: str | None) -> None:
        self._adapter = adapter
        self._manifest: Any = adapter.get_macro_resolver()
        self._node = node = find_model(self._manifest, name, "this takes")
        config = node.config
        if config.get("incremental_strategy") != "microbatch" or config.materialized != "incremental":
            raise DbtRuntimeError(
                f"{name} has no batches\n  they are those of incremental models with incremental_strategy='microbatch'"
            )
        self._size = str(getattr(config.batch_size, "value", config.batch_size))
        self._margins = _interval("before", before), _interval("after", after)
        self._unknown: list[str] = []

    def __call__(self, since: str | None, until: str | None, check: bool) -> dict[str, Any]:
        node, relation = self._node, self._adapter.Relation
        periods = list(self._periods(since, until))
        table = relation.create_from(self._adapter.config, node)
        is_there = self._adapter.get_relation(table.database, table.schema, table.identifier) is not None
        found: list[Batch] = []
        if periods:
            span = periods[0][0], periods[-1][1]
            has = self._counted(str(table), node.name, str(node.config.event_time), span, "min") if is_there else {}
            inputs = {
                name: self._counted(str(relation.create_from(self._adapter.config, one)), name, time, span, "max")
                for name, one, time in self._inputs()
            }
            for start, end in periods:
                of_inputs = {name: counts[start] for name, counts in inputs.items() if start in counts}
                found.append(Batch(start, end, has.get(start), of_inputs, bool(inputs)))
        if check:
            found = [self._checked(batch) if batch.status == MISSING else batch for batch in found]
        return {"model": node.name, "batches": [batch.as_json() for batch in found], "unknown": self._unknown}

    def _periods(self, since: str | None, until: str | None) -> Iterator[tuple[datetime, datetime]]:
        """The batches that are over, as dbt cuts them: by its clock, which shows UTC."""
        from dbt.artifacts.resources.types import BatchSize
        from dbt.materializations.incremental.microbatch import MicrobatchBuilder

        size = BatchSize(self._size)
        first = _time("since", since) if since else _time("begin", self._node.config.begin)
        last = _time("until", until) if until else datetime.now(timezone.utc)
        start = MicrobatchBuilder.truncate_timestamp(first.replace(tzinfo=timezone.utc), size)
        while (end := MicrobatchBuilder.offset_timestamp(start, size, 1)) <= last.replace(tzinfo=timezone.utc):
            yield start.replace(tzinfo=None), end.replace(tzinfo=None)
            start = end

    def _inputs(self) -> Iterator[tuple[str, Any, str]]:
        """The inputs that dbt cuts in batches: name, node and event time."""
        for id_ in self._node.depends_on.nodes:
            one = self._manifest.nodes.get(id_) or self._manifest.sources.get(id_)
            if one is None:
                continue
            time = one.config.get("event_time")
            if not time:
                self._unknown.append(f"{one.name} has no event_time: each batch reads all of it, whatever has changed")
            elif one.config.get("materialized") == "ephemeral":
                self._unknown.append(f"{one.name} is ephemeral: its inputs aren't looked at")
            else:
                yield one.name, one, str(time)

    def _counted(
        self, relation: str, name: str, time: str, span: tuple[datetime, datetime], oldest_or_newest: str
    ) -> dict[datetime, Counted]:
        """Counts of a relation's rows by batch: start of the batch -> count; batches without rows are left out."""
        before, after = self._margins if oldest_or_newest == "max" else (ZERO, ZERO)
        unit, column = self._size.upper(), f"CAST({named(time)} AS TIMESTAMP_NTZ)"
        first, last = (
            f"CAST(date_trunc('{unit}', moment{f' {sign} {margin.sql()}' if margin.micros else ''}) AS TIMESTAMP_NTZ)"
            for sign, margin in (("-", after), ("+", before))
        )
        # A row is in the batches that read it: in its own, or with margins perhaps in others.
        starts = first if first == last else f"explode(sequence({first}, {last}, INTERVAL '1' {unit}))"
        since, until = (f"TIMESTAMP_NTZ'{edge:%Y-%m-%d %H:%M:%S}'" for edge in span)

        def query(written: str) -> str:
            rows = (
                f"SELECT {column} AS moment, count(*) AS n, {written} AS written FROM {relation} WHERE {column} >= "
                f"{since} - {before.sql()} AND {column} < {until} + {after.sql()} GROUP BY 1"
            )
            return (
                f"SELECT date_format(start, '{_SHOWN}'), sum(n), {oldest_or_newest}(written) FROM (\n"
                f"SELECT {starts} AS start, n, written FROM (\n{rows}\n)\n)\n"
                f"WHERE start >= {since} AND start < {until} GROUP BY start"
            )

        try:
            found = self._ask(query(_WRITTEN.format(oldest_or_newest)))
        except SparkError as error:
            if not error.fault.condition.startswith("UNRESOLVED_COLUMN"):
                raise
            self._unknown.append(f"{name} doesn't say when its rows were written: no batch is known to be stale by it")
            found = self._ask(query("CAST(NULL AS BIGINT)"))
        return {
            datetime.strptime(str(start), "%Y-%m-%d %H:%M:%S"): Counted(int(rows), None if at is None else int(at))
            for start, rows, at in found
        }

    def _checked(self, batch: Batch) -> Batch:
        """A batch that seems to be missing, with `gives_rows`, for which its query runs."""
        from dbt.artifacts.resources.types import BatchSize
        from dbt.compilation import Compiler
        from dbt.contracts.graph.nodes import BatchContext
        from dbt.materializations.incremental.microbatch import MicrobatchBuilder

        node = deepcopy(self._node)
        start, end = (edge.replace(tzinfo=timezone.utc) for edge in (batch.start, batch.end))
        id_ = MicrobatchBuilder.batch_id(start, BatchSize(self._size))
        node.batch = BatchContext(id=id_, event_time_start=start, event_time_end=end)
        sql = Compiler(self._adapter.config).compile_node(node, self._manifest, write=False).compiled_code
        return replace(batch, gives_rows=bool(self._ask(f"SELECT 1 FROM (\n{sql}\n) LIMIT 1")))

    def _ask(self, sql: str) -> Sequence[Any]:
        _, cursor = self._adapter.connections.add_query(sql, auto_begin=False)
        return list(cursor.fetchall())


def _interval(name: str, given: str | None) -> Interval:
    try:
        read = Interval.parse(given) if given else ZERO
    except IntervalError as error:
        raise DbtRuntimeError(f"{name}: {error}\n  write it such as '1 hour'") from error
    if read.micros < 0:
        raise DbtRuntimeError(f"{name} is negative: {given}\n  write it such as '1 hour'")
    return read


def _time(name: str, given: Any) -> datetime:
    if isinstance(given, datetime):
        return given
    try:
        return read_time(str(given))
    except ValueError as error:
        raise DbtRuntimeError(
            f"{name} is no time: {given}\n  write it such as 2024-01-31 or 2024-01-31T12:00"
        ) from error


def _seconds(micros: int | None) -> float | None:
    return None if micros is None else round(micros / 1e6, 3)
