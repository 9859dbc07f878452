"""Request mode: a model's results for rows that aren't stored, as an operation and as a command."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt.adapters.sparkstream.cli import main
from tests.functional.adapter.project import Project

TRADES = """\
id,sym,ts,qty,seq
1,A,2024-03-01 10:00:00,10,1
2,A,2024-03-01 10:00:02,20,2
3,B,2024-03-01 10:00:02,5,3
4,A,2024-03-01 10:00:02,40,4
"""
QUOTES = "id,sym,ts,qty,seq\n101,A,2024-03-01 10:00:01,1,1\n102,A,2024-03-01 10:00:02,2,2\n"
FIRMS = "sym,name\nA,Alpha\nB,Beta\n"
SEEDS = """\
seeds:
  - name: trades
    config: {column_types: {id: int, sym: string, ts: timestamp, qty: int, seq: int}}
  - name: quotes
    config: {column_types: {id: int, sym: string, ts: timestamp, qty: int, seq: int}}
"""
FEATURES = """\
{{ config(sql_dialect='openmldb') }}
SELECT trades.id, firms.name, sum(qty) OVER w AS total, lag(trades.sym, 1) OVER w AS before
FROM {{ ref('trades') }} AS trades LAST JOIN {{ ref('firms') }} AS firms ON trades.sym = firms.sym
WHERE qty < 1000
WINDOW w AS (PARTITION BY trades.sym ORDER BY trades.ts ROWS_RANGE BETWEEN 5s PRECEDING AND CURRENT ROW)
"""
UNION = """\
{% call window_sql(dialect='openmldb', arrival='seq') %}
SELECT *, count(*) OVER w AS n, first_value(id) OVER w AS oldest
FROM {{ ref('trades') }}
WINDOW w AS (UNION {{ ref('quotes') }} PARTITION BY sym ORDER BY ts
             ROWS_RANGE BETWEEN 1s PRECEDING AND CURRENT ROW INSTANCE_NOT_IN_WINDOW)
{% endcall %}
"""
NESTED = """\
select f.id, f.total, f.total * 2 as doubled
from (
    select id, sum(qty) over (partition by sym order by ts rows_range between 1s preceding and current row) as total
    from {{ ref('trades') }}
) as f
"""
STREAM = """\
{{ config(materialized='streaming_incremental', event_time='ts', watermark='1 second', sql_dialect='openmldb') }}
SELECT id, sum(qty) OVER w AS total FROM {{ stream(ref('trades')) }}
WINDOW w AS (PARTITION BY sym ORDER BY ts ROWS_RANGE BETWEEN 5s PRECEDING AND CURRENT ROW)
"""
GROUPED = "select sym, count(*) as n from {{ ref('trades') }} group by sym"
ROW = {"id": 9, "sym": "A", "ts": "2024-03-01 10:00:02", "qty": 100, "seq": None}


@pytest.fixture(scope="module")
def shop(make_project: Callable[..., Project]) -> Project:
    project = make_project(
        {
            "seeds/trades.csv": TRADES,
            "seeds/quotes.csv": QUOTES,
            "seeds/firms.csv": FIRMS,
            "seeds/seeds.yml": SEEDS,
            "models/features.sql": FEATURES,
            "models/with_quotes.sql": UNION,
            "models/nested.sql": NESTED,
            "models/stream.sql": STREAM,
            "models/grouped.sql": GROUPED,
        }
    )
    project.dbt("seed")
    return project


def request(shop: Project, model: str, *rows: dict[str, Any], stdin: str | None = None) -> Result:
    """`sparkstream request`; with `stdin`, its rows come from there."""
    given = ["--rows", "-"] if stdin is not None else [a for row in rows for a in ("--row", json.dumps(row))]
    here = ["--project-dir", str(shop.folder), "--profiles-dir", str(shop.folder)]
    return CliRunner().invoke(main, ["request", model, *given, *here], input=stdin)


def answers(shop: Project, model: str, *rows: dict[str, Any]) -> list[Any]:
    result = request(shop, model, *rows)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_row_is_the_last_of_its_time(shop: Project) -> None:
    assert answers(shop, "features", ROW) == [{"id": 9, "name": "Alpha", "total": 170, "before": "A"}]


def test_rows_do_not_see_each_other_and_are_not_stored(shop: Project) -> None:
    later = {**ROW, "id": 10, "ts": "2024-03-01 10:00:06", "qty": 1}
    stored = shop.rows("select count(*) from {}.trades")
    assert [a["total"] for a in answers(shop, "features", ROW, later, ROW)] == [170, 61, 170]
    assert shop.rows("select count(*) from {}.trades") == stored


def test_unknown_key_and_null(shop: Project) -> None:
    # NULL < 1000 is not true: WHERE drops the second row
    assert answers(shop, "features", {**ROW, "sym": "Z"}, {**ROW, "qty": None}) == [
        {"id": 9, "name": None, "total": 100, "before": None},
        None,
    ]


def test_any_text(shop: Project) -> None:
    """dbt reads the rows as YAML, and not all JSON is YAML."""
    text = "🙂 é \\ \x7f \t"
    [answer] = answers(shop, "with_quotes", {**ROW, "sym": text})
    assert answer["sym"] == text


def test_union_and_star_in_window_sql(shop: Project) -> None:
    [answer] = answers(shop, "with_quotes", ROW)
    assert answer == {**ROW, "ts": "2024-03-01 10:00:02.000000", "n": 3, "oldest": 101}


def test_a_query_around(shop: Project) -> None:
    assert answers(shop, "nested", ROW) == [{"id": 9, "total": 160, "doubled": 320}]


def test_a_streaming_model_reads_what_is_there(shop: Project) -> None:
    assert answers(shop, "stream", ROW) == [{"id": 9, "total": 170}]


def test_rows_of_a_file(shop: Project) -> None:
    result = request(shop, "nested", stdin=f"{json.dumps(ROW)}\n\n{json.dumps({**ROW, 'sym': 'B'})}\n")
    assert [json.loads(line)["total"] for line in result.stdout.splitlines()] == [160, 105]


def test_the_operation(shop: Project, capsys: pytest.CaptureFixture[str]) -> None:
    shop.dbt("run-operation", "request", "--args", json.dumps({"model": "nested", "rows": ROW}))
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {"id": 9, "total": 160, "doubled": 320}


@pytest.mark.parametrize(
    ("model", "row", "message"),
    [
        ("feature", ROW, "there is no model feature\ndid you mean features?"),
        ("features", {**ROW, "sim": "A"}, "did you mean sym?"),
        ("features", {"id": 9, "sym": "A"}, "the row lacks ts, qty, seq"),
        ("features", {**ROW, "qty": "many"}, 'qty is an int, and "many" is none\nwrite a whole number of 32 bits'),
        ("features", {**ROW, "qty": 2**31}, "qty is an int"),
        ("features", {**ROW, "ts": "yesterday"}, "ts is a timestamp"),
        ("grouped", ROW, "GROUP BY gives no result for a single row"),
    ],
)
def test_faults(shop: Project, model: str, row: dict[str, Any], message: str) -> None:
    result = request(shop, model, row)
    assert result.exit_code == 1
    assert message in re.sub(r"\n +", "\n", result.stderr)
    assert result.stdout == ""


def test_rows_that_are_not_json(shop: Project) -> None:
    result = request(shop, "nested", stdin='{"id": 1}\n{id: 2}\n')
    assert (result.exit_code, "<stdin>:2 is not JSON" in result.output) == (1, True)
    assert "is no row" in request(shop, "nested", stdin="[1]").output
    assert "no row given" in request(shop, "nested").output


class TestArrival:
    """Rows with equal keys go by their arrival: by config, by argument, or in the window."""

    WINDOW = "sum(qty) over (partition by sym order by ts rows_range between 1s preceding and current row) as total"
    WAYS = {
        "config": f"{{{{ config(arrival='seq') }}}} select id, {WINDOW} from {{{{ ref('ties') }}}}",
        "argument": (
            "{% call window_sql(dialect='openmldb', arrival='seq') %}"
            f"select id, {WINDOW} from {{{{ ref('ties') }}}}"
            "{% endcall %}"
        ),
        "order": f"select id, {WINDOW.replace('order by ts', 'order by ts, seq')} from {{{{ ref('ties') }}}}",
    }

    @pytest.fixture(scope="class")
    def project(self, make_project: Callable[..., Project]) -> Project:
        # The later a row arrived, the earlier it stands here.
        rows = "".join(f"{i},A,2024-03-01 10:00:00,{2**i},{-i}\n" for i in range(6))
        models = {f"models/by_{way}.sql": sql for way, sql in self.WAYS.items()}
        seeds = SEEDS.replace("trades", "ties")
        project = make_project(
            {
                "seeds/ties.csv": f"id,sym,ts,qty,seq\n{rows}",
                "seeds/quotes.csv": QUOTES,
                "seeds/seeds.yml": seeds,
                **models,
                "models/wrong.sql": self.WAYS["config"].replace("'seq'", "['seq']"),
            }
        )
        project.dbt("build", "--exclude", "wrong")
        return project

    @pytest.mark.parametrize("way", WAYS)
    def test_arrival_decides(self, project: Project, way: str) -> None:
        assert project.rows(f"select id, total from {{}}.by_{way}") == [(i, 64 - 2**i) for i in range(6)]

    def test_what_is_no_column(self, project: Project) -> None:
        assert "arrival is a column's name" in project.failure("compile", "--select", "wrong")
