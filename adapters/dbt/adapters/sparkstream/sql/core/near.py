"""The hint for a misspelt name: the known name that is most like it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: object, known: Iterable[str], otherwise: str = "", *, most: int = 1, cutoff: float = 0.6) -> str:
    """The hint `did you mean tumble?` for `tumbel`.

    Args:
        known: the names that there are.
        otherwise: the hint for a name that is like none of them.
        most: how many names the hint may have.
        cutoff: how like a name has to be, from 0 to 1.
    """
    near = get_close_matches(str(name), list(known), most, cutoff)
    return f"did you mean {' or '.join(near)}?" if near else otherwise
