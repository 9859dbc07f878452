"""Errors of the local server. Messages are complete: they are printed as they are."""

from __future__ import annotations

from dbt.adapters.sparkstream.secrecy.redaction import redacted


class ServerError(RuntimeError):
    """The server can't do what was asked; the message says why and what to do."""

    def __init__(self, text: str) -> None:
        super().__init__(redacted(text))


class PortInUse(ServerError):
    """Another process listens on a port that the server needs."""


class ServerBusy(ServerError):
    """The server is being started or stopped by another process, or doesn't answer."""


class ServerDied(ServerError):
    """The server's process ended by itself."""


class StartTimedOut(ServerError):
    """The server was not ready in time and was stopped again."""
