{#- dbt-spark's drops the old table before it builds the new one. -#}
{% materialization table, adapter='sparkstream', supported_languages=['sql', 'python'] %}
  {%- if not sparkstream_aside() -%}
    {{ return(materialization_table_spark()) }}
  {%- endif -%}
  {%- set old = load_cached_relation(this) -%}
  {%- set relation = this.incorporate(type='table') -%}
  {%- set language = model['language'] -%}
  {%- set grant_config = config.get('grants') -%}

  {{ run_hooks(pre_hooks) }}

  {%- set built = sparkstream_beside(relation, language=language) -%}
  {%- call statement('main', language=language) -%}
    {{ create_table_as(False, built, compiled_code, language) }}
  {%- endcall -%}
  {%- do sparkstream_swap(built, relation, old) -%}

  {%- do apply_grants(relation, grant_config, should_revoke(old, full_refresh_mode=True)) -%}
  {%- do persist_docs(relation, model) -%}
  {%- do persist_constraints(relation, model) -%}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [relation]}) }}
{% endmaterialization %}
