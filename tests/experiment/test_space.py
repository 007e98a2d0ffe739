"""Spaces and candidates: the golden identity, the order of proposals, and every refusal."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.core import Envelope, canonical_json, read_envelope, seal
from opfield.errors import DeclarationError, UnknownNameError
from opfield.experiment import (
    OpticSpace,
    Patch,
    baseline_candidate,
    candidate_id,
    field_space,
    propose_all,
)
from opfield.optic import field

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "identity.json").read_text())
LABELS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20).filter(
    lambda label: label != "baseline"
)
VALUES = st.none() | st.booleans() | st.integers(-9, 9) | st.text("abc") | st.lists(st.integers(0, 3), max_size=2)


def patch_of(value: dict[str, Any]) -> Patch:
    return Patch(**{**value, "value": read_envelope(value["value"])})


@pytest.mark.parametrize("vector", GOLDEN["candidate"], ids=lambda vector: vector["patch"]["id"])
def test_reproduces_the_golden_vectors(vector: dict[str, Any]) -> None:
    patch = patch_of(vector["patch"])
    assert canonical_json(patch.as_json()).decode() == vector["canonical_patch"]
    assert candidate_id(vector["baseline"], vector["spec"], patch.as_json()) == vector["id"]


def test_the_golden_candidate_comes_out_of_a_space() -> None:
    vector = GOLDEN["candidate"][0]
    baseline, result = GOLDEN["envelope"]
    space = OpticSpace(
        "ragtoy.space/v1",
        baseline["schema"],
        baseline["payload"],
        {"ragtoy.spec.chunk_words": field("chunk_words", id="ragtoy.spec.chunk_words")},
        (patch_of(vector["patch"]),),
        read_value=lambda payload: payload["int_value"],
    )
    (candidate,) = propose_all(space)
    assert candidate.id == vector["id"]
    assert candidate.spec.digest == result["digest"]
    assert candidate.as_json()["patch"] == vector["patch"]


def test_a_list_of_the_patch_is_hashed_in_its_declared_order() -> None:
    vector = GOLDEN["candidate"][0]
    patch = patch_of(vector["patch"])
    turned = replace(patch, closure=tuple(reversed(patch.closure)))
    assert candidate_id(vector["baseline"], vector["spec"], turned.as_json()) != vector["id"]


def test_the_baseline_has_an_identity_of_its_own() -> None:
    space = field_space("s", {"k": 1}, {"a": {"k": 1}})
    baseline, (candidate,) = baseline_candidate(space), propose_all(space)
    assert baseline.id == candidate_id(baseline.spec.digest, baseline.spec.digest, None)
    assert (baseline.label, baseline.patch, baseline.as_json()["patch"]) == ("baseline", None, None)
    assert candidate.spec == baseline.spec
    assert candidate.id != baseline.id


@given(
    st.fixed_dictionaries({"k": VALUES, "w": VALUES, "größe": VALUES}),
    st.dictionaries(
        LABELS,
        st.dictionaries(st.sampled_from(["k", "w", "größe"]), VALUES, min_size=1),
        min_size=1,
        max_size=6,
    ),
    st.randoms(),
)
def test_proposals_are_ordered_by_identity_whatever_the_order_of_declaration(
    baseline: dict[str, Any], changes: dict[str, dict[str, Any]], random: Any
) -> None:
    candidates = propose_all(field_space("s", baseline, changes))
    assert [each.id for each in candidates] == sorted({each.id for each in candidates})
    assert {each.label: each.spec.payload for each in candidates} == {
        label: {**baseline, **changed} for label, changed in changes.items()
    }
    shuffled = list(changes.items())
    random.shuffle(shuffled)
    assert propose_all(field_space("s", baseline, dict(shuffled))) == candidates


def test_a_later_change_of_the_declaration_does_not_reach_the_space() -> None:
    baseline: dict[str, Any] = {"stages": [1, 2], "k": 1}
    changes: dict[str, Any] = {"a": {"stages": [3]}}
    space = field_space("s", baseline, changes)
    before = propose_all(space)
    baseline["stages"].append(9)
    changes["a"]["stages"].append(9)
    assert propose_all(space) == before


def test_members_with_a_plus_in_their_name_do_not_mix_up_optics() -> None:
    space = field_space("s", {"a": 1, "b": 2, "a+b": 3}, {"both": {"a": 5, "b": 6}, "one": {"a+b": 7}})
    assert {each.label: each.spec.payload for each in propose_all(space)} == {
        "both": {"a": 5, "b": 6, "a+b": 3},
        "one": {"a": 1, "b": 2, "a+b": 7},
    }


@pytest.mark.parametrize(
    ("baseline", "candidates", "reason"),
    [
        (["k"], {"a": {"k": 1}}, "the baseline is a JSON object of names and values, got a list"),
        (None, {"a": {"k": 1}}, "the baseline is a JSON object"),
        ({1: 1}, {"a": {1: 2}}, "the baseline cannot be kept: key 1 is a int"),
        ({"k": float("nan")}, {"a": {"k": 1}}, "the baseline cannot be kept: nan is not finite"),
        ({"k": {1, 2}}, {"a": {"k": 1}}, "the baseline cannot be kept: a set has no canonical form"),
        ({"k": 1}, [{"k": 2}], "candidates are a mapping of label to changed members, got a list"),
        ({"k": 1}, {"a": {}}, "candidate 'a' changes nothing"),
        ({"k": 1}, {"a": 4}, "candidate 'a' is a JSON object of names and values, got a int"),
        ({"k": 1}, {"a": "k"}, "candidate 'a' is a JSON object of names and values, got a str"),
        ({"k": 1}, {"a": {"k": float("inf")}}, "candidate 'a' cannot be kept: inf is not finite"),
        ({"k": 1}, {"a": {1: 2}}, "candidate 'a' cannot be kept: key 1 is a int"),
        ({"k": 1}, {1: {"k": 2}}, "candidate label 1 is of type int"),
        ({"k": 1}, {"": {"k": 2}}, "a candidate label is empty"),
        ({"k": 1}, {"\ud800": {"k": 2}}, "lone surrogate"),
        ({"k": 1}, {}, "advertises no patch"),
        ({"k": 1}, {"baseline": {"k": 2}}, "has the name 'baseline', as the baseline has"),
    ],
)
def test_field_space_refuses_what_it_could_not_carry_out(baseline: Any, candidates: Any, reason: str) -> None:
    with pytest.raises(DeclarationError, match=reason):
        propose_all(field_space("s", baseline, candidates))


def test_an_unknown_member_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"candidate 'a': 'topk'; did you mean 'top_k'\? known: top_k, w"):
        field_space("s", {"top_k": 1, "w": 1}, {"a": {"topk": 2}})


@dataclass(frozen=True)
class Forged:
    """A third party's space, of which one part is wrong."""

    base: Envelope
    listed: tuple[Patch, ...]
    result: Callable[[Envelope, Patch], Envelope]
    id: str = "forged/v1"

    def baseline(self) -> Envelope:
        return self.base

    def patches(self) -> Sequence[Patch]:
        return self.listed

    def apply(self, spec: Envelope, patch: Patch) -> Envelope:
        return self.result(spec, patch)


GOOD = seal("s/v1", {"k": 1})
PATCH = Patch("a", "k", seal("v/v1", 2))


def unchanged(spec: Envelope, patch: Patch) -> Envelope:
    assert patch.id
    return spec


def damaged(spec: Envelope, patch: Patch) -> Envelope:
    return replace(spec, payload={"k": patch.value.payload})


def migrated(spec: Envelope, patch: Patch) -> Envelope:
    assert spec.schema != "s/v2"
    return seal("s/v2", {"k": patch.value.payload})


@pytest.mark.parametrize(
    ("space", "reason"),
    [
        (Forged(replace(GOOD, payload={"k": 7}), (PATCH,), unchanged), "altered"),
        (
            Forged(GOOD, (replace(PATCH, value=replace(PATCH.value, payload=3)),), unchanged),
            "altered",
        ),
        (Forged(GOOD, (PATCH,), damaged), "altered"),
        (Forged(GOOD, (PATCH,), migrated), "turns s/v1 into s/v2"),
        (
            Forged(GOOD, (PATCH, replace(PATCH, optic="other")), unchanged),
            "'a', as another patch has",
        ),
        (Forged(GOOD, (replace(PATCH, hypothesis="\ud800"),), unchanged), "lone surrogate"),
        (Forged(GOOD, (replace(PATCH, id="a\0"),), unchanged), "NUL"),
        (Forged(GOOD, (), unchanged), "forged/v1 advertises no patch"),
    ],
)
def test_a_space_cannot_smuggle_in_what_its_identity_would_not_hold(space: Forged, reason: str) -> None:
    with pytest.raises(DeclarationError, match=reason):
        propose_all(space)


def test_a_refused_patch_names_itself_its_optic_and_the_reason() -> None:
    lens = field("k", admits=lambda _, k: None if k >= 1 else f"k {k} is below 1")
    space = OpticSpace("s/v1", "s.spec/v1", {"k": 2}, {"k": lens}, (Patch("low", "k", seal("v/v1", 0)),))
    with pytest.raises(DeclarationError, match="patch 'low' is refused by its optic 'k': k 0 is below 1"):
        propose_all(space)


def test_a_focus_without_canonical_form_is_refused() -> None:
    space = OpticSpace(
        "s/v1",
        "s.spec/v1",
        {"k": 2},
        {"k": field("k")},
        (Patch("a", "k", seal("v/v1", 0)),),
        read_value=lambda _: {1},
    )
    with pytest.raises(DeclarationError, match="patch 'a' is refused by its optic 'k': a set has no canonical form"):
        propose_all(space)


def test_an_unknown_optic_or_another_schema_is_refused() -> None:
    space = OpticSpace("s/v1", "s.spec/v1", {"k": 2}, {"top": field("k")}, (Patch("a", "tap", seal("v/v1", 0)),))
    with pytest.raises(UnknownNameError, match="unknown optic 'tap'; did you mean 'top'"):
        propose_all(space)
    with pytest.raises(DeclarationError, match=r"changes s\.spec/v1, not other/v1"):
        space.apply(seal("other/v1", {"k": 2}), space.advertised[0])


def test_a_patch_takes_lists_but_no_single_text() -> None:
    listed: Any = ["x", "y"]
    text: Any = "relevance"
    assert Patch("a", "k", GOOD, targets=listed).targets == ("x", "y")
    for member in ("classes", "targets", "closure"):
        with pytest.raises(DeclarationError, match=f"patch 'a': {member} is a list of names"):
            Patch("a", "k", GOOD, **{member: text})
