"""Translates a node's SQL where dbt compiles it.

Every statement is translated on its way to Spark in any case. Here, people get to see the Spark SQL that runs: in
`dbt compile`, target/ and the docs site; and `config(sql_dialect='flink')` takes effect, as only here a node's own SQL
is still apart from what dbt puts around it.

dbt has no hook for this, so a private method of dbt-core is wrapped. Where a dbt-core has no such method, or doesn't
call it, a node in another dialect is refused before it runs.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.sparkstream.compiling.wrapping import wrap
from dbt.adapters.sparkstream.messages import mistakes

METHOD = "_compile_code"
DIALECT = "sql_dialect"
"""Config with the SQL dialect of a node."""


def install() -> None:
    """Wraps dbt-core's method, once, where there is one."""
    wrap("dbt.compilation", f"Compiler.{METHOD}", _translating)


def _translating(original: Any) -> Any:
    def compile_code(self: Any, node: Any, *args: Any, **kwargs: Any) -> Any:
        from dbt.adapters.factory import get_adapter

        adapter = get_adapter(self.config)
        if adapter.type() != "sparkstream":
            return original(self, node, *args, **kwargs)
        subject = _subject(node, adapter)
        texts = adapter.connections.texts
        with adapter.working_on(subject), texts.compiling() as pieces:
            adapter.finish_overwrite(node)
            try:
                node = original(self, node, *args, **kwargs)
            except DbtRuntimeError as error:
                macros = list(getattr(adapter.get_macro_resolver(), "macros", {}).values())
                raise mistakes.placed(error, subject, adapter.connections.project, macros) from error.__cause__
            if node.compiled_code and getattr(node, "language", "sql") == "sql":
                texts.is_rendered(node, pieces)
                try:
                    node.compiled_code = _translated(node, subject, adapter)
                except DbtRuntimeError as error:
                    raise mistakes.placed_config(error, subject, adapter.connections.project) from error.__cause__
                texts.is_compiled(node, subject)
        adapter.translated.add(node.unique_id)
        return node

    return compile_code


def _translated(node: Any, subject: Any, adapter: Any) -> str:
    """Spark SQL of a node whose template is rendered; for a streaming model, `compiled_stream`."""
    if adapter.streams(node):
        shown: str = adapter.compiled_stream(node, node.compiled_code)
        return shown
    sql: str = adapter.connections.written(
        node.compiled_code, subject.config.get(DIALECT) or "spark", "the compiled SQL"
    )
    return sql


def _subject(node: Any, adapter: Any) -> Any:
    """The node that the user wrote: for a unit test, the model that it tests."""
    tested = getattr(node, "tested_node_unique_id", None)
    manifest = adapter.get_macro_resolver()
    return getattr(manifest, "nodes", {}).get(tested, node)


def check(node: Any, translated: Container[str]) -> None:
    """Refuses a node in another dialect that was compiled without the wrapped method, and so wasn't translated.

    Args:
        node: the node that dbt is about to run.
        translated: the ids of the nodes that came through the wrapped method.

    Raises:
        CompilationError: the node is such a node; with what to write instead.
    """
    dialect = node.config.get(DIALECT)
    # dbt compiles nothing for a clone.
    if dialect and getattr(node, "compiled", False) and node.unique_id not in translated:
        raise CompilationError(
            f"this version of dbt-core can't take {DIALECT}={dialect!r} from a config\n"
            f"  put the SQL between {{% call window_sql(dialect={dialect!r}) %}} and {{% endcall %}}"
        )
