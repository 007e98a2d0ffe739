"""Admissions charge a run; of two that fit singly but not together, the second is refused, whoever asks."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opfield.errors import DeclarationError
from opfield.practice import BudgetCharge, CandidateOperatorResult, GeometricSearchRun
from opfield.warehouse.admission import admit_bindings
from opfield.warehouse.landing import landing_numbers
from tests.practice.landed import at, bind, lines_of, rows
from tests.practice.records import run, used

#: Two candidates are left, and six steps.
TIGHT = run(candidate_attempts=(), budget_consumed=used(candidates_considered=2, steps_used=4))


def admissions(root: Path) -> list[tuple[int, str, list[str]]]:
    told = rows(
        root,
        "select attempt_index, admission, admissions.reason_codes as why from admissions "
        "join bindings using (binding_id) order by admissions.landing, admissions.position",
    )
    return [(each["attempt_index"], each["admission"], each["why"]) for each in told]


def test_the_second_of_two_that_fit_singly_but_not_together_is_refused(root: Path) -> None:
    wide = BudgetCharge(2, 4)
    assert bind(root, TIGHT, at(TIGHT, 0, wide), at(TIGHT, 1, wide), admit=True) == 0
    assert [each["outcome"] for each in rows(root, "from bindings")] == ["bound", "bound"]
    assert admissions(root) == [
        (0, "admitted", []),
        (1, "refused", ["candidates_exceed_remaining", "steps_exceed_remaining"]),
    ]
    assert rows(root, "from admission_checks") == []
    assert rows(root, "from broken_memberships") == []
    assert bind(root, at(TIGHT, 1, wide), admit=True) == 3


def test_a_refused_admission_leaves_room_for_a_smaller_one(root: Path) -> None:
    charges = (BudgetCharge(1, 4), BudgetCharge(1, 3), BudgetCharge(1, 2))
    assert bind(root, TIGHT, *(at(TIGHT, ix, charge) for ix, charge in enumerate(charges)), admit=True) == 0
    assert admissions(root) == [
        (0, "admitted", []),
        (1, "refused", ["steps_exceed_remaining"]),
        (2, "admitted", []),
    ]


def test_what_an_admitted_binding_holds_is_taken(root: Path) -> None:
    roomy = run(candidate_attempts=())
    same_candidate = at(roomy, 1, filler="fox 0")
    assert bind(root, roomy, at(roomy, 0), at(roomy, 0, filler="cat"), same_candidate, admit=True) == 0
    assert admissions(root) == [
        (0, "admitted", []),
        (0, "refused", ["attempt_index_taken"]),
        (1, "refused", ["candidate_taken"]),
    ]


def test_bindings_are_admitted_by_their_id_all_or_none(root: Path) -> None:
    wide = BudgetCharge(2, 1)
    bind(root, TIGHT, at(TIGHT, 0, wide), at(TIGHT, 1, wide))
    one, other = (each["binding_id"] for each in rows(root, "from bindings order by position"))
    with pytest.raises(DeclarationError, match=r"nothing was recorded: .*candidates_exceed_remaining"):
        admit_bindings(root, [one, other])
    assert landing_numbers(root) == [1]
    admit_bindings(root, [one])
    admit_bindings(root, [one])
    assert landing_numbers(root) == [1, 2]
    with pytest.raises(DeclarationError, match="is no binding of this warehouse"):
        admit_bindings(root, ["0" * 64])
    with pytest.raises(DeclarationError, match="not admitted"):
        admit_bindings(root, [other])


def test_two_processes_at_once_do_not_overspend_a_run(root: Path) -> None:
    wide = BudgetCharge(2, 1)
    bind(root, TIGHT)
    paths = []
    for ix in range(2):
        paths.append(root.parent / f"{ix}.jsonl")
        paths[-1].write_text(lines_of([at(TIGHT, ix, wide)]), encoding="utf-8")
    command = [sys.executable, "-m", "opfield", "bind", "--admit", "--warehouse", str(root)]
    started = [subprocess.Popen([*command, str(path)], cwd=root.parent, stderr=subprocess.DEVNULL) for path in paths]
    assert sorted(each.wait(timeout=60) for each in started) == [0, 3]
    assert sorted(admission for _, admission, _ in admissions(root)) == ["admitted", "refused"]
    assert rows(root, "from broken_memberships") == []


charges = st.builds(BudgetCharge, st.integers(1, 2), st.integers(1, 3))


def expected(of: GeometricSearchRun, results: list[CandidateOperatorResult]) -> list[bool]:
    """Admit one after the other, by hand."""
    left = [of.budget_consumed.max_candidates - of.budget_consumed.candidates_considered]
    left.append(of.budget_consumed.max_steps - of.budget_consumed.steps_used)
    taken: set[object] = set()
    admitted = []
    for each in results:
        charge = each.budget_charge
        keys = {each.attempt_index, each.candidate_digest}
        fits = charge.candidates <= left[0] and charge.steps <= left[1] and not keys & taken
        admitted.append(fits)
        if fits:
            left = [left[0] - charge.candidates, left[1] - charge.steps]
            taken |= keys
    return admitted


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", "c", "d"]), charges), max_size=7))
def test_admissions_are_those_of_one_after_the_other(
    made: Path, tmp_path_factory: pytest.TempPathFactory, asked: list[tuple[int, str, BudgetCharge]]
) -> None:
    root = shutil.copytree(made, tmp_path_factory.mktemp("drawn") / "warehouse")
    roomy = run(candidate_attempts=(), budget_consumed=used(candidates_considered=0, steps_used=4))
    listed = {each.operator_result_id: each for each in (at(roomy, ix, charge, name) for ix, name, charge in asked)}
    bind(root, roomy, *listed.values(), admit=True)
    told = {
        each["operator_result_id"]: each["admission"]
        for each in rows(root, "select operator_result_id, admission from bindings join admissions using (binding_id)")
    }
    results = list(listed.values())
    assert [told[each.operator_result_id] == "admitted" for each in results] == expected(roomy, results)
    assert rows(root, "from broken_memberships") == []
