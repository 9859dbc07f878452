"""`dbt build` with a bar in the place of two lines for each model and test; `make demo` runs it.

All that dbt says is in logs/dbt.log.
"""

from __future__ import annotations

import sys
from typing import Any

import click
from dbt.cli.main import dbtRunner


def main() -> None:
    click.echo("dbt builds and tests the tables on a Spark of its own: a minute or two on an idle machine")
    bar = click.progressbar(length=1, label="starting", show_eta=False, show_pos=True)

    def listen(event: Any) -> None:
        data, node = event.data, event.info.name == "NodeFinished" and event.data.node_info
        if event.info.name in ("LogStartLine", "LogHookStartLine"):
            bar.length = data.total
        if node:
            bar.label = node.node_name[:40].ljust(40)
            bar.update(1)

    with bar:
        done = dbtRunner(callbacks=[listen]).invoke(["--log-level", "none", "build", *sys.argv[1:]])
    failed = [r for r in getattr(done.result, "results", ()) if r.status in ("error", "fail", "runtime error")]
    for result in failed:
        click.echo(f"{result.node.name}: {result.message}", err=True)
    if done.exception:
        click.echo(str(done.exception), err=True)
    sys.exit(0 if done.success else 1)


if __name__ == "__main__":
    main()
