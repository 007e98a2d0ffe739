"""The view `pareto` over many candidates, against moocore where it is installed, in one run.

    python benchmarks/pareto.py [--points 100_000] [--metrics 3]

Both are given points in memory. Uniform points have a small front; anti-correlated ones lie about a plane or a sphere
and have a large one. The fronts must be equal, else nothing is printed.
"""

from __future__ import annotations

import argparse
import time

import duckdb
import numpy as np
import pyarrow as pa

from opfield.warehouse.views import load_views

DIMENSIONS = 8
RUNS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--metrics", type=int, default=3, choices=range(2, DIMENSIONS + 1))
    asked = parser.parse_args()
    con = duckdb.connect(config={"threads": 2})
    relations = load_views().relations
    con.execute(relations["dominates"].sql)
    print(f"{'':22}{'front':>8}{'view, s':>10}{'moocore, s':>12}{'ratio':>8}")
    for name, points in drawn(asked.points, asked.metrics).items():
        filled = [points[:, ix] if ix < asked.metrics else np.zeros(len(points)) for ix in range(DIMENSIONS)]
        table = pa.table(
            {
                "campaign_id": ["sha256:" + "c" * 64] * len(points),
                "candidate_id": [f"sha256:{ix:064d}" for ix in range(len(points))],
                **{f"m{ix}": values for ix, values in enumerate(filled)},
            }
        )
        con.register("drawn", table)
        con.execute("create or replace table pareto_points as from drawn")
        con.execute(f"create or replace view pareto as {relations['pareto'].sql}")
        seconds = min(timed(con) for _ in range(RUNS))
        query = "select candidate_id from pareto where is_front order by candidate_id"
        front = [int(row[0].removeprefix("sha256:")) for row in con.execute(query).fetchall()]
        peer = with_moocore(points, front)
        told = f"{peer:12.3f}{seconds / peer:8.1f}" if peer else f"{'absent':>12}"
        print(f"{name:22}{len(front):8}{seconds:10.3f}{told}")


def drawn(count: int, metrics: int) -> dict[str, np.ndarray]:
    """Return points in several shapes, more being better."""
    generator = np.random.default_rng(20261130)
    plane = generator.dirichlet(np.ones(metrics), count) + generator.normal(scale=0.01, size=(count, 1))
    sphere = np.abs(generator.normal(size=(count, metrics)))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    sphere *= 1 - 0.05 * generator.random((count, 1))
    return {
        "uniform": generator.random((count, metrics)),
        "correlated": generator.random((count, 1)) + 0.1 * generator.random((count, metrics)),
        "anti-correlated plane": plane,
        "anti-correlated sphere": sphere,
    }


def timed(con: duckdb.DuckDBPyConnection) -> float:
    started = time.perf_counter()
    con.execute("select count(*) filter (is_front) from pareto").fetchall()
    return time.perf_counter() - started


def with_moocore(points: np.ndarray, front: list[int]) -> float | None:
    """Return moocore's time in seconds, None where it is absent; refuse a front that differs."""
    try:
        import moocore
    except ImportError:
        return None
    started = time.perf_counter()
    is_front = moocore.is_nondominated(points, maximise=True, keep_weakly=True)
    seconds = time.perf_counter() - started
    if list(np.flatnonzero(is_front)) != front:
        raise SystemExit("the view and moocore differ")
    return seconds


if __name__ == "__main__":
    main()
