"""Derivations and divergences: what evidence tells of plans, read where it tells it, and nothing where it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import opfield as of
from opfield.cli.app import invoke

CASES = {name: {"n": ix} for ix, name in enumerate(["a", "b", "bytes", "text", "other", "none"])}
ODD: dict[str, Any] = {"bytes": b"\xff\xfe", "text": "{not json", "other": {"derivations": "all of it", "plan": 3}}


def told(trial: of.TrialRequest) -> of.TrialResult:
    """Share the build with the baseline unless it is changed; on some cases, keep evidence that tells nothing."""
    case_id = trial.coordinate.case_id
    if case_id == "none":
        return of.TrialResult(metrics={"m": 1.0})
    spec = trial.spec
    steps = [
        {"operation": "build/v1", "key": f"build {spec['build']}"},
        {"operation": "ask/v1", "key": f"ask {spec['build']} {spec['ask']} {case_id}"},
        {"operation": None, "key": "no operation"},
    ]
    evidence = ODD.get(case_id, {"plan": "sha256:p", "derivations": steps})
    return of.TrialResult(metrics={"m": 1.0}, artifact_id=trial.artifacts.put(evidence, media_type="application/json"))


def campaign() -> of.Campaign:
    return of.declare(
        "derived",
        baseline={"build": 1, "ask": 1, "x": 0},
        candidates={
            "ask": {"build": 1, "ask": 2},
            "build": {"build": 2, "ask": 1},
            "same": {"x": 1},
        },
        cases=CASES,
        run=told,
        metrics=[of.Metric("m")],
        policy=of.Policy(gates=(of.coverage(),), prefer="m"),
        repeats=1,
    )


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("derived")
    of.run(campaign(), made, executor="inline")
    return made


def test_steps_are_told_in_order_of_the_evidence_that_tells_them(root: Path) -> None:
    warehouse = of.open(root)
    rows = warehouse.rows("from derivations where arm = 'baseline' order by case_id, step")
    assert [(row["case_id"], row["step"], row["operation"], row["key"]) for row in rows] == [
        ("a", 0, "build/v1", "build 1"),
        ("a", 1, "ask/v1", "ask 1 1 a"),
        ("b", 0, "build/v1", "build 1"),
        ("b", 1, "ask/v1", "ask 1 1 b"),
    ]
    assert {(row["plan_id"], row["registry_id"]) for row in rows} == {("sha256:p", None)}
    compared = warehouse.rows(
        "select label, step, pairs, shared, is_shared from divergences "
        "join candidates using (campaign_id, candidate_id) order by label, step"
    )
    assert [tuple(row.values()) for row in compared] == [
        ("ask", 0, 2, 2, True),
        ("ask", 1, 2, 0, False),
        ("build", 0, 2, 0, False),
        ("build", 1, 2, 0, False),
        ("same", 0, 2, 2, True),
        ("same", 1, 2, 2, True),
    ]


def test_the_command_tells_prefix_and_suffix_and_what_it_cannot_draw(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ["--warehouse", str(root)]
    assert invoke(["plan", "compare", *where]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[1:] == [
        "ask build/v1 ask/v1 2",
        "build none build/v1 > ask/v1 2",
        "same build/v1 > ask/v1 none 2",
    ]
    assert invoke(["plan", "compare", "--diagram", "ask", *where]) == 1
    assert "plan sha256:p is not among the installed ones" in capsys.readouterr().err
    assert invoke(["plan", "compare", "--diagram", "aks", *where]) == 1
    assert "unknown candidate 'aks'; did you mean 'ask'?" in capsys.readouterr().err
    monkeypatch.setattr("opfield.cli.plan.plan_id", lambda _plan: "sha256:p")
    assert invoke(["plan", "compare", "--diagram", "ask", *where]) == 1
    assert "tells derivations that are not the steps of plan sha256:p" in capsys.readouterr().err
