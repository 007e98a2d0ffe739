"""Plans against independent computations and simulation, and questions that no plan answers."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi, norm, t

from opfield.campaign.pilot import Pilot
from opfield.campaign.power import (
    FEWEST_UNITS,
    MOST_CASES,
    PowerQuestion,
    plan_for,
    power_of,
    smallest_shift,
)
from opfield.errors import DeclarationError, OpfieldError
from tests.campaign.planning import measured
from tests.sql.build import open_views, rows, write_campaign, write_empty

PILOT = Pilot(
    campaign_id="sha256:0",
    name="pilot",
    candidate="more",
    metric="score",
    kind="continuous",
    infers_to="cases_like_these",
    cases=30,
    clusters=30,
    repeats=2.0,
    missing=0,
    mean_delta=0.1,
    between=0.15**2,
    within=0.3**2,
    mean_variance=(0.15**2 + 0.3**2 / 2) / 30,
)
QUESTION = PowerQuestion(effect=0.1)


@pytest.mark.parametrize("df", [1, 2, 5, 19, 59, 400])
@pytest.mark.parametrize("noncentrality", [0.0, 0.5, 2.0, 2.9, 6.0])
@pytest.mark.parametrize("alpha", [0.025, 0.1])
def test_power_is_that_of_the_noncentral_t(df: int, noncentrality: float, alpha: float) -> None:
    critical = t.isf(alpha, df)

    def passes(spread: float) -> float:
        # given an estimated spread, t passes where a normal deviate exceeds critical · spread - noncentrality
        return float(norm.sf(critical * spread - noncentrality) * chi.pdf(spread * math.sqrt(df), df) * math.sqrt(df))

    low, high = (float(chi.ppf(each, df)) / math.sqrt(df) for each in (1e-14, 1 - 1e-14))
    expected, _ = quad(passes, low, high, limit=400, epsabs=1e-11)
    assert power_of(noncentrality * 0.25, 0.25, df, alpha) == pytest.approx(expected, abs=2e-8)


@pytest.mark.parametrize(("shift", "df"), [(1e-9, 3), (1e3, 3), (1e9, 10**6), (50.0, 19), (2.8, 10**6)])
def test_power_is_a_probability_however_far_the_mean_lies(shift: float, df: int) -> None:
    assert 0 <= power_of(shift, 1.0, df, 0.025) <= 1


def test_without_spread_a_difference_is_always_shown() -> None:
    assert power_of(0.1, 0.0, 19, 0.025) == 1
    assert power_of(0.0, 0.0, 19, 0.025) == 0


@pytest.mark.parametrize("df", [1, 4, 29, 1000])
@pytest.mark.parametrize("wanted", [0.1, 0.8, 0.99])
def test_the_smallest_shift_is_shown_with_the_power_asked(df: int, wanted: float) -> None:
    found = smallest_shift(0.2, df, replace(QUESTION, power=wanted))
    assert power_of(found, 0.2, df, QUESTION.alpha) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("effect", [0.02, 0.05, 0.1, 0.4])
def test_a_plan_has_the_fewest_cases_with_the_power_asked(effect: float) -> None:
    plan = plan_for(replace(QUESTION, effect=effect), PILOT)
    for size in plan.sizes:
        assert size.cases is not None
        variance = 0.15**2 + (0.3**2 / size.repeats if size.repeats else 0)
        assert size.power == power_of(effect, math.sqrt(variance / size.cases), size.cases - 1, 0.025) >= 0.8
        fewer = size.cases - 1
        assert size.cases == FEWEST_UNITS or power_of(effect, math.sqrt(variance / fewer), fewer - 1, 0.025) < 0.8
        assert size.cells == (size.cases * size.repeats * 2 if size.repeats else None)
    cells = [size.cells for size in plan.sizes if size.cells is not None]
    assert plan.cheapest is not None
    assert plan.cheapest.cells == min(cells)
    assert [size.repeats for size in plan.sizes][-1] is None


def test_repeats_lessen_the_smallest_effect_towards_a_limit() -> None:
    plan = plan_for(QUESTION, PILOT)
    found = [size.smallest_effect for size in plan.sizes]
    assert found == sorted(found, reverse=True)
    assert found[-1] == pytest.approx(smallest_shift(0.15 / math.sqrt(30), 29, QUESTION), rel=1e-12)
    assert plan.sizes[1].smallest_effect == pytest.approx(plan.pilot_smallest, rel=1e-12)
    assert plan.pilot_power == power_of(0.1, math.sqrt(PILOT.mean_variance), 29, 0.025)


def test_repeats_are_told_for_the_cases_of_the_pilot_and_none_where_they_cannot_be_enough() -> None:
    plan = plan_for(QUESTION, PILOT)
    needed = plan.repeats_needed
    assert needed is not None
    powers = [power_of(0.1, math.sqrt((0.15**2 + 0.3**2 / each) / 30), 29, 0.025) for each in (needed - 1, needed)]
    assert powers[0] < 0.8 <= powers[1]
    limit = plan.sizes[-1].smallest_effect
    assert plan_for(replace(QUESTION, effect=limit * 0.999), PILOT).repeats_needed is None
    assert plan_for(replace(QUESTION, effect=limit * 1.001), PILOT).repeats_needed is not None


@pytest.mark.parametrize(
    ("between", "within", "needed"),
    [(0.15**2, 0.0, None), (0.01**2, 0.0, 1), (0.0, 0.01**2, 1), (0.0, 1.0, 29)],
)
def test_repeats_without_noise_or_without_differences_of_cases(between: float, within: float, needed: Any) -> None:
    told = replace(PILOT, between=between, within=within, mean_variance=(between + within / 2) / 30)
    plan = plan_for(replace(QUESTION, effect=0.07 if between > 0.01 else 0.1), told)
    # (2.9/0.1)² · (1/30) = 28.4 repeats of variance 1; 2.9 is the noncentrality of power .8 on 29 degrees of freedom
    assert plan.repeats_needed == needed
    assert all(math.isfinite(size.smallest_effect) for size in plan.sizes)


def test_a_margin_moves_the_line() -> None:
    superior = plan_for(PowerQuestion(0.1), PILOT)
    for effect, margin in ((0.0, 0.1), (0.06, 0.04), (-0.1, 0.2)):
        plan = plan_for(PowerQuestion(effect, margin), PILOT)
        assert [size.cases for size in plan.sizes] == [size.cases for size in superior.sizes]
        assert plan.pilot_smallest == pytest.approx(superior.pilot_smallest - margin, rel=1e-12)


def test_a_pilot_without_repeats_plans_one_and_refuses_more() -> None:
    single = replace(PILOT, between=None, within=None, repeats=1.0, mean_variance=0.1 / 30)
    plan = plan_for(QUESTION, single)
    assert [size.repeats for size in plan.sizes] == [1]
    assert plan.sizes[0].power == pytest.approx(0.8, abs=0.01)
    assert plan.repeats_needed is None
    with pytest.raises(OpfieldError, match="tried no case twice"):
        plan_for(replace(QUESTION, repeats=3), single)


def test_repeats_that_are_asked_for_are_the_only_ones_planned() -> None:
    assert [size.repeats for size in plan_for(replace(QUESTION, repeats=7), PILOT).sizes] == [7, None]


def test_what_needs_more_cases_than_the_cap_has_no_number() -> None:
    plan = plan_for(PowerQuestion(effect=1e-5), PILOT)
    assert {(size.cases, size.cells, size.power) for size in plan.sizes} == {(None, None, None)}
    assert plan.cheapest is None
    most = plan_for(PowerQuestion(effect=2.8016 * math.sqrt(0.0675 / MOST_CASES), repeats=2), PILOT).sizes[0].cases
    assert most is None or most > 0.99 * MOST_CASES


def test_clusters_are_the_units() -> None:
    clustered = plan_for(QUESTION, replace(PILOT, clusters=10))
    alone = plan_for(QUESTION, PILOT)
    assert clustered.sizes[0].cases is not None
    assert alone.sizes[0].cases is not None
    assert clustered.sizes[0].cases > alone.sizes[0].cases
    # three cases a cluster: fewer than 60 are never planned
    assert plan_for(replace(QUESTION, effect=10.0), replace(PILOT, clusters=10)).sizes[0].cases == 3 * FEWEST_UNITS


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"effect": 0.0}, "effect is 0.0, not above 0"),
        ({"effect": -1.0}, "give a margin"),
        ({"effect": math.nan}, "not a finite number"),
        ({"effect": math.inf}, "not a finite number"),
        ({"effect": 1.0, "margin": 0.0}, "margin is 0.0, not above 0"),
        ({"effect": -0.2, "margin": 0.1}, "not smaller than the margin"),
        ({"effect": 1.0, "alpha": 0.0}, "alpha is 0.0"),
        ({"effect": 1.0, "alpha": 0.5}, "alpha is 0.5"),
        ({"effect": 1.0, "power": 1.0}, "power is 1.0"),
        ({"effect": 1.0, "power": 0.02}, "not above alpha"),
        ({"effect": 1.0, "repeats": 0}, "repeats 0 is not a whole number"),
        ({"effect": 1.0, "repeats": True}, "repeats True is not a whole number"),
    ],
)
def test_questions_without_an_answer_are_refused(members: Any, message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        PowerQuestion(**members)


@pytest.mark.parametrize(("repeats", "margin", "cluster"), [(1, None, 1), (3, None, 1), (2, 0.08, 1), (1, None, 3)])
def test_the_t_test_finds_the_effect_as_often_as_planned(repeats: int, margin: float | None, cluster: int) -> None:
    effect, draws = (0.1 if margin is None else 0.04), 4_000
    # a third of the variance between cases is shared inside a cluster
    shared = 0.15**2 / 3 if cluster > 1 else 0.0
    pilot = replace(PILOT, clusters=30 // cluster, between=0.15**2 + shared * (cluster - 1))
    size = plan_for(PowerQuestion(effect, margin, repeats=repeats), pilot).sizes[0]
    assert size.cases is not None
    rng = np.random.default_rng(repeats)
    units = size.cases // cluster
    truths = rng.normal(effect, math.sqrt(0.15**2 - shared), (draws, units, cluster))
    truths += rng.normal(0, math.sqrt(shared), (draws, units, 1))
    deltas = (truths + rng.normal(0, 0.3 / math.sqrt(repeats), truths.shape)).mean(axis=2)
    statistics = (deltas.mean(axis=1) + (margin or 0)) / (deltas.std(axis=1, ddof=1) / math.sqrt(units))
    rate = float((statistics > t.isf(0.025, units - 1)).mean())
    assert size.power is not None
    assert rate == pytest.approx(size.power, abs=3.5 * math.sqrt(0.16 / draws))


def test_the_gate_passes_as_often_as_planned(tmp_path: Path) -> None:
    """200 candidates with the planned effect, on the planned cases and repeats, judged by the shipped SQL."""
    effect, candidates = 0.15, 200
    size = plan_for(PowerQuestion(effect, repeats=2), PILOT).sizes[0]
    assert size.cases is not None
    assert size.power is not None
    rng = np.random.default_rng(11)
    values = {}
    for ix in range(candidates):
        truths = rng.normal(effect, 0.15, size.cases)
        values[f"c{ix:03}"] = {
            f"{case}": [float(each) for each in rng.normal(truth, 0.3, 2)] for case, truth in enumerate(truths)
        }
    root = write_empty(tmp_path / "warehouse")
    con = open_views(root, names=["gate_superiority"])
    gates = [{"kind": "superiority", "metric": "score", "threshold": 0.0}]
    write_campaign(con, root, measured(values, gates=gates))
    (found,) = rows(con, "select count(*) filter (where status = 'pass') as passes from gate_superiority")
    con.close()
    rate = found["passes"] / candidates
    assert rate == pytest.approx(size.power, abs=3.5 * math.sqrt(0.16 / candidates))
