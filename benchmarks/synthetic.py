"""A campaign of any size whose runner does next to nothing, and the same trials as plain values for peers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import opfield as of
from opfield.prob import coordinate_seed

CANDIDATES = 10
REPEATS = 10
METRICS = (
    of.Metric("cost", "minimize", unit="usd", lower=0),
    of.Metric("gain"),
    of.Metric("recall", kind="binary"),
    of.Metric("score", lower=0, upper=1),
    of.Metric("tokens", "minimize", kind="count"),
)
SEED_ROOT = of.Seed(2)


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial with its answer, as a peer is given it.

    Attributes:
        coordinate: label of the candidate, case and repeat.
        metrics: value by metric.
    """

    coordinate: tuple[str, str, int]
    metrics: dict[str, float]


def answer(trial: of.TrialRequest) -> dict[str, float]:
    """Answer five metrics at once: the runner of the campaign."""
    return answer_of(trial.seed, trial.spec["gain"])


def answer_of(seed: of.Seed, gain: float) -> dict[str, float]:
    """Return five values of different entropy: a short decimal, a full double, a bit, a ratio and a count."""
    noise = seed.value / 2**64
    return {
        "cost": round(noise / 100, 6),
        "gain": gain + noise,
        "recall": float(seed.value & 1),
        "score": round(noise, 4),
        "tokens": float(seed.value % 2000),
    }


def campaign(cases: int, candidates: int = CANDIDATES, repeats: int = REPEATS) -> of.Campaign:
    """Declare a campaign of `cases` × `repeats` × (`candidates` + the baseline) cells."""
    return of.declare(
        f"synthetic-{cases}",
        baseline={"gain": 0.0},
        candidates={f"gain-{ix}": {"gain": ix / 100} for ix in range(1, candidates + 1)},
        cases={_case(ix): None for ix in range(cases)},
        run=answer,
        metrics=METRICS,
        policy=of.Policy((of.coverage(), of.failures(), of.mean_delta("gain")), prefer="gain"),
        repeats=repeats,
        seed_root=SEED_ROOT,
    )


def trials(cases: int, candidates: int = CANDIDATES, repeats: int = REPEATS) -> Iterator[Trial]:
    """Yield the trials of the same campaign with their answers, all arms of a case together."""
    for case, repeat, candidate in product(range(cases), range(repeats), range(candidates + 1)):
        label = f"gain-{candidate}" if candidate else "baseline"
        seed = coordinate_seed(SEED_ROOT, _case(case), repeat)
        yield Trial((label, _case(case), repeat), answer_of(seed, candidate / 100))


def _case(ix: int) -> str:
    return f"case-{ix:06d}"
