"""Laws of plans over drawn terms: normal forms, identities, text and JSON, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, find, given, settings
from hypothesis import strategies as st

from opfield.errors import PlanError
from opfield.plan import (
    Plan,
    check_plan,
    faults,
    fold,
    identity,
    normalize,
    parse_plan,
    plan_id,
    plan_json,
    plan_text,
    read_plan,
    sequence,
    tensor,
)
from tests.plan.drawing import MOST, found_once, nodes, operation, operations_of, parts_of, plans, some
from tests.plan.running import Running


@some
@given(plans())
def test_every_drawn_plan_is_well_typed_and_so_is_its_normal_form(plan: Plan) -> None:
    assert faults(plan, operations_of(plan)) == ()
    normal = normalize(plan)
    assert faults(normal) == ()
    assert (normal.inputs, normal.outputs) == (plan.inputs, plan.outputs)


@some
@given(plans())
def test_normalization_is_idempotent_and_leaves_no_nesting_and_no_unit(plan: Plan) -> None:
    normal = normalize(plan)
    assert normal.is_normal
    assert normalize(normal) is normal
    assert normal.size <= plan.size
    waiting = [normal]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        for child in node.children:
            assert child.kind != node.kind
            assert not (child.kind == "identity" and (node.kind == "sequence" or not child.inputs))
        assert node.kind not in ("sequence", "tensor") or len(node.children) > 1


@some
@given(plans())
def test_normalization_changes_no_meaning(plan: Plan) -> None:
    operations = operations_of(plan)
    frame = [f"in {ix}" for ix in range(len(plan.inputs))]
    assert fold(normalize(plan), Running(), operations)(frame) == fold(plan, Running(), operations)(frame)


@some
@given(st.data())
def test_an_identity_is_that_of_every_association_with_units_anywhere(data: st.DataObject) -> None:
    first = data.draw(plans(depth=3))
    parts = [first]
    for _ in range(3):
        parts.append(data.draw(plans(parts[-1].outputs, depth=3)))
    f, g, h, k = (normalize(each) for each in parts)
    straight = plan_id(f >> g >> h >> k)
    unit = identity()
    for other in (
        f >> (g >> (h >> k)),
        (f >> g) >> (h >> k),
        sequence(identity(f.inputs), f, identity(g.inputs), g, h, k, identity(k.outputs)),
        tensor(unit, f >> g, unit) >> (h >> k),
    ):
        assert plan_id(other) == straight
    beside = plan_id(f @ g @ h)
    assert plan_id(f @ (g @ h)) == beside
    assert plan_id(tensor(unit, f, unit, tensor(g, unit), h)) == beside
    assert plan_id(Plan("tensor", (), (), children=())) == plan_id(unit)


@some
@given(plans(), plans())
def test_plans_of_other_normal_forms_have_other_identities(one: Plan, other: Plan) -> None:
    assert (plan_id(one) == plan_id(other)) == (normalize(one) == normalize(other))


@some
@given(plans())
def test_a_plan_is_read_back_from_its_text_and_its_json(plan: Plan) -> None:
    normal = normalize(plan)
    assert parse_plan(plan_text(plan)) == normal
    assert "\n" not in plan_text(plan)
    assert read_plan(json.loads(json.dumps(plan_json(plan)))) == normal


Change = Callable[[dict[str, Any]], None]
BREAKS: dict[str, Change] = {
    "kind": lambda node: node.update(kind="choice"),
    "kind is a number": lambda node: node.update(kind=3),
    "input more": lambda node: node["in"].append("z/v1"),
    "output more": lambda node: node["out"].insert(0, "z/v1"),
    "empty schema": lambda node: node["in"].insert(0, ""),
    "schema is a number": lambda node: node["out"].append(1),
    "port is text": lambda node: node.update({"in": "a/v1"}),
    "port is missing": lambda node: node.pop("out"),
    "another key": lambda node: node.update(cost=1),
    "children are a number": lambda node: node.update(children=7),
    "child is null": lambda node: node.setdefault("children", []).append(None),
    "foreign child": lambda node: node.setdefault("children", []).append({"kind": "copy", "in": ["q"], "out": ["q"]}),
    "no permutation": lambda node: node.update(permutation=[0, 0]),
    "permutation of booleans": lambda node: node.update(permutation=[False]),
    "operation elsewhere": lambda node: node.update(operation="op.other/v1"),
}


@some
@given(plans(), st.sampled_from(sorted(BREAKS)), st.data())
def test_every_malformed_plan_is_refused(plan: Plan, name: str, data: st.DataObject) -> None:
    told = plan_json(plan)
    node = told
    for ix in data.draw(st.sampled_from(nodes(told))):
        node = node["children"][ix]
    # A drop of one wire more is a plan.
    assume(node["kind"] != "drop" or name != "input more")
    BREAKS[name](node)
    with pytest.raises(PlanError, match=r"plan|kind|children"):
        read_plan(told, operations_of(plan))


@some
@given(plans(), st.data())
def test_an_operation_whose_signature_drifted_is_refused(plan: Plan, data: st.DataObject) -> None:
    operations = operations_of(plan)
    if not operations:
        return
    name = data.draw(st.sampled_from(sorted(operations)))
    known = operations[name]
    drifted = operation((*known.inputs, "z/v1"), known.outputs)
    with pytest.raises(PlanError, match=r"the signature of .* drifted: planned"):
        check_plan(plan, operations | {name: drifted})
    with pytest.raises(PlanError, match="unknown operation"):
        check_plan(plan, {key: each for key, each in operations.items() if key != name})


KINDS = ("primitive", "identity", "sequence", "tensor", "permute", "copy", "drop")
#: What is to be among the drawn plans, as far as the bounds say.
REACHED: dict[str, Callable[[Plan], bool]] = {
    **{kind: (lambda plan, kind=kind: any(each.kind == kind for each in parts_of(plan))) for kind in KINDS},  # type: ignore[misc]  # bound at once
    "all constructors": lambda plan: {each.kind for each in parts_of(plan)} == set(KINDS),
    "depth": lambda plan: plan.depth == MOST,
    "parts of a sequence": lambda plan: any(
        each.kind == "sequence" and len(each.children) == MOST for each in parts_of(plan)
    ),
    "parts of a tensor": lambda plan: any(
        each.kind == "tensor" and len(each.children) == MOST for each in parts_of(plan)
    ),
    "wires": lambda plan: any(each.kind == "primitive" and len(each.inputs) == MOST for each in parts_of(plan)),
}


@pytest.mark.parametrize("name", REACHED)
def test_drawn_plans_reach_their_bounds(name: str) -> None:
    found = find(plans(), REACHED[name], settings=found_once)
    assert faults(found, operations_of(found)) == ()


@pytest.mark.parametrize("name", ["primitive", "sequence", "tensor", "permute", "copy"])
def test_a_counterexample_shrinks_to_a_small_plan_that_is_still_well_typed(name: str) -> None:
    """As if a law were wrong of such plans: what is shown of it is no artefact of shrinking."""
    reached = REACHED[name]
    shrunk = find(plans(), reached, settings=settings(max_examples=1_000, database=None, derandomize=True))
    assert reached(shrunk)
    assert faults(shrunk, operations_of(shrunk)) == ()
    assert shrunk.size <= 3
    assert read_plan(plan_json(shrunk), operations_of(shrunk)) == normalize(shrunk)
