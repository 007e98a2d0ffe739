"""Optics: lawful ways to read and write one focus of a specification (§10)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from opfield.errors import DeclarationError

Whole = TypeVar("Whole")
Focus = TypeVar("Focus")
Inner = TypeVar("Inner")


class RefusedPutError(DeclarationError):
    """A lens was asked to write a value that its focus does not admit. Choose an admissible value."""


@dataclass(frozen=True, slots=True)
class Lens(Generic[Whole, Focus]):
    """A getter and a partial putter of one focus.

    Attributes:
        id: identity of the optic; part of every patch that writes through it.
        get: reads the focus.
        put: returns a new whole with the focus replaced, or raises `RefusedPutError`.
        equal: equality of wholes and of foci under which the laws hold.
    """

    id: str
    get: Callable[[Whole], Focus]
    put: Callable[[Whole, Focus], Whole]
    equal: Callable[[Any, Any], bool] = operator.eq


@dataclass(frozen=True, slots=True)
class LawBreach:
    """One breach of a lens law: which law, where, and what stood there instead."""

    optic: str
    law: str
    detail: str


def check_laws(
    lens: Lens[Whole, Focus], wholes: Iterable[Whole], foci: Iterable[Focus]
) -> tuple[LawBreach, ...]:
    """Try get-put, put-get and put-put on every whole and pair of foci (§10.2); refused values are skipped (§10.3).

    Returns:
        Every breach found; empty where the lens is lawful on these fixtures. Evidence, not a proof.
    """
    values = list(foci)
    breaches: list[LawBreach] = []

    def expect(law: str, found: Any, wanted: Any, where: str) -> None:
        if not lens.equal(found, wanted):
            breaches.append(LawBreach(lens.id, law, f"{where}: got {found!r}, expected {wanted!r}"))

    for whole in wholes:
        expect("get-put", lens.put(whole, lens.get(whole)), whole, f"put({whole!r}, get)")
        for first in values:
            try:
                once = lens.put(whole, first)
            except RefusedPutError:
                continue
            expect("put-get", lens.get(once), first, f"get(put({whole!r}, {first!r}))")
            for second in values:
                try:
                    direct = lens.put(whole, second)
                except RefusedPutError:
                    continue
                expect("put-put", lens.put(once, second), direct, f"put(put(…, {first!r}), {second!r})")
    return tuple(breaches)


def compose(outer: Lens[Whole, Focus], inner: Lens[Focus, Inner]) -> Lens[Whole, Inner]:
    """Return the lens that focuses through `outer`, then `inner`."""
    return Lens(
        id=f"{outer.id}.{inner.id}",
        get=lambda whole: inner.get(outer.get(whole)),
        put=lambda whole, value: outer.put(whole, inner.put(outer.get(whole), value)),
        equal=lambda left, right: bool(outer.equal(left, right)),
    )


def field(
    key: str, *, id: str | None = None, admits: Callable[[dict[str, Any], Any], str | None] | None = None
) -> Lens[dict[str, Any], Any]:
    """Return the lens on one member of a JSON object.

    Args:
        key: member that must already stand in the object.
        id: identity of the optic; the key where none is given.
        admits: returns why a value is refused in the context of the whole object, or None where it is admissible.

    >>> top_k = field("top_k", admits=lambda spec, k: None if k >= 1 else f"top_k {k} is below 1")
    >>> top_k.put({"top_k": 2, "w": 1}, 4)
    {'top_k': 4, 'w': 1}
    >>> top_k.put({"top_k": 2, "w": 1}, 0)
    Traceback (most recent call last):
    opfield.optic.RefusedPutError: top_k 0 is below 1
    """
    name = id or key

    def get(whole: dict[str, Any]) -> Any:
        if key not in whole:
            raise RefusedPutError(f"optic {name!r} finds no member {key!r}; known: {', '.join(sorted(whole))}")
        return whole[key]

    def put(whole: dict[str, Any], value: Any) -> dict[str, Any]:
        get(whole)
        refusal = admits(whole, value) if admits else None
        if refusal is not None:
            raise RefusedPutError(refusal)
        return {**whole, key: value}

    return Lens(name, get, put)


def fields(keys: Iterable[str]) -> Lens[dict[str, Any], dict[str, Any]]:
    """Return the tensor of field lenses: several members of a JSON object written together.

    >>> fields(["a", "b"]).put({"a": 1, "b": 2, "c": 3}, {"a": 5, "b": 6})
    {'a': 5, 'b': 6, 'c': 3}
    """
    lenses = {key: field(key) for key in sorted(keys)}

    def put(whole: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
        if set(value) != set(lenses):
            raise RefusedPutError(f"expected the members {', '.join(lenses)}, got {', '.join(sorted(value))}")
        for key, lens in lenses.items():
            whole = lens.put(whole, value[key])
        return whole

    return Lens("+".join(lenses), lambda whole: {key: lens.get(whole) for key, lens in lenses.items()}, put)
