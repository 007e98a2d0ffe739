"""The scripts that draw charts: Vega, Vega-Lite and Vega-Embed as one text, from a package and never from a network."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache


def load_scripts() -> Future[str]:
    """Start to load the scripts, which takes a second that reading can share."""
    pool = ThreadPoolExecutor(1)
    loaded = pool.submit(_scripts)
    pool.shutdown(wait=False)
    return loaded


@cache
def _scripts() -> str:
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    # Inside of a script element these would end it, or change how it is read.
    return bundle.replace("</script", "<\\/script").replace("<!--", "\\x3c!--")
