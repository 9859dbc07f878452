{#
  The arguments of `gapfill` and of the test `no_gaps`, checked; not part of the package's interface.
#}

{#- The arguments as `sparkstream_gaps_query` takes them: SQL texts, and lengths in microseconds.
    since, until: the macro's `from` and `to`. -#}
{% macro default__sparkstream_gap_arguments(
  macro_name, relation, by, size, slide, step, offset, since, until, fill, max_gap, span, spine, flag
) %}
  {%- set relation_of = adapter.dispatch('sparkstream_relation', 'sparkstream') -%}
  {%- set windows = relation -%}
  {%- set relation = relation_of(relation, macro_name) -%}
  {%- set start = relation | lower | replace('\n', ' ') -%}
  {%- if start.startswith('session(') or start.startswith('(   /* session: ') -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ " can't fill sessions: they have no fixed places, so none is missing between two of them"
      ~ "\n  fill the windows of tumble, hop or cumulate"
    ) }}
  {%- endif -%}
  {%- set streams = model is defined and model.resource_type == 'model' and config.get('materialized') == 'streaming_incremental' -%}
  {%- for name, value in [('to', until), ("span='all'", span == 'all' or none), ('spine', spine)]
    if streams and value is not none -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ " takes no " ~ name ~ " in a streaming model: there, the windows before a key's newest one are filled,"
      ~ " and no later ones"
      ~ "\n  leave " ~ name ~ " out, or write " ~ macro_name ~ " in a view or table over the streaming model"
    ) }}
  {%- endfor -%}
  {%- set keys = adapter.dispatch('sparkstream_keys', 'sparkstream')(by, macro_name, 'by') -%}
  {%- set taken = ['window_start', 'window_end'] -%}
  {%- for key in keys -%}
    {%- set plain = key.strip('`') | lower -%}
    {%- if plain in taken -%}
      {{ exceptions.raise_compiler_error(
        macro_name ~ "'s by has " ~ key
        ~ (', which is no key: each window has its own' if plain in ['window_start', 'window_end'] else ' twice')
        ~ "\n  write the columns that the windows are grouped by beside window_start and window_end"
      ) }}
    {%- endif -%}
    {%- do taken.append(plain) -%}
  {%- endfor -%}
  {%- if size is undefined or size is none -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s size is missing\n  write it as in the macro that made the windows, such as size='10 minutes'"
    ) }}
  {%- endif -%}
  {%- set window = adapter.dispatch('sparkstream_tested_window', 'sparkstream')(macro_name, size, slide, step, offset) -%}
  {%- set moments = {} -%}
  {%- for name, value in [('from', since), ('to', until)] if value is not none -%}
    {%- if not value | string | trim -%}
      {{ exceptions.raise_compiler_error(
        macro_name ~ "'s " ~ name ~ " is empty\n  write a time such as '2024-01-01 00:00:00', or an SQL expression"
      ) }}
    {%- endif -%}
    {%- do moments.update({name: adapter.dispatch('sparkstream_moment', 'sparkstream')(value, macro_name, name)}) -%}
  {%- endfor -%}
  {%- set first, last = moments.get('from'), moments.get('to') -%}
  {%- if span not in ['key', 'all'] -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s span is neither key nor all: '" ~ span ~ "'\n  write span='key' or span='all'"
    ) }}
  {%- endif -%}
  {%- if spine is not none and not keys -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s spine has keys, and there is no by\n  write their columns in by"
    ) }}
  {%- elif spine is not none and span == 'key' and not (first and last) -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s spine has keys without a window, whose time nothing says\n  write span='all', or from and to"
    ) }}
  {%- endif -%}
  {%- set limit = none -%}
  {%- if max_gap is integer and max_gap is not boolean and max_gap > 0 -%}
    {%- set limit = max_gap * window.period -%}
  {%- elif max_gap is string -%}
    {%- set limit = adapter.dispatch('sparkstream_interval', 'sparkstream')(max_gap, macro_name, 'max_gap', positive=true) -%}
  {%- elif max_gap is not none -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s max_gap is neither a positive number of windows nor an interval: " ~ max_gap
      ~ "\n  write it such as 3 or '30 minutes'"
    ) }}
  {%- endif -%}
  {%- set flag = adapter.dispatch('sparkstream_column', 'sparkstream')(flag, macro_name, 'flag') -%}
  {%- if flag.strip('`') | lower in taken -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s flag is a name that the windows have: " ~ flag ~ "\n  write another one, such as 'is_filled'"
    ) }}
  {%- endif -%}
  {%- set fills = adapter.dispatch('sparkstream_fills', 'sparkstream')(macro_name, fill, taken + [flag.strip('`') | lower]) -%}
  {%- set check_columns = adapter.dispatch('sparkstream_check_columns', 'sparkstream') -%}
  {%- set of_windows, of_spine = [('windows', 'window_start'), ('windows', 'window_end')], [] -%}
  {%- for key in keys -%}
    {%- do of_windows.append(('by', key)) -%}
    {%- do of_spine.append(('by', key)) -%}
  {%- endfor -%}
  {%- for name, how, constant in fills -%}{%- do of_windows.append(('fill', name)) -%}{%- endfor -%}
  {%- do check_columns(macro_name, windows, of_windows) -%}
  {%- do check_columns(macro_name, spine, of_spine) -%}
  {{ return({
    'name': macro_name, 'relation': relation, 'by': keys, 'window': window, 'first': first, 'last': last,
    'fills': fills,
    'limit': limit, 'all': span == 'all', 'flag': flag, 'streams': streams,
    'spine': none if spine is none else relation_of(spine, macro_name, 'spine')
  }) }}
{% endmacro %}

{#- What `fill` says, as (column, way, SQL of a constant); taken: the columns that it can't have. -#}
{% macro default__sparkstream_fills(macro_name, fill, taken) %}
  {%- set ways = ['locf', 'linear', 'nearest'] -%}
  {%- if fill is not none and fill is not mapping -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s fill is no mapping of columns: " ~ fill ~ "\n  write it such as {'price': 'linear', 'bids': 0}"
    ) }}
  {%- endif -%}
  {%- set fills = [] -%}
  {%- for name, how in (fill or {}).items() -%}
    {%- set name = adapter.dispatch('sparkstream_column', 'sparkstream')(name, macro_name, 'fill') -%}
    {%- if name.strip('`') | lower in taken -%}
      {{ exceptions.raise_compiler_error(
        macro_name ~ "'s fill has " ~ name ~ " twice, or it is a column that each row has of its own\n  leave it out"
      ) }}
    {%- elif how is none or how in ways -%}
      {%- do fills.append((name, how, none)) -%}
    {%- elif how is string and how | trim | length > 1 and (how | trim).startswith("'") and (how | trim).endswith("'") -%}
      {%- set text = adapter.dispatch('sparkstream_piece', 'sparkstream')(how | trim, macro_name, 'fill') -%}
      {%- do fills.append((name, 'constant', '(' ~ text ~ ')' if "'" in text[1:-1] else text)) -%}
    {%- elif how is boolean or (how is number and how | string not in ['inf', '-inf', 'nan']) -%}
      {%- do fills.append((name, 'constant', how | string | upper)) -%}
    {%- else -%}
      {{ exceptions.raise_compiler_error(
        macro_name ~ "'s fill knows no way '" ~ how ~ "' for " ~ name
        ~ (", did you mean " ~ (how | lower | trim) ~ "?" if how is string and how | lower | trim in ways else '')
        ~ "\n  write 'locf', 'linear', 'nearest', a number, a text with quotes of its own (\"'none'\"), or none"
      ) }}
    {%- endif -%}
    {%- do taken.append(name.strip('`') | lower) -%}
  {%- endfor -%}
  {{ return(fills) }}
{% endmacro %}
