"""Native engines: the settings that Spark gets, and what is refused; no Spark is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.cli import main
from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.server import ServerConfig, ServerError, launch
from dbt.adapters.sparkstream.spark.accelerators import DEFAULTS, EXAMPLE, PLUGIN, accelerated

JAR = "comet-spark-spark4.1_2.13-1.2.0.jar"
PACKAGE = {"spark.jars.packages": f"io.delta:delta-spark_4.1_2.13:4.4.0, {EXAMPLE}"}
SHUFFLE, OFF_HEAP = "spark.shuffle.manager", "spark.memory.offHeap"


@pytest.fixture
def spark(tmp_path: Path) -> Path:
    """The folder of a Spark 4.1."""
    jar = tmp_path / "spark" / "jars" / "spark-core_2.13-4.1.3.jar"
    jar.parent.mkdir(parents=True)
    jar.touch()
    return tmp_path / "spark"


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    (tmp_path / JAR).touch()
    return tmp_path / JAR


def test_what_is_added(spark: Path) -> None:
    assert accelerated(PACKAGE, spark) == {
        "spark.plugins": "org.apache.spark.CometPlugin",
        SHUFFLE: "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager",
        f"{OFF_HEAP}.enabled": "true",
        f"{OFF_HEAP}.size": "1g",
    }


def test_settings_of_the_user_stay(spark: Path) -> None:
    given = {**PACKAGE, "spark.plugins": "a.B, c.D", SHUFFLE: "sort", f"{OFF_HEAP}.size": "3GB"}
    assert accelerated(given, spark) == {
        "spark.plugins": "a.B,c.D,org.apache.spark.CometPlugin",
        f"{OFF_HEAP}.enabled": "true",
    }
    again = accelerated({**given, "spark.plugins": PLUGIN}, spark)
    assert again["spark.plugins"] == PLUGIN


def test_ways_to_a_jar(spark: Path, jar: Path) -> None:
    for value in (f"/nowhere.jar, {jar}", f"{jar.parent}/*.jar", f"file:{jar}", f"s3a://lake/{JAR}"):
        assert accelerated({"spark.jars": value}, spark)
    assert accelerated({"spark.driver.extraClassPath": f"/a:{jar}"}, spark)
    jar.rename(spark / "jars" / JAR)
    assert accelerated({}, spark)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "needs Comet's jar, and no setting names one that is there\n  write spark.jars: PATH"),
        ({"spark.jars": f"/nowhere/{JAR}"}, "no setting names one that is there"),
        ({"spark.jars.packages": "io.delta:delta-spark_4.1_2.13:4.4.0"}, "no setting names one that is there"),
        (
            {"spark.jars.packages": EXAMPLE.replace("4.1", "4.0")},
            "comet-spark-spark4.0_2.13 is built for Spark 4.0, and this is Spark 4.1.3\n",
        ),
        ({**PACKAGE, f"{OFF_HEAP}.enabled": "False"}, f"take out {OFF_HEAP}.enabled: False"),
        ({**PACKAGE, f"{OFF_HEAP}.size": "255m"}, f"{OFF_HEAP}.size is 255m, and Comet needs 256m at least\n"),
        ({**PACKAGE, f"{OFF_HEAP}.size": "1048576"}, f"{OFF_HEAP}.size is 1048576, and Comet needs 256m"),
        ({**PACKAGE, f"{OFF_HEAP}.size": "much"}, f"{OFF_HEAP}.size is much, and Comet needs 256m"),
    ],
)
def test_what_is_refused(spark: Path, given: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError) as refused:
        accelerated(given, spark)
    assert message in str(refused.value)


def profile(**more: Any) -> SparkStreamCredentials:
    data = SparkStreamCredentials.translate_aliases({"method": "session", "schema": "shop", **more})
    SparkStreamCredentials.validate(data)
    return SparkStreamCredentials.from_dict(data)


def test_a_profile() -> None:
    assert profile(accelerator="comet").accelerator == "comet"
    assert dict(profile(accelerator="comet").connection_info())["accelerator"] == "comet"
    assert "accelerator" not in dict(profile().connection_info())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"accelerator": "Commet"}, "accelerator can't be 'Commet'\n  did you mean comet?"),
        ({"accelerator": "velox"}, "accelerator can't be 'velox'\n  write comet, or leave it out"),
        ({"accelerator": "comet", "method": "thrift", "host": "h"}, "sparkstream server start --accelerator comet"),
        ({"accelerator": "comet", "method": "connect", "host": "h"}, "accelerator: comet is for method: session"),
    ],
)
def test_a_profile_that_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(DbtRuntimeError) as refused:
        profile(**values)
    assert message in refused.value.msg


def test_a_server(tmp_path: Path, spark: Path, jar: Path) -> None:
    config = ServerConfig(folder=tmp_path, accelerator="comet", conf={"spark.jars": str(jar), "spark.plugins": "a.B"})
    settings = launch.settings(config, "t", launch.Spark(spark, "4.1.3"))
    assert settings["spark.plugins"] == f"{launch.CONNECT_PLUGIN},a.B,{PLUGIN}"
    assert settings[SHUFFLE] == DEFAULTS[SHUFFLE]
    with pytest.raises(ServerError, match="--jars PATH"):
        launch.Spark(spark, "4.1.3").accelerated(ServerConfig(folder=tmp_path, accelerator="comet"), {})
    with pytest.raises(ServerError, match="did you mean comet"):
        ServerConfig(folder=tmp_path, accelerator="Comet")


def test_a_server_is_started_with_one_that_there_is() -> None:
    result = CliRunner().invoke(main, ["server", "start", "--accelerator", "velox"])
    assert result.exit_code == 2
    assert "'velox' is not 'comet'" in result.output
