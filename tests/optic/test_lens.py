"""Lenses: the shipped ones are lawful, and each kind of unlawful lens is caught."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opfield.errors import DeclarationError
from opfield.optic import Lens, RefusedPutError, check_laws, compose, field, fields

Json = dict[str, Any]
VALUES = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers(), max_size=3)
OBJECTS = st.fixed_dictionaries({"a": VALUES, "b": VALUES}, optional={"c": VALUES, "a+b": VALUES})


@given(st.lists(OBJECTS, min_size=1, max_size=3), st.lists(VALUES, max_size=4))
def test_field_is_lawful(wholes: list[Json], foci: list[Any]) -> None:
    assert check_laws(field("a"), wholes, foci) == ()


@given(
    st.lists(OBJECTS, min_size=1, max_size=3),
    st.lists(st.fixed_dictionaries({"a": VALUES, "b": VALUES}), max_size=3),
)
def test_fields_is_lawful(wholes: list[Json], foci: list[Json]) -> None:
    assert check_laws(fields(["b", "a"]), wholes, foci) == ()


@given(
    st.lists(st.fixed_dictionaries({"outer": OBJECTS, "x": VALUES}), min_size=1, max_size=3),
    st.lists(VALUES, max_size=4),
)
def test_compositions_are_lawful(wholes: list[Json], foci: list[Any]) -> None:
    lens = compose(field("outer"), field("b"))
    assert lens.id == "outer.b"
    assert check_laws(lens, wholes, foci) == ()


@given(OBJECTS, st.integers(0, 20), st.integers(1, 20), st.lists(st.integers(-3, 25), max_size=5))
def test_a_lens_that_refuses_by_its_context_is_lawful(whole: Json, overlap: int, more: int, foci: list[int]) -> None:
    def fits(spec: Json, words: int) -> str | None:
        return None if spec["overlap"] < words else f"overlap {spec['overlap']} is not below {words} words"

    lens = field("words", id="chunk.words", admits=fits)
    assert lens.id == "chunk.words"
    assert check_laws(lens, [{**whole, "overlap": overlap, "words": overlap + more}], foci) == ()
    with pytest.raises(RefusedPutError, match="is not below"):
        lens.put({"overlap": 4, "words": 9}, 4)


@given(OBJECTS, VALUES)
def test_put_changes_its_member_only_and_nothing_in_place(whole: Json, value: Any) -> None:
    before = copy.deepcopy(whole)
    written = field("a").put(whole, value)
    assert whole == before
    assert written == {**whole, "a": value}
    assert list(written) == list(whole)


def forgetful(whole: Json, value: Any) -> Json:
    return {**whole, "a": 0}


def counting(whole: Json, value: Any) -> Json:
    return {**whole, "a": value, "writes": whole.get("writes", 0) + 1}


def appending(whole: Json, value: Any) -> Json:
    return {**whole, "a": value, "log": [*whole.get("log", []), value]} if value != whole["a"] else whole


def in_place(whole: Json, value: Any) -> Json:
    whole["a"] = value
    return whole


def only_upwards(whole: Json, value: Any) -> Json:
    if value < whole["a"]:
        raise RefusedPutError("only upwards")
    return {**whole, "a": value}


def never(whole: Json, value: Any) -> Json:
    raise RefusedPutError(f"{value} in {whole}")


def only_once(whole: Json, value: Any) -> Json:
    if whole["a"] == 0 and value > 1:
        raise RefusedPutError("2 only by way of 1")
    return {**whole, "a": value}


@pytest.mark.parametrize(
    ("put", "laws"),
    [
        (forgetful, {"put-get"}),
        (counting, {"get-put", "put-put"}),
        (appending, {"put-put"}),
        (in_place, {"pure"}),
        (only_upwards, {"put-put"}),
        (only_once, {"put-put"}),
        (never, {"get-put"}),
    ],
)
def test_an_unlawful_lens_is_caught(put: Callable[[Json, Any], Json], laws: set[str]) -> None:
    lens: Lens[Json, Any] = Lens("bad", lambda whole: whole["a"], put)
    breaches = check_laws(lens, [{"a": 0, "b": 1}], [0, 1, 2])
    assert {breach.law for breach in breaches} == laws
    assert {breach.optic for breach in breaches} == {"bad"}
    assert all("got" in breach.detail and "expected" in breach.detail for breach in breaches)


def test_laws_hold_up_to_the_equalities_of_the_lens() -> None:
    rounding: Lens[Json, float] = Lens(
        "rounded",
        lambda whole: whole["cents"] / 100,
        lambda whole, value: {**whole, "cents": round(value * 100), "at": object()},
        equal=lambda left, right: bool(left["cents"] == right["cents"]),
        equal_focus=lambda left, right: abs(left - right) < 0.01,
    )
    assert check_laws(rounding, [{"cents": 150, "at": None}], [0.101, 2.0]) == ()
    nested = compose(field("price"), rounding)
    assert nested.equal_focus(0.101, 0.102)
    assert {breach.law for breach in check_laws(nested, [{"price": {"cents": 1, "at": 0}}], [0.101])} == {
        "get-put",
        "put-put",
    }


def test_a_missing_member_is_refused_with_the_known_ones() -> None:
    with pytest.raises(RefusedPutError, match="finds no member 'z'; known: a, b"):
        field("z").get({"a": 1, "b": 2})
    with pytest.raises(RefusedPutError, match="finds no member 'z'; known: none"):
        field("z").put({}, 1)


@pytest.mark.parametrize("value", [{"a": 1}, {"a": 1, "b": 2, "c": 3}, {}, 5, None, "ab"])
def test_fields_wants_exactly_its_members(value: Any) -> None:
    with pytest.raises(RefusedPutError, match="expected an object with the members a, b"):
        fields("ab").put({"a": 1, "b": 2, "c": 3}, value)


@given(
    st.lists(st.text("a+\\", min_size=1, max_size=3), min_size=1, unique=True),
    st.lists(st.text("a+\\", min_size=1, max_size=3), min_size=1, unique=True),
)
@example(["a", "b"], ["a+b"])
@example(["a\\", "b"], ["a+b"])
def test_the_name_of_fields_tells_any_two_sets_of_members_apart(left: list[str], right: list[str]) -> None:
    assert (fields(left).id == fields(right).id) == (set(left) == set(right))


@pytest.mark.parametrize("whole", [3, None, "ab", ["b"]])
def test_what_is_no_object_has_no_member(whole: Any) -> None:
    inside = compose(field("a"), field("b"))
    for touch in (lambda: inside.get({"a": whole}), lambda: inside.put({"a": whole}, 1)):
        with pytest.raises(RefusedPutError, match=f"optic 'b' finds no object but a {type(whole).__name__}"):
            touch()


def test_fields_needs_a_member() -> None:
    with pytest.raises(DeclarationError, match="name at least one"):
        fields([])
    assert fields(["b", "a"]).id == "a+b"
