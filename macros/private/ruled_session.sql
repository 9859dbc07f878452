{#
  Sessions that something else than a constant gap ends; not part of the package's interface.
#}

{#- gap: microseconds, or none where `own_gap` names the column with each row's own.
    The adapter's translator has the same query, and its comments say why it is right. -#}
{% macro default__sparkstream_ruled_session(relation, timecol, gap, own_gap, keys, max_duration, close_on) %}
  {%- set interval = adapter.dispatch('sparkstream_interval', 'sparkstream') -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set comment = adapter.dispatch('sparkstream_comment', 'sparkstream') -%}
  {%- set spark_window = adapter.dispatch('sparkstream_spark_window', 'sparkstream') -%}
  {%- set condition = adapter.dispatch('sparkstream_condition', 'sparkstream')(close_on, 'session', 'close_on') -%}
  {%- set longest = none if max_duration is none else interval(max_duration, 'session', 'max_duration', positive=true) -%}
  {%- set until -%}
    {%- if own_gap -%}
coalesce(__time + try_cast({{ own_gap }} AS INTERVAL SECOND), __time + try_cast(CAST({{ own_gap }} AS STRING) AS INTERVAL))
    {%- else -%}
__time + {{ written(gap, literal=true) }}
    {%- endif -%}
  {%- endset -%}
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
  {%- set words = "sessions with each row's own gap" if own_gap else 'sessions with a gap of ' ~ written(gap) -%}
  {%- set words = words ~ (', of ' ~ written(longest) ~ ' at most' if longest else '') -%}
  {%- set rows -%}
      SELECT *, count_if(__opens) OVER ({{ by_stretch }}ORDER BY __time) AS __session
      FROM (
        SELECT
          *,
          coalesce(__time > max(__until) OVER (
            {{ by_stretch }}ORDER BY __time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
          ), TRUE) AS __opens
        FROM (
          SELECT
            *
            {%- if condition %},
            count_if(__closes) OVER ({{ by_key }}ORDER BY __time)
              - count_if(__closes) OVER (PARTITION BY {{ (keys + ['__time']) | join(', ') }}) AS __stretch
            {%- endif %}
          FROM (
            SELECT *, {{ until }} AS __until
            FROM (
              SELECT
                *,
                {{ spark_window(timecol, 1000) }}.start AS __time
                {%- if condition %},
                coalesce({{ condition }}, FALSE) AS __closes
                {%- endif %}
              FROM {{ relation }}
            )
          )
          {%- if own_gap %}
          WHERE __until > __time
          {%- endif %}
        )
      )
  {%- endset -%}
  {%- set sql -%}
(
  {{ comment('session: ' ~ words, 0, timecol ~ (', closed on ' ~ condition.split() | join(' ') if condition else ''), keys) }}
  SELECT
    * EXCEPT (
      __time, __until, __opens, __session, __first, __end
      {%- if condition %}, __closes, __stretch{% endif %}
      {%- if longest %}, __part{% endif %}
    ),
    coalesce(__first, {{ timecol }}) AS window_start,
    coalesce(__end, {{ timecol }}) AS window_end,
    coalesce(__end, {{ timecol }}) - INTERVAL '0.001' SECOND AS window_time
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
  {%- endset -%}
  {{ return(sql) }}
{% endmacro %}
