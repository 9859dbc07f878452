{#
  A call over a window from arguments, for `over`; not part of the package's interface.
#}

{#- Gives `sql`, the call, and `ours`, the names of arguments that say what Spark's own frames can't. -#}
{% macro default__sparkstream_over(
  call, partition_by, order_by, frame, start, end, maxsize, exclude, union, instance_not_in_window
) %}
  {%- set listed = adapter.dispatch('sparkstream_listed', 'sparkstream') -%}
  {%- set relation = adapter.dispatch('sparkstream_relation', 'sparkstream') -%}
  {%- set bound = adapter.dispatch('sparkstream_bound', 'sparkstream') -%}
  {%- if call is not string or not call | trim -%}
    {{ exceptions.raise_compiler_error("over's call is no text: " ~ call ~ "\n  write a call such as 'sum(price)'") }}
  {%- elif frame not in ['rows', 'range', 'rows_range'] -%}
    {{ exceptions.raise_compiler_error(
      "over has no frame '" ~ frame ~ "'\n  write frame='rows', frame='range' or frame='rows_range'"
    ) }}
  {%- endif -%}
  {%- set flags = adapter.dispatch('sparkstream_list', 'sparkstream')(exclude) -%}
  {%- for flag in flags if flag not in ['current_time', 'current_row'] -%}
    {{ exceptions.raise_compiler_error(
      "over can't exclude '" ~ flag ~ "'\n  write exclude='current_time', exclude='current_row' or a list of both"
    ) }}
  {%- endfor -%}
  {%- if maxsize is not none and (maxsize is not integer or maxsize < 1) -%}
    {{ exceptions.raise_compiler_error("over's maxsize is no number of rows: " ~ maxsize ~ "\n  write maxsize=100") }}
  {%- endif -%}
  {%- set tables = [] -%}
  {%- for table in adapter.dispatch('sparkstream_list', 'sparkstream')(union) if table -%}
    {%- do tables.append(relation(table, 'over')) -%}
  {%- endfor -%}
  {%- set first, last = bound(start, 'start', frame, end, 'end'), bound(end, 'end', frame, start, 'start') -%}
  {%- set ours = [] -%}
  {%- for name, used in [
    ("frame='rows_range'", frame == 'rows_range'), ('open start', ' OPEN ' in first), ('open end', ' OPEN ' in last),
    ('maxsize', maxsize is not none), ('exclude', flags), ('union', tables),
    ('instance_not_in_window', instance_not_in_window)
  ] if used -%}
    {%- do ours.append(name) -%}
  {%- endfor -%}
  {%- if ours and frame == 'range' -%}
    {{ exceptions.raise_compiler_error(
      "over's frame='range' is Spark's own, and takes no " ~ ours | join(', ')
      ~ "\n  write frame='rows_range', whose frames end at the row itself"
    ) }}
  {%- endif -%}
  {%- set parts = [] -%}
  {%- if tables -%}{%- do parts.append('UNION ' ~ tables | join(', ')) -%}{%- endif -%}
  {%- set keys, order = listed(partition_by, 'partition_by'), listed(order_by, 'order_by') -%}
  {%- if keys -%}{%- do parts.append('PARTITION BY ' ~ keys) -%}{%- endif -%}
  {%- if order -%}{%- do parts.append('ORDER BY ' ~ order) -%}{%- endif -%}
  {%- do parts.append(frame | upper ~ ' BETWEEN ' ~ first ~ ' AND ' ~ last) -%}
  {%- if maxsize is not none -%}{%- do parts.append('MAXSIZE ' ~ maxsize) -%}{%- endif -%}
  {%- for flag in flags -%}{%- do parts.append('EXCLUDE ' ~ flag | upper) -%}{%- endfor -%}
  {%- if instance_not_in_window -%}{%- do parts.append('INSTANCE_NOT_IN_WINDOW') -%}{%- endif -%}
  {%- set call = adapter.dispatch('sparkstream_piece', 'sparkstream')(call | trim, 'over', 'call') -%}
  {{ return({'sql': call ~ ' OVER (' ~ parts | join(' ') ~ ')', 'ours': ours}) }}
{% endmacro %}

{#- Expressions, one text or a list of them, with commas between. -#}
{% macro default__sparkstream_listed(expressions, argument) %}
  {%- set items = adapter.dispatch('sparkstream_list', 'sparkstream')(expressions) -%}
  {%- for item in items if item is not string or not item | trim -%}
    {{ exceptions.raise_compiler_error(
      "over's " ~ argument ~ " is no column: " ~ item ~ "\n  write a name in quotes, or a list of names"
    ) }}
  {%- endfor -%}
  {%- set piece = adapter.dispatch('sparkstream_piece', 'sparkstream') -%}
  {%- set checked = [] -%}
  {%- for item in items -%}{%- do checked.append(piece(item | trim, 'over', argument, lists=true)) -%}{%- endfor -%}
  {{ return(checked | join(', ')) }}
{% endmacro %}

{#- A bound of a frame: 'unbounded', 'current row', a number of rows or of the key's unit, or a length of time; before
    the row, unless `following` stands behind it. `open` in front leaves the bound itself out. `other` is the other bound,
    which has its length in the same unit. -#}
{% macro default__sparkstream_bound(value, argument, frame, other, other_argument) %}
  {%- set interval = adapter.dispatch('sparkstream_interval', 'sparkstream') -%}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set length = adapter.dispatch('sparkstream_bound_length', 'sparkstream') -%}
  {%- set words = (value | string | lower).split() -%}
  {%- set following = words | length > 0 and words[-1] == 'following' -%}
  {%- set open = words | length > 1 and words[0] == 'open' -%}
  {%- set text = length(value) -%}
  {%- set direction = (' OPEN' if open else '') ~ (' FOLLOWING' if following else ' PRECEDING') -%}
  {%- if text == 'current row' or (text == '0' and not open) -%}
    {{ return('CURRENT ROW') }}
  {%- elif text == 'unbounded' -%}
    {{ return('UNBOUNDED' ~ direction) }}
  {%- elif text.isdigit() -%}
    {{ return(text ~ direction) }}
  {%- elif frame == 'rows' -%}
    {{ exceptions.raise_compiler_error(
      "over's " ~ argument ~ " is no number of rows: '" ~ value ~ "'"
      ~ "\n  write a number such as 9, 'unbounded' or 'current row'; a length of time goes with frame='range' or 'rows_range'"
    ) }}
  {%- endif -%}
  {%- set other_text = length(other) -%}
  {%- set other_length = 0 if other_text in ['current row', 'unbounded'] or other_text.isdigit()
    else interval(other_text, 'over', other_argument) -%}
  {{ return(written(interval(text, 'over', argument), literal=true, same_unit=other_length) ~ direction) }}
{% endmacro %}

{#- What a bound of a frame says without its direction: `10 minutes` of `open 10 minutes following`. -#}
{% macro default__sparkstream_bound_length(value) %}
  {%- set words = (value | string | lower).split() -%}
  {%- set words = words[:-1] if words and words[-1] in ['following', 'preceding'] else words -%}
  {{ return((words[1:] if words | length > 1 and words[0] == 'open' else words) | join(' ')) }}
{% endmacro %}
