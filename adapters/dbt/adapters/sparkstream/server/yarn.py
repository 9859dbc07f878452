"""YARN as the cluster of a server: its settings lie in files, which say where its ResourceManager is."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from dbt.adapters.sparkstream.server.failures import ServerError

MASTER = "yarn"

FOLDERS = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
"""Variables of the environment that name a folder of settings, the first before the second."""

VARIABLES = (*FOLDERS, "HADOOP_USER_NAME")
"""Environment variables that Spark reads: the folders of settings, and the user's name."""

_FILE = "yarn-site.xml"
_PORT = 8032
_MANAGER = "yarn.resourcemanager"


def managers(conf: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> list[tuple[str, int]]:
    """Host and port of each ResourceManager: several if some are on standby.

    Args:
        conf: Spark settings, whose `spark.hadoop.yarn...` win over the settings in the files.
        environ: the environment that names the folders.

    Raises:
        ServerError: no file of settings is found, or the settings have no address.
    """
    place, settings = _settings(environ)
    settings |= {
        key.removeprefix("spark.hadoop."): value for key, value in conf.items() if key.startswith("spark.hadoop.")
    }
    ids = [name.strip() for name in settings.get(f"{_MANAGER}.ha.rm-ids", "").split(",") if name.strip()]
    found = [_address(settings, f".{name}") for name in ids] or [_address(settings, "")]
    addresses = [address for address in found if address is not None]
    if not addresses:
        raise ServerError(
            f"{place} doesn't say where YARN's ResourceManager is\n"
            f"  it needs {_MANAGER}.hostname, or {_MANAGER}.address with a port: take the file from the cluster"
        )
    return addresses


def _settings(environ: Mapping[str, str]) -> tuple[Path, dict[str, str]]:
    """The first of YARN's files that exists, and its settings."""
    folders = [Path(environ[name]) for name in FOLDERS if environ.get(name)]
    if not folders:
        raise ServerError(
            "--master yarn needs the cluster's settings, and HADOOP_CONF_DIR is not set\n"
            f"  it names a folder with the cluster's {_FILE} and core-site.xml: export HADOOP_CONF_DIR=/etc/hadoop/conf"
        )
    for folder in folders:
        if (folder / _FILE).is_file():
            return folder / _FILE, _read(folder / _FILE)
    raise ServerError(
        f"there is no {_FILE} in {' or '.join(map(str, folders))}, which HADOOP_CONF_DIR or YARN_CONF_DIR names\n"
        "  take it and core-site.xml from the cluster"
    )


def _read(path: Path) -> dict[str, str]:
    try:
        root = ElementTree.parse(path).getroot()  # noqa: S314 - the cluster's own file
    except (OSError, ElementTree.ParseError) as error:
        raise ServerError(f"can't read {path}: {error}") from error
    pairs = ((one.findtext("name", "").strip(), one.findtext("value", "").strip()) for one in root.iter("property"))
    return {name: value for name, value in pairs if name}


def _address(settings: Mapping[str, str], which: str) -> tuple[str, int] | None:
    host = _value(settings, f"{_MANAGER}.hostname{which}")
    address = _value(settings, f"{_MANAGER}.address{which}") or (host and f"{host}:{_PORT}")
    named = re.fullmatch(r"(.+):(\d+)", address)
    if named and int(named[2]) <= 65535:
        return named[1].strip("[]"), int(named[2])
    return (address, _PORT) if address and not named else None


def _value(settings: Mapping[str, str], name: str) -> str:
    """A setting, with other settings in place of `${...}`, as deep as Hadoop looks."""
    value = settings.get(name, "")
    for _ in range(20):
        filled = re.sub(r"\$\{([^{}]+)\}", lambda found: settings.get(found[1], found[0]), value)
        if filled == value:
            break
        value = filled
    return value
