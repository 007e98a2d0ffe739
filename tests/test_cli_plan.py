"""`opfield plan`: what is registered, how it is wired, and what is refused before anything runs."""

from __future__ import annotations

import json

import pytest

from opfield.cli.app import invoke
from tests.plan.test_plan import PLANS


def test_plans_are_listed_with_their_published_identities(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["plan", "list", "--json"]) == 0
    told = {row["plan"]: row["id"] for row in json.loads(capsys.readouterr().out)}
    assert told["ragtoy.build"] == PLANS[0]["digest"]
    assert told["ragtoy.query"] == PLANS[1]["digest"]


def test_a_plan_is_shown_as_a_term_that_names_the_same_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["plan", "show", "ragtoy.build", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert invoke(["plan", "show", told["term"]]) == 0
    text = capsys.readouterr().out
    assert told["id"] in text
    assert "ragtoy.spec/v1, ragtoy.corpus/v1" in text
    assert invoke(["plan", "diagram", told["term"]]) == 0
    assert capsys.readouterr().out.startswith("flowchart LR\n")


def test_an_analysis_names_effects_and_estimates(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["plan", "analyze", "ragtoy.build", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["effects"], told["work"], told["deterministic"]) == (["artifact.write", "cpu"], 6, True)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["ragtoy.query", "--allow", "cpu", "--allow", "artifact.read", "--deterministic"], 0, "may run: 2 operations"),
        (["ragtoy.build", "--allow", "cpu"], 1, "the plan may do what is not allowed: artifact.write; allowed: cpu"),
        (["ragtoy.buidl"], 1, "did you mean 'ragtoy.build'?"),
        (["lost( -> a)"], 1, "unknown operation 'lost'"),
        (
            ["ragtoy.measure/v1(a -> b)"],
            1,
            "the signature of ragtoy.measure/v1 drifted: planned (a) -> (b), registered",
        ),
        (["f(a -> "], 1, "no plan: at character 7 the text ends where `)` was expected"),
        (["ragtoy.query", "--bears", "x=secret"], 2, "write SCHEMA=CLASS with a schema of ragtoy.index/v1"),
        (["ragtoy.query", "--allow", "telepathy"], 2, "telepathy"),
    ],
)
def test_a_plan_is_checked_before_anything_runs(
    words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["plan", "check", *words]) == code
    told = capsys.readouterr()
    assert message in " ".join((told.out + told.err).split())
