{#- Says whether INSERT OVERWRITE replaces all of a table (`static`) or the partitions of its rows (`dynamic`), for a format
    that takes this from the session alone; gives what the session said before. -#}
{% macro sparkstream_overwrites(mode) %}
  {%- set before = run_query('set spark.sql.sources.partitionOverwriteMode').rows[0][1] -%}
  {%- call statement('overwrites') -%}set spark.sql.sources.partitionOverwriteMode = {{ mode }}{%- endcall -%}
  {{ return('static' if before == '<undefined>' else before) }}
{% endmacro %}
