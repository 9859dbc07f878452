"""A model, test, analysis or snapshot in plain Spark SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.batches.edges import batch_of
from dbt.adapters.sparkstream.compiling.hook import DIALECT
from dbt.adapters.sparkstream.export import templates
from dbt.adapters.sparkstream.export.marks import Marks, Unwritable
from dbt.adapters.sparkstream.export.rendering import Rendered, Renderer
from dbt.adapters.sparkstream.messages.mistakes import PACKAGES
from dbt.adapters.sparkstream.streaming import MATERIALIZATION
from dbt.adapters.sparkstream.streaming.settings import OURS

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.compiling.host import Host

_STRATEGIES = ("append", "insert_overwrite", "merge", "microbatch")
_UNITS = {"hour": ("2024-01-01 00", "2024-01-01 01"), "day": ("2024-01-01 00", "2024-01-02 00")}
_KEPT_OF_TESTS = ("severity", "warn_if", "error_if", "limit", "fail_calc", "store_failures", "tags")


@dataclass
class Written:
    """A node in the exported project.

    Attributes:
        text: its template; None if its file can stay as it is.
        notes: remarks for the user.
    """

    text: str | None
    notes: list[str] = field(default_factory=list)


class Writer:
    """Translates nodes to plain Spark SQL.

    Args:
        adapter: of the project's target.
        manifest: the project.
        as_tables: True to write models that only the adapter can add to as tables.
    """

    def __init__(self, adapter: Host, manifest: Any, as_tables: bool) -> None:
        self._renderer = Renderer(adapter, manifest)
        self._adapter = adapter
        self._macros: dict[str, Any] = manifest.macros
        self._as_tables = as_tables

    def write(self, node: Any) -> Written:
        """A node in plain Spark SQL.

        Raises:
            Unwritable: it can't be expressed without the adapter.
        """
        table = self._becomes_table(node)
        try:
            return self._write(node, table)
        except DbtRuntimeError as error:
            raise Unwritable(str(error.msg).strip()) from error

    def uses_ours(self, node: Any) -> bool:
        """True if a node calls a macro of the package, itself or through other macros."""
        return self._calls_ours(node, node.raw_code, node.depends_on.macros)

    def _calls_ours(self, node: Any, template: str, recorded: Sequence[str] = ()) -> bool:
        # dbt records no macro that is called below `{% if execute %}`.
        names = templates.names(template)
        if not names.isdisjoint(PACKAGES):
            return True
        keys = ([f"macro.{package}.{name}" for package in (node.package_name, *PACKAGES)] for name in names)
        called = [next((key for key in of_name if key in self._macros), "") for of_name in keys]
        remaining, seen = [*recorded, *filter(None, called)], set()
        while remaining:
            name = remaining.pop()
            if name.split(".")[1] in PACKAGES:
                return True
            if name not in seen and name in self._macros:
                seen.add(name)
                remaining += self._macros[name].depends_on.macros
        return False

    def test(self, node: Any) -> str | None:
        """A generic test as a singular test; None if it can stay, as it needs no adapter.

        Raises:
            Unwritable: it can't be expressed without the adapter.
        """
        marks = Marks()
        try:
            done = self._renderer.render(node, node.raw_code, marks)
        except DbtRuntimeError as error:
            raise Unwritable(str(error.msg).strip()) from error
        if not (done.changed or self.uses_ours(node)):
            return None
        given = node.unrendered_config or {}
        configs = [f"{name}={node.config.get(name)!r}" for name in _KEPT_OF_TESTS if given.get(name) not in (None, [])]
        head = f"{{{{ config({', '.join(configs)}) }}}}\n" if configs else ""
        return f"{head}{marks.restore(done.sql).strip()}\n"

    def _becomes_table(self, node: Any) -> bool:
        """True if a model is written as a table, because only the adapter can add to its rows.

        Raises:
            Unwritable: it is such a model, and `as_tables` is False.
        """
        if node.resource_type != "model":
            return False
        materialized, strategy = node.config.materialized, node.config.get("incremental_strategy")
        if materialized == MATERIALIZATION:
            why = "it is a streaming model, and only the adapter runs streams"
        elif materialized != "incremental" or strategy in (None, *_STRATEGIES):
            return False
        elif strategy == "window_replace":
            why = "incremental_strategy='window_replace' is the adapter's"
        else:
            why = f"dbt-spark takes no incremental_strategy={strategy!r} of a project"
        if not self._as_tables:
            raise Unwritable(f"{why}\n  --as-tables writes it as a table, which each run computes from all rows")
        return True

    def _write(self, node: Any, table: bool) -> Written:
        configs = OURS | templates.OF_INCREMENTS if table else OURS
        raw = node.raw_code
        marks = Marks()
        whole = self._renderer.render(node, raw, marks)
        added: Rendered | None = None
        if whole.asked and not table:
            added = self._renderer.render(node, raw, marks, incremental=True)
        ours = self.uses_ours(node) or whole.changed or bool(added and added.changed) or bool(node.config.get(DIALECT))
        self._check_hooks(node)
        if not ours and not table:
            text = templates.without_configs(raw, configs)
            return Written(None if text == raw else text)
        self._check(node, raw, [*whole.pieces, *(added.pieces if added else ())])
        notes: list[str] = []
        sql = [self._with_values(node, raw, marks, whole, False, notes)]
        if added:
            sql.append(self._with_values(node, raw, marks, added, True, notes))
        body = marks.restore(sql[0])
        if added and sql[1] != sql[0]:
            body = _either(marks.restore(sql[1]), body)
        head = templates.header(raw, configs, "materialized='table'" if table else "")
        return Written(f"{head}\n{body.strip()}\n" if head else f"{body.strip()}\n", list(dict.fromkeys(notes)))

    def _with_values(
        self, node: Any, raw: str, marks: Marks, done: Rendered, incremental: bool, notes: list[str]
    ) -> str:
        """The SQL with marks in place of as many values of variables as can stay Jinja.

        A value can if the SQL with its mark is the same SQL but for the value: the translation doesn't depend on it.
        """
        values = {p.text: self._renderer.value(node, p.text) for p in templates.pieces(raw) if p.is_value}
        sql, stay = done.sql, dict[str, str]()
        for jinja, value in values.items():
            trial = {**stay, jinja: value}
            template = templates.replaced(raw, {text: marks.value(text) for text in trial})
            try:
                marked = self._renderer.render(node, template, marks, incremental).sql
            except DbtRuntimeError:  # a mark isn't an interval, a number, ...
                marked = ""
            if value and marks.substitute(marked, trial) == done.sql:
                sql, stay = marked, trial
            else:
                notes.append(f"{jinja} is written as its value, {value}")
        others = [p for p in templates.pieces(raw) if not p.is_value and not p.is_config and p.names & templates.VALUES]
        notes += [f"what {' '.join(p.text.split())} gives is written as it is now" for p in others]
        return sql

    def _check(self, node: Any, raw: str, translated: list[Any]) -> None:
        """Refuses a node whose query differs from run to run, or differs where the adapter isn't installed."""
        changing = templates.names(raw) & (templates.OF_A_RUN | {"model.batch"})
        if changing:
            raise Unwritable(f"its SQL holds {', '.join(sorted(changing))}, which is another value in each run")
        if node.config.get("incremental_strategy") == "microbatch" and node.config.materialized == "incremental":
            self._check_batches(node, translated)

    def _check_batches(self, node: Any, translated: list[Any]) -> None:
        from dbt.adapters.sparkstream.sql.membership import row_windows

        edges = _UNITS.get(node.config.get("batch_size"), _UNITS["day"])
        probe = self._probe(node, *(datetime.strptime(edge, "%Y-%m-%d %H") for edge in edges))
        for piece in translated:
            for window in row_windows(piece.sql, piece.dialect):
                if probe is None or not probe.filled_by(window):
                    raise Unwritable(
                        f"in a microbatch, {window.name} needs rows of other batches at the edges of a batch, "
                        "and only the adapter and the package read them"
                    )

    def _probe(self, node: Any, start: datetime, end: datetime) -> Any:
        from types import SimpleNamespace

        context = SimpleNamespace(event_time_start=start, event_time_end=end)
        return batch_of(self._adapter, SimpleNamespace(batch=context, config=node.config))

    def _check_hooks(self, node: Any) -> None:
        config = node.config
        for hook in [*(getattr(config, "pre_hook", None) or ()), *(getattr(config, "post_hook", None) or ())]:
            if self._calls_ours(node, hook.sql) or self._renderer.render(node, hook.sql, Marks()).changed:
                raise Unwritable(f"a hook of it holds a window, and hooks stay as they are: {hook.sql.strip()}")


def _either(added: str, whole: str) -> str:
    """Template of the SQL that adds to a table, else of the whole table's; lines in both are outside the condition."""
    first, second = added.splitlines(), whole.splitlines()
    shared = min(len(first), len(second))
    top = next((i for i in range(shared) if first[i] != second[i]), shared)
    bottom = next((i for i in range(shared - top) if first[-1 - i] != second[-1 - i]), shared - top)
    parts = [
        *first[:top],
        "{% if is_incremental() %}",
        *first[top : len(first) - bottom],
        "{% else %}",
        *second[top : len(second) - bottom],
        "{% endif %}",
        *first[len(first) - bottom :],
    ]
    if parts[parts.index("{% else %}") + 1] == "{% endif %}":
        parts.remove("{% else %}")
    return "\n".join(parts)
