"""Prisms, affine optics and traversals: laws over generated wholes, composed ones too, and breaches that are found."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.optic import (
    Affine,
    Lens,
    Prism,
    RefusedPutError,
    Traversal,
    check_traversal_laws,
    compose,
    each,
    field,
    fields,
    optional,
    through,
    variant,
)
from opfield.optic.focus import as_traversal

numbers = st.integers(-3, 3)
routes = st.one_of(
    st.fixed_dictionaries({"backend": st.sampled_from(["hosted", "local"]), "model": numbers}),
    st.fixed_dictionaries({"backend": st.just("hosted"), "model": numbers, "more": numbers}),
    numbers,
)
specs = st.fixed_dictionaries({"k": numbers}, optional={"route": routes, "weights": st.lists(numbers, max_size=3)})

HOSTED = variant("backend", "hosted", "model")
OPTICS: list[Traversal] = [
    optional("route"),
    optional("weights"),
    as_traversal(field("k")),
    through(optional("route"), HOSTED),
    through(optional("weights"), each()),
]


@given(st.lists(specs, min_size=1, max_size=4), st.lists(numbers, min_size=1, max_size=3))
def test_optics_on_specifications_are_lawful_composed_ones_too(wholes: list[Any], values: list[int]) -> None:
    for optic in OPTICS:
        # Whatever is written under these optics keeps their shape, but for the weights themselves.
        if optic.id != "weights":
            assert check_traversal_laws(optic, wholes, values) == ()


@given(st.lists(routes, min_size=1), st.lists(numbers, min_size=1, max_size=3))
def test_a_prism_reads_what_it_builds_and_builds_what_it_reads(wholes: list[Any], values: list[int]) -> None:
    assert check_traversal_laws(HOSTED, wholes, values) == ()
    twice = through(variant("kind", "route", "of"), HOSTED)
    assert isinstance(twice, Prism)
    assert check_traversal_laws(twice, [*wholes, *map(twice.build, values)], values) == ()


@given(specs, numbers)
def test_composition_is_associative(spec: Any, value: int) -> None:
    one, two, three = (
        as_traversal(Lens("in", lambda s: s["in"], lambda s, v: {**s, "in": v})),
        optional("weights"),
        each(),
    )
    left, right = through(through(one, two), three), through(one, through(two, three))
    whole = {"in": spec}
    assert left.id == right.id == "in.weights?.*"
    assert left.read(whole) == right.read(whole)
    foci = (value,) * len(left.read(whole))
    assert left.write(whole, foci) == right.write(whole, foci)


def test_composed_optics_are_as_general_as_the_more_general_of_the_two() -> None:
    lens, affine, prism, many = as_traversal(field("k")), optional("a"), HOSTED, each()
    assert type(through(prism, prism)) is Prism
    for first in (lens, affine, prism):
        for second in (lens, affine):
            assert type(through(first, second)) is Affine
        assert type(through(first, many)) is Traversal
        assert type(through(many, first)) is Traversal


def test_what_is_absent_stays_away_and_the_number_of_foci_never_changes() -> None:
    assert optional("route").put({"k": 1}, 3) == {"k": 1}
    assert HOSTED.put({"backend": "local", "model": 1}, 3) == {"backend": "local", "model": 1}
    assert each().update([1, 2], lambda x: x + 1) == [2, 3]
    with pytest.raises(RefusedPutError, match="optic '\\*' has 2 foci there, 1 values were given"):
        each().write([1, 2], [3])
    with pytest.raises(RefusedPutError, match="optic 'k' has 1 foci there, 0 values were given"):
        as_traversal(field("k")).write({"k": 1}, [])


def _append(whole: list[int], foci: Any) -> list[int]:
    whole.append(0)
    return list(foci)


UNLAWFUL: dict[str, tuple[Traversal, list[Any], str]] = {
    "counts writes": (
        Affine("n", lambda s: (s["n"],), lambda s, f: {"n": f[0], "writes": s.get("writes", 0) + 1}),
        [{"n": 1, "writes": 0}],
        "read-write",
    ),
    "rounds": (Affine("n", lambda s: (s,), lambda _, f: f[0] // 2 * 2), [2], "write-read"),
    "remembers": (
        Affine("n", lambda s: (s[0],), lambda s, f: (f[0], s[1] if s[0] == f[0] else s[0])),
        [(1, 2)],
        "write-write",
    ),
    "spoils": (Traversal("n", tuple, _append), [[1]], "pure"),
    "has two": (Affine("n", tuple, lambda _, f: list(f)), [[1, 2]], "affine"),
    "builds another": (Prism("n", lambda s: (s,), lambda _, f: f[0], build=lambda f: f + 1), [1], "build-match"),
    "loses what it read": (
        Prism("n", lambda s: (s["n"],), lambda s, f: {**s, "n": f[0]}, build=lambda f: {"n": f}),
        [{"n": 1, "m": 2}],
        "match-build",
    ),
}


@pytest.mark.parametrize("name", UNLAWFUL)
def test_an_optic_that_breaks_a_law_is_found(name: str) -> None:
    optic, wholes, law = UNLAWFUL[name]
    assert law in {each.law for each in check_traversal_laws(optic, wholes, [3, 5])}


#: Atoms of an optic, each by what it is and the keys that it is made of.
KEYS = st.sampled_from(["a", "b", "a.b", "a+b", "a=b", "*", "a?", "a\\", "\\", "b:a", ""])
ATOMS = st.one_of(
    st.tuples(st.just("field"), KEYS),
    st.tuples(st.just("optional"), KEYS),
    st.tuples(st.just("variant"), KEYS, KEYS, KEYS),
    st.tuples(st.just("each")),
    st.tuples(st.just("fields"), st.frozensets(KEYS, min_size=2, max_size=3)),
)
MADE: dict[str, Any] = {"field": field, "optional": optional, "variant": variant, "each": each, "fields": fields}


def composed(atoms: list[Any], chance: Random) -> Any:
    """Compose atoms in their order, in any brackets."""
    if len(atoms) == 1:
        return MADE[atoms[0][0]](*atoms[0][1:])
    cut = chance.randrange(1, len(atoms))
    return through(composed(atoms[:cut], chance), composed(atoms[cut:], chance))


@given(
    st.lists(ATOMS, min_size=1, max_size=3), st.lists(ATOMS, min_size=1, max_size=3), st.randoms(use_true_random=False)
)
def test_an_identity_is_that_of_one_optic_in_any_brackets(one: list[Any], other: list[Any], chance: Random) -> None:
    assert (composed(one, chance).id == composed(other, chance).id) == (one == other)
    assert composed(one, chance).id == composed(one, chance).id


def test_a_key_with_a_dot_is_not_the_way_through_two_keys() -> None:
    assert field("a.b").id != compose(field("a"), field("b")).id
    assert through(field("w"), each()).id != compose(field("w"), field("*")).id
    # Identities that stand in ledgers.
    assert (field("top_k").id, fields(["top_k"]).id, fields(["b", "a"]).id) == ("top_k", "top_k", "a+b")
