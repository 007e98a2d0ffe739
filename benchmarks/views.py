"""Comparisons over a sealed campaign: the view against a bare scan, a hand-written polars query and pandas, in one run.

    python benchmarks/views.py [--cells 10_000_000] [--folder FOLDER] [--pandas]

It generates a campaign of 100 candidates and five metrics in the sealed layout: measurements sorted by metric, case,
repeat and candidate, the baseline in a file of its own, the candidates in two, ids as text. One cell in a hundred
failed. The polars query computes what a careful author would from the same files: case means, then means over cases
and their standard errors; it checks neither the ledger nor the coverage. Every figure is a ratio within this run.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from opfield.warehouse.contract import arrow_schema, load_contract
from opfield.warehouse.install import install
from opfield.warehouse.views import load_views

CANDIDATES = 100
REPEATS = 10
METRICS = ("cost", "gain", "recall", "score", "tokens")
DIRECTIONS = {"cost": -1, "gain": 1, "recall": 1, "score": 1, "tokens": -1}
CAMPAIGN = "c" * 64
RUNS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=10_000_000, help="cells of the candidates")
    parser.add_argument("--folder", type=Path, help="keep the generated warehouse here, and reuse it")
    parser.add_argument("--pandas", action="store_true", help="time pandas too; needs about 10 GB at full size")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = asked.folder or Path(temporary)
        if not (root / "events").is_dir():
            generate(root, cases=asked.cells // (CANDIDATES * REPEATS))
        report(root, with_pandas=asked.pandas)


def generate(
    root: Path,
    cases: int,
    metrics: Mapping[str, Mapping[str, Any]] | None = None,
    policy: Mapping[str, Any] | None = None,
) -> None:
    """Write the warehouse of one sealed campaign.

    Args:
        root: empty folder.
        cases: cases of the workload, of which each candidate tries every one ten times.
        metrics: by metric, members of its definition that differ from an unbounded continuous one.
        policy: members of the policy that differ from coverage and a mean delta.
    """
    started = time.perf_counter()
    con = duckdb.connect(config={"threads": 2, "preserve_insertion_order": True})
    for table in load_contract():
        for folder in (root / table / "campaign=none", root / table / f"campaign={CAMPAIGN}"):
            folder.mkdir(parents=True)
        con.register("empty", arrow_schema(table).empty_table())
        con.execute(f"copy (from empty) to '{root / table / 'campaign=none' / 'empty.parquet'}' (format parquet)")
        con.unregister("empty")
    con.execute(f"set variable campaign_id = 'sha256:{CAMPAIGN}'")
    con.execute(
        "create macro candidate_name(ix) as 'sha256:' || sha256('candidate ' || ix); "
        "create macro case_name(ix) as 'case-' || format('{:06d}', ix); "
        "create macro noise(text) as (hash(text) % 1000003) / 1000003.0; "
        "create macro has_failed(ix, case_ix, repeat) as hash(ix, case_ix, repeat) % 100 = 0; "
    )

    def write(table: str, name: str, query: str) -> None:
        target = root / table / f"campaign={CAMPAIGN}" / name
        con.execute(f"copy ({query}) to '{target}' (format parquet, compression zstd)")

    names = [row[0] for row in con.execute(f"select candidate_name(i) from range(1, {CANDIDATES + 1}) t(i)").fetchall()]
    baseline = con.execute("select candidate_name(0)").fetchall()[0][0]
    definitions = [
        {
            "metric": name,
            "direction": DIRECTIONS[name],
            "unit": None,
            "lower": None,
            "upper": None,
            "kind": "continuous",
            "on_domain_failure": "missing",
            "evaluator": None,
            "description": None,
            **(metrics or {}).get(name, {}),
        }
        for name in METRICS
    ]
    payload = started_payload(baseline, names, cases, definitions, policy or {})
    con.execute("create table started (payload varchar)")
    con.execute("insert into started values (?)", [json.dumps(payload)])
    cells = cases * REPEATS * (CANDIDATES + 1)
    write(
        "events",
        "000000000001.parquet",
        "select getvariable('campaign_id') as campaign_id, 1::bigint as sequence, 'campaign.started' as type, "
        "1::integer as schema_version, timestamp '2026-01-01' as recorded_at, 1::bigint as fence, payload, "
        "'' as digest from started union all "
        "select getvariable('campaign_id'), 2 + i, 'trial.completed', 1, timestamp '2026-01-01', 1, '{}', '' "
        f"from range({cells}) t(i)",
    )
    write(
        "cases",
        "000000000001.parquet",
        "select getvariable('campaign_id') as campaign_id, 'workload' as workload_id, case_name(i) as case_id, "
        "'' as case_digest, i::integer as case_ix, map {'half': (i % 2)::varchar} as groups, "
        f"null::varchar as cluster_id, null::varchar as partition, '{{}}' as input from range({cases}) t(i)",
    )
    write(
        "candidates",
        "000000000001.parquet",
        "select getvariable('campaign_id') as campaign_id, candidate_name(i) as candidate_id, 'c' || i as label, "
        "i = 0 as is_baseline, null::varchar as optic, null::varchar as value, []::varchar[] as classes, "
        "[]::varchar[] as targets, []::varchar[] as closure, null::varchar as hypothesis, '{}' as spec, "
        f"'spec' || i as spec_digest from range({CANDIDATES + 1}) t(i)",
    )
    con.register("definitions", pl.DataFrame(definitions, infer_schema_length=None).with_row_index("metric_ix"))
    write(
        "metrics",
        "000000000001.parquet",
        "select getvariable('campaign_id') as campaign_id, metric, metric_ix::integer as metric_ix, "
        "direction::integer as direction, unit::varchar as unit, lower::double as lower, upper::double as upper, "
        "kind, on_domain_failure, evaluator::varchar as evaluator, description::varchar as description "
        "from definitions",
    )
    shares = {
        "sealed-baseline.parquet": ("range(1)", 0, cases),
        "sealed-1.parquet": (f"range(1, {CANDIDATES + 1})", 0, cases // 2),
        "sealed-2.parquet": (f"range(1, {CANDIDATES + 1})", cases // 2, cases),
    }
    values = {
        "cost": "round(noise(c || '/' || w || '/' || r || 'k') / 100, 6)",
        "gain": "exp(2 * noise(c || '/' || w || '/' || r || 'g') - 1) + 0.001 * c",
        "recall": "(hash(c, w, r, 1) % 2)::double",
        "score": "round(noise(c || '/' || w || '/' || r || 's'), 4)",
        "tokens": "(hash(c, w, r, 2) % 2000)::double",
    }
    for name, (candidate_range, first, last) in shares.items():
        coordinate = (
            "getvariable('campaign_id') as campaign_id, candidate_name(c) as candidate_id, "
            "if(c = 0, 'baseline', 'candidate') as arm, case_name(w) as case_id, r::integer as repeat"
        )
        status = "if(has_failed(c, w, r), 'infrastructure_failure', 'success')"
        grid = f"range({first}, {last}) cases(w), range({REPEATS}) repeats(r), {candidate_range} candidates(c)"
        write(
            "cells",
            name,
            f"select {coordinate}, {status} as status, "
            f"if(has_failed(c, w, r), 0, {len(METRICS)})::integer as measured, "
            "null::varchar as failure_code, null::varchar as failure_message, null::boolean as is_retryable, "
            "'0123456789abcdef' as seed, null::double as cost_usd, null::bigint as input_tokens, "
            "null::bigint as output_tokens, 1.5::double as duration_s, null::timestamp as started_at, "
            "null::timestamp as finished_at, null::varchar as artifact_id, 1::integer as attempts, 'w' as worker, "
            f"2 + (w * {REPEATS} + r) * {CANDIDATES + 1} + c as sequence from {grid} order by w, r, candidate_id",
        )
        per_metric = " union all ".join(
            f"select {coordinate}, '{metric}' as metric, {value} as value, null::varchar as missing_reason, "
            f"{status} as status from {grid} where not has_failed(c, w, r)"
            for metric, value in values.items()
        )
        write("measurements", name, f"from ({per_metric}) order by metric, case_id, repeat, candidate_id")
    print(f"generated {cells:,} cells × {len(METRICS)} metrics in {time.perf_counter() - started:.0f} s", flush=True)


def started_payload(
    baseline: str,
    candidates: list[str],
    cases: int,
    definitions: list[dict[str, Any]],
    policy: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the payload of campaign.started."""
    gates = [
        {"kind": "coverage", "name": "coverage", "metric": None, "threshold": None, "options": {}},
        {"kind": "mean_delta", "name": "mean_delta(gain)", "metric": "gain", "threshold": 0.0, "options": {}},
    ]
    return {
        "identity": {
            "name": "benchmark", "repeats": REPEATS, "space": "s", "proposer": "fixed", "workload": "w",
            "runner": {"id": "r", "version": "1"}, "metrics": definitions,
            "policy": {"gates": gates, "preference": "gain", "min_gain": 0.0, "sql": "p", **policy},
            "coupling": "common_seed", "baseline": "spec0", "seed_root": "0" * 16, "candidates": sorted(candidates),
        },
        "reproducibility": "seeded", "baseline_id": baseline, "baseline_artifact": "b", "workload_id": "workload",
        "workload_artifact": "w", "cases": cases, "policy_artifact": "p", "provenance": {},
    }  # fmt: skip


def with_polars(root: Path) -> pl.DataFrame:
    """Compare by hand: case means first, then means over cases and their standard errors."""
    folder = root / "measurements" / f"campaign={CAMPAIGN}"
    keys = ["metric", "case_id", "repeat"]
    usable = pl.col("status") == "success"
    baseline = pl.scan_parquet(folder / "sealed-baseline.parquet").filter(usable).select(*keys, base="value")
    direction = pl.col("metric").replace_strict(DIRECTIONS, return_dtype=pl.Float64)
    units = (
        pl.scan_parquet([folder / "sealed-1.parquet", folder / "sealed-2.parquet"])
        .filter(usable)
        .select("candidate_id", *keys, "value")
        .join(baseline, on=keys)
        .with_columns(delta=(pl.col("value") - pl.col("base")) * direction)
        .group_by("candidate_id", "metric", "case_id")
        .agg(
            pl.len().alias("pairs"),
            pl.col("base", "value", "delta").mean(),
            pl.col("delta").min().alias("min_delta"),
            pl.col("delta").max().alias("max_delta"),
        )
    )
    return (
        units.group_by("candidate_id", "metric")
        .agg(
            pl.col("pairs").sum(),
            pl.len().alias("cases"),
            pl.col("base").mean().alias("baseline_mean"),
            pl.col("value").mean().alias("candidate_mean"),
            pl.col("delta").mean().alias("mean_delta"),
            pl.col("min_delta").min(),
            pl.col("max_delta").max(),
            (pl.col("delta").std() / pl.len().sqrt()).alias("standard_error"),
        )
        .collect(engine="streaming")
        .sort("candidate_id", "metric")
    )


def by_pandas(root: Path) -> Any:
    """Compare by hand in pandas, ids as categories."""
    import pandas as pd

    folder = root / "measurements" / f"campaign={CAMPAIGN}"
    columns = ["candidate_id", "metric", "case_id", "repeat", "value", "status"]
    read = {
        name: pd.read_parquet(folder / f"sealed-{name}.parquet", columns=columns) for name in ("baseline", "1", "2")
    }
    for frame in read.values():
        frame.drop(frame.index[frame["status"] != "success"], inplace=True)
    keys = ["metric", "case_id", "repeat"]
    joined = pd.concat([read["1"], read["2"]]).merge(
        read["baseline"][[*keys, "value"]], on=keys, suffixes=("", "_base")
    )
    joined["delta"] = (joined["value"] - joined["value_base"]) * joined["metric"].map(DIRECTIONS)
    units = joined.groupby(["candidate_id", "metric", "case_id"], observed=True)["delta"].mean()
    return units.groupby(["candidate_id", "metric"], observed=True).agg(["mean", "sem", "size"])


def report(root: Path, *, with_pandas: bool) -> None:
    """Time every contender, check that the view and polars agree, and print ratios."""
    con = duckdb.connect(config={"threads": 2})
    con.execute(f"set variable root = '{root}'")
    install(con, load_views(), load_contract())
    con.execute(f"set variable campaign = '{CAMPAIGN}'")
    bare = timed(lambda: con.execute("select sum(value), count(repeat) from measurements").fetchall())
    hand = timed(lambda: pl_rows(root))
    found: dict[str, float] = {"bare scan of the values": bare, "polars, by hand": hand}
    for view in ("case_deltas", "comparisons", "coverage", "decisions", "strata"):
        query = f"select count(*) from {view}" if view == "case_deltas" else f"from {view}"
        found[f"view {view}"] = timed(partial(fetched, con, query))
    if with_pandas:
        found["pandas, by hand"] = timed(lambda: by_pandas(root), runs=1)
    check_agreement(con, root)
    print(f"{'':28}{'seconds':>9}{'× bare':>9}{'× polars':>10}")
    for name, seconds in found.items():
        print(f"{name:28}{seconds:9.3f}{seconds / bare:9.1f}{seconds / hand:10.2f}")


def fetched(con: duckdb.DuckDBPyConnection, query: str) -> int:
    return len(con.execute(query).fetchall())


def pl_rows(root: Path) -> int:
    return with_polars(root).height


def timed(action: Callable[[], object], runs: int = RUNS) -> float:
    """Return the least of several times, in seconds."""
    best = float("inf")
    for _ in range(runs):
        started = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - started)
    return best


def check_agreement(con: duckdb.DuckDBPyConnection, root: Path) -> None:
    """Refuse to print times of two queries that differ."""
    by_hand = with_polars(root)
    names = ", ".join(by_hand.columns)
    viewed = con.sql(f"select {names} from comparisons order by candidate_id, metric").pl()
    for column in by_hand.columns:
        left, right = by_hand[column], viewed[column]
        same = (
            (left == right).all()
            if left.dtype != pl.Float64
            else ((left - right).abs() <= 1e-9 * (1 + left.abs())).all()
        )
        if not same:
            raise SystemExit(f"the view and polars differ in {column}")


if __name__ == "__main__":
    main()
