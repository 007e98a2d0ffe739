"""The scripts that draw charts: Vega, Vega-Lite and Vega-Embed as one text, from a package and never from a network.

Packing them takes longer than all the rest of a report, and gives the same text each time: it is kept in the user's
cache, under the version of the package that it comes from.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

_PACKAGE: Final = "vl-convert-python"
_SNIPPET: Final = "window.vegaEmbed = vegaEmbed;"


def load_scripts() -> Future[str]:
    """Start to load the scripts, which takes a second that reading can share where they are not kept yet."""
    pool = ThreadPoolExecutor(1)
    loaded = pool.submit(_scripts)
    pool.shutdown(wait=False)
    return loaded


@cache
def _scripts() -> str:
    file = _kept_file()
    kept = _kept(file)
    if kept is not None:
        return kept
    packed = _packed()
    _keep(file, packed)
    return packed


def _packed() -> str:
    import vl_convert

    bundle: str = vl_convert.javascript_bundle(_SNIPPET)
    # Inside of a script element these would end it, or change how it is read.
    return bundle.replace("</script", "<\\/script").replace("<!--", "\\x3c!--")


def _kept_file() -> Path:
    """Return where the scripts are kept: `$XDG_CACHE_HOME/opfield`, or `.cache/opfield` below the home."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(named) if os.path.isabs(named) else Path(os.path.expanduser("~"), ".cache")
    code = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
    return folder / "opfield" / f"scripts-{version(_PACKAGE)}-{code}.js"


def _kept(file: Path) -> str | None:
    """Return the scripts as a file keeps them; None where it does not, where it was altered, or is another user's."""
    try:
        if {file.stat().st_uid, file.parent.stat().st_uid} != {os.getuid()}:
            return None
        told, _, packed = file.read_bytes().partition(b"\n")
    except OSError:
        return None
    return packed.decode("utf-8") if told == _mark(packed) else None


def _keep(file: Path, packed: str) -> None:
    """Keep the scripts for the next report; where that cannot be, they are packed again."""
    content = packed.encode("utf-8")
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=".scripts-")
        try:
            with os.fdopen(handle, "wb") as temporary:
                temporary.write(_mark(content) + b"\n" + content)
            os.replace(name, file)
        except BaseException:
            os.unlink(name)
            raise


def _mark(content: bytes) -> bytes:
    return b"// " + hashlib.sha256(content).hexdigest().encode()
