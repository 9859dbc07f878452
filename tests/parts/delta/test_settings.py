"""Tables in Delta with deletion vectors, mapped names of columns, a feed of changes, and liquid clustering."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from tests.functional.adapter.project import Project
from tests.functional.adapter.test_incremental import STEPS, replaced
from tests.functional.streaming.feed import COLUMNS, Feed
from tests.functional.streaming.test_corrections import UPDATE
from tests.functional.streaming.test_once import ROWS, TUMBLE, refused
from tests.parts.delta.test_streams import CLOSED, DELTA, folder_of
from tests.parts.delta.test_tables import incremental, model
from tests.parts.formats import CAME, NEW, OLD_1, OLD_2B, OLD_2C, OLD_N, ONCE

VECTORS, FEED = "delta.enableDeletionVectors", "delta.enableChangeDataFeed"
PROPERTIES = {
    "vectors": {VECTORS: "true"},
    "named": {"delta.columnMapping.mode": "name"},
    "changes": {FEED: "true"},
    "all": {VECTORS: "true", FEED: "true"},  # Delta replaces no table with mapped names and a feed of changes
}


def configs(setting: str, *columns: str) -> dict[str, Any]:
    """The configs of a model whose table has a setting; `all` is all that go together."""
    clustered = {"liquid_clustered_by": list(columns)} if setting in ("clustered", "all") else {}
    return {**clustered, **({"tblproperties": PROPERTIES[setting]} if setting in PROPERTIES else {})}


SETTINGS = ("vectors", "named", "changes", "clustered", "all")


def removed_by_vectors(folder: Path) -> int:
    """How many rows of a table the vectors in its log leave out, of all its versions."""
    log = [json.loads(line) for file in folder.glob("_delta_log/*.json") for line in file.read_text().splitlines()]
    vectors = [action["add"].get("deletionVector") for action in log if "add" in action]
    return sum(vector["cardinality"] for vector in vectors if vector)


def check_settings(project: Project, table: str, setting: str, *columns: str) -> None:
    """Looks whether a table has a setting after all that was done to it, and whether its feed tells all of that."""
    [detail] = project._spark.sql(f"describe detail {project.schema}.{table}").collect()
    for name, value in PROPERTIES.get(setting, {}).items():
        assert detail["properties"][name] == value, (table, name)
    assert detail["clusteringColumns"] == (list(columns) if setting in ("clustered", "all") else []), table
    if setting not in ("changes", "all"):
        return
    changes = f"select * except (_commit_version, _commit_timestamp) from table_changes('{{}}.{table}', 0)"
    told: Counter[tuple[Any, ...]] = Counter()
    for *row, kind in project.rows(changes):
        told[tuple(row)] += 1 if kind in ("insert", "update_postimage") else -1
    assert sorted(map(str, (+told).elements())) == sorted(map(str, project.rows(f"select * from {{}}.{table}"))), table
    assert not -told, table


def test_strategies(make_project: Callable[..., Project]) -> None:
    strategies: dict[str, tuple[str, dict[str, Any], list[tuple[Any, ...]]]] = {
        "merge": (ONCE, {"unique_key": ["id", "p"]}, [OLD_1, OLD_2C, *CAME[:1], *CAME[2:], OLD_N]),
        "delete+insert": (NEW, {"unique_key": "id"}, [OLD_1, *CAME]),
        "append": (NEW, {}, [OLD_1, OLD_2B, OLD_2C, OLD_N, *CAME]),
    }
    names = {f"{name.replace('+', '_')}_{setting}": (name, setting) for name in strategies for setting in SETTINGS}
    files = {
        f"models/{table}.sql": incremental(
            # In one file, so that some of its rows go and others stay.
            strategies[name][0].replace("select *", "select /*+ coalesce(1) */ *"),
            name,
            **strategies[name][1],
            **configs(setting, "id"),
        )
        for table, (name, setting) in names.items()
    }
    project = make_project(files)
    for again in ((), ("--full-refresh",)):
        project.dbt("run", *again)
        project.dbt("run")
        for table, (name, setting) in names.items():
            rows = project.rows(f"select id, p, v from {{}}.{table}")
            assert sorted(rows, key=str) == sorted(strategies[name][2], key=str), table
            check_settings(project, table, setting, "id")
    database = Path(project._spark.catalog.getDatabase(project.schema).locationUri.removeprefix("file:"))
    assert all(removed_by_vectors(database / f"merge_{setting}") for setting in ("vectors", "all"))
    assert removed_by_vectors(database / "merge_named") == 0


def test_tables_snapshots_and_seeds(make_project: Callable[..., Project]) -> None:
    given = configs("all", "id")
    project = make_project(
        {
            "dbt_project.yml": "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n"
            + json.dumps({"seeds": {"+file_format": "delta", **{f"+{name}": value for name, value in given.items()}}})
            .removeprefix("{")
            .removesuffix("}"),
            "seeds/colors.csv": "id,name\n1,red\n2,green\n",
            "models/whole.sql": model("select * from {{ ref('colors') }}", materialized="table", **given),
            "models/in_python.py": "def model(dbt, session):\n"
            "    dbt.config(materialized='table', file_format='delta')\n"
            "    return dbt.ref('colors')\n",
            "models/in_python.yml": "models:\n  - name: in_python\n    config:\n"
            "      post_hook: alter table {{ this }} cluster by (id)\n",
            "snapshots/s.yml": json.dumps(
                {
                    "snapshots": [
                        {
                            "name": "then",
                            "relation": "ref('colors')",
                            "config": {
                                **{"file_format": "delta", "strategy": "check", "unique_key": "id"},
                                **{"check_cols": "all", "hard_deletes": "invalidate", **given},
                            },
                        }
                    ]
                }
            ),
        }
    )
    project.dbt("build")
    project.write({"seeds/colors.csv": "id,name\n1,rose\n3,blue\n"})
    project.dbt("build")
    rows = [(1, "rose"), (3, "blue")]
    for table in ("colors", "whole", "in_python"):
        assert project.rows(f"select * from {{}}.{table}") == rows
        check_settings(project, table, "clustered" if table == "in_python" else "all", "id")
    then = project.rows("select id, name, dbt_valid_to is null from {}.then")
    assert then == [(1, "red", False), (1, "rose", True), (2, "green", False), (3, "blue", True)]
    check_settings(project, "then", "all", "id")
    python = "models/in_python.py"
    text = (project.folder / python).read_text()
    project.write({python: text.replace("'delta'", "'delta', liquid_clustered_by='id'")})
    assert "takes no liquid_clustered_by from a model in Python" in project.failure("run", "--select", "in_python")
    for materialized in ("table", "incremental"):
        clustered = {"liquid_clustered_by": "id", "file_format": "parquet"}
        project.write({"models/whole.sql": model("select 1 as id", materialized=materialized, **clustered)})
        assert "only Delta clusters a table" in project.failure("run", "--select", "whole", "--full-refresh")


def test_window_replace(make_project: Callable[..., Project]) -> None:
    given = ", ".join(f"{name}={value!r}" for name, value in configs("all", "window_start").items())
    text = replaced("tumbling")
    [(path, own)] = [(path, text) for path, text in text.items() if "_whole" not in path]
    files = {**STEPS["one day"], **text, path: own.replace("partition_by='day'", f"file_format='delta', {given}")}
    project = make_project(files)
    for step in ("one day", "over midnight", "a new day", "it began the day before"):
        project.write(STEPS[step])
        project.dbt("run", *([] if step == "one day" else ["--select", "arriving", "tumbling"]))
        assert project.rows("select * from {}.tumbling") == project.rows("select * from {}.tumbling_whole"), step
        check_settings(project, "tumbling", "all", "window_start")


def options_of(setting: str) -> dict[str, Any]:
    """The same for a streaming model."""
    given = configs(setting, "k", "window_start")
    given["tblproperties"] = tuple(given.get("tblproperties", {}).items())
    return {**DELTA, **given}


@pytest.mark.parametrize("setting", SETTINGS)
def test_streams_into_such_a_table(feed: Feed, setting: str) -> None:
    options = options_of(setting)
    correcting = {**UPDATE, **options}
    for name, given in (("model", options), ("corrected", correcting)):
        feed.spark.sql(f"TRUNCATE TABLE {feed.schema}.bid")
        feed.add("bid", [(1, 1005, "a", 1), (2, 1026, "b", 2), (3, 1060, "a", 1)])
        feed.run(TUMBLE, name, **given)
        feed.spark.sql(f"OPTIMIZE {feed.schema}.{name}")  # one file, of which some rows are corrected
        feed.add("bid", [(4, 1061, "b", 2), (5, 1101, "b", 2), (6, 1007, "a", 7)])
        feed.run(TUMBLE, name, **given)
        feed.spark.sql(f"OPTIMIZE {feed.schema}.{name}")
        assert "nothing new" in feed.run(TUMBLE, name, **given).message
        feed.add("bid", [(7, 1150, "b", 2)])
        feed.run(TUMBLE, name, **given)
        counted = TUMBLE if given is correcting else TUMBLE.replace("bid,", "(SELECT * FROM bid WHERE id <> 6),")
        assert feed.table(name) == feed.batch(counted, "window_end <= timestamp_seconds(1140)")
        [detail] = feed.spark.sql(f"DESCRIBE DETAIL {feed.schema}.{name}").collect()
        for key, value in PROPERTIES.get(setting, {}).items():
            assert detail["properties"][key] == value
        assert detail["clusteringColumns"] == (["k", "window_start"] if setting in ("clustered", "all") else [])
    vectors = removed_by_vectors(folder_of(feed, "corrected"))
    assert bool(vectors) == (setting in ("vectors", "all"))
    # Rebuilt in staging, it has them still.
    other = TUMBLE.replace("20 seconds", "10 seconds")
    feed.run(other, on_query_change="swap", **options)
    [detail] = feed.spark.sql(f"DESCRIBE DETAIL {feed.schema}.model").collect()
    assert {**detail["properties"], **PROPERTIES.get(setting, {})} == detail["properties"]
    assert detail["clusteringColumns"] == (["k", "window_start"] if setting in ("clustered", "all") else [])
    assert feed.table() == feed.batch(other, "window_end <= timestamp_seconds(1140)")


@pytest.mark.parametrize("setting", SETTINGS)
def test_streams_out_of_such_a_table(feed: Feed, setting: str) -> None:
    bid = f"{feed.schema}.bid"
    feed.spark.sql(f"DROP TABLE {bid}")
    properties = ", ".join(f"'{name}' = '{value}'" for name, value in PROPERTIES.get(setting, {"a": "b"}).items())
    clustered = "CLUSTER BY (k)" if setting in ("clustered", "all") else ""
    feed.spark.sql(f"CREATE TABLE {bid} ({COLUMNS}) USING delta {clustered} TBLPROPERTIES ({properties})")
    feed.add("bid", [(1, 1005, "a", 1), (2, 1006, "a", 2), (3, 1060, "a", 3)])
    feed.run(TUMBLE, **DELTA)
    feed.run(ROWS, "rows")
    feed.spark.sql(f"OPTIMIZE {bid}")
    feed.add("bid", [(4, 1101, "b", 4)])
    feed.run(TUMBLE, **DELTA)
    feed.run(ROWS, "rows")
    assert feed.table() == feed.batch(TUMBLE, CLOSED)
    assert feed.table("rows") == [(1, 1), (2, 2), (3, 3), (4, 4)]
    # A row goes, and with vectors its file stays.
    feed.spark.sql(f"DELETE FROM {bid} WHERE id = 2")
    assert removed_by_vectors(folder_of(feed, "bid")) == (1 if setting in ("vectors", "all") else 0)
    refused(feed, TUMBLE, "has changed: ", "on_source_change='accept'", **DELTA)
    feed.add("bid", [(5, 1201, "b", 5)])
    feed.run(ROWS, "rows", on_source_change="accept")
    feed.spark.sql(f"REORG TABLE {bid} APPLY (PURGE)")
    feed.add("bid", [(6, 1202, "b", 6)])
    feed.run(ROWS, "rows", on_source_change="accept")
    assert feed.table("rows") == [(number, number) for number in range(1, 7)]
    feed.run(ROWS, "rows", rebuild=True)
    assert feed.table("rows") == [(number, number) for number in (1, 3, 4, 5, 6)]
    if setting == "named":
        feed.spark.sql(f"ALTER TABLE {bid} RENAME COLUMN k TO key")
        feed.add("bid", [(7, 1203, "b", 7)])
        with pytest.raises(StreamingError, match="a column of it was renamed or dropped, or has another type"):
            feed.run(ROWS, "rows")
        assert len(feed.table("rows")) == 5
        feed.run(ROWS, "rows", on_source_change="rebuild")
        assert feed.table("rows") == [(number, number) for number in (1, 3, 4, 5, 6, 7)]
