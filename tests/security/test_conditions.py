"""Conditions of users are put together each as a whole: an OR or a line comment in one changes no other."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from dbt.adapters.sparkstream.sql import translate
from dbt.adapters.sparkstream.sql.streaming import plan
from tests.lib.macros import CompilerError, Macros

COLUMNS = [SimpleNamespace(name=name, quoted=f"`{name}`") for name in ("id", "region", "amount")]
OLD = [(1, "eu", 1), (2, "us", 2), (3, "us", 3), (4, "asia", 4)]
NEW = [(1, "eu", 100), (5, "us", 500)]
EU_OR_US = "DBT_INTERNAL_DEST.region = 'eu' or DBT_INTERNAL_DEST.region = 'us'"
UP_TO_3 = "DBT_INTERNAL_DEST.amount <= 3 -- or more"
STRATEGIES = ["merge", "delete+insert"]


class Project(Macros):
    """The macros, in a node with a config."""

    def __init__(self, model: Any = None, **config: Any) -> None:
        self.statements: list[str] = []
        super().__init__(
            model=model or SimpleNamespace(resource_type="test"),
            config=SimpleNamespace(get=lambda name, default=None: config.get(name, default)),
            spark__get_merge_sql=self._merge,
            default__get_merge_update_columns=_not_excluded,
            statement=self._statement,
            is_incremental=lambda: False,
            local_md5=lambda text: "0e5",
            sparkstream_is_delta=lambda: True,
        )
        adapter: Any = self._environment.globals["adapter"]
        adapter.quote = lambda name: f"`{name}`"

    def _statement(self, *args: str, caller: Any) -> str:
        self.statements.append(caller())
        return ""

    def _merge(self, target: str, source: str, keys: list[str], columns: Any, predicates: list[str]) -> str:
        """The statement of dbt-spark, as far as its condition goes."""
        every = " and ".join([*predicates, *(f"DBT_INTERNAL_SOURCE.{k} = DBT_INTERNAL_DEST.{k}" for k in keys)])
        return (
            f"merge into {target} as DBT_INTERNAL_DEST using {source} as DBT_INTERNAL_SOURCE on {every} "
            "when matched then update set * when not matched then insert *"
        )

    def incremental(self, strategy: str, predicates: Any) -> str:
        if strategy == "merge":
            return str(self.call("sparkstream__get_merge_sql", "t", "s", "id", None, predicates))
        arguments = {
            **{"target_relation": "t", "temp_relation": "s", "unique_key": "id", "dest_columns": COLUMNS},
            "incremental_predicates": predicates,
        }
        name = {"delete+insert": "sparkstream__get_incremental_delete_insert_sql"}.get(strategy)
        return str(self.call(name or "get_incremental_replace_where_sql", arguments))


def _not_excluded(named: Any, excluded: list[str], columns: list[Any]) -> list[str]:
    """The columns that dbt's macro takes."""
    return [column.quoted for column in columns if column.name not in [name.lower() for name in excluded]]


def touched(statement: str) -> list[int]:
    """The keys of the old rows that a MERGE finds."""
    merge = sqlglot.parse_one(statement, read="spark")
    using, on = merge.args["using"], merge.args["on"]
    database = sqlite3.connect(":memory:")
    for table, rows in [("t", OLD), ("s", NEW)]:
        database.execute(f"create table {table} (id, region, amount)")
        database.executemany(f"insert into {table} values (?, ?, ?)", rows)
    found = exp.select("DBT_INTERNAL_DEST.id").distinct().from_("t AS DBT_INTERNAL_DEST").join(using, on=on)
    return sorted(row[0] for row in database.execute(found.sql("sqlite")))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("predicates", "keys"),
    [
        ([EU_OR_US], [1]),
        (EU_OR_US, [1]),
        ([EU_OR_US, UP_TO_3], [1]),
        ([UP_TO_3, EU_OR_US], [1]),
        ([UP_TO_3 + "\n", "", None], [1]),
        (["DBT_INTERNAL_DEST.region = 'us' or DBT_INTERNAL_DEST.region = 'asia'"], []),
        (["DBT_INTERNAL_DEST.amount > 3 -- none", "DBT_INTERNAL_DEST.region = 'eu' or 1 = 1"], []),
        ([], [1]),
        (None, [1]),
    ],
)
def test_predicates_are_wholes(strategy: str, predicates: Any, keys: list[int]) -> None:
    assert touched(Project().incremental(strategy, predicates)) == keys


def test_replace_where() -> None:
    text = Project().incremental("replace_where", ["day = 1 or day = 2 -- the first", "region = 'eu'"])
    assert "replace where (day = 1 or day = 2 -- the first\n)\nAND (region = 'eu')\n" in text


@pytest.mark.parametrize("where", ["id = 1 or id = 2", "id = 1 -- the first", "id = 1 -- a\n or id = 2 -- b"])
def test_where_of_a_test(where: str) -> None:
    query = Project(where=where).call("sparkstream__get_where_subquery", "t")
    (found,) = sqlglot.parse(f"select * from {query} where id is null", read="spark")
    assert found is not None
    inner = found.find(exp.Subquery)
    assert inner is not None and isinstance(inner.this.args["where"].this, exp.Paren)
    assert inner.alias == "dbt_subquery"


def test_no_where_of_a_test() -> None:
    relation = object()
    assert Project().call("sparkstream__get_where_subquery", relation) is relation


def test_checks() -> None:
    project = Project()
    project.call("sparkstream__alter_table_add_constraints", "t", [
        SimpleNamespace(type="check", name="my check", expression="a > 0 or b > 0 -- one"),
        SimpleNamespace(type="check", name=None, expression="a > 0"),
        SimpleNamespace(type="primary_key", name=None, expression="a"),
    ])  # fmt: skip
    for name, quote in [("a", False), ("my col", False), ("x.y", True)]:
        constraints = [SimpleNamespace(type="check", name=None, expression="a > 0 -- more")] if name == "a" else []
        constraints += [SimpleNamespace(type="not_null", name=None, expression=None)]
        column = SimpleNamespace(name=name, quote=quote, constraints=constraints)
        project.call("sparkstream__alter_column_set_constraints", "t", {name: column})
    shown = [" ".join(text.split(" ")).split() for text in project.statements]
    assert [" ".join(words) for words in shown] == [
        "alter table t add constraint `my check` check (a > 0 or b > 0 -- one )",
        "alter table t add constraint `0e5` check (a > 0)",
        "alter table t add constraint `a_check` check (a > 0 -- more )",
        "alter table t add constraint `a_not_null` check (a is not null)",
        "alter table t add constraint `my col_not_null` check (`my col` is not null)",
        "alter table t add constraint `x.y_not_null` check (`x.y` is not null)",
    ]
    assert all(text.rstrip().endswith("\n)") for text in project.statements if "--" in text)


@pytest.mark.parametrize("excluded", ["Id", ["`ID`", "amount"], "`id`"])
def test_excluded_columns_of_a_merge(excluded: Any) -> None:
    updated = Project().call("sparkstream__get_merge_update_columns", None, excluded, COLUMNS)
    assert updated == ["`region`", *([] if "amount" in excluded else ["`amount`"])]


VALUES = ["a or b", "a = b", "not a", "a in (1, 2)", "x is null", "case when a then b end", "-1", "`my col`"]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    ("macro", "arguments"),
    [
        ("first_by", {"time": "ts"}),
        ("last_by", {"time": ["ts", "a or b"]}),
        ("ohlc", {"time": "ts", "volume": "n"}),
        ("time_weighted_average", {"time": "ts"}),
        ("increase", {"time": "ts"}),
        ("state_duration", {"time": "ts", "state": "b or c"}),
    ],
)
def test_values_are_operands(macro: str, arguments: dict[str, Any], value: str) -> None:
    found = sqlglot.parse_one(f"select {Project().call(macro, value=value, **arguments)}", read="spark")
    nulls = [one for one in found.find_all(exp.Is) if isinstance(one.parent, exp.Not)]
    assert nulls and all(isinstance(one.this, exp.Column | exp.Paren) for one in nulls), found.sql("spark")
    assert not any(isinstance(one.parent, exp.Binary) for one in found.find_all(exp.Or))


def test_source_where_of_conserved() -> None:
    query = Project().call(
        "default__test_conserved", "m", "s", "total", "price", "k", "price > 0 or price < 0 -- not 0", 1, None
    )
    (found,) = [one for one in sqlglot.parse_one(query, read="spark").find_all(exp.CTE) if one.alias == "in_source"]
    assert isinstance(found.this.args["where"].this, exp.Paren)
    assert found.this.args["group"]


@pytest.mark.parametrize("measure", ["price -- EUR", "price) + (1", "price, 2"])
def test_measures_are_pieces(measure: str) -> None:
    with pytest.raises(CompilerError, match="conserved's measure is no whole piece of SQL"):
        Project().call("default__test_conserved", "m", "s", measure, None, None, None, 1, None)


@pytest.mark.parametrize("time", ["now() -- about", "now()) or (true"])
def test_times_of_window_complete(time: str) -> None:
    arguments: list[Any] = ["m", "1 hour", None, None, None, None, "key", time, None, "window_end"]
    with pytest.raises(CompilerError, match="window_complete's since is no whole piece of SQL"):
        Project().call("default__test_window_complete", *arguments)


@pytest.mark.parametrize("time", ["a or b", "a = b", "cast(x as timestamp)"])
def test_in_batch(time: str) -> None:
    batch = SimpleNamespace(id="1", event_time_start=datetime(2024, 1, 1), event_time_end=datetime(2024, 1, 2))
    model = SimpleNamespace(resource_type="model", batch=batch)
    project = Project(model, materialized="incremental", incremental_strategy="microbatch")
    found = sqlglot.parse_one(project.call("in_batch", time), read="spark")
    assert isinstance(found, exp.Paren) and isinstance(found.this, exp.And)
    assert isinstance(found.this.left.this, exp.Paren)


AS_OF = "MATCH_CONDITION (l.ts >= r.ts) ON"
TABLES = {name: {"id": "int", "k": "string", "ts": "timestamp", "v": "int"} for name in ("l", "r")}


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("SELECT l.v FROM l LAST JOIN r ORDER BY r.ts ON l.k = r.k AND ({})", "openmldb"),
        ("SELECT l.v FROM l LAST JOIN r ORDER BY r.v ON l.k = r.k AND r.ts <= l.ts AND ({})", "openmldb"),
        ("SELECT l.v FROM l LAST JOIN r ORDER BY r.ts ON l.k = r.k AND r.ts <= l.ts AND ({})", "openmldb"),
        (f"SELECT l.v FROM l LEFT ASOF JOIN r {AS_OF} l.k = r.k AND ({{}})", "spark"),
        (f"SELECT l.v FROM l ASOF JOIN r {AS_OF} ({{}}) AND l.k = r.k", "spark"),
        (
            "SELECT window_start, sum(v) FROM HOP(TABLE l, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '9' MINUTE) r"
            " WHERE window_start > TIMESTAMP '2024-01-01 00:00:00' AND ({}) GROUP BY window_start, window_end",
            "flink",
        ),
    ],
)
@pytest.mark.parametrize("condition", ["{0}.v = 1 OR {0}.id = 2", "({0}.v = 1 OR {0}.id = 2)"])
def test_an_or_in_a_query_stays_a_term(sql: str, dialect: str, condition: str) -> None:
    written = translate(sql.format(condition.format("r")), dialect, schema=TABLES)
    alternatives = list(sqlglot.parse_one(written, read="spark").find_all(exp.Or))
    assert alternatives and all(isinstance(one.parent, exp.Paren) for one in alternatives)


def test_bounds_of_a_stream_join_are_beside_an_or() -> None:
    near = "b.ts - a.ts BETWEEN INTERVAL '0' SECOND AND INTERVAL '1' HOUR"
    sql = f"SELECT a.k FROM l a JOIN r b ON a.v = 1 OR b.v = 2 WHERE a.k = b.k AND {near}"
    found = plan(sql, "spark", streams=["l", "r"], schema=TABLES, utc=True, times={"l": "ts", "r": "ts"}, warn=print)
    (join,) = sqlglot.parse_one(found.query, read="spark").args["joins"]
    assert isinstance(join.args["on"], exp.And) and join.args["on"].find(exp.Or)
