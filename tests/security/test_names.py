"""Names of tables, columns and settings can hold anything, and break out of no quotes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.spark.session_conf import SUBSTITUTE
from dbt.adapters.sparkstream.sql.core.literals import backticked, named, quoted
from dbt.adapters.sparkstream.streaming.sidecars import is_named_for

ADAPTER = Path(__file__).parents[2] / "adapters/dbt/adapters/sparkstream"

NOT_SQL = {
    "flinkscript/readme.py": "Markdown",
    "flinkscript/escapes.py": "Markdown",
    "flinkscript/project.py": "Markdown",
    "streaming/fingerprint.py": "a message",
    "flinkscript/queries.py": "a word of the script that has no backtick, as it stands there without",
    "sql/passes/framing/evaluation.py": "a name of the user's in its backticks, with a number behind",
}


def written_around_a_value(tree: ast.AST) -> Iterator[int]:
    """The lines with a backtick before a value, in an f-string or in a sum of texts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            for before, value in zip(node.values, node.values[1:], strict=False):
                text = before.value if isinstance(before, ast.Constant) else ""
                if isinstance(value, ast.FormattedValue) and str(text).endswith("`"):
                    yield node.lineno
        elif isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant) and str(node.left.value)[-1:] == "`":
            yield node.lineno


@pytest.mark.parametrize("path", [str(p.relative_to(ADAPTER)) for p in sorted(ADAPTER.rglob("*.py"))])
def test_backticks_are_written_in_one_place(path: str) -> None:
    if path not in {*NOT_SQL, "sql/core/literals.py"}:
        assert not list(written_around_a_value(ast.parse((ADAPTER / path).read_text())))


def test_the_search_finds_them() -> None:
    assert list(written_around_a_value(ast.parse('f"SELECT `{name}`"\n"`" + name + "`"'))) == [1, 2]


@pytest.mark.parametrize(
    "name", ["a`b", "x` int) using parquet location '/p' -- ", "`", "``", "a\nb", "${x}", "\u202ea"]
)
def test_any_name(name: str) -> None:
    assert backticked(name)[1:-1].replace("``", "") == name.replace("`", "")
    assert backticked(name).count("`") == 2 + 2 * name.count("`")
    assert quoted(name) == backticked(name)


@pytest.mark.parametrize("name", ["²", "ª", "é", "1a", "a b", ""])
def test_no_plain_names(name: str) -> None:
    assert quoted(name) == f"`{name}`"


@pytest.mark.parametrize(
    "name",
    [
        *("my col", "b-c", "größe", "1st", "a'b", "x;y", "a\\b", "-", "a(b", ")a(", "a) or (b) in (select 1 --"),
        *("${x}", "n\nl", "\u202ea"),
    ],
)
def test_columns_of_configs_are_quoted(name: str) -> None:
    assert named(name) == named(f" {name} ") == f"`{name}`"


@pytest.mark.parametrize("name", ["a`b", "x` int) using parquet location '/p' -- y", "`a", "a` (b"])
def test_columns_of_configs_with_a_lone_backtick_are_quoted(name: str) -> None:
    assert named(name) == backticked(name)


@pytest.mark.parametrize(
    "name", ["`a``b`", "day", "Day_2", "s.day", "`my col`", "s.`my col`", "days(ts)", "bucket(4, `my id`)"]
)
def test_columns_of_configs_stay(name: str) -> None:
    assert named(name) == name


@pytest.mark.parametrize("method", ["session", "thrift", "connect"])
@pytest.mark.parametrize(("given", "value"), [({}, "false"), ({SUBSTITUTE: "true"}, "true")])
def test_variables_in_statements_stay_unless_the_profile_says_otherwise(
    method: str, given: dict[str, str], value: str
) -> None:
    profile = {"method": method, "host": "127.0.0.1", "schema": "dev", "server_side_parameters": given}
    assert SparkStreamCredentials.from_dict(profile).server_side_parameters[SUBSTITUTE] == value


HEX = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    "name",
    [
        "bids",
        f"_s/bids-{HEX}",
        "bids__rebuilt-01234567",
        "bids__rebuilt-01234567__compacted/",
        f"_s/bids__rebuilt-{HEX}",
    ],
)
def test_folders_of_a_streaming_table(name: str) -> None:
    assert is_named_for("Bids", f"file:/w/{name}", "file:///w/bids__backfilled-01234567")


@pytest.mark.parametrize(
    "folder",
    [
        *("/home/me", "/", "file:/w", "/w/bids/..", "/w/bids__rebuilt-01234567/..", "/w/bids-old", "/w/bids__late"),
        *("/other/bids", f"/w/other-{HEX}", f"/w/bids-{HEX}/%2e%2e", f"/w/bids-{HEX}/sub", "s3a://mine/bids", ""),
    ],
)
def test_folders_that_a_property_names_and_are_of_others(folder: str) -> None:
    assert not is_named_for("bids", folder, "/w/bids")
