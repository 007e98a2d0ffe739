"""What reuse must not do: take a key for more than it says, below what gives other outputs and under other names."""

from __future__ import annotations

import itertools
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from opfield.core import Envelope, Status, seal
from opfield.interpret import derive, execute_reusing, replay
from opfield.plan import copy
from opfield.plugin import Operation, Plugin, Registry

Number = Annotated[int, "dice.number/v1"]


class Renamed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True, validate_by_name=True)

    size: int = Field(serialization_alias="Size", validation_alias="Size")
    rate: float = Field(default=1.0, serialization_alias="rate", validation_alias="rate")


def dice() -> tuple[Registry, list[str]]:
    """Return operations of which one gives another number each time, and the record of what ran."""
    plugin, ran, thrown = Plugin.named("dice", "1"), [], itertools.count(10)
    plugin.schema("dice.number/v1", int, examples=(1,))
    plugin.schema("dice.renamed/v1", Renamed, examples=(Renamed(size=1),))

    @plugin.operation("dice.throw/v1", is_deterministic=False)
    def throw(n: Number) -> Number:
        ran.append("throw")
        return n + next(thrown)

    @plugin.operation("dice.double/v1")
    def double(n: Number) -> Number:
        ran.append("double")
        return 2 * n

    @plugin.operation("dice.measure/v1", reads=["dice.renamed/v1#size", "dice.renamed/v1#rate"])
    def measure(each: Renamed) -> Number:
        ran.append("measure")
        return int(each.size * each.rate)

    return Registry().register(plugin), ran


ONE = seal("dice.number/v1", 1)


def op(registry: Registry, name: str) -> Operation:
    """Return an operation."""
    return registry.operations[f"dice.{name}/v1"]


def test_what_follows_a_step_without_determinism_is_made_again_for_another_outcome_and_reused_for_the_same() -> None:
    registry, ran = dice()
    plan, shelf = op(registry, "throw") >> op(registry, "double"), dict[str, tuple[Envelope, ...]]()
    outputs = []
    for _ in range(3):
        done = execute_reusing(plan, registry, [ONE], shelf)
        assert done.execution.status is Status.SUCCESS
        outputs.append(done.execution.outputs[0].payload)
    assert outputs == [22, 24, 26]
    assert ran == ["throw", "double"] * 3
    # What was kept of the last throw is what a replay gives.
    assert replay(plan, registry, [ONE], shelf).outputs[0].payload == 26
    ran.clear()
    eleven = execute_reusing(op(registry, "double").plan, registry, [seal("dice.number/v1", 11)], shelf)
    assert eleven.execution.outputs[0].payload == 22


def test_two_throws_in_one_plan_are_two_and_one_copied_is_one() -> None:
    registry, ran = dice()
    throw = op(registry, "throw").plan
    done = execute_reusing(copy(("dice.number/v1",)) >> (throw @ throw), registry, [ONE], {})
    assert [each.payload for each in done.execution.outputs] == [11, 12]
    ran.clear()
    done = execute_reusing(throw >> copy(("dice.number/v1",)), registry, [ONE], {})
    assert len({each.payload for each in done.execution.outputs}) == 1
    assert ran == ["throw"]


@pytest.mark.parametrize("change", [{"size": 3}, {"rate": 2.5}])
def test_a_field_whose_payload_bears_another_name_changes_the_key(change: dict[str, Any]) -> None:
    registry, _ = dice()
    plan, codec = op(registry, "measure").plan, registry.schemas["dice.renamed/v1"].codec
    before, after = (
        [seal("dice.renamed/v1", codec.encode("dice.renamed/v1", each))]
        for each in (Renamed(size=2), Renamed.model_validate({"size": 2, **change}))
    )
    assert derive(plan, registry.descriptors, before).keys != derive(plan, registry.descriptors, after).keys
    shelf: dict[str, tuple[Envelope, ...]] = {}
    first = execute_reusing(plan, registry, before, shelf)
    again = execute_reusing(plan, registry, after, shelf)
    assert first.execution.outputs != again.execution.outputs
    assert again.reused == ()
