"""Closures computed from plans, replays of what was kept, and what has to be shown for a plan."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.core import Envelope, Status
from opfield.errors import DeclarationError, UnknownNameError
from opfield.interpret import (
    check_closure,
    closure,
    derive,
    execute,
    execute_reusing,
    invalidated,
    obligations,
    replay,
    wiring,
)
from opfield.plan import Plan
from opfield_rag.spec import PATCHES
from tests.interpret.test_derive import CHANGES, RAG, TRIAL, inputs
from tests.interpret.test_static import varied
from tests.plan.drawing import operations_of, plans


@settings(max_examples=40)
@given(plans(depth=5), st.data())
def test_what_a_change_invalidates_is_what_reads_it_and_all_downstream(plan: Plan, data: st.DataObject) -> None:
    operations = varied(operations_of(plan))
    graph = wiring(plan, operations)
    labels = sorted({label for step in graph.steps for label in step.operation.dependencies})
    if not labels:
        return
    target = data.draw(st.sampled_from(labels))
    steps = set(invalidated(plan, operations, [target]))
    for ix, step in enumerate(graph.steps):
        is_reader = target in step.operation.dependencies
        is_downstream = any(wire.source in steps for wire in step.inputs)
        assert (ix in steps) == (is_reader or is_downstream)


@settings(max_examples=40)
@given(plans(depth=5), st.data())
def test_a_computed_closure_names_exactly_what_a_change_invalidates(plan: Plan, data: st.DataObject) -> None:
    operations = varied(operations_of(plan))
    labels = sorted({label for step in wiring(plan, operations).steps for label in step.operation.dependencies})
    if not labels:
        return
    targets = data.draw(st.lists(st.sampled_from(labels), min_size=1, max_size=2, unique=True))
    rules = data.draw(st.sets(st.sampled_from(labels)))
    narrow, wide = closure(plan, operations, targets, rules), closure(plan, operations, targets)
    assert narrow[: len(targets)] == tuple(targets)
    assert set(narrow) <= set(wide)
    for computed in (narrow, wide):
        check_closure(plan, operations, targets, reversed(computed))


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_parameter_invalidates_are_the_steps_whose_keys_it_changes(name: str) -> None:
    """Causality and derivation keys agree: reuse is decided by both together."""
    target = next(each.targets for each in PATCHES if each.optic == f"ragtoy.spec.{name}")
    before = derive(TRIAL, RAG.descriptors, inputs())
    after = derive(TRIAL, RAG.descriptors, inputs(**{name: CHANGES[name]}))
    changed = [ix for ix, (one, other) in enumerate(zip(before.keys, after.keys, strict=True)) if one != other]
    assert tuple(changed) == invalidated(TRIAL, RAG.descriptors, target)


def test_a_closure_that_leaves_something_out_or_names_too_much_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"leaves out ragtoy\.index/v1, .* and names without need nothing"):
        check_closure(TRIAL, RAG.descriptors, ["index.chunk"], ["index.chunk"])
    with pytest.raises(DeclarationError, match=r"leaves out nothing and names without need ragtoy\.chunk/v1"):
        check_closure(TRIAL, RAG.descriptors, ["query.fusion"], ["query.fusion", "eval.retrieval", "index.chunk"])
    with pytest.raises(UnknownNameError, match=r"did you mean 'index\.chunk'"):
        check_closure(TRIAL, RAG.descriptors, ["index.chunks"], [])
    with pytest.raises(UnknownNameError, match="unknown dependency label 'x'"):
        check_closure(TRIAL, RAG.descriptors, ["index.chunk"], ["x"])


def test_a_replay_gives_what_was_kept_and_runs_nothing() -> None:
    shelf: dict[str, tuple[Envelope, ...]] = {}
    done = execute_reusing(TRIAL, RAG, inputs(), shelf)
    assert replay(TRIAL, RAG, inputs(), shelf).outputs == done.execution.outputs
    missing = replay(TRIAL, RAG, inputs(top_k=4), shelf)
    assert missing.status is Status.INFRASTRUCTURE_FAILURE
    assert missing.failure is not None
    assert missing.failure.message.startswith(
        "nothing that verifies was kept of operation ragtoy.retrieve/v1 under sha256:"
    )
    for key, (kept,) in list(shelf.items()):
        shelf[key] = (Envelope(kept.schema, {"forged": True}, kept.digest),)
    assert replay(TRIAL, RAG, inputs(), shelf).status is Status.INFRASTRUCTURE_FAILURE
    assert execute(TRIAL, RAG, inputs()).outputs == done.execution.outputs


def test_obligations_are_the_laws_and_claims_of_what_the_plan_runs() -> None:
    told = obligations(RAG.plan("ragtoy.query"), RAG)
    assert ("ragtoy", "law", "lenses_are_lawful") in [(each.who, each.what, each.detail) for each in told]
    assert {each.who for each in told} == {"ragtoy", "ragtoy.measure/v1", "ragtoy.retrieve/v1"}
    assert "it does no more than artifact.read, cpu" in {each.detail for each in told}
    measure = RAG.operations["ragtoy.measure/v1"]
    modest = replace(RAG, operations={**RAG.operations, measure.descriptor.id: replace(
        measure, descriptor=replace(measure.descriptor, is_deterministic=False))})  # fmt: skip
    assert len(obligations(RAG.plan("ragtoy.query"), modest)) == len(told) - 1
