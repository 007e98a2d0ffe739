"""The toy campaign: the published table, build reuse, and evidence that can be read (§36, appendix D)."""

from __future__ import annotations

import pytest

import opfield as of
from opfield.experiment import propose_all
from opfield_rag import Spec, domain, rag_campaign
from opfield_rag.chunking import chunk_spans
from opfield_rag.gardening import DOCUMENTS, MEANINGS, QUESTIONS
from opfield_rag.toy import index_chunk, measure_context, rank_chunks
from tests.domains.trials import Kept, Trials, run_one, run_trials

RECALL = {
    "baseline": 0.916667,
    "chunk-14": 0.916667,
    "chunk-34": 0.944444,
    "lexical-1.75": 0.916667,
    "overlap-8": 0.916667,
    "topk-1": 0.861111,
    "topk-4": 0.916667,
    "vector-1.75": 0.861111,
}
PASSING = ("chunk-14", "chunk-34", "lexical-1.75", "overlap-8", "topk-4")
QUERY_ONLY = ("lexical-1.75", "vector-1.75", "topk-4", "topk-1")


@pytest.fixture(scope="module")
def trials(toy_trials: Trials) -> Trials:
    return toy_trials


@pytest.mark.parametrize(("label", "mean"), RECALL.items())
def test_mean_recall_is_that_of_the_published_table(trials: Trials, label: str, mean: float) -> None:
    assert round(trials.mean(label, "recall"), 6) == mean


def worst_change(trials: Trials, label: str, metric: str) -> float:
    pairs = zip(trials.values(label, metric), trials.values("baseline", metric), strict=True)
    return min(ours - theirs for ours, theirs in pairs)


@pytest.mark.parametrize("label", PASSING)
def test_what_should_pass_clears_every_line_of_the_policy(trials: Trials, label: str) -> None:
    assert worst_change(trials, label, "recall") >= 0
    assert trials.mean(label, "context_words") <= 120
    assert worst_change(trials, label, "hit_rate") >= 0


@pytest.mark.parametrize("label", ["topk-1", "vector-1.75"])
def test_what_should_fail_loses_half_of_one_case(trials: Trials, label: str) -> None:
    assert worst_change(trials, label, "recall") == -0.5


def test_q_prune_is_the_published_coordinate(trials: Trials) -> None:
    assert trials.results["baseline", "q-prune", 0].metrics == {
        "recall": 1,
        "mrr": 1,
        "hit_rate": 1,
        "scored_chunks": 12,
        "context_words": 48,
    }
    assert trials.results["lexical-1.75", "q-prune", 0].metrics == trials.results["baseline", "q-prune", 0].metrics
    ours, theirs = (trials.evidence(label, "q-prune")["ranking"] for label in ("lexical-1.75", "baseline"))
    assert [entry["combined"] for entry in ours] != [entry["combined"] for entry in theirs]


def test_the_published_effects_have_their_declared_causes(trials: Trials) -> None:
    def second(label: str, case: str) -> tuple[str, float, float]:
        entry = trials.evidence(label, case)["ranking"][1]
        return entry["document"], entry["lexical"], entry["vector"]

    # A larger chunk holds both ends of the tomato document, so it matches three query words instead of two.
    assert second("baseline", "q-frost")[0] == "roses"
    assert second("chunk-34", "q-frost")[0] == "tomatoes"
    ranking = trials.evidence("baseline", "q-frost")["ranking"]
    halves = [entry["lexical"] for entry in ranking if entry["document"] == "tomatoes"]
    assert sorted(halves) == [0.2, 0.4]
    assert second("chunk-34", "q-frost")[1] == 0.6
    # More weight on meaning prefers another text about water to the one that names the fruit.
    named, lexical, vector = second("baseline", "q-split")
    other, other_lexical, other_vector = second("vector-1.75", "q-split")
    assert (named, other) == ("tomatoes", "lawn")
    assert lexical > other_lexical
    assert vector < other_vector


def test_query_only_candidates_share_the_index_artifact_of_the_baseline(trials: Trials) -> None:
    indexes = {label: trials.evidence(label, "q-prune")["index"] for label in RECALL}
    assert {indexes[label] for label in QUERY_ONLY} == {indexes["baseline"]}
    assert len({indexes[label] for label in ("baseline", "chunk-14", "chunk-34", "overlap-8")}) == 4


def test_there_are_four_index_artifacts_in_all(trials: Trials) -> None:
    assert len(trials.kept.ids_of("ragtoy.index/v1")) == 4


def test_the_build_key_names_what_the_build_reads(trials: Trials) -> None:
    index = trials.kept.read(trials.evidence("chunk-34", "q-mow")["index"])
    corpus = of.seal("ragtoy.corpus/v1", {"documents": [{"id": id, "text": text} for id, text in DOCUMENTS.items()]})
    keys = {label: trials.evidence(label, "q-mow")["derivations"][1]["key"] for label in RECALL}
    assert index["build_key"] == keys["chunk-34"]
    assert {keys[label] for label in QUERY_ONLY} == {keys["baseline"]}
    assert len(set(keys.values())) == 4
    assert index["corpus"] == corpus.digest


def test_every_cell_is_what_plain_function_calls_make_of_it(trials: Trials) -> None:
    """The runner before it executed plans, in a few lines: equal on every cell (§47.7)."""
    candidates = {each.label: each.spec.payload for each in propose_all(trials.campaign.space)}
    for (label, case_id, _), result in trials.results.items():
        spec = Spec.model_validate(candidates.get(label, trials.campaign.space.baseline().payload))
        (case,) = (each for each in trials.campaign.workload.cases if each.id == case_id)
        chunks = [
            index_chunk(document, ordinal, words[start:end])
            for document in sorted(DOCUMENTS)
            for words in [DOCUMENTS[document].split()]
            for ordinal, (start, end) in enumerate(chunk_spans(len(words), spec.chunk_words, spec.overlap_words))
        ]
        ranking = rank_chunks(chunks, spec, case.input["query"])
        context = [(each.chunk.document, each.chunk.words) for each in ranking[: spec.top_k]]
        assert result.metrics == measure_context(context, len(ranking), case.input["relevant"])
        told = [
            (each["document"], each["ordinal"], each["combined"]) for each in trials.evidence(label, case_id)["ranking"]
        ]
        assert told == [(each.chunk.document, each.chunk.ordinal, each.combined) for each in ranking]


def test_the_same_evidence_gives_the_same_bytes(trials: Trials) -> None:
    again = run_trials(rag_campaign(repeats=2))
    assert again.kept.artifacts == trials.kept.artifacts
    for (label, case, _), result in again.results.items():
        assert result.artifact_id == trials.results[label, case, 0].artifact_id
        assert result.observations == {"build_reused": True}


def test_rankings_hold_every_chunk_with_its_component_scores(trials: Trials) -> None:
    evidence = trials.evidence("vector-1.75", "q-slugs")
    assert len(evidence["ranking"]) == 12
    for entry in evidence["ranking"]:
        assert entry["combined"] == entry["lexical"] + 1.75 * entry["vector"]
    combined = [entry["combined"] for entry in evidence["ranking"]]
    assert combined == sorted(combined, reverse=True)


def test_a_case_on_another_corpus_is_an_infrastructure_failure() -> None:
    campaign = rag_campaign()
    case = campaign.workload.cases[0]
    other = of.Case(case.id, {**case.input, "corpus": "sha256:other"})
    with pytest.raises(of.InfrastructureFailure, match="corpus_changed"):
        run_one(campaign, campaign.space.baseline(), other, Kept())


def test_a_query_without_content_words_scores_nothing_and_stays_finite() -> None:
    campaign = rag_campaign()
    case = campaign.workload.cases[0]
    silent = of.Case("silent", {**case.input, "query": "How is it?"})
    kept = Kept()
    result = run_one(campaign, campaign.space.baseline(), silent, kept)
    assert {entry["combined"] for entry in kept.read(result.artifact_id)["ranking"]} == {0}


def test_the_plan_has_239_events() -> None:
    campaign = domain.campaign()
    candidates, cases = len(propose_all(campaign.space)), len(campaign.workload.cases)
    assert (cases, campaign.repeats) == (9, 3)
    assert 1 + candidates + cases * campaign.repeats * (1 + candidates) + 2 * candidates + 1 == 239


def test_the_policy_is_that_of_the_worked_example() -> None:
    policy = rag_campaign().policy
    assert [gate.name for gate in policy.gates] == [
        "coverage",
        "failures",
        "worst_delta(recall)",
        "mean_delta(recall)",
        "candidate_mean(context_words)",
        "worst_delta(hit_rate)",
    ]
    assert policy.prefer == "recall"


def test_questions_name_documents_that_exist() -> None:
    for _, relevant in QUESTIONS.values():
        assert set(relevant) <= set(DOCUMENTS)


def test_no_word_has_two_meanings() -> None:
    words = [word for group in MEANINGS.values() for word in group]
    assert len(words) == len(set(words))


def test_limit_without_a_folder_is_refused() -> None:
    with pytest.raises(of.OpfieldError, match="data"):
        rag_campaign(limit=3)
