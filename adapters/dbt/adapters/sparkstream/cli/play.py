"""`sparkstream play`."""

from __future__ import annotations

import signal
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbt.adapters.sparkstream.cli.common import fail
from dbt.adapters.sparkstream.secrecy import private

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.play.runner import Runner


@click.command()
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port to listen on; a free one by default."
)
@click.option("--open/--no-open", "show", default=True, help="Open the page in a browser, which is the default.")
def play(port: int, show: bool) -> None:
    """Serve a page to try windows on: rows to edit, SQL in any dialect, until Ctrl-C.

    The page is for this machine alone, at an address with a token. Its SQL runs on a Spark in this process, which has
    the rows of the page and nothing else: no project is read, and nothing is written.
    """
    from dbt.adapters.sparkstream.play.runner import Runner
    from dbt.adapters.sparkstream.play.server import PlayServer
    from dbt.adapters.sparkstream.spark.java import JavaNotFound, find_java

    try:
        find_java()
    except JavaNotFound as error:
        fail(str(error))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the block below, and so removes its folder
    with tempfile.TemporaryDirectory(prefix="sparkstream-play-", ignore_cleanup_errors=True) as folder:
        runner = Runner(Path(folder))
        try:
            server = PlayServer(runner, port)
        except OSError as error:
            fail(f"can't listen on port {port}: {error.strerror}\n  name another one, or none: --port N")
        # Whoever looks at the page meanwhile needn't wait so long afterwards; a failure is said to the first query.
        starting = threading.Thread(target=_start, args=(runner,), name="sparkstream-play", daemon=True)
        starting.start()
        click.echo(f"The playground is at {server.url}\nCtrl-C ends it.")
        if show:
            # The address has the token, and everybody on the machine sees the browser's command line.
            page = Path(folder) / "open.html"
            private.write(page, f'<meta http-equiv="refresh" content="0; url={server.url}">\n')
            click.launch(str(page))
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo()
        finally:
            server.server_close()
            starting.join()  # else Java goes on writing into the folder that is removed
            runner.stop()


def _start(runner: Runner) -> None:
    with suppress(Exception):
        runner.start()
