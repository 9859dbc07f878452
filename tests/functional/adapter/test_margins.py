"""Microbatch models that read more than their batch: what dbt's batches give together is what one query gives."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.functional.adapter.project import Project, with_package
from tests.functional.adapter.test_incremental import MICROBATCH, bids, run_batches, same

OVER = """\
select *, cast(ts as date) as day from (
  select *, sum(n) over (partition by k order by ts range between interval '20' hour preceding and current row) as s,
    lead(n) over (partition by k order by ts, id) as next
  from {{ read(ref('bids'), before='20 hours', after='1 day') }}
) where {{ in_batch('ts') }}"""
JOIN = """\
select l.id, l.ts, r.id as other, cast(l.ts as date) as day
from {{ ref('bids') }} l
left join {{ read(ref('bids'), before='10 hours', after='9 hours') }} r
  on r.ts between l.ts - interval '10' hour and l.ts + interval '9' hour and r.id <> l.id
where {{ in_batch('l.ts') }}"""


def models(prefix: str = "") -> dict[str, str]:
    found = {}
    for name, query in (("sums", OVER), ("pairs", JOIN)):
        query = query.replace("{{ read", "{{ " + prefix + "read").replace("{{ in_batch", "{{ " + prefix + "in_batch")
        found[f"models/{name}.sql"] = f"{{{{ config({MICROBATCH}, event_time='ts') }}}}\n{query}"
        found[f"models/{name}_whole.sql"] = query
    return found


def test_batches_with_margins_are_one_query(make_project: Callable[..., Project]) -> None:
    project = make_project(bids() | models())
    run_batches(project)
    same(project, "sums")
    same(project, "pairs")
    assert "rows of earlier times are missing" not in (project.folder / "logs" / "dbt.log").read_text()

    # Without in_batch, partitions of other batches would be replaced by a part of their rows.
    project.write({"models/sums.sql": models()["models/sums.sql"].replace("where {{ in_batch('ts') }}", "")})
    project.failure("run", "--select", "sums", "--event-time-start", "2024-01-02", "--event-time-end", "2024-01-03")
    said = (project.folder / "logs" / "dbt.log").read_text()
    assert "reads rows of other batches, and nothing says which rows are the batch's" in said
    assert "where {{ in_batch('ts') }}" in said
    same(project, "sums")


@pytest.mark.long
def test_batches_with_margins_on_plain_dbt_spark(make_project: Callable[..., Project]) -> None:
    project = make_project(with_package(bids() | models("sparkstream.")), type="spark", host="none")
    project.dbt("deps")
    run_batches(project)
    same(project, "sums")
    same(project, "pairs")
