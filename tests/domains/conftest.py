"""Collections that the tests of the domains read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opfield_rag import rag_campaign
from tests.domains.trials import Trials, run_trials

CRANFIELD = Path(__file__).parents[3] / "shared" / "data" / "beir" / "cranfield"


@pytest.fixture(scope="session")
def cranfield() -> Path:
    if not CRANFIELD.is_dir():
        pytest.skip("the Cranfield collection is not in ../shared/data/beir/cranfield")
    return CRANFIELD


@pytest.fixture(scope="session")
def toy_trials() -> Trials:
    """Every trial of the toy, once."""
    return run_trials(rag_campaign(repeats=1))


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """A small collection with graded, negative, missing and superfluous judgments."""
    folder = tmp_path / "small"
    (folder / "qrels").mkdir(parents=True)
    documents = [
        ("d1", "Wings", "lift of a thin wing in supersonic flow"),
        ("d2", "", "heat transfer to a flat plate in laminar flow"),
        ("d3", "Buckling", "buckling of thin cylindrical shells under pressure"),
        ("d4", "", ""),
        ("d5", "Plates", "flutter of flat plates and wings at supersonic speed"),
    ]
    queries = [
        ("q1", "lift of wings"),
        ("q2", "buckling shells"),
        ("q3", "heat of a plate"),
        ("q4", "nothing judged"),
        ("q5", "judged, never relevant"),
    ]
    judgments = [
        ("q1", "d1", 2),
        ("q1", "d5", 1),
        ("q1", "d2", -1),
        ("q2", "d3", 1),
        ("q2", "d9", 1),
        ("q3", "d2", 1),
        ("q5", "d1", 0),
        ("q9", "d1", 1),
    ]
    write = {
        "corpus.jsonl": [json.dumps({"_id": id, "title": t, "text": x}) for id, t, x in documents],
        "queries.jsonl": [json.dumps({"_id": id, "text": text}) for id, text in queries],
        "qrels/test.tsv": ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in judgments)],
    }
    for name, lines in write.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
