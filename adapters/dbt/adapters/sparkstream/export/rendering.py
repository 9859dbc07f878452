"""Rendering of a node's template to Spark SQL, with marks where the result is to have Jinja again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.adapters.sparkstream.compiling.hook import DIALECT
from dbt.adapters.sparkstream.export.marks import Marks, Unwritable

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.compiling.host import Host
    from dbt.adapters.sparkstream.compiling.written import Written

_HARMLESS = frozenset(
    (
        "dispatch",
        "type",
        "quote",
        "named",
        "window_sql",
        "refuse_argument",
        "check_columns",
        "stream",
        "get_incremental_strategy_macro",
    )
)
"""Methods of the adapter that a template may call: they read nothing of the warehouse but columns."""


@dataclass(frozen=True)
class Rendered:
    """A node's SQL.

    Attributes:
        rendered: Jinja's output, before the whole is translated.
        sql: Spark SQL.
        pieces: SQL that was translated: blocks of window_sql, and the whole.
        asked: True if the template called `is_incremental()`.
    """

    rendered: str
    sql: str
    pieces: tuple[Written, ...]
    asked: bool

    @property
    def changed(self) -> bool:
        return self.rendered != self.sql or len(self.pieces) > 1


class Renderer:
    """Renders the templates of a project.

    Args:
        adapter: of the project's target.
        manifest: the project.
    """

    def __init__(self, adapter: Host, manifest: Any) -> None:
        from dbt.compilation import Compiler

        self._adapter = adapter
        self._manifest = manifest
        self._compiler: Any = Compiler(adapter.config)

    def render(self, node: Any, template: str, marks: Marks, incremental: bool = False) -> Rendered:
        """A node's SQL.

        Args:
            node: the node.
            template: its template, or one that differs from it in marks.
            marks: makes the marks of relations.
            incremental: value of `is_incremental()`.

        Raises:
            Unwritable: the template queries the warehouse.
            CompilationError: it has a mistake.
        """
        from dbt.clients.jinja import get_rendered

        node = deepcopy(node)
        context, asked = self._context(node, marks, incremental)
        connections = self._adapter.connections
        with self._adapter.working_on(node), self._schemas(marks), connections.recording() as pieces:
            rendered = get_rendered(template, context, node)
            sql = connections.written(rendered, node.config.get(DIALECT) or "spark", "the compiled SQL")
        return Rendered(rendered, sql, tuple(pieces), bool(asked))

    def value(self, node: Any, template: str) -> str:
        """Output of a piece of Jinja."""
        from dbt.clients.jinja import get_rendered

        node = deepcopy(node)
        return str(get_rendered(template, self._context(node, Marks(), False)[0], node))

    def _context(self, node: Any, marks: Marks, incremental: bool) -> tuple[dict[str, Any], list[bool]]:
        """dbt's names for a node, with marks for relations; and a list that gets an entry by `is_incremental()`."""
        from dbt.clients.jinja import add_rendered_test_kwargs
        from dbt.contracts.graph.nodes import GenericTestNode

        context: dict[str, Any] = self._compiler._create_node_context(node, self._manifest, {})
        asked: list[bool] = []

        def is_incremental() -> bool:
            asked.append(True)
            return incremental

        given = {
            "ref": _marked(context["ref"], "ref", marks),
            "source": _marked(context["source"], "source", marks),
            "is_incremental": is_incremental,
            "adapter": _WithoutWarehouse(context["adapter"], marks),
        }
        if context.get("this") is not None:
            given["this"] = marks.relation(context["this"], "{{ this }}")
        context.update(given)
        context["builtins"].update({name: given[name] for name in ("ref", "source")})
        if isinstance(node, GenericTestNode):
            add_rendered_test_kwargs(context, node)
        return context, asked

    @contextmanager
    def _schemas(self, marks: Marks) -> Iterator[None]:
        """Gives the translator the columns of the relations that marks replace."""
        connections: Any = self._adapter.connections
        ask: Callable[[list[str]], Mapping[str, Mapping[str, str]]] = connections._schema

        def schema(names: list[str]) -> dict[str, Mapping[str, str]]:
            real = {name: str(marks.real(name) or name) for name in names}
            found = ask(list(dict.fromkeys(real.values())))
            return {name: found[relation] for name, relation in real.items() if relation in found}

        connections._schema = schema
        try:
            yield
        finally:
            del connections._schema


def _marked(resolve: Callable[..., Any], function: str, marks: Marks) -> Callable[..., Any]:
    def marked(*args: Any, **kwargs: Any) -> Any:
        given = [repr(arg) for arg in args] + [f"{name}={value!r}" for name, value in kwargs.items()]
        return marks.relation(resolve(*args, **kwargs), f"{{{{ {function}({', '.join(given)}) }}}}")

    return marked


class _WithoutWarehouse:
    """dbt's `adapter` for templates, which reads the columns of tables and nothing else from the warehouse."""

    def __init__(self, adapter: Any, marks: Marks) -> None:
        self._adapter = adapter
        self._marks = marks

    def get_columns_in_relation(self, relation: Any) -> Any:
        real = self._marks.real(relation.render())
        return self._adapter.get_columns_in_relation(relation if real is None else real)

    def __getattr__(self, name: str) -> Any:
        if name not in _HARMLESS:
            raise Unwritable(
                f"its Jinja asks the warehouse while it is compiled (adapter.{name})"
                ", and the answer may be another one in each run"
            )
        return getattr(self._adapter, name)
