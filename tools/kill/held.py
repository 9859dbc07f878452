"""dbt that waits before a statement of a streaming run, for whoever kills it there.

Called as `held.py NAME PART MARK ARGUMENTS...`: before the first statement with PART in it that names the
table NAME, or one aside that is called NAME and `__`, the file MARK is made. ARGUMENTS are dbt's.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import Any

from dbt.cli.main import cli

from dbt.adapters.sparkstream.streaming.spark.engine import Engine

WAITS = 20.0
"""Seconds; then it goes on, as nobody has come."""


def main(name: str, part: str, mark: Path, arguments: list[str]) -> None:
    """Runs dbt."""
    run = Engine.sql

    def sql(self: Engine, statement: str) -> list[Any]:
        named = {word.partition("__")[0] for word in re.findall(r"\w+", statement)}
        if name in named and part in statement and not mark.exists():
            mark.touch()
            time.sleep(WAITS)
        return run(self, statement)

    Engine.sql = sql  # type: ignore[method-assign]
    cli(arguments)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
