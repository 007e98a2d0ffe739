"""The server: the notebook behind the door, on the loopback address alone."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from opfield.errors import OpfieldError

HOST: Final = "127.0.0.1"

#: Modules that the extra `dashboard` brings.
_NEEDED: Final = ("marimo", "starlette", "uvicorn")

#: Seconds that pages get to say goodbye when the server ends.
_GOODBYE_S: Final = 1

PAGE: Final = Path(__file__).with_name("page.py")
_FIRST: Final = Path(__file__).parent / "templates" / "first.html"


def check_extra() -> None:
    """Check that the extra is installed.

    Raises:
        OpfieldError: where it is not.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise OpfieldError(
            f"the dashboard needs {', '.join(missing)}, which the extra brings: pip install 'opfield[dashboard]'"
        )


def listen(port: int) -> socket.socket:
    """Return a socket that listens on the loopback address; on a free port where 0.

    Raises:
        OpfieldError: where the port is taken or not allowed.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        reason = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be listened on ({error.strerror})"
        raise OpfieldError(f"port {port} {reason}; name another with --port, or leave it out for a free one") from None
    return listening


def serve(root: Path, listening: socket.socket, told: Callable[[str], None]) -> None:
    """Serve the page until the process is interrupted.

    Args:
        root: warehouse folder, absolute.
        listening: socket, as `listen` gives it.
        told: is given the URL with its token, once the page can be asked for.
    """
    # The page is a notebook: it finds the warehouse as notebooks do.
    from opfield.warehouse.store import ENVIRONMENT

    os.environ[ENVIRONMENT] = str(root)
    os.environ.setdefault("MARIMO_SKIP_UPDATE_CHECK", "1")

    import marimo
    import uvicorn

    from opfield.dashboard.address import Address
    from opfield.dashboard.board import board
    from opfield.dashboard.door import TOKEN, Door
    from opfield.dashboard.render import as_html, style

    shown = board()
    first = _FIRST.read_text(encoding="utf-8")
    head = f"<style>{style()}</style>"

    def first_view(address: Address) -> str:
        return head + first.replace("{view}", as_html(shown.view(address)), 1)

    page = marimo.create_asgi_app(quiet=True, include_code=False, session_ttl=30, html_head=head)
    port = listening.getsockname()[1]
    door = Door(page.with_app(path="", root=str(PAGE)).build(), port, first_view)
    # What takes longest is done before anybody waits for it.
    first_view(Address())
    config = uvicorn.Config(
        door,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GOODBYE_S,
        lifespan="on",
    )
    try:
        told(f"http://{HOST}:{port}/?{TOKEN}={door.token}")
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        # Being interrupted is how it ends.
        return
    finally:
        listening.close()
