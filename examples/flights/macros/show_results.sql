{# Prints the first rows of each result table, how many it has, and where they lie: `dbt run-operation show_results`. #}
{% macro show_results(rows=3) %}
  {% set order_of = {
    'departures_hourly': 'origin, hour_start',
    'departures_24h': 'origin, window_end',
    'delay_today': 'origin, as_of',
    'aircraft_spells': 'departures desc, tailnum, first_departure',
    'carrier_weeks': "week_start, airline = 'all' desc, origin = 'all' desc, flights desc",
    'cancellations_daily': 'cancelled desc, day_start, name',
    'departures_daily': 'origin, day_start',
    'hours_in_weather': 'delay_minutes desc',
    'delay_by_visibility': 'visibility'
  } %}
  {% for name, order in order_of.items() %}
    {% set model = graph.nodes['model.flights.' ~ name] %}
    {% set count = run_query('select count(*) from ' ~ model.relation_name).rows[0][0] %}
    {% set first = run_query('select * from ' ~ model.relation_name ~ ' order by ' ~ order ~ ' limit ' ~ rows) %}
    {{ print('\n' ~ model.relation_name ~ ': ' ~ '{:,}'.format(count | int) ~ ' rows') }}
    {{ print(model.description | trim) }}
    {% do first.print_table(max_columns=none, max_column_width=none) %}
  {% endfor %}

  {% set folder = run_query('describe schema ' ~ target.schema).rows | selectattr(0, 'equalto', 'Location') | first %}
  {{ print('\nThe tables are Parquet files in ' ~ (folder[1] | replace('file:', '')) ~ '\n\n'
    ~ 'Try next, in examples/flights:\n'
    ~ '  read models/, then target/compiled/: the same models as the Spark SQL that ran\n'
    ~ '  ../../.venv/bin/dbt show --select departures_daily --limit 10\n'
    ~ '  change a window in models/, then: ../../.venv/bin/dbt build\n'
    ~ 'examples/flights/README.md walks through the models.') }}
{% endmacro %}
