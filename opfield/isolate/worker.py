"""The reference worker: serves the operations of a plugin over standard streams, `python -m opfield.isolate.worker`.

    python -m opfield.isolate.worker PACKAGE.MODULE:PLUGIN

What operations print goes to standard error, since standard output is the protocol's.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, BinaryIO

from opfield.core import Status, canonical_json, parse_json, read_envelope
from opfield.core.execution import Execution, failed
from opfield.errors import OpfieldError
from opfield.isolate.protocol import PROTOCOL, done_answer
from opfield.plugin import Plugin, Registry
from opfield.plugin.running import run_operation


def serve(registry: Registry, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until they end.

    Args:
        registry: whose operations are served.
        requests: JSON lines.
        answers: JSON lines.
    """
    for line in requests:
        request = parse_json(line)
        if request["kind"] == "hello":
            told = [each.as_json() for _, each in sorted(registry.descriptors.items())]
            answer: dict[str, Any] = {"kind": "ready", "protocol": PROTOCOL, "operations": told}
        else:
            answer = done_answer(request["id"], _execute(registry, request))
        answers.write(canonical_json(answer) + b"\n")
        answers.flush()


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


def main(target: str) -> None:
    """Serve the plugin that `target` names, as `package.module:attribute`."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, _, attribute = target.partition(":")
    plugin = getattr(importlib.import_module(module), attribute)
    if not isinstance(plugin, Plugin):
        raise SystemExit(f"{target} is of type {type(plugin).__name__}, not a Plugin")
    serve(Registry().register(plugin), sys.stdin.buffer, answers)


if __name__ == "__main__":
    main(sys.argv[1])
