"""Typed operations: ordinary functions whose annotations say their ports (§19.3)."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from opfield.core import Envelope, canonical_json, check_label, parse_json
from opfield.core.cancellation import Cancellation
from opfield.core.execution import Execution, Observation
from opfield.core.operation import OperationDescriptor, Port
from opfield.errors import DeclarationError
from opfield.plan import Plan, primitive


@dataclass(frozen=True, slots=True)
class Context:
    """What an operation may ask of its host; a parameter annotated with it is no wire."""

    _told: list[Observation] = field(default_factory=list)

    @property
    def observations(self) -> tuple[Observation, ...]:
        """What the operation told so far."""
        return tuple(self._told)

    def observe(self, name: str, value: Any) -> None:
        """Tell something noticed; it is kept with the execution, under the operation's id.

        Args:
            name: what.
            value: a JSON value, as it is now.

        Raises:
            IdentityError: where the value has no canonical form.
            DeclarationError: where the name is none.
        """
        check_label("name of an observation", name)
        self._told.append(Observation(name, parse_json(canonical_json(value))))


@dataclass(frozen=True, slots=True)
class Operation:
    """A descriptor with the function that implements it. Called, it is that function; `>>` and `@` make plans of it.

    Attributes:
        descriptor: what it declares.
        function: takes a value for each input, gives one for the only output, or a tuple of one for each.
        context: name of the function's parameter for the `Context`; None where it takes none.
        execute: takes checked envelopes instead of values, and the cancellation, and is asked instead of the function:
            for an operation that lives elsewhere. What it answers is checked like what a function answers.
        cancellation: name of the function's parameter for the `Cancellation`; None where it takes none, and so goes on
            to its end whoever asks it to stop.
    """

    descriptor: OperationDescriptor
    function: Callable[..., Any]
    context: str | None = None
    execute: Callable[[Sequence[Envelope], Cancellation], Execution] | None = None
    cancellation: str | None = None

    @property
    def plan(self) -> Plan:
        """The plan of this operation alone."""
        return primitive(self.descriptor)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self.function(*args, **kwargs)

    def given(self, values: Sequence[Any], context: Context, cancellation: Cancellation | None = None) -> Any:
        """Call the function with values for its inputs, and with what it asks of its host."""
        asked: dict[str, Any] = {}
        if self.context is not None:
            asked[self.context] = context
        if self.cancellation is not None:
            asked[self.cancellation] = cancellation or Cancellation()
        return self.function(*values, **asked)

    def __rshift__(self, other: Operation | Plan) -> Plan:
        """Return the plan that runs this operation, then the other."""
        return self.plan >> plan_of(other)

    def __rrshift__(self, other: Plan) -> Plan:
        """Return the plan that runs a plan, then this operation."""
        return other >> self.plan

    def __matmul__(self, other: Operation | Plan) -> Plan:
        """Return the plan that runs both side by side."""
        return self.plan @ plan_of(other)

    def __rmatmul__(self, other: Plan) -> Plan:
        """Return the plan that runs a plan and this operation side by side."""
        return other @ self.plan


def plan_of(part: Operation | Plan) -> Plan:
    """Return the plan that an operation or plan is."""
    return part.plan if isinstance(part, Operation) else part


#: Functions whose call does not run them.
_LATE: Final = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)


@dataclass(frozen=True, slots=True)
class Ports:
    """What a function's annotations say.

    Attributes:
        inputs: schema of each parameter but the context, in order.
        outputs: schema of what it returns.
        context: name of the parameter for the context; None where there is none.
        cancellation: name of the parameter for the cancellation; None where there is none.
    """

    inputs: Port
    outputs: Port
    context: str | None
    cancellation: str | None


def ports_of(function: Callable[..., Any], schemas: Mapping[Any, str]) -> Ports:
    """Return the ports that a function's annotations name.

    A parameter or result is annotated with a type that stands for a schema, or with `Annotated[type, "schema id"]`.
    More results than one are annotated as `tuple[A, B]`, none as `None`.

    Args:
        function: the function.
        schemas: schema ids by the type that stands for them.

    Raises:
        DeclarationError: naming each parameter that says no schema.
    """
    name = getattr(function, "__qualname__", repr(function))
    try:
        hints = typing.get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters.values()
        is_late = any(each(function) for each in _LATE)
    except (NameError, TypeError, ValueError) as error:
        raise DeclarationError(f"the annotations of {name} cannot be read: {error}") from None
    if is_late:
        raise DeclarationError(f"{name} gives its values later; an operation is a plain function that returns them")
    problems: list[str] = []
    inputs: list[str] = []
    context = cancellation = None
    for each in parameters:
        if hints.get(each.name) is Context:
            context = each.name
        elif hints.get(each.name) is Cancellation:
            cancellation = each.name
        elif each.kind not in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD):
            problems.append(f"{each.name} takes any number of values, but a port has a fixed number")
        else:
            inputs += _schema(hints.get(each.name), schemas, each.name, problems)
    outputs: list[str] = []
    for ix, hint in enumerate(_results(hints.get("return", inspect.Parameter.empty), schemas)):
        outputs += _schema(hint, schemas, f"result {ix}", problems)
    if problems:
        raise DeclarationError(f"{name}: {'; '.join(problems)}")
    return Ports(tuple(inputs), tuple(outputs), context, cancellation)


def _results(hint: Any, schemas: Mapping[Any, str]) -> tuple[Any, ...]:
    """Return the annotations of the single results."""
    if hint in (None, type(None)):
        return ()
    if typing.get_origin(hint) is tuple and not _is_known(hint, schemas):
        parts = typing.get_args(hint)
        return () if parts == ((),) else parts
    return (hint,)


def _is_known(hint: Any, schemas: Mapping[Any, str]) -> bool:
    try:
        return hint in schemas
    except TypeError:
        return False


def _schema(hint: Any, schemas: Mapping[Any, str], what: str, problems: list[str]) -> list[str]:
    """Return the schema that an annotation says, as a list of one; an empty one where it says none, and tell."""
    if typing.get_origin(hint) is Annotated:
        named = [each for each in hint.__metadata__ if isinstance(each, str)]
        if len(named) == 1:
            return named
    elif _is_known(hint, schemas):
        return [schemas[hint]]
    told = "no annotation" if hint in (None, inspect.Parameter.empty) else f"the annotation {hint!r}"
    problems.append(
        f"{what} has {told}, which names no schema; register its type, or write Annotated[type, 'schema id']"
    )
    return []
