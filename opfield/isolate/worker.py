"""The reference worker: serves the operations of a plugin over standard streams, `python -m opfield.isolate.worker`.

    python -m opfield.isolate.worker PACKAGE.MODULE:PLUGIN

What operations print is observed, and what goes past Python to standard output goes to standard error, since standard
output is the protocol's.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, BinaryIO

from opfield.core import Status, canonical_json, parse_json, read_envelope
from opfield.core.execution import Execution, failed
from opfield.errors import OpfieldError, ProtocolError
from opfield.isolate.protocol import PROTOCOL, done_answer
from opfield.plugin import Plugin, Registry
from opfield.plugin.running import run_operation


def serve(registry: Registry, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until they end.

    Args:
        registry: whose operations are served.
        requests: JSON lines.
        answers: JSON lines.

    Raises:
        ProtocolError: for a line that is no request; a host that says such a thing is not worth an answer.
    """
    for line in requests:
        request = _request(line)
        if request["kind"] == "hello":
            told = [each.as_json() for _, each in sorted(registry.descriptors.items())]
            answer: dict[str, Any] = {"kind": "ready", "protocol": PROTOCOL, "operations": told}
        else:
            answer = done_answer(request["id"], _execute(registry, request))
        answers.write(canonical_json(answer) + b"\n")
        answers.flush()


def _request(line: bytes) -> dict[str, Any]:
    """Return the request in a line.

    Raises:
        ProtocolError: where it is none.
    """
    try:
        request: Any = parse_json(line)
    except OpfieldError as error:
        raise ProtocolError(f"a request is no JSON: {error}") from None
    told: dict[str, Any] = request if isinstance(request, dict) else {}
    match told:
        case {"kind": "hello"} | {"kind": "execute", "id": str(), "operation": str(), "inputs": list()}:
            return told
    raise ProtocolError("a request is an object of kind hello, or of kind execute with id, operation and inputs")


def _execute(registry: Registry, request: dict[str, Any]) -> Execution:
    operation = registry.operations.get(request["operation"])
    if operation is None:
        message = f"no operation {request['operation']!r} is served here"
        return failed(Status.INFRASTRUCTURE_FAILURE, "unknown_operation", message)
    try:
        inputs = [read_envelope(each) for each in request["inputs"]]
    except OpfieldError as error:
        return failed(Status.INFRASTRUCTURE_FAILURE, "invalid_input", str(error))
    return run_operation(registry, operation, inputs)


def main(arguments: list[str]) -> int:
    """Serve the plugin that the one argument names, as `package.module:attribute`; return 2 where it names none."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if len(arguments) != 1:
        print("usage: python -m opfield.isolate.worker PACKAGE.MODULE:PLUGIN", file=sys.stderr)
        return 2
    module, _, attribute = arguments[0].partition(":")
    try:
        plugin = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        print(f"{arguments[0]} cannot be served: {error}", file=sys.stderr)
        return 2
    if not isinstance(plugin, Plugin):
        print(f"{arguments[0]} is of type {type(plugin).__name__}, not a Plugin", file=sys.stderr)
        return 2
    try:
        serve(Registry().register(plugin), sys.stdin.buffer, answers)
    except OpfieldError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
