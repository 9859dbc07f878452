"""Runs Flink SQL for the benchmark: a Python that has apache-flink runs this file, with `batch` or `streaming`.

Reads a line of JSON for each statement, and answers with the seconds that it took, or with what Flink says is wrong.
"""

from __future__ import annotations

import json
import sys
import time

from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]


def main() -> None:
    """Serves until the input ends."""
    settings = EnvironmentSettings.new_instance()
    mode = settings.in_streaming_mode() if sys.argv[1] == "streaming" else settings.in_batch_mode()
    environment = TableEnvironment.create(mode.build())
    for name, value in json.loads(sys.stdin.readline()).items():
        environment.get_config().set(name, value)
    for line in sys.stdin:
        start = time.perf_counter()
        try:
            environment.execute_sql(json.loads(line)).wait()
            answer: dict[str, object] = {"seconds": time.perf_counter() - start}
        except Exception as error:
            causes = [line for line in str(error).splitlines() if line.startswith("Caused by: ")]
            answer = {"error": causes[-1] if causes else str(error)[:2000]}
        print("answer " + json.dumps(answer), flush=True)


main()
