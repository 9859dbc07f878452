{#- dbt's, with a `where` that may end in a line comment. -#}
{% macro sparkstream__get_where_subquery(relation) -%}
  {%- set where = adapter.dispatch('sparkstream_conditions', 'sparkstream')(config.get('where', '')) -%}
  {{ return('(select * from ' ~ relation ~ ' where ' ~ where ~ ') dbt_subquery' if where else relation) }}
{%- endmacro %}
