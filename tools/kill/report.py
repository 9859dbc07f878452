"""Report of all kills, as a table and as evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from tools.kill.series import Tally, Told

COLUMNS = ("kind", "kills", "runs", "rows", "lost", "doubled", "stuck", "halves", "seconds")


def table(tallies: Mapping[str, Tally]) -> str:
    """A table in Markdown: a line for each kind, and one for all."""
    total = Tally()
    for tally in tallies.values():
        total += tally
    assert COLUMNS[1:] == tuple(f.name for f in fields(Tally))
    lines = [[name, *_cells(tally)] for name, tally in tallies.items()] + [["**all**", *_cells(total)]]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [COLUMNS, ["---"] * len(COLUMNS), *lines])


def _cells(tally: Tally) -> list[str]:
    return [f"{value:,.0f}" for value in vars(tally).values()]


def keep(folder: Path, told: Told, again: str) -> Path:
    """Writes into the folder of a project what went wrong in it, and how it comes about again. Returns the file."""
    path = folder / "FAILED.txt"
    parts = [f"again: {again}", "\n".join(told.journal), *told.failures]
    path.write_text("\n\n".join(parts) + "\n")
    return path
