{% macro asof_join(
  left, right, on, left_time, right_time, direction='backward', tolerance=none, allow_exact=true, type='left',
  columns=none, ties=none
) -%}
  {%- do adapter.dispatch('sparkstream_check_arguments', 'sparkstream')(
    'asof_join', kwargs, ['left', 'right', 'on', 'left_time', 'right_time', 'direction', 'tolerance', 'allow_exact', 'type', 'columns', 'ties'], varargs
  ) if execute -%}
  {{ return(adapter.dispatch('asof_join', 'sparkstream')(
    left, right, on, left_time, right_time, direction, tolerance, allow_exact, type, columns, ties
  ) if execute else '') }}
{%- endmacro %}

{% macro default__asof_join(left, right, on, left_time, right_time, direction, tolerance, allow_exact, type, columns, ties) -%}
  {%- set column = adapter.dispatch('sparkstream_column', 'sparkstream') -%}
  {%- set same = adapter.dispatch('sparkstream_is_among', 'sparkstream') -%}
  {%- set sides = {'left': left, 'right': right} -%}
  {%- set left = adapter.dispatch('sparkstream_relation', 'sparkstream')(left, 'asof_join', 'left') -%}
  {%- set right = adapter.dispatch('sparkstream_relation', 'sparkstream')(right, 'asof_join', 'right') -%}
  {%- set words = {
    'backward': 'the last row of the right side up to its time',
    'forward': 'the first row of the right side from its time on',
    'nearest': 'the row of the right side that is nearest in time'
  } -%}
  {%- for argument, value, known in [('direction', direction, words.keys()), ('type', type, ['left', 'inner'])] if value not in known -%}
    {{ exceptions.raise_compiler_error(
      "asof_join's " ~ argument ~ " is none that it knows: '" ~ value ~ "'\n  write one of " ~ known | join(', ')
    ) }}
  {%- endfor -%}
  {%- if allow_exact is not boolean -%}
    {{ exceptions.raise_compiler_error(
      "asof_join's allow_exact is neither true nor false: " ~ allow_exact
      ~ "\n  write allow_exact=false where rows of equal times don't match"
    ) }}
  {%- endif -%}
  {%- set pairs = adapter.dispatch('sparkstream_pairs', 'sparkstream')(on, 'asof_join') -%}
  {%- do adapter.dispatch('sparkstream_check_given', 'sparkstream')(
    'asof_join', [('left_time', left_time), ('right_time', right_time)]
  ) -%}
  {%- set left_time = column(left_time, 'asof_join', 'left_time') -%}
  {%- set right_time = column(right_time, 'asof_join', 'right_time') -%}
  {%- set micros = none if tolerance is none
    else adapter.dispatch('sparkstream_interval', 'sparkstream')(tolerance, 'asof_join', 'tolerance') -%}
  {%- if micros is not none and micros < 0 -%}
    {{ exceptions.raise_compiler_error(
      "asof_join's tolerance is negative: '" ~ tolerance ~ "'\n  write a tolerance such as '10 minutes'"
    ) }}
  {%- endif -%}
  {#- Names that the left side has for certain; and those of them that are what is compared on the right side, too. -#}
  {%- set taken, shared = [], [] -%}
  {%- for left_name, right_name in pairs + [[left_time, right_time]] -%}
    {%- do taken.append(left_name) -%}
    {%- if same(left_name, [right_name]) -%}{%- do shared.append(right_name) -%}{%- endif -%}
  {%- endfor -%}
  {%- set kept, given = [], {} -%}
  {%- if columns is none -%}
    {%- do kept.append('*' ~ (' EXCEPT (' ~ shared | join(', ') ~ ')' if shared else '')) -%}
  {%- else -%}
    {%- do given.update(columns if columns is mapping else {}) -%}
    {%- if columns is not mapping -%}
      {%- for name in adapter.dispatch('sparkstream_keys', 'sparkstream')(columns, 'asof_join', 'columns') -%}
        {%- do given.update({name: name}) -%}
      {%- endfor -%}
    {%- endif -%}
    {%- if not given -%}
      {{ exceptions.raise_compiler_error(
        "asof_join's columns is empty\n  write columns=['bid', 'ask'], or leave it out for all columns of the right side"
      ) }}
    {%- endif -%}
    {%- set names = [] -%}
    {%- for name, new in given.items() -%}
      {%- set name, new = column(name, 'asof_join', 'columns'), column(new, 'asof_join', 'columns') -%}
      {%- if same(new, taken + names) -%}
        {{ exceptions.raise_compiler_error(
          "asof_join's columns gives a second column the name " ~ new ~ "\n  write a new name behind it: columns={'"
          ~ name ~ "': 'right_" ~ name | replace('`', '') ~ "', ...}"
        ) }}
      {%- endif -%}
      {%- do names.append(new) -%}
      {%- do kept.append(name if name == new else name ~ ' AS ' ~ new) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- set tied = adapter.dispatch('sparkstream_keys', 'sparkstream')(ties, 'asof_join', 'ties') -%}
  {%- set of_left, of_right = [('left_time', left_time)], [('right_time', right_time)] -%}
  {%- for left_key, right_key in pairs -%}
    {%- do of_left.append(('on', left_key)) -%}
    {%- do of_right.append(('on', right_key)) -%}
  {%- endfor -%}
  {%- for name in (given if columns is not none else []) -%}{%- do of_right.append(('columns', name | trim)) -%}{%- endfor -%}
  {%- for name in tied -%}{%- do of_right.append(('ties', name)) -%}{%- endfor -%}
  {%- for side, names in [('left', of_left), ('right', of_right)] -%}
    {%- do adapter.dispatch('sparkstream_check_columns', 'sparkstream')('asof_join', sides[side], names) -%}
  {%- endfor -%}
  {%- set keys = [] -%}
  {%- for left_key, right_key in pairs -%}
    {%- do keys.append(left_key if left_key == right_key else left_key ~ ' = ' ~ right_key) -%}
  {%- endfor -%}
  {%- set comment = 'asof_join: each row of the left side with ' ~ words[direction] ~ (', by ' ~ keys | join(', ') if keys) -%}
  {{ return(adapter.dispatch('sparkstream_asof_query', 'sparkstream')(
    '/* ' ~ comment.replace('*/', '* /').replace('/*', '/ *') ~ ' */', left, right, pairs, left_time, right_time,
    'struct(' ~ kept | join(', ') ~ ')', direction, allow_exact,
    none if not tied else tied[0] if tied | length == 1 else 'struct(' ~ tied | join(', ') ~ ')',
    tolerance=micros, inner=type == 'inner'
  )) }}
{%- endmacro %}

{#- Private. Whether a column is one of some others, in backticks or not. -#}
{% macro default__sparkstream_is_among(name, others) -%}
  {%- set found = namespace(value=false) -%}
  {%- for other in others if other.strip('`') | lower == name.strip('`') | lower -%}
    {%- set found.value = true -%}
  {%- endfor -%}
  {{ return(found.value) }}
{%- endmacro %}
