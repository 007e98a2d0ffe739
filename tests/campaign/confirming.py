"""A campaign that selects a candidate, and what may or may not confirm it; importable by the command."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import opfield as of
from tests.campaign.campaigns import METRICS, POLICY, answer, small

FRESH_CASES = {"d": {"weight": 4}, "e": {"weight": 5}}

first = small()
fresh = small(cases=FRESH_CASES)
#: Case d is new, case renamed has the input of the first campaign's case b.
stale = small(cases={"d": {"weight": 4}, "renamed": {"weight": 2}})
other_baseline = small(cases=FRESH_CASES, baseline={"gain": 0.5})
other_candidate = small(cases=FRESH_CASES, candidates={"more": {"gain": 3}, "less": {"gain": 0}})
other_policy = small(cases=FRESH_CASES, policy=of.Policy(POLICY.gates[:2], prefer="score", min_gain=1))
other_metrics = small(cases=FRESH_CASES, metrics=[of.Metric("score", lower=-9, upper=100), *METRICS[1:]])


def answer_otherwise(trial: of.TrialRequest) -> Mapping[str, float]:
    """Another runner."""
    return answer(trial)


other_runner = small(cases=FRESH_CASES, run=answer_otherwise)
#: The baseline is kept.
kept = small(policy=of.Policy([of.coverage(), of.mean_delta("score", 1000)], prefer="score"))


def by_option(least: str = "4") -> of.Campaign:
    """The campaign on two cases, of weights from `least` on."""
    return small(cases={f"w{int(least) + ix}": {"weight": int(least) + ix} for ix in range(2)})


def answer_online(trial: of.TrialRequest) -> Mapping[str, float]:
    """Refuses while the file named by OPFIELD_TEST_OUTAGE stands."""
    if Path(os.environ["OPFIELD_TEST_OUTAGE"]).exists():
        raise ConnectionError("connection refused")
    return answer(trial)


first_online = small(run=answer_online)
fresh_online = small(run=answer_online, cases=FRESH_CASES)


def online_by_option(least: str = "4") -> of.Campaign:
    """Like `by_option`, by a runner that needs to be online."""
    return small(run=answer_online, cases={f"w{int(least) + ix}": {"weight": int(least) + ix} for ix in range(2)})
