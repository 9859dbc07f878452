"""Last words of the server's log: the reason of its end."""

from __future__ import annotations

from pathlib import Path

from dbt.adapters.sparkstream.secrecy.redaction import redacted

_LINES = 12
_LAST_BYTES = 100_000

# Text in a log -> advice about the cause.
_HINTS = {
    "unresolved dependency: ": "a jar of spark.jars.packages can't be had: look at its name and version, and whether "
    "this machine reaches Maven Central, or the repository that spark.jars.repositories names",
    "XSDB6": "another process has the metastore of this folder open, such as an embedded Spark session; end it first",
    "Too small maximum heap": "choose a larger --memory",
    "must be at least 471859200": "Spark needs 512m at least; choose a larger --memory",
    "Could not reserve enough space": "the machine has less memory than that; choose a smaller --memory",
    "OutOfMemoryError": "the server had too little memory; choose a larger --memory",
    "All masters are unresponsive": "no master answered as one of Spark does: look at the port (that of the master, "
    "often 7077, and not its page's), and whether it is of the same version of Spark",
    "Master removed our application: FAILED": "no executor could stay: see the logs of the workers; each must reach "
    "this machine (spark.driver.host), and have Java and as much memory as spark.executor.memory says",
    "is above the max threshold": "YARN starts no container as large as that: take less with --conf "
    "spark.executor.memory=..., or raise yarn.scheduler.maximum-allocation-mb there",
    "Yarn application has already ended": "YARN has ended the application's own process: its nodes must reach this "
    "machine (spark.driver.host), and have Java; yarn logs -applicationId ... shows what it said",
    "Master removed our application": "the cluster has ended this server's application: see the master's page",
    "Address already in use": "another process took one of the ports; choose others with --port and --connect-port",
}


def explain(log: Path) -> str:
    """End of the log, with advice for known lines and the log's path."""
    try:
        with open(log, "rb") as file:
            file.seek(max(0, log.stat().st_size - _LAST_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError as error:
        return f"there is no log: {error}"
    # The frames of a stack trace say where in Spark, its other lines say what.
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("\t", "    at "))]
    shown = "\n".join(f"  {line[:300]}" for line in redacted("\n".join(lines[-_LINES:])).splitlines()) or "  (empty)"
    hints = [hint for sign, hint in _HINTS.items() if sign in text][:1]
    return "\n".join([f"the end of its log {log}:", shown, *hints])
