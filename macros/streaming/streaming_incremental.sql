{#- Each run appends what is new and final. How is in the adapter's Python, which alone can run a streaming query. -#}
{% materialization streaming_incremental, adapter='sparkstream' %}
  {%- set existing = load_cached_relation(this) -%}
  {%- set target = this.incorporate(type='table') -%}
  {%- set grant_config = config.get('grants') -%}

  {{ run_hooks(pre_hooks) }}

  {#- A table is the run's to drop: an earlier run may still write to it. -#}
  {%- if existing is not none and not existing.is_table -%}
    {%- if not should_full_refresh() -%}
      {{ exceptions.raise_compiler_error(
        this ~ " is a " ~ existing.type ~ ", and a streaming model appends to a table"
        ~ "\n  run it with --full-refresh to put a table in its place"
      ) }}
    {%- endif -%}
    {{ adapter.drop_relation(existing) }}
  {%- endif -%}

  {%- set run = adapter.run_stream(model, sql, target, rebuild=should_full_refresh(), run_id=invocation_id) -%}

  {%- call noop_statement('main', run.message, 'OK', run.rows) -%}
    {{ run.sql }}
  {%- endcall -%}
  {#- After Ctrl-C, dbt has ended its connections. -#}
  {%- if not run.interrupted -%}
    {#- The stream has written in a session of its own. -#}
    {%- call statement() -%}
      refresh table {{ target }}
    {%- endcall -%}

    {% do apply_grants(target, grant_config, should_revoke(existing, should_full_refresh())) %}
    {{ run_hooks(post_hooks) }}
  {%- endif -%}

  {{ return({'relations': [target]}) }}
{% endmaterialization %}

{% materialization streaming_incremental, default %}
  {%- do adapter.dispatch('sparkstream_no_streams', 'sparkstream')() -%}
{% endmaterialization %}
