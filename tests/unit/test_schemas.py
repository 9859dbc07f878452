"""The schemas for editors take what the adapter takes, and find a typo."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml
from click.testing import CliRunner

from dbt.adapters.sparkstream.cli import main
from dbt.adapters.sparkstream.editors.schemas import schemas
from dbt.adapters.sparkstream.streaming.settings import OURS
from tests.docs.blocks import PAGES, blocks

ROOT = Path(__file__).parents[2]
SCHEMAS = schemas()


def problems(name: str, text: str) -> list[str]:
    """What a schema says of a YAML file."""
    validator = jsonschema.Draft7Validator(SCHEMAS[name])
    return [error.json_path for error in validator.iter_errors(yaml.safe_load(text))]


def _files() -> Iterator[tuple[str, Path]]:
    for folder in (ROOT / "integration_tests", *(p.parent for p in (ROOT / "examples").glob("*/dbt_project.yml"))):
        for path in sorted(folder.glob("models/**/*.yml")):
            yield "properties", path
        yield "project", folder / "dbt_project.yml"
        yield "profiles", folder / "profiles.yml"


@pytest.mark.parametrize(("name", "path"), [pytest.param(n, p, id=str(p.relative_to(ROOT))) for n, p in _files()])
def test_our_own_files_are_right(name: str, path: Path) -> None:
    assert not problems(name, path.read_text())


def test_the_schemas_are_schemas() -> None:
    for schema in SCHEMAS.values():
        jsonschema.Draft7Validator.check_schema(schema)


def _model(config: str) -> str:
    return f"models: [{{name: m, config: {{materialized: streaming_incremental, {config}}}}}]"


@pytest.mark.parametrize(
    "config",
    [
        "watermark: 10 minutes, late_rows: keep, compact_every: 50, flush: true",
        "watermark: 10 minutes, late_rows: update, lateness: 1 hour",
        "trigger: {processing_time: 10 seconds}, emit: open, max_future: off",
        "sink: {format: kafka, topic: bids, key: [id], options: {kafka.bootstrap.servers: 'h:9092'}}",
        "compact_every: \"{{ var('n') }}\", late_rows: \"{{ var('late') }}\", tags: [a], file_format: delta",
    ],
)
def test_configs_of_streams(config: str) -> None:
    assert not problems("properties", _model(config))


@pytest.mark.parametrize(
    "config",
    [
        "watermrk: 10 minutes",
        "late_rows: kept",
        "compact_every: 0",
        "trigger: {processing_times: 10 seconds}",
        "sink: {format: kafka, topik: bids, topic: bids, options: {}}",
        "unique_key: id",
    ],
)
def test_mistakes_in_configs_of_streams(config: str) -> None:
    assert problems("properties", _model(config))


@pytest.mark.parametrize("config", ["sql_dialct: flink", "sql_dialect: flnk", "window_columns: [a]", "optimize: 7"])
def test_mistakes_in_configs_of_models(config: str) -> None:
    name, value = config.split(": ")
    assert problems("properties", f"models: [{{name: m, config: {{{config}}}}}]")
    assert problems("project", f"models: {{shop: {{marts: {{+{name}: {value}}}}}}}")


def test_configs_in_meta() -> None:
    assert not problems("properties", _model("meta: {watermark: 10 minutes, owner: me}"))
    assert problems("properties", _model("meta: {late_rows: kept}"))


def test_a_folder_may_be_called_like_a_config() -> None:
    assert not problems("project", "models: {shop: {watermark: {+watermark: 1 day}, materialized: view}}")


def test_sources_that_are_streams() -> None:
    source = "sources: [{name: s, tables: [{name: t, config: {meta: {stream: {%s}}}}]}]"
    assert not problems("properties", source % "format: json, path: incoming, schema: 'id int', select: ['*']")
    assert problems("properties", source % "path: incoming")
    assert problems("properties", source % "format: json, pth: incoming")
    older = "sources: [{name: s, tables: [{name: t, meta: {stream: {format: json, pth: incoming}}}]}]"
    assert problems("properties", older)


def test_tests_of_windows() -> None:
    model = "models: [{name: m, data_tests: [not_null, {%s: {arguments: {%s}}}]}]"
    assert not problems("properties", model % ("matches_rows", "expected: ref('a'), decimals: 2"))
    assert problems("properties", model % ("matches_rows", "expcted: ref('a')"))
    assert problems("properties", model % ("sparkstream.matches_rows", "expcted: ref('a')"))
    assert not problems("properties", model % ("dbt_utils.expression_is_true", "expression: a > 0"))


@pytest.mark.parametrize("wrong", ["method: sesion", "optmize: true", "threads: 0", "port: http"])
def test_mistakes_in_profiles(wrong: str) -> None:
    profile = "{type: sparkstream, method: session, schema: a, %s}"
    assert not problems("profiles", f"p: {{target: dev, outputs: {{dev: {profile % 'threads: 2'}}}}}")
    assert problems("profiles", f"p: {{target: dev, outputs: {{dev: {profile % wrong}}}}}")
    other = wrong.replace("method", "dbname")
    assert not problems("profiles", f"p: {{target: dev, outputs: {{dev: {{type: postgres, {other}}}}}}}")


def test_yaml_in_the_documentation() -> None:
    checked = 0
    for block in (block for page in PAGES for block in blocks(page) if block.language in ("yaml", "yml")):
        content = yaml.safe_load(block.text)
        if not isinstance(content, dict):
            continue
        name = "project" if isinstance(content.get("models"), dict) else "properties"
        if any(isinstance(value, dict) and "outputs" in value for value in content.values()):
            name = "profiles"
        if name == "profiles" or {"models", "sources"} & content.keys():
            assert not problems(name, block.text), str(block)
            checked += 1
    assert checked > 10


def test_the_command(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["schemas", "--into", str(tmp_path / "s")])
    assert done.exit_code == 0, done.output
    written: dict[str, Any] = {path.stem: json.loads(path.read_text()) for path in (tmp_path / "s").iterdir()}
    assert written == json.loads(json.dumps(SCHEMAS))
    assert set(OURS) <= set(written["properties"]["definitions"]["config"]["properties"])
