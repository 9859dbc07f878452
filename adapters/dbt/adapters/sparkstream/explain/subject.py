"""A model of a dbt project, or a statement, explained with rows of the project's warehouse or of a unit test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.sparkstream.compiling.requests import find_model
from dbt.adapters.sparkstream.compiling.written import Written
from dbt.adapters.sparkstream.explain.earlier import text_of
from dbt.adapters.sparkstream.explain.laststream import LastRun
from dbt.adapters.sparkstream.explain.report import Report, Section, Size
from dbt.adapters.sparkstream.explain.sampling import Ask, section
from dbt.adapters.sparkstream.sql import Explanation, TranslationError, explain
from dbt.adapters.sparkstream.sql.core.errors import did_you_mean
from dbt.adapters.sparkstream.sql.membership import Use, find
from dbt.adapters.sparkstream.sql.passes.optimize.passes import Decision

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.compiling.host import Host
    from dbt.adapters.sparkstream.sql.streaming import StreamPlan


@dataclass(frozen=True)
class Options:
    """Subject of an explanation, and its rows.

    Attributes:
        sql: a statement instead of a model.
        dialect: the statement's dialect.
        arrival: its column that numbers rows in order of arrival.
        name: the statement's name in the report.
        unit_test: the unit test of the model whose rows are taken; None for the warehouse's rows.
        read: True to read rows.
        sample: most rows to draw; 0 to count them only.
        since: rows are drawn from this time on.
        against: a file or a revision of git with another version of the model, to be compared with.
    """

    sql: str | None = None
    dialect: str = "spark"
    arrival: str | None = None
    name: str = ""
    unit_test: str | None = None
    read: bool = True
    sample: int = 60
    since: str | None = None
    against: str | None = None


@dataclass(frozen=True)
class _Compiled:
    """A model as it runs, and its pieces that were translated; a streaming model as a query, and as its plan."""

    name: str
    written: str
    dialect: str
    sql: str
    pieces: Sequence[Written]
    ctes: Sequence[str]
    plan: StreamPlan | None = None


_received: list[Report] | None = None


@contextmanager
def receiving() -> Iterator[list[Report]]:
    """Collects the reports that this process makes, as dbt's operations return nothing."""
    global _received
    found: list[Report] = []
    _received = found
    try:
        yield found
    finally:
        _received = None


def explained(adapter: Host, model: str | None, options: Options) -> list[str]:
    """A model or statement explained, in lines of text.

    Raises:
        DbtRuntimeError: there is no such model or unit test.
        CompilationError: it can't be translated.
    """
    compiled = _statement(adapter, options) if model is None else _model(adapter, model, options.unit_test)
    found = report(adapter, compiled, options)
    if model is not None and options.against is not None:
        other = _model(adapter, model, options.unit_test, options.against)
        found = replace(found, before=replace(report(adapter, other, options), name=options.against))
    if _received is not None:
        _received.append(found)
    return list(found.lines(Size()))


def _statement(adapter: Host, options: Options) -> _Compiled:
    sql = options.sql or ""
    optimize = bool(getattr(adapter.config.credentials, "optimize", True))
    spark = adapter.connections.translated(sql, options.dialect, options.name, options.arrival)
    piece = Written(sql, options.dialect, options.arrival, optimize)
    return _Compiled(options.name, sql, options.dialect, spark, [piece], [])


def _model(adapter: Host, name: str, unit_test: str | None, against: str | None = None) -> _Compiled:
    from dbt.compilation import Compiler

    manifest: Any = adapter.get_macro_resolver()
    node = find_model(manifest, name, "explain takes")
    if against is not None:
        node = deepcopy(node)
        node.raw_code = text_of(against, Path(adapter.config.project_root), node.original_file_path)
    compiler = Compiler(adapter.config)
    subject, where = (node, manifest) if unit_test is None else _unit_test(adapter, manifest, node, unit_test)
    with adapter.connections.recording() as recorded:
        done = compiler.compile_node(deepcopy(subject), where, write=False)
    ctes = [cte.sql.strip() for cte in done.extra_ctes if cte.sql]
    # Of a window_sql, the SQL around it is recorded behind it, with Spark SQL in its place.
    dialect = recorded[0].dialect
    plan = None
    if unit_test is None and adapter.streams(node):
        plan = adapter.stream_plan(compiler.compile_node(deepcopy(node), manifest, write=False))
    return _Compiled(node.name, node.raw_code, dialect, done.compiled_code or "", recorded, ctes, plan)


def _unit_test(adapter: Host, manifest: Any, node: Any, name: str) -> tuple[Any, Any]:
    """The node that dbt makes of a unit test, and the manifest with its rows."""
    from dbt.parser.unit_tests import UnitTestManifestLoader

    tests = [t for t in manifest.unit_tests.values() if node.unique_id in t.depends_on.nodes[:1]]
    chosen = next((t for t in tests if t.name == name), None)
    if chosen is None:
        names = [t.name for t in tests]
        hint = did_you_mean(name, names, f"it has {', '.join(names) or 'none'}")
        raise DbtRuntimeError(f"{node.name} has no unit test {name}\n  {hint}")
    loaded = UnitTestManifestLoader(manifest, adapter.config, {chosen.unique_id}).load()
    return loaded.nodes[chosen.unique_id], loaded


def report(adapter: Host, compiled: _Compiled, options: Options) -> Report:
    """Report on a compiled statement: the optimiser's decisions, and windows with rows in them."""
    connections = adapter.connections
    decisions: list[Decision] = []
    sections: list[Section] = []

    def ask(sql: str) -> Sequence[Sequence[Any]]:
        _, cursor = connections.add_query(sql, auto_begin=False)
        rows: Sequence[Sequence[Any]] = cursor.fetchall()
        return rows

    for number, piece in enumerate(compiled.pieces):
        schema = connections.schema_for(piece.sql, piece.dialect)
        last = number == len(compiled.pieces) - 1
        with connections.options.limits():
            if compiled.plan is None:
                found = explain(
                    piece.sql,
                    piece.dialect,
                    schema=schema,
                    arrival=piece.arrival,
                    optimize=piece.optimize,
                    skewed=piece.skewed,
                )
                decisions += found.decisions
            uses = _uses(piece, schema, own_frames=not (last and number)) if options.read else []
        if options.read:
            sections += [_section(use, compiled.ctes, ask, options) for use in uses]
    stream = _last_run(adapter, compiled, ask) if compiled.plan and options.read else None
    if stream:
        sections = [stream.marked(section) for section in sections]
    origin = f"the rows of the unit test {options.unit_test}" if options.unit_test else "rows of the warehouse"
    return Report(
        compiled.name,
        compiled.written,
        compiled.dialect,
        _explanation(compiled, decisions),
        origin,
        tuple(sections),
        stream=stream.lines if stream else (),
    )


def _last_run(adapter: Host, compiled: _Compiled, ask: Ask) -> LastRun | None:
    """Results of a stream's last runs; None if this target has no overview of streams."""
    try:
        [told] = adapter.stream_overview([compiled.name])
    except DbtRuntimeError:
        return None
    return LastRun.of(told, ask)


def _explanation(compiled: _Compiled, decisions: Sequence[Decision]) -> Explanation:
    plan = compiled.plan
    if plan is None:
        return Explanation(compiled.sql, tuple(decisions))
    return Explanation(plan.describe(), plan.decisions, kinds="HOP or CUMULATE of a stream")


def _uses(piece: Written, schema: Any, own_frames: bool) -> list[Use]:
    try:
        return find(piece.sql, piece.dialect, schema=schema, arrival=piece.arrival, own_frames=own_frames)
    except TranslationError:
        # Spark SQL that sqlglot doesn't read, with nothing of ours in it.
        return []


def _section(use: Use, ctes: Sequence[str], ask: Ask, options: Options) -> Section:
    if ctes:
        with_ = ", ".join(ctes)
        use = replace(
            use,
            inputs=tuple(replace(i, sql=f"WITH {with_}\nSELECT * FROM (\n{i.sql}\n)") for i in use.inputs),
        )
    return section_of(use, ask, options.sample, options.since)


def section_of(use: Use, ask: Ask, most: int, since: str | None = None) -> Section:
    """A window with rows in it, or with Spark's error; arguments as of `section`."""
    try:
        return section(use, ask, most, since)
    except DbtDatabaseError as error:
        note = f"No rows can be drawn: {str(error.msg).strip().splitlines()[0]}"
        return Section(use.name, use.words, use.line, use.written, notes=(note,))
