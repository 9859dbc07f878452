"""Comments of tables: `persist_docs` sends those that differ from what the table has, and no others."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable

import pytest

from tests.functional.adapter.project import Project

pytestmark = pytest.mark.long

TEXTS = [
    'C:\\temp\\new it\'s "x" `y` \\',
    "${env:HOME} ${x} {{ '{{ x }}' }}",
    "1",
    "null",
    " first\nsecond\tthird ",
    "é ü 🙂 -- /* no comment */ ;",
    "long " * 80,
]
COLUMNS = [f"c{i}" for i in range(len(TEXTS))]
QUERY = "select " + ", ".join(f"{i} as {name}" for i, name in enumerate(COLUMNS)) + ", 1 as K, 2 as bare"
DOCS = "persist_docs={'relation': true, 'columns': true}"
KINDS = {
    "appended": "materialized='incremental', incremental_strategy='append'",
    "replaced": "materialized='incremental', incremental_strategy='insert_overwrite', partition_by=['K']",
    "tabled": "materialized='table'",
    "placed": "materialized='table', partition_by='K'",
    "viewed": "materialized='view'",
}
PYTHON = f"""
def model(dbt, session):
    dbt.config(
        materialized="incremental",
        incremental_strategy="append",
        persist_docs={{"relation": True, "columns": True}},
    )
    return session.sql("{QUERY}")
"""
CSV = ",".join([*COLUMNS, "K"]) + "\n" + ",".join("1" for _ in [*COLUMNS, "K"]) + "\n"


def schema(table: str = TEXTS[0], **changed: str) -> dict[str, str]:
    """The descriptions, but for the relations' own and some columns."""
    texts = {"k": "of a partition", **dict(zip(COLUMNS, TEXTS, strict=True)), **changed}
    columns = [{"name": name, "description": text} for name, text in texts.items()]
    named = {"description": table, "columns": columns}
    models = [{"name": name, **named} for name in [*KINDS, "in_python"]]
    text = {"version": 2, "models": models, "seeds": [{"name": "sown", **named}]}
    return {"models/schema.yml": json.dumps(text, ensure_ascii=False)}


def sent(project: Project) -> Counter[tuple[str, str]]:
    """Comments sent since the last question: of columns (`alter`) or a relation (`comment`), by the relation's name."""
    log = project.folder / "logs" / "dbt.log"
    found = re.findall(r"\b(alter|comment on) table \S+?(\w+)`? (?:alter column|is) ", log.read_text())
    log.unlink()
    return Counter((verb.split()[0], name) for verb, name in found)


def test_comments_that_a_table_has_are_not_sent(make_project: Callable[..., Project]) -> None:
    project = make_project(
        {
            **{f"models/{name}.sql": f"{{{{ config({kind}, {DOCS}) }}}}\n{QUERY}" for name, kind in KINDS.items()},
            "models/in_python.py": PYTHON,
            "seeds/sown.csv": CSV,
            "dbt_project.yml": "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n"
            "seeds: {+persist_docs: {relation: true, columns: true}}\n",
            **schema(),
        }
    )

    def check() -> None:
        """Each table has the comments of its description."""
        for node in project.manifest()["nodes"].values():
            found = {row[0]: row for row in project.rows(f"describe extended {{}}.{node['name']}")}
            for name, column in node["columns"].items():
                if name != "k":  # not every table's comment on a partition can be changed
                    text = column["description"]
                    cut = node["name"] != "viewed" and len(text) > 255
                    assert found[name][2] == (text[:252] + "..." if cut else text), (node["name"], name)
            assert found["Comment"][1] == node["description"]

    project.dbt("build")
    count = len(COLUMNS)
    assert sent(project) == {
        ("alter", "in_python"): count + 1,
        ("comment", "in_python"): 1,
    }
    check()
    project.dbt("build", "--exclude", "sown")
    assert not sent(project)
    changed = "no longer\\ ${y} 'x'"
    project.write(schema(c2=changed, table=changed))
    project.dbt("build")
    assert sent(project) == {
        (verb, name): 1 for verb in ("alter", "comment") for name in ("appended", "replaced", "in_python")
    }
    check()
