{#
  What the window macros have in common. Private: not part of the package's interface.
#}

{#- What stands in FROM: a Relation, a table's or CTE's name, or a query in parentheses. -#}
{% macro sparkstream_relation(relation, macro_name) %}
  {%- set text = relation | string | trim -%}
  {%- if relation is none or not text -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s relation is missing\n  write ref('...'), the name of a table or CTE, or a query in parentheses"
    ) }}
  {%- elif (text.split() | first | lower) in ['select', 'with'] -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s relation is a query without parentheses: " ~ text ~ "\n  write '(" ~ text ~ ")'"
    ) }}
  {%- endif -%}
  {{ return(text) }}
{% endmacro %}

{#- The name of a column, in backticks or not. -#}
{% macro sparkstream_column(name, macro_name, argument) %}
  {%- if name is not string or not name | trim -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s " ~ argument ~ " is no column name: " ~ name ~ "\n  write it in quotes, such as 'bidtime'"
    ) }}
  {%- endif -%}
  {%- set text = name | trim -%}
  {%- set quoted = text.startswith('`') and text.endswith('`') and text | length > 2 -%}
  {%- if not quoted and not text.replace('_', 'a').isalnum() -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s " ~ argument ~ " is no column name: " ~ name
      ~ "\n  write the name of a column of the relation, in backticks where it has spaces: '`event time`'"
      ~ "\n  compute what isn't a column yet in a query in parentheses: '(select *, ... as event_time from ...)'"
    ) }}
  {%- endif -%}
  {{ return(text) }}
{% endmacro %}

{#- The columns of PARTITION BY, as a list. -#}
{% macro sparkstream_keys(partition_by, macro_name) %}
  {%- set names = [] if partition_by is none else ([partition_by] if partition_by is string else partition_by) -%}
  {%- set keys = [] -%}
  {%- for name in names -%}
    {%- if name is string and ',' in name and not name.strip().startswith('`') -%}
      {{ exceptions.raise_compiler_error(
        macro_name ~ "'s partition_by has several columns in one text: '" ~ name ~ "'"
        ~ "\n  write a list of them: ['" ~ name.replace(' ', '').split(',') | join("', '") ~ "']"
      ) }}
    {%- endif -%}
    {%- do keys.append(sparkstream_column(name, macro_name, 'partition_by')) -%}
  {%- endfor -%}
  {{ return(keys) }}
{% endmacro %}

{#- An interval as the translator of the adapter reads it: an INTERVAL literal as it is, else in quotes. -#}
{% macro sparkstream_interval_argument(text, macro_name, argument) %}
  {%- if text is not string or not text | trim -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s " ~ argument ~ " is not a text: " ~ text ~ "\n  write it such as '10 minutes', '1 hour 30 minutes' or '1 day'"
    ) }}
  {%- endif -%}
  {{ return(text | trim if (text.split() | first | lower) == 'interval' else "'" ~ text.replace("'", "\\'") ~ "'") }}
{% endmacro %}

{#- The call of a window function, on one line, for the translator of the adapter.
    intervals: (argument's name, value) pairs; a none at the end is an argument that was left out. -#}
{% macro sparkstream_window_function(macro_name, relation, timecol, intervals, keys=[]) %}
  {%- set parts = [
    sparkstream_relation(relation, macro_name) ~ (' PARTITION BY (' ~ keys | join(', ') ~ ')' if keys else ''),
    sparkstream_column(timecol, macro_name, 'timecol')
  ] -%}
  {%- for argument, value in intervals if not (argument == 'offset' and value is none) -%}
    {%- do parts.append(sparkstream_interval_argument(value, macro_name, argument)) -%}
  {%- endfor -%}
  {{ return(macro_name ~ '(' ~ parts | join(', ') ~ ')') }}
{% endmacro %}

{#- Spark's window() over the wall clock of a time column. It takes no offset of a whole slide or more, nor less
    than zero; windows repeat every slide, so the remainder says the same. -#}
{% macro sparkstream_spark_window(timecol, size, offset=0) %}
  {%- set start = offset % size -%}
  {%- set size_words = "'" ~ sparkstream_interval_words(size) ~ "'" -%}
  {{ return(
    'window(CAST(' ~ timecol ~ ' AS TIMESTAMP_NTZ), ' ~ size_words
    ~ (", " ~ size_words ~ ", '" ~ sparkstream_interval_words(start) ~ "'" if start else '') ~ ')'
  ) }}
{% endmacro %}

{#- ", offset 2 minutes" for the comment above a window's SQL. -#}
{% macro sparkstream_offset_words(offset) %}
  {{ return(', offset ' ~ ('-' if offset < 0 else '') ~ sparkstream_interval_words(offset | abs) if offset else '') }}
{% endmacro %}

{#- Text that can stand in a comment. -#}
{% macro sparkstream_in_comment(text) %}
  {{ return(text.replace('*/', '* /').replace('/*', '/ *')) }}
{% endmacro %}
