"""A dbt project in a folder, the models of some kinds in it, and the rows that come to the tables that they read."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from tools.kill.compare import Difference, compare
from tools.kill.formats import PARQUET, Format
from tools.kill.kinds import CLOSED, Kind, Model

SCHEMA = "shop"
SOURCES = ("bid", "ask")
PROOF = "__proof"
"""Ends the name of a model in batch that another one is compared with."""
WITNESS = "rows of the source in"
"""Begins what dbt prints of a table that is no stream, before it is made again."""
LATE = 9
"""Seconds that a row is behind the latest one, at most: less than the watermark."""

MACROS = """\
{% macro source_table(name) %}
  create table if not exists SCHEMA.{{ name }} (id bigint, ts timestamp, k string, v bigint) using parquet
  location '{{ var("incoming") }}/{{ name }}'
{% endmacro %}

{#- Rows as JSON, for a comparison outside of Spark. -#}
{% macro dump(name, table, columns, condition) %}
  insert overwrite directory '{{ var("dump") }}/{{ name }}' using json
  select {{ columns }} from SCHEMA.{{ table }} where {{ condition }}
{% endmacro %}

{#- A table that is no stream, as whoever reads it finds it after a kill. -#}
{% macro witness(counted) %}
  {% if execute %}
    {% set found = adapter.get_relation(this.database, this.schema, this.identifier) %}
    {% set rows = run_query('select ' ~ counted ~ ' from ' ~ this).rows[0][0] if found else 'none' %}
    {{ log('WITNESS ' ~ this.identifier ~ ': ' ~ rows, info=true) }}
  {% endif %}
{% endmacro %}
"""


class Project:
    """The project.

    Args:
        folder: an empty folder.
        kinds: what is in it.
        output: how dbt comes to Spark, for the profile.
        rng: of the rows.
        threads: how many models dbt runs at a time.
        format: what the tables of the kinds are stored as.
    """

    def __init__(
        self,
        folder: Path,
        kinds: Sequence[Kind],
        output: Mapping[str, Any],
        rng: random.Random,
        threads: int = 3,
        format: Format = PARQUET,
    ) -> None:
        self.folder = folder
        self.kinds = kinds
        self.counts = [0]
        """Rows of `bid` after each file."""
        self._rng = rng
        self._format = format
        self._latest = dict.fromkeys(SOURCES, 1000)
        self._ids = 0
        self._files = 0
        for source in SOURCES:
            self._incoming(source).mkdir(parents=True)
        for name, text in self._texts({**output, "schema": SCHEMA, "threads": threads}).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def _texts(self, output: Mapping[str, Any]) -> dict[str, str]:
        project = {
            "name": "shop",
            "version": "1.0",
            "config-version": 2,
            "profile": "shop",
            "flags": {"send_anonymous_usage_stats": False},
            "vars": {"incoming": str(self.folder / "incoming"), "dump": str(self.folder / "dump")},
            "models": {"shop": {"+materialized": "table", "+file_format": self._format.name}},
            "on-run-start": [f"{{{{ source_table('{source}') }}}}" for source in SOURCES],
        }
        profile = {"target": "killed", "outputs": {"killed": dict(output)}}
        raw = {"name": "raw", "schema": SCHEMA, "tables": [{"name": source} for source in SOURCES]}
        texts = {
            "dbt_project.yml": yaml.safe_dump(project),
            "profiles.yml": yaml.safe_dump({"shop": profile}),
            "models/sources.yml": yaml.safe_dump({"sources": [raw]}),
            "macros/kill.sql": MACROS.replace("SCHEMA", SCHEMA).replace("WITNESS", WITNESS),
        }
        for model in self.models:
            if model.python is None:
                texts[f"models/{model.name}.sql"] = _sql(model)
            else:
                texts[f"models/{model.name}.py"] = model.python
                hook = {"name": model.name, "config": {"pre_hook": _witness(model)}}
                texts[f"models/{model.name}.yml"] = yaml.safe_dump({"models": [hook]})
            texts[f"models/proof/{model.name}{PROOF}.sql"] = _proof(model, self._format)
        return texts

    @property
    def models(self) -> list[Model]:
        return [model for kind in self.kinds for model in kind.models]

    # -- rows --------------------------------------------------------------------------------------
    def _incoming(self, source: str) -> Path:
        return self.folder / "incoming" / source

    def arrive(self) -> None:
        """Twenty rows come to each source, as a file: with ties and gaps, out of order, and late but not too late."""
        for source in SOURCES:
            latest = self._latest[source]
            times = [latest + self._rng.randint(-LATE, 25) for _ in range(20)]
            self._add(source, times)

    def close(self) -> None:
        """Rows come that close all windows before them. What streams closes those of the first, and what it reads."""
        for source in SOURCES:
            self._add(source, [CLOSED, CLOSED + 1000])

    def _add(self, source: str, times: Sequence[int]) -> None:
        epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
        table = {
            "id": pa.array(range(self._ids, self._ids + len(times)), pa.int64()),
            "ts": pa.array([epoch + timedelta(seconds=time) for time in times], pa.timestamp("us", tz="UTC")),
            "k": pa.array([self._rng.choice("abc") for _ in times], pa.string()),
            "v": pa.array([self._rng.randint(0, 9) for _ in times], pa.int64()),
        }
        name = f"part-{self._files:05}.parquet"
        aside = self._incoming(source) / f".{name}"
        pq.write_table(pa.table(table), aside)
        if source == "bid":  # before it can be seen
            self.counts.append(self.counts[-1] + len(times))
        aside.rename(aside.with_name(name))
        self._latest[source] = max(self._latest[source], *times)
        self._ids += len(times)
        self._files += 1

    # -- the proof ---------------------------------------------------------------------------------
    def differences(self, models: Iterable[Model]) -> dict[str, Difference]:
        """What the tables of models and the same queries in batch differ in, once the proofs have run."""
        return {model.name: compare(self._dumped(model.name), self._dumped(f"{model.name}{PROOF}")) for model in models}

    def _dumped(self, table: str) -> list[dict[str, Any]]:
        folder = self.folder / "dump" / table
        if not (folder / "_SUCCESS").exists():
            raise FileNotFoundError(f"{folder} was not written")
        files = sorted(folder.glob("part-*.json"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def _config(model: Model, **more: Any) -> str:
    return "{{ config(" + ", ".join(f"{k}={v!r}" for k, v in {**model.config, **more}.items()) + ") }}\n"


def _witness(model: Model) -> str:
    return f"{{{{ witness('{model.counted}') }}}}"


def _sql(model: Model) -> str:
    """The text of a model."""
    read = "stream({})" if model.streams else "{}"
    more = {"pre_hook": _witness(model)} if model.counted else {}
    return _config(model, **more) + _reading(model.sql, read, "")


def _proof(model: Model, format: Format) -> str:
    """The text of a model that has the same rows without a stream, and writes its rows and the others beside it."""
    table, columns = model.name, "* except (micro_batch)" if model.streams and format.numbered else "*"
    if model.shows_open:
        table, columns = f"{model.name}__now", "* except (is_open)"
    hooks = [
        f"{{{{ dump('{model.name}', '{table}', '{columns}', '{model.closed}') }}}}",
        f"{{{{ dump('{model.name}{PROOF}', '{model.name}{PROOF}', '*', '{model.closed}') }}}}",
    ]
    config = f'{{{{ config(post_hook=["{hooks[0]}", "{hooks[1]}"]) }}}}\n'
    return f"-- depends_on: {{{{ ref('{model.name}') }}}}\n" + config + _reading(model.sql, "{}", PROOF)


def _reading(sql: str, read: str, suffix: str) -> str:
    """A query whose sources and models are read in a way."""
    sql = re.sub(r"SOURCE\((\w+)\)", lambda m: read.format(f"source('raw', '{m[1]}')"), sql)
    return re.sub(r"MODEL\((\w+)\)", lambda m: read.format(f"ref('{m[1]}{suffix}')"), sql) + "\n"
