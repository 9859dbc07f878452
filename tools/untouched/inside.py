"""Runs in a process of its own, in the folder of a project: seeds, builds, and writes what came of it as JSON."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner

MARK = "untouched: "
GENERAL = ("--no-use-colors", "--no-send-anonymous-usage-stats", "--no-version-check")


def main(to: Path, arguments: list[str]) -> None:
    """Builds the project in this folder.

    Args:
        to: the file to write.
        arguments: further ones for dbt.
    """
    tables: dict[str, Any] = {}

    def hear(event: Any) -> None:
        if event.info.msg.startswith(MARK):
            tables.update(json.loads(event.info.msg.removeprefix(MARK)))

    runner = dbtRunner(callbacks=[hear])

    def dbt(*command: str) -> Any:
        done = runner.invoke([*GENERAL, *command, *arguments, "--profiles-dir", "."])
        if done.exception:
            raise done.exception
        return done.result

    statuses, messages, sql = {}, {}, {}
    # Sources may be seeds, which dbt doesn't know.
    for step in (["seed"], ["build", "--exclude", "resource_type:seed"]):
        for result in dbt(*step).results:
            node = result.node.unique_id
            statuses[node] = str(result.status)
            if statuses[node] not in ("success", "pass"):
                messages[node] = str(result.message)
            if code := getattr(result.node, "compiled_code", None):
                sql[node] = re.sub(r"__dbt_tmp\w*", "__dbt_tmp", code).strip()
    dbt("run-operation", "untouched_look")
    to.write_text(json.dumps({"statuses": statuses, "messages": messages, "sql": sql, "tables": tables}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
