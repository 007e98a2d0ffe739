"""Who keeps a campaign waiting: candidates that reach a review gate at which approvals are lacking."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write
from tests.sql.reviewing import Said, with_reviews

WHOLE = Campaign(
    cases={"a": {}},
    metrics=[Metric("m")],
    candidates=["better", "worse"],
    gates=[
        {"kind": "mean_delta", "metric": "m", "threshold": 0.0},
        {"kind": "review", "name": "two of us", "options": {"approvals": 2}},
    ],
    trials=[Trial("base", "a", 0, {"m": 1.0}), Trial("better", "a", 0, {"m": 2.0}), Trial("worse", "a", 0, {"m": 0.0})],
)


def awaiting(write: Write, read: Read, campaign: Campaign, *said: Said) -> list[dict[str, Any]]:
    write(with_reviews(campaign, said))
    return read("from awaiting_reviews order by candidate_id")


def test_a_candidate_that_fails_before_keeps_nobody_waiting(write: Write, read: Read) -> None:
    assert awaiting(write, read, WHOLE) == [
        {"candidate_id": "better", "label": "label better", "gate": "two of us", "approvals": 0, "needed": 2}
    ]


def test_it_waits_until_approvals_are_enough(write: Write, read: Read) -> None:
    rows = awaiting(write, read, WHOLE, Said("better", "approve", "ann"))
    assert [(row["approvals"], row["needed"]) for row in rows] == [(1, 2)]


def test_it_waits_no_more_once_they_are(write: Write, read: Read) -> None:
    assert awaiting(write, read, WHOLE, Said("better", "approve", "ann"), Said("better", "approve", "bea")) == []


def test_it_waits_no_more_once_anybody_rejects(write: Write, read: Read) -> None:
    assert awaiting(write, read, WHOLE, Said("better", "reject", "ann")) == []


def test_nobody_is_asked_while_coordinates_are_pending(write: Write, read: Read) -> None:
    assert awaiting(write, read, replace(WHOLE, trials=WHOLE.trials[:2])) == []


def test_options_that_are_not_understood_keep_nobody_waiting(write: Write, read: Read) -> None:
    gates = [{"kind": "review", "options": {"approvals": "many"}}]
    assert awaiting(write, read, replace(WHOLE, gates=gates)) == []
