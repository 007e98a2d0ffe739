"""Reports: size and time of the page, for the demo's campaign and for one of a million cells.

    python -m benchmarks.report [--cells 1_000_000] [--folder FOLDER]

Times are those of the command, from its start to the written file, the least of three. Beside them stand, in the same
run, `opfield compare` of the same campaign, which prints the verdict alone, a bare scan of the values, and what a
careful author would plot by hand with polars and Altair: the comparisons of all candidates as a forest plot in a page
of its own, nothing verified and nothing else told.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import altair as alt
import duckdb
import polars as pl

import opfield as of
from benchmarks.gates import METRICS, gates
from benchmarks.views import CAMPAIGN, CANDIDATES, REPEATS, generate, timed, with_polars
from opfield.campaign.prepare import policy_digest
from opfield.warehouse.layout import SEALED, digests_folder, relative
from opfield.warehouse.ledger import event_digest
from opfield.warehouse.projection import digests_bytes, file_digest
from opfield.warehouse.store import create_store
from opfield.warehouse.views import installed_views

RUNS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=1_000_000, help="cells of the candidates")
    parser.add_argument("--folder", type=Path, help="keep the generated warehouses here, and reuse them")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        demo = folder / "demo"
        if not (demo / "events").is_dir():
            command("run", "rag", warehouse=demo)
        report("the demo", demo)
        large = folder / "large"
        if not (large / "events").is_dir():
            write_large(large, asked.cells)
        report(f"{asked.cells:,} cells", large, is_generated=True)


def write_large(root: Path, cells: int) -> None:
    """Write a campaign of many cells, its first event as a ledger would have it, so that the command can judge it."""
    cases = cells // (CANDIDATES * REPEATS)
    policy = of.Policy(gates(cases), prefer="score")
    kinds = {gate.kind for gate in policy.gates}
    generate(root, cases, METRICS, policy.as_json(policy_digest(installed_views().restricted(kinds), kinds)))
    file = root / "events" / f"campaign={CAMPAIGN}" / "000000000001.parquet"
    with duckdb.connect() as con:
        columns = "campaign_id, sequence, type, schema_version, recorded_at, fence, payload"
        (first,) = con.execute(f"select {columns} from '{file}' where sequence = 1").fetchall()
        con.execute("create table told as select ? as digest", [event_digest("", *first)])
        con.execute(
            f"create table events as select {columns}, if(sequence = 1, told.digest, events.digest) as digest "
            f"from '{file}' as events cross join told order by sequence"
        )
        con.execute(f"copy events to '{file}' (format parquet, compression zstd)")
    # Last, since the generator wants an empty folder: the marker, by which the command knows a warehouse, and what a
    # seal records of its files.
    create_store(root)
    files = sorted(root.glob(f"*/campaign={CAMPAIGN}/*.parquet"))
    folder = digests_folder(root, f"sha256:{CAMPAIGN}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SEALED).write_bytes(digests_bytes({relative(root, each): file_digest(each) for each in files}))


def report(name: str, root: Path, *, is_generated: bool = False) -> None:
    """Print size and times of one campaign's report, each beside its peers."""
    page = root.parent / f"{root.name}.html"
    found = {
        "opfield report": timed(partial(command, "report", "-o", page, warehouse=root), RUNS),
        "opfield report --format json": timed(partial(command, "report", "--format", "json", warehouse=root), RUNS),
        "opfield compare": timed(partial(command, "compare", warehouse=root), RUNS),
    }
    if is_generated:
        found["polars and Altair, by hand"] = timed(partial(by_hand, root), RUNS)
        found["bare scan of the values"] = timed(partial(bare_scan, root), RUNS)
    print(f"{name}: {page.stat().st_size / 1e6:.2f} MB")
    print(f"{'':34}{'seconds':>9}{'× report':>10}")
    for what, seconds in found.items():
        print(f"{what:34}{seconds:9.2f}{seconds / found['opfield report']:10.2f}")


def command(*words: Any, warehouse: Path) -> None:
    """Run the command in a process of its own; a verdict other than a selection is an answer too."""
    told = [sys.executable, "-m", "opfield", *map(str, words), "--warehouse", str(warehouse)]
    done = subprocess.run(told, capture_output=True, text=True, cwd=warehouse.parent, check=False)
    if done.returncode not in (0, 3, 4):
        raise SystemExit(done.stderr)


def by_hand(root: Path) -> None:
    """Plot the changes of all candidates with their intervals in a page of its own."""
    changes = with_polars(root).filter(metric="score")
    error = pl.col("standard_error") * 1.96
    rows = changes.with_columns(low=pl.col("mean_delta") - error, high=pl.col("mean_delta") + error).to_dicts()
    base = alt.Chart(alt.InlineData(values=rows)).encode(y="candidate_id:N")
    chart = base.mark_rule().encode(x="low:Q", x2="high:Q") + base.mark_point().encode(x="mean_delta:Q")
    chart.save(root.parent / "by-hand.html", inline=True)


def bare_scan(root: Path) -> None:
    files = root / "measurements" / f"campaign={CAMPAIGN}" / "*.parquet"
    with duckdb.connect() as con:
        con.execute(f"select sum(value), count(repeat) from '{files}'").fetchall()


if __name__ == "__main__":
    main()
