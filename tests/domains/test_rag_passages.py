"""Campaigns over a collection: figures against ir-measures and bm25s, custody of the corpus, workers."""

from __future__ import annotations

import concurrent.futures
import logging
import math
import multiprocessing
import pickle
import sys
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import bm25s
import ir_measures
import numpy as np
import pytest

import opfield as of
from opfield.experiment import propose_all
from opfield.interpret import invalidated
from opfield_rag import Spec, rag_campaign
from opfield_rag.beir import read_collection, read_documents
from opfield_rag.collection import evidence
from opfield_rag.indexing import Index, chunk_corpus, index_chunks, load_corpus
from opfield_rag.measures import ndcg, recall, reciprocal_rank, relevant_documents
from opfield_rag.passages import PassageRunner, registry
from opfield_rag.ranking import DEPTH, rank_context, rank_documents, score_chunks
from opfield_rag.words import content_words
from tests.domains.trials import Kept, Trials, run_one, run_trials

LexicalRun = tuple[dict[str, dict[str, float]], dict[str, Any], dict[str, dict[str, int]]]

BM25_ONLY = {
    "chunk_words": 10**6,
    "overlap_words": 0,
    "lexical_weight": 1,
    "vector_weight": 0,
    "top_k": 2,
}


@pytest.fixture(scope="module")
def lexical_run(cranfield: Path) -> LexicalRun:
    """BM25 over whole documents: rankings with scores, our figures, and the judgments."""
    campaign = rag_campaign(data=cranfield)
    only = of.OpticSpace("lexical/v1", "ragtoy.spec/v1", BM25_ONLY, {}, ())
    kept = Kept()
    run: dict[str, dict[str, float]] = {}
    figures: dict[str, Any] = {}
    for case in campaign.workload.cases:
        result = run_one(campaign, only.baseline(), case, kept)
        run[case.id] = {each["document"]: each["combined"] for each in kept.read(result.artifact_id)["ranking"]}
        figures[case.id] = result.metrics
    judgments = {query.id: dict(query.grades) for query in read_collection(cranfield).queries}
    return run, figures, judgments


def test_our_figures_equal_those_of_ir_measures_query_by_query(lexical_run: LexicalRun) -> None:
    run, figures, judgments = lexical_run
    # Our order, as scores, so that a tie cannot be broken otherwise there.
    ranked = {query: {document: -float(rank) for rank, document in enumerate(found)} for query, found in run.items()}
    names = {ir_measures.nDCG @ 10: "ndcg@10", ir_measures.R @ 10: "recall@10", ir_measures.RR: "mrr"}
    compared = 0
    for theirs in ir_measures.iter_calc(list(names), judgments, ranked):
        assert figures[theirs.query_id][names[theirs.measure]] == pytest.approx(theirs.value, abs=1e-9)
        compared += 1
    assert compared == 3 * len(figures)


def test_bm25_only_ndcg_is_that_of_bm25s_scored_by_ir_measures(cranfield: Path, lexical_run: LexicalRun) -> None:
    _, figures, judgments = lexical_run
    documents = read_documents(cranfield)
    library = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    library.index([content_words(document.text) for document in documents], show_progress=False)
    run = {}
    for query in read_collection(cranfield).queries:
        found, scores = library.retrieve([content_words(query.text)], k=100, show_progress=False)
        run[query.id] = {documents[at].id: float(s) for at, s in zip(found[0], scores[0], strict=True) if s > 0}
    theirs = ir_measures.calc_aggregate([ir_measures.nDCG @ 10], judgments, run)[ir_measures.nDCG @ 10]
    ours = math.fsum(figure["ndcg@10"] for figure in figures.values()) / len(figures)
    assert len(figures) == 225
    assert ours == pytest.approx(theirs, abs=0.01)
    assert ours == pytest.approx(0.379, abs=0.001)


@pytest.fixture
def small(collection: Path) -> Trials:
    return run_trials(rag_campaign(data=collection))


def test_all_candidates_run_on_a_small_collection(small: Trials) -> None:
    assert {label for label, _, _ in small.results} == {
        "baseline",
        *(candidate.label for candidate in propose_all(small.campaign.space)),
    }
    assert small.mean("baseline", "ndcg@10") > 0.8


def test_every_cell_is_what_plain_function_calls_make_of_it(small: Trials, collection: Path) -> None:
    """The runner before it executed plans, in a few lines: equal on every cell (§47.7)."""
    corpus = load_corpus(collection, read_collection(collection).corpus)
    space = small.campaign.space
    specs = {each.label: each.spec.payload for each in propose_all(space)} | {"baseline": space.baseline().payload}
    inputs = {case.id: case.input for case in small.campaign.workload.cases}
    indexes: dict[str, Index] = {}
    for (label, case_id, _), result in small.results.items():
        spec, case = Spec.model_validate(specs[label]), inputs[case_id]
        if label not in indexes:
            indexes[label] = index_chunks(chunk_corpus(corpus, spec))
        scores = score_chunks(indexes[label], spec, case["query"])
        ranking, context = rank_documents(indexes[label], scores), rank_context(indexes[label], scores, spec.top_k)
        told = small.evidence(label, case_id)
        assert told["ranking"] == [asdict(each) for each in ranking]
        assert told["context"] == [asdict(each) for each in context]
        retained = small.kept.read(told["index"])
        assert retained == {"build_key": told["build_key"], **indexes[label].description}
        ranked, held = [each.document for each in ranking], {each.document for each in context}
        relevant = relevant_documents(case["relevant"])
        assert result.metrics == told["metrics"]
        assert result.metrics == {
            "recall": recall(held, relevant),
            "mrr": reciprocal_rank(ranked, relevant),
            "hit_rate": int(bool(held & relevant)),
            "scored_chunks": len(indexes[label].sizes),
            "context_words": sum(each.words for each in context),
            "ndcg@10": ndcg(ranked, case["relevant"]),
            "recall@10": recall(ranked[:10], relevant),
        }
    assert len(small.results) == 8 * 3


def test_candidates_share_with_the_baseline_what_they_do_not_invalidate(small: Trials) -> None:
    def keys(label: str) -> list[str]:
        told = small.evidence(label, "q1")
        assert told["build_key"] == told["derivations"][1]["key"]
        return [each["key"] for each in told["derivations"]]

    baseline = keys("baseline")
    for patch in small.campaign.space.patches():
        moved = [ix for ix, (one, other) in enumerate(zip(baseline, keys(patch.id), strict=True)) if one != other]
        assert tuple(moved) == invalidated(evidence, registry().descriptors, patch.targets), patch.id


def test_the_corpus_is_part_of_every_case(collection: Path) -> None:
    before = rag_campaign(data=collection).workload.as_json()
    corpus = collection / "corpus.jsonl"
    corpus.write_text(corpus.read_text().replace("thin wing", "thick wing"))
    assert rag_campaign(data=collection).workload.as_json() != before


def test_a_corpus_that_changed_after_the_declaration_is_refused(collection: Path) -> None:
    kept = Kept()
    corpus = collection / "corpus.jsonl"
    # Documents that no other test has left on the shelf.
    whole = corpus.read_text().replace("cylindrical", "conical")
    corpus.write_text(whole)
    campaign = rag_campaign(data=collection)
    corpus.write_text(whole.replace("flutter", "flapping"))
    case, spec = campaign.workload.cases[0], campaign.space.baseline()
    with pytest.raises(of.InfrastructureFailure, match="corpus_changed"):
        run_one(campaign, spec, case, kept)
    corpus.write_text(whole)
    assert run_one(campaign, spec, case, kept).metrics["ndcg@10"] == 1


def test_what_is_left_out_is_said(collection: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="opfield_rag"):
        rag_campaign(data=collection)
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["small/test"] * 3


def test_query_only_candidates_share_the_index(small: Trials) -> None:
    indexes = {label: small.evidence(label, "q1")["index"] for label, case, _ in small.results if case == "q1"}
    same = {indexes[label] for label in ("baseline", "lexical-1.75", "vector-1.75", "topk-4", "topk-1")}
    assert len(same) == 1
    assert len(set(indexes.values())) == 1 + 3


def test_rankings_are_documents_by_their_best_chunk(small: Trials) -> None:
    for label, case, _ in small.results:
        evidence = small.evidence(label, case)
        documents = [entry["document"] for entry in evidence["ranking"]]
        assert len(documents) == len(set(documents)) <= DEPTH
        assert all(left["combined"] >= right["combined"] > 0 for left, right in pairwise(evidence["ranking"]))
        assert evidence["context"][0] == evidence["ranking"][0]


def test_each_channel_is_divided_by_its_best_score(collection: Path) -> None:
    corpus = load_corpus(collection, read_collection(collection).corpus)
    spec = Spec(lexical_weight=3, vector_weight=0.5)
    scores = score_chunks(index_chunks(chunk_corpus(corpus, spec)), spec, "lift of wings")
    for channel in (scores.lexical, scores.vector):
        assert (channel.min(), channel.max()) == (0, 1)
    assert np.array_equal(scores.combined, 3 * scores.lexical + 0.5 * scores.vector)


def test_a_query_that_matches_nothing_retrieves_nothing(collection: Path) -> None:
    kept = Kept()
    campaign = rag_campaign(data=collection)
    case = campaign.workload.cases[0]
    silent = of.Case("silent", {**case.input, "query": "who is it?"})
    result = run_one(campaign, campaign.space.baseline(), silent, kept)
    assert kept.read(result.artifact_id)["ranking"] == []
    assert result.metrics["mrr"] == result.metrics["recall"] == result.metrics["context_words"] == 0


def test_weights_of_zero_retrieve_nothing_rather_than_anything(collection: Path) -> None:
    kept = Kept()
    campaign = rag_campaign(data=collection)
    spec = of.seal("ragtoy.spec/v1", {**BM25_ONLY, "lexical_weight": 0})
    result = run_one(campaign, spec, campaign.workload.cases[0], kept)
    assert kept.read(result.artifact_id)["ranking"] == []


def test_ties_are_broken_by_id(collection: Path) -> None:
    kept = Kept()
    corpus = collection / "corpus.jsonl"
    lines = corpus.read_text().splitlines()
    corpus.write_text("\n".join([lines[0].replace('"d1"', '"d0"'), *lines]) + "\n")
    campaign = rag_campaign(data=collection)
    result = run_one(campaign, campaign.space.baseline(), campaign.workload.cases[0], kept)
    ranking = kept.read(result.artifact_id)["ranking"]
    assert [entry["document"] for entry in ranking[:2]] == ["d0", "d1"]
    assert ranking[0]["combined"] == ranking[1]["combined"]


def test_vector_products_are_whole_and_exact(collection: Path) -> None:
    corpus = load_corpus(collection, read_collection(collection).corpus)
    assert corpus.term_vectors.dtype == np.int16
    assert np.abs(corpus.term_vectors).max() < 100


def passage_runner(campaign: of.Campaign) -> PassageRunner:
    assert isinstance(campaign.runner, PassageRunner)
    return campaign.runner


def worker_answer(runner: PassageRunner, case: object, spec: object) -> tuple[dict[str, float], str]:
    request = of.TrialRequest(of.Coordinate("c", "candidate", "q1", 0), spec, case, of.Seed(1), "x", "y", Kept())
    result = runner(request)
    assert result.artifact_id is not None
    return {name: float(value or 0) for name, value in result.metrics.items()}, result.artifact_id


def test_the_runner_gives_the_same_bytes_in_a_spawned_worker(collection: Path) -> None:
    campaign = rag_campaign(data=collection)
    case, spec = campaign.workload.cases[0].input, campaign.space.baseline().payload
    runner = passage_runner(campaign)
    assert pickle.loads(pickle.dumps(runner)) == runner
    here = worker_answer(runner, case, spec)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(worker_answer, runner, case, spec).result(timeout=60) == here


def test_threads_give_the_same_bytes(collection: Path) -> None:
    campaign = rag_campaign(data=collection)
    case, spec = campaign.workload.cases[0].input, campaign.space.baseline().payload
    runner = passage_runner(campaign)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: worker_answer(runner, case, spec), range(12)))
    assert all(answer == answers[0] for answer in answers)


def test_the_folder_is_no_part_of_the_identity(collection: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "deeper" / "small"
    elsewhere.parent.mkdir()
    before = rag_campaign(data=collection)
    collection.rename(elsewhere)
    after = rag_campaign(data=elsewhere)
    assert after.workload == before.workload
    assert (after.name, after.metrics, after.policy) == (before.name, before.metrics, before.policy)


def test_a_missing_library_names_the_remedy(collection: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(of.OpfieldError, match=r"pip install 'opfield\[rag\]'"):
        rag_campaign(data=collection)
    assert rag_campaign().workload.name == "gardening"


def test_a_corpus_without_words_is_refused(collection: Path) -> None:
    kept = Kept()
    (collection / "corpus.jsonl").write_text('{"_id": "d1", "text": "the of"}\n')
    campaign = rag_campaign(data=collection)
    with pytest.raises(of.OpfieldError, match="content word"):
        run_one(campaign, campaign.space.baseline(), campaign.workload.cases[0], kept)
