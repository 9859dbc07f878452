"""The paths of files, as Spark and the catalog write them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from urllib.parse import unquote, urlsplit


def path_of(name: str) -> str:
    """A file's path, however its URI is written: `file:///a b` of `file:/a%20b`."""
    parts = urlsplit(name)
    return f"{parts.scheme}://{parts.netloc}{unquote(parts.path)}" if parts.scheme else name


_BEGINNING = re.compile(r"(?:([A-Za-z][\w+.-]*):(?://([^/]*))?)?")
"""Scheme and host of a path."""


def is_relative(path: str) -> bool:
    """Whether a path says neither a scheme nor where it begins."""
    return not path.startswith("/") and _BEGINNING.match(path)[1] is None  # type: ignore[index]


def within(place: str) -> Callable[[str], bool]:
    """A question of files, as `path_of` gives them: whether one is this file, or lies in this folder or below it.

    Args:
        place: a path or a URI, which may have Hadoop's wildcards. A path without a scheme is the same in each.
    """
    scheme, host, path = _parts(place)
    matched = re.compile(_pattern(posixpath.normpath(path)) + "(?:/.*)?", re.DOTALL)

    def lies_there(name: str) -> bool:
        its_scheme, its_host, its_path = _parts(name)
        return (scheme is None or (its_scheme, its_host) == (scheme, host)) and bool(matched.fullmatch(its_path))

    return lies_there


def _parts(path: str) -> tuple[str | None, str, str]:
    begins = _BEGINNING.match(path)
    assert begins is not None
    return begins[1], begins[2] or "", path[begins.end() :]


def _pattern(glob: str) -> str:
    """A path with Hadoop's wildcards, as a regular expression."""
    found, depth = [], 0
    pieces = re.findall(r"\\.|\[[^\]/]{1,200}\]|.", glob, re.DOTALL)
    for piece in pieces:
        if piece == "*":
            found.append("[^/]*")
        elif piece == "?":
            found.append("[^/]")
        elif len(piece) > 2 and piece.startswith("["):
            inner = re.sub(r"([\\\[&~|])", r"\\\1", piece[1:-1])
            found.append(f"[^{inner[1:]}]" if inner[0] in "^!" else f"[{inner}]")
        elif piece == "{":
            depth += 1
            found.append("(?:")
        elif piece == "}" and depth:
            depth -= 1
            found.append(")")
        elif piece == "," and depth:
            found.append("|")
        else:
            found.append(re.escape(piece[-1] if piece.startswith("\\") else piece))
    return "".join(found) + ")" * depth


def parent_of(folder: str) -> str:
    """The folder that a folder lies in."""
    return folder.rstrip("/").rpartition("/")[0]
