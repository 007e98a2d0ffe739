"""Optics on a focus that may not be there, is one of several shapes, or is many (§10.4).

Every optic reads the foci of a whole as a tuple and writes as many back: a lens has one, an affine optic at most one, a
traversal any number. A prism is an affine optic whose whole can be built from the focus alone. Composed optics are as
general as the more general of the two.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from opfield.optic.lens import LawBreach, Lens, RefusedPutError, named


@dataclass(frozen=True, slots=True)
class Traversal:
    """Any number of foci.

    Attributes:
        id: identity of the optic.
        read: gives the foci of a whole, in order.
        write: returns a new whole with as many foci in their places, and leaves the old one alone, or raises
            `RefusedPutError`.
        equal: equality of wholes under which the laws hold.
    """

    id: str
    read: Callable[[Any], tuple[Any, ...]]
    write: Callable[[Any, Sequence[Any]], Any]
    equal: Callable[[Any, Any], bool] = operator.eq

    def update(self, whole: Any, change: Callable[[Any], Any]) -> Any:
        """Return a new whole with a function applied to every focus.

        Raises:
            RefusedPutError: where a focus is not admissible afterwards.
        """
        return self.write(whole, tuple(change(focus) for focus in self.read(whole)))


@dataclass(frozen=True, slots=True)
class Affine(Traversal):
    """At most one focus: what is not there stays away, whatever is written."""

    def put(self, whole: Any, value: Any) -> Any:
        """Return a new whole with the focus replaced; one that equals the old where there is none.

        Raises:
            RefusedPutError: where the value is not admissible.
        """
        return self.write(whole, tuple(value for _ in self.read(whole)))


@dataclass(frozen=True, slots=True)
class Prism(Affine):
    """One shape of several.

    Attributes:
        build: returns the whole of this shape whose focus is given.
    """

    build: Callable[[Any], Any] = lambda focus: focus


Optic: TypeAlias = Lens[Any, Any] | Traversal


def optional(key: str, *, id: str | None = None) -> Affine:
    """Return the affine optic on a member of a JSON object that may be absent.

    >>> optional("reranker").put({"top_k": 2}, "x"), optional("reranker").put({"reranker": "y"}, "x")
    ({'top_k': 2}, {'reranker': 'x'})
    """
    name = id or f"{named(key)}?"

    def read(whole: Any) -> tuple[Any, ...]:
        return (whole[key],) if isinstance(whole, dict) and key in whole else ()

    def write(whole: Any, foci: Sequence[Any]) -> Any:
        _check_count(name, read(whole), foci)
        return {**whole, key: foci[0]} if foci else whole

    return Affine(name, read, write)


def variant(tag: str, value: str, content: str, *, id: str | None = None) -> Prism:
    """Return the prism on the content of one variant of a tagged JSON object.

    Args:
        tag: member that names the variant.
        value: name of this variant.
        content: member that holds what the variant is made of; a whole of this variant has no other members.
        id: identity of the optic; tag, value and content where none is given.

    >>> hosted = variant("backend", "hosted", "model")
    >>> hosted.read({"backend": "local", "model": "m"}), hosted.build("n")
    ((), {'backend': 'hosted', 'model': 'n'})
    """
    name = id or f"{named(tag)}={named(value)}:{named(content)}"

    def read(whole: Any) -> tuple[Any, ...]:
        is_one = isinstance(whole, dict) and whole.keys() == {tag, content} and whole[tag] == value
        return (whole[content],) if is_one else ()

    def build(focus: Any) -> Any:
        return {tag: value, content: focus}

    def write(whole: Any, foci: Sequence[Any]) -> Any:
        _check_count(name, read(whole), foci)
        return build(foci[0]) if foci else whole

    return Prism(name, read, write, build=build)


def each(*, id: str = "*") -> Traversal:
    """Return the traversal of the items of a JSON array; its length never changes.

    >>> through(Lens("weights", lambda s: s["weights"], lambda s, v: {**s, "weights": v}), each()).update(
    ...     {"weights": [1, 2]}, lambda weight: weight * 2
    ... )
    {'weights': [2, 4]}
    """

    def read(whole: Any) -> tuple[Any, ...]:
        return tuple(whole) if isinstance(whole, list) else ()

    def write(whole: Any, foci: Sequence[Any]) -> Any:
        _check_count(id, read(whole), foci)
        return list(foci) if isinstance(whole, list) else whole

    return Traversal(id, read, write)


def through(outer: Optic, inner: Optic) -> Traversal:
    """Return the optic that focuses through one, then the other: a prism of two prisms, affine where both are at most
    affine, a traversal otherwise. Two lenses make a lens by `compose`.
    """  # noqa: D205  one sentence
    first, second = as_traversal(outer), as_traversal(inner)

    def read(whole: Any) -> tuple[Any, ...]:
        return tuple(focus for part in first.read(whole) for focus in second.read(part))

    def write(whole: Any, foci: Sequence[Any]) -> Any:
        parts = first.read(whole)
        counts = [len(second.read(part)) for part in parts]
        _check_count(name, (None,) * sum(counts), foci)
        written, at = [], 0
        for part, count in zip(parts, counts, strict=True):
            written.append(second.write(part, foci[at : at + count]))
            at += count
        return first.write(whole, written)

    name = f"{first.id}.{second.id}"
    if isinstance(first, Prism) and isinstance(second, Prism):
        return Prism(name, read, write, first.equal, lambda focus: first.build(second.build(focus)))
    kind = Affine if isinstance(first, Affine) and isinstance(second, Affine) else Traversal
    return kind(name, read, write, first.equal)


def as_traversal(optic: Optic) -> Traversal:
    """Return an optic as a traversal: a lens as an affine optic whose focus is always there."""
    if isinstance(optic, Traversal):
        return optic

    def write(whole: Any, foci: Sequence[Any]) -> Any:
        _check_count(optic.id, (None,), foci)
        return optic.put(whole, foci[0])

    return Affine(optic.id, lambda whole: (optic.get(whole),), write, optic.equal)


def check_traversal_laws(optic: Traversal, wholes: Iterable[Any], values: Iterable[Any]) -> tuple[LawBreach, ...]:
    """Try the laws of an optic on every whole and pair of values.

    Writing what was read changes nothing; what was written is read; a second write makes the first one vanish; a prism
    reads what it builds, and builds what it reads. Refused values are skipped (§10.3).

    Returns:
        Every breach found; empty where the optic is lawful on these fixtures. Evidence, not a proof.
    """
    tried = list(values)
    breaches: list[LawBreach] = []

    def expect(law: str, where: str, found: Any, wanted: Any, equal: Callable[[Any, Any], bool]) -> None:
        if not equal(found, wanted):
            breaches.append(LawBreach(optic.id, law, f"{where}: got {found!r}, expected {wanted!r}"))

    for whole in wholes:
        before = copy.deepcopy(whole)
        foci = optic.read(whole)
        same = _try_write(optic, whole, foci)
        if same is None:
            breaches.append(LawBreach(optic.id, "read-write", f"{before!r}: what it holds already is refused"))
        else:
            expect("read-write", f"write({before!r}, read)", same[0], before, optic.equal)
        if isinstance(optic, Affine) and len(foci) > 1:
            breaches.append(LawBreach(optic.id, "affine", f"{before!r} has {len(foci)} foci, at most 1 is allowed"))
        if isinstance(optic, Prism) and foci:
            expect("match-build", f"build(read({before!r}))", optic.build(foci[0]), before, optic.equal)
        for first in tried:
            once = _try_write(optic, whole, (first,) * len(foci))
            if once is None:
                continue
            read = optic.read(once[0])
            expect("write-read", f"read(write({before!r}, {first!r}))", read, (first,) * len(foci), operator.eq)
            for second in tried:
                again = _try_write(optic, once[0], (second,) * len(read))
                direct = _try_write(optic, whole, (second,) * len(foci))
                if again is not None and direct is not None:
                    where = f"write(write({before!r}, {first!r}), {second!r})"
                    expect("write-write", where, again[0], direct[0], optic.equal)
        expect("pure", "write changed the whole that it was given", whole, before, optic.equal)
    if isinstance(optic, Prism):
        for value in tried:
            expect("build-match", f"read(build({value!r}))", optic.read(optic.build(value)), (value,), operator.eq)
    return tuple(breaches)


def _try_write(optic: Traversal, whole: Any, foci: Sequence[Any]) -> tuple[Any] | None:
    """Return the whole that was written, in a tuple of one; None where it is refused."""
    try:
        return (optic.write(whole, foci),)
    except RefusedPutError:
        return None


def _check_count(name: str, there: Sequence[Any], given: Sequence[Any]) -> None:
    if len(there) != len(given):
        raise RefusedPutError(f"optic {name!r} has {len(there)} foci there, {len(given)} values were given")
