"""Laws of the statistical gates: what may never help a candidate, and what may change nothing."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.sql.build import Metric, Trial, at, rows, write_campaign, write_empty
from tests.sql.inferences.drawing import METRICS, Inferring, drawn
from tests.sql.statistical_gates.oracle import without

VIEWS = {
    "gate_results": "candidate_id, gate_ix",
    "decisions": "candidate_id",
    "comparisons": "candidate_id, metric",
}
SIZE = 6
LOST = ("c0", "w00", 0)
MARGIN_KINDS = ("noninferiority", "binary_noninferiority", "equivalence", "harm")

# Not shrunk: a batch takes seconds, and a failure names its seed.
batch = given(st.integers(0, 2**32))
bounded = settings(
    max_examples=2,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


class Court:
    """Judges batches of campaigns, each batch in a warehouse of its own."""

    def __init__(self, con: duckdb.DuckDBPyConnection, folder: Path) -> None:
        self.con = con
        self.folder = folder
        self.ids: list[str] = []

    def judge(self, campaigns: Sequence[Inferring], view: str = "gate_results") -> list[Any]:
        """Write campaigns and return the rows of a view for each."""
        self.write(campaigns)
        return self.read(view)

    def write(self, campaigns: Sequence[Inferring]) -> None:
        """Write campaigns in place of those that were there."""
        shutil.rmtree(self.folder, ignore_errors=True)
        write_empty(self.folder)
        self.ids = [
            write_campaign(self.con, self.folder, replace(campaign, name=f"campaign {ix}"))
            for ix, campaign in enumerate(campaigns)
        ]

    def read(self, view: str, threads: int = 2) -> list[Any]:
        """Return the rows of a view for each campaign, in order; what a campaign is called is no part of them."""
        at(self.con, self.folder)
        self.con.execute(f"set threads = {threads}")
        told: dict[str, list[dict[str, Any]]] = {each: [] for each in self.ids}
        for row in rows(self.con, f"from {view} order by {VIEWS[view]}"):
            told[row.pop("campaign_id")].append(row)
        self.con.execute("set threads = 2")
        return [told[each] for each in self.ids]


@pytest.fixture
def court(views: duckdb.DuckDBPyConnection, tmp_path: Path) -> Court:
    return Court(views, tmp_path / "warehouse")


def some(seed: int) -> tuple[Random, list[Inferring]]:
    chance = Random(seed)
    return chance, [drawn(chance, "", (2, 8, 20)) for _ in range(SIZE)]


def stricter(gate: Mapping[str, Any], chance: Random) -> dict[str, Any]:
    """Return the gate with a smaller error rate, or a line that is harder to meet."""
    if chance.random() < 0.5 and gate["kind"] != "harm":
        return {**gate, "options": {**gate["options"], "alpha": gate["options"]["alpha"] / 3}}
    if gate["kind"] in MARGIN_KINDS:
        return {**gate, "threshold": gate["threshold"] / 3}
    # A ratio is left alone: by Fieller, a smaller one can be shown where a noisy baseline hides a larger one.
    return {**gate, "threshold": gate["threshold"] + (0 if gate["kind"] == "resource_ratio" else 0.05)}


@bounded
@batch
def test_a_stricter_gate_passes_nothing_more(court: Court, seed: int) -> None:
    chance, campaigns = some(seed)
    harder = [replace(each, gates=[stricter(gate, chance) for gate in each.gates]) for each in campaigns]
    told = court.judge([*campaigns, *harder])
    for campaign, before, after in zip(campaigns, told[:SIZE], told[SIZE:], strict=True):
        for old, new in zip(before, after, strict=True):
            assert new["status"] != "pass" or old["status"] == "pass", (old, new, campaign)


@bounded
@batch
def test_a_gate_before_the_others_passes_no_candidate(court: Court, seed: int) -> None:
    chance, campaigns = some(seed)
    kept = [replace(each, gates=chance.sample(each.gates, 2)) for each in campaigns]
    more = [replace(each, gates=[{**chance.choice(full.gates), "name": "first"}, *each.gates])
            for each, full in zip(kept, campaigns, strict=True)]  # fmt: skip
    told = court.judge([*kept, *more], "decisions")
    for before, after in zip(told[:SIZE], told[SIZE:], strict=True):
        for old, new in zip(before, after, strict=True):
            assert new["decision"] != "pass" or old["decision"] == "pass", (old, new)


@bounded
@batch
def test_what_goes_missing_passes_no_gate(court: Court, seed: int) -> None:
    chance, campaigns = some(seed)
    coverage = {"kind": "coverage", "name": "coverage"}
    campaigns = [replace(each, gates=[coverage, *each.gates]) for each in campaigns]
    fewer = []
    for campaign in campaigns:
        places = [(each.candidate_id, each.case_id, each.repeat) for each in campaign.trials]
        fewer.append(without(campaign, chance.sample(places, min(len(places), chance.choice([1, 2, 5])))))
    for _ in range(4):
        # What speaks against a certain verdict is lost, where that would pay most.
        campaigns.append(outlying(chance))
        fewer.append(without(campaigns[-1], [LOST, ("c1", f"w{chance.randrange(20):02}", 0)]))
    told = court.judge([*campaigns, *fewer])
    for campaign, before, after in zip(campaigns, told[: SIZE + 4], told[SIZE + 4 :], strict=True):
        for old, new in zip(before, after, strict=True):
            assert new["status"] != "pass" or old["status"] == "pass", (old, new, campaign)
            if new["kind"] == "coverage":
                assert new["value"] <= old["value"]


def outlying(chance: Random) -> Inferring:
    """Return a campaign of which one candidate gains much in one case, and another loses a little throughout."""
    cases: dict[str, dict[str, str]] = {f"w{ix:02}": {} for ix in range(20)}
    trials = [Trial("base", case, 0, {"m": 1.0}) for case in cases]
    trials += [Trial("c0", case, 0, {"m": 1.5 + chance.random() / 10 if case != "w00" else 100.0}) for case in cases]
    trials += [Trial("c1", case, 0, {"m": 0.5 + chance.random() / 10}) for case in cases]
    lines = {"superiority": 0.1, "noninferiority": 0.1, "equivalence": 20.0, "harm": 0.1, "family": 0.1}
    gates = [
        {"kind": kind, "name": kind, "metric": "m", "threshold": line, "options": {}} for kind, line in lines.items()
    ]
    return Inferring(
        cases=cases, metrics=[Metric("m", 1, 0.0, 100.0)], trials=trials, candidates=["c0", "c1"], gates=gates
    )


@pytest.mark.parametrize("kind", ["superiority", "noninferiority", "family"])
def test_an_outlier_that_goes_missing_lends_no_certainty(court: Court, kind: str) -> None:
    """Deltas near .5 and one of 99 leave the mean uncertain; without that one, at worst -1, they would look certain."""
    campaign = outlying(Random(kind))
    gates = [gate for gate in campaign.gates if gate["kind"] == kind]
    before, after = court.judge([replace(campaign, gates=gates), without(replace(campaign, gates=gates), [LOST])])
    assert [row["status"] for row in (before[0], after[0])] == ["indeterminate", "indeterminate"]


def test_harm_is_not_hidden_by_what_goes_missing(court: Court) -> None:
    """All lose about .5, which is harm; the spread of a missing one, at worst -1 and at best 99, must not hide it."""
    campaign = outlying(Random("harm"))
    gates = [gate for gate in campaign.gates if gate["kind"] == "harm"]
    campaign = replace(campaign, gates=gates)
    before, after = court.judge([campaign, without(campaign, [("c1", "w00", 0)])])
    assert [row["status"] for row in (before[1], after[1])] == ["fail", "indeterminate"]


@settings(bounded, max_examples=1)
@batch
def test_order_and_threads_change_no_byte(court: Court, seed: int) -> None:
    chance, campaigns = some(seed)
    shuffled = []
    for campaign in campaigns:
        turn = chance.randrange(campaign.repeats)
        cases = chance.sample(list(campaign.cases.items()), len(campaign.cases))
        shuffled.append(
            replace(
                campaign,
                cases=dict(cases),
                candidates=chance.sample(list(campaign.candidates), len(campaign.candidates)),
                trials=[
                    replace(each, repeat=(each.repeat + turn) % campaign.repeats)
                    for each in chance.sample(list(campaign.trials), len(campaign.trials))
                ],
            )
        )
    court.write([*campaigns, *shuffled])
    for view in VIEWS:
        told = [court.read(view, threads) for threads in (1, 2)]
        assert repr(told[0]) == repr(told[1]), view
        assert repr(told[0][:SIZE]) == repr(told[0][SIZE:]), view


@bounded
@batch
def test_a_direction_is_a_matter_of_words(court: Court, seed: int) -> None:
    """Less of the negated value (of a binary one: of failure) is more of the value: every verdict says the same."""
    _, campaigns = some(seed)
    told = court.judge([*campaigns, *map(turned, campaigns)])
    for before, after in zip(told[:SIZE], told[SIZE:], strict=True):
        assert before == after


def turned(campaign: Inferring) -> Inferring:
    binary = {metric.metric for metric in campaign.metrics if metric.kind == "binary"}

    def other(name: str, value: float | None) -> float | None:
        return None if value is None else 1 - value if name in binary else -value

    metrics = [
        replace(
            metric, direction=-metric.direction, lower=other(metric.metric, metric.upper),
            upper=other(metric.metric, metric.lower),
        )
        for metric in campaign.metrics
    ]  # fmt: skip
    trials = [
        replace(each, values={name: other(name, value) for name, value in each.values.items()})
        for each in campaign.trials
    ]
    return replace(campaign, metrics=metrics, trials=trials)


@bounded
@batch
def test_a_metric_that_no_gate_reads_changes_nothing(court: Court, seed: int) -> None:
    chance, campaigns = some(seed)
    more = [
        replace(
            each,
            metrics=[*METRICS, Metric("other", chance.choice([1, -1]))],
            trials=[replace(trial, values={**trial.values, "other": chance.gauss(0, 1e6)}) for trial in each.trials],
        )
        for each in campaigns
    ]
    told = court.judge([*campaigns, *more])
    assert repr(told[:SIZE]) == repr(told[SIZE:])
