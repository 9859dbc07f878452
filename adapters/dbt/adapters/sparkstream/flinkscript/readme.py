"""The README.md of a project that a script has become."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.flinkscript.escapes import Variable, markdown_code, markdown_text
from dbt.adapters.sparkstream.flinkscript.inputs import FOLDER

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.flinkscript.inputs import Input
    from dbt.adapters.sparkstream.flinkscript.leftovers import Leftover
    from dbt.adapters.sparkstream.flinkscript.models import Models
    from dbt.adapters.sparkstream.flinkscript.relations import Model

_CONNECTOR = (
    "Spark fetches its connector to Kafka at its first start: `spark.jars.packages` in `profiles.yml` has the version, "
    "which is that of Spark. A server takes it when it is started."
)

_SECRETS = (
    "The project has none of these values of the script. Set the variables before you run dbt. dbt writes options of "
    "sources and models into `target/manifest.json` with their values; what is for Kafka's client may be in a file "
    "instead, as `${file:...}` (docs: Kafka)."
)

_FLUSH = (
    "`flush=True` closes all windows at the end of a run, as Flink does for files without `source.monitor-interval`. "
    "Take it out of models whose files become more: rows that come after it are late."
)


def readme(
    name: str, file: str, made: Models, leftovers: Sequence[Leftover], variables: Mapping[Variable, Sequence[str]]
) -> Iterator[str]:
    """The lines of README.md.

    Args:
        name: the project's.
        file: the name of the script.
        made: the project's models, sources and seeds.
        leftovers: parts of the script without a counterpart.
        variables: the variables that hold secrets of the script -> places of their use.
    """
    yield f"# {name}"
    yield ""
    yield f"Made of {markdown_code(file)} by `sparkstream import flink`. To build it:"
    yield ""
    yield "```shell"
    yield "dbt build"
    yield "```"
    yield ""
    yield "`profiles.yml` has a Spark within the dbt process; the tables lie in `.sparkstream/`."
    if variables:
        yield from _section("Secrets", _SECRETS)
        used = ((f"`{v.name}`", markdown_code(v.option), "; ".join(places)) for v, places in variables.items())
        yield from _table("", ("variable", "in the script", "used in"), used)
    yield from _table("Models", ("model", "is"), ((f"`{m.node}`", _kind(m)) for m in made.models))
    yield from _inputs(made)
    streams = [m for m in made.models if m.config.get("materialized") == "streaming_incremental"]
    if streams:
        yield from _section(
            "Streams",
            "Each `dbt run` reads what came since the last one, and appends the windows that are over. These tables",
            "have one column more, `micro_batch`.",
            *(["", _FLUSH] if any(m.config.get("flush") for m in streams) else []),
        )
    tables = [m for m in made.models if m.reason]
    if tables:
        yield from _section(
            "Tables instead of streams",
            "The script runs these as streams. Here they are tables, which each run computes from all rows.",
        )
        yield from _table("", ("model", "why"), ((f"`{m.node}`", markdown_text(m.reason)) for m in tables))
    disabled = [m for m in made.models if m.disabled]
    if disabled:
        yield from _section(
            "Disabled", "These can't run as they are. Mend the SQL and take `enabled=False` out of the model's config."
        )
        yield from _table("", ("model", "why"), ((f"`{m.node}`", markdown_text(m.disabled)) for m in disabled))
    if leftovers:
        yield from _section("Not in the project")
        rows = (
            (f"{left.line or ''}", markdown_code(left.what), left.why, left.instead)
            for left in sorted(leftovers, key=lambda left: left.line or 0)
        )
        yield from _table("", ("line", "in the script", "why it isn't here", "instead"), rows)


def _kind(model: Model) -> str:
    kind = str(model.config["materialized"]).replace("_", " ")
    sink = model.config.get("sink")
    if isinstance(sink, dict):
        kind = f"{kind}, whose rows go to {_topic(sink['topic'])}, too"
    return "; ".join([f"{kind}, disabled" if model.disabled else kind, *model.notes])


def _inputs(made: Models) -> Iterator[str]:
    if not (made.sources or made.seeds):
        return
    yield from _section(
        "Inputs",
        "Where the script names files, `macros/create_inputs.sql` makes a table of them before each run, where there",
        "is none, as `models/inputs.yml` says. A topic of Kafka is read by a model of the table's name, into a table.",
        "Of other connectors the macro makes an empty table, which something has to fill.",
        *(["", _CONNECTOR] if any(s.input.stream for s in made.sources if s.input) else []),
    )
    rows = []
    for source in (*made.sources, *made.seeds):
        given = source.input
        if given is None or source.table is None:
            place = f"in schema {markdown_code(source.schema)}" if source.schema else "in the schema of the inputs"
            rows.append((f"`{source.node}`", "", f"the script doesn't define it: make it {place}"))
            continue
        what = given.setup or _rows_of(given)
        said = "; ".join([what, *given.notes])
        if source.table.watermark_fault:
            said += f"; no watermark: {source.table.watermark_fault[0]}. Write `event_time` and `watermark` by hand"
        rows.append((f"`{source.node}`", markdown_text(source.table.connector), said))
    yield from _table("", ("table", "connector", "rows"), rows)


def _rows_of(given: Input) -> str:
    if given.stream:
        options = given.stream["options"]
        return _topic(options.get("subscribe") or options["subscribePattern"])
    if given.seed is not None:
        return "a seed"
    if isinstance(given.location, Variable):
        return f"files in `{given.location.name}`"
    folder = ["{{ var('" + FOLDER + "') }}"] if given.relative else []
    return f"files in {markdown_code('/'.join(filter(None, [*folder, given.location])))}"


def _topic(name: str | Variable) -> str:
    return f"the topic {markdown_code(name) if isinstance(name, str) else f'in `{name.name}`'}"


def _section(title: str, *lines: str) -> Iterator[str]:
    yield ""
    yield f"## {title}"
    if lines:
        yield ""
        yield from lines


def _table(title: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    rows = list(rows)
    if not rows:
        return
    if title:
        yield from _section(title)
    yield ""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
