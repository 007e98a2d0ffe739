"""The space of the retrieval domain: published identities, lens laws, closures (§36.6, appendix D)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import opfield as of
from opfield.errors import DeclarationError
from opfield.experiment import propose_all
from opfield_rag import Spec, rag_space
from opfield_rag.laws import misdeclared
from opfield_rag.plugin import DESCRIPTORS, trial
from opfield_rag.spec import OPTICS, PATCHES, read_parameter

BASELINE = "sha256:5e6885c08caea34cd8b49f977c5429e2612ca696252696db36405a5623693f3e"
CHUNK_34_SPEC = "sha256:5ef9c7336186c2cedcc7d3c918eec215b139ab622d8b707d458e0452720f8fa8"
CHUNK_34 = "sha256:ad2627fa15c42fcf6a95288b940bff19779578c872f362fc7f6bcf2994dd6f6c"
CHUNK_34_PATCH = {
    "id": "chunk-34",
    "optic": "ragtoy.spec.chunk_words",
    "value": {
        "schema": "ragtoy.parameter/v1",
        "payload": {"kind": "int", "int_value": 34},
        "digest": "sha256:846553f87bb810f1e6a294712711bca6e416054c07de40e58816cb6dbef0b635",
    },
    "classes": ["knowledge", "relevance"],
    "targets": ["index.chunk"],
    "closure": ["index.chunk", "index.lexical", "index.vector", "query.channels", "eval.retrieval"],
    "hypothesis": "larger chunks preserve context",
}

weights = st.floats(min_value=0, allow_infinity=False) | st.integers(0, 10)


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    overlap = draw(st.integers(0, 40))
    return {
        "chunk_words": draw(st.integers(overlap + 1, 80)),
        "overlap_words": overlap,
        "lexical_weight": draw(weights),
        "vector_weight": draw(weights),
        "top_k": draw(st.integers(1, 20)),
    }


FOCI = {
    "chunk_words": st.integers(-2, 90),
    "overlap_words": st.integers(-2, 90),
    "lexical_weight": weights,
    "vector_weight": weights,
    "top_k": st.integers(-2, 20),
}


def test_baseline_bears_the_published_digest() -> None:
    assert rag_space().baseline().digest == BASELINE


def test_chunk_34_bears_the_published_identity() -> None:
    candidate = next(each for each in propose_all(rag_space()) if each.label == "chunk-34")
    assert candidate.patch is not None
    assert candidate.patch.as_json() == CHUNK_34_PATCH
    assert candidate.spec.digest == CHUNK_34_SPEC
    assert candidate.id == CHUNK_34


def test_the_seven_candidates_change_one_member_each() -> None:
    base = rag_space().baseline().payload
    changed = {
        each.label: {key: value for key, value in each.spec.payload.items() if value != base[key]}
        for each in propose_all(rag_space())
    }
    assert changed == {
        "chunk-14": {"chunk_words": 14},
        "chunk-34": {"chunk_words": 34},
        "overlap-8": {"overlap_words": 8},
        "lexical-1.75": {"lexical_weight": 1.75},
        "vector-1.75": {"vector_weight": 1.75},
        "topk-4": {"top_k": 4},
        "topk-1": {"top_k": 1},
    }


@pytest.mark.parametrize("key", FOCI)
@given(data=st.data())
def test_lenses_are_lawful(key: str, data: st.DataObject) -> None:
    wholes = data.draw(st.lists(specs(), min_size=1, max_size=3))
    foci = data.draw(st.lists(FOCI[key], min_size=1, max_size=4))
    assert of.check_laws(OPTICS[f"ragtoy.spec.{key}"], wholes, foci) == ()


@pytest.mark.parametrize("key", FOCI)
@given(data=st.data())
def test_what_a_lens_admits_the_runner_can_decode(key: str, data: st.DataObject) -> None:
    whole, focus = data.draw(specs()), data.draw(FOCI[key])
    try:
        put = OPTICS[f"ragtoy.spec.{key}"].put(whole, focus)
    except of.RefusedPutError:
        with pytest.raises(ValidationError):
            Spec.model_validate({**whole, key: focus})
    else:
        assert Spec.model_validate(put).model_dump()[key] == focus


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("chunk_words", 4),
        ("chunk_words", 24.5),
        ("top_k", True),
        ("overlap_words", 24),
        ("overlap_words", -1),
        ("lexical_weight", -0.1),
        ("lexical_weight", math.nan),
        ("vector_weight", math.inf),
        ("vector_weight", "1"),
        ("top_k", 0),
    ],
)
def test_inadmissible_values_are_refused_by_name(key: str, value: object) -> None:
    with pytest.raises(of.RefusedPutError, match=key if "weight" not in key else "weight"):
        OPTICS[f"ragtoy.spec.{key}"].put(Spec().model_dump(), value)


@pytest.mark.parametrize(
    "payload",
    [
        34,
        {"kind": "int", "int_value": 1.5},
        {"kind": "int", "float_value": 1},
        {"kind": "text", "text_value": "34"},
        {"kind": "int", "int_value": 34, "more": 1},
    ],
)
def test_a_malformed_parameter_is_refused(payload: object) -> None:
    with pytest.raises(of.RefusedPutError, match=r"ragtoy\.parameter/v1"):
        read_parameter(payload)


def test_a_patch_with_a_malformed_parameter_is_refused_by_the_space() -> None:
    patch = of.Patch("odd", "ragtoy.spec.top_k", of.seal("ragtoy.parameter/v1", {"kind": "odd"}))
    with pytest.raises(DeclarationError, match="odd"):
        rag_space().apply(rag_space().baseline(), patch)


#: The graph of appendix D by hand: what reads what each node configures or holds.
DEPENDENTS = {
    "index.chunk": ("index.lexical", "index.vector"),
    "index.lexical": ("query.channels",),
    "index.vector": ("query.channels",),
    "query.channels": ("eval.retrieval",),
    "query.fusion": ("eval.retrieval",),
    "query.context": ("eval.retrieval",),
}


def test_closures_are_computed_from_the_plan_and_are_those_of_the_graph_by_hand() -> None:
    for patch in rag_space().patches():
        reached = list(patch.targets)
        for node in reached:  # grows while it is read: a breadth-first walk
            reached.extend(later for later in DEPENDENTS.get(node, ()) if later not in reached)
        assert list(patch.closure) == reached, patch.id
    assert not any(patch.closure for patch in PATCHES)


def test_a_closure_that_a_patch_declares_is_checked_as_a_set_and_keeps_its_order() -> None:
    space = rag_space()
    patch = space.patches()[0]
    turned = replace(patch, closure=tuple(reversed(patch.closure)))
    assert replace(space, advertised=(turned,)).patches() == (turned,)
    for declared, told in [
        (replace(patch, closure=patch.closure[:-1]), r"leaves out ragtoy\.measure/v1 and names without need nothing"),
        (replace(patch, closure=patch.closure[1:]), r"leaves out index\.chunk, ragtoy\.chunk/v1 and"),
        (replace(patch, targets=("index.chunks",)), r"did you mean 'index\.chunk'"),
        (replace(patch, targets=()), "names no target"),
    ]:
        with pytest.raises(DeclarationError, match=rf"patch 'chunk-14'.*{told}"):
            propose_all(replace(space, advertised=(declared,)))


def test_targets_that_miss_what_a_change_moves_break_the_law_of_the_plugin() -> None:
    wrong = replace(PATCHES[0], targets=("query.fusion",))
    found = list(misdeclared([*PATCHES, wrong], trial, DESCRIPTORS.values(), trial.inputs[1:]))
    assert found == [
        "chunk-14: a change of query.fusion changes what ragtoy.chunk/v1, ragtoy.index/v1 reads, which these targets "
        "do not reach"
    ]
