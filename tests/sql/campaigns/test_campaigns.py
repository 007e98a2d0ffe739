from __future__ import annotations

from typing import Any

import duckdb

from tests.sql.build import Campaign, Metric, Trial, chained
from tests.sql.conftest import Read, Write

TINY = Campaign(
    cases={"a": {}, "b": {}},
    metrics=[Metric("recall")],
    trials=[Trial("base", "a", 0, {"recall": 1.0})],
    repeats=3,
    preference="recall",
    min_gain=0.25,
)
COLUMNS = "name, state, repeats, cases, candidates, metrics, preference, min_gain, events, root, selected_id, outcome"


def test_a_running_campaign_shows_what_it_declared(write: Write, read: Read) -> None:
    write(TINY)
    # 1 started + 1 registered + 1 trial
    assert read(f"select {COLUMNS} from campaigns") == [
        {
            "name": "tiny", "state": "running", "repeats": 3, "cases": 2, "candidates": 1, "metrics": 1,
            "preference": "recall", "min_gain": 0.25, "events": 3, "root": None, "selected_id": None, "outcome": None,
        }
    ]  # fmt: skip


def test_a_completed_campaign_shows_its_end_and_its_root(write: Write, read: Read) -> None:
    ended = Campaign(
        cases={"a": {}}, metrics=[], ending={"selected": "base", "outcome": "kept_baseline", "score": None}
    )
    write(ended)
    root = chained(ended.campaign_id, ended.payloads())[-1]["digest"]
    assert read("select state, root, selected_id, outcome from campaigns") == [
        {"state": "completed", "root": root, "selected_id": "base", "outcome": "kept_baseline"}
    ]


def test_a_cancelled_campaign_selected_nothing(write: Write, read: Read) -> None:
    write(Campaign(cases={"a": {}}, metrics=[], records=[("campaign.cancelled", {"reason": "enough"})]))
    assert read("select state, selected_id from campaigns") == [{"state": "cancelled", "selected_id": None}]


def test_policy_gates_keep_their_order_and_options(write: Write, read: Read) -> None:
    gates: list[dict[str, Any]] = [
        {"kind": "coverage"},
        {"kind": "candidate_mean", "metric": "m", "options": {"at_most": 3}},
    ]
    write(Campaign(cases={"a": {}}, metrics=[Metric("m")], gates=gates))
    assert read("from policy_gates order by gate_ix") == [
        {"gate_ix": 0, "kind": "coverage", "name": "coverage", "metric": None, "threshold": None, "options": "{}"},
        {
            "gate_ix": 1, "kind": "candidate_mean", "name": "candidate_mean", "metric": "m", "threshold": None,
            "options": '{"at_most":3}',
        },
    ]  # fmt: skip


def test_the_campaign_variable_restricts_every_table(
    write: Write, read: Read, views: duckdb.DuckDBPyConnection
) -> None:
    first = write(TINY)
    write(Campaign(cases={"a": {}}, metrics=[], name="other"))
    views.execute(f"set variable campaign = '{first.removeprefix('sha256:')}'")
    try:
        assert [row["name"] for row in read("from campaigns")] == ["tiny"]
    finally:
        views.execute("reset variable campaign")
    assert sorted(row["name"] for row in read("from campaigns")) == ["other", "tiny"]
