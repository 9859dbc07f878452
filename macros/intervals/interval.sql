{#
  Intervals as whole microseconds, for the window macros. Private: not part of the package's interface.
#}

{#- Reads '10 minutes', '10m', '1 hour 30 minutes', "INTERVAL '10' MINUTES"; stops with an error that names the
    macro (such as 'tumble') and its argument (such as 'size') when it can't. -#}
{% macro sparkstream_interval(text, macro_name, argument) %}
  {%- set in_words = macro_name ~ "'s " ~ argument -%}
  {%- set example = "write " ~ ("a number of units" if text is none else "it") ~ " such as '10 minutes', '1 hour 30 minutes' or '1 day'" -%}
  {%- if text is not string -%}
    {{ exceptions.raise_compiler_error(in_words ~ " is not a text: " ~ text ~ "\n  " ~ example) }}
  {%- endif -%}
  {%- set microseconds = {
    'us': 1, 'microsecond': 1,
    'ms': 1000, 'millisecond': 1000,
    's': 1000000, 'sec': 1000000, 'second': 1000000,
    'm': 60000000, 'min': 60000000, 'minute': 60000000,
    'h': 3600000000, 'hr': 3600000000, 'hour': 3600000000,
    'd': 86400000000, 'day': 86400000000,
    'w': 604800000000, 'week': 604800000000
  } -%}
  {%- set plain = text | lower | replace("'", ' ') | trim -%}
  {%- set plain = plain[8:] if plain.startswith('interval') else plain -%}
  {#- A space wherever a number and a unit touch. -#}
  {%- set spaced = namespace(text='', number=true) -%}
  {%- for c in plain -%}
    {%- set number = c in '0123456789.+-' -%}
    {%- set spaced.text = spaced.text ~ (' ' if number != spaced.number else '') ~ c -%}
    {%- set spaced.number = number -%}
  {%- endfor -%}
  {%- set words = spaced.text.split() -%}
  {%- if not words or words | length is odd -%}
    {{ exceptions.raise_compiler_error(in_words ~ " is no interval: '" ~ text ~ "'\n  " ~ example) }}
  {%- endif -%}
  {%- set total = namespace(value=0) -%}
  {%- for at in range(0, words | length, 2) -%}
    {%- set number, written = words[at], words[at + 1] -%}
    {%- set unit = written if written in microseconds else (written[:-1] if written.endswith('s') else written) -%}
    {%- if unit in ['month', 'quarter', 'year', 'decade', 'century'] -%}
      {{ exceptions.raise_compiler_error(
        in_words ~ " can't be in " ~ unit ~ "s, which have no fixed length: '" ~ text ~ "'"
        ~ "\n  use days or smaller units, or group by date_trunc('" ~ unit ~ "', ...)"
      ) }}
    {%- elif unit not in microseconds -%}
      {{ exceptions.raise_compiler_error(
        in_words ~ " has an unknown unit '" ~ written ~ "': '" ~ text ~ "'"
        ~ "\n  use milliseconds, seconds, minutes, hours, days or weeks"
      ) }}
    {%- endif -%}
    {%- set negative = number.startswith('-') -%}
    {%- set parts = (number[1:] if number[0] in '+-' else number).split('.') -%}
    {%- set whole = parts[0] or '0' -%}
    {%- set fraction = parts[1] if parts | length == 2 else '' -%}
    {%- if parts | length > 2 or not whole.isdigit() or not (fraction or '0').isdigit() -%}
      {{ exceptions.raise_compiler_error(in_words ~ " is no interval: '" ~ text ~ "'\n  " ~ example) }}
    {%- endif -%}
    {%- set scaled = (whole ~ fraction) | int * microseconds[unit] -%}
    {%- set scale = 10 ** (fraction | length) -%}
    {%- if scaled % scale -%}
      {{ exceptions.raise_compiler_error(in_words ~ " is finer than a microsecond: '" ~ text ~ "'") }}
    {%- endif -%}
    {%- set total.value = total.value + (scaled // scale) * (-1 if negative else 1) -%}
  {%- endfor -%}
  {{ return(total.value) }}
{% endmacro %}

{#- Reads an interval that has to be longer than zero. -#}
{% macro sparkstream_positive_interval(text, macro_name, argument) %}
  {%- set value = sparkstream_interval(text, macro_name, argument) -%}
  {%- if value <= 0 -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s " ~ argument ~ " must be positive: '" ~ text ~ "'"
      ~ "\n  write a " ~ argument ~ " such as '10 minutes'"
    ) }}
  {%- endif -%}
  {{ return(value) }}
{% endmacro %}

{#- Microseconds as (number, unit) in the largest unit that keeps them whole; days at most. -#}
{% macro sparkstream_interval_parts(value) %}
  {%- for unit, size in [('day', 86400000000), ('hour', 3600000000), ('minute', 60000000), ('second', 1000000)] -%}
    {%- if value and value % size == 0 -%}
      {{ return((value // size, unit)) }}
    {%- endif -%}
  {%- endfor -%}
  {%- set fraction = ('%06d' | format(value % 1000000)).rstrip('0') -%}
  {{ return((value // 1000000 ~ ('.' ~ fraction if fraction else ''), 'second')) }}
{% endmacro %}

{#- As people write it, and as Spark's window() takes it: 10 minutes. -#}
{% macro sparkstream_interval_words(value) %}
  {%- set number, unit = sparkstream_interval_parts(value) -%}
  {{ return(number ~ ' ' ~ unit ~ ('' if number == 1 else 's')) }}
{% endmacro %}

{#- As a literal of Spark: INTERVAL '10' MINUTE. -#}
{% macro sparkstream_interval_literal(value) %}
  {%- set number, unit = sparkstream_interval_parts(value) -%}
  {{ return("INTERVAL '" ~ number ~ "' " ~ unit | upper) }}
{% endmacro %}
