"""Runners in other processes, in any language: a campaign calls them as if they were here (§26.4, §48.3).

Whatever a runner's worker does that the protocol does not have — it crashes, hangs, floods, answers garbage or what is
no result — is an infrastructure failure of that trial, which names the plugin; the next trial finds a new worker.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from opfield.core import Failure, Status, seal
from opfield.core.label import check_label
from opfield.errors import OpfieldError
from opfield.experiment import DomainFailure, InfrastructureFailure, TrialRequest, TrialResult
from opfield.isolate.host import Host, HostLimits
from opfield.isolate.trials import asked_of, result_of, trial_schemas
from opfield.plugin import Plugin, Registry
from opfield.plugin.running import run_operation


class IsolatedRunner:
    """A runner whose trials run in worker processes, one for each trial that runs at once.

    Pickled, it is made anew with workers of its own. A context manager that ends its workers; they end with the process
    at the latest.

    Attributes:
        id: identity of the runner, which is that of the worker's plugin.
        version: version of the runner, which is that of the worker's plugin.
    """

    def __init__(self, command: Sequence[str], id: str, version: str = "1", limits: HostLimits | None = None) -> None:
        """Keep how workers are started; the first starts with the first trial.

        Args:
            command: program and arguments of a worker.
            id: identity of the runner.
            version: version of the runner.
            limits: what a worker is allowed; `call_s` is the longest that a trial may take.

        Raises:
            DeclarationError: where id or version is no name.
        """
        check_label("runner id", id)
        check_label("runner version", version)
        self.id = id
        self.version = version
        self._command = tuple(command)
        self._limits = limits
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._close = weakref.finalize(self, _close_all, self._idle)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how it is made anew in another process."""
        return IsolatedRunner, (self._command, self.id, self.version, self._limits)

    def __enter__(self) -> Self:
        """Return the runner."""
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """End the workers."""
        self.close()

    def close(self) -> None:
        """End the workers that run no trial; a later trial starts another."""
        with self._lock:
            idle = list(self._idle)
            self._idle.clear()
        _close_all(idle)

    def __call__(self, request: TrialRequest) -> TrialResult:
        """Run a trial.

        Raises:
            DomainFailure: where the worker says that the system failed.
            InfrastructureFailure: for everything else that goes wrong, naming the plugin.
        """
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        worker = worker or _Worker(Host(self._command, self.id, self._limits), self.id, self.version)
        try:
            return worker.run(request)
        finally:
            with self._lock:
                self._idle.append(worker)


class _Worker:
    """A host with the registry in which what its worker answers is checked."""

    def __init__(self, host: Host, id: str, version: str) -> None:
        self.host = host
        self._id = id
        self._version = version
        self._registry: Registry | None = None

    def run(self, request: TrialRequest) -> TrialResult:
        try:
            registry = self._registry = self._registry or self._registered()
            schema = f"{self._id}.request/v1"
            payload = registry.schemas[schema].codec.encode(schema, asked_of(request))
            done = run_operation(registry, registry.operations[f"{self._id}.run/v1"], [seal(schema, payload)])
            if done.failure is None:
                schema = f"{self._id}.result/v1"
                return result_of(registry.schemas[schema].codec.decode(schema, done.outputs[0].payload), request)
        except OpfieldError as error:
            raise InfrastructureFailure("worker", f"runner of plugin {self._id}: {error}") from None
        raise _raised(done.status, done.failure)

    def _registered(self) -> Registry:
        """Return the registry of what the worker serves.

        Raises:
            ProtocolError: where it does not greet as it should.
            PluginError: where it serves something else than this runner.
        """
        plugin = Plugin.named(self._id, self._version)
        trial_schemas(plugin)
        plugin.operations += self.host.operations()
        plugin.law(lambda: self._foreign(plugin))
        return Registry().register(plugin)

    def _foreign(self, plugin: Plugin) -> list[str]:
        """Return how what is served is not this runner."""
        wanted = (f"{self._id}.run/v1", self._version, (f"{self._id}.request/v1",), (f"{self._id}.result/v1",))
        served = [each.descriptor for each in plugin.operations]
        if [(each.id, each.version, each.inputs, each.outputs) for each in served] == [wanted]:
            return []
        told = ", ".join(f"{each.id} of version {each.version}" for each in served) or "nothing"
        return [f"its worker serves {told}, and not {wanted[0]} of version {self._version}"]


def _raised(status: Status, failure: Failure) -> DomainFailure | InfrastructureFailure:
    if status is Status.DOMAIN_FAILURE:
        return DomainFailure(failure.code, failure.message)
    return InfrastructureFailure(failure.code, failure.message, is_retryable=failure.is_retryable)


def _close_all(workers: list[_Worker]) -> None:
    for each in workers:
        each.host.close()
