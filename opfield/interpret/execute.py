"""Execution: a plan as a function from envelopes to an outcome (§20.4, §32, §A.6).

The serial interpreter is the reference. The concurrent one runs parts that stand side by side at once, and refines it:
same outputs in the same order, same status, same observations in the order of the plan.

What it does about the other parts where one fails: the outcome is that of the leftmost failure, as in the reference, so
that parts to its left go on to their end. Parts to its right never begin where they have not; those that run are asked
to stop, and are waited for, since no thread can be stopped from outside: one that takes no cancellation goes on to its
end. What they made, or told, is discarded, as in the reference, where they never ran.

Where the whole is cancelled from outside, operations that have not begun never do, those that run are asked to stop,
and what has ended stays ended: a plan whose last operation has given its outputs is a success. Otherwise the outcome is
a cancellation, with what was observed before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate

from opfield.core import Envelope, Status, check_envelope
from opfield.core.cancellation import Cancellation
from opfield.core.execution import Execution, Observation, failed
from opfield.core.operation import OperationDescriptor, Port
from opfield.errors import OpfieldError
from opfield.interpret.wiring import port_given
from opfield.plan import Plan, check_plan, fold, normalize
from opfield.plan.term import port_text
from opfield.plugin import Registry
from opfield.plugin.running import FREE, Terms, located, run_operation

_Frame = tuple[Envelope, ...]
_Branch = tuple[int, ...]
_Run = Callable[[_Frame, _Branch, Terms], Execution]
#: A part with its wires and its place, that waits to be told what it is subject to.
_Part = Callable[[Terms], Execution]


@dataclass(frozen=True, slots=True)
class _Arrow:
    """What a part does with so many wires, told where in the plan it stands."""

    width: int
    run: _Run


@dataclass(frozen=True, slots=True)
class Compiled:
    """A plan that was checked against a registry, ready to run.

    Attributes:
        inputs: schemas that it takes.
        outputs: schemas that it gives.
    """

    inputs: Port
    outputs: Port
    _arrow: _Arrow

    def run(self, inputs: Sequence[Envelope], terms: Terms = FREE) -> Execution:
        """Return what the plan makes of envelopes, each of them checked first; it never raises for what they hold.

        Args:
            inputs: an envelope for each wire of the plan's input port.
            terms: what running is subject to: who may stop it, and how long each operation may take.
        """
        given = port_given(inputs)
        if given != self.inputs:
            message = f"the plan takes {port_text(self.inputs)}, was given {port_text(given)}"
            return failed(Status.INFRASTRUCTURE_FAILURE, "invalid_input", message)
        try:
            for each in inputs:
                check_envelope(each)
        except OpfieldError as error:
            return failed(Status.INFRASTRUCTURE_FAILURE, "invalid_input", str(error))
        return self._arrow.run(tuple(inputs), (), terms)


def compile_plan(plan: Plan, registry: Registry, executor: Executor | None = None) -> Compiled:
    """Return a plan ready to run; branches of observations are those of its normal form.

    Args:
        plan: the plan.
        registry: where its operations are registered.
        executor: threads for parts that stand side by side; one after the other where None.

    Raises:
        PlanError: listing every fault of the plan.
    """
    algebra = _Executing(registry, executor)
    if not plan.is_normal:
        check_plan(plan, registry.descriptors)
    return Compiled(plan.inputs, plan.outputs, fold(normalize(plan), algebra, registry.descriptors))


def execute(
    plan: Plan,
    registry: Registry,
    inputs: Sequence[Envelope],
    executor: Executor | None = None,
    terms: Terms = FREE,
) -> Execution:
    """Return what a plan makes of envelopes.

    Args:
        plan: the plan.
        registry: where its operations are registered.
        inputs: an envelope for each wire of the plan's input port.
        executor: threads for parts that stand side by side; one after the other where None.
        terms: what running is subject to: who may stop it, and how long each operation may take.

    Raises:
        PlanError: listing every fault of the plan; nothing was run.
    """
    return compile_plan(plan, registry, executor).run(inputs, terms)


@dataclass(frozen=True, slots=True)
class _Executing:
    registry: Registry
    executor: Executor | None

    def identity(self, port: Port) -> _Arrow:
        return _structure(len(port), lambda frame: frame)

    def primitive(self, operation: OperationDescriptor) -> _Arrow:
        implemented = self.registry.operations[operation.id]

        def run(frame: _Frame, branch: _Branch, terms: Terms) -> Execution:
            done = run_operation(self.registry, implemented, frame, terms)
            return replace(done, observations=located(done.observations, branch)) if done.observations else done

        return _Arrow(len(operation.inputs), run)

    def sequence(self, inputs: Port, outputs: Port, parts: Sequence[_Arrow]) -> _Arrow:  # noqa: ARG002  the algebra's form
        chain = tuple(parts)

        def run(frame: _Frame, branch: _Branch, terms: Terms) -> Execution:
            told: list[Observation] = []
            seconds = 0.0
            for ix, part in enumerate(chain):
                done = part.run(frame, (*branch, ix), terms)
                told += done.observations
                seconds += done.seconds
                if done.status is not Status.SUCCESS:
                    return replace(done, observations=tuple(told), seconds=seconds)
                frame = done.outputs
            return Execution(Status.SUCCESS, frame, tuple(told), seconds=seconds)

        return _Arrow(len(inputs), run)

    def tensor(self, inputs: Port, outputs: Port, parts: Sequence[_Arrow]) -> _Arrow:  # noqa: ARG002  the algebra's form
        beside = tuple(parts)
        cuts = [0, *accumulate(part.width for part in beside)][:-1]

        def run(frame: _Frame, branch: _Branch, terms: Terms) -> Execution:
            waiting: list[_Part] = [
                partial(part.run, frame[cut : cut + part.width], (*branch, ix))
                for ix, (part, cut) in enumerate(zip(beside, cuts, strict=True))
            ]
            if self.executor is None:
                return _joined([partial(part, terms) for part in waiting])
            with _at_once(waiting, self.executor, terms) as running:
                return _joined(running)

        return _Arrow(len(inputs), run)

    def permute(self, inputs: Port, permutation: tuple[int, ...]) -> _Arrow:
        return _structure(len(inputs), lambda frame: tuple(frame[ix] for ix in permutation))

    def copy(self, port: Port) -> _Arrow:
        return _structure(len(port), lambda frame: frame * 2)

    def drop(self, port: Port) -> _Arrow:
        return _structure(len(port), lambda _: ())


def _structure(width: int, lead: Callable[[_Frame], _Frame]) -> _Arrow:
    return _Arrow(width, lambda frame, *_: Execution(Status.SUCCESS, lead(frame)))


@contextmanager
def _at_once(parts: Sequence[_Part], executor: Executor, terms: Terms) -> Iterator[Sequence[Callable[[], Execution]]]:
    """Begin all parts but the first elsewhere, and give for each what returns its outcome.

    What has not begun when it is asked for runs where it is asked for: a thread then waits only for what runs, so that
    nested tensors cannot block each other however few threads there are. A part that fails asks those to its right to
    stop, at once. On leaving, what has not begun never does, and what has is waited for.
    """
    whole = terms.cancellation
    stops = [Cancellation() if whole is None else whole.part() for _ in parts]

    def watched(ix: int) -> Execution:
        done = parts[ix](replace(terms, cancellation=stops[ix]))
        if done.status is not Status.SUCCESS:
            for later in stops[ix + 1 :]:
                later.cancel("a part beside it failed")
        return done

    begun: list[Future[Execution]] = [executor.submit(watched, ix) for ix in range(1, len(parts))]

    def outcome(ix: int) -> Execution:
        running = begun[ix - 1] if ix else None
        return watched(ix) if running is None or running.cancel() else running.result()

    try:
        yield [partial(outcome, ix) for ix in range(len(parts))]
    finally:
        # What was cancelled counts as done only once a thread has met it, and all threads may be waiting here.
        wait([running for running in begun if not running.cancel()])


def _joined(parts: Sequence[Callable[[], Execution]]) -> Execution:
    """Return the outcome of parts side by side: all outputs in order, or the leftmost failure with what came before."""
    outputs: list[Envelope] = []
    told: list[Observation] = []
    seconds = 0.0
    for part in parts:
        done = part()
        outputs += done.outputs
        told += done.observations
        seconds += done.seconds
        if done.status is not Status.SUCCESS:
            return replace(done, outputs=(), observations=tuple(told), seconds=seconds)
    return Execution(Status.SUCCESS, tuple(outputs), tuple(told), seconds=seconds)
