"""A dbt project out of recorded cases: their tables, their views, and their statements as models."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from tests.golden.runner import Case, Relation, covering, flink_type, quoted
from tests.integration.doors import through

_VIEW = re.compile(r"CREATE\s+VIEW\s+(\w+)\s+AS\s+(.*)", re.I | re.S)

# Statements that mean something else in Spark outside their windows, by tag; island and macro don't change that.
_FLINKS_OWN = {"typing", "functions", "comments", "groupwindow", "plain", "over", "columns"}


def files(cases: Mapping[str, Iterable[Case]]) -> dict[str, str]:
    """The models of cases: path -> text.

    Each case becomes a view, called as `model_name` says; its tables are views as well.

    Args:
        cases: door -> the cases that go through it.
    """
    texts: dict[str, str] = {}
    tables: dict[str, str] = {}
    for door, case in ((door, case) for door, of_door in cases.items() for case in of_door):
        models = {}
        for name, table in case.tables.items():
            sql = _table(table)
            word = re.sub(r"\W", "_", name)
            models[name] = tables.setdefault(name + sql, f"table_{word}_{len(tables)}")
            texts[f"models/tables/{models[name]}.sql"] = sql
        for statement in case.setup:
            view = _VIEW.fullmatch(statement.strip().rstrip(";"))
            assert view, f"no CREATE VIEW: {statement}"
            model = f"{model_name(case, 'window_sql')}__{view[1]}"
            texts[f"models/views/{model}.sql"] = through("window_sql", view[2], models)
            models[view[1]] = model
        texts[f"models/cases/{model_name(case, door)}.sql"] = through(door, case.sql, models)
    return texts


def model_name(case: Case, door: str) -> str:
    """The model of a case."""
    return f"{case.id.replace('-', '_')}__{door}"


def _table(table: Relation) -> str:
    types = [flink_type(type_) for _, type_ in table.columns]
    rows = [
        "(" + ", ".join(_text(value, type_) for value, type_ in zip(row, types, strict=True)) + ")"
        for row in table.rows or [[None] * len(types)]
    ]
    columns = [
        f"CAST(c{i} AS {type_}) AS {quoted(name)}"
        for i, ((name, _), type_) in enumerate(zip(table.columns, types, strict=True))
    ]
    names = ", ".join(f"c{i}" for i in range(len(types)))
    where = "" if table.rows else "\nWHERE FALSE"
    return f"SELECT {', '.join(columns)}\nFROM VALUES\n  " + ",\n  ".join(rows) + f"\nAS v ({names}){where}\n"


def _text(value: object, type_: str) -> str:
    """A value as text, for a cast; TIMESTAMP_LTZ values are recorded in UTC."""
    if value is None:
        return "CAST(NULL AS STRING)"
    text = str(value) + ("Z" if type_ == "TIMESTAMP" else "")
    # JSON's quoting of a text is also Spark's.
    return json.dumps(text)


def sample(cases: Iterable[Case], door: str) -> list[Case]:
    """Few cases that have every construct which the door can say."""
    said = [case for case in cases if door in ("window_sql", "config") or not _FLINKS_OWN & set(case.tags)]
    return covering(said, least=3)
