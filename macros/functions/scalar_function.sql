{#- dbt's functions (`functions/*.sql`) as Spark says them; dbt's own SQL is PostgreSQL's. -#}

{% macro sparkstream__scalar_function_create_replace_signature_sql(target_relation) %}
CREATE OR REPLACE FUNCTION {{ target_relation.render() }} ({{ formatted_scalar_function_args_sql() }})
RETURNS {{ model.returns.data_type }}
{{ scalar_function_volatility_sql() }}
{% endmacro %}

{% macro sparkstream__formatted_scalar_function_args_sql() %}
  {%- set arguments = [] -%}
  {%- for one in model.arguments -%}{%- do arguments.append(adapter.named(one.name) ~ ' ' ~ one.data_type) -%}{%- endfor -%}
  {{ return(arguments | join(', ')) }}
{% endmacro %}

{% macro sparkstream__scalar_function_volatility_sql() %}
  {%- set volatility = model.config.get('volatility') -%}
  {%- if volatility == 'deterministic' -%}
    DETERMINISTIC
  {%- elif volatility == 'non-deterministic' -%}
    NOT DETERMINISTIC
  {%- elif volatility is not none -%}
    {%- do unsupported_volatility_warning(volatility) -%}
  {%- endif -%}
{% endmacro %}

{% macro sparkstream__scalar_function_body_sql() %}
RETURN ({{ model.compiled_code }})
{% endmacro %}
