"""The formats of tables and folders, by what a stream can know of their files."""

from __future__ import annotations

FILE_FORMATS = ("parquet", "orc", "csv", "json", "avro", "text")
"""Formats whose tables are the files in a folder, with no list of their own."""

IN_FOLDERS = (*FILE_FORMATS, "xml", "binaryfile")
"""Formats of which a stream reads the files in a folder, each once."""

LOGGED_FORMATS = ("delta", "iceberg")
"""Formats whose tables have a log of what was done."""
