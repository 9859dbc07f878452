"""Messages of mistakes, as the person who made them reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from textwrap import indent

import pytest

from tests.functional.adapter.project import Project, with_package
from tests.lib.support import sampled

BID = "select timestamp'2020-04-15 08:05:00' as bidtime, 4.0 as price, 'C' as item, 'a' as key"

# A model with a mistake -> what dbt says, from the line after "Compilation Error in model ...".
MISTAKES: dict[str, tuple[str, str]] = {
    "an island": (
        """\
select window_start, count(*) as bids
from << tumble({{ ref('bid') }}, bidtime, '0 minutes') >>
group by window_start
""",
        """\
window size must be positive
  models/mistake.sql:2:43
    from << tumble({{ ref('bid') }}, bidtime, '0 minutes') >>
                                              ^^^^^^^^^^^
  write a size such as '10 minutes'""",
    ),
    "an island of no window function": (
        """\
select window_start, count(*) as bids
from << tumbel({{ ref('bid') }}, bidtime, '10 minutes') >>
group by window_start
""",
        """\
there is no window function tumbel
  models/mistake.sql:2:9
    from << tumbel({{ ref('bid') }}, bidtime, '10 minutes') >>
            ^^^^^^
  did you mean tumble?""",
    ),
    "an argument that the macro doesn't have": (
        """\
select window_start, count(*) as bids
from {{ tumble(ref('bid'), 'bidtime', sise='10 minutes') }}
group by window_start
""",
        """\
tumble has no argument sise
  models/mistake.sql:2:39
    from {{ tumble(ref('bid'), 'bidtime', sise='10 minutes') }}
                                          ^^^^
  did you mean size?""",
    ),
    "an argument that is missing": (
        "select 1 as x\nfrom {{ tumble(ref('bid'), 'bidtime') }}\n",
        """\
tumble's size is missing
  models/mistake.sql:2:9
    from {{ tumble(ref('bid'), 'bidtime') }}
            ^^^^^^
  write it such as '10 minutes', '1 hour 30 minutes' or '1 day'""",
    ),
    "an argument of the wrong type, in the second of two calls": (
        """\
select * from {{ tumble(ref('bid'), 'bidtime', '1 day') }}
union all
select * from {{- tumble(ref('bid'), 'bidtime', size=10) }}
""",
        """\
tumble's size is not a text: 10
  models/mistake.sql:3:54
    select * from {{- tumble(ref('bid'), 'bidtime', size=10) }}
                                                         ^^
  write it such as '10 minutes', '1 hour 30 minutes' or '1 day'""",
    ),
    "a column without quotes": (
        "select * from {{ tumble(ref('bid'), bidtime, '1 day') }}",
        """\
tumble's timecol is no column name: 
  models/mistake.sql:1:37
    select * from {{ tumble(ref('bid'), bidtime, '1 day') }}
                                        ^^^^^^^
  write it in quotes, such as 'bidtime'""",
    ),
    "an argument too many": (
        "select * from {{ tumble(ref('bid'), 'bidtime', '1 day', '1 hour', 'UTC') }}",
        """\
tumble takes 4 arguments at most, and got 5
  models/mistake.sql:1:18
    select * from {{ tumble(ref('bid'), 'bidtime', '1 day', '1 hour', 'UTC') }}
                     ^^^^^^
  its arguments are relation, timecol, size, offset""",
    ),
    "a value that isn't one of some": (
        "select {{ over('sum(price)', order_by='bidtime', frame='row') }} as s from {{ ref('bid') }}",
        """\
over has no frame 'row'
  models/mistake.sql:1:56
    select {{ over('sum(price)', order_by='bidtime', frame='row') }} as s from {{ ref('bid') }}
                                                           ^^^^^
  write frame='rows', frame='range' or frame='rows_range'""",
    ),
    "a macro with another name": (
        "select * from {{ tumbel(ref('bid'), 'bidtime', '1 day') }}",
        """\
there is no macro tumbel
  models/mistake.sql:1:18
    select * from {{ tumbel(ref('bid'), 'bidtime', '1 day') }}
                     ^^^^^^
  did you mean tumble?""",
    ),
    "a window_replace without a partition_by": (
        "{{ config(materialized='incremental', incremental_strategy='window_replace') }}\n"
        "select * from {{ tumble(ref('bid'), 'bidtime', '1 day') }}",
        """\
window_replace replaces partitions, and needs a partition_by
  models/mistake.sql:1:60
    {{ config(materialized='incremental', incremental_strategy='window_replace') }}
                                                               ^^^^^^^^^^^^^^^^
  write one such""",
    ),
    "a lateness that is no interval": (
        "{{ config(materialized='incremental', incremental_strategy='window_replace', partition_by='day',\n"
        "    lateness='1 huor') }}\nselect * from {{ tumble(ref('bid'), 'bidtime', '1 day') }}",
        """\
window_replace's lateness has an unknown unit 'huor': '1 huor'
  models/mistake.sql:2:14
        lateness='1 huor') }}
                 ^^^^^^^^
  use milliseconds""",
    ),
    "a config of a stream with another name": (
        "{{ config(materialized='streaming_incremental', event_time='bidtime', watermrk='1 minute') }}\n"
        "select * from {{ stream(ref('bid')) }}",
        """\
a streaming model has no config 'watermrk'
  models/mistake.sql:1:80""",
    ),
    "a watermark that is no interval": (
        "{{ config(materialized='streaming_incremental', event_time='bidtime') }}\n"
        "select * from {{ stream(ref('bid'), watermark='10 minuts') }}",
        """\
watermark: unknown unit of time 'minuts'
  models/mistake.sql:2:47
    select * from {{ stream(ref('bid'), watermark='10 minuts') }}
                                                  ^^^^^^^^^^^""",
    ),
    "stream() in a view": (
        "select * from {{ stream(ref('bid')) }}",
        """\
stream() stands in a streaming model, and this one is materialized as view
  models/mistake.sql:1:18""",
    ),
    "an incremental model that would append its windows again": (
        """\
{{ config(materialized='incremental', unique_key='window_start') }}
select window_start, count(*) as bids
from << tumble({{ ref('bid') }}, bidtime, '10 minutes') >>
group by window_start
""",
        """\
an incremental model of windows has to say what becomes of the windows that its table has
  models/mistake.sql:1:24
    {{ config(materialized='incremental', unique_key='window_start') }}
                           ^^^^^^^^^^^^^
  write incremental_strategy='window_replace' and a partition_by: windows that may have changed are computed again
  or incremental_strategy='append', where the query takes only windows that are new and closed""",
    ),
    "a macro, after blank lines and Jinja": (
        """


{{ config(materialized='table') }}

{% set size = '10 minutes' %}
select window_start, count(*) as bids
from {{ tumble(ref('bid'), 'nosuchtime', size) }}
group by window_start
""",
        """\
the input of TUMBLE has no column nosuchtime
  models/mistake.sql:8:29
    from {{ tumble(ref('bid'), 'nosuchtime', size) }}
                                ^^^^^^^^^^
  it has bidtime, price, item, key""",
    ),
    "a call block": (
        """\
{% call window_sql(dialect='flink') %}
SELECT window_start, COUNT(*) AS bids
FROM TUMBLE(TABLE {{ ref('bid') }}, DESCRIPTOR(bidtime), INTERVAL '1' WEEK)
GROUP BY window_start
{% endcall %}
""",
        """\
  models/mistake.sql:3:58
    FROM TUMBLE(TABLE {{ ref('bid') }}, DESCRIPTOR(bidtime), INTERVAL '1' WEEK)
                                                             ^^^^^^^^^^^^^^^^^""",
    ),
    "a dialect": (
        """\
{{ config(sql_dialect='flink') }}
SELECT window_start, COUNT(*) AS bids
FROM TUMBLE(TABLE {{ ref('bid') }}, DESCRIPTOR(price), INTERVAL '1' DAY)
GROUP BY window_start
""",
        """\
  models/mistake.sql:3:48
    FROM TUMBLE(TABLE {{ ref('bid') }}, DESCRIPTOR(price), INTERVAL '1' DAY)
                                                   ^^^^^""",
    ),
    "the same piece twice": (
        """\
select * from << tumble({{ ref('bid') }}, bidtime, '10 minutes') >>
union all
select *
from << cumulate({{ ref('bid') }}, bidtime, '4 minutes', '10 minutes') >>
""",
        """\
  models/mistake.sql:4:58
    from << cumulate({{ ref('bid') }}, bidtime, '4 minutes', '10 minutes') >>
                                                             ^^^^^^^^^^^^""",
    ),
    "SQL from a macro": (
        "select * from {{ windows(ref('bid')) }}",
        """\
window size must be positive
  models/mistake.sql, line 1, column """,
    ),
    "an unknown dialect": (
        "{{ config(sql_dialect='flunk') }}\nselect 1 as x",
        """\
unknown SQL dialect 'flunk'
  models/mistake.sql:1:23
    {{ config(sql_dialect='flunk') }}
                          ^^^^^^^
  write one of 'spark', 'flink'""",
    ),
    "an unknown dialect in a call": (
        "{% call window_sql(dialect='flunk') %} select 1 as x {% endcall %}",
        "unknown SQL dialect 'flunk'",
    ),
}


@pytest.fixture(scope="module")
def shop(make_project: Callable[..., Project]) -> Project:
    windows = (
        "{% macro windows(relation) %}<< tumble({{ relation }}, bidtime, '0 minutes') >>{% endmacro %}\n"
        "{% macro untimed(relation) %}{{ tumble(relation, 'bidtime') }}{% endmacro %}"
    )
    project = make_project({"models/bid.sql": BID, "macros/windows.sql": windows})
    project.dbt("run")
    return project


MODELS = {name: f"mistake_{number}" for number, name in enumerate(MISTAKES)}


@pytest.fixture(scope="module")
def told(shop: Project) -> Iterator[dict[str, str]]:
    """What dbt says of each model with a mistake when it runs them."""
    files = {f"models/{model}.sql": MISTAKES[name][0] for name, model in MODELS.items()}
    shop.write(files)
    results = shop.invoke("run", "--select", *MODELS.values()).result.results
    yield {result.node.name: str(result.message) for result in results}
    for file in files:
        (shop.folder / file).unlink()


@pytest.mark.parametrize("name", MISTAKES)
def test_place(shop: Project, told: dict[str, str], name: str) -> None:
    model = MODELS[name]
    message = MISTAKES[name][1].replace("models/mistake.sql", f"models/{model}.sql")
    for failure in (told[model], shop.failure("compile", "--select", model)):
        assert f"Error in model {model} (models/{model}.sql)" in failure
        # dbt puts a message two columns in, and what it reports at the end of a command four.
        assert any(indent(message, " " * columns) in failure for columns in (2, 4)), failure


# A test's arguments with a mistake -> what dbt says, with the line and column of `models/tests.yml`.
BAD_TESTS: dict[str, tuple[str, str]] = {
    "window_aligned: {arguments: {siz: 1 hour}}": (
        "window_aligned has no argument siz\n  models/tests.yml:4:38\n",
        "did you mean size?",
    ),
    "window_aligned: {arguments: {size: 1 huor}}": (
        "window_aligned's size has an unknown unit 'huor': '1 huor'\n  models/tests.yml:4:44\n",
        "use milliseconds, seconds, minutes, hours, days or weeks",
    ),
    "conserved: {arguments: {source: ref('bid')}}": (
        "conserved's measure is missing\n  models/tests.yml:4:9\n",
        "write it as measure: ...",
    ),
    "window_complete: {arguments: {size: 1 hour, span: keys}}": (
        "window_complete knows no span 'keys'\n  models/tests.yml:4:9\n",
        "write span: key or span: model",
    ),
}


@pytest.mark.parametrize("test", BAD_TESTS)
def test_place_in_properties(shop: Project, test: str) -> None:
    shop.write({"models/tests.yml": f"models:\n  - name: bid\n    data_tests:\n      - {test}\n"})
    failure = shop.failure("compile", "--select", "bid")
    (shop.folder / "models/tests.yml").unlink()
    message, hint = BAD_TESTS[test]
    assert any(indent(message, " " * columns) in failure for columns in (2, 4)), failure
    assert hint in failure
    assert "macros/" not in failure


def test_a_macro_of_the_project_is_named(shop: Project) -> None:
    """The macro that is the user's own stays in what dbt says; ours go."""
    shop.write({"models/mistake.sql": "select * from {{ untimed(ref('bid')) }}"})
    failure = shop.failure("compile", "--select", "mistake")
    assert "tumble's size is missing\n" in failure
    assert "> in macro untimed (macros/windows.sql)" in failure
    assert "macros/private" not in failure


def test_sql_of_no_node(shop: Project) -> None:
    failure = shop.failure("show", "--inline-direct", "select *\nfrom << tumble(t, ts, '0 minutes') >>")
    assert "window size must be positive\n    line 2, column 23 of the statement\n" in failure


def test_inline_query(shop: Project) -> None:
    failure = shop.failure("show", "--inline", "select *\nfrom << tumble({{ ref('bid') }}, bidtime, '0 minutes') >>")
    assert "window size must be positive\n      line 2, column 43 of inline_query\n" in failure


# What a macro is given -> what it says, on dbt-spark and on the adapter alike unless a pair.
BAD_ARGUMENTS: dict[str, str | tuple[str, str]] = {
    "hop(ref('bid'), 'bidtime', '1m')": "hop's size is missing\n  write it such as '10 minutes'",
    "tumble(ref('bid'), 'bidtime', none)": "tumble's size is not a text: None\n  write it such as '10 minutes'",
    "tumble(ref('bid'), 'bidtime', 10)": "tumble's size is not a text: 10\n  write it such as '10 minutes'",
    "tumble(ref('bid'), 'cast(bidtime as date)', '1 day')": (
        "tumble's timecol is no column name: cast(bidtime as date)\n"
        "  write the name of a column of the relation, in backticks where it has spaces: '`event time`'\n"
        "  compute what isn't a column yet in a query in parentheses: '(select *, ... as event_time from ...)'"
    ),
    "tumble(ref('bid'), none, '1 day')": "tumble's timecol is no column name: None\n  write it in quotes",
    "tumble(none, 'bidtime', '1 day')": "tumble's relation is missing\n  write ref('...')",
    "tumble('select * from x', 'bidtime', '1 day')": (
        "tumble's relation is a query without parentheses: select * from x\n  write '(select * from x)'"
    ),
    "session(ref('bid'), 'bidtime', '1 minute', 'item, key')": (
        "session's partition_by has several columns in one text: 'item, key'\n  write a list of them: ['item', 'key']"
    ),
    "session(ref('bid'), 'bidtime', '1 minute', ['item, key'])": "session's partition_by has several columns in one",
    "tumble(ref('bid'), 'bidtime', '0 minutes')": (
        "tumble's size must be positive: '0 minutes'\n  write a size such as '10 minutes'",
        "window size must be positive",
    ),
    "hop(ref('bid'), 'bidtime', '-5 minutes', '10 minutes')": (
        "hop's slide must be positive: '-5 minutes'\n  write a slide such as '10 minutes'",
        "window slide must be positive",
    ),
    "session(ref('bid'), 'bidtime', '0s')": ("session's gap must be positive: '0s'", "window gap must be positive"),
    "session(ref('bid'), 'bidtime', 'two minutes')": (
        "session's gap is neither an interval nor a column: 'two minutes'\n"
        "  write an interval such as '10 minutes', or the name of the column with each row's own gap"
    ),
    "session(ref('bid'), 'bidtime', 'a+b')": "session's gap is no column name: a+b\n  write the name of a column",
    "session(ref('bid'), 'bidtime', none)": "session's gap is not a text: None",
    "session(ref('bid'), 'bidtime', '1m', max_duration=4)": "session's max_duration is not a text: 4",
    "session(ref('bid'), 'bidtime', '1m', max_duration='0h')": (
        "session's max_duration must be positive: '0h'",
        "window max_duration must be positive",
    ),
    "session(ref('bid'), 'bidtime', '1m', close_on=true)": (
        "session's close_on is no condition: True\n  write it as in WHERE, such as \"event = 'logout'\""
    ),
    "cumulate(ref('bid'), 'bidtime', '4 minutes', '10 minutes')": (
        "cumulate's size (10 minutes) must be a whole multiple of its step (4 minutes)\n"
        "  write a size such as '8 minutes'",
        "write a size such as '8 minutes'",
    ),
    "cumulate(ref('bid'), 'bidtime', '20 minutes', '10 minutes')": (
        "write a size such as '20 minutes'",
        "write a size such as '20 minutes'",
    ),
    "tumble(ref('bid'), 'bidtime', '5 minutes', '5 minutes')": (
        "tumble's offset must be smaller than its size, 5 minutes\n"
        "  write an offset between '-5 minutes' and '5 minutes'",
        "write the offset between -5 minutes and 5 minutes",
    ),
    "tumble(ref('bid'), 'bidtime', '1 month')": (
        "tumble's size can't be in months or years, which have no fixed length: '1 month'\n"
        "  use days or smaller units, or group by date_trunc('month', ...)",
        "a month or year has no fixed length",
    ),
    "tumble(ref('bid'), 'bidtime', 'INTERVAL 1 YEAR')": ("no fixed length", "no fixed length"),
    "tumble(ref('bid'), 'bidtime', '2 quarters')": ("no fixed length", "no fixed length"),
    "tumble(ref('bid'), 'bidtime', '1 fortnight')": (
        "tumble's size has an unknown unit 'fortnight': '1 fortnight'\n"
        "  use milliseconds, seconds, minutes, hours, days or weeks",
        "unknown unit of time 'fortnight'",
    ),
    "tumble(ref('bid'), 'bidtime', 'ten minutes')": (
        "tumble's size is no interval: 'ten minutes'",
        "is not an interval",
    ),
    "tumble(ref('bid'), 'bidtime', '10')": ("tumble's size is no interval: '10'", "is not an interval"),
    "tumble(ref('bid'), 'bidtime', '1.2.3 s')": ("tumble's size is no interval: '1.2.3 s'", "is not a number"),
    "tumble(ref('bid'), 'bidtime', '10 minutes 5')": ("is no interval: '10 minutes 5'", "is not an interval"),
    "window_around(ref('bid'), ref('bid'), 'key', 'bidtime', 'bidtime', '1m', '1m')": (
        "window_around's columns is missing\n  write it as columns: ..."
    ),
    "window_around(ref('bid'), ref('bid'), 'key', 'bidtime', 'bidtime', '1m', '1m', ['count'])": (
        "window_around's columns is no mapping of names to aggregates\n  write columns={'n': 'count'"
    ),
    "window_around(ref('bid'), ref('bid'), 'key', 'bidtime', 'bidtime', '1m', '-2m', {'n': 'count'})": (
        "window_around's window ends before it begins: it is from '1m' before a row to '-2m' after it"
    ),
    "window_around(ref('bid'), ref('bid'), 'key', 'bidtime', 'bidtime', '1m', '2m', {'n': 'first(price)'})": (
        "window_around's columns has an aggregate that it doesn't know: first(price)\n  write a function and its"
    ),
    "window_around(ref('bid'), ref('bid'), 'key', 'bidtime', 'bidtime', '1m', '2m', {'n': 'sum'})": (
        "window_around's columns gives sum 0 arguments, and it takes one\n  write {'n': ['sum', 'price']}"
    ),
    "window_around(ref('bid'), ref('bid'), left_time='bidtime', right_time='bidtime')": (
        "window_around's on is missing\n  write on='key'"
    ),
    "asof_join(none, ref('bid'), 'key', 'bidtime', 'bidtime')": ("asof_join's left is missing\n  write ref('...')"),
    "asof_join(ref('bid'), ref('bid'), left_time='bidtime', right_time='bidtime')": (
        "asof_join's on is missing\n  write on='key', on=['key', ...], "
        "on={'left_key': 'right_key'}, or on=[] where only times matter"
    ),
    "asof_join(ref('bid'), ref('bid'), 'key', 'bidtime')": (
        "asof_join's right_time is missing\n  write it as right_time: ..."
    ),
    "asof_join(ref('bid'), ref('bid'), 'key, item', 'bidtime', 'bidtime')": (
        "asof_join's on has several columns in one text: 'key, item'\n  write a list of them: ['key', 'item']"
    ),
    "asof_join(ref('bid'), ref('bid'), 'key', 'bidtime', 'bidtime', 'backwards')": (
        "asof_join's direction is none that it knows: 'backwards'\n  write one of backward, forward, nearest"
    ),
    "asof_join(ref('bid'), ref('bid'), 'key', 'bidtime', 'bidtime', type='full')": (
        "asof_join's type is none that it knows: 'full'\n  write one of left, inner"
    ),
    "asof_join(ref('bid'), ref('bid'), 'key', 'bidtime', 'bidtime', allow_exact='no')": (
        "asof_join's allow_exact is neither true nor false: no"
    ),
    "asof_join(ref('bid'), ref('bid'), 'key', 'bidtime', 'bidtime', tolerance='-1m')": (
        "asof_join's tolerance is negative: '-1m'\n  write a tolerance such as '10 minutes'"
    ),
    "asof_join(ref('bid'), ref('bid'), 'key', 'bidtime', 'bidtime', tolerance='1 month')": (
        "asof_join's tolerance can't be in months or years"
    ),
    "asof_join(ref('bid'), ref('bid'), 'key', 'bidtime', 'bidtime', columns=['key'])": (
        "asof_join's columns gives a second column the name key\n"
        "  write a new name behind it: columns={'key': 'right_key', ...}"
    ),
    "asof_join(ref('bid'), ref('bid'), 'key', 'bidtime', 'bidtime', columns=[])": ("asof_join's columns is empty"),
    "gapfill(ref('bid'), 'key')": (
        "gapfill's size is missing\n  write it as in the macro that made the windows, such as size='10 minutes'"
    ),
    "gapfill(ref('bid'), 'key', '10m', from='2024-01-01', span='keys')": (
        "gapfill's span is neither key nor all: 'keys'\n  write span='key' or span='all'"
    ),
    "gapfill(ref('bid'), 'key', '10m', fill={'price': 'LOCF'})": (
        "gapfill's fill knows no way 'LOCF' for price, did you mean locf?"
    ),
    "tumble(ref('bid'), 'bidtime', '')": ("tumble's size is no interval: ''", "tumble's size is not a text: "),
}


@pytest.mark.parametrize("type_", sampled(["sparkstream", "spark"], share=2))
def test_bad_arguments(make_project: Callable[..., Project], type_: str) -> None:
    plain = type_ == "spark"
    files = {"models/bid.sql": BID}
    for i, call in enumerate(BAD_ARGUMENTS):
        files[f"models/m{i}.sql"] = f"select * from {{{{ {'sparkstream.' if plain else ''}{call} }}}}"
    project = make_project(with_package(files) if plain else files, type=type_, host="none")
    if plain:
        project.dbt("deps")
    project.dbt("run", "--select", "bid")
    done = project.invoke("run", "--exclude", "bid")
    said = {r.node.name: r.message for r in done.result.results}
    for i, (call, expected) in enumerate(BAD_ARGUMENTS.items()):
        message = expected if isinstance(expected, str) else expected[0 if plain else 1]
        assert said[f"m{i}"].startswith("Compilation Error"), call
        lines = [line.strip() for line in said[f"m{i}"].splitlines()]
        assert message.splitlines()[0] in said[f"m{i}"], (call, said[f"m{i}"])
        assert all(any(line.strip() in told for told in lines) for line in message.splitlines()), (call, said[f"m{i}"])
        if not plain:
            assert f"models/m{i}.sql" in said[f"m{i}"] and "macros/private" not in said[f"m{i}"], said[f"m{i}"]


def test_window_sql_on_another_adapter(make_project: Callable[..., Project]) -> None:
    call = "{% call sparkstream.window_sql(dialect='flink') %} select 1 as x {% endcall %}"
    project = make_project(with_package({"models/call.sql": call}), type="spark", host="none")
    project.dbt("deps")
    message = """\
  window_sql needs the adapter dbt-sparkstream: it translates SQL, which the adapter spark can't
    where dbt is older than 2, install it (pip install dbt-sparkstream) and write `type: sparkstream` in the profile,
    or run the project that `sparkstream build` writes,
    or send statements through `sparkstream gateway`, and set the variable sparkstream_gateway to true,
    or write the window with a macro: from {{ tumble(ref('bid'), 'bidtime', '10 minutes') }}
"""
    assert message in project.failure("run")
