{#- What a Python model does with its result. Stands in for dbt-spark's macro of this name, which writes Delta unless told
    otherwise, leaves partitions out, and doesn't know the data frames of Spark Connect. -#}
{% macro py_write_table(compiled_code, target_relation) %}
{%- set on_databricks = target.method in ['http', 'odbc'] -%}
{%- set file_format = config.get('file_format', 'delta' if on_databricks else 'parquet') -%}
{%- set partition_by = config.get('partition_by') or [] -%}
{%- set partition_by = [partition_by] if partition_by is string else partition_by -%}
{%- set options = dict(config.get('options') or {}) -%}
{%- if file_format == 'delta' -%}{%- do options.update({'overwriteSchema': 'true'}) -%}{%- endif -%}
{%- if config.get('location_root') -%}
  {%- do options.update({'path': config.get('location_root') ~ '/' ~ target_relation.identifier}) -%}
{%- endif -%}
{{ compiled_code }}


# --- Written by dbt: the result becomes a table. ---
dbt = dbtObj(spark.table)
df = model(dbt, spark)
if hasattr(df, "to_spark"):  # pandas on Spark
    df = df.to_spark()
elif type(df).__module__.split(".")[0] == "pandas":
    df = spark.createDataFrame(df)
if not hasattr(df, "writeTo"):
    raise TypeError(f"a model returns a data frame of Spark or pandas, and this one returned {type(df)}")
writer = df.write.mode("overwrite").format({{ file_format | tojson }})
{%- for name, value in options.items() %}
writer = writer.option({{ name | tojson }}, {{ value | string | tojson }})
{%- endfor %}
{%- if partition_by %}
writer = writer.partitionBy({{ partition_by | map('tojson') | join(', ') }})
{%- endif %}
writer.saveAsTable({{ target_relation | string | tojson }})
{%- endmacro %}
