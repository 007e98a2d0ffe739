"""How the changes of simulated cases are distributed, and what is exactly true about them.

Every shape has its mean exactly where it is said to be, by construction and not by a large sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.error_rates_stage import Arms, Floats

Deltas = Callable[[np.random.Generator, tuple[int, ...]], Floats]

NOISE = 0.1
"""Half the width of the uniform noise of one cell, where a case is tried several times."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A distribution of the change of a case, with mean 0.

    Attributes:
        name: name in the report.
        words: the distribution, in words.
        margin: loss at which noninferiority is tested with it.
        skewness: third standardized moment; below 0 where large changes are losses.
        deltas: draws changes of the shape asked for, within ±.98.
    """

    name: str
    words: str
    margin: float
    skewness: float
    deltas: Deltas


def _normal(rng: np.random.Generator, size: tuple[int, ...], deviation: float = 0.1) -> Floats:
    # Cut symmetrically at four deviations, or at .88, which leaves the mean where it is.
    return np.clip(rng.normal(0, deviation, size), -min(4 * deviation, 0.88), min(4 * deviation, 0.88))


def _wide(rng: np.random.Generator, size: tuple[int, ...]) -> Floats:
    return _normal(rng, size, 0.3)


def _skewed_losses(rng: np.random.Generator, size: tuple[int, ...]) -> Floats:
    cut = 4.5
    mean = 1 - cut * math.exp(-cut) / -math.expm1(-cut)  # of an exponential that is cut there
    losses = -np.log1p(rng.random(size) * math.expm1(-cut))
    return np.where(rng.random(size) < 0.5, 0.0, 0.1 * (mean - losses))


def _rare_losses(rng: np.random.Generator, size: tuple[int, ...]) -> Floats:
    at = rng.random(size)
    return 0.02 + np.where(at < 0.65, 0.0, np.where(at < 0.95, 0.1, -1.0))


def _graded(rng: np.random.Generator, size: tuple[int, ...]) -> Floats:
    return rng.choice([-0.2, -0.1, 0.0, 0.1], size, p=[0.1, 0.1, 0.5, 0.3])


def _all_or_nothing(rng: np.random.Generator, size: tuple[int, ...]) -> Floats:
    return rng.choice([-0.9, 0.9], size)


def _mirrored(deltas: Deltas) -> Deltas:
    return lambda rng, size: -deltas(rng, size)


ALL_OR_NOTHING = Shape("all or nothing", "+.9 or −.9, evenly", 0.05, 0.0, _all_or_nothing)
NORMAL = Shape("normal", "normal, sd .1", 0.05, 0.0, _normal)
WIDE = Shape("wide normal", "normal, sd .3, cut at ±.88", 0.05, 0.0, _wide)
GRADED = Shape("graded", "50 % 0, 30 % +.1, 10 % −.1, 10 % −.2", 0.05, -0.839, _graded)
SKEWED_LOSSES = Shape("skewed losses", "half 0, half exponential towards losses, sd .062", 0.05, -1.971, _skewed_losses)
SKEWED_GAINS = Shape("skewed gains", "the same towards gains", 0.05, 1.971, _mirrored(_skewed_losses))
RARE_LOSSES = Shape("rare large losses", "65 % 0, 30 % +.1, 5 % −1, moved to the line", 0.02, -3.858, _rare_losses)
RARE_GAINS = Shape("rare large gains", "the same mirrored", 0.02, 3.858, _mirrored(_rare_losses))


def paired(rng: np.random.Generator, deltas: Floats, mean: float, repeats: int = 1) -> Arms:
    """Return both arms of one candidate, within 0 … 1, or within `NOISE` of it where cases are tried several times.

    Args:
        rng: source of the noise of single cells.
        deltas: changes with mean 0, shape (draws, cases).
        mean: what is added to every change.
        repeats: tries of each case.
    """
    moved = (deltas + mean)[:, :, None]
    noise = (0.0 if repeats == 1 else NOISE) * rng.uniform(-1, 1, (2, *deltas.shape, repeats))
    return Arms(0.5 - moved / 2 + noise[0], (0.5 + moved / 2 + noise[1])[:, None])


def discordant(rng: np.random.Generator, size: tuple[int, int], gains: float, losses: float) -> Arms:
    """Return both arms of a binary metric tried once a case: a share gained, a share lost, most of the rest succeed."""
    at = rng.random(size)
    both = (rng.random(size) < 0.9).astype(np.float64)
    baseline = np.where(at < gains, 0.0, np.where(at < gains + losses, 1.0, both))
    candidate = np.where(at < gains, 1.0, np.where(at < gains + losses, 0.0, both))
    return Arms(baseline[:, :, None], candidate[:, None, :, None])


def tried(rng: np.random.Generator, chances: Floats, repeats: int) -> Floats:
    """Return 0 or 1 for each try of each case, from its chance of success: one more axis, of length `repeats`."""
    return (rng.random((*chances.shape, repeats)) < chances[..., None]).astype(np.float64)


def repeated_binary(rng: np.random.Generator, size: tuple[int, int], gains: float, losses: float, repeats: int) -> Arms:
    """Return both arms of a binary metric over repeats: a share of the cases turns from .05 to .95, a share back.

    The other cases succeed with a chance of .97 on either arm. The mean change is .9 (gains - losses).
    """
    at = rng.random(size)
    baseline = np.where(at < gains, 0.05, np.where(at < gains + losses, 0.95, 0.97))
    candidate = np.where(at < gains, 0.95, np.where(at < gains + losses, 0.05, 0.97))
    return Arms(tried(rng, baseline, repeats), tried(rng, candidate, repeats)[:, None])
