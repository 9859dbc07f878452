{#- dbt-spark's drops the old table before it builds the new one. It can't be called from here: dbt runs a Python model in a
    statement of its own materialization alone. -#}
{% materialization table, adapter='sparkstream', supported_languages=['sql', 'python'] %}
  {%- set staged = sparkstream_is_staged() -%}
  {%- set old = load_cached_relation(this) -%}
  {%- set relation = this.incorporate(type='table') -%}
  {%- set language = model['language'] -%}
  {%- set grant_config = config.get('grants') -%}

  {{ run_hooks(pre_hooks) }}

  {%- set built = sparkstream_staging(relation, language=language) if staged else relation -%}
  {%- if not staged -%}{%- do sparkstream_make_place(old) -%}{%- endif -%}
  {%- call statement('main', language=language) -%}
    {{ create_table_as(False, built, compiled_code, language) }}
  {%- endcall -%}
  {%- if staged -%}{%- do sparkstream_swap(built, relation, old) -%}{%- endif -%}

  {%- do apply_grants(relation, grant_config, should_revoke(old, full_refresh_mode=True)) -%}
  {%- do persist_docs(relation, model) -%}
  {%- do persist_constraints(relation, model) -%}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [relation]}) }}
{% endmaterialization %}
