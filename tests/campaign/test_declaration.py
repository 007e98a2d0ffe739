"""Declarations: what could not be carried out is refused when it is written, in words."""

from __future__ import annotations

from typing import Any

import pytest

import opfield as of
from opfield.campaign.prepare import prepare
from opfield.errors import DeclarationError
from opfield.warehouse.views import installed_views

from .campaigns import METRICS, POLICY, answer, small


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metrics": ["score"]}, "'score', a str, not a Metric"),
        ({"metrics": []}, "declares no metric"),
        ({"metrics": [*METRICS, METRICS[0]]}, "'score' twice"),
        ({"policy": (of.coverage(),)}, "not a Policy"),
        ({"run": "answer"}, "not something callable"),
        ({"repeats": 0}, "not a whole number above 0"),
        ({"repeats": True}, "not a whole number above 0"),
        ({"repeats": 1.5}, "not a whole number above 0"),
        ({"seed_root": 5}, "not a Seed"),
        ({"limits": 5}, "not a Limits"),
        ({"secrets": "API_KEY"}, "names of environment variables"),
        ({"coupling": "shared"}, "none of common_seed"),
        ({"reproducibility": "exact"}, "none of structural"),
        ({"cases": {}}, "has no cases"),
        ({"candidates": {}}, "patch|candidate"),
        ({"candidates": {"same": {}}}, "changes nothing"),
        ({"candidates": {"odd": {"gain": float("nan")}}}, "odd"),
    ],
)
def test_what_cannot_be_carried_out_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        of.Proposer().propose(small(**changes).space)


@pytest.mark.parametrize(
    "limits",
    [
        {"timeout_s": 0},
        {"timeout_s": float("nan")},
        {"timeout_s": "5"},
        {"timeout_s": True},
        {"timeout_s": 1e100},
        {"timeout_s": 10**400},
        {"attempts": 0},
        {"attempts": 1.5},
        {"backoff_s": -1},
        {"backoff_s": float("inf")},
        {"pause_after": 0},
    ],
)
def test_limits_that_could_never_be_met_are_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(DeclarationError, match=next(iter(limits))):
        of.Limits(**limits)


def test_a_candidate_of_an_unknown_member_is_refused_with_the_known_ones() -> None:
    with pytest.raises(of.OpfieldError, match="did you mean 'gain'"):
        small(candidates={"odd": {"gian": 2}})
    assert small(policy=POLICY).policy is POLICY


def test_lists_are_taken_and_kept_as_tuples() -> None:
    declared = of.Campaign("small", small().space, small().workload, answer, METRICS, POLICY, secrets=["A_KEY"])
    assert (declared.metrics, declared.secrets) == (tuple(METRICS), ("A_KEY",))


def test_what_an_author_may_claim_is_listed_where_it_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"coupling 'x' is none of common_seed, replayed, none$"):
        small(coupling="x")
    with pytest.raises(DeclarationError, match=r"none of structural, material, seeded, distributional, observational$"):
        small(reproducibility="x")


@pytest.mark.parametrize(
    "gate", [of.gate("mean_delta"), of.gate("mean_delta", "score"), of.gate("candidate_mean", "score")]
)
def test_a_gate_that_lacks_what_its_kind_needs_is_refused_when_declared(gate: of.Gate) -> None:
    with pytest.raises(DeclarationError, match="cannot judge without"):
        prepare(small(policy=of.Policy([of.coverage(), gate])), installed_views())
