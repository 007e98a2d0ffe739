"""The protocol between a host and a worker: JSON lines over standard streams, version 1.

The host writes one request a line to the worker's standard input and reads one answer a line from its standard output;
standard error is for people. A worker answers requests in order, each once, and ends when its input ends.

- `{"kind": "hello", "protocol": "opfield/worker/v1"}` is answered by
  `{"kind": "ready", "protocol": "opfield/worker/v1", "operations": [descriptor, …]}`.
- `{"kind": "execute", "id": key, "operation": id, "inputs": [envelope, …], "deadline_s": seconds}` is answered by
  `{"kind": "done", "id": key, "status": status, "outputs": [envelope, …], "observations": [{"name", "value"}, …],
  "failure": null or {"code", "message", "is_retryable"}}`.

`key` is the idempotency key: equal for equal operation and inputs, so that a worker may answer from what it kept. An
envelope is `{"schema", "payload", "digest"}` with the digest of the payload's canonical form; status is `success`,
`domain_failure`, `infrastructure_failure` or `cancelled`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from opfield.core import Envelope, Failure, Status, canonical_json, digest, read_envelope
from opfield.core.execution import Execution, Observation
from opfield.errors import OpfieldError, ProtocolError

PROTOCOL: Final = "opfield/worker/v1"
#: What a failure may be called, and how much of its message is read.
_CODE: Final = re.compile(r"[\w.-]{1,100}")
_LONGEST_MESSAGE: Final = 10_000

HELLO: Final = {"kind": "hello", "protocol": PROTOCOL}


def execute_request(operation: str, inputs: Sequence[Envelope], deadline_s: float) -> dict[str, Any]:
    """Return the request to run an operation; its id is the idempotency key."""
    return {
        "kind": "execute",
        "id": digest("opfield/call/v1", operation, *(each.digest for each in inputs)),
        "operation": operation,
        "inputs": [each.as_json() for each in inputs],
        "deadline_s": deadline_s,
    }


def done_answer(key: str, execution: Execution) -> dict[str, Any]:
    """Return the answer that an execution is."""
    failure = execution.failure
    return {
        "kind": "done",
        "id": key,
        "status": str(execution.status),
        "outputs": [each.as_json() for each in execution.outputs],
        "observations": [{"name": each.name, "value": each.value} for each in execution.observations],
        "failure": None
        if failure is None
        else {"code": failure.code, "message": failure.message, "is_retryable": failure.is_retryable},
    }


def read_done(answer: Any, key: str) -> Execution:
    """Return the execution in an answer, as if whoever wrote it were hostile.

    Raises:
        ProtocolError: where it is no answer to the request of that key, or an envelope in it does not verify.
    """
    _check_members("an answer", answer, {"kind", "id", "status", "outputs", "observations", "failure"})
    if answer["kind"] != "done" or answer["id"] != key:
        raise ProtocolError(f"answered {answer['kind']!r} to another request than the one that was made")
    try:
        status = Status(answer["status"])
        outputs = tuple(read_envelope(each) for each in _list("outputs", answer))
        observations = tuple(_observation(each) for each in _list("observations", answer))
    except (OpfieldError, ValueError, TypeError) as error:
        raise ProtocolError(str(error)) from None
    failure = None if answer["failure"] is None else _failure(answer["failure"])
    if (status is Status.SUCCESS) != (failure is None) or (outputs and failure is not None):
        raise ProtocolError(f"answered {status} with {'a' if failure else 'no'} failure and {len(outputs)} outputs")
    return Execution(status, outputs, observations, failure)


def read_ready(answer: Any) -> list[Any]:
    """Return the descriptors in the answer to a greeting, not read yet.

    Raises:
        ProtocolError: where it is no such answer, or of another protocol.
    """
    _check_members("an answer to a greeting", answer, {"kind", "protocol", "operations"})
    if answer["kind"] != "ready" or answer["protocol"] != PROTOCOL:
        raise ProtocolError(f"speaks {answer['protocol']!r}, not {PROTOCOL}")
    return _list("operations", answer)


def _check_members(what: str, value: Any, members: set[str]) -> None:
    if not isinstance(value, dict) or value.keys() != members:
        raise ProtocolError(f"{what} is an object with exactly the members {', '.join(sorted(members))}")


def _list(name: str, answer: dict[str, Any]) -> list[Any]:
    if not isinstance(answer[name], list):
        raise ProtocolError(f"{name} is no list")
    return list(answer[name])


def _observation(value: Any) -> Observation:
    _check_members("an observation", value, {"name", "value"})
    if not isinstance(value["name"], str):
        raise ProtocolError("the name of an observation is no text")
    canonical_json(value["value"])
    return Observation(value["name"], value["value"])


def _failure(value: Any) -> Failure:
    _check_members("a failure", value, {"code", "message", "is_retryable"})
    if not (
        isinstance(value["code"], str) and isinstance(value["message"], str) and isinstance(value["is_retryable"], bool)
    ):
        raise ProtocolError("a failure has a code, a message and whether it is retryable")
    if not _CODE.fullmatch(value["code"]):
        raise ProtocolError("the code of a failure is a short name of letters, digits and ._-")
    return Failure(value["code"], value["message"][:_LONGEST_MESSAGE], value["is_retryable"])
