"""Compares rows that came from anywhere with recorded ones."""

from __future__ import annotations

from decimal import Decimal

from tests.golden.runner import Relation, family, same
from tests.integration.targets import Answer


def difference(want: Relation, got: Answer) -> str:
    """What differs, or nothing: rows in any order, column names in any case, and the families of types."""
    faults = []
    if [name.casefold() for name, _ in got.columns] != [name.casefold() for name, _ in want.columns]:
        faults.append(
            f"columns are {[name for name, _ in got.columns]}, and should be {[name for name, _ in want.columns]}"
        )
    elif [family(type_) for _, type_ in got.columns] != want.families:
        faults.append(f"types are {[type_ for _, type_ in got.columns]}, and should be {want.families}")
    left, missing = list(got.rows), []
    for row in want.rows:
        found = next((i for i, other in enumerate(left) if all(map(same, row, other, want.families))), None)
        if found is None:
            missing.append(row)
        else:
            del left[found]
    if missing or left:
        faults.append(f"{len(missing)} of {len(want.rows)} rows are missing, and {len(left)} are too many")
        faults += [f"  missing   {row}" for row in missing[:5]]
        faults += [f"  too many  {[str(v) if isinstance(v, Decimal) else v for v in row]}" for row in left[:5]]
    return "\n".join(faults)
