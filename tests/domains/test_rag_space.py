"""The space of the retrieval domain: published identities, lens laws, closures (§36.6, appendix D)."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import opfield as of
from opfield.errors import DeclarationError
from opfield.experiment import propose_all
from opfield_rag import Spec, rag_space
from opfield_rag.spec import DEPENDENTS, OPTICS, PATCHES, closure_of, read_parameter

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


def test_declared_closures_are_the_computed_ones() -> None:
    for patch in PATCHES:
        reached, frontier = set(patch.targets), list(patch.targets)
        while frontier:
            for node in DEPENDENTS[frontier.pop()]:
                if node not in reached:
                    reached.add(node)
                    frontier.append(node)
        assert set(patch.closure) == reached, patch.id


def test_fusion_is_not_downstream_of_the_channels() -> None:
    assert "query.fusion" not in closure_of("index.chunk")


def test_query_patches_do_not_touch_the_build() -> None:
    for patch in PATCHES:
        touches_build = any(node.startswith("index.") for node in patch.closure)
        assert touches_build == (patch.optic.endswith("_words")), patch.id
