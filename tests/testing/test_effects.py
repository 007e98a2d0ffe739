"""Effects that a call has are seen, those that it has not are not, and the kit compares them with what is declared."""

from __future__ import annotations

import datetime
import importlib
import os
import random
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import numpy
import pytest

from opfield.core.operation import Effect
from opfield.plugin import Plugin
from opfield.testing import check_plugin, observed_effects
from opfield.testing.effects import Watched, watch

Number = Annotated[int, "kit.number/v1"]


def _connect() -> None:
    with socket.socket() as one, suppress(OSError):
        one.connect(("127.0.0.1", 1))


def _in_a_thread(call: Callable[..., object], *arguments: object) -> None:
    with ThreadPoolExecutor(1) as threads:
        threads.submit(call, *arguments).result(timeout=5)


def _tried(call: Callable[..., object], *arguments: object) -> None:
    with suppress(OSError):
        call(*arguments)


def _import_anew() -> None:
    sys.modules.pop("this_module_is_nowhere", None)
    importlib.invalidate_caches()
    with suppress(ImportError):
        importlib.import_module("this_module_is_nowhere")


CALLS: dict[str, tuple[Callable[[], object], set[Effect]]] = {
    "arithmetic": (lambda: sum(range(9)), set()),
    "clock": (time.time, {Effect.CLOCK}),
    "stop watch": (lambda: time.perf_counter() > 0, {Effect.CLOCK}),
    "local time": (time.localtime, {Effect.CLOCK}),
    "system's clock": (lambda: time.clock_gettime(time.CLOCK_REALTIME), {Effect.CLOCK}),
    "time of the process": (os.times, {Effect.CLOCK}),
    "waiting for others": (lambda: _in_a_thread(len, ""), set()),
    "clock in a thread": (lambda: _in_a_thread(lambda: time.time()), {Effect.CLOCK}),
    "file in a thread": (lambda: _in_a_thread(lambda: open("/dev/null").close()), {Effect.ARTIFACT_READ}),
    "generator of NumPy": (lambda: numpy.random.random(), {Effect.RANDOM}),
    "unseeded generator": (lambda: random.Random().random(), {Effect.RANDOM}),
    "folder": (lambda: os.listdir("/dev"), {Effect.ARTIFACT_READ}),
    "rights of a file": (lambda: _tried(os.chmod, "/no/such/file", 0o600), {Effect.ARTIFACT_WRITE}),
    "name server": (lambda: socket.gethostbyname("127.0.0.1"), {Effect.NETWORK}),
    "first import": (_import_anew, set()),
    "environment": (lambda: os.putenv("OPFIELD_TEST", "1"), {Effect.STATE}),
    "date": (lambda: datetime.datetime.now(datetime.UTC), {Effect.CLOCK}),
    "shared generator": (lambda: random.random(), {Effect.RANDOM}),
    "shuffle": (lambda: random.shuffle([1, 2, 3]), {Effect.RANDOM}),
    "system's randomness": (lambda: secrets.token_hex(2), {Effect.RANDOM}),
    "own seeded generator": (lambda: random.Random(7).random(), set()),
    "connection": (_connect, {Effect.NETWORK}),
    "program": (lambda: subprocess.run(["true"], check=True), {Effect.STATE}),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_effects_of_a_call_are_seen(name: str) -> None:
    call, effects = CALLS[name]
    seen = observed_effects(call)
    assert effects <= seen
    if name != "program":  # starting a program also opens its pipes' ends
        assert seen == effects


def test_reading_and_writing_files_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    assert observed_effects(lambda: path.write_text("x")) == {Effect.ARTIFACT_WRITE}
    assert observed_effects(path.read_text) == {Effect.ARTIFACT_READ}
    assert observed_effects(lambda: os.remove(path)) == {Effect.ARTIFACT_WRITE}


def test_what_a_call_leaves_behind_is_what_was_not_there_before_or_otherwise(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("x")
    (tmp_path / "same").write_text("x")

    def call() -> None:
        (tmp_path / "new").write_text("x")
        (tmp_path / "gone").write_text("x")
        (tmp_path / "gone").rename(tmp_path / "renamed")
        (tmp_path / "folder").mkdir()
        (tmp_path / "old").write_text("more")
        (tmp_path / "same").read_text()

    seen = Watched()
    watch(call, seen)
    assert seen.left() == tuple(str(tmp_path / name) for name in ("folder", "new", "old", "renamed"))


def test_nothing_is_seen_outside_a_call_and_what_it_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        observed_effects(lambda: 1 // 0)
    assert observed_effects(lambda: observed_effects(time.time)) == set()


def test_an_effect_that_is_not_declared_is_found_by_the_kit() -> None:
    made = Plugin.named("kit", "1")
    made.schema("kit.number/v1", int, examples=(3,))

    @made.operation("kit.late/v1")
    def late(n: Number) -> Number:
        return n + (time.time() < 0)

    @made.operation("kit.told/v1", effects=["cpu", "clock"])
    def told(n: Number) -> Number:
        return n + (time.time() < 0)

    assert check_plugin(made, {"kit.late/v1": [[1]], "kit.told/v1": [[1]]}) == (
        "operation kit.late/v1: has effects that it does not declare: clock",
    )
