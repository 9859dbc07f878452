"""Dagster: the models of a project as assets, and each hour what is new in them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster
from dagster_dbt import DbtCliResource, DbtProject, build_schedule_from_dbt_selection, dbt_assets

project = DbtProject(project_dir=Path("/srv/shop"))
project.prepare_if_dev()


# A second run of a model is refused while one is on its way.
@dbt_assets(manifest=project.manifest_path, pool="shop")
def shop(context: dagster.AssetExecutionContext, dbt: DbtCliResource) -> Iterator[Any]:
    yield from dbt.cli(["build"], context=context).stream()


definitions = dagster.Definitions(
    assets=[shop],
    resources={"dbt": DbtCliResource(project_dir=project)},
    schedules=[build_schedule_from_dbt_selection([shop], "hourly", cron_schedule="0 * * * *")],
)
