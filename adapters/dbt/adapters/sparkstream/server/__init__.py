"""A local Spark server for development: SQL over Thrift and streams over Spark Connect, in one process.

server = Server(ServerConfig(folder=Path("scratch"), port=10001, connect_port=15003))
server.start()
...
server.stop()
"""

from dbt.adapters.sparkstream.server.config import ServerConfig
from dbt.adapters.sparkstream.server.failures import (
    PortInUse,
    ServerBusy,
    ServerDied,
    ServerError,
    StartTimedOut,
)
from dbt.adapters.sparkstream.server.server import Server, ServerStatus, Start
from dbt.adapters.sparkstream.server.state import Phase, ServerState

__all__ = [
    "Phase",
    "PortInUse",
    "Server",
    "ServerBusy",
    "ServerConfig",
    "ServerDied",
    "ServerError",
    "ServerState",
    "ServerStatus",
    "Start",
    "StartTimedOut",
]
