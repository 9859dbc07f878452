{#- What a Python model does with its result. Stands in for dbt-spark's macro of this name, which writes Delta unless told
    otherwise, leaves partitions out, and doesn't know the data frames of Spark Connect. -#}
{% macro py_write_table(compiled_code, target_relation) %}
{%- set on_databricks = target.method in ['http', 'odbc'] -%}
{%- set file_format = config.get('file_format', 'delta' if on_databricks else 'parquet') -%}
{%- set partition_by = sparkstream_columns_of('partition_by') -%}
{%- set options = dict(config.get('options') or {}) -%}
{%- if file_format == 'delta' -%}{%- do options.update({'overwriteSchema': 'true'}) -%}{%- endif -%}
{%- if config.get('location_root') and not sparkstream_is_staged() -%}
  {#- Else a staging table is built, and takes its place. -#}
  {%- do options.update({'path': config.get('location_root') ~ '/' ~ target_relation.identifier}) -%}
{%- endif -%}
{%- if config.get('liquid_clustered_by') -%}
  {{ exceptions.raise_compiler_error(
    "Delta takes no liquid_clustered_by from a model in Python"
    ~ "\n  write config(post_hook='alter table {{ this }} cluster by (...)') in its place"
  ) }}
{%- endif -%}
{%- set name = target_relation | string | tojson -%}
{%- if file_format == 'iceberg' -%}
  {#- saveAsTable replaces no table of Iceberg's that is there. -#}
  {%- set save = 'create()' if sparkstream_is_first(target_relation) else 'createOrReplace()' -%}
  {%- set writer = 'df.writeTo(' ~ name ~ ').using("iceberg")' -%}
  {%- set partitions = 'partitionedBy(*(df[name] for name in ' ~ partition_by | list | tojson ~ '))' -%}
{%- else -%}
  {%- set writer, save = 'df.write.mode("overwrite").format(' ~ file_format | tojson ~ ')', 'saveAsTable(' ~ name ~ ')' -%}
  {%- set names = [] -%}
  {%- for column in partition_by -%}{%- do names.append(sparkstream_plain_name(column) | tojson) -%}{%- endfor -%}
  {%- set partitions = 'partitionBy(' ~ names | join(', ') ~ ')' -%}
{%- endif -%}
{{ compiled_code }}


# --- Written by dbt: the result becomes a table. ---
dbt = dbtObj(spark.table)
df = model(dbt, spark)
# By the class's name: one of Spark Connect has an attribute of any name, as a column.
kind = f"{type(df).__module__}.{type(df).__name__}"
if kind.startswith("pyspark.pandas."):
    df = df.to_spark()
elif kind.startswith("pandas."):
    df = spark.createDataFrame(df)
elif not (kind.startswith("pyspark.sql.") and kind.endswith("DataFrame")):
    raise TypeError(f"a model returns a data frame of Spark or pandas, and this one returned {type(df)}")
writer = {{ writer }}
{%- for name, value in options.items() %}
writer = writer.option({{ name | tojson }}, {{ value | string | tojson }})
{%- endfor %}
{%- if partition_by %}
writer = writer.{{ partitions }}
{%- endif %}
writer.{{ save }}
{%- endmacro %}
