{#- Refuses what needs the adapter, with the ways out; dbt 2 has the later ones alone.
    options: of `sparkstream build`; instead: another way. -#}
{% macro default__sparkstream_needs_the_adapter(construct, why, instead, options='') %}
  {{ exceptions.raise_compiler_error(
    construct ~ " needs the adapter dbt-sparkstream: " ~ why
    ~ "\n  where dbt is older than 2, install it (pip install dbt-sparkstream) and write `type: sparkstream` in the profile,"
    ~ "\n  or run the project that `sparkstream build" ~ options ~ "` writes,"
    ~ "\n  or " ~ instead
  ) }}
{% endmacro %}
