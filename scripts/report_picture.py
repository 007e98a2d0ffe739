"""The README's picture: the top of the report of the demo, as Chromium shows it.

    python -m scripts.report_picture WAREHOUSE docs/report.png

WAREHOUSE holds what `opfield run rag` made.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from opfield.cli.app import invoke
from tests.browser import CHROMIUM


def main(warehouse: Path, picture: Path) -> None:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        page_file = Path(folder) / "report.html"
        if invoke(["report", "--warehouse", str(warehouse), "-o", str(page_file)]):
            raise SystemExit(1)
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 1000, "height": 1180}, offline=True).new_page()
        page.goto(page_file.as_uri())
        page.wait_for_selector("svg")
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
