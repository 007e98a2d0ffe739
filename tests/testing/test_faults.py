"""Everything that the conformance kit is to find, each by a plugin that has that fault and no other."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

import opfield as of
from opfield.core import Status
from opfield.core.execution import Execution
from opfield.errors import IdentityError
from opfield.plugin import Cancellation, Context, Effect, JsonCodec, Operation, Plugin
from opfield.testing import check_plugin

Number = Annotated[int, "kit.number/v1"]
Bag = Annotated[Any, "kit.bag/v1"]
SIZE = ["kit.settings/v1#size"]
_tick = itertools.count()


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int
    rate: float = 1.0
    names: tuple[str, ...] = ("a",)
    _double: float = PrivateAttr(0.0)

    def model_post_init(self, _: Any, /) -> None:
        self._double = 2 * self.rate


class Leaky(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int
    rate: float = Field(default=1.0, exclude=True)


class Renamed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True, validate_by_name=True)

    size: int = Field(serialization_alias="Size", validation_alias="Size")
    rate: float = Field(default=1.0, serialization_alias="Rate", validation_alias="Rate")


def kit() -> Plugin:
    """Return a plugin of two schemas."""
    made = Plugin.named("kit", "1")
    made.schema("kit.number/v1", int, examples=(3,))
    made.schema("kit.settings/v1", Settings, examples=(Settings(size=2),))
    return made


Found = tuple[str, ...]


def of_settings(function: Callable[[Settings], int], **declared: Any) -> Found:
    """Return what the kit finds of an operation on settings."""
    made = kit()

    def operation(settings: Settings) -> Number:
        return function(settings)

    made.operation("kit.it/v1", **declared)(operation)
    return check_plugin(made, {"kit.it/v1": [[Settings(size=2)]]})


def of_number(function: Callable[..., Any], within_s: float = 5.0, **declared: Any) -> Found:
    """Return what the kit finds of an operation on a number."""
    made = kit()
    made.operation("kit.it/v1", **declared)(function)
    return check_plugin(made, {"kit.it/v1": [[3]]}, within_s=within_s)


def test_a_plugin_without_a_fault_has_none_found() -> None:
    assert of_settings(lambda each: each.size, reads=SIZE) == ()
    assert of_settings(lambda each: int(each._double) + len(each.model_dump())) == ()
    assert of_settings(lambda each: hash(each.size), reads=[*SIZE, "kit.settings/v1#names"]) == ()


def around(settings: Settings) -> int:
    return int(object.__getattribute__(settings, "rate")) + settings.size


def private(settings: Settings) -> int:
    return int(settings._double) + settings.size


def dumped(settings: Settings) -> int:
    return int(settings.model_dump()["rate"]) + settings.size


def held(settings: Settings) -> int:
    return int(vars(settings)["rate"]) + settings.size


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (around, "answers otherwise when kit.settings/v1#rate changes, which it does not declare to read"),
        (private, "reads kit.settings/v1#names, kit.settings/v1#rate without declaring it"),
        (dumped, "reads kit.settings/v1#names, kit.settings/v1#rate without declaring it"),
        (held, "reads kit.settings/v1#names, kit.settings/v1#rate without declaring it"),
    ],
)
def test_a_read_that_is_not_declared_is_found_whichever_way_it_goes(
    function: Callable[[Settings], int], message: str
) -> None:
    assert of_settings(function, reads=SIZE) == (f"operation kit.it/v1: {message}",)


def test_a_field_that_a_key_does_not_cover_is_found() -> None:
    made = Plugin.named("kit", "1")
    made.schema("kit.leaky/v1", Leaky, examples=(Leaky(size=2),))

    @made.operation("kit.it/v1", reads=["kit.leaky/v1#rate"])
    def it(each: Leaky) -> Leaky:
        return Leaky(size=int(each.rate))

    assert check_plugin(made, {"kit.it/v1": [[Leaky(size=2)]]}) == (
        # What is not in the payload cannot be told apart in it, so that the key covers all the rest.
        "operation kit.it/v1: its key changes with kit.leaky/v1#size, which it does not declare to read",
        "operation kit.it/v1: its key does not change with kit.leaky/v1#rate, which it reads",
    )


def test_a_key_that_changes_with_what_is_not_read_is_found() -> None:
    """The payload calls its fields otherwise than the declaration does, so that the key covers everything."""
    made = Plugin.named("kit", "1")
    made.schema("kit.renamed/v1", Renamed, examples=(Renamed(size=2),))

    @made.operation("kit.it/v1", reads=["kit.renamed/v1#size"])
    def it(each: Renamed) -> Renamed:
        return Renamed(size=each.size)

    assert check_plugin(made, {"kit.it/v1": [[Renamed(size=2)]]}) == (
        "operation kit.it/v1: its key changes with kit.renamed/v1#rate, which it does not declare to read",
    )


def late(n: Number) -> Number:
    return n + (time.time() < 0)


def counting(n: Number) -> Number:
    return n + next(_tick)


def printing(n: Number) -> Number:
    print(n)
    return n


def few(n: Number) -> tuple[Number, Number]:
    return (n,)  # type: ignore[return-value]


def lying(n: Number) -> Number:
    return str(n)  # type: ignore[return-value]


def raising(n: Number) -> Number:
    return n // 0


def sleeping(n: Number) -> Number:
    time.sleep(1)
    return n


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (late, "has effects that it does not declare: clock"),
        (counting, "claims to be deterministic, and gave two answers to one input"),
        (printing, "prints to standard output, which is its caller's; tell an observation"),
        (few, "ends in an infrastructure failure: operation kit.it/v1 of plugin kit: declares 2 outputs, its function"),
        (lying, "ends in an infrastructure failure: operation kit.it/v1 of plugin kit: value of kit.number/v1 is no"),
        (raising, "ends in an infrastructure failure: operation kit.it/v1 of plugin kit: ZeroDivisionError: "),
        (sleeping, "ends in an infrastructure failure: operation kit.it/v1 of plugin kit: it took longer than 0.2 s"),
    ],
)
def test_what_an_operation_does_otherwise_than_declared_is_found(function: Callable[..., Any], message: str) -> None:
    (found,) = of_number(function, within_s=0.2)
    assert found.startswith(f"operation kit.it/v1: {message}")


def test_an_operation_that_ends_in_time_only_once_does_not_hold_up_the_kit() -> None:
    runs = itertools.count()

    def tiring(n: Number) -> Number:
        time.sleep(next(runs) and 5)
        return n

    started = time.monotonic()
    (found,) = of_number(tiring, within_s=0.2)
    assert "ends in time once, and then not again" in found
    assert time.monotonic() - started < 4


def test_a_failure_of_the_system_under_test_is_no_fault_of_the_plugin() -> None:
    def refusing(settings: Settings) -> int:
        raise of.DomainFailure("odd", f"{settings.size} is odd")

    assert of_settings(refusing, reads=SIZE) == ()


class Shared:
    """A codec that gives everybody the payload itself."""

    def encode(self, schema: str, value: Any) -> Any:  # noqa: ARG002  the codec's form
        return value

    def decode(self, schema: str, payload: Any) -> Any:  # noqa: ARG002  the codec's form
        if not isinstance(payload, dict) or "no such field" in payload:
            raise IdentityError("no bag")
        return payload


@pytest.mark.parametrize(
    ("codec", "message"),
    [(JsonCodec(), "changes the value of kit.bag/v1 that it is given"), (Shared(), "alters its inputs")],
)
def test_an_operation_that_changes_what_it_is_given_is_found(codec: Any, message: str) -> None:
    made = Plugin.named("kit", "1")
    made.schema("kit.bag/v1", codec=codec, examples=({"a": 1},))

    @made.operation("kit.it/v1")
    def it(bag: Bag) -> Bag:
        bag["b"] = 2
        return {"a": 1}

    assert message in "".join(check_plugin(made, {"kit.it/v1": [[{"a": 1}]]}))


@dataclass(frozen=True, slots=True)
class Lossy:
    """A codec that keeps half of it."""

    def encode(self, schema: str, value: Any) -> Any:  # noqa: ARG002  the codec's form
        return {"a": value["a"]}

    def decode(self, schema: str, payload: Any) -> Any:  # noqa: ARG002  the codec's form
        return payload


def test_a_codec_that_does_not_read_back_what_it_wrote_is_found() -> None:
    made = Plugin.named("kit", "1")
    made.schema("kit.bag/v1", codec=Lossy(), examples=({"a": 1, "b": 2},))
    assert check_plugin(made, {}) == (
        "nothing was registered: plugin kit: schema kit.bag/v1, example 0: what was read back is not what was written",
    )


@pytest.mark.parametrize(
    ("member", "value", "message"),
    [
        ("effects", (Effect.STATE, Effect.CPU), "its descriptor is not what is read back from its canonical form"),
        ("dependencies", ("b", "a"), "its descriptor is not what is read back from its canonical form"),
        ("version", "\ud800", "its descriptor has no canonical form: "),
        ("is_deterministic", 1, "its descriptor has no canonical form: deterministic of a descriptor is int"),
    ],
)
def test_a_descriptor_that_is_in_no_canonical_form_is_found(member: str, value: Any, message: str) -> None:
    made = kit()

    @made.operation("kit.it/v1")
    def it(n: Number) -> Number:
        return n

    object.__setattr__(it.descriptor, member, value)
    (found,) = check_plugin(made, {"kit.it/v1": [[3]]})
    assert message in found


def looking(n: Number, stop: Cancellation, context: Context) -> Number:
    for ix in range(n):
        context.observe("step", ix)
        stop.check()
        if stop.wait(0.001):
            stop.check()
    return n


def blind(n: Number, stop: Cancellation) -> Number:
    return n


def deaf(n: Number, stop: Cancellation) -> Number:
    for _ in range(n):
        stop.wait(0.001)
    return n


def hasty(n: Number, stop: Cancellation) -> Number:
    done = 0
    while done < n and not stop.is_cancelled:
        done += 1
    return done


def cross(n: Number, stop: Cancellation) -> Number:
    if stop.is_cancelled:
        raise TimeoutError
    return n


def dragging(n: Number, stop: Cancellation) -> Number:
    stop.wait(0.001)
    if stop.is_cancelled:
        time.sleep(1)
    stop.check()
    return n


@pytest.mark.parametrize(
    ("function", "messages"),
    [
        (looking, ()),
        (blind, ("takes a cancellation, and never looks whether it is asked to stop",)),
        (deaf, tuple(f"asked to stop at look {at} of 3, it answers as if nobody had" for at in (1, 2, 3))),
        (hasty, tuple(f"asked to stop at look {at} of 3, it answers as if nobody had" for at in (1, 2, 3))),
        (cross, ("asked to stop at look 1 of 1, it ends in TimeoutError instead of a CancelledError",)),
        (dragging, ("asked to stop at look 1 of 3, it goes on for more than 0.3 s",)),
    ],
)
def test_an_operation_that_takes_a_cancellation_stops_in_time(
    function: Callable[..., Any], messages: tuple[str, ...]
) -> None:
    assert of_number(function, within_s=0.3) == tuple(f"operation kit.it/v1: {each}" for each in messages)


def test_what_is_left_behind_on_stopping_is_found(tmp_path: Path) -> None:
    def writing(*, is_tidy: bool) -> Callable[..., Any]:
        def it(n: Number, stop: Cancellation) -> Number:
            begun = tmp_path / "begun"
            begun.write_text("half")
            try:
                stop.check()
            except BaseException:
                if is_tidy:
                    begun.unlink()
                raise
            begun.unlink()
            return n

        return it

    effects = [Effect.ARTIFACT_WRITE]
    assert of_number(writing(is_tidy=True), effects=effects) == ()
    assert of_number(writing(is_tidy=False), effects=effects) == (
        f"operation kit.it/v1: asked to stop at look 1 of 1, it leaves behind {tmp_path / 'begun'}",
    )


def test_an_operation_that_does_not_recover_from_having_been_stopped_is_found() -> None:
    begun: list[int] = []

    def it(n: Number, stop: Cancellation) -> Number:
        begun.append(n)
        stop.check()
        total = sum(begun)
        begun.clear()
        return total

    assert of_number(it) == ("operation kit.it/v1: gives another answer after it was asked to stop",)


def test_an_operation_that_lives_elsewhere_is_not_asked_for_what_only_its_own_process_can_show() -> None:
    made = kit()

    @made.operation("kit.it/v1")
    def it(n: Number) -> Number:
        return n

    answered = [of.seal("kit.number/v1", 3)]

    made.operations[0] = Operation(it.descriptor, it.function, None, lambda *_: Execution(Status.SUCCESS, (*answered,)))
    assert check_plugin(made, {"kit.it/v1": [[3]]}) == ()
