"""The package on dbt 2: `python -m tools.dbt2 BINARY` compiles each model with dbt 1 and dbt 2, and compares the SQL.

With `--build` it builds microbatch models as well, and tests that they have the windows of one query over all rows.
That needs a Spark at 127.0.0.1:10000.
"""

from __future__ import annotations

import difflib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).parents[1]
PROJECT = "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\nvars: {sparkstream_examples: true}\n"
PROFILE = (
    "shop:\n  target: dev\n  outputs:\n    dev: {type: spark, method: thrift, host: 127.0.0.1, port: 10000, "
    "auth: NOSASL, schema: dbt2, user: me}\n"
)
ROWS = """{{ config(materialized='table', event_time='ts') }}
select cast(id % 2 as int) as k, TYPE'2024-01-01 00:00:00' + make_dt_interval(0, 0, cast(id * 11 as int), 0) as ts
from range(393)
"""
BATCHES = """{{ config(
    materialized='incremental', incremental_strategy='microbatch', event_time='TIME', batch_size='day',
    begin='2024-01-01', partition_by=['day'], file_format='parquet'
) }}
"""
WINDOWS = {
    "tumble": "sparkstream.tumble(ref('rows'), 'ts', '7 minutes')",
    "hop": "sparkstream.hop(ref('rows'), 'ts', '20 minutes', '1 hour')",
    "cumulate": "sparkstream.cumulate(ref('rows'), 'ts', '1 hour', '1 day')",
    "session": "sparkstream.session(ref('rows'), 'ts', '15 minutes', partition_by='k')",
}
BOUNDS = ("window_start", "window_end", "window_time")
COUNTS = """select k, window_start, window_end, window_time, count(*) as n, cast(TIME as date) as day
from {{ WINDOW }} group by k, window_start, window_end, window_time
"""
SPENT = """with near as (
  select *, count(*) over (partition by k order by ts range between interval 1 hour preceding and current row) as n
  from {{ sparkstream.read(ref('rows'), before='1 hour') }}
)
select *, cast(ts as date) as day from near where {{ sparkstream.in_batch('ts') }}
"""
TESTS = """models:
  - name: all_hop_window_start
    data_tests:
      - sparkstream.window_complete: {arguments: {size: 1 hour, slide: 20 minutes}}
      - sparkstream.window_aligned: {arguments: {size: 1 hour, slide: 20 minutes}}
"""
SAME = """with expected as (select * from {{ ref('all_NAME') }} where day between '2024-01-01' and '2024-01-03')
(table expected except all table {{ ref('in_batches_NAME') }})
union all (table {{ ref('in_batches_NAME') }} except all table expected)
"""


def files() -> Iterator[tuple[str, str]]:
    """The project's files: path and text."""
    yield "dbt_project.yml", PROJECT
    yield "profiles.yml", PROFILE
    yield "packages.yml", "packages: [{local: package}]\n"
    yield "models/tests.yml", TESTS
    for suffix, type_ in (("", "timestamp_ntz"), ("_tz", "timestamp")):
        yield f"models/rows{suffix}.sql", ROWS.replace("TYPE", type_)
        yield from _twice(
            f"plain{suffix}", "ts", f"select *, cast(ts as date) as day from {{{{ ref('rows{suffix}') }}}}\n"
        )
    yield from _twice("spent", "ts", SPENT)
    for name, window in WINDOWS.items():
        for time in BOUNDS:
            yield from _twice(f"{name}_{time}", time, COUNTS.replace("WINDOW", window).replace("TIME", time))


def _twice(name: str, time: str, query: str) -> Iterator[tuple[str, str]]:
    """A query as a view over all rows and as a microbatch model, and the test that both have the same rows."""
    yield f"models/all_{name}.sql", query
    yield f"models/in_batches_{name}.sql", BATCHES.replace("TIME", time) + query
    yield f"tests/same_{name}.sql", SAME.replace("NAME", name)


def compiled(folder: Path) -> dict[str, str]:
    """Each node's compiled SQL, by the name of its file; dbt 2 writes names in backticks, and dbt 1 without."""
    paths = (folder / "target" / "compiled").rglob("*.sql")
    return {path.name: path.read_text(encoding="utf-8").strip().replace("`", "") for path in paths}


def differences(one: dict[str, str], two: dict[str, str]) -> Iterator[str]:
    for name in sorted(one.keys() | two.keys()):
        if one.get(name) != two.get(name):
            before, after = (sql.get(name, "(not there)").splitlines() for sql in (one, two))
            yield "\n".join(difflib.unified_diff(before, after, f"dbt 1: {name}", f"dbt 2: {name}", lineterm=""))


@click.command(help=__doc__)
@click.argument("binary", type=click.Path(exists=True, dir_okay=False, resolve_path=True))
@click.option("--build", is_flag=True, help="Builds and tests microbatch models, too.")
def main(binary: str, build: bool) -> None:
    """Compares dbt 2 with the dbt of this Python."""
    environ = {**os.environ, "RUST_MIN_STACK": "67108864", "DO_NOT_TRACK": "1"}
    dbt = str(Path(sys.executable).with_name("dbt"))
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for path in ("dbt_project.yml", "macros", "models"):
            copy = shutil.copytree if (ROOT / path).is_dir() else shutil.copyfile
            (folder / "package").mkdir(exist_ok=True)
            copy(ROOT / path, folder / "package" / path)
        for name, text in files():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        found = []
        for program in (dbt, binary):
            shutil.rmtree(folder / "target", ignore_errors=True)
            shutil.rmtree(folder / "dbt_packages", ignore_errors=True)
            (folder / "package-lock.yml").unlink(missing_ok=True)
            offline = ["--no-populate-cache"] if program is dbt else []
            for command in (["deps"], ["compile", "--no-introspect", *offline]):
                subprocess.run(
                    [program, *command, "--profiles-dir", made], cwd=folder, env=environ, check=command != ["deps"]
                )
            found.append(compiled(folder))
        differ = list(differences(*found))
        click.echo("\n".join([*differ, f"{len(found[0])} nodes, {len(differ)} with other SQL in dbt 2"]))
        if build:
            days = ["--event-time-start", "2024-01-01", "--event-time-end", "2024-01-04"]
            command = [binary, "build", "--full-refresh", "--select", "package:shop", *days, "--profiles-dir", made]
            subprocess.run(command, cwd=folder, env=environ, check=True)
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
