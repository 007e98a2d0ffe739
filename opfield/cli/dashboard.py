"""The command that shows a warehouse as a live page."""

from __future__ import annotations

import sys
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Final

import click

from opfield.cli.options import warehouse_option
from opfield.cli.render import out, say


@click.command("dashboard")
@warehouse_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on. [default: a free one]")
@click.option("--no-browser", is_flag=True, help="Do not open the page in a browser.")
@click.option("--code", is_flag=True, help="Print the page's code, a marimo notebook, as the start of your own.")
def dashboard_command(warehouse: Path | None, port: int, no_browser: bool, code: bool) -> int:
    """Show campaigns on a page that follows them while they run, until you press Ctrl-C.

    It listens on this machine alone, and asks for the token that stands in the URL which it prints. It reads only.
    Needs the extra: pip install 'opfield[dashboard]'.
    """
    from opfield.dashboard.server import PAGE, check_extra, listen, serve

    if code:
        sys.stdout.write(PAGE.read_text(encoding="utf-8"))
        return 0
    from opfield.warehouse.store import default_root, open_store

    check_extra()
    root = open_store(warehouse or default_root()).root
    listening = listen(port)

    def told(url: str) -> None:
        out().print(url, markup=False)
        sys.stdout.flush()
        say("listening on this machine alone; Ctrl-C ends it")
        if not no_browser and sys.stdout.isatty():
            with suppress(webbrowser.Error):
                webbrowser.open(url)

    serve(root, listening, told)
    return 0


COMMANDS: Final = (dashboard_command,)
