"""Operations as they are declared: typed ports, effects, dependencies, claims and costs, and no code (§5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

from opfield.core.label import check_label
from opfield.errors import DeclarationError

#: Schemas of the wires at one side of an operation or plan, in order; the empty port is the unit.
Port: TypeAlias = tuple[str, ...]


class Effect(StrEnum):
    """What an operation does beside turning its inputs into its outputs; a declared set is an upper bound (§C.6)."""

    ARTIFACT_READ = "artifact.read"
    ARTIFACT_WRITE = "artifact.write"
    CLOCK = "clock"
    CPU = "cpu"
    NETWORK = "network"
    RANDOM = "random"
    REMOTE_DISCLOSURE = "remote.disclosure"
    SECRET = "secret"
    STATE = "state"


#: No estimate is larger; the sum over a plan then still has a canonical form.
_MOST: Final = 10**15


@dataclass(frozen=True, slots=True)
class Cost:
    """What an operation is expected to use; estimates, in units that the plugins of one registry agree on.

    Attributes:
        work: total work.
        critical_path: work that no concurrency shortens; at most `work`.
        memory_bytes: memory in use at once.
    """

    work: float = 0.0
    critical_path: float = 0.0
    memory_bytes: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no amount.

        Raises:
            DeclarationError: naming the amount.
        """
        for name in ("work", "critical_path", "memory_bytes"):
            amount = getattr(self, name)
            is_number = isinstance(amount, int if name == "memory_bytes" else int | float)
            if isinstance(amount, bool) or not is_number or not 0 <= amount <= _MOST:
                kind = "whole number" if name == "memory_bytes" else "number"
                raise DeclarationError(f"{name} {amount!r} is no amount; use a {kind} from 0 to {_MOST:g}")
        if self.critical_path > self.work:
            raise DeclarationError(
                f"critical path {self.critical_path} is longer than the whole work of {self.work}; it is a part of it"
            )


@dataclass(frozen=True, slots=True)
class OperationDescriptor:
    """What an operation declares: its typed boundary and what plans may rely on (§5.1, §29.4).

    Attributes:
        id: identity of the meaning, such as `ragtoy.chunk/v1`; it changes where input, output or effects do.
        plugin: identity of the plugin that owns it.
        version: version of the implementation.
        inputs: schemas taken, in order.
        outputs: schemas given, in order.
        effects: all that it may do, sorted, each once.
        dependencies: labels of the parts of a specification that it reads, sorted, each once.
        is_deterministic: whether equal inputs give equal outputs.
        is_cacheable: whether retained outputs may stand for a run over equal inputs.
        cost: what it is expected to use.
        reads: fields that it reads of its inputs, as `schema#field`, sorted, each once; of a schema of which no field
            is named it reads everything.
        emits: data classes that its outputs bear beside those of its inputs, sorted, each once.
        clears: data classes that its outputs no longer bear for whom is given its certificate: what it has authorized.
        admits: data classes that it may be given where it discloses to a remote party.
        certifies: schema of the output that is the certificate of what it clears; empty for an operation that
            authorizes nothing. An authorization gives the certificate beside what it has authorized (§41.2).
    """

    id: str
    plugin: str
    version: str
    inputs: Port
    outputs: Port
    effects: tuple[Effect, ...] = (Effect.CPU,)
    dependencies: tuple[str, ...] = ()
    is_deterministic: bool = True
    is_cacheable: bool = True
    cost: Cost = Cost()
    reads: tuple[str, ...] = ()
    emits: tuple[str, ...] = ()
    clears: tuple[str, ...] = ()
    admits: tuple[str, ...] = ()
    certifies: str = ""

    def __post_init__(self) -> None:
        """Check every name, and bring sets into their one order.

        Raises:
            DeclarationError: naming what is no name, no effect, or claimed without ground.
        """
        for what, text in (("operation id", self.id), ("plugin id", self.plugin), ("version", self.version)):
            check_label(what, text)
        for what in ("inputs", "outputs", "effects", "dependencies", "reads", "emits", "clears", "admits"):
            if isinstance(getattr(self, what), str):
                raise DeclarationError(f"{what} of operation {self.id} are a list of texts, not one text")
        for what, claim in (("is_deterministic", self.is_deterministic), ("is_cacheable", self.is_cacheable)):
            if not isinstance(claim, bool):
                raise DeclarationError(f"{what} of operation {self.id} is {claim!r}; write True or False")
        if not isinstance(self.cost, Cost):
            raise DeclarationError(f"the cost of operation {self.id} is {self.cost!r}; write Cost(work=…)")
        for schema in (*self.inputs, *self.outputs):
            check_label("schema", schema)
        for what in ("dependencies", "reads", "emits", "clears", "admits"):
            for label in getattr(self, what):
                check_label(f"label of {what}", label)
            object.__setattr__(self, what, tuple(sorted(set(getattr(self, what)))))
        if self.certifies or self.clears:
            self._check_certificate()
        for each in self.reads:
            schema, sign, name = each.rpartition("#")
            if not sign or not name or schema not in self.inputs:
                raise DeclarationError(
                    f"operation {self.id} reads {each!r}; write schema#field with a schema of {', '.join(self.inputs)}"
                )
        try:
            effects = tuple(sorted({Effect(each) for each in self.effects}))
        except ValueError as error:
            known = ", ".join(Effect)
            raise DeclarationError(f"operation {self.id}: {error}; effects are {known}") from None
        object.__setattr__(self, "inputs", tuple(self.inputs))
        object.__setattr__(self, "outputs", tuple(self.outputs))
        object.__setattr__(self, "effects", effects)

    def _check_certificate(self) -> None:
        """Refuse an authorization without a certificate, and a certificate of nothing.

        Raises:
            DeclarationError: with the remedy.
        """
        if not self.certifies:
            raise DeclarationError(
                f"operation {self.id} clears {', '.join(self.clears)} and gives no certificate of it; name with "
                "`certifies` the schema of the output that is one"
            )
        if not self.clears:
            raise DeclarationError(f"operation {self.id} certifies nothing; name with `clears` what it has authorized")
        if tuple(self.outputs).count(self.certifies) != 1:
            raise DeclarationError(
                f"operation {self.id} certifies by {self.certifies!r}, which is not one of its outputs: "
                f"{', '.join(self.outputs) or 'none'}"
            )

    def fields_read(self, schema: str) -> tuple[str, ...] | None:
        """Return the fields of an input that the operation reads; None where it may read everything."""
        named = tuple(each.rpartition("#")[2] for each in self.reads if each.rpartition("#")[0] == schema)
        return named or None

    def as_json(self) -> dict[str, Any]:
        """Return the descriptor as a JSON value with a canonical form."""
        return {
            "id": self.id,
            "plugin": self.plugin,
            "version": self.version,
            "in": list(self.inputs),
            "out": list(self.outputs),
            "effects": [str(each) for each in self.effects],
            "dependencies": list(self.dependencies),
            "deterministic": self.is_deterministic,
            "cacheable": self.is_cacheable,
            "reads": list(self.reads),
            "emits": list(self.emits),
            "clears": list(self.clears),
            "admits": list(self.admits),
            "certifies": self.certifies,
            "cost": {
                "work": self.cost.work,
                "critical_path": self.cost.critical_path,
                "memory_bytes": self.cost.memory_bytes,
            },
        }


def read_descriptor(value: Any) -> OperationDescriptor:
    """Return the descriptor in a JSON object that `as_json` gave; nothing about it is trusted.

    Raises:
        DeclarationError: where a member lacks, is unknown, or is not what a descriptor has there.
    """
    if not isinstance(value, dict) or value.keys() != _MEMBERS.keys():
        raise DeclarationError(f"a descriptor is an object with exactly the members {', '.join(_MEMBERS)}")
    for name, kind in _MEMBERS.items():
        if not isinstance(value[name], kind):
            raise DeclarationError(f"{name} of a descriptor is {type(value[name]).__name__}, not {kind.__name__}")
    cost = value["cost"]
    if cost.keys() != {"work", "critical_path", "memory_bytes"}:
        raise DeclarationError("cost of a descriptor has exactly the members work, critical_path, memory_bytes")
    return OperationDescriptor(
        value["id"],
        value["plugin"],
        value["version"],
        tuple(value["in"]),
        tuple(value["out"]),
        tuple(value["effects"]),
        tuple(value["dependencies"]),
        value["deterministic"],
        value["cacheable"],
        Cost(**cost),
        tuple(value["reads"]),
        tuple(value["emits"]),
        tuple(value["clears"]),
        tuple(value["admits"]),
        value["certifies"],
    )


#: Members of a descriptor's JSON form, with the type of each.
_MEMBERS: Final[dict[str, type]] = {
    "id": str,
    "plugin": str,
    "version": str,
    "in": list,
    "out": list,
    "effects": list,
    "dependencies": list,
    "deterministic": bool,
    "cacheable": bool,
    "reads": list,
    "emits": list,
    "clears": list,
    "admits": list,
    "certifies": str,
    "cost": dict,
}
