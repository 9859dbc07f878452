"""Statements for comments and for names, of tables whose format replaces a table in one commit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.functional.adapter.project import Project
from tests.functional.adapter.test_comments import QUERY, sent
from tests.functional.adapter.test_comments import TEXTS as ALL_TEXTS

TEXTS = ALL_TEXTS[:-1]  # Iceberg's long texts don't fit into Hive's metastore
COLUMNS = [f"c{i}" for i in range(len(TEXTS))]
DOCS = "persist_docs={'relation': true, 'columns': true}"
SNAPSHOT = (
    "{%% snapshot kept %%}{{ config(unique_key='k', strategy='check', check_cols='all', %s) }}\n%s{%% endsnapshot %%}"
)


def descriptions(table: str = TEXTS[0], **changed: str) -> dict[str, str]:
    """The descriptions of the snapshot and of the model."""
    texts = {**dict(zip(COLUMNS, TEXTS, strict=True)), **changed}
    columns = [{"name": name, "description": text} for name, text in texts.items()]
    found = {
        f"{kind}s": [{"name": name, "description": table, "columns": columns}]
        for kind, name in {"model": "appended", "snapshot": "kept", "seed": "sown"}.items()
    }
    return {"models/schema.yml": json.dumps(found, ensure_ascii=False)}


def check_statements(make_project: Callable[..., Project], file_format: str) -> None:
    """No table is renamed, and a comment that a table has isn't sent again.

    Args:
        make_project: makes the project, in the format's Spark.
        file_format: `delta` or `iceberg`.
    """
    docs = f"{DOCS}, file_format='{file_format}'"
    config = f"materialized='incremental', incremental_strategy='append', {docs}"
    project = make_project(
        {
            "models/appended.sql": f"{{{{ config({config}) }}}}\n{QUERY}",
            "snapshots/kept.sql": SNAPSHOT % (docs, QUERY.replace("as K", "as k")),
            "seeds/sown.csv": ",".join(COLUMNS) + "\n" + ",".join("1" for _ in COLUMNS) + "\n",
            "dbt_project.yml": "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n"
            f"seeds: {{+file_format: {file_format}, +persist_docs: {{relation: true, columns: true}}}}\n",
            **descriptions(),
        }
    )
    log = Path(project.folder / "logs" / "dbt.log")
    project.dbt("build")
    assert "rename to" not in log.read_text()
    count = len(COLUMNS)
    first = sent(project)  # a seed has its comments from CREATE
    assert first == {("alter", "appended"): count, ("alter", "kept"): count}, first
    for node in project.manifest()["nodes"].values():
        found = {row[0]: row for row in project.rows(f"describe extended {{}}.{node['name']}")}
        assert [found[name][2] for name in COLUMNS] == [node["columns"][name]["description"] for name in COLUMNS]
        assert found["Comment"][1] == node["description"]
    project.dbt("build", "--exclude", "sown")
    again = sent(project)
    assert not again, again
    changed = "no longer\\ ${y} 'x'"
    project.write(descriptions(changed, c2=changed))
    project.dbt("build", "--exclude", "sown")
    last = sent(project)
    assert last == {(verb, name): 1 for verb in ("alter", "comment") for name in ("appended", "kept")}, last
