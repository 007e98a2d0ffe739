"""The law of a ragged campaign's grid: the reducer and the view `violations` refuse the same histories."""

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
from tests.campaign.test_reducer import Told, chain, in_python, started, trial, without

InSql = Callable[[list[Event]], set[str]]

GATE: dict[str, Any] = {"kind": "percentile", "name": "slow", "metric": None, "threshold": None, "options": {}}
#: base runs a twice and b once, c1 runs a once and b twice, c2 runs both once.
GRID = [("base", "a", 0), ("base", "a", 1), ("base", "b", 0)]
GRID += [("c1", "a", 0), ("c1", "b", 0), ("c1", "b", 1), ("c2", "a", 0), ("c2", "b", 0)]


def ragged(**members: Any) -> Told:
    """A ragged history: 1 + 2 + 8 events, computed evidence, 4 verdicts and the end."""
    first: dict[str, Any] = started()
    first["coordinates"] = len(GRID)
    first["identity"] |= {"coupling": "none", "policy": {"gates": [GATE]}}
    first |= members
    told: Told = [(ledger.CAMPAIGN_STARTED, first)]
    told += [(ledger.CANDIDATE_REGISTERED, {"candidate_id": each, "label": each}) for each in ("c1", "c2")]
    told += [(ledger.TRIAL_COMPLETED, trial(*coordinate)) for coordinate in GRID]
    told.append((ledger.EVIDENCE_RECORDED, {"gate_ix": 0, "name": "slow", "results": []}))
    for each in ("c1", "c2"):
        told.append((ledger.COMPARISON_RECORDED, {"candidate_id": each}))
        told.append((ledger.DECISION_RECORDED, {"candidate_id": each, "decision": "pass"}))
    return [*told, (ledger.CAMPAIGN_COMPLETED, {"selected": "c1", "outcome": "selected"})]


def of_policy(*gates: Any) -> Told:
    told = ragged()
    told[0][1]["identity"]["policy"] = {"gates": list(gates)}
    return told


def of_a_proposer() -> Told:
    told = ragged()
    told[0][1]["identity"]["candidates"] = None
    return told


BREACHES: list[tuple[str, Told]] = [
    ("grid", ragged(coordinates=5)),
    ("grid", ragged(coordinates=13)),
    ("grid", ragged(coordinates=-1)),
    ("grid", ragged(coordinates=2**53 - 1)),
    ("grid", ragged(coordinates="8")),
    ("grid", ragged(coordinates=8.5)),
    ("grid", ragged(coordinates=True)),
    ("grid", ragged(coordinates=0, cases=0)),
    ("grid", ragged(coordinates=-6, cases=-2)),
    ("grid", of_a_proposer()),
    ("grid", of_policy(GATE, {**GATE, "kind": "sequential", "options": {"looks": [1, 2]}})),
    ("payload", of_policy({"name": "slow"})),
    ("evidence", ragged(coordinates=9)),
    ("evidence", without(ragged(), 5)),
    ("evidence", ragged(coordinates=None)),
]


def test_a_ragged_history_is_legal_on_both_sides(in_sql: InSql) -> None:
    assert in_python(chain(ragged())) is None
    assert in_sql(chain(ragged())) == set()
    assert fold(chain(ragged())).declared_cells == len(GRID)


@pytest.mark.parametrize("coordinates", [6, 8])
def test_every_case_runs_once_at_least_and_as_often_as_declared_at_most(in_sql: InSql, coordinates: int) -> None:
    # 2 cases on 3 arms, each up to twice: of 6 to 12 cells
    told = chain(without(ragged(coordinates=coordinates), 11)[:11])
    assert in_python(told) is None
    assert in_sql(told) == set()


@pytest.mark.parametrize(("law", "told"), BREACHES)
def test_a_breach_is_refused_by_the_name_of_its_law(law: str, told: Told, in_sql: InSql) -> None:
    assert in_python(chain(told)) == law
    in_views = in_sql(chain(told))
    assert in_views
    assert law in in_views or law == "payload"


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


@pytest.mark.parametrize("length", range(len(ragged()) + 1))
def test_every_prefix_folds_on_to_the_same_state(length: int) -> None:
    history = chain(ragged())
    assert fold(history[length:], fold(history[:length])) == fold(history)


@st.composite
def stories(draw: st.DrawFn) -> Told:
    """A ragged history that declares some number of coordinates, cut and spoilt a little."""
    numbers = st.sampled_from([None, 0, 5, 6, 7, 8, 9, 12, 13, 8.0, 8.5, "8", False, -8, 2**53 - 1])
    told = ragged(coordinates=draw(numbers))
    identity = told[0][1]["identity"]
    match draw(st.sampled_from(["as it is", "as it is", "proposer", "sequential", "fewer", "no gates", "doubled"])):
        case "proposer":
            identity["candidates"] = None
        case "sequential":
            identity["policy"]["gates"].append({**GATE, "kind": "sequential"})
        case "fewer":
            identity["repeats"] = 1
        case "no gates":
            identity["policy"] = {"gates": draw(st.sampled_from([None, "x", 5, [5], []]))}
        case "doubled":
            identity["candidates"] = ["c1", "c2", "c2"]
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(1, len(told) - 1))
        told = told[: at + 1] if draw(st.booleans()) else without(told, at)
    # The projection says whom a proposer brought, and these histories have none: the end is left out.
    return [each for each in told if each[0] != ledger.CAMPAIGN_COMPLETED]


@settings(max_examples=150, deadline=None)
@given(told=stories())
def test_sql_and_python_agree_on_which_histories_are_legal(told: Told, in_sql: InSql) -> None:
    law, laws = in_python(chain(told)), in_sql(chain(told))
    assert (law is None) == (laws == set()), (law, laws)
