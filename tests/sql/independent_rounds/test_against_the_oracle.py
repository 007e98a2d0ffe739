"""Random ragged campaigns whose arms share nothing: the views say what plain Python does."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import duckdb
import pytest

from tests.sql.build import Campaign, Metric, Trial, at, rows, write_campaign, write_empty
from tests.sql.independent_rounds import oracle

METRICS = (
    Metric("gain", 1, 0.0, 1.0),
    Metric("loss", -1, -1.0, 2.0, on_domain_failure="worst"),
)
STATUSES = ("domain_failure", "infrastructure_failure", "cancelled")
CAMPAIGNS = 24


def drawn(chance: Random, name: str) -> Campaign:
    """Return a ragged campaign: some have gaps, failures, missing cells or cells off the grid, some are whole."""
    cases = [f"w{ix}" for ix in range(chance.choice([3, 8, 15]))]
    candidates = [f"c{ix}" for ix in range(chance.choice([1, 2]))]
    repeats = chance.choice([1, 2, 4])
    arms = ("base", *candidates)
    ragged = {case: {who: chance.randint(1, repeats) for who in arms} for case in cases if chance.random() < 0.8}
    declared = Campaign({case: {} for case in cases}, METRICS, candidates=candidates, repeats=repeats, ragged=ragged)
    gap, hole = chance.choice([0.0, 0.0, 0.1]), chance.choice([0.0, 0.0, 0.0, 0.05])
    lift = {who: chance.choice([0.0, 0.0, 0.2, -0.2]) for who in candidates}

    def value(who: str) -> float:
        return min(1.0, max(0.0, chance.gauss(0.4 + lift.get(who, 0.0), 0.1)))

    trials = [
        Trial(
            who,
            case,
            repeat,
            {each.metric: value(who) for each in METRICS if chance.random() >= gap},
            status=chance.choice(STATUSES) if chance.random() < gap / 2 else "success",
        )
        for who in arms
        for case in cases
        for repeat in range(declared.repeats_of(who, case))
        if chance.random() >= hole
    ]
    # off the grid of its own arm, but a repeat that the campaign knows
    short = [(who, case) for who in arms for case in cases if declared.repeats_of(who, case) < repeats]
    if short and chance.random() < 0.2:
        trials.append(Trial(*chance.choice(short), repeats - 1, {"gain": 1.0}))
    return replace(
        declared,
        name=name,
        coupling="none",
        trials=chance.sample(trials, len(trials)),
        gates=[
            {"kind": "coverage", "name": "coverage"},
            {
                "kind": "noninferiority",
                "name": "not worse",
                "metric": "loss",
                "threshold": 0.4130717,
                "options": {"alpha": 0.1007193, "min_cases": 2},
            },
            {
                "kind": "superiority",
                "name": "better",
                "metric": "gain",
                "threshold": 0.0,
                "options": {"alpha": 0.1007193, "min_cases": 2},
            },
        ],
        preference="gain",
    )


@pytest.fixture(scope="module")
def judged(
    views: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Campaign], dict[str, list[dict[str, Any]]]]:
    chance = Random("independent rounds")
    root = write_empty(tmp_path_factory.mktemp("independent"))
    campaigns = {}
    for ix in range(CAMPAIGNS):
        each = drawn(chance, f"campaign {ix}")
        campaigns[write_campaign(views, root, each, segment_events=50)] = each
    at(views, root)
    names = ("comparisons", "coverage", "bounds", "gate_results", "decisions", "violations", "integrity")
    return campaigns, {name: rows(views, f"from {name}") for name in names}


def close(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name, value in wanted.items():
        same = pytest.approx(value, rel=1e-12, abs=1e-12) if isinstance(value, float) else value
        assert found[name] == same, (name, found, wanted)


def test_the_campaigns_are_whole_and_lawful(judged: Any) -> None:
    _, told = judged
    assert told["violations"] == []
    assert all(row["is_whole"] for row in told["integrity"])


def test_comparisons_are_those_of_case_means(judged: Any) -> None:
    campaigns, told = judged
    for row in told["comparisons"]:
        campaign = campaigns[row["campaign_id"]]
        (metric,) = [each for each in METRICS if each.metric == row["metric"]]
        close(row, oracle.compared(oracle.units_of(campaign, metric, row["candidate_id"])))
    assert any(row["missing"] for row in told["comparisons"])


def test_bounds_fill_what_an_arm_declares_and_lacks(judged: Any) -> None:
    campaigns, told = judged
    for row in told["bounds"]:
        campaign = campaigns[row["campaign_id"]]
        (metric,) = [each for each in METRICS if each.metric == row["metric"]]
        close(row, oracle.bounded(oracle.units_of(campaign, metric, row["candidate_id"]), metric))
    assert any(row["missing"] for row in told["bounds"])
    assert any(row["missing"] == 0 for row in told["bounds"])


def test_a_pair_is_complete_where_both_arms_have_all_that_they_declare(judged: Any) -> None:
    campaigns, told = judged
    for row in told["coverage"]:
        close(row, oracle.covered(campaigns[row["campaign_id"]], row["candidate_id"]))
    assert any(row["unexpected_cells"] for row in told["coverage"])
    assert any(row["missing_candidate"] for row in told["coverage"])


def test_gates_decide_over_case_means_and_their_worst_fill(judged: Any) -> None:
    campaigns, told = judged
    for row in told["gate_results"]:
        campaign = campaigns[row["campaign_id"]]
        if row["kind"] == "coverage":
            continue
        (metric,) = [each for each in METRICS if each.metric == row["metric"]]
        line = -0.4130717 if row["kind"] == "noninferiority" else 0.0
        units = oracle.units_of(campaign, metric, row["candidate_id"])
        assert row["status"] == oracle.verdict(units, metric, line, 0.1007193), row
    statuses = {(row["kind"], row["status"]) for row in told["gate_results"]}
    assert statuses >= {("superiority", each) for each in ("pass", "fail", "indeterminate")}
    assert statuses >= {("noninferiority", "pass"), ("noninferiority", "indeterminate")}


def test_decisions_are_those_of_the_first_gate_that_does_not_pass(judged: Any) -> None:
    campaigns, told = judged
    for row in told["decisions"]:
        campaign = campaigns[row["campaign_id"]]
        wanted = oracle.decision(campaign, row["candidate_id"], oracle.covered(campaign, row["candidate_id"]))
        assert row["decision"] == wanted, row
    assert {row["decision"] for row in told["decisions"]} == {"pass", "fail", "indeterminate"}
