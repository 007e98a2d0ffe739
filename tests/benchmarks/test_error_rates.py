"""The gates err as seldom as they say: a reduced form of `python -m benchmarks.error_rates`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import opfield as of
from benchmarks.error_rates import exceeds, measure, tables
from benchmarks.error_rates_designs import family, missing
from benchmarks.error_rates_real import differences
from benchmarks.error_rates_shapes import (
    ALL_OR_NOTHING,
    GRADED,
    NORMAL,
    RARE_GAINS,
    RARE_LOSSES,
    SKEWED_GAINS,
    SKEWED_LOSSES,
    WIDE,
    Shape,
    paired,
)
from benchmarks.error_rates_stage import Drawn
from benchmarks.error_rates_studies import NOMINAL, Study, binary, means, ranged, rate


def looked_at(gate: of.Gate, mean: float, cases: int = 80, shape: Shape = NORMAL) -> Study:
    """Return one gate over changes with this mean."""

    def draw(rng: np.random.Generator, draws: int) -> Drawn:
        return Drawn({"x": paired(rng, shape.deltas(rng, (draws, cases)), mean)})

    return Study(
        "one gate", (ranged("x", 1),), (rate(gate, "looked at", shape.name, "as asked", NOMINAL),), draw, cases
    )


def share(study: Study, draws: int, event: str = "pass") -> float:
    """Return how often the only gate of a study passes, or fails."""
    return measure(study, draws, seed=1).share(study.rates[0].gate.name, event)


def test_means_err_as_told_and_t_does_not_hold_for_rare_large_losses() -> None:
    study = means(20, 1)
    verdicts = measure(study, 250, seed=1)
    told = {(each.table, each.shape, each.method): verdicts.share(each.gate.name, "pass") for each in study.rates}
    assert [each.gate.name for each in study.rates if exceeds(each, verdicts)] == []
    for table in ("superiority, 1 try", "noninferiority, 1 try"):
        assert 0.005 < told[table, "normal", "t"] < 0.05
        assert 0.25 < told[table, "rare large losses", "t"] < 0.45  # .95 ** 20 = .36: no case that loses is seen
        assert told[table, "rare large losses", "bounded"] <= NOMINAL


def test_binary_gates_err_as_told() -> None:
    study = binary(20)
    verdicts = measure(study, 300, seed=1)
    assert [each.gate.name for each in study.rates if exceeds(each, verdicts)] == []
    assert verdicts.share("noninferiority, common binary, Tango, by kind", "pass") > 0.002  # not by never passing


def test_gaps_that_tell_promote_over_complete_cases_and_not_at_the_gates() -> None:
    study = missing(100)
    verdicts = measure(study, 200, seed=1)
    assert verdicts.complete_cases["no range"] / verdicts.campaigns > 0.1
    assert [each.gate.name for each in study.rates if exceeds(each, verdicts)] == []


def test_the_best_of_many_passes_without_a_correction_and_not_in_a_family() -> None:
    study = family(20, candidates=10)
    verdicts = measure(study, 200, seed=1)
    assert verdicts.share(study.rates[0].gate.name, "pass") > 0.08
    assert [each.gate.name for each in study.rates if exceeds(each, verdicts)] == []


@pytest.mark.parametrize(
    ("gate", "effect"),
    [
        (of.sequential("x", looks=[20, 40, 60, 80]), 0.05),
        (of.sequential("x", looks=[20, 40, 60, 80], spending="even"), 0.05),
    ],
    ids=["obrien_fleming", "even"],
)
def test_looks_err_as_told_and_find_what_is_there(gate: of.Gate, effect: float) -> None:
    study = looked_at(gate, 0.0)
    assert not exceeds(study.rates[0], measure(study, 200, seed=1))
    assert share(looked_at(gate, effect), 40) > 0.8


@pytest.mark.parametrize(
    "gate",
    [of.sequential("x", spending="e_process"), of.superiority("x", method="bounded")],
    ids=["e_process", "bounded"],
)
def test_bets_err_as_told_where_changes_are_as_far_apart_as_they_can_be(gate: of.Gate) -> None:
    study = looked_at(gate, 0.0, shape=ALL_OR_NOTHING)
    verdicts = measure(study, 400, seed=1)
    assert not exceeds(study.rates[0], verdicts)
    assert verdicts.share(study.rates[0].gate.name, "pass") > 0  # not by never passing
    assert share(looked_at(gate, 0.08, shape=NORMAL), 40) > 0.3


def test_a_gate_that_errs_too_often_is_told() -> None:
    study = looked_at(of.superiority("x", alpha=0.15), 0.0, cases=20)
    verdicts = measure(study, 300, seed=1)
    assert exceeds(study.rates[0], verdicts)
    assert "% !" in "".join(tables([(study, verdicts)], 300))


def test_a_real_run_of_the_same_draws_is_judged_alike_to_the_letter() -> None:
    assert differences(missing(24), draws=1) == []


@pytest.mark.parametrize(
    "shape",
    [ALL_OR_NOTHING, NORMAL, WIDE, GRADED, SKEWED_GAINS, SKEWED_LOSSES, RARE_LOSSES, RARE_GAINS],
    ids=lambda shape: shape.name,
)
def test_shapes_have_the_mean_and_the_skewness_that_they_state(shape: Shape) -> None:
    deltas = shape.deltas(np.random.default_rng(1), (1_000_000,))
    assert abs(deltas.mean()) < 4 * deltas.std() / 1000
    assert stats.skew(deltas) == pytest.approx(shape.skewness, abs=0.05)
    assert abs(deltas).max() <= 0.98
