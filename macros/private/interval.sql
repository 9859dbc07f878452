{#
  Intervals as whole microseconds, for the window macros; not part of the package's interface.

  Private macros are called through adapter.dispatch: it finds them both in this package and in the adapter, where
  the same files are installed too.
#}

{#- Reads '10 minutes', '10m', '1 hour 30 minutes', "INTERVAL '10' MINUTES" as microseconds. Stops with an error that
    names the macro (such as 'tumble') and its argument (such as 'size') when it can't. -#}
{% macro default__sparkstream_interval(text, macro_name, argument, positive=false) %}
  {%- set in_words = macro_name ~ "'s " ~ argument -%}
  {%- set example = "\n  write it such as '10 minutes', '1 hour 30 minutes' or '1 day'" -%}
  {%- if text is undefined -%}
    {{ exceptions.raise_compiler_error(in_words ~ " is missing" ~ example) }}
  {%- elif text is not string -%}
    {{ exceptions.raise_compiler_error(in_words ~ " is not a text: " ~ text ~ example) }}
  {%- endif -%}
  {%- set microseconds = {
    'us': 1, 'microsecond': 1,
    'ms': 1000, 'millisecond': 1000,
    's': 1000000, 'sec': 1000000, 'secs': 1000000, 'second': 1000000,
    'm': 60000000, 'min': 60000000, 'mins': 60000000, 'minute': 60000000,
    'h': 3600000000, 'hr': 3600000000, 'hrs': 3600000000, 'hour': 3600000000,
    'd': 86400000000, 'day': 86400000000,
    'w': 604800000000, 'week': 604800000000
  } -%}
  {%- set plain = (text | lower).split() | join(' ') -%}
  {%- if plain.startswith("interval ") or plain.startswith("interval'") -%}
    {%- set plain = plain[8:] | trim -%}
    {%- set plain = '-' ~ plain[1:] | trim if plain.startswith("-'") or plain.startswith("- '") else plain -%}
    {%- set quoted = plain.lstrip('-').startswith("'") and plain.count("'") == 2 -%}
    {%- set plain = plain | replace("'", ' ') if quoted else plain -%}
  {%- endif -%}
  {#- A space wherever a number and a unit touch, and none behind a sign. -#}
  {%- set spaced = namespace(text='', in_number=true, in_digits=false) -%}
  {%- for c in plain -%}
    {%- if c != ' ' or not spaced.in_number or spaced.in_digits -%}
      {%- set spaced.in_digits = c in '0123456789.' -%}
      {%- set in_number = c in '0123456789.+-' -%}
      {%- set spaced.text = spaced.text ~ (' ' if in_number != spaced.in_number else '') ~ c -%}
      {%- set spaced.in_number = in_number -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set words = spaced.text.split() -%}
  {%- if not words or words | length is odd -%}
    {{ exceptions.raise_compiler_error(in_words ~ " is no interval: '" ~ text ~ "'" ~ example) }}
  {%- endif -%}
  {%- set total = namespace(value=0) -%}
  {%- for at in range(0, words | length, 2) -%}
    {%- set number, unit = words[at], words[at + 1] -%}
    {#- The long names have a plural; the translator reads the same names. -#}
    {%- set unit = unit[:-1] if unit.endswith('s') and unit | length > 5 or unit in ['days', 'weeks', 'hours', 'years'] else unit -%}
    {%- if unit in ['month', 'quarter', 'year', 'decade', 'century', 'centurie'] -%}
      {{ exceptions.raise_compiler_error(
        in_words ~ " can't be in months or years, which have no fixed length: '" ~ text ~ "'"
        ~ "\n  use days or smaller units, or group by date_trunc('month', ...)"
      ) }}
    {%- elif unit not in microseconds -%}
      {{ exceptions.raise_compiler_error(
        in_words ~ " has an unknown unit '" ~ words[at + 1] ~ "': '" ~ text ~ "'"
        ~ "\n  use milliseconds, seconds, minutes, hours, days or weeks"
      ) }}
    {%- endif -%}
    {%- set parts = (number[1:] if number[0] in '+-' else number).split('.') -%}
    {%- set whole = parts[0] or '0' -%}
    {%- set fraction = parts[1].rstrip('0') if parts | length == 2 else '' -%}
    {%- set numeric = number[0] in '0123456789.+-' and whole.isdigit() and (fraction or '0').isdigit() -%}
    {%- if not numeric or parts | length > 2 or not parts | join -%}
      {{ exceptions.raise_compiler_error(in_words ~ " is no interval: '" ~ text ~ "'" ~ example) }}
    {%- endif -%}
    {#- In this order and with so few digits, as dbt 2 computes in 128 bits. -#}
    {%- set digits = whole.lstrip('0') -%}
    {%- set too_long = digits | length > 19 or (digits or '0') | int * microseconds[unit] >= 2 ** 63 -%}
    {%- set scale = 10 ** ([fraction | length, 13] | min) -%}
    {%- set scaled = (0 if too_long else (whole ~ fraction[:13]) | int) * microseconds[unit] -%}
    {%- if too_long or scaled // scale >= 2 ** 63 -%}
      {{ exceptions.raise_compiler_error(in_words ~ " is longer than any interval of Spark: '" ~ text ~ "'" ~ example) }}
    {%- endif -%}
    {%- if fraction | length > 13 or scaled % scale -%}
      {{ exceptions.raise_compiler_error(in_words ~ " is finer than a microsecond: '" ~ text ~ "'") }}
    {%- endif -%}
    {%- set total.value = total.value + (scaled // scale) * (-1 if number[0] == '-' else 1) -%}
  {%- endfor -%}
  {%- if positive and total.value <= 0 -%}
    {{ exceptions.raise_compiler_error(
      in_words ~ " must be positive: '" ~ text ~ "'\n  write a " ~ argument ~ " such as '10 minutes'"
    ) }}
  {%- endif -%}
  {{ return(total.value) }}
{% endmacro %}

{#- Microseconds in the largest unit that keeps them whole, days at most: as people write it and Spark's window() takes
    it (10 minutes), or as a literal of Spark (INTERVAL '10' MINUTE). `same_unit` is a length that has to be whole in
    the same unit: the two bounds of a RANGE frame are of one type. -#}
{% macro default__sparkstream_written(value, literal=false, same_unit=0) %}
  {%- set sign, value = '-' if value < 0 else '', value | abs -%}
  {%- set found = namespace(number=none, unit='second') -%}
  {%- for unit, size in [('day', 86400000000), ('hour', 3600000000), ('minute', 60000000), ('second', 1000000)] -%}
    {%- if found.number is none and value and value % size == 0 and same_unit % size == 0 -%}
      {%- set found.number = value // size -%}
      {%- set found.unit = unit -%}
    {%- endif -%}
  {%- endfor -%}
  {%- if found.number is none -%}
    {%- set fraction = ('%06d' | format(value % 1000000)).rstrip('0') -%}
    {%- set found.number = value // 1000000 ~ ('.' ~ fraction if fraction else '') -%}
  {%- endif -%}
  {%- if literal -%}
    {{ return("INTERVAL '" ~ sign ~ found.number ~ "' " ~ found.unit | upper) }}
  {%- endif -%}
  {{ return(sign ~ found.number ~ ' ' ~ found.unit ~ ('' if found.number == 1 else 's')) }}
{% endmacro %}
