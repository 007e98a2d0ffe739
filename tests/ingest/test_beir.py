"""Runs over a BEIR folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from opfield.core import Status
from opfield.ingest.readers.beir import reader
from opfield.ingest.records import Expected, IngestError, Note, Sample
from tests.ingest.rankings import TEXTBOOK, random_results, write_run
from tests.ingest.reading import SHARED, needs_shared, only, read

CRANFIELD = SHARED / "beir" / "cranfield"


def folder_of(path: Path, judged: dict[str, dict[str, int]], split: str = "test") -> Path:
    """Write a BEIR folder with judgments and a text for each query."""
    (path / "qrels").mkdir(parents=True)
    rows = [f"{query}\t{document}\t{grade}" for query, of in judged.items() for document, grade in of.items()]
    (path / "qrels" / f"{split}.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *rows]))
    (path / "queries.jsonl").write_text(
        "".join(json.dumps({"_id": query, "text": f"about {query}"}) + "\n" for query in judged)
    )
    return path


def test_values_of_a_json_run_are_those_of_the_textbook(tmp_path: Path) -> None:
    judged, returned = random_results(11)
    data = folder_of(tmp_path / "data", judged)
    run = tmp_path / "dense.json"
    run.write_text(json.dumps(returned))
    records = read(reader, run, metrics=tuple(TEXTBOOK), data=data)
    samples = {str(one.case.key): one for one in only(Sample, records)}
    assert samples.keys() == judged.keys()
    for query, sample in samples.items():
        assert sample.input == f"about {query}"
        if query not in returned:
            assert sample.status is Status.DOMAIN_FAILURE
            continue
        assert sample.place == f"dense.json: [{query!r}][{next(iter(returned[query]))!r}]"
        for name, formula in TEXTBOOK.items():
            assert sample.values[name] == pytest.approx(formula(judged[query], returned[query]), abs=1e-12)
    assert only(Expected, records)[0].place == "qrels/test.tsv: line 2"


def test_ids_of_a_table_may_hold_blanks(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "data", {"a query": {"a document": 1}})
    run = tmp_path / "a.json"
    run.write_text('{"a query": {"a document": 1}}')
    (sample,) = only(Sample, read(reader, run, data=data))
    assert (sample.case.key, sample.values) == ("a query", {"nDCG@10": 1.0})


def test_a_table_without_its_header_loses_no_judgment(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "data", {"1": {"a": 1}})
    (data / "qrels" / "test.tsv").write_text("1\ta\t1\n2\ta\t1\n")
    run = write_run(tmp_path / "a.run", {"1": {"a": 1.0}, "2": {"a": 1.0}})
    records = read(reader, run, data=data)
    assert len(only(Sample, records)) == 2
    assert only(Note, records)[0].text == "the table has no header; its first line was read as a judgment"


def test_a_split_is_chosen_and_an_unknown_one_names_the_known(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "data", {"1": {"a": 1}}, "dev")
    run = write_run(tmp_path / "a.run", {"1": {"a": 1.0}})
    assert len(only(Sample, read(reader, run, data=data, split="dev"))) == 1
    with pytest.raises(IngestError, match="data has no split 'test'; --split takes dev"):
        read(reader, run, data=data)
    with pytest.raises(IngestError, match=r"split '\.\./dev' is no name"):
        read(reader, run, data=data, split="../dev")


def test_a_folder_that_is_none_of_beir_is_named(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a.run", {"1": {"a": 1.0}})
    with pytest.raises(IngestError, match="with --data"):
        read(reader, run)
    with pytest.raises(IngestError, match="has no folder qrels"):
        read(reader, run, data=tmp_path)


def test_a_folder_without_queries_gives_cases_without_input(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "data", {"1": {"a": 1}})
    (data / "queries.jsonl").unlink()
    records = read(reader, write_run(tmp_path / "a.run", {"1": {"a": 1.0}}), data=data)
    assert only(Sample, records)[0].input is None
    assert only(Note, records)[0].place == "data"


def bm25_run(path: Path, *, is_weak: bool) -> Path:
    """Rank Cranfield by BM25; the weak one sees titles alone and every other query."""
    import bm25s

    corpus = [json.loads(line) for line in (CRANFIELD / "corpus.jsonl").read_text().splitlines()]
    queries = [json.loads(line) for line in (CRANFIELD / "queries.jsonl").read_text().splitlines()]
    queries = queries[::2] if is_weak else queries
    texts = [one["title"] if is_weak else f"{one['title']} {one['text']}" for one in corpus]
    index: Any = bm25s.BM25()
    index.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    tokens = bm25s.tokenize([one["text"] for one in queries], show_progress=False)
    found, scores = index.retrieve(tokens, k=100, show_progress=False)
    return write_run(
        path,
        {
            query["_id"]: {corpus[at]["_id"]: float(score) for at, score in zip(row, of, strict=True)}
            for query, row, of in zip(queries, found, scores, strict=True)
        },
        tag=path.stem,
    )


@needs_shared
def test_a_pair_of_runs_over_cranfield_is_judged_as_ir_measures_does(tmp_path: Path) -> None:
    runs = [bm25_run(tmp_path / "bm25.run", is_weak=False), bm25_run(tmp_path / "titles.run", is_weak=True)]
    records = read(reader, *runs, metrics=("nDCG@10", "R@100"), data=CRANFIELD)
    samples = only(Sample, records)
    judged: dict[str, dict[str, int]] = {}
    for line in (CRANFIELD / "qrels" / "test.tsv").read_text().splitlines()[1:]:
        query, document, grade = line.split("\t")
        judged.setdefault(query, {})[document] = int(grade)
    assert len(samples) == 2 * len(judged) == len(only(Expected, records))
    assert all(one.input for one in samples)
    means = {}
    for run in runs:
        of_run = [one for one in samples if one.system == run.name]
        read_files: Any = ir_measures  # its readers of files are untyped
        peers: Any = ir_measures.calc_aggregate(
            [ir_measures.nDCG @ 10, ir_measures.R @ 100], judged, read_files.read_trec_run(str(run))
        )
        for measure, peer in peers.items():
            mean = sum(one.values.get(str(measure), 0.0) for one in of_run) / len(judged)
            assert mean == pytest.approx(peer, abs=1e-12)
            means[run.name, str(measure)] = mean
    failures = [one.system for one in samples if one.status is Status.DOMAIN_FAILURE]
    assert set(failures) == {"titles.run"}
    assert means["bm25.run", "nDCG@10"] > means["titles.run", "nDCG@10"]
