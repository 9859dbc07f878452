"""Request mode: a model's results for rows that aren't stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.compiling.written import Request
from dbt.adapters.sparkstream.sql.core.errors import did_you_mean

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.compiling.host import Host

_AS_JSON = "map('ignoreNullFields', 'false', 'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')"


def answer(adapter: Host, model: str, rows: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """A model's results for rows, each row on its own.

    Args:
        model: the model's name, or `package.name`.
        rows: the rows, as JSON has them.

    Returns:
        For each row a JSON object with the model's columns, or None where the model has no result for it.

    Raises:
        DbtRuntimeError: there is no such model, a row doesn't fit, or the query isn't computed row by row.
    """
    from dbt.compilation import Compiler

    manifest: Any = adapter.get_macro_resolver()
    node = find_model(manifest, model, "a request takes")
    compiler = Compiler(adapter.config)
    answers: list[str | None] = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise DbtRuntimeError(f'row {number} is no object\n  write {{"column": value, ...}}')
        with adapter.connections.answering(Request(node.unique_id, row)):
            sql = compiler.compile_node(deepcopy(node), manifest, write=False).compiled_code
        _, cursor = adapter.connections.add_query(
            f"SELECT to_json(struct(*), {_AS_JSON}) AS answer FROM (\n{sql}\n) AS answers", auto_begin=False
        )
        found = cursor.fetchall()
        answers.append(found[0][0] if found else None)
    return answers


def find_model(manifest: Any, name: str, purpose: str) -> Any:
    """The model of a name, which has to be written in SQL.

    Args:
        name: its name, or `package.name`.
        purpose: words for errors, before "a model in SQL", such as `a request takes`.

    Raises:
        DbtRuntimeError: there is no such model, or several, or it isn't in SQL.
    """
    models = [n for n in getattr(manifest, "nodes", {}).values() if n.resource_type == "model"]
    found = [n for n in models if name in (n.name, f"{n.package_name}.{n.name}")]
    if len(found) == 1:
        if found[0].language != "sql":
            raise DbtRuntimeError(f"{name} is written in {found[0].language}; {purpose} a model in SQL")
        return found[0]
    if found:
        raise DbtRuntimeError(
            f"several packages have a model {name}\n  write {', '.join(f'{n.package_name}.{n.name}' for n in found)}"
        )
    hint = did_you_mean(name, (n.name for n in models), "dbt ls --resource-type model lists them", most=3)
    raise DbtRuntimeError(f"there is no model {name}\n  {hint}")
