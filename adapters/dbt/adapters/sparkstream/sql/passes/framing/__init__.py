"""Frames written in Spark SQL: the windows of OpenMLDB and of SQLstream, which a Spark statement may have as well."""
