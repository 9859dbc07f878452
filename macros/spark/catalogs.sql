{#-
  `database` is a catalog of Spark's. dbt-spark has none, and its statements name a schema alone. Without a catalog, they
  stay as they are, but for the list of a schema's tables: dbt-spark writes its name without the quotes that `quoting` asks for.
-#}

{#- The catalog of a node: its config's `database`, else the profile's; none for the catalog that the session is in. -#}
{% macro sparkstream__generate_database_name(custom_database_name=none, node=none) -%}
  {{ return(custom_database_name | trim if custom_database_name else target.database or none) }}
{%- endmacro %}

{% macro sparkstream__list_schemas(database) -%}
  {%- if not database -%}{{ return(spark__list_schemas(database)) }}{%- endif -%}
  {{ return(run_query('show schemas in ' ~ adapter.named(database))) }}
{%- endmacro %}

{% macro sparkstream__list_relations_without_caching(relation) %}
  {{ return(run_query('show table extended in ' ~ relation.without_identifier() ~ " like '*'")) }}
{% endmacro %}

{#- Views of a catalog, which are no tables to SHOW TABLE EXTENDED; those of Spark's own catalog are. -#}
{% macro sparkstream_list_views(relation) %}
  {{ return(run_query('show views in ' ~ relation.without_identifier())) }}
{% endmacro %}

{#- Whether a relation is in another catalog than Spark's own. Tables there are made by the catalog, and not in a folder. -#}
{% macro sparkstream_in_catalog(relation) %}
  {{ return(relation.database and relation.database | lower != 'spark_catalog') }}
{% endmacro %}

{#- Refuses a node whose table can't be built as its format says, in the catalog that it is in. -#}
{% macro sparkstream_check_catalog() %}
  {%- set file_format = config.get('file_format') -%}
  {%- if sparkstream_in_catalog(this) and file_format not in ['delta', 'iceberg', 'hudi']
    and model.resource_type in ['model', 'seed', 'snapshot'] -%}
    {{ exceptions.raise_compiler_error(
      "the table is in the catalog " ~ this.database ~ ", "
      ~ ("where no tables in plain files of " ~ file_format ~ " can be" if file_format else "and nothing says its format")
      ~ "\n  write the catalog's format in its config, such as file_format='iceberg', or +file_format in dbt_project.yml;"
      ~ "\n  or write database='spark_catalog', for a table in Spark's own catalog"
    ) }}
  {%- endif -%}
{% endmacro %}

{#- dbt-spark's snapshots look for their table without a catalog. -#}
{% macro sparkstream__get_or_create_relation(database, schema, identifier, type) %}
  {{ return(default__get_or_create_relation(database or this.database, schema, identifier, type)) }}
{% endmacro %}
