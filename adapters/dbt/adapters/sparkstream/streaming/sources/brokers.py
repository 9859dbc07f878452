"""Brokers of Kafka that can't be reached: told before Spark asks them, which it does for minutes."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor

from dbt.adapters.sparkstream.streaming.refusals import NO_BROKER, StreamingError

PATIENCE = 5.0
"""Seconds in which a broker takes a connection."""


def check(servers: str, where: str) -> None:
    """Looks whether one of some brokers takes a connection from this machine, where Spark's driver is.

    Args:
        servers: as `kafka.bootstrap.servers` has them: `HOST:PORT,HOST:PORT`.
        where: where they are written, for words.

    Raises:
        StreamingError: none does, and why.
    """
    addresses = [address.strip() for address in servers.split(",") if address.strip()]
    if not addresses:
        return
    with ThreadPoolExecutor(len(addresses)) as pool:
        faults = list(pool.map(_fault, addresses))
    if all(faults):
        said = "; ".join(f"{address}: {fault}" for address, fault in zip(addresses, faults, strict=True))
        raise StreamingError(f"no broker of Kafka answers at {said}\n  {NO_BROKER}: {where}")


def _fault(address: str) -> str | None:
    """Why a broker takes no connection; None if it does."""
    host, _, port = address.rpartition("//")[2].rpartition(":")
    if not port.isdigit():
        return "this is no HOST:PORT"
    try:
        with socket.create_connection((host.strip("[]"), int(port)), PATIENCE):
            return None
    except socket.gaierror:
        return "no such host is known here"
    except TimeoutError:
        return f"no answer in {PATIENCE:g} seconds"
    except OSError as error:
        return (error.strerror or str(error)).lower()
