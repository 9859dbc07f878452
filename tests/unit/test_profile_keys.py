"""Keys and values of a profile: what is misspelt is said, with what was meant."""

from __future__ import annotations

from typing import Any

import pytest
from dbt_common.dataclass_schema import ValidationError
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.messages import profilekeys

PROFILE: dict[str, Any] = {"method": "session", "schema": "shop", "threads": 2}


def read(**more: Any) -> SparkStreamCredentials:
    data = SparkStreamCredentials.translate_aliases({**PROFILE, **more})
    SparkStreamCredentials.validate(data)
    return SparkStreamCredentials.from_dict(data)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        *(("optimise", "optimize"), ("Optimize", "optimize"), ("metod", "method"), ("connect-url", "connect_url")),
        *(
            ("server_side_parameter", "server_side_parameters"),
            ("databse", "database"),
            ("pasword", "password"),
            ("thread", "threads"),
        ),
    ],
)
def test_a_misspelt_key(key: str, meant: str) -> None:
    with pytest.raises(ValidationError) as error:
        read(**{key: "x"})
    assert f"there is no key {key!r}\n  did you mean {meant}?" in error.value.message


def test_a_key_that_nothing_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    warned: list[str] = []
    monkeypatch.setattr(profilekeys.logger, "warning", warned.append)
    read(warehouse="w")
    (message,) = warned
    assert message.startswith("nothing reads the key 'warehouse' of the profile; it has ")
    assert "optimize" in message


def test_keys_of_dbt_and_dbt_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profilekeys.logger, "warning", lambda message: pytest.fail(message))
    read(connect_retries=2, retry_all=True, connect_timeout=3, server_side_parameters={"a": "b"})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"optimize": "flase"}, "optimize can't be 'flase'\n  write a value of type boolean"),
        ({"method": "Sesion"}, "method can't be 'Sesion'\n  did you mean session?"),
        ({"method": "grpc"}, "method can't be 'grpc'\n  write one of thrift, http, odbc, session, connect"),
        ({"connect_url": 15002}, "connect_url can't be 15002\n  write a value of type string"),
        ({"server_side_parameters": "a=b"}, "server_side_parameters can't be 'a=b'\n  write a value of type object"),
    ],
)
def test_a_value_of_the_wrong_kind(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        read(**values)
    assert message in error.value.message


@pytest.mark.parametrize("key", ["max_windows", "max_partial_matches"])
def test_bounds_are_numbers_from_1_on(key: str) -> None:
    assert getattr(read(**{key: 5}), key) == 5
    with pytest.raises(DbtRuntimeError, match=f"{key} is a number from 1 on, and not 0"):
        read(**{key: 0})
