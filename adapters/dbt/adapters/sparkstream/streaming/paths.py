"""The paths of files, as Spark and the catalog write them."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit


def path_of(name: str) -> str:
    """A file's path, however its URI is written: `file:///a b` of `file:/a%20b`."""
    parts = urlsplit(name)
    return f"{parts.scheme}://{parts.netloc}{unquote(parts.path)}" if parts.scheme else name


def beside(folder: str) -> str:
    """The folder that a folder lies in."""
    return folder.rstrip("/").rpartition("/")[0]
