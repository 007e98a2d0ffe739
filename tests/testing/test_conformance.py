"""The conformance kit finds what a plugin declares otherwise than it behaves, and nothing else."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict

from opfield.plugin import JsonCodec, Plugin, TypeCodec
from opfield.testing import check_plugin, recording
from opfield_rag.case import CaseInput
from opfield_rag.plugin import GARDENING, chunk, index, plugin, retrieve
from opfield_rag.spec import Spec

Number = Annotated[int, "kit.number/v1"]


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int
    rate: float = 1.0


def kit() -> Plugin:
    """Return a plugin that behaves as it declares."""
    made = Plugin.named("kit", "1")
    made.schema("kit.number/v1", int, examples=(3,))
    made.schema("kit.settings/v1", Settings, examples=(Settings(size=2),))

    @made.operation("kit.scale/v1", reads=["kit.settings/v1#size"])
    def scale(settings: Settings, n: Number) -> Number:
        return settings.size * n

    return made


EXAMPLES: dict[str, list[list[Any]]] = {"kit.scale/v1": [[Settings(size=2), 3]]}


def test_a_plugin_that_behaves_as_it_declares_has_nothing_found() -> None:
    assert check_plugin(kit(), EXAMPLES) == ()


def test_a_field_that_is_read_without_being_declared_is_found() -> None:
    made = kit()
    scale = made.operations[0]
    made.operations[0] = replace(scale, descriptor=replace(scale.descriptor, reads=("kit.settings/v1#rate",)))
    assert check_plugin(made, EXAMPLES) == ("operation kit.scale/v1: reads kit.settings/v1#size without declaring it",)


def test_the_toys_chunking_declares_what_it_reads_and_forgetting_one_is_found() -> None:
    """Remove one dependency declaration, and the kit catches it (issue: mutation test of dependency soundness)."""
    case = CaseInput(query="when to prune roses", relevant={"roses": 1}, corpus="x")
    passages = chunk(Spec(), GARDENING)
    examples = {
        "ragtoy.chunk/v1": [[Spec(), GARDENING]],
        "ragtoy.index/v1": [[passages]],
        "ragtoy.retrieve/v1": [[index(passages), Spec(), case]],
        "ragtoy.measure/v1": [[retrieve(index(passages), Spec(), case)]],
    }
    found = [each for each in check_plugin(plugin, examples) if "has no example" not in each]
    assert found == []
    for operation in (chunk, retrieve):
        for name in operation.descriptor.reads:
            rest = tuple(each for each in operation.descriptor.reads if each != name)
            others = [each for each in plugin.operations if each is not operation]
            forgetful = replace(operation, descriptor=replace(operation.descriptor, reads=rest))
            mutated = Plugin(plugin.manifest, plugin.schemas, [*others, forgetful], plugin.laws, plugin.plans)
            told = check_plugin(mutated, examples)
            assert f"operation {operation.descriptor.id}: reads {name} without declaring it" in told


def test_an_operation_that_answers_otherwise_each_time_is_found() -> None:
    made, counter = kit(), itertools.count()

    @made.operation("kit.count/v1")
    def count(n: Number) -> Number:
        return n + next(counter)

    assert check_plugin(made, {**EXAMPLES, "kit.count/v1": [[1]]}) == (
        "operation kit.count/v1: claims to be deterministic, and gave two answers to one input",
    )
    made.operations[-1] = replace(count, descriptor=replace(count.descriptor, is_deterministic=False))
    assert check_plugin(made, {**EXAMPLES, "kit.count/v1": [[1]]}) == ()


def test_what_has_no_example_is_found_and_so_is_an_example_of_nothing() -> None:
    made = kit()
    made.schema("kit.bare/v1", codec=JsonCodec())
    assert check_plugin(made, {"kit.sclae/v1": [[1]]}) == (
        "schema kit.bare/v1 has no example",
        "operation kit.scale/v1 has no example",
        "there is no operation kit.sclae/v1",
    )
    assert "the example is none" in check_plugin(kit(), {"kit.scale/v1": [[Settings(size=2)]]})[0]


def test_a_codec_that_reads_what_is_malformed_is_found() -> None:
    class Lax(TypeCodec[Settings]):
        def decode(self, schema: str, payload: Any) -> Settings:  # noqa: ARG002  the codec's form
            return Settings(size=payload["size"])

    made = Plugin.named("kit", "1")
    made.schema("kit.settings/v1", codec=Lax(Settings), examples=(Settings(size=2),))
    assert check_plugin(made, {}) == (
        "schema kit.settings/v1: its codec raises TypeError for a list of it, instead of an IdentityError",
        "schema kit.settings/v1: its codec raises KeyError for an object of it, instead of an IdentityError",
        "schema kit.settings/v1: its codec raises TypeError for nothing, instead of an IdentityError",
        "schema kit.settings/v1: its codec accepts an unknown field",
    )


def test_a_plugin_that_cannot_be_registered_is_told_as_such() -> None:
    made = kit()

    @made.law
    def never() -> Iterator[str]:
        yield "it does not hold"

    assert check_plugin(made, EXAMPLES) == ("nothing was registered: plugin kit: law never: it does not hold",)


@dataclass(frozen=True, slots=True)
class Pair:
    left: int
    right: int


@pytest.mark.parametrize("value", [Settings(size=2), Pair(1, 2)], ids=["model", "dataclass"])
def test_a_recording_value_is_one_of_its_type_and_tells_what_is_read(value: Any) -> None:
    read: set[str] = set()
    watched = recording(value, read)
    assert isinstance(watched, type(value))
    assert read == set()
    first = next(iter(type(value).__annotations__))
    assert getattr(watched, first) == getattr(value, first)
    assert read == {first}
    assert recording(3, read) == 3


@dataclass
class Derived:
    size: int
    rate: float = 1.0

    def __post_init__(self) -> None:
        self.double = 2 * self.rate


WAYS: dict[str, Callable[[Any], object]] = {
    "dict": lambda each: each.__dict__,
    "vars": vars,
    "copy": copy.copy,
    "pickle": lambda each: pickle.loads(pickle.dumps(each)),
    "comparison": lambda each: each == each,
    "words": repr,
}


@pytest.mark.parametrize("value", [Settings(size=2), Derived(2)], ids=["model", "dataclass"])
@pytest.mark.parametrize("name", WAYS)
def test_whatever_goes_over_all_fields_reads_all_of_them(name: str, value: Any) -> None:
    read: set[str] = set()
    told, plain = WAYS[name](recording(value, read)), WAYS[name](value)
    assert read == {"size", "rate"}
    assert told == plain


def test_what_was_derived_from_fields_reads_all_of_them() -> None:
    read: set[str] = set()
    assert recording(Derived(2), read).double == 2.0
    assert read == {"size", "rate"}
    assert recording(Settings(size=2), read).model_dump() == {"size": 2, "rate": 1.0}
    assert read == {"size", "rate"}
