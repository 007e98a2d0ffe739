"""Static interpreters: their algebraic laws over drawn plans, and what they say of plans that people write."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.core import seal
from opfield.core.operation import Cost, Effect, OperationDescriptor, Port
from opfield.errors import PlanError
from opfield.interpret import (
    analyze,
    check_effects,
    derive,
    diagram,
    disclosures,
    obligations,
    provenance,
    wiring,
)
from opfield.plan import Plan, copy, drop, normalize, primitive
from opfield.plugin import Operation, Registry
from tests.plan.drawing import operations_of, plans, some


def authorizing(outputs: Port, chance: Random) -> dict[str, Any]:
    """Draw what an operation authorizes, where one of its outputs can be the certificate of it."""
    single = sorted(each for each in set(outputs) if outputs.count(each) == 1)
    if not single:
        return {}
    return {"clears": tuple(chance.sample("pqr", 2)), "certifies": chance.choice(single)}


def varied(operations: dict[str, OperationDescriptor]) -> dict[str, OperationDescriptor]:
    """Give each operation effects, labels, claims, costs and data classes of its own."""
    told = {}
    for name, each in operations.items():
        chance = Random(name)
        work = chance.random() * 9
        told[name] = OperationDescriptor(
            name, each.plugin, each.version, each.inputs, each.outputs,
            effects=tuple(chance.sample(list(Effect), 2)),
            dependencies=tuple(chance.sample("uvwxyz", 2)),
            is_deterministic=chance.random() < 0.7,
            is_cacheable=chance.random() < 0.7,
            cost=Cost(work, work * chance.random(), chance.randrange(100)),
            emits=tuple(chance.sample("pqr", 1)),
            admits=tuple(chance.sample("pqr", 2)),
            **authorizing(each.outputs, chance),
        )  # fmt: skip
    return told


@some
@given(plans())
def test_normalization_changes_nothing_that_an_interpreter_says(plan: Plan) -> None:
    operations, normal = varied(operations_of(plan)), normalize(plan)
    assert analyze(normal, operations) == analyze(plan, operations)
    assert wiring(normal, operations) == wiring(plan, operations)
    assert diagram(normal, operations) == diagram(plan, operations)
    assert provenance(normal, operations) == provenance(plan, operations)
    inputs = [seal(schema, ix) for ix, schema in enumerate(plan.inputs)]
    assert derive(normal, operations, inputs) == derive(plan, operations, inputs)
    registry = Registry(operations={id: Operation(each, len) for id, each in operations.items()})
    assert obligations(normal, registry) == obligations(plan, registry)
    classes = {schema: kinds for schema, kinds in {"a/v1": ["p"], "b/v1": ["q", "r"]}.items() if schema in plan.inputs}
    assert disclosures(normal, operations, classes) == disclosures(plan, operations, classes)


@some
@given(plans())
def test_an_analysis_is_that_of_the_operations_wherever_they_stand(plan: Plan) -> None:
    operations = varied(operations_of(plan))
    told = analyze(plan, operations)
    steps = [step.operation for step in wiring(plan, operations).steps]
    assert told.operations == tuple(sorted({each.id for each in steps}))
    assert set(told.effects) == {effect for each in steps for effect in each.effects}
    assert set(told.dependencies) == {label for each in steps for label in each.dependencies}
    assert told.is_deterministic == all(each.is_deterministic for each in steps)
    assert told.is_cacheable == all(each.is_cacheable for each in steps)
    assert told.work == math.fsum(each.cost.work for each in steps)
    assert told.critical_path <= told.work


@some
@given(plans())
def test_every_wire_of_a_graph_comes_from_before_and_bears_its_schema(plan: Plan) -> None:
    graph = wiring(plan, varied(operations_of(plan)))
    for ix, step in enumerate(graph.steps):
        assert tuple(wire.schema for wire in step.inputs) == step.operation.inputs
        assert all(wire.source is None or wire.source < ix for wire in step.inputs)
    for wire in (*graph.outputs, *(wire for step in graph.steps for wire in step.inputs)):
        port = graph.inputs if wire.source is None else graph.steps[wire.source].operation.outputs
        assert port[wire.index] == wire.schema
    assert tuple(wire.schema for wire in graph.outputs) == plan.outputs


@some
@given(plans(), st.data())
def test_what_an_output_comes_from_is_what_reaches_it(plan: Plan, data: st.DataObject) -> None:
    operations = operations_of(plan)
    graph = wiring(plan, operations)
    # An independent way: forwards from each step and input, instead of backwards from the output.
    for start in [*((None, ix) for ix in range(len(plan.inputs))), *((ix, 0) for ix in range(len(graph.steps)))]:
        reached = {start[0]} if start[0] is not None else set()
        for ix, step in enumerate(graph.steps):
            if any(
                wire.source in reached if wire.source is not None else (None, wire.index) == start
                for wire in step.inputs
            ):
                reached.add(ix)
        for origin, wire in zip(provenance(plan, operations), graph.outputs, strict=True):
            is_reached = wire.source in reached if wire.source is not None else (None, wire.index) == start
            assert is_reached == (start[1] in origin.inputs if start[0] is None else start[0] in origin.steps)


def described(name: str, inputs: str, outputs: str, **more: object) -> OperationDescriptor:
    """Return an operation over schemas named by words."""
    return OperationDescriptor(name, "rag", "1", tuple(inputs.split()), tuple(outputs.split()), **more)  # type: ignore[arg-type]


SEARCH = described("search", "query index", "candidates", emits=("unauthorized",), cost=Cost(4, 4, 10))
AUTHORIZE = described("authorize", "candidates", "candidates")
RERANK = described(
    "rerank", "candidates", "candidates",
    effects=(Effect.CPU, Effect.NETWORK, Effect.REMOTE_DISCLOSURE), admits=("public",),
    is_deterministic=False, cost=Cost(7, 7, 1),
)  # fmt: skip
KNOWN = {each.id: each for each in (SEARCH, AUTHORIZE, RERANK)}


def test_effects_are_refused_before_anything_runs() -> None:
    told = analyze(primitive(SEARCH) >> primitive(RERANK), KNOWN)
    assert (told.work, told.critical_path, told.memory_bytes) == (11, 11, 10)
    assert not told.is_deterministic
    check_effects(told, set(Effect))
    with pytest.raises(PlanError, match=r"not allowed: network, remote\.disclosure; allowed: cpu"):
        check_effects(told, {Effect.CPU})


def test_side_by_side_the_longest_path_and_all_the_memory_count() -> None:
    told = analyze(primitive(SEARCH) @ primitive(RERANK), KNOWN)
    assert (told.work, told.critical_path, told.memory_bytes) == (11, 7, 11)


def test_what_is_dropped_runs_and_reaches_no_output() -> None:
    plan = primitive(SEARCH) >> copy(("candidates",)) >> (drop(("candidates",)) @ primitive(AUTHORIZE))
    (origin,) = provenance(plan, KNOWN)
    assert (origin.inputs, origin.operations) == ((0, 1), ("authorize", "search"))
    assert analyze(plan >> drop(("candidates",)), KNOWN).operations == ("authorize", "search")
    assert provenance(plan >> drop(("candidates",)), KNOWN) == ()


def test_a_diagram_names_operations_effects_and_schemas() -> None:
    assert diagram(primitive(SEARCH) >> primitive(RERANK), KNOWN).splitlines() == [
        "flowchart LR",
        '    in0(["query"])',
        '    in1(["index"])',
        '    op0["search"]',
        '    op1["rerank<br/>network<br/>remote.disclosure"]',
        '    out0(["candidates"])',
        '    in0 -- "query" --> op0',
        '    in1 -- "index" --> op0',
        '    op0 -- "candidates" --> op1',
        "    op1 --> out0",
    ]
    hostile = described('"]<script>', "a", "")
    assert '    op0["#34;#93;#60;script#62;"]' in diagram(primitive(hostile), {hostile.id: hostile})
