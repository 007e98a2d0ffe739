"""Derivation keys: what changes one and what does not, and reuse that changes no outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

import opfield as of
from opfield.core import Envelope, Status, seal
from opfield.core.cancellation import Cancellation
from opfield.errors import PlanError
from opfield.interpret import common_steps, derive, execute, execute_reusing
from opfield.plan import Plan, normalize
from opfield.plugin import Cost, Registry, installed_registry
from opfield.plugin.running import Terms
from opfield_rag.plugin import GARDENING
from opfield_rag.spec import SPEC_SCHEMA, Spec
from opfield_rag.toy import toy_cases
from tests.interpret.test_execute import number, symbolic
from tests.plan.drawing import plans
from tests.plugin.toy import toy

RAG = installed_registry()
TRIAL = RAG.plan("ragtoy.trial")
BUILD = ("ragtoy.chunk/v1", "ragtoy.index/v1")
CHANGES: dict[str, Any] = {
    "chunk_words": 34, "overlap_words": 8, "lexical_weight": 1.75, "vector_weight": 1.75, "top_k": 4,
}  # fmt: skip


def inputs(case: int = 0, **changes: Any) -> list[Envelope]:
    """Return what a trial of the toy takes."""
    values = {SPEC_SCHEMA: Spec(**changes), "ragtoy.corpus/v1": GARDENING}
    sealed = [seal(schema, RAG.schemas[schema].codec.encode(schema, value)) for schema, value in values.items()]
    return [*sealed, of.seal("ragtoy.case/v1", toy_cases()[case].input)]


@settings(max_examples=40)
@given(plans(depth=5))
def test_reuse_changes_no_outcome_and_runs_nothing_twice(plan: Plan) -> None:
    registry = symbolic(plan)
    given_inputs = [seal(schema, f"in {ix}") for ix, schema in enumerate(plan.inputs)]
    clean = execute(plan, registry, given_inputs)
    shelf: dict[str, tuple[Envelope, ...]] = {}
    first = execute_reusing(plan, registry, given_inputs, shelf)
    again = execute_reusing(normalize(plan), registry, given_inputs, shelf)
    assert first.execution.outputs == again.execution.outputs == clean.outputs
    assert again.ran == ()
    # Within one plan, too, equal operations over equal inputs are made once.
    assert len(first.ran) == len(shelf)
    observed = [(each.operation, each.branch) for each in first.execution.observations]
    assert len(observed) == len(first.ran)
    assert set(observed) <= {(each.operation, each.branch) for each in clean.observations}


def test_reuse_stops_when_it_is_asked_to() -> None:
    cancellation = Cancellation()
    cancellation.cancel("enough")
    shelf: dict[str, tuple[Envelope, ...]] = {}
    done = execute_reusing(TRIAL, RAG, inputs(), shelf, Terms(cancellation))
    assert (done.execution.status, done.ran[1:], shelf) == (Status.CANCELLED, (), {})


@pytest.mark.parametrize("name", CHANGES)
def test_a_parameter_changes_the_keys_of_what_reads_it_and_of_all_downstream(name: str) -> None:
    """Mutate each parameter, run clean and with reuse: the outcomes are equal (§C.7)."""
    shelf: dict[str, tuple[Envelope, ...]] = {}
    execute_reusing(TRIAL, RAG, inputs(), shelf)
    changed = inputs(**{name: CHANGES[name]})
    reusing = execute_reusing(TRIAL, RAG, changed, shelf)
    assert reusing.execution.outputs == execute(TRIAL, RAG, changed).outputs
    is_build = name in ("chunk_words", "overlap_words")
    assert reusing.reused == (() if is_build else BUILD)
    shared = common_steps(derive(TRIAL, RAG.descriptors, inputs()), derive(TRIAL, RAG.descriptors, changed))
    assert len(shared) == (0 if is_build else 2)


def test_a_dependency_that_is_not_declared_gives_a_wrong_outcome() -> None:
    """Why the conformance kit must find it: a key without what is read lets an old index stand for a new one."""
    chunk = RAG.operations["ragtoy.chunk/v1"]
    forgetful = replace(chunk, descriptor=replace(chunk.descriptor, reads=(f"{SPEC_SCHEMA}#overlap_words",)))
    registry = Registry(RAG.manifests, RAG.schemas, {**RAG.operations, chunk.descriptor.id: forgetful}, RAG.plans)
    shelf: dict[str, tuple[Envelope, ...]] = {}
    execute_reusing(TRIAL, registry, inputs(), shelf)
    changed = inputs(chunk_words=8, overlap_words=4)
    stale = execute_reusing(TRIAL, registry, changed, shelf)
    assert stale.ran == ()
    assert stale.execution.outputs != execute(TRIAL, registry, changed).outputs


def test_a_case_changes_the_query_and_not_the_build() -> None:
    shelf: dict[str, tuple[Envelope, ...]] = {}
    ran = [execute_reusing(TRIAL, RAG, inputs(case), shelf).ran for case in range(len(toy_cases()))]
    assert ran[0][:2] == BUILD
    assert all("ragtoy.chunk/v1" not in each for each in ran[1:])


def test_a_key_covers_the_meaning_of_an_operation_and_not_its_cost() -> None:
    chunk = RAG.descriptors["ragtoy.chunk/v1"]
    before = derive(TRIAL, RAG.descriptors, inputs()).keys
    dearer = {**RAG.descriptors, chunk.id: replace(chunk, cost=Cost(9, 9))}
    newer = {**RAG.descriptors, chunk.id: replace(chunk, version="2")}
    assert derive(TRIAL, dearer, inputs()).keys == before
    assert not set(derive(TRIAL, newer, inputs()).keys) & set(before)


def test_what_was_altered_on_the_shelf_is_made_again_and_failures_are_not_kept() -> None:
    registry = Registry().register(toy())
    shelf: dict[str, tuple[Envelope, ...]] = {}
    plan = registry.plan("toy.twice")
    execute_reusing(plan, registry, [number(1)], shelf)
    for key, (kept,) in list(shelf.items()):
        shelf[key] = (Envelope(kept.schema, 99, kept.digest),)
    again = execute_reusing(plan, registry, [number(1)], shelf)
    assert (again.execution.outputs[0].payload, again.reused) == (3, ())
    shelf.clear()
    refused = execute_reusing(registry.operations["toy.refuse/v1"].plan, registry, [number(1)], shelf)
    assert refused.execution.status is Status.DOMAIN_FAILURE
    assert shelf == {}


def test_other_inputs_than_the_plan_takes_are_refused() -> None:
    with pytest.raises(PlanError, match=r"the plan takes ragtoy\.spec/v1, .*, was given nothing"):
        derive(TRIAL, RAG.descriptors, [])
