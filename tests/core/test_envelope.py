"""Envelopes: sealed, read and decoded under exactly one schema, and damage is seen."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from opfield.core import Envelope, canonical_json, check_envelope, open_envelope, read_envelope, seal
from opfield.errors import IdentityError

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "identity.json").read_text())
SCHEMAS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
PAYLOADS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc\u00e9", max_size=3), inner, max_size=4),
    max_leaves=10,
)


@dataclass(frozen=True, slots=True)
class Part:
    words: int


@dataclass(frozen=True, slots=True)
class Spec:
    k: int
    weight: float
    parts: tuple[Part, ...] = ()


class LaxModel(BaseModel):
    model_config = ConfigDict(extra="ignore")
    k: int


class SpecModel(BaseModel):
    k: int
    inner: LaxModel | None = None


@pytest.mark.parametrize("vector", GOLDEN["envelope"], ids=lambda vector: vector["digest"][:15])
def test_reproduces_the_golden_vectors(vector: dict[str, Any]) -> None:
    assert canonical_json(vector["payload"]).decode() == vector["canonical"]
    assert seal(vector["schema"], vector["payload"]).digest == vector["digest"]


@given(SCHEMAS, PAYLOADS)
def test_survives_json(schema: str, payload: Any) -> None:
    sealed = seal(schema, payload)
    check_envelope(sealed)
    again = read_envelope(json.loads(json.dumps(sealed.as_json())))
    assert again == sealed
    assert seal(schema, sealed.payload) == sealed
    assert sealed.payload == payload


@given(PAYLOADS, st.integers(7, 70), st.sampled_from("0123456789abcdef"))
def test_a_changed_digest_is_seen(payload: Any, position: int, digit: str) -> None:
    sealed = seal("a/v1", payload)
    flipped = sealed.digest[:position] + digit + sealed.digest[position + 1 :]
    if flipped == sealed.digest:
        return
    with pytest.raises(IdentityError, match="altered after it was sealed"):
        read_envelope({**sealed.as_json(), "digest": flipped})


@given(PAYLOADS, PAYLOADS)
def test_a_changed_payload_or_schema_is_seen(payload: Any, other: Any) -> None:
    sealed = seal("a/v1", payload)
    with pytest.raises(IdentityError, match="its content has"):
        check_envelope(replace(sealed, schema="a/v2"))
    if canonical_json(other) != canonical_json(payload):
        with pytest.raises(IdentityError, match="its content has"):
            check_envelope(replace(sealed, payload=other))


def test_a_later_change_of_the_payload_does_not_reach_the_envelope() -> None:
    payload = {"inner": {"k": 1}}
    sealed = seal("a/v1", payload)
    payload["inner"]["k"] = 2
    assert sealed.payload == {"inner": {"k": 1}}


@pytest.mark.parametrize("lack", ["schema", "payload", "digest"])
def test_reading_demands_exactly_the_three_members(lack: str) -> None:
    whole = seal("a/v1", 1).as_json()
    for wrong in (
        {**whole, "more": 1},
        {key: item for key, item in whole.items() if key != lack},
        [whole],
        None,
    ):
        with pytest.raises(IdentityError, match="exactly the members"):
            read_envelope(wrong)


@pytest.mark.parametrize("schema", ["", None, 5, b"a/v1"])
def test_a_schema_is_a_name(schema: Any) -> None:
    with pytest.raises(IdentityError, match="schema is a name"):
        seal(schema, 1)
    with pytest.raises(IdentityError, match="schema is a name"):
        read_envelope({**seal("5", 1).as_json(), "schema": schema})


@pytest.mark.parametrize(
    ("payload", "into", "expected"),
    [
        ({"k": 1, "weight": 1.0, "parts": [{"words": 3}]}, Spec, Spec(1, 1.0, (Part(3),))),
        ({"k": 1}, SpecModel, SpecModel(k=1)),
        ({"k": 1}, dict[str, int], {"k": 1}),
        ([1, 2], tuple[int, ...], (1, 2)),
        ("a", str, "a"),
    ],
)
def test_opens_into_the_type_asked_for(payload: Any, into: Any, expected: Any) -> None:
    assert open_envelope(seal("a/v1", payload), "a/v1", into) == expected


@pytest.mark.parametrize(
    ("payload", "into", "where"),
    [
        ({"k": 1, "weight": 1, "more": 1}, Spec, "more: "),
        ({"k": 1, "weight": 1, "parts": [{"words": 1, "more": 1}]}, Spec, r"parts\.0\.more: "),
        ({"k": 1}, Spec, "weight: "),
        ({"k": "1", "weight": 1}, Spec, "k: "),
        ({"k": True, "weight": 1}, Spec, "k: "),
        ({"k": 1.5, "weight": 1}, Spec, "k: "),
        ({"k": 1, "more": 1}, SpecModel, "more: "),
        ({"k": "1"}, SpecModel, "k: "),
        ({"k": 1, "inner": {"k": 1, "more": 1}}, SpecModel, r"inner\.more: "),
        ("1", int, "payload: "),
    ],
)
def test_opening_refuses_unknown_fields_and_other_types(payload: Any, into: Any, where: str) -> None:
    with pytest.raises(IdentityError, match="does not fit.*" + where):
        open_envelope(seal("a/v1", payload), "a/v1", into)


def test_opening_demands_the_exact_schema_and_an_undamaged_payload() -> None:
    with pytest.raises(IdentityError, match="expected an envelope of a/v2, got one of a/v1"):
        open_envelope(seal("a/v1", 1), "a/v2", int)
    with pytest.raises(IdentityError, match="altered"):
        open_envelope(Envelope("a/v1", 2, seal("a/v1", 1).digest), "a/v1", int)
