"""The runner of the toy's campaign: it executes a plan, makes nothing twice, and keeps what the plan says it made.

Index and rankings are kept as evidence, with the identities of the plan, of the registry that gave it its meaning, and
of everything that was derived on the way; the build key is the derivation key of the index.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import opfield as of
from opfield.interpret import Reused, execute_reusing
from opfield.plan import plan_id
from opfield.plugin import Registry
from opfield_rag.case import read_case
from opfield_rag.plugin import GARDENING, evidence, plugin
from opfield_rag.shelf import Recent
from opfield_rag.spec import SPEC_SCHEMA
from opfield_rag.toy import CORPUS

INDEX_SCHEMA: Final = "ragtoy.index/v1"
TRIAL_SCHEMA: Final = "ragtoy.trial/v1"
BUILD: Final = ("ragtoy.chunk/v1", "ragtoy.index/v1")

#: Arms are interleaved, so that it holds the builds of all candidates and the queries of a few cases at once.
_KEPT: Final[Recent[tuple[of.Envelope, ...]]] = Recent(256)


@lru_cache(maxsize=1)
def registry() -> Registry:
    """Return the registry that gives the plans their meaning."""
    return Registry().register(plugin)


@lru_cache(maxsize=1)
def _identities() -> tuple[str, str]:
    """Return the identities of the plan and of the registry, which take longer to find than a trial."""
    return plan_id(evidence), registry().id


@lru_cache(maxsize=1)
def _corpus() -> of.Envelope:
    return of.seal("ragtoy.corpus/v1", registry().schemas["ragtoy.corpus/v1"].codec.encode("", GARDENING))


def payloads_of(done: Reused) -> list[Any]:
    """Return the payloads of what a plan gave.

    Raises:
        InfrastructureFailure: for a plan that did not come to its end.
    """
    failure = done.execution.failure
    if failure is not None:
        raise of.InfrastructureFailure(failure.code, failure.message, is_retryable=failure.is_retryable)
    return [each.payload for each in done.execution.outputs]


def run_toy(trial: of.TrialRequest) -> of.TrialResult:
    """Run one trial: execute the plan over configuration, corpus and case; keep index and rankings."""
    case = read_case(trial, CORPUS)
    inputs = [of.seal(SPEC_SCHEMA, trial.spec), _corpus(), of.seal("ragtoy.case/v1", trial.case)]
    done = execute_reusing(evidence, registry(), inputs, _KEPT)
    index, retrieval, measured = payloads_of(done)
    build_key = dict(done.derived)[BUILD[-1]]
    # Retained in every trial, which is idempotent: the index must be in the warehouse this trial belongs to.
    index_id = trial.artifacts.put(
        {"build_key": build_key, "corpus": CORPUS, "chunks": index["chunks"]}, schema=INDEX_SCHEMA
    )
    told: dict[str, Any] = {
        **done.evidence(*_identities()),
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
