"""The runner of the toy's campaign: it executes a plan, makes nothing twice, and keeps what the plan says it made.

Index and rankings are kept as evidence, with the identities of the plan, of the registry that gave it its meaning, and
of everything that was derived on the way; the build key is the derivation key of the index.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, MutableMapping
from functools import lru_cache
from typing import Any, Final

import opfield as of
from opfield.interpret import derive, execute_reusing
from opfield.plan import plan_id
from opfield.plugin import Registry
from opfield_rag.case import read_case
from opfield_rag.plugin import GARDENING, evidence, plugin
from opfield_rag.spec import SPEC_SCHEMA
from opfield_rag.toy import CORPUS

INDEX_SCHEMA: Final = "ragtoy.index/v1"
TRIAL_SCHEMA: Final = "ragtoy.trial/v1"
BUILD: Final = ("ragtoy.chunk/v1", "ragtoy.index/v1")


class Kept(MutableMapping[str, tuple[of.Envelope, ...]]):
    """Outputs by derivation key, shared by all threads of a process; what was used longest ago leaves first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._outputs: OrderedDict[str, tuple[of.Envelope, ...]] = OrderedDict()

    def __getitem__(self, key: str) -> tuple[of.Envelope, ...]:
        with self._lock:
            self._outputs.move_to_end(key)
            return self._outputs[key]

    def __setitem__(self, key: str, outputs: tuple[of.Envelope, ...]) -> None:
        with self._lock:
            self._outputs[key] = outputs
            if len(self._outputs) > self._size:
                self._outputs.popitem(last=False)

    def __delitem__(self, key: str) -> None:
        with self._lock:
            del self._outputs[key]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._outputs))

    def __len__(self) -> int:
        return len(self._outputs)


#: Arms are interleaved, so that it holds the builds of all candidates and the queries of a few cases at once.
_KEPT: Final = Kept(256)


@lru_cache(maxsize=1)
def registry() -> Registry:
    """Return the registry that gives the plans their meaning."""
    return Registry().register(plugin)


@lru_cache(maxsize=1)
def _corpus() -> of.Envelope:
    return of.seal("ragtoy.corpus/v1", registry().schemas["ragtoy.corpus/v1"].codec.encode("", GARDENING))


def run_toy(trial: of.TrialRequest) -> of.TrialResult:
    """Run one trial: execute the plan over configuration, corpus and case; keep index and rankings."""
    case = read_case(trial, CORPUS)
    inputs = [of.seal(SPEC_SCHEMA, trial.spec), _corpus(), of.seal("ragtoy.case/v1", trial.case)]
    done = execute_reusing(evidence, registry(), inputs, _KEPT)
    if done.execution.failure is not None:
        raise of.InfrastructureFailure(done.execution.failure.code, done.execution.failure.message)
    index, retrieval, measured = (each.payload for each in done.execution.outputs)
    derivation = derive(evidence, registry().descriptors, inputs)
    derivations = [
        {"operation": step.operation.id, "key": key}
        for step, key in zip(derivation.graph.steps, derivation.keys, strict=True)
    ]
    build_key = next(each["key"] for each in derivations if each["operation"] == BUILD[-1])
    # Retained in every trial, which is idempotent: the index must be in the warehouse this trial belongs to.
    index_id = trial.artifacts.put(
        {"build_key": build_key, "corpus": CORPUS, "chunks": index["chunks"]}, schema=INDEX_SCHEMA
    )
    told: dict[str, Any] = {
        "plan": plan_id(evidence),
        "registry": registry().id,
        "derivations": derivations,
        "build_key": build_key,
        "index": index_id,
        "query": case.query,
        "ranking": retrieval["ranking"],
        "context_chunks": retrieval["context_chunks"],
        "metrics": measured["metrics"],
    }
    return of.TrialResult(
        metrics=measured["metrics"],
        artifact_id=trial.artifacts.put(told, schema=TRIAL_SCHEMA),
        observations={"build_reused": set(BUILD) <= set(done.reused)},
    )
