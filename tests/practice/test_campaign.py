"""A campaign takes bound attempts as candidates: each is admitted to its run, and its registration names it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import opfield as of
from opfield.campaign.audit import audit
from opfield.campaign.prepare import prepare
from opfield.errors import DeclarationError, UnknownNameError
from opfield.practice import BudgetCharge
from opfield.warehouse.landing import landing_numbers
from opfield.warehouse.views import installed_views
from tests.practice.landed import at, bind, rows
from tests.practice.records import named, run, used

RUN = run(candidate_attempts=(), budget_consumed=used(candidates_considered=2))


def length(trial: of.TrialRequest) -> dict[str, float]:
    return {"length": float(len(trial.spec["animal"]))}


def campaign(bindings: Any = None, **more: Any) -> of.Campaign:
    return of.declare(
        "animals",
        baseline={"animal": "dog"},
        candidates={"fox 0": {"animal": "fox 0"}, "fox 1": {"animal": "fox 1"}},
        cases={"one": {}},
        run=length,
        metrics=of.Metric("length"),
        policy=of.Policy([of.coverage()], prefer="length"),
        **({} if bindings is None else {"bindings": bindings}),
        **more,
    )


def bound(root: Path, *charges: BudgetCharge) -> dict[str, str]:
    """Bind an attempt for each candidate, and return the binding ids by label."""
    bind(root, RUN, *(at(RUN, ix, charge) for ix, charge in enumerate(charges)))
    return {f"fox {row['attempt_index']}": row["binding_id"] for row in rows(root, "from bindings")}


def test_registrations_name_the_bindings_and_the_run_is_charged(root: Path) -> None:
    bindings = bound(root, BudgetCharge(1, 1), BudgetCharge(1, 1))
    outcome = of.run(campaign({"fox 1": bindings["fox 1"]}), root)
    assert outcome.state == "completed"
    registered = rows(root, "select payload from events where type = 'candidate.registered'")
    told = {each["label"]: each.get("binding_id") for row in registered for each in [json.loads(row["payload"])]}
    assert told == {"fox 0": None, "fox 1": bindings["fox 1"]}
    (row,) = rows(root, "from candidate_bindings")
    assert (row["label"], row["run_id"], row["admission"], row["is_sound"]) == ("fox 1", RUN.run_id, "admitted", True)
    assert rows(root, "select charged_candidates, admitted from run_budgets") == [
        {"charged_candidates": 1, "admitted": 1}
    ]
    assert audit(root).findings == ()
    assert of.run(campaign({"fox 1": bindings["fox 1"]}), root).appended == 0
    assert len(landing_numbers(root)) == 2


def test_a_campaign_whose_bindings_do_not_fit_their_run_together_starts_nothing(root: Path) -> None:
    bindings = bound(root, BudgetCharge(2, 1), BudgetCharge(1, 1))
    with pytest.raises(DeclarationError, match="candidates_exceed_remaining"):
        of.run(campaign(bindings), root)
    assert rows(root, "from events") == []
    assert rows(root, "from admissions") == []


def test_a_campaign_that_names_no_binding_of_the_warehouse_starts_nothing(root: Path) -> None:
    with pytest.raises(DeclarationError, match="is no binding of this warehouse"):
        of.run(campaign({"fox 0": named("x")}), root)
    assert rows(root, "from events") == []


def test_bindings_are_part_of_the_identity_and_their_absence_is_not() -> None:
    def identity(of_it: of.Campaign) -> str:
        return prepare(of_it, installed_views()).campaign_id

    plain = campaign()
    assert identity(campaign({})) == identity(plain)
    assert "bindings" not in prepare(plain, installed_views()).identity
    assert all("binding_id" not in each for each in prepare(plain, installed_views()).registered)
    one, other = campaign({"fox 0": named("x")}), campaign({"fox 0": named("y")})
    assert len({identity(plain), identity(one), identity(other)}) == 3


@pytest.mark.parametrize(
    "wrong", [{"fox 0": "x"}, {"fox 0": None}, ["fox 0"], {"fox 0": named("x"), "fox 1": named("x")}, "fox 0"]
)
def test_what_names_no_binding_is_refused(wrong: Any) -> None:
    with pytest.raises(DeclarationError, match="binding"):
        campaign(wrong)


def test_a_binding_of_an_unknown_candidate_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown candidate with a binding 'fox 2'"):
        prepare(campaign({"fox 2": named("x")}), installed_views())


def test_an_audit_tells_where_a_binding_behind_a_candidate_is_gone(root: Path) -> None:
    bindings = bound(root, BudgetCharge(1, 1))
    of.run(campaign(bindings), root)
    for path in (root / "practice").rglob("000000000*"):
        path.unlink()
    assert "binding" in {each.law for each in audit(root).findings}
    assert [each["is_sound"] for each in rows(root, "from candidate_bindings")] == [False]


def test_a_confirmation_keeps_the_binding_of_what_it_confirms(root: Path) -> None:
    bindings = bound(root, BudgetCharge(1, 1), BudgetCharge(1, 1))
    of.run(campaign(bindings), root)
    asked = "select label from campaigns join candidates on candidate_id = selected_id"
    selected = rows(root, asked)[0]["label"]
    fresh = of.declare(
        "animals",
        baseline={"animal": "dog"},
        candidates={"fox 0": {"animal": "fox 0"}, "fox 1": {"animal": "fox 1"}},
        cases={"two": {"another": 1}},
        run=length,
        metrics=of.Metric("length"),
        policy=of.Policy([of.coverage()], prefer="length"),
        bindings=bindings,
    )
    linked = of.confirming("animals", replace(fresh), root)
    assert linked.bindings == {selected: bindings[selected]}
