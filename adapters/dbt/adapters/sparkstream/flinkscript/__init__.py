"""`sparkstream import flink`: a dbt project of a Flink SQL script. Imports neither dbt nor pyspark.

`split` cuts the script into statements, `read` makes a `Job` of them, and `Project` the files of a dbt project.
"""

from dbt.adapters.sparkstream.flinkscript.job import Job, read
from dbt.adapters.sparkstream.flinkscript.project import Project

__all__ = ["Job", "Project", "read"]
