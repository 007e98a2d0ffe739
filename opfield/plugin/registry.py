"""Registries: immutable snapshots of plugins that fit together, with one identity (§5.3, §19.2, §48.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from opfield.core import canonical_json, digest, seal
from opfield.core.operation import OperationDescriptor
from opfield.errors import OpfieldError, PluginError, unknown_name
from opfield.plan import Plan, faults, plan_id
from opfield.plugin.codec import TypeCodec, described, field_names
from opfield.plugin.operation import Operation
from opfield.plugin.plugin import Manifest, Plugin, Schema

_DOMAIN: Final = "opfield/registry/v1"


@dataclass(frozen=True)
class Registry:
    """Plugins that were admitted together. Registering more gives another registry; this one stays as it is.

    Attributes:
        manifests: manifests by plugin id.
        schemas: schemas by id.
        operations: operations by id.
        plans: plans by `plugin.name`.
        laws: names of the laws that held, by plugin id.
    """

    manifests: Mapping[str, Manifest] = field(default_factory=dict)
    schemas: Mapping[str, Schema] = field(default_factory=dict)
    operations: Mapping[str, Operation] = field(default_factory=dict)
    plans: Mapping[str, Plan] = field(default_factory=dict)
    laws: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    descriptors: Mapping[str, OperationDescriptor] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Close the mappings, and gather the descriptors, which plans are checked and folded against."""
        for name in ("manifests", "schemas", "operations", "plans", "laws"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        told = {id: each.descriptor for id, each in self.operations.items()}
        object.__setattr__(self, "descriptors", MappingProxyType(told))

    def register(self, *plugins: Plugin) -> Registry:
        """Return a registry with these plugins too: with all of them, or none.

        They may build on each other, in whatever order. Plans that were valid before stay so, with the same identities
        and meanings: nothing that is registered ever changes.

        Raises:
            PluginError: listing everything that stands in the way, of every plugin.
        """
        strangers = [type(each).__name__ for each in plugins if not isinstance(each, Plugin)]
        if strangers:
            raise PluginError(f"nothing was registered: a {strangers[0]} is no plugin")
        # As they are now: a law that is tried below changes nothing of what is admitted.
        taken = [each.copied() for each in plugins]
        found: list[str] = []
        wider = self
        for plugin in taken:
            beside = [each for each in taken if each is not plugin]
            try:
                found += (f"plugin {plugin.manifest.id}: {each}" for each in _problems(wider, plugin, beside))
            except Exception as error:  # what is no operation or plan at all ends anywhere
                found.append(f"plugin {plugin.manifest.id}: {type(error).__name__}: {error}")
                continue
            wider = wider._with(plugin)
        if found:
            raise PluginError("nothing was registered: " + "; ".join(found))
        return wider

    def _with(self, plugin: Plugin) -> Registry:
        return Registry(
            {**self.manifests, plugin.manifest.id: plugin.manifest},
            {**self.schemas, **{each.id: each for each in plugin.schemas}},
            {**self.operations, **{each.descriptor.id: each for each in plugin.operations}},
            {**self.plans, **{f"{plugin.manifest.id}.{name}": each for name, each in plugin.plans}},
            {**self.laws, plugin.manifest.id: tuple(name for name, _ in plugin.laws)},
        )

    @property
    def id(self) -> str:
        """Identity of the snapshot: that of its manifests, schemas, descriptors and plans, in no order."""
        told = {
            "manifests": {id: each.version for id, each in self.manifests.items()},
            "schemas": {id: _read_as(each) for id, each in self.schemas.items()},
            "operations": {id: each.as_json() for id, each in self.descriptors.items()},
            "plans": {name: plan_id(each) for name, each in self.plans.items()},
        }
        return digest(_DOMAIN, canonical_json(told))

    def plan(self, name: str) -> Plan:
        """Return a registered plan.

        Raises:
            UnknownNameError: listing the known ones.
        """
        if name not in self.plans:
            raise unknown_name("plan", name, self.plans)
        return self.plans[name]


def _read_as(schema: Schema) -> Any:
    """Return what payloads of a schema are read as."""
    if isinstance(schema.codec, TypeCodec):
        return described(schema.codec.type)
    return type(schema.codec).__qualname__


def _problems(registry: Registry, plugin: Plugin, beside: Iterable[Plugin]) -> Iterator[str]:
    """Yield everything that keeps a plugin from being admitted."""
    own = plugin.manifest.id
    if own in registry.manifests:
        yield f"version {registry.manifests[own].version} of it is registered already"
    operations = {each.descriptor.id: each.descriptor for each in plugin.operations}
    schemas = {each.id for each in plugin.schemas}
    yield from _repeated("schema", (each.id for each in plugin.schemas))
    yield from _repeated("operation", (each.descriptor.id for each in plugin.operations))
    yield from _repeated("plan", (name for name, _ in plugin.plans))
    yield from _repeated("law", (name for name, _ in plugin.laws))
    for what, ids in (("schema", schemas), ("operation", operations.keys())):
        for id in sorted(ids):
            if not id.startswith(f"{own}."):
                yield f"{what} {id} is not its own; begin the id with {own}."
            if id in (registry.schemas if what == "schema" else registry.operations):
                yield f"{what} {id} is registered already"
    others = [each for other in beside for each in other.operations]
    known = schemas | registry.schemas.keys() | {each.id for other in beside for each in other.schemas}
    for id, each in sorted(operations.items()):
        if each.plugin != own:
            yield f"operation {id} is declared as plugin {each.plugin}'s"
        for schema in sorted({*each.inputs, *each.outputs} - known):
            yield f"operation {id}: {unknown_name('schema', schema, known)}"
        yield from _unreadable(each, {**registry.schemas, **{own.id: own for own in plugin.schemas}})
    for defined in plugin.schemas:
        yield from _misread(defined)
    for name, plan in plugin.plans:
        around = {each.descriptor.id: each.descriptor for each in others}
        for fault in faults(plan, {**registry.descriptors, **around, **operations}):
            yield f"plan {name}, {fault.place}: {fault.message}"
    for name, law in plugin.laws:
        yield from _broken(name, law)


def _unreadable(operation: OperationDescriptor, schemas: Mapping[str, Schema]) -> Iterator[str]:
    """Yield the fields that an operation declares to read and that nobody could see it read."""
    for each in operation.reads:
        id, _, name = each.rpartition("#")
        names = field_names(schemas[id].codec) if id in schemas else None
        if names is not None and name not in names:
            known = ", ".join(names) or "none by name, so that it must declare to read everything"
            yield f"operation {operation.id} reads {each}, which is no field of it; known: {known}"


def _repeated(what: str, ids: Iterable[str]) -> Iterator[str]:
    for id, count in sorted(Counter(ids).items()):
        if count > 1:
            yield f"{what} {id} is defined {count} times"


def _misread(schema: Schema) -> Iterator[str]:
    """Yield where a codec does not read back what it wrote."""
    for ix, example in enumerate(schema.examples):
        try:
            envelope = seal(schema.id, schema.codec.encode(schema.id, example))
            again = schema.codec.decode(schema.id, envelope.payload)
            twice = seal(schema.id, schema.codec.encode(schema.id, again))
            is_same = again == example
            is_same = is_same if isinstance(is_same, bool) else bool(is_same.all())
        except (Exception, SystemExit) as error:  # whatever a plugin's codec raises keeps it out
            yield f"schema {schema.id}, example {ix}: {type(error).__name__}: {error}"
            continue
        if not is_same or twice.digest != envelope.digest:
            yield f"schema {schema.id}, example {ix}: what was read back is not what was written"


def _broken(name: str, law: Any) -> Iterator[str]:
    """Yield what a law finds wrong; a law that cannot be tried does not hold."""
    try:
        told = law() or ()
        yield from (f"law {name}: {each}" for each in ([told] if isinstance(told, str) else told))
    except OpfieldError as error:
        yield f"law {name}: {error}"
    except (Exception, SystemExit) as error:  # whatever a plugin's law raises keeps it out
        yield f"law {name}: {type(error).__name__}: {error}"
