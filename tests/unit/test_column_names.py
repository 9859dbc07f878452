"""Columns that a macro's arguments name, and those that Spark suggests."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.sparkstream.messages.arguments import check_columns, unknown_argument
from dbt.adapters.sparkstream.messages.readable import readable
from dbt.adapters.sparkstream.sql import TranslationError
from tests.lib.macros import CompilerError, Macros

TABLES = {
    "db.left": ["id", "sensor", "ts", "my key"],
    "db.right": ["sensor", "ts", "value", "seq"],
    "db.windows": ["sensor", "window_start", "window_end", "n"],
    "db.unknown": [],
}
LEFT, RIGHT, WINDOWS, UNKNOWN = (SimpleNamespace(identifier=n, render=lambda n=n: n) for n in TABLES)


def refuse_argument(macro: str, argument: str, known: list[str]) -> None:
    raise unknown_argument(macro, argument, known)


def call(macro: str, *args: Any, which: str = "run", **kwargs: Any) -> str:
    found = Macros(flags=SimpleNamespace(WHICH=which))
    adapter: Any = found._environment.globals["adapter"]
    adapter.check_columns = lambda macro, relation, names: check_columns(macro, relation, names, TABLES[relation])
    return str(found.call(macro, *args, **kwargs))


ASOF = {"left": LEFT, "right": RIGHT, "on": "sensor", "left_time": "ts", "right_time": "ts"}
AROUND = {**ASOF, "before": "1 hour", "after": "0 seconds", "columns": {"n": "count"}}
GAPS = {"relation": WINDOWS, "by": "sensor", "size": "10 minutes"}
MISTAKES: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "key": ("asof_join", {**ASOF, "on": "sensr"}, "asof_join's on names sensr, and db.left has no", "sensor"),
    "key_of_right": ("asof_join", {**ASOF, "on": {"id": "sesnor"}}, "on names sesnor, and db.right has no", "sensor"),
    "left_time": ("asof_join", {**ASOF, "left_time": "tss"}, "left_time names tss, and db.left", "did you mean ts?"),
    "right_time": ("asof_join", {**ASOF, "right_time": "when"}, "right_time names when, and db.right", "it has sensor"),
    "columns": (
        "asof_join",
        {**ASOF, "columns": ["valeu"]},
        "columns names valeu, and db.right",
        "did you mean value?",
    ),
    "renamed": ("asof_join", {**ASOF, "columns": {"vale": "v"}}, "columns names vale, and db.right", "value"),
    "ties": ("asof_join", {**ASOF, "ties": "sq"}, "ties names sq, and db.right", "did you mean seq?"),
    "fill": ("gapfill", {**GAPS, "fill": {"m": 0}}, "gapfill's fill names m, and db.windows has no", "it has sensor"),
    "by": ("gapfill", {**GAPS, "by": "senser"}, "by names senser, and db.windows has no", "did you mean sensor?"),
    "no_windows": ("gapfill", {**GAPS, "relation": LEFT}, "gapfill takes windows, and db.left has no column", "tumble"),
    "spine": (
        "gapfill",
        {**GAPS, "by": "n", "spine": RIGHT, "span": "all"},
        "by names n, and db.right has no such column",
        "it has sensor",
    ),
    "join": ("window_join", {"left": WINDOWS, "right": RIGHT, "on": "sensor"}, "window_join takes windows", "hop"),
    "join_key": ("window_join", {"left": WINDOWS, "right": WINDOWS, "on": "k"}, "on names k, and db.windows", "it has"),
    "top_n": (
        "window_top_n",
        {"relation": WINDOWS, "n": 1, "order_by": "n", "partition_by": "sensors"},
        "window_top_n's partition_by names sensors",
        "did you mean sensor?",
    ),
    "around": (
        "window_around",
        {**AROUND, "on": "sensors"},
        "window_around's on names sensors",
        "did you mean sensor?",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_column_that_isnt_there(name: str) -> None:
    macro, arguments, message, hint = MISTAKES[name]
    with pytest.raises(TranslationError) as error:
        call(macro, **arguments)
    assert message in error.value.message
    assert hint in (error.value.hint or "")


@pytest.mark.parametrize("adapter", ["spark", "sparkstream"])
@pytest.mark.parametrize(
    ("macro", "places", "name"),
    [
        ("window_dedup", ["w", "k", "ts"], "partition_by"),
        ("window_top_n", ["w", 1, "n"], "order_by"),
        ("tumble", ["t", "ts", "1 hour"], "size"),
        ("session", ["t", "ts", "1 hour", "k"], "gap"),
        ("asof_join", [LEFT, RIGHT], "right"),
        ("gapfill", ["w", "k"], "by"),
    ],
)
def test_an_argument_by_its_place_and_by_its_name(adapter: str, macro: str, places: list[Any], name: str) -> None:
    found = Macros(adapter)
    found._environment.globals["adapter"].refuse_argument = refuse_argument  # type: ignore[attr-defined]
    with pytest.raises((TranslationError, CompilerError), match=f"{macro} has its {name} twice: by its place and by"):
        found.call(macro, *places, **{name: "x"})


@pytest.mark.parametrize(
    ("macro", "arguments"),
    [
        ("asof_join", ASOF),
        ("asof_join", {**ASOF, "on": {"`my key`": "SENSOR"}, "columns": {"Value": "v"}, "ties": ["seq"]}),
        ("asof_join", {**ASOF, "left": UNKNOWN, "right": "(select 1 as x)", "on": "x"}),
        ("gapfill", {**GAPS, "fill": {"N": "locf"}, "spine": RIGHT, "span": "all"}),
        ("gapfill", {**GAPS, "relation": "anything", "fill": {"m": 0}}),
        ("window_join", {"left": WINDOWS, "right": "w", "on": "sensor"}),
        ("window_around", AROUND),
    ],
)
def test_columns_that_are_there_or_unknown(macro: str, arguments: dict[str, Any]) -> None:
    assert call(macro, **arguments)


def test_a_table_may_change_before_a_compiled_model_runs() -> None:
    assert call("asof_join", **{**ASOF, "on": "sensr"}, which="compile")


UNRESOLVED = "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `x` cannot be resolved."
MEANT = " Did you mean one of the following? ["


@pytest.mark.parametrize(
    ("suggested", "shown"),
    [
        ("`__wall`, `ts`, `k`", f"{MEANT}`ts`, `k`]"),
        ("`__rows`.`ts`, `__rows`.`__slide`, `ts`", f"{MEANT}`ts`]"),
        ("`__wall`, `__key0`", ""),
        ("`ts`, `my_`.`__x`", f"{MEANT}`ts`]"),
        ("`b`.`ts`, `k`", f"{MEANT}`b`.`ts`, `k`]"),
        ("`t``s`, `__wall`", f"{MEANT}`t``s`]"),
    ],
)
def test_suggestions_are_the_users_columns(suggested: str, shown: str) -> None:
    end = ". SQLSTATE: 42703; line 1 pos 7"
    assert readable(f"{UNRESOLVED}{MEANT}{suggested}]{end}").startswith(f"{UNRESOLVED}{shown}{end}")
