{#
  What `gapfill` and the generic tests of windows share; not part of the package's interface.

  A TUMBLE, HOP or CUMULATE ends every `period`, from `origin` on (microseconds since 1970-01-01 on the wall clock).
#}

{#- The window that a test's arguments mean, checked; lengths in microseconds. -#}
{% macro default__sparkstream_tested_window(test_name, size, slide, step, offset) %}
  {%- set interval = adapter.dispatch('sparkstream_interval', 'sparkstream') -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- if slide is not none and step is not none -%}
    {{ exceptions.raise_compiler_error(
      test_name ~ " has both a slide and a step\n  write slide for the windows of hop, step for those of cumulate"
    ) }}
  {%- endif -%}
  {%- set size = interval(size, test_name, 'size', positive=true) -%}
  {%- set offset = 0 if offset is none else interval(offset, test_name, 'offset') -%}
  {%- set slide = none if slide is none else interval(slide, test_name, 'slide', positive=true) -%}
  {%- set step = none if step is none else interval(step, test_name, 'step', positive=true) -%}
  {%- if step and size % step -%}
    {{ exceptions.raise_compiler_error(
      test_name ~ "'s size (" ~ written(size) ~ ") must be a whole multiple of its step (" ~ written(step) ~ ")"
    ) }}
  {%- endif -%}
  {{ return({
    'size': size, 'step': step, 'every': slide or size, 'period': slide or step or size,
    'offset': offset, 'origin': offset + size
  }) }}
{% endmacro %}

{#- How far a time on the wall clock is behind the last of the times that come every `period` from `origin` on. -#}
{% macro default__sparkstream_beyond(time, period, origin) %}
  {%- set since = "(" ~ time ~ " - TIMESTAMP_NTZ'1970-01-01 00:00:00') DIV INTERVAL '0.000001' SECOND" -%}
  {%- set shift = origin % period -%}
  {{ return('pmod(' ~ since ~ (' - ' ~ shift if shift else '') ~ ', ' ~ period ~ ')') }}
{% endmacro %}

{#- The last of those times that isn't after a time. -#}
{% macro default__sparkstream_floor(time, period, origin) %}
  {%- set time = 'CAST(' ~ time ~ ' AS TIMESTAMP_NTZ)' -%}
  {%- set beyond = adapter.dispatch('sparkstream_beyond', 'sparkstream')(time, period, origin) -%}
  {{ return(time ~ " - INTERVAL '0.000001' SECOND * " ~ beyond) }}
{% endmacro %}

{#- A point in time of a macro's or test's arguments as SQL: an expression, or a date or time as YAML has it. -#}
{% macro default__sparkstream_moment(value, macro_name, argument) %}
  {%- set text = value | string | trim -%}
  {{ return(
    'TIMESTAMP_NTZ' ~ adapter.dispatch('sparkstream_literal', 'sparkstream')(text) if text[0] in '0123456789'
    else adapter.dispatch('sparkstream_piece', 'sparkstream')(text, macro_name, argument)
  ) }}
{% endmacro %}

{#- `keys` as the beginning of a list, such as "k, item, ". -#}
{% macro default__sparkstream_key_list(keys, alias='') %}
  {%- set parts = [] -%}
  {%- for key in keys -%}{%- do parts.append(alias ~ key ~ ', ') -%}{%- endfor -%}
  {{ return(parts | join('')) }}
{% endmacro %}
