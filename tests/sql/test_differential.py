"""Generated campaigns: every view equals an independent implementation, with the same bytes on 1 and 2 threads."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from scipy.stats import t

from tests.sql import oracle
from tests.sql.build import Campaign, Metric, Trial, at, rows, write_campaign, write_empty

METRICS = (
    Metric("gain", 1, 0.0, 1.0, on_domain_failure="worst"),
    Metric("loss", -1, 0.0, 10.0, on_domain_failure="missing"),
    Metric("open", 1, on_domain_failure="-1.5"),
    Metric("slow", -1, 0.0, None, on_domain_failure="worst"),
)
GATES: tuple[dict[str, Any], ...] = (
    {"kind": "coverage", "name": "g0"},
    {"kind": "failures", "name": "g1", "options": {"max": 1}},
    {"kind": "mean_delta", "name": "g2", "metric": "gain", "threshold": 0.0},
    {"kind": "worst_delta", "name": "g3", "metric": "loss", "threshold": -6.0},
    {"kind": "candidate_mean", "name": "g4", "metric": "open", "options": {"at_least": -0.5}},
)
VIEWS = {
    "coverage": ("candidate_id",),
    "failures": ("candidate_id", "status", "failure_code"),
    "pending": ("candidate_id", "arm", "case_id", "repeat"),
    "costs": ("candidate_id",),
    "deltas": ("candidate_id", "metric", "case_id", "repeat"),
    "comparisons": ("candidate_id", "metric"),
    "strata": ("candidate_id", "metric", "group_key", "group_value"),
    "bounds": ("candidate_id", "metric"),
    "gate_results": ("candidate_id", "gate_ix"),
    "decisions": ("candidate_id",),
    "selection": (),
    "pareto": ("candidate_id",),
}

values = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1, allow_subnormal=False))
statuses = st.sampled_from(["success"] * 6 + ["domain_failure", "infrastructure_failure", "cancelled"])


@st.composite
def campaigns(draw: st.DrawFn) -> Campaign:
    """Draw a campaign with failures, missing metrics, ties, strata, pending and unexpected cells."""
    case_ids = [f"w{ix}" for ix in range(draw(st.integers(1, 4)))]
    cases = {
        case: draw(st.dictionaries(st.sampled_from(["lang", "hard"]), st.sampled_from(["x", "y"]), max_size=2))
        for case in case_ids
    }
    candidates = [f"c{ix}" for ix in range(draw(st.integers(1, 3)))]
    repeats = draw(st.integers(1, 3))
    has_all = draw(st.booleans())
    is_clean = draw(st.booleans())
    trials = []
    for who in ("base", *candidates):
        for case in case_ids:
            for repeat in range(repeats):
                if not has_all and draw(st.integers(0, 9)) == 0:
                    continue
                status = "success" if is_clean else draw(statuses)
                measured = {
                    metric.metric: (None if not is_clean and draw(st.integers(0, 9)) == 0 else draw(values))
                    for metric in METRICS
                    if is_clean or draw(st.integers(0, 9))
                }
                cost = draw(st.one_of(st.none(), st.floats(0, 1)))
                code = None if status == "success" else draw(st.sampled_from(["x", "y"]))
                trials.append(Trial(who, case, repeat, measured, status, code, cost, duration_s=draw(values)))
    if draw(st.integers(0, 4)) == 0:
        trials.append(Trial(draw(st.sampled_from(["base", *candidates])), "stray", 0, {"gain": 1.0}))
    gates = draw(st.lists(st.sampled_from(GATES), unique_by=lambda gate: gate["name"], max_size=5))
    return Campaign(
        cases=cases,
        metrics=METRICS,
        trials=draw(st.permutations(trials)),
        candidates=candidates,
        repeats=repeats,
        gates=gates,
        preference=draw(st.sampled_from([None, "gain", "loss"])),
        min_gain=draw(st.sampled_from([0.0, 0.1])),
        twins=draw(st.sampled_from([[], ["c0"]])),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Any:
    return tmp_path / "generated"


@given(drawn=st.lists(campaigns(), min_size=4, max_size=8))
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_view_equals_its_polars_twin(views: duckdb.DuckDBPyConnection, folder: Any, drawn: Any) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    write_empty(folder)
    expected = {}
    for ix, campaign in enumerate(drawn):
        named = replace(campaign, name=f"campaign {ix}")
        expected[write_campaign(views, folder, named, segment_events=20)] = oracle.judge(named)
    at(views, folder)
    for view, keys in VIEWS.items():
        query = f"select * from {view} order by {', '.join(['campaign_id', *keys])}"
        views.execute("set threads = 1")
        alone = rows(views, query)
        views.execute("set threads = 2")
        found = rows(views, query)
        assert [list(map(repr, row.values())) for row in alone] == [list(map(repr, row.values())) for row in found], (
            view
        )
        for campaign_id, judged in expected.items():
            compare(view, [row for row in found if row["campaign_id"] == campaign_id], judged[view], keys)


def compare(view: str, found: list[dict[str, Any]], expected: pl.DataFrame, keys: tuple[str, ...]) -> None:
    """Demand equal rows: counts and texts exactly, floating-point numbers to 1e-12."""
    wanted = expected.sort(keys, nulls_last=True).to_dicts() if keys else expected.to_dicts()
    assert len(found) == len(wanted), view
    for left, right in zip(found, wanted, strict=True):
        for name, value in right.items():
            if isinstance(value, float):
                assert left[name] == pytest.approx(value, rel=1e-12, abs=1e-12), (view, name, left, right)
            else:
                assert left[name] == value, (view, name, left, right)


def test_the_oracle_knows_the_quantile() -> None:
    assert oracle.quantile(4) == pytest.approx(t.ppf(0.975, 4))
