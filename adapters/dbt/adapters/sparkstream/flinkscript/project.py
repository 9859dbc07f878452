"""The files of the dbt project that a job becomes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbt.adapters.sparkstream.flinkscript.escapes import (
    Jinja,
    Variable,
    comment_line,
    jinja_text,
    jinja_value,
    variables_in,
    yaml_file,
)
from dbt.adapters.sparkstream.flinkscript.inputs import FOLDER
from dbt.adapters.sparkstream.flinkscript.job import MODE, Job
from dbt.adapters.sparkstream.flinkscript.kafka import packages
from dbt.adapters.sparkstream.flinkscript.leftovers import setting
from dbt.adapters.sparkstream.flinkscript.models import Models
from dbt.adapters.sparkstream.flinkscript.readme import readme
from dbt.adapters.sparkstream.flinkscript.relations import SOURCE, Model, Source, description
from dbt.adapters.sparkstream.starter import name_fault

_SPARK = {
    "table.local-time-zone": "spark.sql.session.timeZone",
    "parallelism.default": "spark.sql.shuffle.partitions",
    "table.exec.resource.default-parallelism": "spark.sql.shuffle.partitions",
    "pipeline.name": "spark.app.name",
}
"""Setting of Flink -> the same setting of Spark."""

_CREATE = """\
{#- Makes a table of each source in `inputs`: of its files, where they lie, or an empty one. -#}
{% macro create_inputs() %}
  {%- set sources = graph.sources.values() if execute else [] %}
  {%- for source in sources if source.source_name == 'inputs' and source.config.meta.table %}
    {%- set table = source.config.meta.table %}
    {%- do adapter.create_schema(api.Relation.create(database=source.database, schema=source.schema)) %}
    {%- set columns %}
      {%- for column in source.columns.values() -%}
        {{ adapter.quote(column.name) }} {{ column.data_type }}{{ ', ' if not loop.last }}
      {%- endfor %}
    {%- endset %}
    {%- set sql %}
      create table if not exists {{ source.relation_name }} ({{ columns }}) using {{ table.format }}
      {%- if table.options %} options (
        {%- for key, value in table.options.items() -%}
          {{ key }} {{ input_literal(value) }}{{ ', ' if not loop.last }}
        {%- endfor %})
      {%- endif %}
      {%- if table.partitions %} partitioned by (
        {%- for column in table.partitions %}{{ adapter.quote(column) }}{{ ', ' if not loop.last }}{% endfor %})
      {%- endif %}
      {%- if table.location %} location {{ input_literal(table.location) }}{% endif %}
    {%- endset %}
    {%- do run_query(sql) %}
    {%- if table.location %}
      {#- New files, and new folders of partitions. #}
      {%- do run_query('refresh table ' ~ source.relation_name) %}
      {%- do run_query('alter table ' ~ source.relation_name ~ ' recover partitions') if table.partitions %}
    {%- endif %}
  {%- endfor %}
{% endmacro %}

{#- A text as a literal of Spark SQL. -#}
{% macro input_literal(text) -%}
  '{{ text | replace("\\\\", "\\\\\\\\") | replace("'", "\\\\'") }}'
{%- endmacro %}
"""


class Project:
    """A dbt project of a job.

    Attributes:
        name: its name.
        files: path within its folder -> content.
        models: its models.
        sources: tables that nothing in the script writes to, but for seeds.
        seeds: the tables that are small files.
        leftovers: parts of the script without a counterpart.
        variables: the variables that hold secrets of the script -> places of their use.

    Args:
        job: the script, read.
        file: the script's path.
    """

    def __init__(self, job: Job, file: Path) -> None:
        self.name = _project_name(file.stem)
        folder = file.resolve().parent
        made = Models(job, folder, file.name)
        self.models = made.models
        self.sources = made.sources
        self.seeds = made.seeds
        unset = ((k, v) for k, v in job.settings.items() if k not in (*_SPARK, MODE))
        self.leftovers = [*job.leftovers, *made.leftovers, *(setting(k, v) for k, v in unset)]
        self._settings = {_SPARK[key]: value for key, value in job.settings.items() if key in _SPARK}
        self.variables: dict[Variable, list[str]] = {}
        self.files = dict(self._written(folder))
        lines = readme(self.name, file.name, made, self.leftovers, self.variables)
        self.files["README.md"] = "\n".join(lines) + "\n"

    @property
    def disabled(self) -> list[Model]:
        """The models that can't run."""
        return [model for model in self.models if model.disabled]

    def _written(self, folder: Path) -> Sequence[tuple[str, str]]:
        files = [
            ("dbt_project.yml", yaml_file(self._project(folder))),
            ("profiles.yml", yaml_file(self._used("`profiles.yml`", self._profile()))),
            (".gitignore", "target/\nlogs/\n.sparkstream/\n.user.yml\n"),
        ]
        if self.sources:
            files.append(("models/inputs.yml", yaml_file(self._sources())))
        if self._tables:
            files.append(("macros/create_inputs.sql", _CREATE))
        for model in self.models:
            self._used(f"`models/{model.node}.sql`", model.config)
            files.append((f"models/{model.node}.sql", _model(model)))
        if any(model.description or model.columns for model in self.models):
            files.append(("models/models.yml", yaml_file({"models": [_properties(m) for m in self.models]})))
        for seed in self.seeds:
            assert seed.input is not None
            files.append((f"seeds/{seed.node}.csv", seed.input.seed or ""))
        if self.seeds:
            files.append(("seeds/seeds.yml", yaml_file({"seeds": [_seed(seed) for seed in self.seeds]})))
        return files

    def _used(self, place: str, content: dict[str, Any]) -> dict[str, Any]:
        """Records the variables in a file's content, which README.md lists; returns the content.

        Args:
            place: the file, in Markdown.
            content: its content.
        """
        for variable in variables_in(content):
            places = self.variables.setdefault(variable, [])
            if place not in places:
                places.append(place)
        return content

    @property
    def _tables(self) -> list[Source]:
        """The sources that the project makes tables of."""
        return [source for source in self.sources if source.input is not None and not source.input.stream]

    def _project(self, folder: Path) -> dict[str, Any]:
        project: dict[str, Any] = {
            "name": self.name,
            "version": "1.0.0",
            "config-version": 2,
            "profile": self.name,
            "model-paths": ["models"],
            "clean-targets": ["target", "logs", ".sparkstream"],
            "flags": {"send_anonymous_usage_stats": False},
        }
        if any(s.input.relative for s in self._tables if s.input):
            project["vars"] = {FOLDER: Jinja(folder)}  # dbt doesn't render it
        if self._tables:
            project["on-run-start"] = [Jinja("{{ create_inputs() }}")]
        return project

    def _profile(self) -> dict[str, Any]:
        session: dict[str, Any] = {"type": "sparkstream", "method": "session", "schema": self.name, "threads": 1}
        settings = dict(self._settings)
        topics = [s.input.stream for s in self.sources if s.input and s.input.stream]
        topics += [sink for m in self.models if isinstance(sink := m.config.get("sink"), dict)]
        if topics:
            settings["spark.jars.packages"] = ",".join(packages(topics))
        if settings:
            session["server_side_parameters"] = settings
        return {self.name: {"target": "session", "outputs": {"session": session}}}

    def _sources(self) -> dict[str, Any]:
        groups: dict[str, list[Source]] = {}
        for source in self.sources:
            groups.setdefault(source.group, []).append(source)
        inputs = Jinja("{{ target.schema }}_" + SOURCE)
        return {
            "sources": [
                {"name": group, "schema": found[0].schema or inputs, "tables": [self._source(each) for each in found]}
                for group, found in groups.items()
            ]
        }

    def _source(self, source: Source) -> dict[str, Any]:
        table, given = source.table, source.input
        if table is None or given is None:
            return _entry(source.node, description="The script doesn't define this table.")
        meta: dict[str, Any] = {"format": given.format}
        if given.location is not None:
            meta["location"] = given.place
        if given.options:
            meta["options"] = given.options
        if given.partitions:
            meta["partitions"] = given.partitions
        config: dict[str, Any] = {"meta": {"stream": given.stream} if given.stream else {"table": meta}}
        typed = () if given.stream or given.reading else given.columns
        if table.watermark and table.watermark.column in (name for name, _, _ in typed):
            config["event_time"] = table.watermark.column
        self._used(f"`models/inputs.yml`, table `{source.node}`", config)
        return _entry(source.node, description=description(table), config=config, columns=_columns(given.stored))


def _project_name(stem: str) -> str:
    clean = "".join(c if c.isascii() and c.isalnum() else "_" for c in stem.lower()).strip("_") or "job"
    return clean if name_fault(clean) is None else f"job_{clean}"


def _entry(name: str, **keys: Any) -> dict[str, Any]:
    """An entry of YAML with the keys that hold something."""
    return {"name": name, **{key: value for key, value in keys.items() if value}}


def _columns(columns: Sequence[tuple[str, str, str]]) -> list[dict[str, Any]]:
    return [_entry(name, data_type=type_, description=comment) for name, type_, comment in columns]


def _seed(seed: Source) -> dict[str, Any]:
    assert seed.table is not None
    assert seed.input is not None
    config: dict[str, Any] = {"column_types": {name: type_ for name, type_, _ in seed.input.columns}}
    if seed.table.watermark:
        config["event_time"] = seed.table.watermark.column
    columns = _columns(seed.input.columns)
    return _entry(seed.node, description=description(seed.table), config=config, columns=columns)


def _properties(model: Model) -> dict[str, Any]:
    return _entry(model.node, description=model.description, columns=_columns(model.columns))


def _model(model: Model) -> str:
    """The text of a model."""
    config = {**model.config, **({"enabled": False} if model.disabled else {})}
    arguments = ", ".join(f"{key}={jinja_value(value)}" for key, value in config.items())
    lines = ["{{ config(" + arguments + ") }}"]
    if model.disabled:
        lines.append(comment_line(f"Disabled: {model.disabled}"))
    if model.reason:
        lines.append(comment_line(f"A table, and no stream: {model.reason}"))
    if model.comment:
        lines.append(jinja_text(model.comment))
    return "\n".join([*lines, model.sql]) + "\n"
