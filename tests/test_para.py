"""Parameterized maps: composition, tensor and units, and one identity however a system is bracketed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.errors import DeclarationError
from opfield.para import Parametric, Values, compose, parametric, reparameterize, tensor, tied, unit

numbers = st.integers(-9, 9)


@st.composite
def maps(draw: st.DrawFn) -> Parametric:
    """Draw a map from one number to one number with up to three parameters."""
    count = draw(st.integers(0, 3))
    factors = draw(st.lists(numbers, min_size=count + 2, max_size=count + 2))

    def function(parameters: Values, values: Values) -> Values:
        return (factors[0] + factors[1] * values[0] + sum(f * p for f, p in zip(factors[2:], parameters, strict=True)),)

    return parametric([f"p{ix}" for ix in range(count)], ["n"], ["n"], function)


def told(system: Parametric, start: list[int]) -> tuple[Any, ...]:
    """Return what can be seen of a system: its form, an identity, and what it gives."""
    values = list(range(1, len(system.parameters) + 1))
    return (system.parameters, system.inputs, system.outputs, system.identify(values), system.run(values, start))


@given(maps(), maps(), maps(), numbers)
def test_bracketing_changes_neither_meaning_nor_identity(f: Parametric, g: Parametric, h: Parametric, x: int) -> None:
    assert told(compose(compose(f, g), h), [x]) == told(compose(f, compose(g, h)), [x]) == told(compose(f, g, h), [x])
    row = [x, x + 1, x + 2]
    assert told(tensor(tensor(f, g), h), row) == told(tensor(f, tensor(g, h)), row) == told(tensor(f, g, h), row)


@given(maps(), numbers)
def test_units_change_nothing(f: Parametric, x: int) -> None:
    assert told(compose(unit(["n"]), f), [x]) == told(f, [x]) == told(compose(f, unit(["n"])), [x])
    assert told(tensor(unit(), f, unit()), [x]) == told(f, [x])


@given(maps(), maps(), maps(), maps(), numbers, numbers)
def test_composing_beside_is_composing_each(
    f: Parametric, g: Parametric, h: Parametric, k: Parametric, x: int, y: int
) -> None:
    one, other = tensor(compose(f, g), compose(h, k)), compose(tensor(f, h), tensor(g, k))
    counts = [len(each.parameters) for each in (f, g, h, k)]
    ps = [list(range(count)) for count in counts]
    assert one.run(ps[0] + ps[1] + ps[2] + ps[3], [x, y]) == other.run(ps[0] + ps[2] + ps[1] + ps[3], [x, y])


@given(maps(), numbers, st.integers(-3, 3))
def test_coordinates_of_coordinates_are_coordinates(f: Parametric, x: int, knob: int) -> None:
    doubled = reparameterize(f, ["k"], lambda ps: [ps[0] * 2] * len(f.parameters))
    again = reparameterize(doubled, ["z"], lambda ps: [ps[0] + 1])
    assert again.run([knob], [x]) == f.run([(knob + 1) * 2] * len(f.parameters), [x])
    assert doubled.identify([knob]) != again.identify([knob])


def test_one_knob_sets_several_parameters() -> None:
    system = parametric(["a", "b", "c"], [], ["n"], lambda ps, _: (tuple(ps),))
    assert tied(system, {"ends": [0, 2], "middle": [1]}).run([7, 8], []) == ((7, 8, 7),)
    for knobs in ({"ends": [0, 2]}, {"x": [0, 1, 2], "y": [1]}, {"x": [0, 1, 3]}):
        with pytest.raises(DeclarationError, match="each of the 3 parameters exactly once"):
            tied(system, knobs)


def test_what_does_not_fit_is_refused() -> None:
    add = parametric(["by"], ["n"], ["n"], lambda ps, values: (values[0] + ps[0],))
    lying = parametric([], ["n"], ["n"], lambda _, values: values * 2)
    with pytest.raises(DeclarationError, match="0 parameters were given for 1: by"):
        add.run([], [1])
    with pytest.raises(DeclarationError, match="2 wires were given for 1: n"):
        add.run([1], [1, 2])
    with pytest.raises(DeclarationError, match="2 outputs were given for 1"):
        lying.run([], [1])
    with pytest.raises(DeclarationError, match="a part takes"):
        compose(add, parametric([], ["word"], [], lambda *_: ()))
    with pytest.raises(DeclarationError, match="use `unit`"):
        compose()


def test_a_map_that_gives_no_tuple_and_names_that_are_one_text_are_refused() -> None:
    nothing: Any = lambda *_: None  # noqa: E731  what no annotation allows
    with pytest.raises(DeclarationError, match="not a NoneType"):
        parametric([], ["x"], ["x"], nothing).run([], [1])
    with pytest.raises(DeclarationError, match="not one text"):
        parametric("abc", ["x"], ["x"], nothing)
