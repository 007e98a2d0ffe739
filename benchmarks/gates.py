"""All gates over a sealed campaign: the views against a bare scan and the same gates by hand in polars and SciPy.

    python -m benchmarks.gates [--cells 10_000_000] [--folder FOLDER]

The campaign is that of `benchmarks.views`, with declared ranges, so that the gaps of its failed cells are bounded. The
rival by hand computes what a careful author would from the same files: case means with every gap at its worst and at
its best, intervals, Holm's adjustment, betting bounds. It checks neither the ledger nor where two rows stand for one
cell. Both must give the same verdicts. Every figure is a ratio within this run.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import opfield as of
from benchmarks.gates_by_hand import verdicts_by_hand
from benchmarks.views import CAMPAIGN, CANDIDATES, REPEATS, generate, timed
from opfield.warehouse.session import connect_snapshot

METRICS: dict[str, dict[str, Any]] = {
    "cost": {"lower": 0.0, "upper": 0.01},
    "recall": {"lower": 0.0, "upper": 1.0, "kind": "binary"},
    "score": {"lower": 0.0, "upper": 1.0},
    "tokens": {"lower": 0.0, "upper": 2000.0, "kind": "count"},
}


def gates(cases: int) -> list[of.Gate]:
    """Return one gate of each kind that takes these metrics."""
    return [
        of.coverage(),
        of.failures(within="half"),
        of.budget(1e9, "duration_s"),
        of.mean_delta("score", -0.1),
        of.worst_delta("score", -1),
        of.candidate_mean("tokens", at_most=1500),
        of.superiority("score"),
        of.gate("superiority", "score", 0.0, name="bounded", method="bounded"),
        of.noninferiority("recall", 0.05, within="half"),
        of.equivalence("cost", 0.002),
        of.harm("tokens", 10),
        of.family("score", -0.01),
        of.reliability("recall", 0.05, 3),
        of.resource_ratio("duration_s", 1.1),
        of.sequential("score", looks=(cases // 4, cases // 2, cases)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=10_000_000, help="cells of the candidates")
    parser.add_argument("--folder", type=Path, help="keep the generated warehouse here, and reuse it")
    asked = parser.parse_args()
    cases = asked.cells // (CANDIDATES * REPEATS)
    policy = of.Policy(gates(cases), prefer="score")
    with tempfile.TemporaryDirectory() as temporary:
        root = asked.folder or Path(temporary)
        if not (root / "events").is_dir():
            generate(root, cases, METRICS, policy.as_json("sha256:0"))
        report(root, policy)


def report(root: Path, policy: of.Policy) -> None:
    """Time every contender once warm, check that both give the same verdicts, and print ratios."""
    campaign_id = f"sha256:{CAMPAIGN}"
    found: dict[str, list[tuple[Any, ...]]] = {}

    def bare() -> None:
        with connect_snapshot(root, campaign_id, []) as con:
            con.execute("select sum(value), count(repeat) from measurements").fetchall()

    def by_views() -> None:
        with connect_snapshot(root, campaign_id, ["gate_results", "decisions"]) as con:
            query = "select candidate_id, name, status from gate_results order by all"
            found["views"] = con.execute(query).fetchall()

    def by_hand() -> None:
        found["hand"] = sorted(verdicts_by_hand(root / "{table}" / f"campaign={CAMPAIGN}", policy, METRICS))

    times = {
        "bare scan of the values": timed(bare),
        "all gates, by the views": timed(by_views, runs=1),
        "all gates, in polars and SciPy": timed(by_hand, runs=1),
    }
    if found["views"] != found["hand"]:
        differing = set(found["views"]) ^ set(found["hand"])
        raise SystemExit(f"the verdicts differ: {sorted(differing)[:10]}")
    scan, hand = times["bare scan of the values"], times["all gates, in polars and SciPy"]
    print(f"{len(found['views'])} verdicts, equal both ways")
    print(f"{'':34}{'seconds':>9}{'× bare':>9}{'× by hand':>11}")
    for name, seconds in times.items():
        print(f"{name:34}{seconds:9.2f}{seconds / scan:9.1f}{seconds / hand:11.2f}")


if __name__ == "__main__":
    main()
