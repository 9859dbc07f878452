{#
  Sessions that something else than a constant gap ends; not part of the package's interface.

  As in window_queries.sql, the translator of the adapter renders the same macro.
#}

{#- A row with `__until` keeps its session open until then. Rows are put into sessions in steps, each a query:
    1. `__time`, and `__closes`: whether the row closes its session.
    2. `__until`, and `__stretch`: a number for the rows between two that close. Rows of the same time as one that closes
       are in its session: no order tells them apart.
    3. `__opens`: whether the row comes after the `__until` of all earlier rows.
    4. `__session`: how many rows have opened one so far; in the default RANGE frame, so that rows of the same time get the
       same session.
    5. `__part`: where a session would last too long, the first time of the part of it that the row is in. Where a part begins
       depends on where the part before it began, so `aggregate` goes through the rows of each session in order. A row
       beyond the limit may open one more session, as what keeps a session open ends with it. -#}
{% macro default__sparkstream_ruled_session_query(
  comment, relation, time, gap, own_gap, longest, condition, keys, is_wall, wall_bounds
) -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set wall_clock = adapter.dispatch('sparkstream_wall_clock', 'sparkstream') -%}
  {%- set spark_window = adapter.dispatch('sparkstream_spark_window', 'sparkstream') -%}
  {%- set added_columns = adapter.dispatch('sparkstream_added_columns', 'sparkstream') -%}
  {%- set until = '__time + ' ~ written(gap, literal=true) if not own_gap
    else 'coalesce(__time + try_cast(' ~ own_gap ~ ' AS INTERVAL SECOND), __time + try_cast(CAST(' ~ own_gap
      ~ ' AS STRING) AS INTERVAL))' -%}
  {%- set by_key = 'PARTITION BY ' ~ keys | join(', ') ~ ' ' if keys else '' -%}
  {%- set stretch = keys + (['__stretch'] if condition else []) -%}
  {%- set by_stretch = 'PARTITION BY ' ~ stretch | join(', ') ~ ' ' if stretch else '' -%}
  {%- set session = stretch + ['__session'] -%}
  {%- set part = session + (['__part'] if longest else []) -%}
  {%- set end = 'max(__until) OVER __same' -%}
  {%- if longest -%}
    {%- set end = 'least(' ~ end ~ ', min(__time) OVER __same + ' ~ written(longest, literal=true) ~ ')' -%}
  {%- endif -%}
  {%- if condition -%}
    {%- set end = "IF(max(__closes) OVER __same, max(__time) OVER __same + INTERVAL '0.001' SECOND, " ~ end ~ ')' -%}
  {%- endif -%}
  {%- set added = ['__time', '__until', '__opens', '__session', '__first', '__end']
    + (['__closes', '__stretch'] if condition else []) + (['__part'] if longest else []) -%}
  {#- No cast of Spark's takes intervals and numbers as well as texts such as '5 minutes'; a row without a gap is left out. -#}
  {%- set rows -%}
SELECT *, count_if(__opens) OVER ({{ by_stretch }}ORDER BY __time) AS __session
      FROM (
        SELECT *, coalesce(__time > max(__until) OVER (
          {{ by_stretch }}ORDER BY __time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), TRUE) AS __opens
        FROM (
          SELECT
            *,
            {{ until }} AS __until
            {%- if condition %},
            count_if(__closes) OVER ({{ by_key }}ORDER BY __time)
              - count_if(__closes) OVER (PARTITION BY {{ (keys + ['__time']) | join(', ') }}) AS __stretch
            {%- endif %}
          FROM (
            SELECT *, {{ spark_window(wall_clock(time, is_wall), 1000) }}.start AS __time
            {%- if condition %}, coalesce({{ condition }}, FALSE) AS __closes{% endif %}
            FROM {{ relation }}
          )
          {%- if own_gap %}
          WHERE {{ until }} > __time
          {%- endif %}
        )
      )
  {%- endset -%}
(
  {{ comment }}
  SELECT
    * EXCEPT ({{ added | join(', ') }}),
    {{ added_columns('__first', '__end', "__end - INTERVAL '0.001' SECOND", time, is_wall, wall_bounds) }}
  FROM (
    SELECT *, min(__time) OVER __same AS __first, {{ end }} AS __end
    FROM (
    {%- if longest %}
      WITH __rows AS (
      {{ rows }}
      ), __parts AS (
        SELECT {{ session | join(', ') }}, explode(aggregate(
          sort_array(collect_list(struct(__time, __until))),
          named_struct('parts', array(min(__time)), 'until', min(__time)),
          (seen, row) -> IF(
            row.__time > seen.until OR row.__time >= element_at(seen.parts, -1) + {{ written(longest, literal=true) }},
            named_struct('parts', concat(seen.parts, array(row.__time)), 'until', row.__until),
            named_struct('parts', seen.parts, 'until', greatest(seen.until, row.__until))
          ),
          seen -> seen.parts
        )) AS __begins
        FROM __rows
        GROUP BY {{ session | join(', ') }}
      )
      SELECT
        __rows.*,
        max(__parts.__begins) OVER (
          PARTITION BY {% for key in session %}__rows.{{ key }}{{ ', ' if not loop.last }}{% endfor %} ORDER BY __rows.__time
        ) AS __part
      FROM __rows
      LEFT JOIN __parts ON {% for key in session %}__rows.{{ key }} <=> __parts.{{ key }} AND {% endfor -%}
        __rows.__time = __parts.__begins
    {%- else %}
      {{ rows }}
    {%- endif %}
    )
    WINDOW __same AS (PARTITION BY {{ part | join(', ') }})
  )
)
{%- endmacro %}
