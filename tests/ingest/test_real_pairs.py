"""Pairs of public result files, judged end to end, against a few lines that read the same files another way."""

from __future__ import annotations

import json
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

import opfield as of
from opfield.ingest.commit import ingest
from opfield.ingest.installed import load_reader
from opfield.ingest.request import Request
from opfield.ingest.sources import Asked
from tests.ingest.reading import SHARED, needs_shared

Values = Mapping[Any, list[float]]


def compared(root: Path, reader: str, paths: list[Path], baseline: str, metric: str, **options: Any) -> dict[str, Any]:
    found = load_reader(reader)
    asked = Asked(found, tuple(paths), {each.name: each.default for each in found.options} | options)
    taken = ingest(Request((asked,), baseline, metrics=(metric,)), root)
    rows = of.open(taken.root).sql(
        "select pairs, missing, baseline_mean, candidate_mean, mean_delta, standard_error from comparisons "
        "inner join campaigns using (campaign_id) where metric = preference"
    )
    (row,) = rows.pl().to_dicts()
    return dict(row)


def expected(before: Values, after: Values) -> dict[str, Any]:
    """Return what a comparison says of two systems, each with the values of its repeats by case."""
    both = sorted(before.keys() & after.keys(), key=str)
    pairs = [(fmean(before[case]), fmean(after[case])) for case in both]
    deltas = [new - old for old, new in pairs]
    spread = stdev(deltas) / len(deltas) ** 0.5 if len(set(deltas)) > 1 else None
    return {
        "pairs": len(both),
        "missing": len(before.keys() | after.keys()) - len(both),
        "baseline_mean": pytest.approx(fmean(old for old, _ in pairs), abs=1e-12),
        "candidate_mean": pytest.approx(fmean(new for _, new in pairs), abs=1e-12),
        "mean_delta": pytest.approx(fmean(deltas), abs=1e-12),
        "standard_error": pytest.approx(spread, abs=1e-12) if spread is not None else 0 if len(deltas) > 1 else None,
    }


@needs_shared
def test_two_models_on_arc_as_inspect_logged_them(tmp_path: Path) -> None:
    folder = SHARED / "inspect/evaleval__every_eval_ever/tests/data/inspect"
    paths = [folder / "data_arc_qwen.json", folder / "data_arc_sonnet.json"]

    def values(path: Path) -> Values:
        samples = json.loads(path.read_text())["samples"]
        return {each["id"]: [float(each["scores"]["choice"]["value"] == "C")] for each in samples}

    found = compared(tmp_path, "inspect", paths, "data_arc_qwen.json", "choice")
    assert found | {"standard_error": None} == expected(*map(values, paths)) | {"standard_error": None}
    assert found["pairs"] == 3


@needs_shared
def test_two_models_on_gpqa_over_four_epochs_as_inspect_logged_them(tmp_path: Path) -> None:
    paths = sorted((SHARED / "inspect/meridianlabs-ai__inspect_flow/tests/test_logs/logs1").iterdir())

    def values(path: Path) -> Values:
        found = defaultdict(list)
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.startswith("samples/"):
                    sample = json.loads(archive.read(name))
                    found[sample["id"]].append(float(sample["scores"]["choice"]["value"] == "C"))
        return found

    before, after = map(values, paths)
    assert {len(epochs) for epochs in (*before.values(), *after.values())} == {4}
    assert compared(tmp_path, "inspect", paths, paths[0].name, "choice") == expected(before, after)


@needs_shared
def test_two_prompts_of_a_scorer_as_promptfoo_ran_them(tmp_path: Path) -> None:
    path = SHARED / "promptfoo/tthatcher95__nicheIQ/promptfoo/results.json"
    told = json.loads(path.read_text())["results"]
    labels = [f"Pain Scorer v{version}" for version in (1, 2)]

    def values(label: str) -> Values:
        columns = [
            ix
            for ix, each in enumerate(told["prompts"])
            if each["label"].startswith(label) and each["provider"] == "gpt-4o"
        ]
        rows = [each for each in told["results"] if each["promptIdx"] in columns]
        return {json.dumps(each["vars"], sort_keys=True): [each["score"]] for each in rows}

    prompts = tuple(each["label"] for each in told["prompts"] if each["label"].startswith("Pain Scorer"))
    providers = ("gpt-4o",)
    baseline = next(label for label in prompts if label.startswith(labels[0]))
    found = compared(
        tmp_path,
        "promptfoo",
        [path],
        f"openai:gpt-4o {baseline}",
        "score",
        prompt=tuple(dict.fromkeys(prompts)),
        provider=providers,
    )
    assert found == expected(*map(values, labels))


@needs_shared
def test_a_tuned_model_against_its_base_as_lm_eval_scored_them(tmp_path: Path) -> None:
    folder = SHARED / "lm_eval/DanielKluev__pyFade/tests/data"
    paths = [folder / f"samples_gsm8k_2025-09-09T13-{time}.jsonl" for time in ("31-53.431753", "42-42.857006")]

    def values(path: Path) -> Values:
        rows = map(json.loads, path.read_text().splitlines())
        return {row["doc_id"]: [row["exact_match"]] for row in rows if row["filter"] == "strict-match"}

    found = compared(tmp_path, "lm_eval", paths, paths[0].name, "exact_match,strict-match")
    assert found == expected(*map(values, paths))
    assert found["pairs"] == 3
