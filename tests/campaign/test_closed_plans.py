"""The laws of a plan that is closed early: the reducer and the view `violations` refuse the same histories."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.campaign import checkpoint
from opfield.campaign.checkpoint import load_state, save_state
from opfield.campaign.reducer import CampaignState, fold, reduce
from opfield.errors import HistoryError
from opfield.warehouse import ledger
from opfield.warehouse.ledger import Event
from opfield.warehouse.store import create_store
from tests.campaign.test_reducer import CANDIDATES, Payload, Told, chain, in_python, moved, trial, without

InSql = Callable[[list[Event]], set[str]]

CASES = ("a", "b", "c", "d")
GATES: list[Payload] = [
    {"name": "cover", "kind": "coverage", "options": {"looks": [1]}},
    {"name": "looked", "kind": "sequential", "options": {"looks": [2, 3, 4]}},
    {"name": "slow", "kind": "percentile", "options": {}},
]
#: Where the event that closes the plan stands: after the start, 2 candidates, and 2 cases of 2 repeats on 3 arms.
CLOSING = 1 + 2 + 12


def started(candidates: tuple[str, ...] | None = CANDIDATES, looks: Any = (2, 3, 4)) -> Payload:
    gates = copy.deepcopy(GATES)
    gates[1]["options"]["looks"] = list(looks) if isinstance(looks, tuple) else looks
    identity = {
        "repeats": 2,
        "candidates": None if candidates is None else list(candidates),
        "metrics": [],
        "policy": {"gates": gates},
        "baseline": "sha256:base",
    }
    return {"baseline_id": "base", "cases": len(CASES), "identity": identity}


def cells(cases: tuple[str, ...] = CASES[:2]) -> Told:
    return [
        (ledger.TRIAL_COMPLETED, trial(who, case, repeat))
        for case in cases
        for repeat in range(2)
        for who in ("base", *CANDIDATES)
    ]


def closed(cases: tuple[str, ...] = CASES[:2], said: Any = None, **opening: Any) -> Told:
    """Start, 2 candidates, 12 cells, the closing (15), 1 piece of evidence, 2 comparisons and 2 decisions, the end."""
    told: Told = [(ledger.CAMPAIGN_STARTED, started(**opening))]
    told += [(ledger.CANDIDATE_REGISTERED, {"candidate_id": each, "label": each}) for each in CANDIDATES]
    told += cells(cases)
    told += [(ledger.PLAN_CLOSED, {"cases": len(cases) if said is None else said, "reason": "settled"})]
    told += [(ledger.EVIDENCE_RECORDED, {"name": "slow", "gate_ix": 2, "results": []})]
    told += [(ledger.COMPARISON_RECORDED, {"candidate_id": each}) for each in CANDIDATES]
    told += [(ledger.DECISION_RECORDED, {"candidate_id": each, "decision": "pass"}) for each in CANDIDATES]
    return [*told, (ledger.CAMPAIGN_COMPLETED, {"selected": "c1", "outcome": "selected"})]


def lacking(member: str) -> Told:
    told = copy.deepcopy(closed())
    del told[CLOSING][1][member]
    return told


def inserted(at: int, *events: tuple[str, Payload]) -> Told:
    told = closed()
    return [*told[:at], *events, *told[at:]]


def replaced(position: int, event: tuple[str, Payload]) -> Told:
    told = closed()
    return [*told[:position], event, *told[position + 1 :]]


PLAN_CLOSED: tuple[str, Payload] = (ledger.PLAN_CLOSED, {"cases": 2, "reason": "settled"})
LEGAL: dict[str, Told] = {
    "closed at the first look": closed(),
    "closed at the second": closed(CASES[:3]),
    "at other cases than the first, which nobody can know here": closed(("d", "b")),
    "an e-process may stop wherever it was settled": closed(CASES[:3], looks=None),
    "never closed": [*without(closed(), CLOSING)[:CLOSING], *cells(CASES[2:]), *closed()[CLOSING + 1 :]],
    "cancelled once closed": [*closed()[: CLOSING + 1], (ledger.CAMPAIGN_CANCELLED, {"reason": "enough"})],
    "a proposer's": closed(candidates=None)[:-1],
}
BREACHES: dict[str, tuple[str, Told]] = {
    "at all cases": ("plan", closed(CASES)),
    "at none": ("plan", closed(CASES[:2], 0)),
    "at fewer than none": ("plan", closed(CASES[:2], -2)),
    "at more than all": ("plan", closed(CASES[:2], 5)),
    "at a text": ("plan", closed(CASES[:2], "2")),
    "at a fraction": ("plan", closed(CASES[:2], 2.5)),
    "at a truth": ("plan", closed(CASES[:1], True)),
    "at null": ("plan", replaced(CLOSING, (ledger.PLAN_CLOSED, {"cases": None}))),
    "at nothing": ("payload", lacking("cases")),
    "at fewer than were tried": ("plan", closed(CASES[:3], 2)),
    "at more than were tried": ("plan", closed(CASES[:2], 3)),
    "where no gate looks": ("plan", closed(CASES[:1])),
    "where a gate of another kind looks": ("plan", closed(CASES[:1], looks=[2])),
    "where no gate is sequential": ("plan", closed(looks=[])),
    "where looks are text": ("plan", closed(looks="2")),
    "where a look is a text": ("plan", closed(looks=["2"])),
    "where a look is a fraction": ("plan", closed(looks=[1.5, 3])),
    "where a look is a truth": ("plan", closed(CASES[:1], looks=[True])),
    "a cell before": ("plan", moved(closed(), CLOSING, CLOSING - 1)),
    "one cell lacks": ("plan", without(closed(), 9)),
    "one cell of another case instead": (
        "plan",
        replaced(9, (ledger.TRIAL_COMPLETED, trial(closed()[9][1]["candidate_id"], "z", 0))),
    ),
    "twice": ("plan", inserted(CLOSING + 1, PLAN_CLOSED)),
    "after evidence": ("evidence", moved(closed(), CLOSING, CLOSING + 1)),
    "after a comparison": ("plan", moved(without(closed(), CLOSING + 1), CLOSING, CLOSING + 1)),
    "before its candidate is registered": ("plan", [*closed()[:2], PLAN_CLOSED]),
    "before anything": ("start", [PLAN_CLOSED, *closed()]),
    "after the end": ("terminal", [*closed(), PLAN_CLOSED]),
    "a trial after it": ("trial", inserted(CLOSING + 1, cells(("c",))[0])),
    "a trial of a planned case after it": ("plan", moved(closed(), 9, CLOSING)),
    "evidence while the whole grid lacks": ("evidence", without(closed(), CLOSING)),
}


@pytest.mark.parametrize("name", LEGAL)
def test_a_legal_history_is_legal_on_both_sides(name: str, in_sql: InSql) -> None:
    assert in_python(chain(LEGAL[name])) is None
    assert in_sql(chain(LEGAL[name])) == set()


@pytest.mark.parametrize("name", BREACHES)
def test_a_breach_is_refused_by_the_name_of_its_law(name: str, in_sql: InSql) -> None:
    law, told = BREACHES[name]
    assert in_python(chain(told)) == law
    assert {"payload": "plan"}.get(law, law) in in_sql(chain(told))


def test_no_sequential_gate_no_closing(in_sql: InSql) -> None:
    told = closed()
    told[0][1]["identity"]["policy"]["gates"][1]["kind"] = "superiority"
    assert in_python(chain(told)) == "plan"
    assert "plan" in in_sql(chain(told))


def test_any_of_several_gates_may_ask_for_the_closing(in_sql: InSql) -> None:
    for looks, law in (([2], None), ([3], "plan"), (None, None)):
        told = closed(looks=[4])
        other = {"name": "second", "kind": "sequential", "options": {"looks": looks}}
        told[0][1]["identity"]["policy"]["gates"].append(other)
        assert in_python(chain(told)) == law
        assert in_sql(chain(told)) == ({law} if law else set())


def test_a_closed_plan_declares_fewer_cells() -> None:
    assert [fold(chain(closed()[:length])).declared_cells for length in (CLOSING, CLOSING + 1)] == [24, 12]


@pytest.mark.parametrize("length", range(len(closed()) + 1))
def test_every_prefix_folds_on_to_the_same_state(length: int) -> None:
    history = chain(closed())
    assert fold(history[length:], fold(history[:length])) == fold(history)


@pytest.mark.parametrize("name", BREACHES)
def test_a_refused_event_changes_nothing(name: str) -> None:
    state = CampaignState()
    for event in chain(BREACHES[name][1]):
        before = copy.deepcopy(state)
        try:
            reduce(state, event)
        except HistoryError:
            assert state == before
            return
    pytest.fail("nothing was refused")


@st.composite
def stories(draw: st.DrawFn) -> Told:
    """A history with a closed plan, cut and shuffled and spoilt a little: some are legal, most are not."""
    told = copy.deepcopy(closed(draw(st.sampled_from([CASES[:2], CASES[:3]]))))
    for _ in range(draw(st.integers(0, 3))):
        # Most of what is spoilt lies about the closing.
        at = min(draw(st.one_of(st.integers(13, 22), st.integers(0, 28))), len(told) - 1)
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
                if "identity" in payload:
                    looks = draw(st.sampled_from([None, [2], [3, 4], [], [1.5], "2", ["2", 2]]))
                    payload["identity"]["policy"]["gates"][1]["options"]["looks"] = looks
                else:
                    member = draw(st.sampled_from(sorted(payload)))
                    if member not in ("label", "measurements"):
                        values = [
                            "c1",
                            "c2",
                            "base",
                            "a",
                            "c",
                            "slow",
                            "success",
                            "pass",
                            0,
                            1,
                            2,
                            3,
                            -1,
                            2.5,
                            True,
                            None,
                        ]
                        payload[member] = draw(st.sampled_from(values))
    return told


@settings(max_examples=150, deadline=None)
@given(told=stories())
def test_sql_and_python_agree_on_which_histories_are_legal(told: Told, in_sql: InSql) -> None:
    events = chain(told)
    law, laws = in_python(events), in_sql(events)
    assert (law is None) == (laws == set()), (law, laws)


def test_a_checkpoint_keeps_that_the_plan_is_closed(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "WORTH_IT", 1)
    root = create_store(tmp_path).root
    history = chain(closed()[: CLOSING + 2])
    ledger.publish(root, history)
    state = fold(history)
    save_state(root, fold(history[:-1]))
    monkeypatch.setattr(ledger, "read_events", _from(CLOSING, ledger.read_events))
    assert load_state(root, state.campaign_id) == state
    assert state.planned == 2


def _from(least: int, real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a reader of events that fails where the history is folded from its start."""

    def read(root: Any, campaign_id: str, after: int = 0) -> Any:
        assert after >= least, "the checkpoint was not used"
        return real(root, campaign_id, after=after)

    return read


def test_a_writer_refuses_what_breaks_the_plan_and_goes_on(tmp_path: Any) -> None:
    root = create_store(tmp_path).root
    history = chain(closed()[:CLOSING])
    ledger.publish(root, history)
    state = fold(history)
    assert (state.cells, state.declared_cells) == (12, 24)
    with pytest.raises(HistoryError, match="law 'plan' broken at event 16"):
        reduce(state, chain(closed(CASES[:2], 3)[: CLOSING + 1])[-1])
    assert reduce(state, chain(closed())[CLOSING]).planned == 2
