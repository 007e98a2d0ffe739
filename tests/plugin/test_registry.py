"""Registration: all of a plugin or nothing of it, with every fault told; old plans are unmoved by new plugins."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Annotated, Any

import pytest

from opfield.core import seal
from opfield.core.operation import Cost
from opfield.errors import DeclarationError, PluginError, UnknownNameError
from opfield.interpret import (
    analyze,
    derive,
    diagram,
    disclosures,
    execute,
    obligations,
    provenance,
    wiring,
)
from opfield.plan import Plan, plan_id
from opfield.plugin import JsonCodec, Plugin, Registry, TypeCodec
from tests.plugin.toy import Number, toy


def test_a_plugin_is_admitted_with_all_that_it_offers() -> None:
    empty = Registry()
    registry = empty.register(toy())
    assert sorted(registry.schemas) == ["toy.bag/v1", "toy.number/v1", "toy.point/v1", "toy.word/v1"]
    assert registry.descriptors["toy.swap/v1"].outputs == ("toy.word/v1", "toy.number/v1")
    assert registry.operations["toy.next/v1"](4) == 5
    assert str(registry.plan("toy.twice")).count("toy.next/v1") == 2
    assert not empty.operations
    with pytest.raises(TypeError):
        registry.operations["toy.next/v1"] = registry.operations["toy.swap/v1"]  # type: ignore[index]
    with pytest.raises(UnknownNameError, match=r"did you mean 'toy\.twice'"):
        registry.plan("toy.twcie")


def _with_law(plugin: Plugin, law: Callable[[], Any]) -> None:
    plugin.laws.append(("bad", law))


BREAKS: dict[str, tuple[Callable[[Plugin], object], str]] = {
    "a law finds something": (lambda each: _with_law(each, lambda: ["2 is odd"]), "law bad: 2 is odd"),
    "a law raises": (lambda each: _with_law(each, lambda: 1 / 0), "law bad: ZeroDivisionError: division by zero"),
    "a schema twice": (lambda each: each.schemas.append(each.schemas[0]), "schema toy.number/v1 is defined 2 times"),
    "an operation twice": (
        lambda each: each.operations.append(each.operations[0]),
        "operation toy.next/v1 is defined 2 times",
    ),
    "a plan twice": (lambda each: each.plans.append(each.plans[0]), "plan twice is defined 2 times"),
    "a foreign schema": (
        lambda each: each.schema("other.x/v1", codec=JsonCodec()),
        "schema other.x/v1 is not its own; begin the id with toy.",
    ),
    "a foreign operation": (
        lambda each: each.operations.append(
            replace(each.operations[0], descriptor=replace(each.operations[0].descriptor, plugin="rag"))
        ),
        "operation toy.next/v1 is declared as plugin rag's",
    ),
    "an unresolved schema": (
        lambda each: each.operation("toy.far/v1")(_far),
        "operation toy.far/v1: unknown schema 'toy.numbre/v1'; did you mean 'toy.number/v1'?",
    ),
    "a codec that does not read its own": (
        lambda each: each.schema("toy.loss/v1", codec=_Lossy(), examples=({"a": 1, "b": 2},)),
        "schema toy.loss/v1, example 0: what was read back is not what was written",
    ),
    "an example that is none": (
        lambda each: each.schema("toy.odd/v1", codec=TypeCodec(int), examples=("3",)),
        "schema toy.odd/v1, example 0: IdentityError: value of toy.odd/v1 is no int",
    ),
    "a law that ends the process": (lambda each: each.law(_exiting), "law _exiting: SystemExit: 3"),
    "a law that answers a text": (lambda each: each.law(_saying), "law _saying: all is wrong"),
    "a plan of nothing known": (
        lambda each: each.plan("lost", Plan("primitive", (), (), "toy.lost/v1")),
        "plan lost, plan: unknown operation 'toy.lost/v1'",
    ),
}


async def _later(n: Number) -> Number:
    return n


def _one_by_one(n: Number) -> Iterator[Number]:
    yield n


def _exiting() -> list[str]:
    sys.exit(3)


def _saying() -> Any:
    return "all is wrong"


def _far(n: Number) -> Annotated[int, "toy.numbre/v1"]:
    return n


class _Lossy:
    def encode(self, schema: str, value: Any) -> Any:  # noqa: ARG002  the codec's form
        return {"a": value["a"]}

    def decode(self, schema: str, payload: Any) -> Any:  # noqa: ARG002  the codec's form
        return payload


@pytest.mark.parametrize("name", BREAKS)
def test_what_keeps_a_plugin_out_is_told_and_leaves_the_registry_as_it_was(name: str) -> None:
    change, message = BREAKS[name]
    plugin = toy()
    change(plugin)
    registry = Registry()
    with pytest.raises(PluginError, match="nothing was registered: plugin toy: ") as raised:
        registry.register(plugin)
    assert message in str(raised.value)
    assert registry == Registry()


def test_what_is_no_plugin_no_law_and_no_type_is_refused() -> None:
    stranger: Any = 3
    with pytest.raises(PluginError, match="a int is no plugin"):
        Registry().register(toy(), stranger)
    with pytest.raises(DeclarationError, match="3 is no law"):
        toy().law(stranger)
    with pytest.raises(DeclarationError, match=r"schema toy.x/v1: \{\} is no type"):
        toy().schema("toy.x/v1", {})


def test_every_fault_of_every_plugin_is_told_at_once() -> None:
    first, second = toy(), Plugin.named("more", "1")
    for name in BREAKS:
        if name != "a foreign operation":
            BREAKS[name][0](first)
    second.laws.append(("bad", lambda: ["no"]))
    with pytest.raises(PluginError) as raised:
        Registry().register(first, second)
    told = str(raised.value)
    assert [name for name in BREAKS if name != "a foreign operation" and BREAKS[name][1] not in told] == []
    assert "plugin more: law bad: no" in told


def test_a_second_plugin_of_one_name_is_kept_out() -> None:
    registry = Registry().register(toy())
    with pytest.raises(PluginError, match=r"version 1 of it is registered already; .*operation toy\.break/v1 is"):
        registry.register(toy())


def test_old_plans_keep_identity_and_meaning_when_a_plugin_comes() -> None:
    registry = Registry().register(toy())
    more = Plugin.named("more", "1")

    @more.operation("more.half/v1")
    def half(n: Number) -> Number:
        return n // 2

    more.plan("mixed", registry.plan("toy.twice") >> half)
    wider = registry.register(more)
    for name, plan in registry.plans.items():
        assert plan_id(wider.plan(name)) == plan_id(plan)
        for interpreter in (analyze, diagram, disclosures, provenance, wiring):
            assert interpreter(plan, wider.descriptors) == interpreter(plan, registry.descriptors)
        inputs = [seal(schema, 1) for schema in plan.inputs]
        assert derive(plan, wider.descriptors, inputs) == derive(plan, registry.descriptors, inputs)
        assert execute(plan, wider, inputs) == execute(plan, registry, inputs)
        assert obligations(plan, wider) == obligations(plan, registry)
    assert "more.mixed" in wider.plans
    assert wider.id != registry.id
    assert registry.id == Registry().register(toy()).id


def test_a_registry_has_one_identity_however_its_plugins_came() -> None:
    first, second = toy(), Plugin.named("more", "2")
    second.schema("more.x/v1", codec=JsonCodec())
    assert Registry().register(first, second).id == Registry().register(second).register(first).id
    changed = toy()
    changed.operations[0] = replace(
        changed.operations[0], descriptor=replace(changed.operations[0].descriptor, cost=Cost(1))
    )
    assert Registry().register(changed).id != Registry().register(toy()).id


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda n: n, "n has no annotation, which names no schema"),
        (len, "names no schema"),
        (_later, "_later gives its values later"),
        (_one_by_one, "_one_by_one gives its values later"),
        (lambda *values: values, "values takes any number of values, but a port has a fixed number"),
    ],
)
def test_a_function_whose_annotations_say_no_port_is_refused_where_it_is_defined(
    function: Callable[..., Any], message: str
) -> None:
    with pytest.raises(DeclarationError, match=message):
        toy().operation("toy.x/v1")(function)


def test_a_type_stands_for_one_schema() -> None:
    plugin = toy()
    with pytest.raises(DeclarationError, match=r"stands for toy\.number/v1 already; annotate with"):
        plugin.schema("toy.count/v1", int)
    with pytest.raises(DeclarationError, match="neither a type nor a codec"):
        plugin.schema("toy.count/v1")
