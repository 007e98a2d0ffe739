"""Any change of meaning changes the binding or is refused, a change of words changes nothing; over all fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any

import pytest

from opfield.practice import CandidateAttemptRunBinding, bind_candidate_attempt
from tests.practice import records
from tests.practice.records import budget, gate, named, result, run


@dataclass(frozen=True)
class Handed:
    """All that is handed over for one binding."""

    asked: Any
    run: Any
    result: Any
    budget: Any
    gate: Any


def valid() -> Handed:
    return Handed(records.asked(run(), result()), run(), result(), budget(), gate())


def bind(handed: Handed) -> Any:
    return bind_candidate_attempt(
        handed.asked,
        handed.run,
        handed.result,
        compute_budget_decision=handed.budget,
        search_gate_decision=handed.gate,
    )


def others(value: Any) -> Iterator[Any]:
    """Yield other values of the same kind, each with one change."""
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            for other in others(getattr(value, field.name)):
                yield replace(value, **{field.name: other})
    elif isinstance(value, tuple):
        for ix, each in enumerate(value):
            yield from ((*value[:ix], other, *value[ix + 1 :]) for other in others(each))
        if value:
            yield value[:-1]
            yield (*value, value[-1])
        if value != value[::-1]:
            yield value[::-1]
        else:
            yield (*value, "x")
    elif isinstance(value, Enum):
        yield from (each for each in type(value) if each is not value)
    elif isinstance(value, str):
        yield named(f"not {value}") if len(value) == 64 else f"{value}x"
    elif isinstance(value, int):
        yield value + 1
        yield value - 1
    else:
        assert value is None
        yield "x"


def changed(handed: Handed) -> Iterator[tuple[str, Handed]]:
    """Yield what was handed over with one change, and the name of the top-level field that it is below."""
    for member in fields(handed):
        record = getattr(handed, member.name)
        for field in fields(record):
            for other in others(getattr(record, field.name)):
                yield (
                    f"{member.name}.{field.name}",
                    replace(handed, **{member.name: replace(record, **{field.name: other})}),
                )


def resealed(handed: Handed) -> Handed:
    """Give every record the identity of its content, and every reference to it likewise, as a careful forger would."""
    seal = records.seal
    new_gate = seal(handed.gate)
    new_budget = seal(replace(handed.budget, gate_decision_id=new_gate.gate_decision_id))
    new_run = seal(
        replace(
            handed.run,
            gate_decision_id=new_gate.gate_decision_id,
            budget_id=new_budget.budget_id,
            candidate_attempts=tuple(seal(each) for each in handed.run.candidate_attempts if is_dataclass(each)),
        )
    )
    told = handed.result
    rebuilt = told.candidate_reconstruction
    pairs = [list(each) for each in rebuilt.role_assignments]
    digest = records.sha({"problem_frame_digest": rebuilt.problem_frame_digest, "role_assignments": pairs})
    rebuilt = seal(replace(rebuilt, candidate_digest=digest))
    tried = seal(replace(told.candidate_attempt, candidate_digest=digest))
    new_result = seal(
        replace(
            told,
            geometric_search_run_id=new_run.run_id,
            gate_decision_id=new_gate.gate_decision_id,
            budget_id=new_budget.budget_id,
            attempt_id=tried.attempt_id,
            candidate_digest=digest,
            candidate_reconstruction_digest=rebuilt.candidate_reconstruction_digest,
            candidate_attempt=tried,
            candidate_reconstruction=rebuilt,
        )
    )
    policy = handed.asked.binding_policy_version
    asked = records.asked(new_run, new_result, binding_policy_version=policy)
    return Handed(asked, new_run, new_result, new_budget, new_gate)


CHANGES = tuple(changed(valid()))


def test_every_field_of_every_record_is_changed() -> None:
    touched = {name for name, _ in CHANGES}
    assert touched == {
        f"{member.name}.{each.name}" for member in fields(Handed) for each in fields(getattr(valid(), member.name))
    }
    assert len(CHANGES) > 250


def test_a_change_of_one_field_is_refused_and_one_of_words_changes_nothing() -> None:
    original = bind(valid())
    assert isinstance(original, CandidateAttemptRunBinding)
    for name, handed in CHANGES:
        outcome = bind(handed)
        if name.endswith(".explanation"):
            assert outcome.binding_id == original.binding_id, name
        else:
            assert not isinstance(outcome, CandidateAttemptRunBinding), name


def test_a_change_that_is_sealed_again_throughout_changes_the_binding_or_is_refused() -> None:
    original, outcomes = bind(valid()), 0
    for name, handed in CHANGES:
        again = resealed(handed)
        if again == valid():
            continue
        outcome = bind(again)
        if name.endswith(".explanation"):
            assert outcome == original, name
        elif isinstance(outcome, CandidateAttemptRunBinding):
            assert outcome.binding_id != original.binding_id, name
            outcomes += 1
    assert outcomes > 20


@pytest.mark.parametrize("member", ["asked", "run", "result"])
def test_a_record_of_another_pair_is_refused(member: str) -> None:
    other = replace(run(), operator_set_id="others")
    pair = Handed(None, records.seal(other), result(records.seal(other)), None, None)
    pair = replace(pair, asked=records.asked(pair.run, pair.result))
    mixed = replace(valid(), budget=None, gate=None, **{member: getattr(pair, member)})
    assert isinstance(bind(pair), CandidateAttemptRunBinding)
    assert not isinstance(bind(mixed), CandidateAttemptRunBinding)
