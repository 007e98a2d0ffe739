"""The dashboard: its first view of a thousand campaigns, how late a new cell shows, and what it costs when idle.

    python -m benchmarks.dashboard [--campaigns 1000] [--views 5] [--cells 20] [--idle-s 20]

The peer is marimo itself with a notebook of one line: what any page of that framework takes until it shows its text. A
first view is timed in a browser that knows nothing yet (an empty cache), from asking for the printed URL until the list
of campaigns is visible, and by the browser's own first contentful paint. A cell is timed from the moment at which its
segment was published until the page shows it, in a campaign whose trials take some 0.7 s, run by a process of its own.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import duckdb
import psutil
from playwright.sync_api import Browser, sync_playwright

import opfield as of
from opfield.warehouse.store import create_store
from tests.browser import CHROMIUM
from tests.dashboard.serving import Served, command, serving
from tests.sql.build import Campaign, Metric, Trial, record_files, write_campaign

FIRST_VIEW_GOAL_S = 1.0
CELL_GOAL_S = 2.0
TRIAL_S = 0.7

_BARE = """
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    mo.Html("<main>bare</main>")
    return
"""


def slowly(trial: of.TrialRequest) -> Mapping[str, float]:
    time.sleep(TRIAL_S)
    return {"score": trial.spec["gain"] * trial.case["weight"]}


campaign = of.declare(
    "slowly",
    baseline={"gain": 1},
    candidates={"more": {"gain": 2}, "less": {"gain": 0}},
    cases={f"case-{ix}": {"weight": ix} for ix in range(20)},
    run=slowly,
    metrics=[of.Metric("score", lower=-100, upper=100)],
    policy=of.Policy([of.coverage(), of.failures(), of.mean_delta("score", at_least=0)], prefer="score"),
)


def write(root: Path, campaigns: int) -> None:
    """Write so many campaigns of 15 cells, one in ten of them unfinished."""
    create_store(root)
    cases: dict[str, dict[str, str]] = {f"case-{ix}": {} for ix in range(5)}
    with duckdb.connect() as con:
        for ix in range(campaigns):
            trials = [
                Trial(candidate, case, values={"score": float((ix + len(candidate)) % 7)}, duration_s=0.5)
                for candidate in ("base", "c1", "c2")
                for case in cases
            ]
            is_open = ix % 10 == 0
            declared = Campaign(
                cases=cases,
                metrics=[Metric("score", lower=-10, upper=10)],
                candidates=["c1", "c2"],
                trials=trials[: 8 if is_open else None],
                name=f"campaign {ix:04d}",
                gates=[{"kind": "coverage"}],
                preference="score",
                ending=None if is_open else {"outcome": "kept_baseline", "selected_id": None},
            )
            record_files(root, write_campaign(con, root, declared))


def first_views(browser: Browser, url: str, text: str, live: str | None, views: int) -> dict[str, list[float]]:
    """Return seconds until a text is visible, until the first paint, and until the live page stands."""
    found: dict[str, list[float]] = {"visible": [], "painted": [], "live": []}
    for _ in range(views):
        context = browser.new_context()
        page = context.new_page()
        started = time.perf_counter()
        page.goto(url, wait_until="commit")
        page.locator(text).first.wait_for()
        found["visible"].append(time.perf_counter() - started)
        if live is not None:
            page.locator(live).first.wait_for()
            found["live"].append(time.perf_counter() - started)
        page.wait_for_timeout(300)
        painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        found["painted"].append(painted / 1000)
        context.close()
    return found


def idle(browser: Browser, served: Served, idle_s: float) -> tuple[float, float]:
    """Return the share of one core that the server takes while a page watches it, and its memory in MB."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(served.url)
    page.locator("html.op-is-live").wait_for()
    page.wait_for_timeout(2000)
    process = psutil.Process(served.process.pid)
    before = process.cpu_times()
    page.wait_for_timeout(idle_s * 1000)
    after = process.cpu_times()
    context.close()
    spent = after.user + after.system - before.user - before.system
    return spent / idle_s, process.memory_info().rss / 1e6


def cell_delays(browser: Browser, root: Path, cells: int) -> list[float]:
    """Return seconds from the acceptance of each cell of a running campaign until the page shows it."""
    running = command("run", "benchmarks.dashboard:campaign", "--warehouse", str(root), "--executor", "inline")
    try:
        while not list(root.glob("cells/campaign=*/*[1-9].parquet")):
            time.sleep(0.1)
        with serving(root) as served:
            page = browser.new_page()
            page.goto(f"{served.url}&campaign=slowly")
            page.locator("html.op-is-live").wait_for()
            page.evaluate(_WATCH)
            began = time.time()
            accepted: dict[int, float] = {}
            while len(accepted) < cells and running.poll() is None:
                page.wait_for_timeout(100)
                for path in root.glob("events/campaign=*/*.parquet"):
                    when = path.stat().st_mtime
                    if path.stem.isdigit() and when > began:
                        accepted.setdefault(int(path.stem), when)
            page.wait_for_timeout(3000)
            shown: dict[str, float] = page.evaluate("shownCells")
            page.close()
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    return [shown.get(str(sequence), time.time()) - when for sequence, when in sorted(accepted.items())]


_WATCH = """() => {
    window.shownCells = {};
    const look = () => {
        for (const each of document.querySelectorAll("#root tr[data-sequence]"))
            shownCells[each.dataset.sequence] ??= Date.now() / 1000;
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, attributes: true });
    look();
}"""


@contextmanager
def bare_marimo(folder: Path, port: int = 2719) -> Iterator[str]:
    """Serve a notebook of one line by marimo's own command."""
    notebook = folder / "bare.py"
    notebook.write_text(_BARE)
    process = subprocess.Popen(
        [sys.executable, "-m", "marimo", "run", str(notebook), "--headless", "--no-token", "--port", str(port)],
        env={**os.environ, "MARIMO_SKIP_UPDATE_CHECK": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}/"
    try:
        for _ in range(200):
            try:
                urllib.request.urlopen(url, timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--campaigns", type=int, default=1000)
    parser.add_argument("--views", type=int, default=5)
    parser.add_argument("--cells", type=int, default=20)
    parser.add_argument("--idle-s", type=float, default=20.0)
    asked = parser.parse_args()
    if CHROMIUM is None:
        sys.exit("Chromium, which shows the pages, is not installed")
    folder = Path(tempfile.mkdtemp(prefix="opfield-dashboard-"))
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
            measure(browser, folder, asked)
            browser.close()
    finally:
        shutil.rmtree(folder)


def measure(browser: Browser, folder: Path, asked: argparse.Namespace) -> None:
    """Measure everything and print it."""
    root = folder / "thousand"
    write(root, asked.campaigns)
    started = time.perf_counter()
    with serving(root) as served:
        print(f"from the command to its URL, {asked.campaigns:,} campaigns: {time.perf_counter() - started:.2f} s")
        seen = first_views(browser, served.url, ".op tbody tr", "html.op-is-live", asked.views)
        share, memory = idle(browser, served, asked.idle_s)
    with bare_marimo(folder) as url:
        peer = first_views(browser, url, "main", None, asked.views)
    middle = {name: statistics.median(values) for name, values in seen.items()}
    bare = statistics.median(peer["visible"])
    print(
        f"first view: visible {middle['visible']:.2f} s, painted {middle['painted']:.2f} s (goal: below "
        f"{FIRST_VIEW_GOAL_S:g} s: {_said(middle['visible'] < FIRST_VIEW_GOAL_S)}); live {middle['live']:.2f} s\n"
        f"bare marimo, one line: {bare:.2f} s; the first view takes {middle['visible'] / bare:.2f}× of that, "
        f"the live page {middle['live'] / bare:.2f}×"
    )
    print(f"idle, one page watching: {100 * share:.1f} % of one core, {memory:.0f} MB")
    delays = sorted(cell_delays(browser, folder / "running", asked.cells))
    print(
        f"a new cell shows after {statistics.median(delays):.2f} s, the slowest of {len(delays)} after "
        f"{delays[-1]:.2f} s (goal: within {CELL_GOAL_S:g} s: {_said(delays[-1] < CELL_GOAL_S)})"
    )


def _said(is_met: bool) -> str:
    return "met" if is_met else "MISSED"


if __name__ == "__main__":
    main()
