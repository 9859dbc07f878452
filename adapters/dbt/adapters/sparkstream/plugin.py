"""Plugin that dbt loads for `type: sparkstream`."""

from __future__ import annotations

from dbt.adapters.base import AdapterPlugin

from dbt.adapters.sparkstream.compiling import targets
from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.impl import SparkStreamAdapter
from dbt.include import sparkstream

targets.install()  # here, as dbt reads dbt_project.yml before it makes the adapter

Plugin = AdapterPlugin(
    adapter=SparkStreamAdapter,  # type: ignore[arg-type]
    credentials=SparkStreamCredentials,
    include_path=sparkstream.PACKAGE_PATH,
    dependencies=["spark"],
)
