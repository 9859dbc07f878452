"""From a place in a statement to the line of the user's file."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.clients.jinja import get_rendered

from dbt.adapters.sparkstream.compiling import renderings
from dbt.adapters.sparkstream.messages.faults import Spot
from dbt.adapters.sparkstream.messages.places import Place, Text, described, located
from dbt.adapters.sparkstream.messages.ungrouped import ungrouped
from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.traced import Traced
from dbt.adapters.sparkstream.sql.translate import traced

HEADER = '/* {"app": "dbt"} */\n'
SCHEMA = {"db.t": {"ts": "timestamp", "a": "int", "s": "string"}}
CONTEXT = {
    "config": lambda **_: "",
    "ref": lambda name: f"db.{name}",
    "columns": lambda: "a,\n  sise",
    "tumble": lambda relation, time, size: f"tumble({relation}, {time}, '{size}')",
}


def text(folder: Path, template: str, dialect: str = "spark", name: str = "bids") -> Text:
    """A model, rendered and translated."""
    (folder / "models").mkdir(exist_ok=True)
    (folder / f"models/{name}.sql").write_text(f"\n{template}\n")
    node: Any = SimpleNamespace(name=name, raw_code=template, original_file_path=f"models/{name}.sql")
    renderings.install()
    with renderings.recording() as notes:
        sql = get_rendered(template, CONTEXT)
    translated = traced(sql, dialect, optimize=True, arrival=None, schema=SCHEMA, warn=lambda _: None, batch=None)
    return Text(node, renderings.traced(template, sql, notes), translated or Traced.same(sql))


def place(folder: Path, at: str, *texts: tuple[Text, str], statement: str | None = None) -> Place:
    """The place of the first `at` in a statement of the first text."""
    whole = f"{HEADER}create table x as\n  {texts[0][1]}" if statement is None else statement
    spot = Spot(1, whole.index(at), len(at))
    found = located(spot, whole, Traced.same(whole), texts, HEADER, folder)
    assert found is not None
    return found


# A template, in which dialect, what of its SQL is at fault, and where.
FAULTS: dict[str, tuple[str, str, str, str, str]] = {
    "a plain model": ("select a,\n  prise\nfrom db.t", "spark", "prise", "models/bids.sql:3:3", "  prise"),
    "below a macro": ("select {{ columns() }},\n  prise", "spark", "prise", "models/bids.sql:3:3", "  prise"),
    "in a macro": (
        "select a,\n{{ columns() }}\n",
        "spark",
        "sise",
        "compiled line 3, from models/bids.sql:3:1",
        "  sise",
    ),
    "a relation": ("select a\nfrom {{ ref('t') }} t", "spark", "db.t", "models/bids.sql:3:6", "from {{ ref('t') }} t"),
    "behind a relation": ("select a from {{ ref('t') }} t, u", "spark", "u", "models/bids.sql:2:33", ""),
    "beside a window": (
        "select sum(prise) as p, count(*)\nfrom << tumble({{ ref('t') }}, ts, '1 day') >>\ngroup by window_start",
        *("spark", "prise", "models/bids.sql:2:12", ""),
    ),
    "in a query by slices": (
        "select window_start,\n  avg(prise) as p\n"
        "from << hop({{ ref('t') }}, ts, '1 hour', '1 day') >>\ngroup by window_start, window_end",
        *("spark", "prise", "models/bids.sql:3:7", "  avg(prise) as p"),
    ),
    "a macro's argument": (
        "select window_start from {{ tumble(ref('t'), 'ts', '1 day') }}\nwhere prise > 1",
        *("spark", "prise", "models/bids.sql:3:7", "where prise > 1"),
    ),
    "another dialect": (
        "SELECT window_start,\n  MAX(`prise`) AS p\n"
        "FROM TUMBLE(TABLE {{ ref('u') }}, DESCRIPTOR(ts), INTERVAL '1' DAY)\n"
        "GROUP BY window_start, window_end",
        *("flink", "`prise`", "models/bids.sql:3:7", "  MAX(`prise`) AS p"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_place(name: str, tmp_path: Path) -> None:
    template, dialect, at, where, line = FAULTS[name]
    model = text(tmp_path, template, dialect)
    found = place(tmp_path, at, (model, model.translated.text))
    assert found.name == where
    assert found.line == line or not line
    assert found.in_node


@pytest.mark.parametrize(
    ("sql", "at"),
    [
        ("select a,\n  s, count(*) from db.t group by a", 12),
        ("with q as (select s from db.t)\nselect upper(s) as u, sum(a) as n from q", 44),
        ("select a, max(s) from db.t where s > 'a' group by a having s > 'b'", 59),
        ("select a, max(s) from db.t group by a", None),
        ("select s from db.t", None),
        ("select a, (select max(s) from db.t), sum(1) from (select s, a from db.t) group by a", None),
    ],
)
def test_columns_that_are_not_grouped(sql: str, at: int | None) -> None:
    assert ungrouped(sql, "s") == at


def test_ephemeral_models(tmp_path: Path) -> None:
    """dbt puts their SQL into the compiled code, as CTEs; a fault in it is at the ephemeral model's line."""
    inner = text(tmp_path, "select a,\n  prise from db.t", name="inner")
    outer = text(tmp_path, "with q as (select 1)\nselect nope\nfrom {{ ref('x') }}, q")
    own = outer.translated.text
    compiled = own.replace("with q", f"with __dbt__cte__inner as (\n{inner.translated.text}\n), q")
    texts = (outer, compiled), (inner, inner.translated.text)
    assert place(tmp_path, "prise", *texts).name == "models/inner.sql:3:3"
    assert place(tmp_path, "nope", *texts).name == "models/bids.sql:3:8"


# A template, what the translator finds at fault in its SQL, and where.
FINDINGS = {
    "a text that is there twice": ("select a from t -- ts\nwhere ts > 1", 2, "ts", "models/bids.sql:3:7"),
    "an argument set elsewhere": (
        "{% set size = '1 hour' %}\nselect * from {{ tumble('t', 'ts', size) }}",
        *(2, "'1 hour'", "models/bids.sql:2:15"),
    ),
    "a macro's own": ("select {{ columns() }}", 2, "sise", "models/bids.sql, line 2, column 3 of the SQL"),
}


@pytest.mark.parametrize("name", FINDINGS)
def test_the_translators_findings(name: str, tmp_path: Path) -> None:
    template, number, piece, where = FINDINGS[name]
    model = text(tmp_path, template)
    line = model.rendered.text.split("\n")[number - 1]
    finding = TranslationError("wrong", line=number, column=line.index(piece) + 1, source_line=line, width=len(piece))
    assert described(finding, model.node, tmp_path, "the SQL", model.rendered).split("\n")[1] == f"  {where}"


def test_a_statement_of_no_file(tmp_path: Path) -> None:
    model = text(tmp_path, "select a from db.t")
    statement = f"{HEADER}\n    alter table db.x\n    add columns (a int)\n"
    found = place(tmp_path, "add", (model, model.translated.text), statement=statement)
    assert found == Place("line 2 of the statement", "    add columns (a int)", 5, 3, in_node=False)


def test_a_statement_that_is_translated_when_it_is_sent(tmp_path: Path) -> None:
    statement = f"{HEADER}select *\nfrom tumble(db.t, ts, '1 day')\nwhere nope"
    sent = traced(statement, "spark", optimize=True, arrival=None, schema=None, warn=lambda _: None, batch=None)
    assert sent is not None
    spot = Spot(1, sent.text.index("nope"), 4)
    found = located(spot, statement, sent, [], HEADER, tmp_path)
    assert found is not None
    assert found.name == "line 3 of the statement"


@pytest.mark.parametrize("dialect", ["spark", "flink"])
def test_a_translation_keeps_its_map(dialect: str) -> None:
    """What is copied is the same in both texts, also where a statement is read twice."""
    sql = (
        "SELECT UPPER(u) AS v, p FROM (SELECT window_start, s AS u, SUM(a) AS p\n"
        "FROM TABLE(HOP(TABLE db.t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY))\n"
        "WHERE s <> 'x' GROUP BY window_start, window_end, s) AS h\nORDER BY 1"
    )
    found = traced(sql, dialect, optimize=True, arrival=None, schema=SCHEMA, warn=lambda _: None, batch=None)
    assert found is not None
    copies = [(i, at) for i in range(len(found.text)) if (at := found.exact(i)) is not None]
    assert copies
    assert all(found.text[i] == sql[at] for i, at in copies)
    assert "".join(sql[at] for _, at in copies).endswith("ORDER BY 1")
