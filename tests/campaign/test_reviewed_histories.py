"""The laws of reviews and of computed evidence: the reducer and the view `violations` refuse the same histories."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.campaign.reducer import CampaignState, fold, reduce
from opfield.errors import HistoryError
from opfield.warehouse import ledger
from opfield.warehouse.ledger import Event
from tests.campaign.test_reducer import (
    CANDIDATES,
    Payload,
    Told,
    chain,
    in_python,
    moved,
    started,
    trial,
    whole,
    without,
)

InSql = Callable[[list[Event]], set[str]]

#: In a review's payload: the digest of the candidate's comparison, put in when the history is chained.
REVIEWED = "the comparison"
GATES = [{"name": "slow", "kind": "percentile"}, {"name": "ask", "kind": "review"}]


def evidence(gate_ix: int = 0, **changes: Any) -> Payload:
    return {"name": GATES[gate_ix]["name"], "gate_ix": gate_ix, "results": [], **changes}


def review(candidate: str, **changes: Any) -> Payload:
    return {"candidate_id": candidate, "verdict": "approve", "by": "ann", "comparison": REVIEWED, **changes}


def reviewed(candidates: tuple[str, ...] | None = CANDIDATES) -> Told:
    """Start, 2 candidates, 12 cells, 2 pieces of evidence (15, 16), 2 comparisons, 3 reviews (19 …), 2 decisions."""
    opening = started(candidates)
    opening["identity"]["policy"] = {"gates": GATES}
    told: Told = [(ledger.CAMPAIGN_STARTED, opening), *whole()[1:15]]
    told += [(ledger.EVIDENCE_RECORDED, evidence(ix)) for ix in range(2)]
    told += [(ledger.COMPARISON_RECORDED, {"candidate_id": each}) for each in CANDIDATES]
    told += [(ledger.REVIEW_RECORDED, review("c1")), (ledger.REVIEW_RECORDED, review("c2", verdict="reject"))]
    told += [(ledger.REVIEW_RECORDED, review("c2", by="bea", comment=None))]
    told += [(ledger.DECISION_RECORDED, {"candidate_id": each, "decision": "pass"}) for each in CANDIDATES]
    return [*told, (ledger.CAMPAIGN_COMPLETED, {"selected": "c1", "outcome": "selected"})]


def linked(told: Told) -> list[Event]:
    """Chain a history, each review bearing the digest of the comparison of its candidate before it."""
    told = copy.deepcopy(told)
    for ix, (kind, payload) in enumerate(told):
        if kind == ledger.REVIEW_RECORDED and payload.get("comparison") == REVIEWED:
            compared = [
                each.digest
                for each, (kind, earlier) in zip(chain(told[:ix]), told, strict=False)
                if kind == ledger.COMPARISON_RECORDED and earlier.get("candidate_id") == payload.get("candidate_id")
            ]
            payload["comparison"] = compared[0] if compared else "none"
    return chain(told)


def changed(position: int, **members: Any) -> Told:
    told = copy.deepcopy(reviewed())
    told[position][1].update(members)
    return told


def lacking(position: int, member: str) -> Told:
    told = copy.deepcopy(reviewed())
    del told[position][1][member]
    return told


def inserted(at: int, kind: str, payload: Payload) -> Told:
    told = reviewed()
    return [*told[:at], (kind, payload), *told[at:]]


BREACHES: list[tuple[str, Told]] = [
    ("evidence", moved(reviewed(), 15, 14)),
    ("evidence", moved(reviewed(), 16, 17)),
    ("evidence", changed(15, gate_ix=2)),
    ("evidence", changed(15, gate_ix=-1)),
    ("evidence", changed(15, gate_ix="0")),
    ("evidence", changed(15, gate_ix=0.5)),
    ("evidence", changed(15, name="ask")),
    ("evidence", changed(15, results={})),
    ("evidence", changed(16, gate_ix=0, name="slow")),
    ("payload", lacking(15, "gate_ix")),
    ("payload", lacking(15, "name")),
    ("payload", lacking(15, "results")),
    ("trial", inserted(17, ledger.TRIAL_COMPLETED, trial("c1", "z", 0))),
    ("review", moved(reviewed(), 19, 17)),
    ("review", moved(reviewed(), 19, 22)),
    ("review", changed(19, candidate_id="base")),
    ("review", changed(19, candidate_id="c3")),
    ("review", changed(19, verdict="perhaps")),
    ("review", changed(19, verdict=None)),
    ("review", changed(19, by="")),
    ("review", changed(19, by=7)),
    ("review", changed(19, comparison="sha256:" + "0" * 64)),
    ("review", changed(19, comparison=None)),
    ("payload", lacking(19, "candidate_id")),
    ("payload", lacking(19, "verdict")),
    ("payload", lacking(19, "by")),
    ("payload", lacking(19, "comparison")),
    ("terminal", [*reviewed(), (ledger.REVIEW_RECORDED, review("c1"))]),
]
LEGAL: list[Told] = [
    reviewed(),
    reviewed(None)[:-1],
    without(reviewed(), 15, 16),
    without(reviewed(), 19, 20, 21),
    moved(reviewed(), 20, 22),
    inserted(20, ledger.REVIEW_RECORDED, review("c1", verdict="reject")),
    [*reviewed()[:20], (ledger.CAMPAIGN_CANCELLED, {"reason": "enough"})],
]


@pytest.mark.parametrize("told", LEGAL)
def test_a_legal_history_is_legal_on_both_sides(told: Told, in_sql: InSql) -> None:
    assert in_python(linked(told)) is None
    assert in_sql(linked(told)) == set()


@pytest.mark.parametrize(("law", "told"), BREACHES)
def test_a_breach_is_refused_by_the_name_of_its_law(law: str, told: Told, in_sql: InSql) -> None:
    assert in_python(linked(told)) == law
    in_views = in_sql(linked(told))
    assert in_views
    assert law in in_views or law == "payload"


def test_a_comparison_of_another_candidate_is_no_excuse(in_sql: InSql) -> None:
    other = linked(reviewed())[18].digest
    told = changed(19, comparison=other)
    assert in_python(linked(told)) == "review"
    assert "review" in in_sql(linked(told))


def test_a_proposers_campaign_has_evidence_over_the_candidates_it_registered(in_sql: InSql) -> None:
    for told in (moved(reviewed(None), 15, 14), without(reviewed(None), 14)):
        assert in_python(linked(told)) == "evidence"
        assert "evidence" in in_sql(linked(told))
    # The projection says whom a proposer brought, and these histories have none: the end is left out.
    fewer = [each for each in reviewed(None)[:-1] if each[1].get("candidate_id") != "c2"]
    assert in_python(linked(fewer)) is None
    assert in_sql(linked(fewer)) == set()


@pytest.mark.parametrize("length", range(len(reviewed()) + 1))
def test_every_prefix_is_legal_and_folds_on_to_the_same_state(length: int) -> None:
    history = linked(reviewed())
    assert fold(history[length:], fold(history[:length])) == fold(history)


@pytest.mark.parametrize("told", [told for _, told in BREACHES])
def test_a_refused_event_changes_nothing(told: Told) -> None:
    state = CampaignState()
    for event in linked(told):
        before = copy.deepcopy(state)
        try:
            reduce(state, event)
        except HistoryError:
            assert state == before
            return
    pytest.fail("nothing was refused")


@st.composite
def stories(draw: st.DrawFn) -> Told:
    """A reviewed history, cut and shuffled and spoilt a little: some are legal, most are not."""
    told = copy.deepcopy(reviewed())
    for _ in range(draw(st.integers(0, 3))):
        # Most of what is spoilt lies where evidence, comparisons, reviews and decisions stand.
        at = min(draw(st.one_of(st.integers(14, 24), st.integers(0, 24))), len(told) - 1)
        match draw(st.sampled_from(["cut", "drop", "double", "move", "change"])):
            case "cut":
                told = told[: at + 1]
            case "drop":
                told = without(told, at) or told
            case "double":
                told = [*told[:at], copy.deepcopy(told[at]), *told[at:]]
            case "move":
                told = moved(told, at, min(draw(st.integers(12, 24)), len(told) - 1))
            case _:
                payload = told[at][1]
                member = draw(st.sampled_from(sorted(payload)))
                if member not in ("identity", "cases", "baseline_id", "label", "measurements"):
                    values = [
                        "c1",
                        "c2",
                        "c3",
                        "base",
                        "a",
                        "slow",
                        "ask",
                        "reject",
                        "",
                        REVIEWED,
                        0,
                        1,
                        -1,
                        5,
                        None,
                        [],
                    ]
                    payload[member] = draw(st.sampled_from(values))
    return told


@settings(max_examples=120, deadline=None)
@given(told=stories())
def test_sql_and_python_agree_on_which_histories_are_legal(told: Told, in_sql: InSql) -> None:
    events = linked(told)
    law, laws = in_python(events), in_sql(events)
    assert (law is None) == (laws == set()), (law, laws)
