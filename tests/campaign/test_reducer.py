from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.campaign.reducer import CampaignState, fold, reduce
from opfield.core import canonical_json
from opfield.errors import HistoryError
from opfield.warehouse import ledger
from opfield.warehouse.ledger import Event, chained

Payload = dict[str, Any]
Told = list[tuple[str, Payload]]

CAMPAIGN = "sha256:" + "ab" * 32
CANDIDATES = ("c1", "c2")
CASES = ("a", "b")
REPEATS = 2


def started(candidates: tuple[str, ...] | None = CANDIDATES) -> Payload:
    identity: dict[str, Any] = {
        "repeats": REPEATS,
        "candidates": None if candidates is None else list(candidates),
        "metrics": [],
    }
    identity |= {"policy": {"gates": []}, "baseline": "sha256:base"}
    return {"baseline_id": "base", "cases": len(CASES), "identity": identity}


def trial(candidate: str, case: str, repeat: int, **changes: Any) -> Payload:
    told = {"candidate_id": candidate, "arm": "baseline" if candidate == "base" else "candidate", "case_id": case}
    return {**told, "repeat": repeat, "status": "success", "measurements": [], **changes}


def whole() -> Told:
    """A whole history: 1 + 2 + 12 + 4 + 1 events."""
    told: Told = [(ledger.CAMPAIGN_STARTED, started())]
    told += [(ledger.CANDIDATE_REGISTERED, {"candidate_id": each, "label": each}) for each in CANDIDATES]
    arms = ("base", *CANDIDATES)
    told += [
        (ledger.TRIAL_COMPLETED, trial(arm, case, repeat))
        for case in CASES
        for repeat in range(REPEATS)
        for arm in arms
    ]
    for each in CANDIDATES:
        told.append((ledger.COMPARISON_RECORDED, {"candidate_id": each}))
        told.append((ledger.DECISION_RECORDED, {"candidate_id": each, "decision": "pass"}))
    return [*told, (ledger.CAMPAIGN_COMPLETED, {"selected": "c1", "outcome": "selected"})]


def chain(told: Told, fences: list[int] | None = None) -> list[Event]:
    """Chain a history whose digests are lawful, whatever else is."""
    events: list[Event] = []
    for ix, (kind, payload) in enumerate(told):
        events.append(
            chained(
                events[-1].digest if events else "",
                campaign_id=CAMPAIGN,
                sequence=ix + 1,
                type=kind,
                fence=fences[ix] if fences else 1,
                payload=canonical_json(payload),
                recorded_at=datetime(2026, 1, 1) + timedelta(seconds=ix),
            )
        )
    return events


def redigested(events: list[Event]) -> list[Event]:
    """Give every event the digest that its content and predecessor ask for."""
    digests = [""]
    for each in events:
        digests.append(
            ledger.event_digest(
                digests[-1],
                each.campaign_id,
                each.sequence,
                each.type,
                each.schema_version,
                each.recorded_at,
                each.fence,
                each.payload,
            )
        )
    return [replace(event, digest=digest) for event, digest in zip(events, digests[1:], strict=True)]


HISTORY = chain(whole())


def without(told: Told, *positions: int) -> Told:
    return [each for ix, each in enumerate(told) if ix not in positions]


def moved(told: Told, position: int, to: int) -> Told:
    rest = without(told, position)
    return [*rest[:to], told[position], *rest[to:]]


def changed(position: int, **members: Any) -> Told:
    told = copy.deepcopy(whole())
    told[position][1].update(members)
    return told


def lacking(position: int, member: str) -> Told:
    told = copy.deepcopy(whole())
    del told[position][1][member]
    return told


def retyped(position: int, kind: str) -> Told:
    told = whole()
    told[position] = (kind, told[position][1])
    return told


def added(kind: str, payload: Payload, at: int = -1) -> Told:
    told = whole()
    return [*told[:at], (kind, payload), *told[at:]]


ANOTHER = trial("c1", "z", 0)
#: Law, and a history that breaks it although every digest is right.
BREACHES: list[tuple[str, Told]] = [
    ("start", without(whole(), 0)),
    ("start", [whole()[0], *whole()]),
    ("start", retyped(0, ledger.CAMPAIGN_CANCELLED)),
    ("type", retyped(5, "trial.dreamt")),
    ("payload", lacking(0, "baseline_id")),
    ("payload", lacking(0, "identity")),
    ("payload", changed(0, cases="many")),
    ("payload", lacking(1, "candidate_id")),
    ("candidate", [*whole()[:2], whole()[1], *whole()[2:]]),
    ("candidate", changed(2, candidate_id="c3")),
    ("candidate", changed(2, candidate_id="base")),
    ("trial", moved(whole(), 1, 4)),
    ("trial", changed(3, candidate_id="c3")),
    ("trial", changed(3, arm="candidate")),
    ("trial", changed(4, arm="baseline")),
    ("trial", changed(4, status="pending")),
    ("trial", changed(4, repeat=REPEATS)),
    ("trial", changed(4, repeat=-1)),
    ("trial", changed(4, repeat=0.5)),
    ("trial", changed(4, repeat="0")),
    ("trial", changed(4, repeat=True)),
    ("trial", changed(4, case_id=7)),
    ("trial", added(ledger.TRIAL_COMPLETED, ANOTHER, at=-3)),
    ("trial", added(ledger.TRIAL_COMPLETED, trial("base", "z", 0), at=-3)),
    ("coordinate", added(ledger.TRIAL_COMPLETED, trial("c1", "a", 0), at=8)),
    ("comparison", added(ledger.COMPARISON_RECORDED, {"candidate_id": "c1"})),
    ("comparison", changed(15, candidate_id="base")),
    ("decision", without(whole(), 15)),
    ("decision", added(ledger.DECISION_RECORDED, {"candidate_id": "c1", "decision": "pass"})),
    ("decision", changed(16, decision="perhaps")),
    ("completion", without(whole(), 17, 18)),
    ("completion", changed(19, selected="c3")),
    ("terminal", [*whole(), (ledger.TRIAL_COMPLETED, ANOTHER)]),
    ("terminal", [*whole(), (ledger.CAMPAIGN_CANCELLED, {"reason": ""})]),
    ("terminal", added(ledger.CAMPAIGN_CANCELLED, {"reason": ""})),
]
#: Law, and a change to the events themselves.
HARMS: list[tuple[str, Callable[[list[Event]], list[Event]]]] = [
    ("sequence", lambda events: [*events[:4], *events[5:]]),
    ("sequence", lambda events: [*events[:4], events[3], *events[4:]]),
    ("sequence", lambda events: events[1:]),
    ("digest", lambda events: [*events[:4], replace(events[4], payload=events[4].payload + " "), *events[5:]]),
    ("digest", lambda events: [*events[:4], replace(events[4], digest=events[3].digest), *events[5:]]),
    ("digest", lambda events: [*events[:4], replace(events[4], recorded_at=datetime(2027, 1, 1)), *events[5:]]),
    ("fence", lambda events: redigested([*events[:4], replace(events[4], fence=0), *events[5:]])),
    ("version", lambda events: redigested([*events[:4], replace(events[4], schema_version=2), *events[5:]])),
    ("payload", lambda events: redigested([*events[:4], replace(events[4], payload="[]"), *events[5:]])),
    ("payload", lambda events: redigested([*events[:4], replace(events[4], payload="{"), *events[5:]])),
]
LEGAL: list[Told] = [
    whole(),
    [*whole()[:9], (ledger.CAMPAIGN_CANCELLED, {"reason": "enough"})],
    changed(19, selected="base"),
    changed(4, status="cancelled"),
    moved(whole(), 2, 4)[:9],
]


def in_python(events: list[Event]) -> str | None:
    """Return the law that the reducer says a history breaks first; None where it breaks none."""
    try:
        fold(events)
    except HistoryError as error:
        return str(error).split("'")[1]
    return None


@pytest.mark.parametrize("told", LEGAL)
def test_a_legal_history_is_legal_on_both_sides(told: Told, in_sql: Callable[[list[Event]], set[str]]) -> None:
    assert in_python(chain(told)) is None
    assert in_sql(chain(told)) == set()


@pytest.mark.parametrize(("law", "told"), BREACHES)
def test_a_breach_is_refused_by_the_name_of_its_law(
    law: str, told: Told, in_sql: Callable[[list[Event]], set[str]]
) -> None:
    assert in_python(chain(told)) == law
    assert in_sql(chain(told)) != set()


@pytest.mark.parametrize(("law", "harm"), HARMS)
def test_an_altered_event_is_refused_by_the_name_of_its_law(
    law: str, harm: Callable[[list[Event]], list[Event]], in_sql: Callable[[list[Event]], set[str]]
) -> None:
    assert in_python(harm(HISTORY)) == law
    assert law in in_sql(harm(HISTORY))


def test_a_proposer_may_register_whom_it_likes_and_must_decide_them_all() -> None:
    told = [(ledger.CAMPAIGN_STARTED, started(None)), *whole()[1:]]
    assert in_python(chain(told)) is None
    assert in_python(chain(without(told, 17, 18))) == "completion"


def test_a_history_of_another_campaign_is_refused() -> None:
    with pytest.raises(HistoryError, match="law 'campaign' broken at event 1"):
        fold(HISTORY, CampaignState("sha256:" + "00" * 32))
    other = redigested([*HISTORY[:4], replace(HISTORY[4], campaign_id="sha256:" + "00" * 32), *HISTORY[5:]])
    with pytest.raises(HistoryError, match="law 'campaign' broken at event 5"):
        fold(other)


@pytest.mark.parametrize("length", range(len(HISTORY) + 1))
def test_every_prefix_is_legal_and_folds_on_to_the_same_state(length: int) -> None:
    assert fold(HISTORY[length:], fold(HISTORY[:length])) == fold(HISTORY)


@pytest.mark.parametrize("told", [told for _, told in BREACHES])
def test_a_refused_event_changes_nothing(told: Told) -> None:
    state = CampaignState()
    for event in chain(told):
        before = copy.deepcopy(state)
        try:
            reduce(state, event)
        except HistoryError:
            assert state == before
            return
    pytest.fail("nothing was refused")


def test_nothing_follows_the_end() -> None:
    for end in (HISTORY, chain([*whole()[:9], (ledger.CAMPAIGN_CANCELLED, {"reason": "enough"})])):
        for kind, payload in whole():
            state = fold(end)
            following = chained(
                state.digest,
                campaign_id=CAMPAIGN,
                sequence=state.sequence + 1,
                type=kind,
                fence=9,
                payload=canonical_json(payload),
            )
            with pytest.raises(HistoryError, match="law 'terminal'"):
                reduce(state, following)
            assert state == fold(end)


def test_equal_fences_may_follow_and_greater_ones_too() -> None:
    for fences in ([1] * 20, list(range(20)), [0] * 10 + [7] * 10):
        assert in_python(chain(whole(), fences)) is None


@st.composite
def stories(draw: st.DrawFn) -> Told:
    """A whole history, cut and shuffled and spoilt a little: some are legal, most are not."""
    told = copy.deepcopy(whole())
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(told) - 1))
        match draw(st.sampled_from(["cut", "drop", "double", "move", "change"])):
            case "cut":
                told = told[: at + 1]
            case "drop":
                told = without(told, at) or told
            case "double":
                told = [*told[:at], told[at], *told[at:]]
            case "move":
                told = moved(told, at, draw(st.integers(0, len(told) - 1)))
            case _:
                kind, payload = copy.deepcopy(told[at])
                member = draw(st.sampled_from(sorted(payload)))
                if member not in ("identity", "cases", "baseline_id", "label", "measurements"):
                    payload[member] = draw(st.sampled_from(["c1", "c2", "c3", "base", "a", "pass", "success", 0, 1, 5]))
                told[at] = (kind, payload)
    return told


@settings(max_examples=150, deadline=None)
@given(told=stories())
def test_sql_and_python_agree_on_which_histories_are_legal(
    told: Told, in_sql: Callable[[list[Event]], set[str]]
) -> None:
    events = chain(told)
    law, laws = in_python(events), in_sql(events)
    assert (law is None) == (laws == set()), (law, laws)


@settings(max_examples=100, deadline=None)
@given(told=stories(), data=st.data())
def test_a_fold_goes_on_where_it_was_left(told: Told, data: st.DataObject) -> None:
    events = chain(told)
    while events and in_python(events) is not None:
        events = events[:-1]
    cut = data.draw(st.integers(0, len(events)))
    assert fold(events[cut:], fold(events[:cut])) == fold(events)


def test_the_table_form_says_the_same() -> None:
    table = ledger.as_table(HISTORY)
    assert isinstance(table, pa.Table)
    assert [Event(*row.values()) for row in table.to_pylist()] == HISTORY
