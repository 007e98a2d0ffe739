"""Parameterized maps: systems whose parameters compose as they are wired (§8).

A map takes wires and a flat list of parameters, each with its name. Composed maps list the parameters of their parts in
order, so that one system has one form of its parameters however its parts were bracketed, and one identity for each
choice of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from opfield.core import canonical_json, check_label, digest
from opfield.core.operation import Port
from opfield.errors import DeclarationError

_DOMAIN: Final = "opfield/parameters/v1"

Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Parametric:
    """A map from parameters and wires to wires.

    Attributes:
        parameters: names of its parameters, in order; a name may stand more than once.
        inputs: schemas of the wires that it takes.
        outputs: schemas of the wires that it gives.
        function: takes the parameters' values and the wires' values, and gives values for the outputs.
    """

    parameters: tuple[str, ...]
    inputs: Port
    outputs: Port
    function: Callable[[Values, Values], Values]

    def run(self, parameters: Sequence[Any], values: Sequence[Any]) -> Values:
        """Return what the map gives.

        Raises:
            DeclarationError: where there are more or fewer values than it has parameters, takes wires, or gives.
        """
        _check_count("parameters", self.parameters, parameters)
        _check_count("wires", self.inputs, values)
        given = self.function(tuple(parameters), tuple(values))
        if not isinstance(given, tuple | list):
            raise DeclarationError(f"a map gives a tuple of values for its outputs, not a {type(given).__name__}")
        _check_count("outputs", self.outputs, given)
        return tuple(given)

    def identify(self, parameters: Sequence[Any]) -> str:
        """Return the identity of a choice of parameters: equal for systems bracketed otherwise.

        Args:
            parameters: a JSON value for each parameter.

        Raises:
            DeclarationError: where there are more or fewer values than parameters.
            IdentityError: where a value has no canonical form.
        """
        _check_count("parameters", self.parameters, parameters)
        told = [[name, value] for name, value in zip(self.parameters, parameters, strict=True)]
        return digest(_DOMAIN, canonical_json(told))


def parametric(
    names: Sequence[str], inputs: Sequence[str], outputs: Sequence[str], function: Callable[[Values, Values], Values]
) -> Parametric:
    """Return a map with named parameters.

    Raises:
        DeclarationError: where a name or schema is none.
    """
    for what, texts in (("parameter", names), ("schema", inputs), ("schema", outputs)):
        if isinstance(texts, str):
            raise DeclarationError(f"names of a map are lists, not one text; write [{texts!r}]")
        for text in texts:
            check_label(what, text)
    return Parametric(tuple(names), tuple(inputs), tuple(outputs), function)


def unit(port: Sequence[str] = ()) -> Parametric:
    """Return the map that has no parameter and leaves the wires of `port` alone."""
    return Parametric((), tuple(port), tuple(port), lambda _, values: values)


def compose(*parts: Parametric) -> Parametric:
    """Return the map of parts one after the other, its parameters those of the parts in order.

    Raises:
        DeclarationError: where there is no part, or the outputs of one are not the inputs of the next.
    """
    if not parts:
        raise DeclarationError("a composite of no parts has no wires; use `unit`")
    for first, second in pairwise(parts):
        if first.outputs != second.inputs:
            raise DeclarationError(f"a part takes {second.inputs}, the one before it gives {first.outputs}")

    def function(parameters: Values, values: Values) -> Values:
        for part, own in zip(parts, _cut(parameters, [len(each.parameters) for each in parts]), strict=True):
            values = part.run(own, values)
        return values

    return Parametric(_joined(each.parameters for each in parts), parts[0].inputs, parts[-1].outputs, function)


def tensor(*parts: Parametric) -> Parametric:
    """Return the map of parts side by side, its parameters and wires those of the parts in order."""

    def function(parameters: Values, values: Values) -> Values:
        own = _cut(parameters, [len(each.parameters) for each in parts])
        wires = _cut(values, [len(each.inputs) for each in parts])
        return _joined(part.run(ps, ws) for part, ps, ws in zip(parts, own, wires, strict=True))

    return Parametric(
        _joined(each.parameters for each in parts),
        _joined(each.inputs for each in parts),
        _joined(each.outputs for each in parts),
        function,
    )


def reparameterize(
    inner: Parametric, names: Sequence[str], coordinates: Callable[[Values], Sequence[Any]]
) -> Parametric:
    """Return the same map in other coordinates: log-space for a rate, or one knob for several parameters (§8.3).

    Args:
        inner: the map.
        names: names of the new parameters.
        coordinates: takes values of the new parameters, and gives those of the old ones.
    """
    for name in names:
        check_label("parameter", name)
    return Parametric(
        tuple(names), inner.inputs, inner.outputs, lambda ps, values: inner.run(tuple(coordinates(ps)), values)
    )


def tied(inner: Parametric, knobs: Mapping[str, Sequence[int]]) -> Parametric:
    """Return the map with one knob for several parameters each.

    Args:
        inner: the map.
        knobs: for each new parameter, in order, the positions of the old ones that it sets.

    Raises:
        DeclarationError: where the knobs do not set every parameter exactly once.
    """
    set_by = sorted((position, ix) for ix, positions in enumerate(knobs.values()) for position in positions)
    if [position for position, _ in set_by] != list(range(len(inner.parameters))):
        raise DeclarationError(f"knobs set each of the {len(inner.parameters)} parameters exactly once, by position")
    return reparameterize(inner, tuple(knobs), lambda values: [values[ix] for _, ix in set_by])


def _check_count(what: str, wanted: Sequence[str], given: Sequence[Any]) -> None:
    if len(given) != len(wanted):
        raise DeclarationError(f"{len(given)} {what} were given for {len(wanted)}: {', '.join(wanted) or 'none'}")


def _cut(values: Values, counts: Sequence[int]) -> list[Values]:
    """Return values cut into runs of so many."""
    cuts = []
    for count in counts:
        cuts.append(values[:count])
        values = values[count:]
    return cuts


def _joined(parts: Iterable[Iterable[Any]]) -> tuple[Any, ...]:
    return tuple(each for part in parts for each in part)
