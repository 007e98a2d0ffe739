"""What running an operation or a plan came to: outputs or an attributed failure, and what was observed (§29.5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from opfield.core.envelope import Envelope
from opfield.core.outcome import Failure, Status


@dataclass(frozen=True, slots=True)
class Observation:
    """Something noticed while an operation ran.

    Attributes:
        name: what, such as `cache_hit`.
        value: a JSON value.
        operation: id of the operation that told it.
        branch: where in the plan it ran: the index of the part taken at each tensor and sequence, from outside in.
    """

    name: str
    value: Any
    operation: str = ""
    branch: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Execution:
    """A terminal outcome.

    Attributes:
        status: what it ended as.
        outputs: envelopes in the order of the output port; empty unless it is a success.
        observations: what was noticed, in the order of the plan; a failure keeps those before it.
        failure: what went wrong; None for a success.
        seconds: time that it took; no part of what executions are compared by.
    """

    status: Status
    outputs: tuple[Envelope, ...] = ()
    observations: tuple[Observation, ...] = ()
    failure: Failure | None = None
    seconds: float = field(default=0.0, compare=False)


def failed(status: Status, code: str, message: str, observations: tuple[Observation, ...] = ()) -> Execution:
    """Return the execution that ended in a failure."""
    return Execution(status, (), observations, Failure(code, message))
