"""TREC runs under judgments: values, denominators, and what a file states of itself."""

from __future__ import annotations

import gzip
import json
import math
import sys
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from opfield.core import MissingReason, Status
from opfield.ingest.readers.retrieval.measures import values
from opfield.ingest.readers.trec import reader
from opfield.ingest.records import Expected, IngestError, MetricStated, Note, Refused, Sample, Stated, System
from tests.ingest.rankings import TEXTBOOK, random_results, write_qrels, write_run
from tests.ingest.reading import SHARED, needs_shared, only, read

FOLDER = SHARED / "trec"


@pytest.mark.parametrize("seed", range(8))
def test_values_are_those_of_ir_measures_and_of_the_textbook(tmp_path: Path, seed: int) -> None:
    judged, returned = random_results(seed)
    run, qrels = write_run(tmp_path / "a.run", returned), write_qrels(tmp_path / "qrels", judged)
    samples = only(Sample, read(reader, run, metrics=tuple(TEXTBOOK), qrels=qrels))

    measures = {name: ir_measures.parse_measure(name) for name in TEXTBOOK}
    direct = ir_measures.calc(list(measures.values()), judged, returned)
    aggregated: Any = direct.aggregated
    peers = {(result.query_id, str(result.measure)): result.value for result in direct.per_query}
    assert {sample.case.key for sample in samples} == set(judged)
    for sample in samples:
        query = str(sample.case.key)
        if query not in returned:
            assert all(peers[query, name] == 0 for name in TEXTBOOK)
            continue
        for name, formula in TEXTBOOK.items():
            assert sample.values[name] == peers[query, name]
            assert sample.values[name] == pytest.approx(formula(judged[query], returned[query]), abs=1e-12)
    for name, measure in measures.items():
        mean = math.fsum(sample.values.get(name, 0.0) for sample in samples) / len(judged)
        assert mean == pytest.approx(aggregated[measure], abs=1e-12)


def test_values_do_not_depend_on_how_queries_are_batched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged, returned = random_results(3, queries=40)
    run, qrels = write_run(tmp_path / "a.run", returned), write_qrels(tmp_path / "qrels", judged)
    whole = read(reader, run, metrics=("nDCG@10", "Accuracy", "Judged@5"), qrels=qrels)
    monkeypatch.setattr("opfield.ingest.readers.retrieval.intake._BATCH", 1)
    assert read(reader, run, metrics=("nDCG@10", "Accuracy", "Judged@5"), qrels=qrels) == whole


def test_a_run_is_scored_in_batches_that_do_not_grow_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from opfield.ingest.readers.retrieval import intake

    sizes: list[int] = []

    def watched(measures: Any, judged: Any, returned: Any) -> Any:
        sizes.append(sum(map(len, returned.values())))
        return values(measures, judged, returned)

    monkeypatch.setattr(intake, "values", watched)
    monkeypatch.setattr(intake, "_BATCH", 100)
    judged = {f"q{number}": {"d1": 1} for number in range(100)}
    returned = {query: {f"d{number}": float(number) for number in range(10)} for query in judged}
    read(reader, write_run(tmp_path / "a.run", returned), qrels=write_qrels(tmp_path / "qrels", judged))
    assert sizes == [100] * 10


def test_a_measure_that_needs_subtopics_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, qrels = write_run(tmp_path / "a.run", {"1": {"d": 1.0}}), write_qrels(tmp_path / "qrels", {"1": {"d": 1}})
    monkeypatch.setattr(ir_measures, "qrel_inputs", lambda _measures: ["query_id", "iteration"])
    with pytest.raises(IngestError, match="is of subtopics"):
        read(reader, run, qrels=qrels)


def test_lines_of_a_query_that_stand_apart_make_one_ranking(tmp_path: Path) -> None:
    judged, returned = random_results(5)
    run, qrels = write_run(tmp_path / "a.run", returned), write_qrels(tmp_path / "qrels", judged)
    lines = run.read_text().splitlines()
    apart = tmp_path / "apart.run"
    apart.write_text("\n".join(sorted(lines, key=lambda line: line.split()[2])))

    def values(path: Path) -> dict[object, object]:
        return {sample.case: sample.values for sample in only(Sample, read(reader, path, qrels=qrels))}

    assert values(apart) == values(run)


def test_the_progress_told_is_the_size_of_the_file_even_where_it_is_read_twice(tmp_path: Path) -> None:
    from opfield.ingest.records import Reading, Source

    run = tmp_path / "a.run"
    run.write_text("".join(f"q{number % 7} Q0 d{number} 1 {number} t\n" for number in range(200)))
    qrels = write_qrels(tmp_path / "qrels", {"q1": {"d1": 1}})
    told: list[int] = []
    list(reader.read(Reading([Source(run, run.name)], {"qrels": qrels}, (), told.append)))
    assert sum(told) == run.stat().st_size + qrels.stat().st_size
    assert min(told) >= 0


def test_a_judged_query_without_results_is_a_failure_worth_what_ir_measures_counts(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a.run", {"1": {"d": 1.0}})
    qrels = write_qrels(tmp_path / "qrels", {"1": {"d": 1}, "2": {"d": 1}})
    records = read(reader, run, metrics=("AP", "NumRet"), qrels=qrels)
    absent = only(Sample, records)[1]
    assert absent.status is Status.DOMAIN_FAILURE
    assert absent.failure is not None
    assert absent.failure.code == "no_results"
    assert absent.values == {}
    peers = ir_measures.iter_calc([ir_measures.AP, ir_measures.NumRet], {"2": {"d": 1}}, {"1": {"d": 1.0}})
    worths = {str(peer.measure): peer.value for peer in peers}
    assert {one.metric.name: one.metric.on_domain_failure for one in only(MetricStated, records)} == worths
    assert "nothing was returned for 1 judged query, such as '2'" in only(Note, records)[-1].text


def test_each_run_owes_every_judged_query_and_no_other(tmp_path: Path) -> None:
    first = write_run(tmp_path / "a.run", {"1": {"d": 1.0}, "x": {"d": 1.0}, "y": {"d": 1.0}})
    second = write_run(tmp_path / "b.run", {"2": {"d": 1.0}})
    qrels = write_qrels(tmp_path / "qrels", {"1": {"d": 1}, "2": {"e": 0}})
    records = read(reader, first, second, qrels=qrels)
    assert [(one.system, one.case.key, one.place) for one in only(Expected, records)] == [
        (run, query, place)
        for run in ("a.run", "b.run")
        for query, place in (("1", "qrels: line 1"), ("2", "qrels: line 2"))
    ]
    assert [(one.system, one.case.key) for one in only(Sample, records)] == [
        (one.system, one.case.key) for one in only(Expected, records)
    ]
    texts = [note.text for note in only(Note, records)]
    assert any("1 query without a relevant document, such as '2'" in text for text in texts)
    assert any("2 queries without judgments, such as 'x', 'y', that no tool scores" in text for text in texts)


def test_a_measure_that_has_no_value_for_a_query_is_not_applicable_there(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a.run", {"1": {"d": 1.0}, "2": {"e": 1.0}})
    qrels = write_qrels(tmp_path / "qrels", {"1": {"d": 1}, "2": {"d": 1}})
    for metrics in (("Accuracy",), ("AP", "Accuracy")):
        found = only(Sample, read(reader, run, metrics=metrics, qrels=qrels))
        assert found[1].missing == {"Accuracy": MissingReason.NOT_APPLICABLE}


@pytest.mark.parametrize(
    ("name", "kind", "lower", "upper", "worth"),
    [
        ("nDCG@10", "continuous", 0, 1, 0.0),
        ("MRR@10", "continuous", 0, 1, 0.0),
        ("P@1", "continuous", 0, 1, 0.0),
        ("Success@5", "binary", 0, 1, 0.0),
        ("NumRelRet", "count", 0, None, 0.0),
        ("NumRel", "count", 0, None, "missing"),
        ("Accuracy", "continuous", 0, 1, "missing"),
    ],
)
def test_a_metric_is_defined_as_its_measure_is(
    tmp_path: Path, name: str, kind: str, lower: float, upper: float | None, worth: object
) -> None:
    run, qrels = write_run(tmp_path / "a.run", {"1": {"d": 1.0}}), write_qrels(tmp_path / "qrels", {"1": {"d": 1}})
    (stated,) = only(MetricStated, read(reader, run, metrics=(name,), qrels=qrels))
    metric = stated.metric
    assert (metric.name, metric.kind, metric.direction) == (name, kind, "maximize")
    assert (metric.lower, metric.upper, metric.on_domain_failure) == (lower, upper, worth)
    assert metric.evaluator == f"ir-measures {ir_measures.__version__}"


def test_ndcg_at_10_is_measured_where_nothing_is_asked(tmp_path: Path) -> None:
    run, qrels = write_run(tmp_path / "a.run", {"1": {"d": 1.0}}), write_qrels(tmp_path / "qrels", {"1": {"d": 1}})
    assert only(Sample, read(reader, run, qrels=qrels))[0].values == {"nDCG@10": 1.0}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("P@0", "cutoff 0"),  # trec_eval ends the process for this one
        ("nDCG@True", "cutoff True"),
        ("AP(rel=0)", "rel 0"),
        ("nDCG(gains={1: 99999999})@3", "gain 99999999"),
        ("P", "needs a cutoff"),
        ("nope@10", "it knows AP"),
        ("alpha_nDCG@10", "pyndeval|subtopics"),
        ("AP;AP", "multiple expressions"),
    ],
)
def test_a_metric_that_cannot_be_computed_is_refused_before_any_run_is_read(
    tmp_path: Path, name: str, told: str
) -> None:
    run, qrels = write_run(tmp_path / "a.run", {"1": {"d": 1.0}}), write_qrels(tmp_path / "qrels", {"1": {"d": 1}})
    with pytest.raises(IngestError, match=told):
        read(reader, run, metrics=(name,), qrels=qrels)


def test_without_ir_measures_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, qrels = write_run(tmp_path / "a.run", {"1": {"d": 1.0}}), write_qrels(tmp_path / "qrels", {"1": {"d": 1}})
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(IngestError, match=r"pip install 'opfield\[trec\]'"):
        read(reader, run, qrels=qrels)


def test_a_run_is_known_by_its_file_and_its_tag_and_says_nothing_of_its_results(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    first = write_run(tmp_path / "bm25.run", {"1": {"d": 1.0}}, "Anserini")
    second = write_run(tmp_path / "key=value.run.txt", {"1": {"d": 0.5}}, "Anserini")
    third = write_run(tmp_path / "sub" / "bm25.run", {"1": {"d": 0.25}}, "Anserini")
    qrels = write_qrels(tmp_path / "qrels", {"1": {"d": 1}})
    systems = only(System, read(reader, first, second, third, qrels=qrels))
    assert [one.label for one in systems] == ["bm25.run", "key=value.run.txt", "bm25.run"]
    assert systems[0].aliases == ("Anserini", "bm25")
    assert systems[0].says == {"tool": "trec_eval run", "tag": "Anserini"}
    assert systems[0].run is None
    assert len({one.key for one in systems}) == 3


@pytest.mark.parametrize("name", ["queries.tsv", "queries.jsonl"])
def test_the_text_of_a_query_is_the_input_of_its_case(tmp_path: Path, name: str) -> None:
    run = write_run(tmp_path / "a.run", {"1": {"d": 1.0}})
    qrels = write_qrels(tmp_path / "qrels", {"1": {"d": 1}, "2": {"d": 1}, "3": {"d": 1}})
    queries = tmp_path / name
    queries.write_text(
        "1\twhat is it\n2\tand why\n"
        if name.endswith("tsv")
        else '{"_id": 1, "text": "what is it"}\n{"_id": "2", "text": "and why"}\n'
    )
    records = read(reader, run, qrels=qrels, queries=queries)
    assert [one.input for one in only(Expected, records)] == ["what is it", "and why", None]
    assert [one.input for one in only(Sample, records)] == ["what is it", "and why", None]


def evaluation(path: Path, *rows: str) -> Path:
    path.write_text("".join(row.replace(" ", "\t") + "\n" for row in rows))
    return path


def test_figures_of_trec_eval_are_stated_for_the_metrics_asked(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / f"{tag}.run", {"1": {"d": 1.0}}, tag) for tag in ("a", "b")]
    qrels = write_qrels(tmp_path / "qrels", {"1": {"d": 1}, "2": {"d": 1}})
    printed = evaluation(
        tmp_path / "out.txt",
        "runid all b",
        "num_q all 1",
        "map all 1.0000",
        "P_10 all 0.1000",
        "recip_rank all 1.0000",
        "map 1 0.7500",
    )
    records = read(reader, *runs, metrics=("AP", "MRR", "R@100"), qrels=qrels, stated=(printed,))
    stated = only(Stated, records)
    assert [(one.system, one.figure, one.metric, one.value, one.place) for one in stated] == [
        ("b.run", "samples", None, 1, "out.txt: line 2"),
        ("b.run", "mean", "AP", 1, "out.txt: line 3"),
        ("b.run", "mean", "MRR", 1, "out.txt: line 5"),
    ]
    assert stated[1].name == "map, over 1 of 2 judged queries (trec_eval without -c leaves out those without results)"
    (differing,) = [note for note in only(Note, records) if note.place == "out.txt: line 6"]
    assert (
        differing.text == "map differs in 1 of 1 queries from AP as computed: query '1' has 0.75 here and 1.0000 there"
    )


def test_figures_of_the_command_of_ir_measures_are_read_too(tmp_path: Path) -> None:
    run, qrels = write_run(tmp_path / "a.run", {"1": {"d": 1.0}}), write_qrels(tmp_path / "qrels", {"1": {"d": 1}})
    printed = evaluation(tmp_path / "a.txt", "1 nDCG@10 1.0000", "nDCG@10 0.9000")
    (stated,) = only(Stated, read(reader, run, qrels=qrels, stated=(printed,)))
    assert (stated.metric, stated.value) == ("nDCG@10", 0.9)
    assert "unless trec_eval had -c" in stated.name


def test_an_evaluation_that_names_no_run_belongs_to_the_run_it_is_named_after(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / f"{name}.run", {"1": {"d": 1.0}}) for name in ("bm25", "bm25-rm3", "dense")]
    qrels = write_qrels(tmp_path / "qrels", {"1": {"d": 1}})
    printed = evaluation(tmp_path / "bm25-rm3.eval", "ndcg_cut_10 all 1.0000")
    assert [one.system for one in only(Stated, read(reader, *runs, qrels=qrels, stated=(printed,)))] == ["bm25-rm3.run"]
    nameless = evaluation(tmp_path / "out.eval", "ndcg_cut_10 all 1.0000")
    (refused,) = only(Refused, read(reader, *runs, qrels=qrels, stated=(nameless,)))
    assert refused.reason == "it does not say which of bm25.run, bm25-rm3.run, dense.run it is of"


def test_an_evaluation_of_a_run_that_is_not_there_is_refused(tmp_path: Path) -> None:
    run, qrels = write_run(tmp_path / "a.run", {"1": {"d": 1.0}}), write_qrels(tmp_path / "qrels", {"1": {"d": 1}})
    printed = evaluation(tmp_path / "out.txt", "runid all other", "map all 0.5")
    (refused,) = only(Refused, read(reader, run, qrels=qrels, stated=(printed,)))
    assert refused.reason == "it is of run 'other', which is not one of a.run"


def test_every_form_of_a_run_and_of_judgments_reads_alike(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    judged, returned = random_results(7)
    entries = [(query, one, score) for query, scores in returned.items() for one, score in scores.items()]
    names = ["q_id", "doc_id", "score"]
    text = write_run(tmp_path / "run.trec", returned)
    (tmp_path / "run.trec.gz").write_bytes(gzip.compress(text.read_bytes()))
    (tmp_path / "run.json").write_text(json.dumps(returned))
    pq.write_table(pa.table(list(zip(*entries, strict=True)), names), tmp_path / "run.parquet")
    qrels = write_qrels(tmp_path / "qrels", judged)
    grades = [(query, one, grade) for query, of in judged.items() for one, grade in of.items()]
    (tmp_path / "qrels.json").write_text(json.dumps(judged))
    (tmp_path / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join(f"{query}\t{one}\t{grade}\n" for query, one, grade in grades)
    )
    pq.write_table(pa.table(list(zip(*grades, strict=True)), names), tmp_path / "qrels.parquet")

    def cells(run: str, judgments: str) -> list[tuple[object, ...]]:
        samples = only(Sample, read(reader, tmp_path / run, qrels=tmp_path / judgments))
        return [(one.case, one.status, one.values) for one in samples]

    reference = cells(text.name, qrels.name)
    for run in ("run.trec.gz", "run.json", "run.parquet"):
        assert cells(run, "qrels") == reference
    for judgments in ("qrels.json", "qrels.tsv", "qrels.parquet"):
        assert cells("run.trec", judgments) == reference


@needs_shared
def test_the_run_that_ranx_wrote_in_five_forms_has_the_same_values_in_each() -> None:
    folder = FOLDER / "AmenRa__ranx/tests/unit/ranx/test_data"
    seen = [
        [(one.case, one.values) for one in only(Sample, read(reader, folder / name, qrels=folder / "qrels.json"))]
        for name in ("run.trec", "run.trec.gz", "run.lz4", "run.json", "run.parquet")
    ]
    assert len(seen[0]) == 2
    assert all(one == seen[0] for one in seen)


@needs_shared
def test_public_runs_have_the_values_that_ir_measures_gives_the_files() -> None:
    for run, qrels in [
        (FOLDER / "AmenRa__ranx/notebooks/data/results.test", FOLDER / "AmenRa__ranx/notebooks/data/qrels.test"),
        (FOLDER / "terrierteam__ir_measures/tests/compat.run", FOLDER / "terrierteam__ir_measures/tests/compat.qrels"),
        (FOLDER / "terrierteam__ir_measures/tests/cwl.run", FOLDER / "terrierteam__ir_measures/tests/cwl.qrels"),
    ]:
        samples = only(Sample, read(reader, run, metrics=("nDCG@10", "AP"), qrels=qrels))
        read_files: Any = ir_measures  # its readers of files are untyped
        peers = ir_measures.iter_calc(
            [ir_measures.nDCG @ 10, ir_measures.AP],
            read_files.read_trec_qrels(str(qrels)),
            read_files.read_trec_run(str(run)),
        )
        found = {(one.case.key, name): value for one in samples for name, value in one.values.items()}
        assert found == {(peer.query_id, str(peer.measure)): peer.value for peer in peers}
