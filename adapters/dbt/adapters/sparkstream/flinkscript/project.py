"""The files of the dbt project that a job becomes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from dbt.adapters.sparkstream.flinkscript.inputs import FOLDER
from dbt.adapters.sparkstream.flinkscript.job import MODE, Job
from dbt.adapters.sparkstream.flinkscript.kafka import packages
from dbt.adapters.sparkstream.flinkscript.leftovers import setting
from dbt.adapters.sparkstream.flinkscript.models import Models
from dbt.adapters.sparkstream.flinkscript.queries import sql
from dbt.adapters.sparkstream.flinkscript.readme import readme
from dbt.adapters.sparkstream.flinkscript.relations import SOURCE, Model, Source, plain_comment

_SPARK = {
    "table.local-time-zone": "spark.sql.session.timeZone",
    "parallelism.default": "spark.sql.shuffle.partitions",
    "table.exec.resource.default-parallelism": "spark.sql.shuffle.partitions",
    "pipeline.name": "spark.app.name",
}
"""Settings of Flink that Spark has too."""

_CREATE = """\
{#- Makes a table of each source in `inputs`: of its files, where they lie, or an empty one. -#}
{% macro create_inputs() %}
  {%- set sources = graph.sources.values() if execute else [] %}
  {%- for source in sources if source.source_name == 'inputs' and source.config.meta.table %}
    {%- set table = source.config.meta.table %}
    {%- do run_query('create schema if not exists ' ~ source.schema) %}
    {%- set columns %}
      {%- for column in source.columns.values() -%}
        {{ adapter.quote(column.name) }} {{ column.data_type }}{{ ', ' if not loop.last }}
      {%- endfor %}
    {%- endset %}
    {%- set sql %}
      create table if not exists {{ source.relation_name }} ({{ columns }}) using {{ table.format }}
      {%- if table.options %} options (
        {%- for key, value in table.options.items() -%}
          {{ key }} '{{ value | replace("\\\\", "\\\\\\\\") | replace("'", "\\\\'") }}'{{ ', ' if not loop.last }}
        {%- endfor %})
      {%- endif %}
      {%- if table.partitions %} partitioned by ({{ table.partitions | join(', ') }}){% endif %}
      {%- if table.location %} location '{{ table.location }}'{% endif %}
    {%- endset %}
    {%- do run_query(sql) %}
    {%- if table.location %}
      {#- New files, and new folders of partitions. #}
      {%- do run_query('refresh table ' ~ source.relation_name) %}
      {%- do run_query('alter table ' ~ source.relation_name ~ ' recover partitions') if table.partitions %}
    {%- endif %}
  {%- endfor %}
{% endmacro %}
"""


class Project:
    """A dbt project of a job.

    Attributes:
        name: its name.
        files: path within its folder -> content.
        models: its models.
        sources: tables that nothing in the script writes to, but for seeds.
        seeds: the tables that are small files.
        leftovers: what has no counterpart.

    Args:
        job: the script, read.
        file: where it lies.
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
        self.files = dict(self._written(folder))
        self.files["README.md"] = readme(self, file.name)

    @property
    def disabled(self) -> list[Model]:
        """The models that can't run."""
        return [model for model in self.models if model.disabled]

    def _written(self, folder: Path) -> Sequence[tuple[str, str]]:
        files = [
            ("dbt_project.yml", _yaml(self._project(folder))),
            ("profiles.yml", _yaml(self._profile())),
            (".gitignore", "target/\nlogs/\n.sparkstream/\n.user.yml\n"),
        ]
        if self.sources:
            files.append(("models/inputs.yml", _yaml(self._sources())))
        if self._tables:
            files.append(("macros/create_inputs.sql", _CREATE))
        files += [(f"models/{model.node}.sql", _model(model)) for model in self.models]
        if any(model.description or model.columns for model in self.models):
            files.append(("models/models.yml", _yaml({"models": [_properties(m) for m in self.models]})))
        for seed in self.seeds:
            assert seed.input is not None
            files.append((f"seeds/{seed.node}.csv", seed.input.seed or ""))
        if self.seeds:
            files.append(("seeds/seeds.yml", _yaml({"seeds": [_seed(seed) for seed in self.seeds]})))
        return files

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
        if any("var(" in (s.input.location or "") for s in self._tables if s.input):
            project["vars"] = {FOLDER: str(folder)}
        if self._tables:
            project["on-run-start"] = ["{{ create_inputs() }}"]
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
        by_schema: dict[str, list[dict[str, Any]]] = {}
        for source in self.sources:
            by_schema.setdefault(source.schema, []).append(_source(source))
        return {
            "sources": [
                {"name": schema or SOURCE, "schema": schema or "{{ target.schema }}_" + SOURCE, "tables": tables}
                for schema, tables in by_schema.items()
            ]
        }


def _project_name(stem: str) -> str:
    clean = "".join(c if c.isascii() and c.isalnum() else "_" for c in stem.lower()).strip("_") or "job"
    return clean if clean[0].isalpha() else f"job_{clean}"


def _yaml(content: dict[str, Any]) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)


def _columns(columns: Sequence[tuple[str, str, str]]) -> list[dict[str, Any]]:
    found = []
    for name, type_, comment in columns:
        entry: dict[str, Any] = {"name": name}
        if type_:
            entry["data_type"] = type_
        if comment:
            entry["description"] = sql(comment).jinja
        found.append(entry)
    return found


def _source(source: Source) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": source.node}
    table, given = source.table, source.input
    if table is None or given is None:
        return {**entry, "description": "The script doesn't define this table."}
    description = plain_comment(table.comment)
    if description:
        entry["description"] = sql(description).jinja
    meta: dict[str, Any] = {"format": given.format}
    if given.location is not None:
        meta["location"] = given.location
    if given.options:
        meta["options"] = {key: sql(value).jinja for key, value in given.options.items()}
    if given.partitions:
        meta["partitions"] = list(given.partitions)
    config: dict[str, Any] = {"meta": {"stream": _escaped(given.stream)} if given.stream else {"table": meta}}
    of_rows = {name for name, _, _ in given.columns}
    if table.watermark and table.watermark.column in of_rows and not given.stream:
        config["event_time"] = table.watermark.column
    return {**entry, "config": config, "columns": _columns(given.columns)}


def _escaped(content: Any) -> Any:
    """What stands in YAML, with what would open Jinja in its texts escaped."""
    if isinstance(content, dict):
        return {key: _escaped(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_escaped(value) for value in content]
    return sql(content).jinja if isinstance(content, str) else content


def _seed(seed: Source) -> dict[str, Any]:
    assert seed.table is not None
    assert seed.input is not None
    config: dict[str, Any] = {"column_types": {name: type_ for name, type_, _ in seed.input.columns}}
    if seed.table.watermark:
        config["event_time"] = seed.table.watermark.column
    entry: dict[str, Any] = {"name": seed.node}
    description = plain_comment(seed.table.comment)
    if description:
        entry["description"] = sql(description).jinja
    return {**entry, "config": config, "columns": _columns(seed.input.columns)}


def _properties(model: Model) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": model.node}
    if model.description:
        entry["description"] = sql(model.description).jinja
    if model.columns:
        entry["columns"] = _columns(model.columns)
    return entry


def _model(model: Model) -> str:
    """The text of a model."""
    config = {**model.config, **({"enabled": False} if model.disabled else {})}
    arguments = ", ".join(f"{key}={value!r}" for key, value in config.items())
    lines = ["{{ config(" + arguments + ") }}"]
    if model.disabled:
        lines.append(f"-- Disabled: {_line(model.disabled)}")
    if model.reason:
        lines.append(f"-- A table, and no stream: {_line(model.reason)}")
    if model.comment:
        lines.append(sql(model.comment).jinja)
    return "\n".join([*lines, model.sql]) + "\n"


def _line(text: str) -> str:
    return sql(" ".join(text.split())).jinja
