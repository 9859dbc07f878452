"""Tables in Delta of earlier versions go on without a rebuild."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.functional.adapter.project import Project
from tests.functional.streaming.recorded import as_sql, project, unpacked
from tests.parts.parameters import delta_parameters


def test_delta_of_0_2_0(make_project: Callable[..., Project]) -> None:
    parameters = {**delta_parameters(), "spark.sql.session.timeZone": "UTC"}
    shop = make_project(project("delta"), server_side_parameters=parameters)
    properties = unpacked("delta_0_2_0.tar.gz", Path(shop.folder))
    shop.sql("CREATE SCHEMA {}")
    shop.sql(f"CREATE TABLE {shop.schema}.windows USING delta LOCATION '{shop.folder}/windows'")
    shop.sql(
        f"CREATE TABLE {shop.schema}.windows__stream (empty INT) USING parquet TBLPROPERTIES ({as_sql(properties)})"
    )
    rows = "select minute(window_start), total from {}.windows order by 1"
    assert shop.rows(rows) == [(0, 1), (10, 2)]
    [nothing] = shop.dbt("run").results
    assert "nothing new" in nothing.message
    (Path(shop.folder) / "landing" / "c.json").write_text('{"id":4,"ts":"2024-01-01T10:40:00Z","v":8}\n')
    [run] = shop.dbt("run").results
    assert run.message.startswith("+1 row")
    assert shop.rows(rows) == [(0, 1), (10, 2), (20, 4)]
