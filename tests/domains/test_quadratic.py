"""The quadratic domain: a known answer under noise that both arms share (§37)."""

from __future__ import annotations

import pytest

from opfield.core import seal
from opfield.experiment import propose_all
from opfield_quadratic import SIGMA, domain, quadratic_campaign
from tests.domains.trials import Trials, run_trials


@pytest.fixture(scope="module")
def trials() -> Trials:
    return run_trials(quadratic_campaign())


@pytest.mark.parametrize(("label", "gain"), [("x=1", 5.0), ("x=2", 8.0), ("x=3", 9.0), ("x=4", 8.0)])
def test_oriented_mean_loss_is_the_known_one(trials: Trials, label: str, gain: float) -> None:
    # mean of target² − (x − target)² over the targets; the shared noise cancels
    assert trials.mean("baseline", "loss") - trials.mean(label, "loss") == pytest.approx(gain, abs=1e-12)


def test_both_arms_of_a_pair_share_their_noise(trials: Trials) -> None:
    for case in trials.campaign.workload.cases:
        for repeat in range(4):
            target = case.input["target"]
            noises = {
                round(trials.results[f"x={x}", case.id, repeat].metrics["loss"] - (x - target) ** 2, 12)
                for x in (1, 2, 3, 4)
            }
            assert len(noises) == 1
            assert abs(noises.pop()) <= SIGMA


def test_repeats_have_noise_of_their_own(trials: Trials) -> None:
    losses = trials.values("x=3", "loss")
    assert len(set(losses)) == len(losses) == 12


def test_more_repeats_change_no_existing_trial(trials: Trials) -> None:
    longer = run_trials(quadratic_campaign(repeats=5))
    assert trials.results.items() <= longer.results.items()


def test_loss_may_be_negative_within_its_declared_bound(trials: Trials) -> None:
    assert min(trials.values("x=3", "loss")) < 0
    assert trials.campaign.metrics[0].lower == -SIGMA


def test_the_plan_has_74_events() -> None:
    campaign = domain.campaign()
    candidates, cases = len(propose_all(campaign.space)), len(campaign.workload.cases)
    assert 1 + candidates + cases * campaign.repeats * (1 + candidates) + 2 * candidates + 1 == 74


def test_spec_is_the_plain_pair() -> None:
    assert quadratic_campaign().space.baseline() == seal("quadratic.spec/v1", {"x": 0, "sigma": 0.1})
