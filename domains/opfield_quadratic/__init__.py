"""A quadratic domain for opfield: the smallest stochastic system with a known answer (§37).

It has nothing to do with retrieval and uses no more than any campaign of a user's own.
"""

from __future__ import annotations

from typing import Final

import opfield as of

#: Bound of the noise; the loss of a perfect guess lies within ± this.
SIGMA: Final = 0.1


def measure_guess(trial: of.TrialRequest) -> dict[str, float]:
    """Return how far the guess x is from the case's target.

    The loss is (x − target)² + noise, the distance |x − target|. The noise is uniform within ±sigma and drawn
    from the coordinate's seed, so both arms of a pair share it.
    """
    error = trial.spec["x"] - trial.case["target"]
    noise = trial.seed.rng().uniform(-trial.spec["sigma"], trial.spec["sigma"])
    return {"loss": error * error + noise, "distance": abs(error)}


def quadratic_campaign(repeats: int = 4) -> of.Campaign:
    """Return the campaign: guesses 1 to 4 against the baseline 0, on the targets 2.8, 3.0 and 3.2.

    Args:
        repeats: trials of each (candidate, target), each with noise of its own.
    """
    return of.declare(
        "quadratic",
        baseline={"x": 0, "sigma": SIGMA},
        candidates={f"x={x}": {"x": x} for x in (1, 2, 3, 4)},
        cases={f"target={target}": {"target": target} for target in (2.8, 3.0, 3.2)},
        run=measure_guess,
        metrics=[
            of.Metric("loss", "minimize", lower=-SIGMA, description="squared error plus noise within ±sigma"),
            of.Metric("distance", "minimize", lower=0, description="absolute error"),
        ],
        policy=of.Policy((of.coverage(), of.failures(), of.mean_delta("loss")), prefer="loss"),
        repeats=repeats,
    )


domain = of.Domain(
    name="quadratic",
    description="Guesses at a target under noise that both arms share.",
    campaign=quadratic_campaign,
    options=(of.Option("repeats", "trials of each (candidate, target)", int, 4),),
)

__all__ = ["domain", "measure_guess", "quadratic_campaign"]
