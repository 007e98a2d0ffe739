"""A small plugin, made anew for each test."""

from __future__ import annotations

import threading
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict

import opfield as of
from opfield.plugin import Context, JsonCodec, Plugin

Number = Annotated[int, "toy.number/v1"]
Word = Annotated[str, "toy.word/v1"]
Bag = Annotated[Any, "toy.bag/v1"]


class Point(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    x: int
    y: tuple[float, ...] = ()


class _MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def toy() -> Plugin:
    """Return the plugin."""
    plugin = Plugin.named("toy", "1", "numbers and words")
    plugin.schema("toy.number/v1", int, examples=(0, -3))
    plugin.schema("toy.word/v1", str, examples=("", "語"))
    plugin.schema("toy.point/v1", Point, examples=(Point(x=1, y=(0.5,)),))
    plugin.schema("toy.bag/v1", codec=JsonCodec(), examples=({"a": [1, None]},))

    @plugin.operation("toy.next/v1")
    def after(n: Number) -> Number:
        return n + 1

    @plugin.operation("toy.swap/v1")
    def swap(n: Number, word: Word, context: Context) -> tuple[Word, Number]:
        context.observe("swapped", [n, word])
        return word, n

    @plugin.operation("toy.point/v1")
    def point(n: Number) -> Point:
        return Point(x=n)

    @plugin.operation("toy.refuse/v1")
    def refuse(n: Number) -> Number:
        raise of.DomainFailure("odd", f"{n} is odd")

    @plugin.operation("toy.babble/v1")
    def babble(n: Number, context: Context) -> Number:
        context.observe("seen", float("nan"))
        return n

    @plugin.operation("toy.break/v1")
    def broken(n: Number) -> Number:
        return n // 0

    @plugin.operation("toy.lie/v1")
    def lie(n: Number) -> Word:
        return n  # type: ignore[return-value]

    @plugin.operation("toy.few/v1")
    def few(n: Number) -> tuple[Number, Number]:
        return (n,)  # type: ignore[return-value]

    @plugin.operation("toy.many/v1")
    def many(n: Number) -> tuple[Number, Number]:
        return (n, n, n)  # type: ignore[return-value]

    @plugin.operation("toy.mute/v1")
    def mute(n: Number) -> Number:
        raise _MuteError

    @plugin.operation("toy.exit/v1")
    def leave(n: Number) -> Number:
        raise SystemExit(n)

    @plugin.operation("toy.deep/v1")
    def deep(n: Number) -> Bag:
        value: Any = n
        for _ in range(1_000):
            value = [value]
        return value

    @plugin.operation("toy.nan/v1")
    def nan(n: Number) -> Bag:
        return {"n": float("nan")}

    @plugin.operation("toy.spoil/v1")
    def spoil(bag: Bag) -> Bag:
        bag["spoiled"] = True
        return {"kept": sorted(bag)}

    @plugin.operation("toy.say/v1")
    def say(n: Number, context: Context) -> None:
        context.observe("said", n)

    @plugin.operation("toy.thread/v1", is_deterministic=False)
    def thread(n: Number, context: Context) -> Number:
        context.observe("thread", threading.current_thread().name)
        return n

    @plugin.law
    def numbers_go_on() -> list[str]:
        return [] if after(1) == 2 else ["1 + 1 is not 2"]

    plugin.plan("twice", after >> after)
    return plugin
