"""`opfield plan compare` on both campaigns: what each candidate shares with the baseline, and where it leaves it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import opfield as of
from opfield.cli.app import invoke
from opfield_rag import rag_campaign


@pytest.mark.parametrize("name", ["ragtoy", "rag"])
def test_a_comparison_tells_prefix_and_suffix_of_each_candidate_and_draws_them(
    name: str, collection: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = rag_campaign(data=collection) if name == "rag" else rag_campaign(repeats=1)
    # One case tells as much as all.
    campaign = replace(whole, workload=of.Workload("one", whole.workload.cases[:1]))
    of.run(campaign, tmp_path / "warehouse", executor="inline")
    where = ["--warehouse", str(tmp_path / "warehouse")]
    assert invoke(["plan", "compare", "--json", *where]) == 0
    told = {row["candidate"]: (row["shared"], row["diverges"]) for row in json.loads(capsys.readouterr().out)}
    build, query = f"{name}.chunk/v1 > {name}.index/v1", f"{name}.retrieve/v1 > {name}.measure/v1"
    changed = dict.fromkeys(["chunk-14", "chunk-34", "overlap-8"], ("none", f"{build} > {query}"))
    asked = dict.fromkeys(["lexical-1.75", "vector-1.75", "topk-1", "topk-4"], (build, query))
    assert told == changed | asked
    drawn = {}
    for label in ("lexical-1.75", "chunk-34"):
        assert invoke(["plan", "compare", "--diagram", label, *where]) == 0
        text = capsys.readouterr().out
        drawn[label] = [text.count(f"    {arm}{ix}[") for arm in ("both", "base", "cand") for ix in range(4)]
    assert drawn == {
        "lexical-1.75": [1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1],
        "chunk-34": [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1],
    }
