"""Spaces: a baseline specification and the lawful interventions on it (§21.1, §22)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from opfield.core import Envelope, canonical_json, check_envelope, check_label, digest, seal
from opfield.errors import DeclarationError, IdentityError, unknown_name
from opfield.optic import Lens, fields

#: Label of the baseline wherever candidates are listed; no candidate may take it.
BASELINE_LABEL: Final = "baseline"


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

    def __post_init__(self) -> None:
        """Turn lists into tuples, and refuse text where several names are asked for.

        Raises:
            DeclarationError: naming the patch and the member.
        """
        for member in ("classes", "targets", "closure"):
            names = getattr(self, member)
            if isinstance(names, str):
                raise DeclarationError(f"patch {self.id!r}: {member} is a list of names, got the text {names!r}")
            object.__setattr__(self, member, tuple(names))

    def as_json(self) -> dict[str, Any]:
        """Return the patch as its identity holds it; lists keep their declared order (DESIGN §4)."""
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
        """Return the envelope of the patched specification, under the schema of `spec`.

        Raises:
            DeclarationError: where the patch is refused.
        """
        ...


class Causes(Protocol):
    """What knows which parts a change invalidates, such as `opfield.interpret.Causality` of a domain's plan."""

    def completed(self, patch: Patch) -> Patch:
        """Return a patch with its closure.

        Raises:
            DeclarationError: naming the patch, where it declares what cannot be.
        """
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
        causes: computes the closure of each patch that declares none, and checks those that are declared; without it,
            patches stand as they are declared.
    """

    id: str
    schema: str
    spec: Mapping[str, Any]
    optics: Mapping[str, Lens[dict[str, Any], Any]]
    advertised: tuple[Patch, ...]
    read_value: Callable[[Any], Any] = field(default=lambda payload: payload)
    causes: Causes | None = None

    def baseline(self) -> Envelope:
        """Return the envelope of the baseline specification."""
        return seal(self.schema, dict(self.spec))

    def patches(self) -> Sequence[Patch]:
        """Return the advertised interventions, each with its closure where something knows it.

        Raises:
            DeclarationError: for a patch that declares another closure than its targets have.
        """
        return self.advertised if self.causes is None else tuple(map(self.causes.completed, self.advertised))

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
            return seal(self.schema, whole)
        except (DeclarationError, IdentityError) as error:
            raise DeclarationError(f"patch {patch.id!r} is refused by its optic {patch.optic!r}: {error}") from None


def field_space(name: str, baseline: Mapping[str, Any], candidates: Mapping[str, Mapping[str, Any]]) -> OpticSpace:
    """Return the plain space over a JSON object: each candidate is a name and the members that it changes.

    Args:
        name: name of the space; its schema is `<name>.spec/v1`.
        baseline: baseline specification.
        candidates: label to the changed members, which must stand in the baseline; each is replaced whole.

    Raises:
        DeclarationError: where a candidate names no member, or a value has no canonical form.
        UnknownNameError: where a candidate names a member that the baseline has not.

    >>> space = field_space("prompt", {"k": 2}, {"more": {"k": 4}})
    >>> space.apply(space.baseline(), space.patches()[0]).payload
    {'k': 4}
    """
    check_label("space name", name)
    spec = _sealed_object("the baseline", f"{name}.spec/v1", baseline)
    if not isinstance(candidates, Mapping):
        raise DeclarationError(
            f"candidates are a mapping of label to changed members, got a {type(candidates).__name__}"
        )
    optics: dict[str, Lens[dict[str, Any], Any]] = {}
    patches: list[Patch] = []
    for label, changes in candidates.items():
        check_label("candidate label", label)
        value = _sealed_object(f"candidate {label!r}", "opfield.fields/v1", changes)
        if not changes:
            raise DeclarationError(f"candidate {label!r} changes nothing; name a member of the baseline")
        for key in value.payload:
            if key not in spec.payload:
                raise unknown_name(f"member of the baseline in candidate {label!r}:", key, spec.payload)
        lens = fields(value.payload)
        optics[lens.id] = lens
        patches.append(Patch(label, lens.id, value, targets=tuple(sorted(value.payload))))
    return OpticSpace(f"{name}.fields/v1", spec.schema, spec.payload, optics, tuple(patches))


def _sealed_object(what: str, schema: str, value: object) -> Envelope:
    if not isinstance(value, Mapping):
        raise DeclarationError(f"{what} is a JSON object of names and values, got a {type(value).__name__}")
    try:
        return seal(schema, value)
    except IdentityError as error:
        raise DeclarationError(f"{what} cannot be kept: {error}") from None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A baseline, one intervention, the resulting specification, and the identity of all three (§22.1).

    Attributes:
        id: digest over both envelopes' digests and the canonical patch; of its own domain for the baseline.
        label: short name for people, unique in its campaign.
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
    """Return the identity of a candidate; of the baseline where there is no patch (DESIGN §4).

    Args:
        baseline: digest of the baseline's envelope.
        spec: digest of the resulting specification's envelope.
        patch: the intervention as `Patch.as_json` gives it.
    """
    if patch is None:
        return digest("opfield/baseline/v1", baseline)
    return digest("opfield/candidate/v1", baseline, spec, canonical_json(patch))


def baseline_candidate(space: Space) -> Candidate:
    """Return the baseline as a candidate without intervention, labelled `baseline`."""
    envelope = space.baseline()
    identity = candidate_id(envelope.digest, envelope.digest, None)
    return Candidate(identity, BASELINE_LABEL, envelope, envelope, None)


def propose_all(space: Space) -> tuple[Candidate, ...]:
    """Return every advertised patch applied to the baseline, ordered by identity (§21.2, §35.1).

    Raises:
        DeclarationError: where there is no patch, two share a name, one takes the baseline's name, one is
            refused, or the space gives an envelope that is damaged or of another schema than the baseline.
    """
    baseline = space.baseline()
    patches = list(space.patches())
    if not patches:
        raise DeclarationError(f"space {space.id} advertises no patch, so there is no candidate to compare; add one")
    labels = {BASELINE_LABEL}
    found: list[Candidate] = []
    for patch in patches:
        check_label("candidate label", patch.id)
        if patch.id in labels:
            holder = "the baseline" if patch.id == BASELINE_LABEL else "another patch"
            raise DeclarationError(f"space {space.id}: a patch has the name {patch.id!r}, as {holder} has; rename it")
        labels.add(patch.id)
        spec = space.apply(baseline, patch)
        if spec.schema != baseline.schema:
            raise DeclarationError(
                f"space {space.id}: patch {patch.id!r} turns {baseline.schema} into {spec.schema}; keep the schema"
            )
        try:
            for envelope in (baseline, patch.value, spec):
                check_envelope(envelope)
            identity = candidate_id(baseline.digest, spec.digest, patch.as_json())
        except IdentityError as error:
            raise DeclarationError(f"space {space.id}: patch {patch.id!r}: {error}") from None
        found.append(Candidate(identity, patch.id, baseline, spec, patch))
    return tuple(sorted(found, key=lambda candidate: candidate.id))
