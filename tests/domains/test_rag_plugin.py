"""The toy as a plugin: its plans mean what its runner computes, and say so before they run."""

from __future__ import annotations

import pytest

import opfield as of
from opfield.core import Status
from opfield.interpret import analyze, compile_plan, provenance
from opfield.plugin import Registry, installed_registry
from opfield_rag.plugin import GARDENING
from opfield_rag.spec import SPEC_SCHEMA, Spec
from tests.domains.trials import Trials


@pytest.fixture(scope="module")
def registry() -> Registry:
    return installed_registry()


@pytest.fixture(scope="module")
def trials(toy_trials: Trials) -> Trials:
    return toy_trials


def sealed(registry: Registry, schema: str, value: object) -> of.Envelope:
    return of.seal(schema, registry.schemas[schema].codec.encode(schema, value))


def test_the_plan_of_a_trial_measures_on_every_cell_what_the_runner_measures(
    registry: Registry, trials: Trials
) -> None:
    compiled = compile_plan(registry.plan("ragtoy.trial"), registry)
    corpus = sealed(registry, "ragtoy.corpus/v1", GARDENING)
    specs = {
        "baseline": {}, "overlap-8": {"overlap_words": 8},
        "chunk-14": {"chunk_words": 14}, "chunk-34": {"chunk_words": 34},
        "lexical-1.75": {"lexical_weight": 1.75}, "vector-1.75": {"vector_weight": 1.75},
        "topk-4": {"top_k": 4}, "topk-1": {"top_k": 1},
    }  # fmt: skip
    compared = 0
    for (label, case_id, _), result in trials.results.items():
        spec = sealed(registry, SPEC_SCHEMA, Spec.model_validate(specs[label]))
        (case,) = (each for each in trials.campaign.workload.cases if each.id == case_id)
        done = compiled.run([spec, corpus, of.seal("ragtoy.case/v1", case.input)])
        assert done.status is Status.SUCCESS, done.failure
        assert done.outputs[0].payload == {"metrics": dict(result.metrics)}
        compared += 1
    assert compared == 8 * 9


def test_analyses_are_those_that_were_published(registry: Registry) -> None:
    build = analyze(registry.plan("ragtoy.build"), registry.descriptors)
    assert (build.effects, build.work, build.critical_path) == (("artifact.write", "cpu"), 6, 6)
    assert build.memory_bytes == 1 << 20
    assert build.is_deterministic
    assert build.is_cacheable
    query = analyze(registry.plan("ragtoy.query"), registry.descriptors)
    assert (query.effects, query.work, query.critical_path) == (("artifact.read", "cpu"), 4, 4)


def test_the_measurements_come_from_configuration_corpus_and_case(registry: Registry) -> None:
    (origin,) = provenance(registry.plan("ragtoy.trial"), registry.descriptors)
    assert origin.inputs == (0, 1, 2)
    assert len(origin.operations) == 4
