"""Work that is asked to stop, is late, or prints: what becomes of it, of what runs beside it, and of who runs it."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from typing import Annotated, Any

import click
import pytest

import opfield as of
from opfield.core import Envelope, Status, seal
from opfield.core.execution import Execution
from opfield.errors import DeclarationError
from opfield.interpret import execute
from opfield.plan import Plan, tensor
from opfield.plugin import Cancellation, CancelledError, Context, Operation, Plugin, Registry, Terms

Number = Annotated[int, "slow.number/v1"]
#: Beyond any time that a test should take: what is not stopped shows.
LONG_S = 30.0


def slow() -> Plugin:
    """Return a plugin of operations that take their time."""
    plugin = Plugin.named("slow", "1")
    plugin.schema("slow.number/v1", int, examples=(1,))

    @plugin.operation("slow.wait/v1")
    def wait(n: Number, context: Context, stop: Cancellation) -> Number:
        context.observe("began", n)
        try:
            stop.wait(LONG_S)
            stop.check()
        except Exception:  # what is no failure is not taken for one
            return 0
        return n

    @plugin.operation("slow.next/v1")
    def after(n: Number, context: Context) -> Number:
        context.observe("ran", n)
        return n + 1

    @plugin.operation("slow.refuse/v1")
    def refuse(n: Number) -> Number:
        time.sleep(0.05)
        raise of.DomainFailure("odd", f"{n} is odd")

    @plugin.operation("slow.give-up/v1")
    def give_up(n: Number) -> Number:
        raise CancelledError("no reason")

    @plugin.operation("slow.sleep/v1")
    def sleep(n: Number, context: Context) -> Number:
        print("before", end="")
        context.observe("slept", n)
        time.sleep(0.4)
        print("long after")
        context.observe("woke", n)
        return n

    @plugin.operation("slow.print/v1")
    def talk(n: Number) -> Number:
        print("{", n)
        click.echo("}")
        with pytest.raises(TypeError):
            sys.stdout.write(b"")  # type: ignore[arg-type]  # what libraries try, to tell what a stream takes
        sys.stdout.buffer.write(b"\xff")
        sys.stdout.flush()
        return n

    @plugin.operation("slow.flood/v1")
    def flood(n: Number) -> Number:
        print("\ud800" + "x" * n, end="")
        return n

    return plugin


REGISTRY = Registry().register(slow())
ONE = seal("slow.number/v1", 1)


def op(name: str) -> Plan:
    """Return the plan of an operation."""
    return REGISTRY.operations[f"slow.{name}/v1"].plan


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as made:
        yield made


def soon(stop: Cancellation, reason: str = "") -> None:
    """Ask to stop a little later."""
    threading.Timer(0.05, stop.cancel, [reason]).start()


def failure_of(done: Execution) -> tuple[str, str]:
    """Return code and message of a failure."""
    assert done.failure is not None
    return done.failure.code, done.failure.message


def test_what_runs_is_asked_to_stop_and_what_follows_never_begins() -> None:
    stop, started = Cancellation(), time.monotonic()
    soon(stop, "the campaign ended")
    done = execute(op("next") >> op("wait") >> op("next"), REGISTRY, [ONE], terms=Terms(stop))
    assert time.monotonic() - started < LONG_S / 2
    assert (done.status, done.outputs) == (Status.CANCELLED, ())
    assert failure_of(done) == ("cancelled", "operation slow.wait/v1 of plugin slow: the campaign ended")
    assert [each.name for each in done.observations] == ["ran", "began"]


def test_nothing_begins_once_it_was_asked_for() -> None:
    stop = Cancellation()
    stop.cancel()
    stop.cancel("too late to say why")
    done = execute(op("next"), REGISTRY, [ONE], terms=Terms(stop))
    assert (done.status, done.observations) == (Status.CANCELLED, ())
    assert failure_of(done)[1].endswith("of plugin slow: it was not begun: asked to stop")


def test_what_has_ended_when_it_is_asked_for_stays_ended() -> None:
    stop, plugin = Cancellation(), Plugin.named("last", "1")
    plugin.schema("last.number/v1", int)

    @plugin.operation("last.ask/v1")
    def ask(n: Annotated[int, "last.number/v1"]) -> Annotated[int, "last.number/v1"]:
        stop.cancel()
        return n

    registry, given = Registry().register(plugin), [seal("last.number/v1", 1)]
    assert execute(ask.plan, registry, given, terms=Terms(stop)).status is Status.SUCCESS
    again = Cancellation()
    again.cancel()
    assert execute(ask >> ask, registry, given, terms=Terms(stop)).status is Status.CANCELLED


def test_side_by_side_all_that_runs_is_asked_to_stop(threads: ThreadPoolExecutor) -> None:
    stop, started = Cancellation(), time.monotonic()
    soon(stop)
    done = execute(tensor(*[op("wait")] * 3) >> tensor(*[op("next")] * 3), REGISTRY, [ONE] * 3, threads, Terms(stop))
    assert time.monotonic() - started < LONG_S / 2
    assert done.status is Status.CANCELLED


def test_a_failure_stops_what_runs_to_its_right_and_nothing_else(threads: ThreadPoolExecutor) -> None:
    """The policy of the concurrent interpreter: the outcome is that of the leftmost failure, as in the reference."""
    started = time.monotonic()
    nested = tensor(op("wait"), op("wait") >> op("next"))
    done = execute(tensor(op("sleep"), op("refuse"), nested), REGISTRY, [ONE] * 4, threads)
    assert time.monotonic() - started < LONG_S / 2
    assert (done.status, failure_of(done)[0]) == (Status.DOMAIN_FAILURE, "odd")
    # To its left it went on to its end; what was discarded told nothing.
    assert [(each.name, each.branch) for each in done.observations] == [
        ("slept", (0,)),
        ("woke", (0,)),
        ("stdout", (0,)),
    ]
    assert done == execute(tensor(op("sleep"), op("refuse"), nested), REGISTRY, [ONE] * 4)


def test_an_operation_that_stops_although_nobody_asked_is_broken() -> None:
    done = execute(op("give-up"), REGISTRY, [ONE])
    assert (done.status, failure_of(done)[0]) == (Status.INFRASTRUCTURE_FAILURE, "exception")
    assert "nobody asked it to stop" in failure_of(done)[1]


def test_an_operation_past_its_deadline_is_a_failure_that_names_it_and_keeps_what_came_before() -> None:
    told = [("ran", 1), ("slept", 2), ("stdout", "before")]
    with redirect_stdout(io.StringIO()) as said:
        done = execute(op("next") >> op("sleep") >> op("next"), REGISTRY, [ONE], terms=Terms(deadline_s=0.1))
        assert [(each.name, each.value) for each in done.observations] == told
        # It goes on, unheard: neither the outcome nor standard output hears of it.
        time.sleep(0.6)
    assert said.getvalue() == ""
    assert [(each.name, each.value) for each in done.observations] == told
    assert (done.status, failure_of(done)[0]) == (Status.INFRASTRUCTURE_FAILURE, "timeout")
    assert failure_of(done)[1].startswith("operation slow.sleep/v1 of plugin slow: it took longer than 0.1 s and was")
    assert done.failure is not None
    assert done.failure.is_retryable


def test_what_is_late_and_takes_a_cancellation_is_asked_to_stop() -> None:
    ended = threading.Event()
    waiting = REGISTRY.operations["slow.wait/v1"]

    def watched(*args: Any, **kwargs: Any) -> Any:
        try:
            return waiting.function(*args, **kwargs)
        finally:
            ended.set()

    operation = Operation(waiting.descriptor, watched, waiting.context, cancellation=waiting.cancellation)
    registry = Registry(schemas=REGISTRY.schemas, operations={waiting.descriptor.id: operation})
    assert failure_of(execute(operation.plan, registry, [ONE], terms=Terms(deadline_s=0.05)))[0] == "timeout"
    assert ended.wait(LONG_S / 2)


def test_in_time_a_deadline_changes_nothing() -> None:
    plan = op("next") >> op("print")
    assert execute(plan, REGISTRY, [ONE], terms=Terms(deadline_s=60)) == execute(plan, REGISTRY, [ONE])


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), True, "3"])
def test_a_deadline_that_is_no_time_is_refused(seconds: Any) -> None:
    with pytest.raises(DeclarationError, match="is no time; give seconds above 0"):
        Terms(deadline_s=seconds)


def test_what_an_operation_prints_is_observed_and_reaches_nobodys_standard_output() -> None:
    before = sys.stdout
    with redirect_stdout(io.StringIO()) as said:
        print("mine")
        done = execute(op("print"), REGISTRY, [ONE])
        print("mine again")
    assert said.getvalue() == "mine\nmine again\n"
    assert sys.stdout is before
    assert [(each.name, each.value, each.operation) for each in done.observations] == [
        ("stdout", "{ 1\n}\n\ufffd", "slow.print/v1")
    ]


def test_words_go_to_who_said_them_when_threads_print_at_once(threads: ThreadPoolExecutor) -> None:
    with redirect_stdout(io.StringIO()) as said:
        ends = threading.Event()
        mine = threading.Thread(target=lambda: [print("mine") or ends.wait(0.001) for _ in range(50)])
        mine.start()
        inputs: list[Envelope] = [seal("slow.number/v1", n) for n in range(8)]
        done = execute(tensor(*[op("print")] * 8), REGISTRY, inputs, threads)
        mine.join()
    assert said.getvalue() == "mine\n" * 50
    assert [each.value for each in done.observations] == [f"{{ {n}\n}}\n\ufffd" for n in range(8)]


def test_of_a_flood_the_beginning_is_kept() -> None:
    done = execute(op("flood"), REGISTRY, [seal("slow.number/v1", 10_000)])
    (told,) = done.observations
    assert told.value == "\\ud800" + "x" * 1_999 + "… and 8,001 characters more"
