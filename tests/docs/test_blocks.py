"""Every fenced block of the README and docs/ runs: models on Spark, YAML in a project, commands as far as they can.

A block that can't run has a comment above it, `<!-- not run: why -->`. Pages with tests of their own: the quick start,
the mistakes, the queries side by side, and the flights (tests/functional/demo).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner

from dbt.adapters.sparkstream.cli import main
from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.sql import translate
from tests.docs.blocks import PAGES, ROOT, Block, blocks
from tests.docs.tables import TABLES
from tests.functional.adapter.project import Project
from tests.unit.test_docs import SCHEMA

TESTED_ELSEWHERE = (
    "docs/quickstart.md",
    "docs/troubleshooting.md",
    "docs/migrate/",
    "examples/",
)
BLOCKS = [block for page in PAGES for block in blocks(page)]
HERE = [block for block in BLOCKS if not block.mark and not block.page.startswith(TESTED_ELSEWHERE)]
OUTPUT = {"", "text", "csv", "console", "json"}


def of(language: str) -> list[Block]:
    return [block for block in HERE if block.language == language]


def is_model(block: Block) -> bool:
    return block.language == "sql" and not block.dialect and "{% macro" not in block.text


def is_python_model(block: Block) -> bool:
    return block.language == "python" and "def model(" in block.text


def name(block: Block) -> str:
    return re.sub(r"\W+", "_", str(block)).lower()


def test_every_block_has_a_language_that_a_test_knows() -> None:
    known = OUTPUT | {"sql", "yaml", "python", "shell", "ini"}
    assert [str(block) for block in BLOCKS if block.language not in known] == []
    assert [str(block) for block in BLOCKS if block.mark == "not run" and not block.why] == []
    assert [page for page in PAGES if re.search(r"\n\n {4}\S", PAGES[page].read_text()) and _indented(page)] == []


def _indented(page: str) -> bool:
    """Whether a page has a command in an indented block, which no test would see."""
    return bool(re.search(r"\n\n {4}(\$ |make |pip |dbt |sparkstream |select )", PAGES[page].read_text()))


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.dialect and not b.mark], ids=str)
def test_sql_of_a_dialect_translates(block: Block) -> None:
    dialect = "spark" if block.dialect == "sparkstream" else block.dialect
    found = translate(block.text, dialect, schema=SCHEMA)
    assert dialect != "spark" or block.dialect != "spark" or found == block.text


# What a page's models read that isn't among the tables of all pages.
INSTANTS = """{{ config(materialized='table', event_time='bidtime') }}
select * except (bidtime), cast(bidtime as timestamp) as bidtime from {{ ref('bid') }}"""
BIDS_10MIN = """select item, window_start, window_end, window_time, sum(price) as total_price, count(*) as bids
from {{ tumble(ref('bid'), 'bidtime', '10 minutes') }}
group by item, window_start, window_end, window_time"""


def model_text(block: Block) -> str:
    # A stream's time is an instant.
    return (
        block.text.replace("ref('bid')", "ref('bid_instants')") if "streaming_incremental" in block.text else block.text
    )


@pytest.fixture(scope="module")
def project(make_project: Callable[..., Project]) -> Project:
    files = {f"models/{table}.sql": text for table, text in TABLES.items()}
    files["models/bid.sql"] = "{{ config(event_time='bidtime') }}\n" + TABLES["bid"]
    files["models/bid_instants.sql"] = INSTANTS
    files["models/bids_10min.sql"] = files["models/bids_10min_expected.sql"] = BIDS_10MIN
    for block in HERE:
        if is_model(block):
            files[f"models/pages/{name(block)}.sql"] = model_text(block)
        elif block.language == "sql" and not block.dialect:
            files[f"macros/{name(block)}.sql"] = block.text
        elif is_python_model(block):
            files[f"models/pages/{name(block)}.py"] = block.text
    made = make_project(files)
    made.dbt("run", "--exclude", "path:models/pages")
    return made


@pytest.fixture(scope="module")
def pages(project: Project) -> Any:
    """The results of the models on the pages."""
    days = ["--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02"]
    return project.dbt("run", "--select", "path:models/pages", *days, "--vars", "until: 2020-04-15 08:20:00").results


@pytest.mark.long
def test_models_run(pages: Any) -> None:
    expected = {name(block) for block in HERE if is_model(block) or is_python_model(block)}
    assert {result.node.name for result in pages} == expected
    assert len(expected) >= 8


def outputs(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs of a profile, or of a part of one."""
    if content.get("type") == "sparkstream":
        return [content]
    return [output for value in content.values() if isinstance(value, dict) for output in outputs(value)]


def contents(block: Block) -> dict[str, Any]:
    """A block of YAML; of a list of tests alone, with the model that they are of."""
    content = yaml.safe_load(block.text)
    return {"models": [{"name": "bids_10min", "data_tests": content}]} if isinstance(content, list) else content


@pytest.mark.parametrize("block", [b for b in of("yaml") if outputs(contents(b))], ids=str)
def test_profiles(block: Block) -> None:
    for output in outputs(contents(block)):
        given = {key: value for key, value in output.items() if key not in ("type", "threads")}
        SparkStreamCredentials.validate(given)
        assert SparkStreamCredentials.from_dict(given).schema


@pytest.mark.full
@pytest.mark.usefixtures("pages")
def test_properties(project: Project) -> None:
    """Tests of models run; where a block's data would be another, the project is read with it."""
    ran, parsed = [], []
    for block in of("yaml"):
        content = contents(block)
        if outputs(content):
            continue
        if content.keys() == {"vars"}:  # of dbt_project.yml
            project.dbt("parse", "--vars", yaml.safe_dump(content["vars"]))
            parsed.append(block)
            continue
        assert content.keys() <= {"models", "sources", "seeds", "unit_tests"}, block
        # A block is alone in the project: several describe one model.
        text = yaml.safe_dump(content).replace("name: bids\n", f"name: {streaming_model()}\n")
        project.write({"models/block.yml": text})
        if "models" in content and "station" not in text:
            done = project.invoke("test", "--select", "test_type:data")
            assert done.success, f"{block}: {project._messages(done)}"
            assert done.result.results or "data_tests" not in text, block
            ran.append(block)
        else:
            project.dbt("parse")
            parsed.append(block)
    (project.folder / "models/block.yml").unlink()
    assert ran and parsed


def streaming_model() -> str:
    return next(name(block) for block in HERE if is_model(block) and "streaming_incremental" in block.text)


@pytest.mark.parametrize("block", [b for b in of("python") if not is_python_model(b)], ids=str)
def test_python(block: Block) -> None:
    exec(compile(block.text, str(block), "exec"), {})


def commands(block: Block) -> list[list[str]]:
    lines = [line.removeprefix("$ ") for line in block.text.replace("\\\n", " ").splitlines()]
    if any(line.startswith("$ ") for line in block.text.splitlines()):
        lines = [line.removeprefix("$ ") for line in block.text.splitlines() if line.startswith("$ ")]
    return [shlex.split(line, comments=True) for line in lines if line.strip() and not line.startswith("#")]


TARGETS = set(re.findall(r"^([\w-]+(?: [\w-]+)*):", (ROOT / "Makefile").read_text(), re.M))
QUERY = """SELECT window_start, window_end, count(*)
FROM HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)
GROUP BY window_start, window_end
"""


@pytest.mark.parametrize("block", of("shell"), ids=str)
def test_commands(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands about a text run; of others, whatever they name has to be there: targets, extras, files, options."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "query.sql").write_text(QUERY)
    folder = left_in(block)
    for program, *arguments in commands(block):
        if program == "cd":
            folder = folder / arguments[0]
            assert folder.is_dir(), block
        elif program == "make":
            assert set(arguments) <= {word for target in TARGETS for word in target.split()}, block
        elif program == "pip":
            check_pip(arguments)
        elif program == "sparkstream":
            check_sparkstream(arguments)
        elif program.endswith("dbt"):
            check_dbt(arguments)
        elif program.endswith("python"):
            check_python(arguments, folder)
        else:
            pytest.fail(f"{block}: a command that no test knows: {program}; say <!-- not run: why -->")


def left_in(block: Block) -> Path:
    """The folder that the blocks above on the page have gone to."""
    folder = ROOT
    for above in of("shell"):
        if above.page == block.page and above.line < block.line:
            for program, *arguments in commands(above):
                folder = folder / arguments[0] if program == "cd" else folder
    return folder


def check_pip(arguments: list[str]) -> None:
    text = (ROOT / "pyproject.toml").read_text()
    assert arguments[0] == "install"
    for package in arguments[1:]:
        found = re.fullmatch(r"dbt-sparkstream(?:\[(\w+)\])?", package)
        assert found, package
        assert found[1] is None or re.search(rf"^{found[1]} = \[", text, re.M), package


def check_sparkstream(arguments: list[str]) -> None:
    if arguments[0] in ("translate", "explain") and "query.sql" in arguments:
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, done.output
        return
    parse(main, arguments)


def parse(command: click.Command, arguments: list[str]) -> None:
    """Reads a command line as click does, without running anything."""
    while isinstance(command, click.Group):
        command, arguments = command.commands[arguments[0]], arguments[1:]
    command.make_context("", list(arguments))


def check_dbt(arguments: list[str]) -> None:
    from dbt.cli.main import cli

    # A folder that an option names is that of the reader.
    here = {"--project-dir": ".", "--profiles-dir": "."}
    given = [here.get(before, word) for before, word in zip(["", *arguments], arguments, strict=False)]
    parse(cli, given if "--profiles-dir" in given else [*given, "--profiles-dir", "."])


def check_python(arguments: list[str], folder: Path) -> None:
    if arguments[0] != "-m":
        assert (folder / arguments[0]).is_file(), arguments
        return
    module, rest = arguments[1], arguments[2:]
    if module == "pytest":
        paths = [word for word in rest if word.startswith("tests")]
        assert all((ROOT / path).exists() for path in paths), arguments
    else:
        path = ROOT / module.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), arguments


def test_the_optimizers_words_are_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that shows a command's answer shows the true one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "query.sql").write_text(QUERY)
    shown = [block for block in of("shell") if block.text.startswith("$ sparkstream explain query.sql")]
    for block in shown:
        [command] = commands(block)
        assert CliRunner().invoke(main, command[1:]).output == block.text.partition("\n")[2]
