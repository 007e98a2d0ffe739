"""The same draws through everything: a runner, the ledger, Parquet files and all views, to check the stage by."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import opfield as of
from benchmarks.error_rates_designs import family, missing, reliability, these_cases
from benchmarks.error_rates_stage import SEED_ROOT, Drawn, Stage
from benchmarks.error_rates_studies import Study, binary, means

_ASKED = (
    "select {campaign} as campaign, label, gate_results.name, status, message, value, threshold "
    "from gate_results inner join declared_candidates using (campaign_id, candidate_id) order by all"
)


def checked_studies() -> Iterator[Study]:
    """Yield small studies that together take every way from a cell to a verdict that the stage takes."""
    yield means(20, 1)
    yield binary(20)
    yield missing(24)
    yield family(20, candidates=3)
    yield reliability(20)
    yield these_cases(10, 3)


def staged(study: Study, drawn: Drawn) -> list[tuple[Any, ...]]:
    """Return the verdicts of the stage, by campaign, candidate and gate."""
    with tempfile.TemporaryDirectory() as scratch:
        stage = Stage(study.metrics, study.policy, scratch)
        stage.judge(drawn)
        found = stage.con.execute(_ASKED.format(campaign="gate_results.campaign_id")).fetchall()
        stage.close()
    return found


def run_for_real(study: Study, drawn: Drawn, folder: Path) -> list[tuple[Any, ...]]:
    """Return the verdicts of campaigns that a runner, the ledger and a warehouse made of the same draws."""
    found = []
    for draw in range(drawn.shape[0]):
        of.run(_campaign(study, drawn, draw), folder / str(draw), executor="inline")
        warehouse = of.open(folder / str(draw))
        found += [tuple(row.values()) for row in warehouse.rows(_ASKED.format(campaign=f"'d{draw:06d}'"))]
    return sorted(found, key=lambda row: row[:3])


def differences(study: Study, draws: int, seed: int = 1) -> list[tuple[Any, ...]]:
    """Return the verdicts, messages and numbers in which the stage and a real run of the same draws differ."""
    drawn = study.draw(np.random.default_rng(seed), draws)
    folder = Path(tempfile.mkdtemp())
    try:
        real = run_for_real(study, drawn, folder)
    finally:
        shutil.rmtree(folder)
    return sorted(set(staged(study, drawn)).symmetric_difference(real), key=str)


class _Replay:
    """Runner that gives what was drawn."""

    id = "opfield.benchmarks.replay"

    def __init__(self, drawn: Drawn, draw: int) -> None:
        self.version = str(draw)
        self._values = {metric: values.stacked()[draw] for metric, values in drawn.values.items()}
        self._failed = None if drawn.failed is None else drawn.failed[draw]

    def __call__(self, trial: of.TrialRequest) -> dict[str, float]:
        at = trial.spec["arm"], trial.case["ix"], trial.coordinate.repeat
        if self._failed is not None and self._failed[at]:
            raise of.DomainFailure("drawn")
        return {metric: float(values[at]) for metric, values in self._values.items()}


def _campaign(study: Study, drawn: Drawn, draw: int) -> of.Campaign:
    _, arms, cases, repeats = drawn.shape
    return of.declare(
        f"draw-{draw}",
        baseline={"arm": 0},
        candidates={f"c{ix:02d}": {"arm": ix + 1} for ix in range(arms - 1)},
        cases={f"k{ix:04d}": {"ix": ix} for ix in range(cases)},
        run=_Replay(drawn, draw),
        metrics=study.metrics,
        policy=study.policy,
        repeats=repeats,
        seed_root=of.Seed(int(SEED_ROOT, 16)),
    )
