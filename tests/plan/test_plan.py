"""Plans by example: golden identities, operators, messages, sizes."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opfield.core.operation import Cost, Effect, OperationDescriptor
from opfield.errors import DeclarationError, PlanError
from opfield.plan import (
    Plan,
    copy,
    drop,
    faults,
    fold,
    parse_plan,
    permute,
    plan_id,
    plan_json,
    plan_text,
    primitive,
    read_plan,
    sequence,
    tensor,
)
from opfield.plan.term import MAX_DEPTH
from tests.plan.drawing import operation
from tests.plan.running import Running

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "identity.json").read_text())
F, G = (OperationDescriptor(name, "toy", "1", ("a",), ("a",)) for name in ("f", "g"))


PLANS = [vector for vector in GOLDEN["digest"] if vector["domain"] == "opfield/plan/v1"]


def test_there_are_two_golden_plans() -> None:
    assert len(PLANS) == 2


@pytest.mark.parametrize("vector", PLANS, ids=["build", "query"])
def test_plan_identities_are_those_of_the_reference_implementation(vector: dict[str, Any]) -> None:
    told = json.loads(vector["parts"][0])
    first, second = (
        primitive(OperationDescriptor(each["operation"], "ragtoy", "1", tuple(each["in"]), tuple(each["out"])))
        for each in told["children"]
    )
    assert plan_json(first >> second) == told
    assert plan_id(first >> second) == plan_id(read_plan(told)) == vector["digest"]


def test_operators_build_what_the_functions_build() -> None:
    f, g = primitive(F), primitive(G)
    assert f >> g == sequence(f, g)
    assert f @ g == tensor(f, g)
    with pytest.raises(TypeError):
        f >> "g"  # type: ignore[operator]


def test_a_plan_is_printed_as_a_term_that_python_would_read_alike() -> None:
    f, g = primitive(F), primitive(G)
    plan = (f @ g) >> permute(("a", "a"), (1, 0)) >> (drop(("a",)) @ copy(("a",)))
    assert repr(plan) == "f(a -> a) @ g(a -> a) >> permute(a, a; 1, 0) >> drop(a) @ copy(a)"
    assert parse_plan(repr(plan)) == plan
    odd = primitive(OperationDescriptor("copy", "toy", "1", ("ein Schema, schräg",), ("->", "b-")))
    assert plan_text(odd) == '"copy"("ein Schema, schräg" -> "->", b-)'
    assert parse_plan(plan_text(odd)) == odd


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at character 0 the text ends where a name was expected"),
        ("f(a -> b", "at character 8 the text ends where `)` was expected"),
        ("f(a)", "at character 3 ')' stands where `->` was expected"),
        ("f(a -> b) g(b -> c)", "at character 10 'g' stands where the end, `>>` or `@` was expected"),
        ("f(a -> b) >> g(c -> d)", "part 1 of a sequence takes (c), the one before it gives (b)"),
        ("permute(a, b; 0, 0)", "is no permutation of 2 wires"),
        ("f(a -> b) >> \x1b[31m", "at character 13 '\\x1b' stands where a name, an operator or a bracket was expected"),
        ('""( -> a)', "where a name of Unicode text that is not empty was expected"),
        ('"\\ud800"(a -> b)', "where a name of Unicode text that is not empty was expected"),
        ("(" * 500 + "id()" + ")" * 500, "brackets nest deeper than 120"),
    ],
)
def test_text_that_is_no_plan_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(PlanError, match=re.escape(message)):
        parse_plan(text)


#: What no annotation allows.
WRONG: Any = 3


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: sequence(WRONG), "a part of a sequence is of type int, not a plan"),
        (lambda: tensor(primitive(F), WRONG), "a part of a tensor is of type int, not a plan"),
        (lambda: copy("toy.text/v1"), "a port is a list of schemas, not one text; write ['toy.text/v1']"),
        (lambda: permute("ab", [1, 0]), "a port is a list of schemas"),
        (lambda: drop("a"), "a port is a list of schemas"),
        (lambda: Plan("sequence", (), (), children=WRONG), "are tuples"),
        (lambda: Plan("permute", ("a",), ("a",), permutation=WRONG), "are tuples"),
        (lambda: read_plan({"kind": "copy", "in": ["\ud800"], "out": []}), "plan.in[0]: str is no text of Unicode"),
    ],
)
def test_what_is_no_plan_is_refused_where_one_is_built(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(PlanError, match=re.escape(message)):
        build()


def test_all_faults_are_told_each_with_its_place() -> None:
    wrong = Plan("copy", ("a",), ("a",))
    plan = Plan("sequence", ("a",), ("b",), children=(wrong, Plan("tensor", ("a",), ("a",), children=(wrong,))))
    assert [(each.place, each.message) for each in faults(plan)] == [
        ("plan", "part 1 gives (a), it gives (b)"),
        ("children[0]", "a copy from (a) to (a) should be from (a) to (a, a)"),
        ("children[1].children[0]", "a copy from (a) to (a) should be from (a) to (a, a)"),
    ]


def test_a_plan_that_is_no_json_tree_of_bounded_depth_is_refused() -> None:
    cyclic: dict[str, Any] = {"kind": "sequence", "in": [], "out": []}
    cyclic["children"] = [cyclic]
    deep: dict[str, Any] = {"kind": "identity", "in": [], "out": []}
    for _ in range(MAX_DEPTH):
        deep = {"kind": "tensor", "in": [], "out": [], "children": [deep]}
    for told in (cyclic, deep):
        with pytest.raises(PlanError, match=f"deeper than {MAX_DEPTH} levels"):
            read_plan(told)
    others: list[Any] = [None, [], "f", 3, True]
    for no_object in others:
        with pytest.raises(PlanError, match="is no plan; a plan is an object"):
            read_plan(no_object)


def test_a_plan_that_doubles_itself_over_and_over_is_refused_before_it_fills_the_memory() -> None:
    def doubled(plan: Plan) -> Plan:
        while True:
            plan = plan @ plan

    with pytest.raises(PlanError, match="beyond 200,000 nodes"):
        doubled(primitive(F))


def test_folding_a_deep_plan_of_ten_thousand_nodes_takes_no_stack() -> None:
    plan = primitive(F)
    while plan.depth < MAX_DEPTH - 1:
        plan = (plan @ primitive(operation((), ()))) >> primitive(G)
    plan = sequence(*[plan] * (10_000 // plan.size + 1))
    assert plan.size >= 10_000
    operations = {each.id: each for each in (F, G, operation((), ()))}
    room = sys.getrecursionlimit()
    sys.setrecursionlimit(MAX_DEPTH + 100)
    try:
        started = time.process_time()
        arrow = fold(plan, Running(), operations)
        took = time.process_time() - started
    finally:
        sys.setrecursionlimit(room)
    assert arrow.width == 1
    # Ten times what is asked for, so that a busy machine fails nothing; benchmarks/plans.py measures it.
    assert took < 2


def test_a_descriptor_bears_its_sets_in_one_order() -> None:
    one = OperationDescriptor("f", "p", "1", ("a",), (), (Effect.NETWORK, Effect.CPU), ("y", "x", "y"))
    assert one == OperationDescriptor("f", "p", "1", ("a",), (), (Effect.CPU, Effect.NETWORK), ("x", "y"))
    assert one.as_json()["effects"] == ["cpu", "network"]


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), -1, True, "3"])
def test_a_cost_that_is_no_amount_is_refused(amount: Any) -> None:
    with pytest.raises(DeclarationError, match="is no amount"):
        Cost(work=amount)


@pytest.mark.parametrize("claim", [{"is_deterministic": "no"}, {"is_cacheable": 1}, {"cost": 3}])
def test_a_claim_that_is_none_is_refused(claim: dict[str, Any]) -> None:
    with pytest.raises(DeclarationError, match=f"{next(iter(claim))[3:]}|cost"):
        OperationDescriptor("f", "p", "1", (), (), **claim)


def test_a_descriptor_of_an_unknown_effect_or_without_a_name_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"'telepathy' is not a valid Effect; effects are artifact\.read, "):
        OperationDescriptor("f", "p", "1", (), (), ("telepathy",))  # type: ignore[arg-type]
    for name in ("", "a\0b"):
        with pytest.raises(DeclarationError):
            OperationDescriptor(name, "p", "1", (), ())
    with pytest.raises(DeclarationError, match="is longer than the whole work"):
        Cost(work=1, critical_path=2)
