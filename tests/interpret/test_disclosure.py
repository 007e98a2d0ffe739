"""Disclosure: an authorization counts where it dominates, and nowhere else, against every way counted out by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import find, given

from opfield.core.operation import Effect, OperationDescriptor
from opfield.errors import DeclarationError, PlanError, UnknownNameError
from opfield.interpret import Wiring, check_disclosure, disclosures, wiring
from opfield.plan import Plan, copy, identity, normalize, permute, primitive
from tests.interpret.test_static import authorizing
from tests.plan.drawing import found_once, operations_of, plans, some


def described(name: str, inputs: str, outputs: str, **more: Any) -> OperationDescriptor:
    """Return an operation over schemas named by words."""
    return OperationDescriptor(name, "rag", "1", tuple(inputs.split()), tuple(outputs.split()), **more)


SEARCH = described("search", "query", "candidates", emits=("unauthorized",))
AUTHORIZE = described("authorize", "candidates", "candidates proof", clears=("unauthorized",), certifies="proof")
RERANK = described("rerank", "candidates proof", "candidates", effects=(Effect.NETWORK, Effect.REMOTE_DISCLOSURE))
SHORTEN = described("shorten", "candidates", "candidates")
RENEW = described("renew", "proof", "proof")
ASK = described("ask", "candidates", "candidates", effects=(Effect.REMOTE_DISCLOSURE,), admits=("public",))
KNOWN = {each.id: each for each in (SEARCH, AUTHORIZE, RERANK, SHORTEN, RENEW, ASK)}
search, authorize, rerank, shorten, renew, ask = map(primitive, KNOWN.values())
candidates, proof = identity(("candidates",)), identity(("proof",))


def refused(plan: Plan, told: str, inputs: dict[str, list[str]] | None = None) -> None:
    """Expect a refusal that tells the way."""
    with pytest.raises(PlanError, match=re.escape(f"no authorization dominates: {told}; authorize the class")):
        check_disclosure(plan, KNOWN, inputs)


def test_an_authorization_before_the_disclosure_is_accepted() -> None:
    check_disclosure(search >> authorize >> rerank, KNOWN)
    check_disclosure(search >> authorize >> (shorten @ proof) >> rerank, KNOWN)
    # Whatever leads the certificate there as it is, leads it.
    crossed = permute(("candidates", "proof"), (1, 0)) >> permute(("proof", "candidates"), (1, 0))
    check_disclosure(search >> authorize >> crossed >> rerank, KNOWN)


def test_an_authorization_behind_the_disclosure_is_refused_with_the_path() -> None:
    refused((search @ proof) >> rerank >> authorize, "unauthorized by search -> rerank")
    refused(search >> ask >> authorize, "unauthorized by search -> ask")


def test_the_certificate_of_something_else_authorizes_nothing() -> None:
    """What was authorized went elsewhere, and what is disclosed beside its certificate never was."""
    beside = (
        copy(("candidates",)) >> (candidates @ authorize) >> permute(("candidates", "candidates", "proof"), (1, 0, 2))
    )
    refused(search >> beside >> (shorten @ rerank), "unauthorized by search -> rerank")


def test_an_authorization_whose_certificate_stays_away_authorizes_nothing() -> None:
    told = (
        "unauthorized by search -> authorize -> rerank (authorize clears it, and rerank is not given the certificate)"
    )
    refused(search >> authorize >> (candidates @ renew) >> rerank, told)
    other = (search @ search) >> (authorize @ authorize)
    wires = ("candidates", "proof", "candidates", "proof")
    exchanged = other >> permute(wires, (0, 3, 2, 1)) >> (rerank @ rerank)
    refused(exchanged, f"{told}; {told}")
    check_disclosure(other >> (rerank @ rerank), KNOWN)


def test_every_way_must_pass_an_authorization_and_one_that_does_not_is_told() -> None:
    merge = described("merge", "candidates candidates", "candidates")
    known = {**KNOWN, "merge": merge}
    half = copy(("candidates",)) >> (authorize @ shorten) >> permute(("candidates", "proof", "candidates"), (0, 2, 1))
    plan = search >> half >> (primitive(merge) @ proof) >> rerank
    with pytest.raises(PlanError, match=r"unauthorized by search -> shorten -> merge -> rerank;"):
        check_disclosure(plan, known)


def test_a_class_of_an_input_is_followed_and_what_an_operation_admits_is_accepted() -> None:
    plan = copy(("candidates",)) >> (candidates @ ask)
    refused(plan, "secret by candidates -> ask", {"candidates": ["secret", "public"]})
    check_disclosure(plan, KNOWN, {"candidates": ["public"]})
    # An authorization clears what it says, and no other class.
    refused(
        authorize >> rerank, "secret by candidates -> authorize -> rerank", {"candidates": ["unauthorized", "secret"]}
    )
    with pytest.raises(UnknownNameError, match="input of the plan 'candidate'"):
        check_disclosure(plan, KNOWN, {"candidate": ["public"]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"certifies": ""}, "clears unauthorized and gives no certificate of it"),
        ({"clears": ()}, "certifies nothing"),
        ({"certifies": "query"}, "is not one of its outputs: candidates, proof"),
        ({"outputs": ("proof", "proof")}, "is not one of its outputs: proof, proof"),
    ],
)
def test_an_authorization_without_a_certificate_is_refused_where_it_is_declared(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(DeclarationError, match=message):
        replace(AUTHORIZE, **change)


def guarded(operations: dict[str, OperationDescriptor]) -> dict[str, OperationDescriptor]:
    """Make each operation of a drawn plan disclose, authorize or emit."""
    told = {}
    for name, each in operations.items():
        chance = Random(name)
        told[name] = replace(
            each,
            effects=(Effect.REMOTE_DISCLOSURE,) if chance.random() < 0.6 else (),
            emits=tuple(chance.sample("pqr", 1)),
            admits=tuple(chance.sample("pqr", 1)),
            **(authorizing(each.outputs, chance) if chance.random() < 0.7 else {}),
        )
    return told


def ways(graph: Wiring, ix: int) -> Iterator[tuple[str | int, ...]]:
    """Yield every way to a step: from an input of the plan, or from any step, over every wire between them."""
    yield (ix,)
    for wire in graph.steps[ix].inputs:
        if wire.source is None:
            yield (wire.schema, ix)
        else:
            yield from ((*way, ix) for way in ways(graph, wire.source))


def counted_out(
    graph: Wiring, classes: dict[str, list[str]], *, is_blind: bool = False
) -> dict[tuple[int, str], set[tuple[str, ...]]]:
    """Return for each remote step and class the ways on which nothing that it has a certificate of clears the class."""
    found: dict[tuple[int, str], set[tuple[str, ...]]] = {}
    for ix, step in enumerate(graph.steps):
        if Effect.REMOTE_DISCLOSURE not in step.operation.effects:
            continue
        for way in ways(graph, ix):
            first, between = way[0], way[:-1]
            if first == ix:
                continue
            begin = classes.get(first, []) if isinstance(first, str) else graph.steps[first].operation.emits
            for each in begin:
                is_cleared = any(
                    isinstance(at, int)
                    and each in graph.steps[at].operation.clears
                    and any(
                        (wire.source, wire.schema) == (at, graph.steps[at].operation.certifies) for wire in step.inputs
                    )
                    for at in between
                )
                if each not in step.operation.admits and (is_blind or not is_cleared):
                    told = tuple(at if isinstance(at, str) else graph.steps[at].operation.id for at in way)
                    found.setdefault((ix, each), set()).add(told)
    return found


CLASSES = {"a/v1": ["p"], "b/v1": ["q", "r"]}


def borne(plan: Plan) -> dict[str, list[str]]:
    """Return the classes that the inputs of a plan bear."""
    return {schema: kinds for schema, kinds in CLASSES.items() if schema in plan.inputs}


@some
@given(plans(depth=6))
def test_what_is_refused_is_what_no_certificate_covers_on_some_way(plan: Plan) -> None:
    operations = guarded(operations_of(plan))
    expected = counted_out(wiring(plan, operations), borne(plan))
    told = disclosures(plan, operations, borne(plan))
    assert len(told) == len(expected)
    for breach, (key, paths) in zip(told, sorted(expected.items()), strict=True):
        assert breach.data_class == key[1]
        assert breach.path in paths
    assert told == disclosures(normalize(plan), operations, borne(plan))


def test_among_drawn_plans_are_some_that_an_authorization_makes_acceptable() -> None:
    def is_saved(plan: Plan) -> bool:
        operations = guarded(operations_of(plan))
        graph = wiring(plan, operations)
        return counted_out(graph, borne(plan), is_blind=True) != counted_out(graph, borne(plan))

    saved = find(plans(depth=4), is_saved, settings=found_once)
    assert len(wiring(saved, operations_of(saved)).steps) > 1
