{% macro cents_to_dollars(column, scale=2) %}
    cast({{ column }} / 100 as decimal(16, {{ scale }}))
{% endmacro %}
