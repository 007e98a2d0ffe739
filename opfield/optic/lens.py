"""Optics: lawful ways to read and write one focus of a specification (§10)."""

from __future__ import annotations

import copy
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from opfield.errors import DeclarationError

#: What joins keys in an identity: parts of a composite, members of an object, a variant, and the marks of a focus.
_JOINING: Final = re.compile(r"[\\.+=:?*]")

Whole = TypeVar("Whole")
Focus = TypeVar("Focus")
Inner = TypeVar("Inner")


class RefusedPutError(DeclarationError):
    """A lens was asked to write a value that its focus does not admit. Choose an admissible value."""


@dataclass(frozen=True, slots=True)
class Lens(Generic[Whole, Focus]):
    """A getter and a partial putter of one focus.

    Attributes:
        id: identity of the optic; part of every patch that writes through it. Those that this package gives are one for
            each optic, however it is composed, but for `fields` of one member, which is called as its `field` is; one
            that is chosen stands as it is, and is its author's to keep apart.
        get: reads the focus.
        put: returns a new whole with the focus replaced and leaves the old one alone, or raises
            `RefusedPutError`.
        equal: equality of wholes under which the laws hold.
        equal_focus: equality of foci under which the laws hold.
    """

    id: str
    get: Callable[[Whole], Focus]
    put: Callable[[Whole, Focus], Whole]
    equal: Callable[[Any, Any], bool] = operator.eq
    equal_focus: Callable[[Any, Any], bool] = operator.eq


@dataclass(frozen=True, slots=True)
class LawBreach:
    """One breach of a lens law.

    Attributes:
        optic: identity of the lens.
        law: `get-put`, `put-get`, `put-put`, or `pure` where a put changed the whole that it was given.
        detail: where, what was found, and what the law asks for.
    """

    optic: str
    law: str
    detail: str


def check_laws(lens: Lens[Whole, Focus], wholes: Iterable[Whole], foci: Iterable[Focus]) -> tuple[LawBreach, ...]:
    """Try get-put, put-get and put-put on every whole and pair of foci (§10.2).

    A refused value is skipped (§10.3), but what a whole holds already is never refused, and whether a value
    is refused must not depend on the value written before it: put-put speaks of refusals too.

    Args:
        lens: the lens.
        wholes: admissible wholes; they should cover the advertised domain.
        foci: values to write, admissible or not.

    Returns:
        Every breach found; empty where the lens is lawful on these fixtures. Evidence, not a proof.
    """
    values = list(foci)
    breaches: list[LawBreach] = []

    def breach(law: str, where: str, found: object, wanted: object) -> None:
        breaches.append(LawBreach(lens.id, law, f"{where}: got {found!r}, expected {wanted!r}"))

    for whole in wholes:
        before = copy.deepcopy(whole)
        same = _try_put(lens, whole, lens.get(whole))
        if same is None or not lens.equal(same.whole, before):
            breach("get-put", f"put({before!r}, get)", same, before)
        for first in values:
            once = _try_put(lens, whole, first)
            if once is None:
                continue
            found = lens.get(once.whole)
            if not lens.equal_focus(found, first):
                breach("put-get", f"get(put({before!r}, {first!r}))", found, first)
            for second in values:
                direct, twice = _try_put(lens, whole, second), _try_put(lens, once.whole, second)
                if direct is None or twice is None:
                    is_lawful = direct is twice
                else:
                    is_lawful = lens.equal(twice.whole, direct.whole)
                if not is_lawful:
                    breach("put-put", f"put(put({before!r}, {first!r}), {second!r})", twice, direct)
        if not lens.equal(whole, before):
            breach("pure", "put changed the whole that it was given", whole, before)
    return tuple(breaches)


@dataclass(frozen=True, slots=True)
class _Put(Generic[Whole]):
    """An accepted put; None stands for a refused one."""

    whole: Whole

    def __repr__(self) -> str:
        return repr(self.whole)


def _try_put(lens: Lens[Whole, Focus], whole: Whole, value: Focus) -> _Put[Whole] | None:
    try:
        return _Put(lens.put(whole, value))
    except RefusedPutError:
        return None


def compose(outer: Lens[Whole, Focus], inner: Lens[Focus, Inner]) -> Lens[Whole, Inner]:
    """Return the lens that focuses through `outer`, then `inner`.

    >>> weight = compose(field("ranker"), field("weight"))
    >>> weight.id, weight.put({"ranker": {"weight": 1, "depth": 9}}, 2)
    ('ranker.weight', {'ranker': {'weight': 2, 'depth': 9}})
    """
    return Lens(
        id=f"{outer.id}.{inner.id}",
        get=lambda whole: inner.get(outer.get(whole)),
        put=lambda whole, value: outer.put(whole, inner.put(outer.get(whole), value)),
        equal=outer.equal,
        equal_focus=inner.equal_focus,
    )


def field(
    key: str, *, id: str | None = None, admits: Callable[[dict[str, Any], Any], str | None] | None = None
) -> Lens[dict[str, Any], Any]:
    """Return the lens on one member of a JSON object.

    Args:
        key: member that must already stand in the object.
        id: identity of the optic; where none is given the key, with a backslash before what joins keys in an identity.
        admits: returns why a value is refused in the context of the whole object, or None where it is
            admissible; it must not look at the member's present value, or put-put fails.

    >>> top_k = field("top_k", admits=lambda spec, k: None if k >= 1 else f"top_k {k} is below 1")
    >>> top_k.put({"top_k": 2, "w": 1}, 4)
    {'top_k': 4, 'w': 1}
    >>> top_k.put({"top_k": 2, "w": 1}, 0)
    Traceback (most recent call last):
    opfield.optic.lens.RefusedPutError: top_k 0 is below 1
    """
    name = id or named(key)

    def get(whole: dict[str, Any]) -> Any:
        if not isinstance(whole, dict):
            raise RefusedPutError(f"optic {name!r} finds no object but a {type(whole).__name__}")
        if key not in whole:
            raise RefusedPutError(
                f"optic {name!r} finds no member {key!r}; known: {', '.join(map(str, whole)) or 'none'}"
            )
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

    Args:
        keys: members that must already stand in the object; their order is of no account.

    Raises:
        DeclarationError: where there is no key.

    >>> fields(["a", "b"]).put({"a": 1, "b": 2, "c": 3}, {"a": 5, "b": 6})
    {'a': 5, 'b': 6, 'c': 3}
    """
    lenses = {key: field(key) for key in sorted(keys)}
    if not lenses:
        raise DeclarationError("a lens on no member could change nothing; name at least one")

    def get(whole: dict[str, Any]) -> dict[str, Any]:
        return {key: lens.get(whole) for key, lens in lenses.items()}

    def put(whole: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(value, dict) or set(value) != set(lenses):
            raise RefusedPutError(f"expected an object with the members {', '.join(lenses)}, got {value!r}")
        for key, lens in lenses.items():
            whole = lens.put(whole, value[key])
        return whole

    # One member alone is called as its field is: what is written there, an object or the value, says which was meant.
    return Lens("+".join(map(named, lenses)), get, put)


def named(key: str) -> str:
    r"""Return a key as it stands in an identity: one member may be called what others are called together.

    >>> print(named("a.b"), compose(field("a"), field("b")).id, field("a.b").id)
    a\.b a.b a\.b
    """
    return _JOINING.sub(r"\\\g<0>", key)
