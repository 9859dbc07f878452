"""Sixty mistakes of users, and the place of each that is shown, over each method of a profile.

`§` is in front of what is at fault. All models run once for each method.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest
import yaml

from tests.integration.targets import DbtProject, Target, write
from tests.lib.support import Done

T = "{{ ref('t') }}"
HOP = f"<< hop({T}, ts, '1 hour', '1 day') >>"
FRAMED = f"FROM {T}\nWINDOW w AS (PARTITION BY s ORDER BY ts ROWS_RANGE BETWEEN 1d PRECEDING AND CURRENT ROW)"
BOUNDS = "group by window_start, window_end"

ANALYSED = {
    "column": f"select a,\n  §prise\nfrom {T}",
    "column_of_alias": f"select x.a,\n  §x.prise\nfrom {T} x",
    "column_below_macro": f"select {{{{ two_lines() }}}},\n  §prise\nfrom {T}",
    "column_in_view": f"{{{{ config(materialized='view') }}}}\n\nselect a,\n  §prise\nfrom {T}",
    "column_in_cte": f"with q as (\n  select §prise from {T}\n)\nselect * from q",
    "column_in_loop": f"{{% for c in ['a', 's'] %}}\nselect {{{{ c }}}} as x, §prise from {T}\n"
    "{% if not loop.last %}union all{% endif %}{% endfor %}",
    "column_under_condition": f"select a\n{{% if is_incremental() %}}, no{{% else %}}\n, §prise\n"
    f"{{% endif %}}\nfrom {T}",
    "table": "select 1 as x\nfrom §nope_table",
    "schema": "select 1 as x from\n  §nodb.t",
    "function": f"select a,\n  §nofun(a) as x\nfrom {T}",
    "table_function": "select * from\n  §nofun(1)",
    "operator": f"select\n  §a + array(1) as x\nfrom {T}",
    "case": f"select §case when a then 1 end as x\nfrom {T}",
    "cast": f"select a,\n  §cast(array(1) as int) as x\nfrom {T}",
    "arity": f"select a,\n  §substring(s) as x\nfrom {T}",
    "ambiguous": f"select x.a,\n  §s\nfrom {T} x join {T} y on x.a = y.a",
    "in_subquery": f"select a from {T}\nwhere a §in (select a, s from {T})",
    "scalar_subquery": f"select §(select a, s from {T}) as x",
    "group_by_number": f"select a from {T}\ngroup by 1, §3",
    "order_by_number": f"select a from {T}\norder by §7",
    "no_group": f"with q as (select s from {T})\nselect a,\n  §s, count(*) as n from {T} group by a",
    "union": f"§select a from {T}\nunion all\nselect a, s from {T}",
    "condition_of_join": f"select x.a from {T} x\n  §join {T} y on x.a",
    "aggregate_in_aggregate": f"select sum(\n  §count(a)) as x from {T}",
    "limit": f"select §a\nfrom {T}\nlimit a",
    "lateral_view": f"select a from {T}\n§lateral view explode(a) as z",
    "island": f"select window_start,\n  sum(§prise) as p\nfrom << tumble({T}, ts, '1 day') >>\n{BOUNDS}",
    "island_by_slices": f"select window_start, count(*) as n,\n  avg(§prise) as p\nfrom {HOP}\n{BOUNDS}",
    "island_of_sessions": f"select §nofun(window_start) as p\nfrom << session({T}, ts, '1 hour') >>",
    "macro": "select window_start,\n  max(§prise) as p\nfrom {{ tumble(ref('t'), 'ts', '1 day') }}\n" + BOUNDS,
    "call": "select 1 as one, q.* from (\n{% call window_sql() %}\nselect window_start, min(§prise) as p\n"
    f"from tumble({T}, ts, '1 day')\n{BOUNDS}\n{{% endcall %}}) q",
    "dialect": "{{ config(sql_dialect='flink') }}\nSELECT window_start, COUNT(*) AS n\n"
    "FROM TUMBLE(TABLE §nodb.nope, DESCRIPTOR(ts), INTERVAL '1' DAY)\nGROUP BY window_start, window_end",
    "frame": f"{{{{ config(sql_dialect='openmldb') }}}}\nSELECT a, sum(§prise) OVER w AS p\n{FRAMED}",
    "key_of_frame": "{{ config(sql_dialect='openmldb') }}\nSELECT a, sum(a) OVER w AS p\n"
    f"{FRAMED.replace(' ts', ' §prise')}",
    "no_group_in_stream": f"{{{{ config(sql_dialect='sqlstream') }}}}\nSELECT s,\n  §a\nFROM {T} GROUP BY s",
}
PARSED = {
    "no_from": "select a\nform §t x y",
    "two_commas": f"select a,§, s\nfrom {T}",
    "comma_at_the_end": "select a,\n§from t",
    "open_parenthesis": f"select (a §from {T}",
    "open_text": f"select a,\n  §'abc from {T}",
    "two_operators": f"select a from {T}\nwhere a = §= 1",
    "no_table_to_join": f"select * from {T}\njoin on a §= b",
    "no_then": f"select case when §a = 1 the 2 end as x\nfrom {T}",
    "no_and": f"select a from {T} where a between 1\n§, 2",
    "number": "select\n  §99999999999999999999999999999999999L as x",
    "date": f"select §date'2020-13-99' as x\nfrom {T}",
    "type": f"select cast(a as §intt) as x\nfrom {T}",
    "name": "select 1 as x from t§-x",
    "over": f"select {{{{ two_lines() }}}}, sum(a) over §(partition a) as x\nfrom {T}",
    "interval": f"select interval '1' foo §as x\nfrom {T}",
}
RUNNING = {
    "division": f"select {{{{ two_lines() }}}},\n  §a / 0 as x\nfrom {T}",
    "remainder": f"select §a % 0 as x\nfrom {T}",
    "text_as_number": f"select a,\n  §cast(s as int) as x\nfrom {T}",
    "text_as_time": f"select a,\n  §cast(s as timestamp) as x\nfrom {T}",
    "sum_of_int": f"select §a + 2147483647 as x\nfrom {T}",
    "decimal": f"select §cast(a * 1000 as decimal(3, 1)) as x\nfrom {T}",
    "index": f"select §array(1, 2)[a + 5] as x\nfrom {T}",
    "element": f"select\n  §element_at(array(1), a + 5) as x\nfrom {T}",
    "rows_of_subquery": f"select §(select a from {T}) as x",
    "division_in_windows": f"select window_start, window_end,\n  sum(§a / 0) as x\nfrom {HOP}\n{BOUNDS}",
}
OURS = {
    "size": f"select * from << tumble({T}, ts, §'0 minutes') >>",
    "unit": f"select *\nfrom << tumble({T}, ts, §'1 fortnight') >>",
    "time_column": f"select {{{{ two_lines() }}}} from << tumble({T}, §tss, '1 day') >>",
    "time_type": f"select {{{{ two_lines() }}}}\nfrom << tumble({T}, §a, '1 day') >>",
    "steps": f"select *\nfrom << cumulate({T}, ts, '4 minutes', §'10 minutes') >>",
    "no_function": f"select *\nfrom << §tumbel({T}, ts, '1 day') >>",
    "argument": "select *\nfrom {{ tumble(ref('t'), 'ts', §sise='1 day') }}",
    "window_in_dialect": "{{ config(sql_dialect='flink') }}\nSELECT window_start, COUNT(*) AS n\n"
    f"FROM TUMBLE(TABLE {T}, DESCRIPTOR(§a), INTERVAL '1' DAY)\nGROUP BY window_start, window_end",
    "column_in_call": "{% call window_sql(dialect='flink') %}\nSELECT window_start, SUM(§prise) AS p\n"
    f"FROM TUMBLE(TABLE {T}, DESCRIPTOR(ts), INTERVAL '1' DAY)\nGROUP BY window_start, window_end\n{{% endcall %}}",
    "month": f"select * from << tumble({T}, ts, §'1 month') >>",
}
STREAM = "{{ config(materialized='streaming_incremental', event_time='ts', watermark='1 hour') }}\n"
STREAMS = {
    "column_of_stream": f"{STREAM}select a,\n  §prise\nfrom {{{{ stream(ref('t')) }}}}",
    "window_of_stream": f"{STREAM}select window_start,\n  sum(§prise) as p\n"
    f"from << tumble({{{{ stream(ref('t')) }}}}, ts, '1 day') >>\n{BOUNDS}",
    "division_of_stream": f"{STREAM}select {{{{ two_lines() }}}},\n  §a / 0 as x\nfrom {{{{ stream(ref('t')) }}}}",
}
COUNTED = f"select window_start, count(*) as n\nfrom {{{{ tumble(stream(ref('t')), 'ts', '1 day') }}}}\n{BOUNDS}"
STREAMS |= {
    "no_watermark": f"{{{{ config(materialized='streaming_incremental',\n  event_time=§'ts') }}}}\n{COUNTED}",
    "no_event_time": f"{{{{ config(materialized='streaming_incremental',\n  watermark=§'1 hour') }}}}\n{COUNTED}",
    "neither": f"{{{{ §config(materialized='streaming_incremental') }}}}\n{COUNTED}",
    "no_such_time": f"{STREAM.replace(chr(39) + 'ts', '§' + chr(39) + 'tss')}{COUNTED}",
    "no_such_partition": f"{STREAM.replace(') }}', ',' + chr(10) + 'partition_by=§' + repr('dya') + ') }}')}{COUNTED}",
}
BATCH = (
    "{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='ts',\n"
    f"  batch_size='day', begin='{date.today()}', partition_by='day') }}}}\n"
    f"select {{{{ two_lines() }}}}, §prise,\n  date(ts) as day from {T}"
)
MISTAKES = ANALYSED | PARSED | RUNNING | OURS | STREAMS

# A model whose fault another file holds, or a macro, and what is shown instead of a place in it.
ELSEWHERE = {
    "in_macro": (f"select a,\n  {{{{ bad() }}}}\nfrom {T}", "    compiled line 2, from models/in_macro.sql:2:3\n"),
    "in_ephemeral": ("select *\nfrom {{ ref('inner') }}", "    models/inner.sql:3:5\n"),
    "in_view": ("select {{ two_lines() }}\nfrom {{ ref('hollow') }}", "; line 1 pos 7"),
    "in_hook": ("{{ config(post_hook='select 1,\\n nope') }}\nselect 1 as x", "    line 2 of the statement\n"),
    "in_query": ("{% set x = run_query('select 1,\\n nope') %}\nselect 1 as x", "    line 2 of the statement\n"),
}
# A model whose source says something wrong: one line and advice, and Java's trace only in dbt's log.
SOURCES = {"no_folder": "format: csv, path: /nosuch/folder", "no_format": "format: cvs, path: /tmp"}
FILES = {
    "dbt_project.yml": "name: places\nprofile: places\nmodels:\n  +materialized: table\n",
    "macros/lines.sql": "{% macro two_lines() %}\n a,\n  s{% endmacro %}{% macro bad() %}prise{% endmacro %}",
    "models/t.sql": "select 1 as a, 'abc' as s, timestamp'2020-01-01' as ts\nunion all\n"
    "select 2, 'de', timestamp'2020-01-02'",
    "models/batch.sql": BATCH,
    "models/inner.sql": f"{{{{ config(materialized='ephemeral') }}}}\nselect a,\n    prise\nfrom {T}",
    "models/whole.sql": "{{ config(materialized='view') }}select 1 as one",
    "models/hollow.sql": "{{ config(materialized='view') }}select one from {{ ref('whole') }}",
    "tests/singular.sql": f"select a\nfrom {T}\nwhere §prise > 1",
    "models/sources.yml": "sources:\n  - name: land\n    tables:\n"
    + "".join(
        f"      - {{name: {name}, meta: {{stream: {{{stream}, schema: a int}}}}}}\n" for name, stream in SOURCES.items()
    ),
    **{
        f"models/{name}.sql": "{{ config(materialized='streaming_incremental') }}\n"
        f"select a from {{{{ stream(source('land', '{name}')) }}}}"
        for name in SOURCES
    },
    **{f"models/{name}.sql": sql for name, sql in MISTAKES.items()},
    **{f"models/{name}.sql": sql for name, (sql, _) in ELSEWHERE.items()},
}


@pytest.fixture(scope="module")
def project(target: Target, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DbtProject]:
    folder = write(tmp_path_factory.mktemp("places"), {name: text.replace("§", "") for name, text in FILES.items()})
    made = DbtProject(folder, target, schema=f"places_{target.name}")
    profile = yaml.safe_load((folder / "profiles.yml").read_text())
    profile["places"]["outputs"][target.name]["server_side_parameters"]["spark.sql.ansi.enabled"] = "true"
    (folder / "profiles.yml").write_text(yaml.safe_dump(profile))
    made.dbt("run", "--select", "t", "whole", "hollow")
    target.do(f"create or replace view {made.schema}.whole as select 1 as other")
    yield made
    target.drop_schema(made.schema)


def messages(done: Done) -> dict[str, str]:
    return {result.node.name: str(result.message) for result in done.result.results}


@pytest.fixture(scope="module")
def shown(project: DbtProject) -> dict[str, str]:
    """What dbt says of each model."""
    return messages(project.invoke("run", "--exclude", "t", "whole", "hollow"))


def place(name: str, sql: str, folder: str = "models") -> str:
    before, _, after = sql.partition("§")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    source = f"{before}{after}".split("\n")[line - 1]
    return f"{folder}/{name}.sql:{line}:{column}\n    {source}\n    {' ' * (column - 1)}^"


@pytest.mark.parametrize("name", MISTAKES)
def test_place(name: str, shown: dict[str, str]) -> None:
    message = shown[name]
    assert any(place(name, MISTAKES[name]).replace("\n", f"\n{indent}") in message for indent in ("  ", "")), message
    assert "\tat " not in message
    assert len(message.splitlines()) < 14, message


@pytest.mark.parametrize("name", ELSEWHERE)
def test_elsewhere(name: str, shown: dict[str, str]) -> None:
    assert ELSEWHERE[name][1] in shown[name]
    assert ("compiled code at" in shown[name]) == (name not in ("in_hook", "in_query"))


@pytest.mark.parametrize("name", SOURCES)
def test_source(name: str, shown: dict[str, str]) -> None:
    assert "\tat " not in shown[name]
    assert len(shown[name].splitlines()) < 8, shown[name]


def test_nothing_but_dbt_writes_to_the_terminal(project: DbtProject, capfd: pytest.CaptureFixture[str]) -> None:
    project.invoke("run", "--select", "no_format", "division", "table")
    printed = capfd.readouterr()
    assert "QueryContextLogger" not in printed.out + printed.err
    assert "\tat " not in printed.out + printed.err


def test_a_microbatch(project: DbtProject, capfd: pytest.CaptureFixture[str]) -> None:
    """dbt writes the errors of batches to the terminal alone."""
    project.invoke("run", "--select", "batch", quiet=False)
    assert "models/batch.sql:3:27\n" in capfd.readouterr().out


def test_a_test(project: DbtProject) -> None:
    message = messages(project.invoke("test"))["singular"]
    assert place("singular", FILES["tests/singular.sql"], "tests").replace("\n", "\n  ") in message


def test_show(project: DbtProject) -> None:
    """Rows of a session are computed when they are fetched."""
    done = project.invoke("show", "--select", "division")
    assert place("division", MISTAKES["division"]).replace("\n", "\n    ") in str(done.exception)


def test_inline(project: DbtProject) -> None:
    done = project.invoke("show", "--inline", f"select {{{{ two_lines() }}}},\n  nope from {T}")
    assert "line 2, column 3 of inline_query\n" in str(done.exception)
