"""Tables after a killed run: they are the old or the new ones, and the next run needs no help."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from dbt.adapters.sparkstream.spark.left_files import Mark
from tests.functional.adapter.project import Project
from tests.functional.adapter.test_incremental import arriving, replaced

pytestmark = pytest.mark.long

INCREMENTAL = "{{ config(materialized='incremental', incremental_strategy='%s'%s) }}\n"
NUMBERS = "select id, id % 3 as k from range(9)"
TABLES = {
    "whole": "{{ config(materialized='table') }}\n" + NUMBERS,
    "parted": "{{ config(materialized='table', partition_by='k', file_format='orc') }}\n" + NUMBERS,
    "grown": INCREMENTAL % ("append", "")
    + NUMBERS
    + " {% if is_incremental() %}where id > (select max(id) from {{ this }}){% endif %}",
    "replaced": INCREMENTAL % ("insert_overwrite", "") + NUMBERS,
}
PYTHON = """
def model(dbt, session):
    dbt.config(materialized="{}", incremental_strategy="append", partition_by="k")
    rows = session.range(9)
    if dbt.is_incremental:
        rows = rows.where("id > 8")
    return rows.selectExpr("id", "id % 3 as k")
"""
FILES = {
    **{f"models/{name}.sql": text for name, text in TABLES.items()},
    "models/in_python.py": PYTHON.format("table"),
    "models/grown_in_python.py": PYTHON.format("incremental"),
    "seeds/sown.csv": "id,k\n" + "".join(f"{i},{i % 3}\n" for i in range(9)),
    "seeds/bare.csv": "id,k\n",
    "tests/none.sql": "{{ config(store_failures=true, severity='warn') }}\n" + NUMBERS,
}
NAMES = (*TABLES, "in_python", "grown_in_python", "sown")


@pytest.fixture(scope="module")
def shop(make_project: Callable[..., Project], tmp_path_factory: pytest.TempPathFactory) -> Project:
    """One table of every kind, and one that lies elsewhere."""
    root = tmp_path_factory.mktemp("elsewhere")
    located = "{{ config(materialized='table', location_root='" + str(root) + "') }}\n" + NUMBERS
    project = make_project({**FILES, "models/located.sql": located})
    project.dbt("build")
    return project


def folder(project: Project, schema: str = "{}") -> Path:
    """Where the project's tables lie."""
    [location] = [row[1] for row in project.rows(f"describe database {schema}") if row[0] == "Location"]
    return Path(urlsplit(location).path)


def litter(path: Path) -> None:
    """Files as a killed job leaves them."""
    (path / "_temporary" / "0").mkdir(parents=True)
    (path / "part-00000.parquet").write_text("half a file")


def killed(project: Project, *names: str, schema: str = "") -> None:
    """Marks as runs leave them that were killed while they made tables."""
    folder = project.folder / ".sparkstream" / "unfinished"
    for name in names:
        mark = Mark(folder, "session", "localhost", "None", schema or project.schema, name)
        mark.stays = True
        mark.put()
        mark.end()


def left(project: Project) -> list[str]:
    """The tables beside others; without temporary views, which Spark lists in every schema."""
    return [name for schema, name, _ in project.rows("show tables in {} like '*__dbt_*'") if schema]


def check(project: Project, *names: str) -> None:
    expected = [(i, i % 3) for i in range(9)]
    for name in names:
        assert project.rows(f"select id, k from {{}}.{name}") == expected, name
    assert not left(project)
    assert not [path.name for path in folder(project).iterdir() if "__dbt_" in path.name]


def test_files_beside_the_table(shop: Project) -> None:
    for name in NAMES:
        litter(folder(shop) / f"{name}__dbt_build")
        litter(folder(shop) / f"{name}__dbt_tmp")
    shop.dbt("build", "--full-refresh")
    shop.dbt("run", "--select", "grown_in_python")
    for name in NAMES:  # what no statement comes upon stays, until one does
        shutil.rmtree(folder(shop) / f"{name}__dbt_tmp", ignore_errors=True)
    check(shop, *NAMES, "located")
    assert shop.rows("select count(*) from {}.bare") == [(0,)]


@pytest.mark.full
def test_files_without_a_table(shop: Project) -> None:
    """The catalog has forgotten the old table, or doesn't know the new one yet."""
    for name in (*NAMES, "located", "bare"):
        shop.sql(f"drop table {{}}.{name}")
        if name != "located":  # its files stay when its table goes
            litter(folder(shop) / name)
    audit = folder(shop, "{}_dbt_test__audit")
    shop.sql("drop table {}_dbt_test__audit.none")
    litter(audit / "none")
    assert "files lie where the table is to lie" in shop.failure("build")
    assert (folder(shop) / "whole" / "part-00000.parquet").exists()
    killed(shop, *NAMES, "located", "bare")
    killed(shop, "none", schema=f"{shop.schema}_dbt_test__audit")
    shop.dbt("build")
    check(shop, *NAMES, "located")
    assert shop.rows("select count(*) from {}_dbt_test__audit.none") == [(9,)]


@pytest.mark.full
def test_a_table_beside_the_table(shop: Project) -> None:
    """Nobody knows whether it is complete; some tables are gone already."""
    for name in NAMES:
        shop.sql(f"create table {{}}.{name}__dbt_build using parquet as select 'half' as id")
    for name in ("parted", "grown", "in_python", "sown"):
        shop.sql(f"drop table {{}}.{name}")
    shop.dbt("build", "--full-refresh")
    check(shop, *NAMES)


def test_a_kill_while_leftovers_are_removed(shop: Project) -> None:
    """The table that removes them has been sent to a folder; another one is in the way now."""
    litter(folder(shop) / "elsewhere")
    shop.sql("create table {}.whole__dbt_leftover (empty int) using parquet")
    shop.sql(f"alter table {{}}.whole__dbt_leftover set location '{folder(shop)}/whole'")
    litter(folder(shop) / "whole__dbt_build")
    before = shop.rows("select count(*) from {}.whole")
    shop.dbt("run", "--select", "whole")
    assert shop.rows("select count(*) from {}.whole") == before
    check(shop, "whole")


@pytest.mark.parametrize("place", ["somewhere", "{}/victim", "{}/checked"])
def test_text_in_data_removes_no_folder(make_project: Callable[..., Project], tmp_path: Path, place: str) -> None:
    """An error quotes a row whose text is Spark's message of a folder in the way."""
    model = (
        "{{ config(materialized='table') }}\nselect cast(id as string) as id from {{ ref('lines') }}"
        " where raise_error(concat('no number: ', txt)) is null"
    )
    project = make_project({"models/lines.sql": "select 1 as id, 'x' as txt"})
    project.dbt("run")
    victim = Path(place.format(folder(project))) if "{" in place else tmp_path / place
    litter(victim)
    text = (
        f"x [LOCATION_ALREADY_EXISTS] Cannot name the managed table as {project.schema}.checked, as its associated"
        f" location '{victim}' already exists"
    )
    lines = "select 1 as id, " + '"' + text + '" as txt'
    project.write({"models/lines.sql": lines, "models/checked.sql": model})
    killed(project, "checked")
    assert project.failure("run").count("[USER_RAISED_EXCEPTION] no number: x [LOCATION_ALREADY_EXISTS]") == 1
    assert (victim / "part-00000.parquet").exists()


def test_files_that_are_not_ours(make_project: Callable[..., Project]) -> None:
    """A table that a hook makes isn't dbt's to build: Spark's error stands."""
    hook = "{{ config(materialized='table', pre_hook='create table {{ this.schema }}.other as select 1 as x') }}\n"
    project = make_project({"models/m.sql": NUMBERS})
    project.dbt("run")
    litter(folder(project) / "other")
    project.write({"models/m.sql": hook + NUMBERS})
    assert "[LOCATION_ALREADY_EXISTS]" in project.failure("run")
    assert (folder(project) / "other" / "part-00000.parquet").exists()


FAILS = "if(id = 8 and {{ var('fail', false) }}, raise_error('no way'), id) as id, id % 3 as k from range(9)"


def test_a_failing_build_keeps_the_old_table(make_project: Callable[..., Project]) -> None:
    project = make_project(
        {
            "models/whole.sql": "{{ config(materialized='table') }}\nselect " + FAILS,
            "models/grown.sql": INCREMENTAL % ("append", ", partition_by='k'") + "select " + FAILS,
            "models/replaced.sql": INCREMENTAL % ("insert_overwrite", "") + "select " + FAILS,
        }
    )
    project.dbt("run")
    for flags in (["--full-refresh"], []):
        assert "no way" in project.failure("run", *flags, "--vars", "fail: true")
        for name in ("whole", "grown", "replaced"):
            assert project.rows(f"select count(*) from {{}}.{name}") == [(9,)], name


def test_readers_see_the_old_table_during_a_build(make_project: Callable[..., Project]) -> None:
    """As the query itself does."""
    text = "{{ config(materialized='table') }}\nselect %s as n"
    project = make_project({"models/m.sql": text % "1"})
    for expected in (1, 2):
        project.dbt("run")
        project.write({"models/m.sql": text % "(select max(n) + 1 from {{ this }})"})
        assert project.rows("select n from {}.m") == [(expected,)]


@pytest.mark.parametrize("strategy", ["insert_overwrite", "window_replace", "microbatch"])
def test_only_the_partitions_of_the_rows_are_replaced(make_project: Callable[..., Project], strategy: str) -> None:
    """Whatever the session says, which Spark reads while the statement runs."""
    query = (
        "select id, timestamp_ntz'2024-01-01 00:00:00' + make_dt_interval(id div 3) as window_start,"
        " timestamp_ntz'2024-01-01 12:00:00' + make_dt_interval(id div 3) as window_end,"
        " cast(id div 3 as int) as day from range(9)"
        "{% if is_incremental() %} where id >= 6{% endif %}"
    )
    more = ", partition_by='day', pre_hook='set spark.sql.sources.partitionOverwriteMode = STATIC'"
    if strategy == "microbatch":
        today = "modules.datetime.datetime.now().strftime('%Y-%m-%d')"
        more += f", event_time='window_start', begin={today}, batch_size='day'"
    project = make_project({"models/m.sql": INCREMENTAL % (strategy, more) + query})
    for _ in range(2):
        project.dbt("run")
        assert project.rows("select id from {}.m") == [(i,) for i in range(9)]
    assert project.rows("set spark.sql.sources.partitionOverwriteMode") == [
        ("spark.sql.sources.partitionOverwriteMode", "STATIC")
    ]


def test_a_half_written_overwrite_is_ended(make_project: Callable[..., Project]) -> None:
    """Partitions 1 and 2 were to be replaced: 2 is in place, 1 removed. The model asks the table how far it is."""
    text = (
        INCREMENTAL % ("insert_overwrite", ", partition_by='day'")
        + "select id, cast(id div 3 as int) as day from range({{ var('rows', 5) }})"
        + "{% if is_incremental() %} where id div 3 >= (select max(day) from {{ this }}){% endif %}"
    )
    project = make_project({"models/m.sql": text})
    project.dbt("run")
    complete = "create table {}.m__dbt_partitions using parquet"
    rows = "as select id, cast(id div 3 as int) as day from range(3, 8)"

    def cut_off(properties: str) -> None:
        project.sql(f"{complete} {properties} {rows}")
        project.sql("insert into {}.m select id, cast(id div 3 as int) from range(6, 8)")
        shutil.rmtree(folder(project) / "m" / "day=1")

    cut_off("tblproperties ('sparkstream.complete' = 'true')")
    project.dbt("compile")  # looks, and touches nothing
    assert project.rows("select count(*) from {}.m__dbt_partitions") == [(5,)]
    project.dbt("run", "--vars", "rows: 10")
    assert project.rows("select id from {}.m") == [(i,) for i in range(10)]
    assert not left(project)
    # One that isn't complete was never moved.
    project.sql(f"{complete} {rows}")
    project.dbt("run", "--vars", "rows: 10")
    assert project.rows("select id from {}.m") == [(i,) for i in range(10)]
    # A full refresh doesn't take what is older than itself.
    project.sql(f"{complete} tblproperties ('sparkstream.complete' = 'true') as select 99L as id, 7 as day")
    project.dbt("run", "--full-refresh")
    assert project.rows("select max(id), count(*) from {}.m") == [(4, 5)]
    assert not left(project)


def test_a_half_written_window_replace_is_ended(make_project: Callable[..., Project]) -> None:
    """The newest partition is in place and an older one isn't, so the table looks further than it is."""
    project = make_project(arriving("arrived <= 2") | replaced("visits"))
    project.dbt("run")
    project.write(arriving("arrived <= 3"))
    project.dbt("run")
    # As before the move: what would be moved, as a copy; then a table in which a day is missing.
    project.sql(
        "create table {}.visits__dbt_partitions using parquet tblproperties ('sparkstream.complete' = 'true',"
        " 'sparkstream.since' = 'TIMESTAMP_NTZ\\'2024-01-01 23:00:00\\'') as select * from {}.visits"
    )
    project.sql("create table {}.visits__dbt_windows using parquet as select 1 as x")
    shutil.rmtree(folder(project) / "visits" / "day=2024-01-01")
    project.sql(
        "insert into {}.visits select 'old', timestamp_ntz'2024-01-03', timestamp_ntz'2024-01-03 01:00:00', 1, 1,"
        " date'2024-01-03'"
    )
    project.write(arriving("true"))
    project.dbt("run")
    assert project.rows("select * from {}.visits") == project.rows("select * from {}.visits_whole")
    assert not left(project)
