"""Network namespaces in the place of machines, each with a loopback and an address of its own, and a switch between."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

NETWORK = "10.231.77"
"""What the addresses begin with; nothing outside of the namespaces sees them."""


class Network:
    """The namespaces.

    Args:
        names: of the machines.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._addresses = {name: f"{NETWORK}.{number}" for number, name in enumerate(names, start=1)}
        _ip("netns", "add", _space("switch"))
        _ip("-n", _space("switch"), "link", "add", "br0", "type", "bridge")
        _ip("-n", _space("switch"), "link", "set", "br0", "up")
        for name, address in self._addresses.items():
            here, port = _space(name), f"to-{name}"
            _ip("netns", "add", here)
            ends = ("link", "add", "eth0", "netns", here, "type", "veth", "peer", "name", port)
            _ip(*ends, "netns", _space("switch"))
            _ip("-n", _space("switch"), "link", "set", "dev", port, "master", "br0", "up")
            _ip("-n", here, "address", "add", f"{address}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                _ip("-n", here, "link", "set", "dev", device, "up")

    def address(self, name: str) -> str:
        """The address of a machine."""
        return self._addresses[name]

    def within(self, name: str) -> list[str]:
        """The command that runs another one, which comes behind it, on a machine."""
        return ["ip", "netns", "exec", _space(name)]

    def unplug(self, name: str) -> None:
        """Pulls a machine's cable: nothing comes to it or from it any more, and nobody is told."""
        _ip("-n", _space("switch"), "link", "set", "dev", f"to-{name}", "down")


def _space(name: str) -> str:
    return f"sparkstream-{os.getpid()}-{name}"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def reason_to_skip() -> str | None:
    """Why no namespaces can be made here; None where they can."""
    if shutil.which("ip") is None:
        return "the program ip is not here (iproute2)"
    if os.geteuid():
        return "only root can make network namespaces"
    tried = _space("trial")
    made = subprocess.run(["ip", "netns", "add", tried], capture_output=True, text=True)
    subprocess.run(["ip", "netns", "delete", tried], capture_output=True)
    return f"network namespaces can't be made here: {made.stderr.strip()}" if made.returncode else None


@contextmanager
def network(*names: str) -> Iterator[Network]:
    """Machines with these names; in the end they go, whatever happens."""
    try:
        yield Network(names)
    finally:
        for name in ("switch", *names):
            subprocess.run(["ip", "netns", "delete", _space(name)], capture_output=True)
