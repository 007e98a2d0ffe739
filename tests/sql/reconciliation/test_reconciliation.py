from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

FULL = Campaign(
    cases={"a": {}},
    metrics=[Metric("m")],
    preference="m",
    trials=[Trial("base", "a", 0, {"m": 1.0}), Trial("c1", "a", 0, {"m": 3.0})],
    records=[
        (
            "comparison.recorded",
            {"candidate_id": "c1", "coverage": {}, "comparisons": [{"metric": "m", "mean_delta": 2.0}]},
        ),
        ("decision.recorded", {"candidate_id": "c1", "decision": "pass", "gate": None, "score": 2.0, "gates": []}),
    ],
    ending={"selected": "c1", "outcome": "selected", "score": 2.0},
)


def disagreeing(read: Read) -> Any:
    return {row["figure"]: (row["recorded"], row["found"]) for row in read("from reconciliation where not agrees")}


def test_a_completed_campaign_agrees_with_its_ledger_in_every_figure(write: Write, read: Read) -> None:
    write(FULL)
    assert disagreeing(read) == {}
    assert {row["figure"] for row in read("from reconciliation")} == {
        "cells", "measurements", "candidates", "cases", "metrics", "mean_delta(m)", "decision", "selection",
    }  # fmt: skip


def test_a_recorded_verdict_that_the_views_do_not_give_shows(write: Write, read: Read) -> None:
    records: list[tuple[str, dict[str, Any]]] = [
        ("comparison.recorded", {"candidate_id": "c1", "comparisons": [{"metric": "m", "mean_delta": 2.5}]}),
        ("decision.recorded", {"candidate_id": "c1", "decision": "fail"}),
    ]
    write(replace(FULL, records=records, ending={"selected": "base", "outcome": "kept_baseline", "score": None}))
    assert disagreeing(read) == {
        "mean_delta(m)": ("2.5", "2.0"),
        "decision": ("fail", "pass"),
        "selection": ("base", "c1"),
    }


def test_a_lost_projection_shows_as_a_count(write: Write, read: Read, root: Path) -> None:
    write(FULL, segment_events=4)
    sorted(root.glob("measurements/campaign=[!n]*/*.parquet"))[0].unlink()
    assert disagreeing(read)["measurements"] == ("2", "0")
