"""A plugin: schemas, operations, laws and named plans under one manifest, admitted as a whole or not at all (§19)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from opfield.core import check_label
from opfield.core.operation import Cost, Effect, OperationDescriptor
from opfield.errors import DeclarationError
from opfield.plan import Plan
from opfield.plugin.codec import Codec, TypeCodec, check_ordered
from opfield.plugin.operation import Operation, plan_of, ports_of

Function = TypeVar("Function", bound=Callable[..., Any])

#: A law: says what it found wrong, nothing where it holds.
Law = Callable[[], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Schema:
    """What a wire carries.

    Attributes:
        id: identity of the meaning, such as `ragtoy.spec/v1`; two meanings never share one, whatever their fields.
        codec: how values are written and read.
        description: one line for people.
        examples: values that a registry reads back from what it wrote, before it admits the schema.
    """

    id: str
    codec: Codec[Any]
    description: str = ""
    examples: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """Who a plugin is.

    Attributes:
        id: identity; what it owns begins with it and a dot.
        version: version of the implementation.
        description: one line for people.
    """

    id: str
    version: str
    description: str = ""


@dataclass
class Plugin:
    """What a plugin offers, gathered while its module is loaded; nothing is admitted before it is registered.

    Attributes:
        manifest: who it is.
        schemas: schemas that it owns, in the order of their definition.
        operations: operations that it owns.
        laws: checks that must hold before it is admitted, by name.
        plans: plans over its own and other plugins' operations, by name.
    """

    manifest: Manifest
    schemas: list[Schema] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    laws: list[tuple[str, Law]] = field(default_factory=list)
    plans: list[tuple[str, Plan]] = field(default_factory=list)
    _types: dict[Any, str] = field(default_factory=dict, repr=False)

    @classmethod
    def named(cls, id: str, version: str, description: str = "") -> Plugin:
        """Return an empty plugin.

        Raises:
            DeclarationError: where id or version is no name.
        """
        check_label("plugin id", id)
        check_label("version of a plugin", version)
        return cls(Manifest(id, version, description))

    def copied(self) -> Plugin:
        """Return the plugin as it is now; what is defined later is not in the copy."""
        return replace(
            self,
            schemas=list(self.schemas),
            operations=list(self.operations),
            laws=list(self.laws),
            plans=list(self.plans),
            _types=dict(self._types),
        )

    def schema(
        self,
        id: str,
        type: Any = None,
        *,
        codec: Codec[Any] | None = None,
        description: str = "",
        examples: Iterable[Any] = (),
    ) -> str:
        """Define a schema, and return its id.

        Args:
            id: identity of the meaning.
            type: type that stands for it in annotations: a pydantic model, a dataclass or a built-in type.
            codec: how values are written and read; `TypeCodec` of the type where it is not given.
            description: one line for people.
            examples: values to try the codec on before the schema is admitted.

        Raises:
            DeclarationError: where the id is no name, there is neither type nor codec, the type holds a set, or it
                stands for another schema of this plugin.
        """
        check_label("schema id", id)
        if codec is None and type is None:
            raise DeclarationError(f"schema {id} has neither a type nor a codec; give one")
        try:
            stood_for = self._types.get(type, id)
        except TypeError:
            raise DeclarationError(f"schema {id}: {type!r} is no type") from None
        if type is not None and stood_for != id:
            raise DeclarationError(
                f"{type!r} stands for {stood_for} already; annotate with Annotated[type, {id!r}] instead"
            )
        if codec is None:
            check_ordered(id, type)
        if type is not None:
            self._types[type] = id
        self.schemas.append(Schema(id, codec or TypeCodec(type), description, tuple(examples)))
        return id

    def operation(
        self,
        id: str,
        *,
        version: str | None = None,
        effects: Iterable[Effect | str] = (Effect.CPU,),
        dependencies: Iterable[str] = (),
        is_deterministic: bool = True,
        is_cacheable: bool | None = None,
        cost: Cost | None = None,
        reads: Iterable[str] = (),
        emits: Iterable[str] = (),
        clears: Iterable[str] = (),
        admits: Iterable[str] = (),
        certifies: str = "",
    ) -> Callable[[Callable[..., Any]], Operation]:
        """Define an operation by the function under this decorator; its annotations say the ports.

        Args:
            id: identity of the meaning, such as `ragtoy.chunk/v1`.
            version: version of the implementation; the plugin's where it is not given.
            effects: all that it may do.
            dependencies: labels of the parts of a specification that it reads.
            is_deterministic: whether equal inputs give equal outputs.
            is_cacheable: whether retained outputs may stand for a run over equal inputs; what is deterministic may,
                where it is not given.
            cost: what it is expected to use.
            reads: fields that it reads of its inputs, as `schema#field`; everything of a schema without a named one.
            emits: data classes that its outputs bear beside those of its inputs.
            clears: data classes that it authorizes: its outputs no longer bear them for whom is given its certificate.
            admits: data classes that it may be given where it discloses to a remote party.
            certifies: schema of the output that is the certificate of what it clears.

        Raises:
            DeclarationError: where the annotations name no schemas, or what is declared is no name or amount.
        """

        def define(function: Callable[..., Any]) -> Operation:
            ports = ports_of(function, self._types)
            descriptor = OperationDescriptor(
                id,
                self.manifest.id,
                version or self.manifest.version,
                ports.inputs,
                ports.outputs,
                effects if isinstance(effects, str) else tuple(effects),  # type: ignore[arg-type]  # the descriptor makes effects of them, or says which is none
                _texts(dependencies),
                is_deterministic,
                is_deterministic if is_cacheable is None else is_cacheable,
                cost or Cost(),
                _texts(reads),
                _texts(emits),
                _texts(clears),
                _texts(admits),
                certifies,
            )
            operation = Operation(descriptor, function, ports.context, cancellation=ports.cancellation)
            self.operations.append(operation)
            return operation

        return define

    def law(self, function: Function) -> Function:
        """Define a law: the function under this decorator takes nothing and yields what it finds wrong.

        Raises:
            DeclarationError: where it is no function.
        """
        name = getattr(function, "__name__", None)
        if not callable(function) or not isinstance(name, str):
            raise DeclarationError(f"{function!r} is no law; a law is a function of no parameters")
        self.laws.append((name, function))
        return function

    def plan(self, name: str, plan: Operation | Plan) -> Plan:
        """Define a named plan, and return it.

        Raises:
            DeclarationError: where the name is none.
        """
        check_label("plan name", name)
        made = plan_of(plan)
        self.plans.append((name, made))
        return made


def _texts(given: Iterable[str]) -> tuple[str, ...]:
    """Return texts in a tuple; one text stays as it is, and the descriptor refuses it."""
    return given if isinstance(given, str) else tuple(given)  # type: ignore[return-value]  # refused where it is text
