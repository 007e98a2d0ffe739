"""The runner over a collection in BEIR layout: it executes the plan of a trial, and builds no index twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final

import opfield as of
from opfield.interpret import derive, execute_reusing
from opfield.plan import plan_id
from opfield.plugin import Registry
from opfield_rag.case import read_case
from opfield_rag.collection import CASE_SCHEMA, CORPUS_SCHEMA, INDEX_SCHEMA, build, evidence, plugin
from opfield_rag.indexing import Corpus, load_corpus
from opfield_rag.material import holding
from opfield_rag.planned import payloads_of
from opfield_rag.plugin import plugin as toy
from opfield_rag.shelf import Shelf
from opfield_rag.spec import SPEC_SCHEMA

TRIAL_SCHEMA: Final = "rag.trial/v1"
INDEX: Final = "rag.index/v1"


@dataclass(frozen=True, slots=True)
class Build:
    """What a build made, for every trial that derives the same.

    Attributes:
        outputs: outputs by derivation key.
        values: the index, by the digest of the envelope that describes it.
    """

    outputs: dict[str, tuple[of.Envelope, ...]]
    values: dict[str, Any]


_CORPORA: Final[Shelf[Corpus]] = Shelf(2)
_BUILDS: Final[Shelf[Build]] = Shelf(8)


@lru_cache(maxsize=1)
def registry() -> Registry:
    """Return the registry that gives the plan its meaning; the configuration is the toy's."""
    return Registry().register(toy, plugin)


@lru_cache(maxsize=1)
def _identities() -> tuple[str, str]:
    return plan_id(evidence), registry().id


def build_key(inputs: Sequence[of.Envelope]) -> str:
    """Return the derivation key of the index, from configuration, corpus and case, of which it reads two."""
    derivation = derive(evidence, registry().descriptors, inputs)
    return next(
        key for step, key in zip(derivation.graph.steps, derivation.keys, strict=True) if step.operation.id == INDEX
    )


def make_build(inputs: Sequence[of.Envelope], corpus: Corpus) -> Build:
    """Chunk and index a corpus.

    Raises:
        InfrastructureFailure: where the plan does not come to its end.
    """
    made = Build({}, {})
    values: dict[str, Any] = {inputs[1].digest: corpus}
    payloads_of(execute_reusing(build, holding(registry(), values), inputs[:2], made.outputs))
    # The chunks themselves are in the index by now.
    kept = {each.digest for outputs in made.outputs.values() for each in outputs if each.schema == INDEX_SCHEMA}
    made.values.update({digest: values[digest] for digest in kept})
    return made


@dataclass(frozen=True, slots=True)
class PassageRunner:
    """Runs trials over a collection. It travels to workers as a path; each process reads and builds once.

    Attributes:
        folder: folder of the collection.
        corpus: identity of the corpus that the campaign was declared on.
    """

    id: ClassVar[str] = "opfield_rag.passages"
    version: ClassVar[str] = "1"

    folder: str
    corpus: str

    def __call__(self, trial: of.TrialRequest) -> of.TrialResult:
        """Execute the plan over configuration, corpus and case; keep index description and rankings as artifacts."""
        case = read_case(trial, self.corpus)
        corpus, _ = _CORPORA.get(self.corpus, lambda: load_corpus(Path(self.folder), self.corpus))
        inputs = [
            of.seal(SPEC_SCHEMA, trial.spec),
            of.seal(CORPUS_SCHEMA, corpus.description),
            of.seal(CASE_SCHEMA, trial.case),
        ]
        key = build_key(inputs)
        built, is_reused = _BUILDS.get(key, lambda: make_build(inputs, corpus))
        values = {**built.values, inputs[1].digest: corpus}
        done = execute_reusing(evidence, holding(registry(), values), inputs, dict(built.outputs))
        index, retrieval, measured = payloads_of(done)
        told = {
            **done.evidence(*_identities()),
            "build_key": key,
            "index": trial.artifacts.put({"build_key": key, **index}, schema=INDEX_SCHEMA),
            "query": case.query,
            "ranking": retrieval["ranking"],
            "context": retrieval["context"],
            "metrics": measured["metrics"],
        }
        return of.TrialResult(
            metrics=measured["metrics"],
            artifact_id=trial.artifacts.put(told, schema=TRIAL_SCHEMA),
            observations={"build_reused": is_reused},
        )
