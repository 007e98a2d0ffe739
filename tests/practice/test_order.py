"""Bindings know nothing of each other: any order that the rules allow gives the same ones."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.practice import AttemptIndexPolicy, CandidateOperatorResult, bind_operator_result
from tests.practice.asking import bound
from tests.practice.records import attempt, proposed, reconstruction, result, run, used

ROOMY = run(candidate_attempts=(), budget_consumed=used(max_candidates=40, max_steps=40))


def at(index: int) -> CandidateOperatorResult:
    """An operator result at a position and a candidate of its own."""
    roles = (("animal", f"fox {index}"),)
    rebuilt = reconstruction(candidate_digest=proposed(*roles), role_assignments=roles)
    return result(ROOMY, attempt(attempt_index=index, candidate_digest=proposed(*roles)), rebuilt)


@settings(max_examples=20, deadline=None)
@given(order=st.permutations(range(12)))
def test_attempts_bound_one_by_one_in_any_order_have_the_same_ids(order: list[int]) -> None:
    expected = {bound(ROOMY, at(index)).binding_id for index in range(12)}
    assert {bound(ROOMY, at(index)).binding_id for index in order} == expected
    assert len(expected) == 12


def test_two_attempts_that_fit_singly_but_not_together_are_both_bound_since_binding_uses_nothing() -> None:
    tight = run(candidate_attempts=(), budget_consumed=used(candidates_considered=3))
    for one, other in permutations((at(0), at(1))):
        first = bind_operator_result(tight, result(tight, one.candidate_attempt, one.candidate_reconstruction))
        second = bind_operator_result(tight, result(tight, other.candidate_attempt, other.candidate_reconstruction))
        assert {first.reason_codes, second.reason_codes} == {("structurally_admissible",)}


@pytest.mark.parametrize("index", range(3))
def test_a_contiguous_run_takes_its_next_position_alone(index: int) -> None:
    strict = run(candidate_attempts=(), attempt_index_policy=AttemptIndexPolicy.CONTIGUOUS)
    outcome = bind_operator_result(strict, result(strict, attempt(attempt_index=index)))
    assert outcome.reason_codes == (("structurally_admissible",) if index == 0 else ("attempt_index_unsupported",))
