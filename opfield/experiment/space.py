"""Spaces: a baseline specification and the lawful interventions on it (§21.1, §22)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from opfield.core import Envelope, canonical_json, digest, seal
from opfield.errors import DeclarationError, IdentityError, unknown_name
from opfield.optic import Lens, fields


@dataclass(frozen=True, slots=True)
class Patch:
    """One intervention, written through an optic, with its causal declaration (§10.5).

    Attributes:
        id: short name, unique in its space.
        optic: identity of the optic that it writes through.
        value: envelope of the new focus.
        classes: semantic classes, such as `relevance` or `knowledge`.
        targets: dependency nodes that it changes directly.
        closure: dependency nodes that it invalidates, in declared order.
        hypothesis: why it might help, in words.
    """

    id: str
    optic: str
    value: Envelope
    classes: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    closure: tuple[str, ...] = ()
    hypothesis: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the patch as its identity is computed over it; lists keep their declared order (DESIGN §4)."""
        return {
            "id": self.id,
            "optic": self.optic,
            "value": self.value.as_json(),
            "classes": list(self.classes),
            "targets": list(self.targets),
            "closure": list(self.closure),
            "hypothesis": self.hypothesis,
        }


class Space(Protocol):
    """A parameterized family of specifications; the seam through which a domain declares what can change."""

    @property
    def id(self) -> str:
        """Identity and version of the space, such as `ragtoy.space/v1`."""
        ...

    def baseline(self) -> Envelope:
        """Return the envelope of the baseline specification."""
        ...

    def patches(self) -> Sequence[Patch]:
        """Return the interventions that the space advertises."""
        ...

    def apply(self, spec: Envelope, patch: Patch) -> Envelope:
        """Return the envelope of the patched specification, or raise `DeclarationError` where it is refused."""
        ...


@dataclass(frozen=True, slots=True)
class OpticSpace:
    """A space over a JSON specification whose parameters stand behind lenses.

    Attributes:
        id: identity and version of the space.
        schema: schema of the specification.
        spec: baseline specification, a JSON object.
        optics: lens by identity.
        advertised: the interventions.
        read_value: turns the payload of a patch's value into the focus; the payload itself unless given.
    """

    id: str
    schema: str
    spec: Mapping[str, Any]
    optics: Mapping[str, Lens[dict[str, Any], Any]]
    advertised: tuple[Patch, ...]
    read_value: Callable[[Any], Any] = field(default=lambda payload: payload)

    def baseline(self) -> Envelope:
        """Return the envelope of the baseline specification."""
        return seal(self.schema, dict(self.spec))

    def patches(self) -> Sequence[Patch]:
        """Return the advertised interventions."""
        return self.advertised

    def apply(self, spec: Envelope, patch: Patch) -> Envelope:
        """Write the patch's value through its optic.

        Raises:
            DeclarationError: for another schema or a value that the optic refuses.
            UnknownNameError: for an optic that the space does not have.
        """
        if spec.schema != self.schema:
            raise DeclarationError(f"space {self.id} changes {self.schema}, not {spec.schema}")
        if patch.optic not in self.optics:
            raise unknown_name("optic", patch.optic, self.optics)
        try:
            whole = self.optics[patch.optic].put(dict(spec.payload), self.read_value(patch.value.payload))
        except DeclarationError as error:
            raise DeclarationError(f"patch {patch.id!r} is refused by its optic {patch.optic!r}: {error}") from None
        return seal(self.schema, whole)


def field_space(
    name: str, baseline: Mapping[str, Any], candidates: Mapping[str, Mapping[str, Any]]
) -> OpticSpace:
    """Return the plain space over a JSON object: each candidate is a name and the members that it changes.

    Args:
        name: name of the space; its schema is `<name>.spec/v1`.
        baseline: baseline specification.
        candidates: label to the changed members, which must stand in the baseline.

    Raises:
        DeclarationError: where a candidate changes nothing, or a value has no canonical form.
        UnknownNameError: where a candidate names a member that the baseline has not.

    >>> space = field_space("prompt", {"k": 2}, {"more": {"k": 4}})
    >>> space.apply(space.baseline(), space.patches()[0]).payload
    {'k': 4}
    """
    optics: dict[str, Lens[dict[str, Any], Any]] = {}
    patches: list[Patch] = []
    for label, changes in candidates.items():
        if not changes:
            raise DeclarationError(f"candidate {label!r} changes nothing; name at least one member of the baseline")
        for key in changes:
            if key not in baseline:
                raise unknown_name(f"member of the baseline in candidate {label!r}:", key, baseline)
        lens = fields(changes)
        optics[lens.id] = lens
        try:
            value = seal("opfield.fields/v1", dict(changes))
        except IdentityError as error:
            raise DeclarationError(f"candidate {label!r}: {error}") from None
        patches.append(Patch(label, lens.id, value, targets=tuple(sorted(changes))))
    return OpticSpace(f"{name}.fields/v1", f"{name}.spec/v1", dict(baseline), optics, tuple(patches))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A baseline, one intervention, the resulting specification, and the identity of all three (§22.1).

    Attributes:
        id: digest over baseline digest, resulting digest and canonical patch; of its own domain for the baseline.
        label: short name for people.
        baseline: envelope of the baseline.
        spec: envelope of the resulting specification.
        patch: the intervention; None for the baseline itself.
    """

    id: str
    label: str
    baseline: Envelope
    spec: Envelope
    patch: Patch | None

    def as_json(self) -> dict[str, Any]:
        """Return what the campaign retains of it: {baseline, patch, spec}."""
        return {
            "baseline": self.baseline.as_json(),
            "patch": None if self.patch is None else self.patch.as_json(),
            "spec": self.spec.as_json(),
        }


def candidate_id(baseline: str, spec: str, patch: Mapping[str, Any] | None) -> str:
    """Return the identity of a candidate from two envelope digests and its patch; of the baseline where patch is None."""
    if patch is None:
        return digest("opfield/baseline/v1", baseline)
    return digest("opfield/candidate/v1", baseline, spec, canonical_json(patch))


def baseline_candidate(space: Space) -> Candidate:
    """Return the baseline as a candidate without intervention."""
    envelope = space.baseline()
    return Candidate(candidate_id(envelope.digest, envelope.digest, None), "baseline", envelope, envelope, None)


def propose_all(space: Space) -> tuple[Candidate, ...]:
    """Return every advertised patch applied to the baseline, ordered by identity (§21.2, §35.1).

    Raises:
        DeclarationError: where there is no patch, two share a name, one is refused, or two are the same candidate.
    """
    baseline = space.baseline()
    patches = list(space.patches())
    if not patches:
        raise DeclarationError(f"space {space.id} advertises no patch, so there is no candidate to compare; add one")
    found: dict[str, Candidate] = {}
    labels: set[str] = set()
    for patch in patches:
        check_label("candidate", patch.id)
        if patch.id in labels:
            raise DeclarationError(f"two patches of space {space.id} are called {patch.id!r}; rename one")
        labels.add(patch.id)
        spec = space.apply(baseline, patch)
        identity = candidate_id(baseline.digest, spec.digest, patch.as_json())
        found[identity] = Candidate(identity, patch.id, baseline, spec, patch)
    return tuple(found[identity] for identity in sorted(found))


def check_label(what: str, text: object, limit: int = 1024) -> None:
    """Refuse an identity or label that is no plain text.

    Raises:
        DeclarationError: where it is not text, empty, longer than `limit` bytes, holds NUL, or is not Unicode.
    """
    if not isinstance(text, str):
        raise DeclarationError(
            f"{what} id {text!r} is a {type(text).__name__}, not text; ids equal only as text would be mixed up, "
            f"so write {str(text)!r}"
        )
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise DeclarationError(f"{what} id {text!r} has a lone surrogate, which is not Unicode; remove it") from None
    if size == 0:
        raise DeclarationError(f"a {what} id is empty; give every {what} a stable name")
    if size > limit:
        raise DeclarationError(f"{what} id {text[:40]!r}… is {size} bytes long, at most {limit} are kept; shorten it")
    if "\0" in text:
        raise DeclarationError(f"{what} id {text!r} holds a NUL character; remove it")
