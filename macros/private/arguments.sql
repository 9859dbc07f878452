{#
  The arguments of the window macros, checked; not part of the package's interface.
#}

{#- Refuses the arguments that a macro doesn't have: `given` are those with a name, `known` the names of its own, `more`
    those after the last. Jinja itself says neither where such an argument stands nor what was meant. -#}
{% macro default__sparkstream_check_arguments(macro_name, given, known, more) %}
  {%- for name in given -%}
    {#- A name of its own is left over where its place among the arguments is taken. -#}
    {{ exceptions.raise_compiler_error(
      macro_name ~ (" has its " ~ name ~ " twice: by its place and by its name" if name in known else " has no argument " ~ name)
      ~ "\n  its arguments are " ~ known | join(', ')
    ) }}
  {%- endfor -%}
  {%- do adapter.dispatch('sparkstream_check_count', 'sparkstream')(macro_name, known, more) -%}
{% endmacro %}

{% macro sparkstream__sparkstream_check_arguments(macro_name, given, known, more) %}
  {%- for name in given -%}{%- do adapter.refuse_argument(macro_name, name, known) -%}{%- endfor -%}
  {%- do adapter.dispatch('sparkstream_check_count', 'sparkstream')(macro_name, known, more) -%}
{% endmacro %}

{% macro default__sparkstream_check_count(macro_name, known, more) %}
  {%- if more -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ " takes " ~ known | length ~ " arguments at most, and got " ~ (known | length + more | length)
      ~ "\n  its arguments are " ~ known | join(', ')
    ) }}
  {%- endif -%}
{% endmacro %}

{#- Refuses windows of which a row is in so many that one row fills Spark's memory. -#}
{% macro default__sparkstream_check_windows(macro_name, argument, step, size) %}
  {%- set written = adapter.dispatch('sparkstream_written', 'sparkstream') -%}
  {%- set own = model.config | default({}) if model is defined and model.resource_type == 'model' else {} -%}
  {#- config.get finds nothing of `meta` without the adapter, and dbt 2 warns of it. -#}
  {%- set most = own.get('max_windows') or (own.get('meta') or {}).get('max_windows') or 1000000 -%}
  {%- set windows = (size + step - 1) // step -%}
  {%- if windows > most -%}
    {%- set longer = (size + most - 1) // most -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ ": a row is in " ~ windows ~ " of these windows, and " ~ most ~ " is the most"
      ~ "\n  write a " ~ argument ~ " of " ~ written((longer + 999) // 1000 * 1000)
      ~ " or more, or set max_windows in the model's config"
    ) }}
  {%- endif -%}
{% endmacro %}

{#- Refuses a call without an argument that it needs: `needed` are (name, value) pairs. -#}
{% macro default__sparkstream_check_given(macro_name, needed) %}
  {%- for name, value in needed if value is undefined or value is none -%}
    {{ exceptions.raise_compiler_error(macro_name ~ "'s " ~ name ~ " is missing\n  write it as " ~ name ~ ": ...") }}
  {%- endfor -%}
{% endmacro %}

{#- Refuses columns that a relation hasn't, where its columns are known: `names` are (argument, name) pairs. A query, a CTE and a
    table that isn't there are for Spark to judge. -#}
{% macro default__sparkstream_check_columns(macro_name, relation, names) %}{% endmacro %}

{% macro sparkstream__sparkstream_check_columns(macro_name, relation, names) %}
  {%- if relation is not string and relation is not none and flags.WHICH not in ['compile', 'generate'] -%}
    {%- do adapter.check_columns(macro_name, relation.render(), names) -%}
  {%- endif -%}
{% endmacro %}

{#- A text of an argument as one piece of SQL, which can't end what stands around it: its quotes and parentheses are
    closed, and no semicolon or comment stands outside its strings.
    comments: whether it may have comments that end within it; lists: whether it may have commas outside parentheses. -#}
{% macro default__sparkstream_piece(text, macro_name, argument, comments=false, lists=false) %}
  {%- set closings = {'(': ')', '[': ']', '{': '}'} -%}
  {%- set at = namespace(quote='', raw=false, escaped=false, comment='', before='', fault=none) -%}
  {%- set open = [] -%}
  {%- for c in text -%}
    {%- if at.fault is not none -%}
      {#- The first one counts. dbt 2 would ask a condition of the loop once, before all rounds. -#}
    {%- elif at.comment -%}
      {%- if (at.comment == '--' and c == '\n') or (at.comment == '/*' and at.before ~ c == '*/') -%}
        {%- set at.comment = '' -%}
        {%- set c = ' ' -%}
      {%- elif at.comment == '/*' and at.before ~ c == '/*' -%}
        {#- Spark nests comments: this one would swallow what follows the argument. -#}
        {%- set at.fault = 'a comment within a comment' -%}
      {%- endif -%}
    {%- elif at.quote -%}
      {%- if at.escaped -%}
        {%- set at.escaped = false -%}
      {%- elif c == '\\' and at.quote != '`' and not at.raw -%}
        {%- set at.escaped = true -%}
      {%- elif c == at.quote -%}
        {%- set at.quote = '' -%}
      {%- endif -%}
    {%- elif c in ['"', "'", '`'] -%}
      {%- set at.quote = c -%}
      {%- set at.raw = at.before in ['r', 'R'] -%}
    {%- elif at.before ~ c in ['--', '/*'] -%}
      {%- set at.comment = at.before ~ c -%}
      {%- set at.fault = none if comments else 'a comment' -%}
      {%- set c = ' ' -%}
    {%- elif c in closings -%}
      {%- do open.append(closings[c]) -%}
    {%- elif c in closings.values() -%}
      {%- if not open or open.pop() != c -%}{%- set at.fault = 'a ' ~ c ~ ' that closes nothing' -%}{%- endif -%}
    {%- elif c == ';' -%}
      {%- set at.fault = 'a semicolon' -%}
    {%- elif c == ',' and not open and not lists -%}
      {%- set at.fault = 'a comma outside parentheses' -%}
    {%- endif -%}
    {%- set at.before = c -%}
  {%- endfor -%}
  {%- if at.fault is none and at.quote -%}
    {%- set at.fault = 'a ' ~ at.quote ~ ' that is never closed' -%}
  {%- elif at.fault is none and at.comment -%}
    {%- set at.fault = 'a comment that goes on to its end' -%}
  {%- elif at.fault is none and open -%}
    {%- set at.fault = 'a parenthesis that is never closed' -%}
  {%- endif -%}
  {%- if at.fault is not none -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s " ~ argument ~ " is no whole piece of SQL, it has " ~ at.fault ~ ": " ~ text
      ~ "\n  write it as it could stand alone, in parentheses"
    ) }}
  {%- endif -%}
  {{ return(text) }}
{% endmacro %}

{#- What stands in FROM: a Relation, a table's or CTE's name, or a query in parentheses. -#}
{% macro default__sparkstream_relation(relation, macro_name, argument='relation') %}
  {%- set text = '' if relation is undefined or relation is none else relation | string | trim -%}
  {%- if not text -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s " ~ argument ~ " is missing\n  write ref('...'), the name of a table or CTE, or a query in parentheses"
    ) }}
  {%- elif (text.split() | first | lower) in ['select', 'with'] -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s " ~ argument ~ " is a query without parentheses: " ~ text ~ "\n  write '(" ~ text ~ ")'"
    ) }}
  {%- endif -%}
  {%- set piece = adapter.dispatch('sparkstream_piece', 'sparkstream') -%}
  {{ return(piece(text, macro_name, argument, comments=true)) }}
{% endmacro %}

{#- The name of a column, in backticks or not. -#}
{% macro default__sparkstream_column(name, macro_name, argument) %}
  {%- if name is not string or not name | trim -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s " ~ argument ~ " is no column name: " ~ name ~ "\n  write it in quotes, such as 'bidtime'"
    ) }}
  {%- endif -%}
  {%- set text = name | trim -%}
  {%- set quoted = text.startswith('`') and text.endswith('`') and '`' not in text[1:-1].replace('``', '') and text | length > 2 -%}
  {%- if not quoted and not (text.isascii() and text.replace('_', 'a').isalnum()) -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s " ~ argument ~ " is no column name: " ~ name
      ~ "\n  write the name of a column of the relation, in backticks where it has spaces: '`event time`'"
      ~ "\n  compute what isn't a column yet in a query in parentheses: '(select *, ... as event_time from ...)'"
    ) }}
  {%- endif -%}
  {{ return(text) }}
{% endmacro %}

{#- An argument as a list: none is empty, and any value but a list is the one in it. -#}
{% macro default__sparkstream_list(given) %}
  {%- if given is none -%}{{ return([]) }}{%- endif -%}
  {%- set is_list = given is defined and given is sequence and given is not string and given is not mapping -%}
  {{ return(given if is_list else [given]) }}
{% endmacro %}

{#- The columns of PARTITION BY, or of another argument, as a list. -#}
{% macro default__sparkstream_keys(partition_by, macro_name, argument='partition_by') %}
  {%- set column = adapter.dispatch('sparkstream_column', 'sparkstream') -%}
  {%- set keys = [] -%}
  {%- for name in adapter.dispatch('sparkstream_list', 'sparkstream')(partition_by) -%}
    {%- if name is string and ',' in name and not name.startswith('`') -%}
      {{ exceptions.raise_compiler_error(
        macro_name ~ "'s " ~ argument ~ " has several columns in one text: '" ~ name ~ "'"
        ~ "\n  write a list of them: ['" ~ name.replace(' ', '').split(',') | join("', '") ~ "']"
      ) }}
    {%- endif -%}
    {%- do keys.append(column(name, macro_name, argument)) -%}
  {%- endfor -%}
  {{ return(keys) }}
{% endmacro %}

{#- What a join's `on` has to be equal: pairs of columns of the left and the right side. -#}
{% macro default__sparkstream_pairs(on, macro_name) %}
  {%- if on is undefined or on is none -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s on is missing\n  write on='key', on=['key', ...], on={'left_key': 'right_key'}, or on=[] where only times matter"
    ) }}
  {%- endif -%}
  {%- set column = adapter.dispatch('sparkstream_column', 'sparkstream') -%}
  {%- set pairs = [] -%}
  {%- if on is mapping -%}
    {%- for left_key, right_key in on.items() -%}
      {%- do pairs.append([column(left_key, macro_name, 'on'), column(right_key, macro_name, 'on')]) -%}
    {%- endfor -%}
  {%- else -%}
    {%- for key in adapter.dispatch('sparkstream_keys', 'sparkstream')(on, macro_name, 'on') -%}
      {%- do pairs.append([key, key]) -%}
    {%- endfor -%}
  {%- endif -%}
  {{ return(pairs) }}
{% endmacro %}

{#- The column that a gap names; none for one that is an interval. -#}
{% macro default__sparkstream_gap_column(gap, macro_name) %}
  {%- set text = gap | string | trim -%}
  {%- if gap is not string or not text or text[0] in '0123456789+-.' or (text.split() | first | lower) == 'interval' -%}
    {{ return(none) }}
  {%- endif -%}
  {%- if ' ' in text and not text.startswith('`') -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s gap is neither an interval nor a column: '" ~ text ~ "'"
      ~ "\n  write an interval such as '10 minutes', or the name of the column with each row's own gap"
    ) }}
  {%- endif -%}
  {{ return(adapter.dispatch('sparkstream_column', 'sparkstream')(text, macro_name, 'gap')) }}
{% endmacro %}

{#- A condition on a row, in parentheses; none where there is none. -#}
{% macro default__sparkstream_condition(condition, macro_name, argument) %}
  {%- if condition is none -%}{{ return(none) }}{%- endif -%}
  {%- if condition is not string or not condition | trim -%}
    {{ exceptions.raise_compiler_error(
      macro_name ~ "'s " ~ argument ~ " is no condition: " ~ condition
      ~ "\n  write it as in WHERE, such as \"event = 'logout'\""
    ) }}
  {%- endif -%}
  {%- set piece = adapter.dispatch('sparkstream_piece', 'sparkstream') -%}
  {{ return(adapter.dispatch('sparkstream_conditions', 'sparkstream')(
    piece(condition | trim, macro_name, argument, lists=true)
  )) }}
{% endmacro %}

{#- A window function on one line, for the translator of the adapter, which checks the intervals.
    intervals: (argument's name, value) pairs; an offset or max_duration that is none was left out.
    others: more arguments, as SQL. -#}
{% macro default__sparkstream_window_function(macro_name, relation, timecol, intervals, keys=[], others=[]) %}
  {%- set relation = adapter.dispatch('sparkstream_relation', 'sparkstream')(relation, macro_name) -%}
  {%- set parts = [
    relation ~ (' PARTITION BY (' ~ keys | join(', ') ~ ')' if keys else ''),
    adapter.dispatch('sparkstream_column', 'sparkstream')(timecol, macro_name, 'timecol')
  ] -%}
  {%- for argument, value in intervals if not (argument in ['offset', 'max_duration'] and value is none) -%}
    {%- if value is undefined -%}
      {{ exceptions.raise_compiler_error(
        macro_name ~ "'s " ~ argument ~ " is missing\n  write it such as '10 minutes', '1 hour 30 minutes' or '1 day'"
      ) }}
    {%- elif value is not string or not value | trim -%}
      {{ exceptions.raise_compiler_error(
        macro_name ~ "'s " ~ argument ~ " is not a text: " ~ value
        ~ "\n  write it such as '10 minutes', '1 hour 30 minutes' or '1 day'"
      ) }}
    {%- endif -%}
    {%- set is_literal = (value.split() | first | lower) == 'interval' -%}
    {%- set piece = adapter.dispatch('sparkstream_piece', 'sparkstream') -%}
    {%- set literal = piece(value | trim, macro_name, argument) if is_literal
      else "'" ~ value.replace("\\", "\\\\").replace("'", "\\'") ~ "'" -%}
    {%- do parts.append(('max_duration => ' if argument == 'max_duration' else '') ~ literal) -%}
  {%- endfor -%}
  {{ return(macro_name ~ '(' ~ (parts + others) | join(', ') ~ ')') }}
{% endmacro %}
