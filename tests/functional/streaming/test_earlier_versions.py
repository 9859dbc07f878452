"""Tables of earlier versions go on without a rebuild."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.functional.adapter.project import PARAMETERS, Project
from tests.functional.streaming.recorded import as_sql, project, unpacked


def test_plain_files_of_0_2_0(make_project: Callable[..., Project]) -> None:
    shop = make_project(project("parquet"), server_side_parameters={**PARAMETERS, "spark.sql.session.timeZone": "UTC"})
    properties = unpacked("files_0_2_0.tar.gz", Path(shop.folder))
    shop.sql("CREATE SCHEMA {}")
    shop.sql(
        f"CREATE TABLE {shop.schema}.windows (window_start TIMESTAMP, window_end TIMESTAMP, total BIGINT, "
        "micro_batch BIGINT) USING parquet PARTITIONED BY (micro_batch) "
        f"LOCATION '{shop.folder}/windows' TBLPROPERTIES ({as_sql(properties)})"
    )
    shop.sql(f"MSCK REPAIR TABLE {shop.schema}.windows")
    rows = "select minute(window_start), total, micro_batch from {}.windows order by 1"
    assert shop.rows(rows) == [(0, 1, 1), (10, 2, 3)]
    [nothing] = shop.dbt("run").results
    assert "nothing new" in nothing.message
    (Path(shop.folder) / "landing" / "c.json").write_text('{"id":4,"ts":"2024-01-01T10:40:00Z","v":8}\n')
    [run] = shop.dbt("run").results
    assert run.message.startswith("+1 row, 1 window closed")
    assert shop.rows(rows) == [(0, 1, 1), (10, 2, 3), (20, 4, 5)]
