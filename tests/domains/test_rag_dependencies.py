"""Mutations of what depends on what: reuse changes no outcome, and what would make it do so is found (§46.7, §C.7)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import create_model

import opfield as of
from opfield.interpret import derive, execute, execute_reusing
from opfield.plugin import Registry
from opfield.testing import check_operation
from opfield_rag import collection as collections
from opfield_rag import laws, spec
from opfield_rag import plugin as toy
from opfield_rag.beir import Document
from opfield_rag.case import CaseInput
from opfield_rag.indexing import Corpus, prepare_corpus
from opfield_rag.material import holding
from opfield_rag.space import rag_space

WORDS = "lift wing flow heat plate shell flutter speed pressure lift plate drag shock nose cone laminar"
DOCUMENTS = {f"d{n}": " ".join(f"{word}{n % 3}" if n % 2 else word for word in WORDS.split() * 4) for n in range(4)}
CASE = CaseInput(query="laminar flow over a wing", relevant={"d1": 1, "d2": 2}, corpus="x")
CHANGES: dict[str, Any] = {
    "chunk_words": 9, "overlap_words": 8, "lexical_weight": 1.75, "vector_weight": 1.75, "top_k": 4,
}  # fmt: skip
BUILD = {"chunk_words", "overlap_words"}

#: By plugin, a mutation of its source that lets the build read a parameter which is not there.
READING = {
    "ragtoy": ("spec.overlap_words)", "spec.overlap_words + spec.extra)"),
    "rag": (
        "chunk_corpus(corpus, spec)",
        "chunk_corpus(corpus, Chunking(chunk_words=spec.chunk_words, overlap_words=spec.overlap_words + spec.extra))",
    ),
}


@dataclass(frozen=True)
class System:
    """A plugin, registered, with what a trial of it takes."""

    name: str
    registry: Registry
    corpus: Any

    def inputs(self, **changes: Any) -> list[of.Envelope]:
        configuration = of.seal(spec.SPEC_SCHEMA, {**spec.Spec().model_dump(), **changes})
        values = {f"{self.name}.corpus/v1": self.corpus, f"{self.name}.case/v1": CASE}
        codecs = {schema: self.registry.schemas[schema].codec for schema in values}
        return [configuration, *(of.seal(id, codecs[id].encode(id, value)) for id, value in values.items())]

    def forgetting(self, operation: str, reads: Sequence[str]) -> System:
        """Return the system with an operation that declares to read these fields alone."""
        whole = self.registry.operations[operation]
        less = replace(whole, descriptor=replace(whole.descriptor, reads=tuple(reads)))
        return replace(self, registry=replace(self.registry, operations={**self.registry.operations, operation: less}))

    def payloads(self, execution: Any) -> list[Any]:
        assert execution.failure is None, execution.failure
        return [each.payload for each in execution.outputs]

    def clean(self, **changes: Any) -> list[Any]:
        return self.payloads(
            execute(self.registry.plan(f"{self.name}.evidence"), self.registry, self.inputs(**changes))
        )

    def reusing(self, shelf: dict[str, tuple[of.Envelope, ...]], **changes: Any) -> tuple[list[Any], tuple[str, ...]]:
        done = execute_reusing(
            self.registry.plan(f"{self.name}.evidence"), self.registry, self.inputs(**changes), shelf
        )
        return self.payloads(done.execution), done.reused

    def found(self, step: str) -> tuple[str, ...]:
        """Return what the conformance kit finds on an operation of the build or the query, over real values."""
        configuration = self.registry.schemas[spec.SPEC_SCHEMA].codec.decode(spec.SPEC_SCHEMA, self.inputs()[0].payload)
        values = {
            "chunk": lambda: [configuration, self.corpus],
            "retrieve": lambda: [self._value("index", self._value("chunk", configuration, self.corpus)),
                                 configuration, CASE],
        }  # fmt: skip
        return check_operation(self.registry, self.registry.operations[f"{self.name}.{step}/v1"], values[step]())

    def _value(self, step: str, *given: Any) -> Any:
        return self.registry.operations[f"{self.name}.{step}/v1"](*given)


def system(name: str, toy: ModuleType = toy, collections: ModuleType = collections) -> System:
    if name == "ragtoy":
        documents = tuple(toy.Document(id, text) for id, text in DOCUMENTS.items())
        return System(name, Registry().register(toy.plugin), toy.Corpus(documents))
    corpus: Corpus = prepare_corpus(tuple(Document(id, text) for id, text in DOCUMENTS.items()))
    return System(name, holding(Registry().register(toy.plugin, collections.plugin), {}), corpus)


@pytest.fixture(scope="module", params=["ragtoy", "rag"])
def either(request: pytest.FixtureRequest) -> System:
    return system(request.param)


@pytest.mark.parametrize("parameter", CHANGES)
def test_a_changed_parameter_gives_the_same_with_reuse_as_without(either: System, parameter: str) -> None:
    shelf: dict[str, tuple[of.Envelope, ...]] = {}
    before, _ = either.reusing(shelf)
    change = {parameter: CHANGES[parameter]}
    after, reused = either.reusing(shelf, **change)
    assert after == either.clean(**change) != before
    kept = () if parameter in BUILD else (f"{either.name}.chunk/v1", f"{either.name}.index/v1")
    assert reused == kept


@pytest.mark.parametrize(
    ("step", "parameter"), [(("chunk" if each in BUILD else "retrieve"), each) for each in CHANGES]
)
def test_a_forgotten_declaration_makes_reuse_wrong_and_the_kit_finds_it(
    either: System, step: str, parameter: str
) -> None:
    operation, field = f"{either.name}.{step}/v1", f"{spec.SPEC_SCHEMA}#{parameter}"
    declared = either.registry.descriptors[operation].reads
    broken = either.forgetting(operation, [each for each in declared if each != field])
    shelf: dict[str, tuple[of.Envelope, ...]] = {}
    broken.reusing(shelf)
    stale, _ = broken.reusing(shelf, **{parameter: CHANGES[parameter]})
    assert stale != broken.clean(**{parameter: CHANGES[parameter]})
    assert f"operation {operation}: reads {field} without declaring it" in broken.found(step)
    assert either.found(step) == ()


@pytest.mark.parametrize("label", ["index.chunk", "index.lexical", "query.channels", "query.fusion", "eval.retrieval"])
def test_a_forgotten_label_breaks_the_law_of_the_plugin(label: str) -> None:
    less = [
        replace(each.descriptor, dependencies=tuple(set(each.descriptor.dependencies) - {label}))
        for each in collections.plugin.operations
    ]
    trial = collections.trial
    assert [*laws.misdeclared(rag_space().patches(), trial, less, trial.inputs[1:])]


@pytest.fixture
def mutated(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], System]:
    """Both plugins, loaded anew over a configuration with one more parameter, which the build of one of them reads."""

    def load(name: str, part: str) -> System:
        parts: dict[str, Any] = {"Chunking": spec.Chunking, "Querying": spec.Querying}
        parts[part] = create_model(part, __base__=parts[part], extra=(int, 0))
        whole: Any = create_model("Spec", __base__=(parts["Querying"], parts["Chunking"]))
        for module, member, value in [(spec, part, parts[part]), (spec, "Spec", whole), (laws, "Spec", whole)]:
            monkeypatch.setattr(module, member, value)
        made = {}
        for original in (toy, collections):
            plugin = original.plugin.manifest.id
            text = Path(str(original.__file__)).read_text(encoding="utf-8")
            read, reading = READING[plugin] if plugin == name else ("", "")
            assert text.count(read) == 1 or not read
            module = ModuleType(f"mutated_{plugin}")
            monkeypatch.setitem(sys.modules, module.__name__, module)
            exec(compile(text.replace(read, reading) if read else text, module.__name__, "exec"), module.__dict__)
            made[plugin] = module
        return system(name, made["ragtoy"], made["rag"])

    return load


@pytest.mark.parametrize("name", ["ragtoy", "rag"])
def test_a_new_parameter_that_the_build_reads_changes_its_key_with_nobody_declaring_it(
    name: str, mutated: Callable[[str, str], System]
) -> None:
    made = mutated(name, "Chunking")
    plan = made.registry.plan(f"{name}.evidence")
    keys = [derive(plan, made.registry.descriptors, made.inputs(**each)).keys for each in ({}, {"extra": 3})]
    assert not set(keys[0]) & set(keys[1])
    shelf: dict[str, tuple[of.Envelope, ...]] = {}
    before, _ = made.reusing(shelf)
    after, reused = made.reusing(shelf, extra=3)
    assert after == made.clean(extra=3) != before
    assert reused == ()
    assert made.found("chunk") == ()


@pytest.mark.parametrize("name", ["ragtoy", "rag"])
def test_a_new_parameter_of_the_query_that_the_build_reads_is_found(
    name: str, mutated: Callable[[str, str], System]
) -> None:
    found = mutated(name, "Querying").found("chunk")
    assert found == (f"operation {name}.chunk/v1: reads {spec.SPEC_SCHEMA}#extra without declaring it",)


def test_what_stays_in_memory_is_refused_where_nobody_holds_it() -> None:
    rag = system("rag")
    elsewhere = replace(rag, registry=holding(rag.registry, {}))
    done = execute(rag.registry.plan("rag.evidence"), elsewhere.registry, rag.inputs())
    assert done.failure is not None
    assert done.failure.code == "invalid_input"
    assert "payload of rag.corpus/v1 describes what is not in memory here; make it again" in done.failure.message
    assert elsewhere.registry.id == rag.registry.id
