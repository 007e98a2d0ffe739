"""Error rates of the gates as shipped, measured on simulated campaigns of which the truth is known.

    python -m benchmarks.error_rates [--draws 4000] [--only TEXT] [--seed 1]

Every draw is a campaign of its own and goes through the shipped views, from its cells to `gate_results`; before, a few
draws go through a runner, the ledger and Parquet files too, and must be judged alike to the letter. An error is a pass
(of harm: a fail) where the truth does not deserve one, counted over all draws: indeterminate is no pass. A rate beyond
its bound by more than three standard errors is marked with `!`, and the command then ends with exit code 1. Errors for
which no bound is promised are marked with `~`. `docs/reference/gates.md` holds the last whole run.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator

import numpy as np

from benchmarks.error_rates_designs import design_studies
from benchmarks.error_rates_real import checked_studies, differences
from benchmarks.error_rates_stage import Stage, Verdicts
from benchmarks.error_rates_studies import Rate, Study, mean_studies

_TOGETHER = 2_000_000
"""Values that are judged together, so that memory stays small."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4000, help="simulated campaigns of each study")
    parser.add_argument("--only", default="", help="studies whose name contains this")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if not asked.only:
        check()
    measured: list[tuple[Study, Verdicts]] = []
    for study in (*mean_studies(), *design_studies()):
        if asked.only in study.name:
            started = time.perf_counter()
            measured.append((study, measure(study, asked.draws, asked.seed)))
            print(f"{study.name}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    print("\n\n".join(tables(measured, asked.draws)))
    return int(any(exceeds(rate, verdicts) for study, verdicts in measured for rate in study.rates))


def check() -> None:
    """Judge a draw of each small study by the stage and by a real run; end where they differ.

    Raises:
        SystemExit: they do.
    """
    for study in checked_studies():
        found = differences(study, draws=1)
        if found:
            raise SystemExit(f"{study.name}: the stage and a real run differ, first in {found[0]}")
        print(f"{study.name}: judged alike by a real run", file=sys.stderr, flush=True)


def measure(study: Study, draws: int, seed: int) -> Verdicts:
    """Judge so many campaigns of a study, some at a time."""
    values = (1 + study.candidates) * study.cases * study.repeats * len(study.metrics)
    step = max(1, min(draws, _TOGETHER // values))
    total = Verdicts()
    with tempfile.TemporaryDirectory() as scratch:
        stage = Stage(study.metrics, study.policy, scratch)
        for first in range(0, draws, step):
            rng = np.random.default_rng([seed, zlib.crc32(study.name.encode()), first])
            total += stage.judge(study.draw(rng, min(step, draws - first)))
        stage.close()
    return total


def exceeds(rate: Rate, verdicts: Verdicts) -> bool:
    """Return whether a rate exceeds its bound by more than three standard errors of the simulation."""
    if rate.bound is None:
        return False
    chance = math.sqrt(rate.bound * (1 - rate.bound) / verdicts.campaigns)
    return verdicts.share(rate.gate.name, rate.event) > rate.bound + 3 * chance


def tables(measured: Iterable[tuple[Study, Verdicts]], draws: int) -> Iterator[str]:
    """Yield a table in Markdown for each heading: shapes and methods down, numbers of cases across."""
    found: dict[str, dict[tuple[str, str], dict[int, str]]] = {}
    for study, verdicts in measured:
        fewer = f" of {verdicts.campaigns}" if verdicts.campaigns < draws else ""
        for rate in study.rates:
            mark = " !" if exceeds(rate, verdicts) else " ~" if rate.is_error and rate.bound is None else ""
            row = found.setdefault(rate.table, {}).setdefault((rate.shape, rate.method), {})
            row[study.cases] = f"{100 * verdicts.share(rate.gate.name, rate.event):.1f} %{fewer}{mark}"
        for metric in study.complete_cases:
            share = verdicts.complete_cases.get(metric, 0) / verdicts.campaigns
            row = found.setdefault(study.rates[0].table, {}).setdefault(
                (study.rates[0].shape, "complete cases only"), {}
            )
            row[study.cases] = f"{100 * share:.1f} %{fewer} ~"
    for table, rows in found.items():
        sizes = sorted({cases for row in rows.values() for cases in row})
        lines = [
            f"### {table}",
            "",
            "| drawn | method | " + " | ".join(f"{cases} cases" for cases in sizes) + " |",
            "| --- | --- |" + " ---: |" * len(sizes),
            *(
                f"| {shape} | {method} | " + " | ".join(row.get(cases, "") for cases in sizes) + " |"
                for (shape, method), row in rows.items()
            ),
        ]
        yield "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
