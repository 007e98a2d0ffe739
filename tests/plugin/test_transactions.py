"""Registration as one transaction: plugins that build on each other, laws that reach for what they try, odd schemas."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from opfield.core import seal
from opfield.errors import DeclarationError, PluginError
from opfield.interpret import execute
from opfield.plugin import Effect, JsonCodec, Plugin, Registry, installed_registry
from tests.plugin.toy import toy

Left = Annotated[int, "left.number/v1"]
Right = Annotated[int, "right.number/v1"]


def leaning() -> tuple[Plugin, Plugin]:
    """Return two plugins, each of which needs the other's schema, operation and so plan."""
    left, right = Plugin.named("left", "1"), Plugin.named("right", "1")
    left.schema("left.number/v1", int, examples=(1,))
    right.schema("right.number/v1", int, examples=(1,))

    @left.operation("left.over/v1", reads=())
    def over(n: Left) -> Right:
        return n + 1

    @right.operation("right.back/v1")
    def back(n: Right) -> Left:
        return n * 2

    left.plan("there-and-back", over >> back)
    right.plan("back-and-there", back >> over)
    return left, right


def test_plugins_that_build_on_each_other_are_admitted_together_in_any_order_and_not_alone() -> None:
    left, right = leaning()
    registry = Registry().register(left, right)
    assert registry.id == Registry().register(right, left).id
    done = execute(registry.plan("left.there-and-back"), registry, [seal("left.number/v1", 3)])
    assert [each.payload for each in done.outputs] == [8]
    with pytest.raises(PluginError, match=r"operation left\.over/v1: unknown schema 'right\.number/v1'"):
        Registry().register(left)
    with pytest.raises(PluginError, match=r"plan back-and-there, children\[1\]: unknown operation 'left\.over/v1'"):
        Registry().register(right)


def test_one_of_them_that_is_refused_keeps_the_others_out() -> None:
    left, right = leaning()
    right.laws.append(("bad", lambda: ["it does not hold"]))
    registry = Registry().register(toy())
    before = registry.id
    with pytest.raises(PluginError, match="nothing was registered: plugin right: law bad: it does not hold"):
        registry.register(left, right)
    assert registry.id == before
    assert sorted(registry.manifests) == ["toy"]


def test_a_law_that_reaches_for_the_plugin_changes_nothing_that_is_admitted() -> None:
    plugin, expected = toy(), Registry().register(toy())

    def reaching() -> Iterator[str]:
        first = plugin.operations[0]
        plugin.operations[0] = replace(first, descriptor=replace(first.descriptor, effects=(Effect.NETWORK,)))
        plugin.operations.append(replace(first, descriptor=replace(first.descriptor, id="toy.late/v1")))
        plugin.schema("toy.late/v1", codec=JsonCodec())
        plugin.plans.clear()
        plugin.laws.clear()
        plugin.manifest = replace(plugin.manifest, version="9")
        yield from ()

    plugin.laws.append(("reaching", reaching))
    registry = Registry().register(plugin)
    assert registry.id == expected.id
    assert registry.descriptors == expected.descriptors
    assert registry.laws["toy"] == (*expected.laws["toy"], "reaching")


def test_a_registry_is_not_changed_through_what_it_was_made_of() -> None:
    plugin = toy()
    registry = Registry().register(plugin)
    before = registry.id
    plugin.operations.clear()
    plugin.schemas.clear()
    plugin.plans.clear()
    assert registry.id == before
    assert registry.id == Registry().register(toy()).id


class Colour(enum.Enum):
    RED = "red"


class Tags(BaseModel):
    tags: frozenset[str] = frozenset()


@dataclass
class Nested:
    of: tuple[Tags, ...]


@pytest.mark.parametrize("kind", [set[int], frozenset[str], Tags, Nested, dict[str, set[Colour]], list[Tags] | None])
def test_a_schema_that_holds_a_set_is_refused(kind: Any) -> None:
    with pytest.raises(DeclarationError, match=r"schema toy\.tags/v1 holds a set, which has no order; use a sorted"):
        toy().schema("toy.tags/v1", kind)
    toy().schema("toy.tags/v1", dict[str, tuple[Colour, ...]])


def test_a_schema_id_has_one_meaning() -> None:
    twice = toy()
    twice.schema("toy.number/v1", float)
    with pytest.raises(PluginError, match=r"schema toy\.number/v1 is defined 2 times"):
        Registry().register(twice)
    other = Plugin.named("other", "1")
    other.schema("toy.number/v1", float)
    registry = Registry().register(toy())
    with pytest.raises(
        PluginError, match=r"schema toy\.number/v1 is not its own; .*; .*schema toy\.number/v1 is registered already"
    ):
        registry.register(other)
    with pytest.raises(PluginError, match=r"schema toy\.number/v1 is registered already"):
        Registry().register(toy(), other)


def _trying() -> list[str]:
    print("tried")
    return []


def _printing() -> Plugin:
    print("loaded")
    plugin = toy()
    plugin.law(_trying)
    return plugin


def _exiting() -> Plugin:
    sys.exit(0)


class _Point:
    """An entry point, as far as one is asked for."""

    def __init__(self, load: Callable[[], Plugin]) -> None:
        self.name, self.load = "toy", load


def test_what_a_plugin_prints_while_it_is_loaded_and_tried_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("opfield.core.offered.entry_points_of", lambda _: (_Point(_printing),))
    assert list(installed_registry().manifests) == ["toy"]
    assert capsys.readouterr() == ("", "loaded\ntried\n")


def test_a_plugin_that_ends_the_process_while_it_is_loaded_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opfield.core.offered.entry_points_of", lambda _: (_Point(_exiting),))
    with pytest.raises(DeclarationError, match="plugin 'toy' cannot be loaded: SystemExit: 0"):
        installed_registry()
