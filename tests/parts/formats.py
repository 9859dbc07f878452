"""What dbt builds in Delta and in Iceberg alike; the folders of both run these tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from tests.functional.adapter.project import Project
from tests.functional.adapter.test_incremental import ROWS, STEPS, replaced
from tests.parts.documented import check_statements

NEW = """select * from values
{% if is_incremental() %}(2, 'b', 'new'), (2, 'b', 'newer'), (3, 'c', 'new'), (cast(null as int), 'c', 'new')
{% else %}(1, 'a', 'old'), (2, 'b', 'old'), (2, 'c', 'old'), (cast(null as int), 'b', 'old')
{% endif %} as t (id, p, v)"""
ONCE = NEW.replace("(2, 'b', 'newer'), ", "")
"""The same with one row for each key, as MERGE takes no more."""
OLD_1, OLD_2B, OLD_2C, OLD_N = (1, "a", "old"), (2, "b", "old"), (2, "c", "old"), (None, "b", "old")
CAME = [(2, "b", "new"), (2, "b", "newer"), (3, "c", "new"), (None, "c", "new")]

Strategies = Mapping[str, tuple[str, dict[str, Any], list[tuple[Any, ...]]]]
"""Models by name: the strategy, further configs, and the rows after the second run."""

STRATEGIES: Strategies = {
    "append": ("append", {}, [OLD_1, OLD_2B, OLD_2C, OLD_N, *CAME]),
    "overwrite_partitions": ("insert_overwrite", {"partition_by": "p"}, [OLD_1, *CAME]),
    "overwrite_all": ("insert_overwrite", {}, CAME),
    "delete_insert": ("delete+insert", {"unique_key": "id"}, [OLD_1, *CAME]),
    "merge": (
        "merge",
        {"unique_key": ["id", "p"], "merge_exclude_columns": ["p", "id"]},
        [OLD_1, OLD_2C, (2, "b", "new"), (3, "c", "new"), (None, "c", "new"), OLD_N],
    ),
}

HOPS = """select window_start, window_end, window_time, count(*) as n_rows, cast(window_time as date) as day
from {{ hop(ref('bids'), 'ts', '5 minutes', '1 hour') }} group by window_start, window_end, window_time"""

IN_PYTHON = """\
def model(dbt, session):
    dbt.config(materialized='MATERIALIZED', file_format='FORMAT')
    rows = dbt.ref("bid").where("price > 1")
    if dbt.is_incremental:
        rows = rows.where("price > 4")
    return rows
"""


def model(query: str, **config: Any) -> str:
    """A model's text."""
    given = ", ".join(f"{name}={value!r}" for name, value in config.items())
    return f"{{{{ config({given}) }}}}\n{query}"


def incremental(query: str, strategy: str, **config: Any) -> str:
    return model(query, materialized="incremental", incremental_strategy=strategy, **config)


def provider(project: Project, table: str) -> str:
    return next(row[1] for row in project.rows(f"describe extended {{}}.{table}") if row[0] == "Provider")


def left(project: Project) -> list[str]:
    """Tables that were made on the way and are still there; views of the session aside."""
    return [row[1] for row in project.rows("show tables in {} like '*__dbt_*'") if not row[2]]


class Builds:
    """Tests of models and snapshots in a format that replaces a table in one commit.

    Attributes:
        file_format: `delta` or `iceberg`.
        strategies: those that the format has.
        replaces: what the history calls a table that takes the place of another.
        writes: what it calls rows that take the place of others.
    """

    file_format: ClassVar[str]
    strategies: ClassVar[Strategies] = STRATEGIES
    replaces: ClassVar[str]
    writes: ClassVar[str]

    @staticmethod
    def history(project: Project, table: str) -> list[str]:
        """What was done to a table, the oldest first."""
        raise NotImplementedError

    def test_incremental_strategies(self, make_project: Callable[..., Project]) -> None:
        project = make_project(
            {
                f"models/{name}.sql": incremental(
                    ONCE if strategy == "merge" else NEW, strategy, file_format=self.file_format, **config
                )
                for name, (strategy, config, _) in self.strategies.items()
            }
        )

        def rows(table: str) -> list[tuple[Any, ...]]:
            return sorted(project.rows(f"select id, p, v from {{}}.{table}"), key=str)

        project.dbt("run")
        before = sorted([OLD_1, OLD_2B, OLD_2C, OLD_N], key=str)
        for name in self.strategies:
            assert rows(name) == before, name
        project.dbt("run")
        for name, (_, _, expected) in self.strategies.items():
            assert rows(name) == sorted(expected, key=str), name
            assert len(self.history(project, name)) == 2, name
        project.dbt("run", "--full-refresh")
        for name in self.strategies:
            assert rows(name) == before, name
            assert self.history(project, name)[-1] == self.replaces, name
        # What a statement says of partitions is no setting for those after it.
        assert str(project._spark.conf.get("spark.sql.sources.partitionOverwriteMode")).lower() == "static"

    def test_window_replace(self, make_project: Callable[..., Project]) -> None:
        """Each run is one commit, and needs no partitions."""
        names = ("tumbling", "visits")
        files = STEPS["one day"]
        for name in names:
            text = replaced(name)
            own = text[f"models/{name}.sql"].replace("partition_by='day'", f"file_format='{self.file_format}'")
            files = files | text | {f"models/{name}.sql": own}
        project = make_project(files)
        for step in ("one day", "over midnight", "a new day", "it began the day before"):
            project.write(STEPS[step])
            project.dbt("run", *([] if step == "one day" else ["--select", "arriving", *names]))
            for name in names:
                whole = project.rows(f"select * from {{}}.{name}_whole")
                assert project.rows(f"select * from {{}}.{name}") == whole, (step, name)
        assert self.history(project, "visits")[1:] == [self.writes] * 3
        assert not left(project)

    def test_microbatch(self, make_project: Callable[..., Project]) -> None:
        batches = {"batch_size": "day", "begin": "2024-01-01", "partition_by": "day", "event_time": "window_time"}
        project = make_project(
            {
                "models/bids.sql": "{{ config(event_time='ts') }}\n" + ROWS,
                "models/hops.sql": incremental(HOPS, "microbatch", file_format=self.file_format, **batches),
                "models/whole.sql": HOPS,
            }
        )
        for _ in range(2):
            project.dbt("run", "--event-time-start", "2024-01-01", "--event-time-end", "2024-01-05")
            assert project.rows("select * from {}.hops") == project.rows("select * from {}.whole")

    def test_snapshots(self, make_project: Callable[..., Project]) -> None:
        project = make_project(
            {
                "models/users.sql": "select 1 as id, 'a' as name union all select 2, 'b'",
                "snapshots/s.yml": "snapshots:\n  - {name: users_then, relation: ref('users'), config: {unique_key: id,"
                f" strategy: check, check_cols: all, hard_deletes: invalidate, file_format: {self.file_format}}}}}\n",
            }
        )
        project.dbt("build")
        project.write({"models/users.sql": "select 1 as id, 'A' as name union all select 3, 'c'"})
        project.dbt("build")
        project.dbt("build")
        found = project.rows("select id, name, dbt_valid_to is null from {}.users_then")
        assert sorted(found) == [(1, "A", True), (1, "a", False), (2, "b", False), (3, "c", True)]

    def test_python_models(self, make_project: Callable[..., Project]) -> None:
        text = IN_PYTHON.replace("FORMAT", self.file_format)
        project = make_project(
            {
                "models/bid.sql": "select id, id as price from range(6)",
                "models/whole.py": text.replace("MATERIALIZED", "table"),
                "models/grown.py": text.replace("MATERIALIZED", "incremental"),
            }
        )
        for appended in ([], [5]):
            project.dbt("run")
            assert [row[0] for row in project.rows("select price from {}.whole")] == [2, 3, 4, 5]
            assert [row[0] for row in project.rows("select price from {}.grown")] == sorted([2, 3, 4, 5, *appended])
            assert provider(project, "whole") == provider(project, "grown") == self.file_format
        assert left(project) == []
        assert len(self.history(project, "whole")) == 2  # a table that is dropped before begins a new one

    def test_no_statement_is_sent_in_vain(self, make_project: Callable[..., Project]) -> None:
        check_statements(make_project, self.file_format)
