from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

COVERED = {"kind": "coverage", "name": "covered"}
UNFAILED = {"kind": "failures", "name": "unfailed"}
BETTER = {"kind": "mean_delta", "name": "better", "metric": "m", "threshold": 0.0}
FULL = Campaign(
    cases={"a": {}},
    metrics=[Metric("m")],
    gates=[COVERED, UNFAILED, BETTER],
    preference="m",
    trials=[Trial("base", "a", 0, {"m": 1.0}), Trial("c1", "a", 0, {"m": 3.0})],
)


def decided(read: Read) -> Any:
    return [
        tuple(row.values())
        for row in read("select candidate_id, decision, gate, score, is_final from decisions order by all")
    ]


def test_a_candidate_that_passes_every_gate_passes(write: Write, read: Read) -> None:
    write(FULL)
    assert decided(read) == [("c1", "pass", None, 2.0, True)]
    assert read("select label, message from decisions") == [{"label": "label c1", "message": "every gate passes"}]


def test_the_first_gate_that_does_not_pass_decides(write: Write, read: Read) -> None:
    failing = replace(FULL, trials=(FULL.trials[0], Trial("c1", "a", status="domain_failure")))
    write(failing)
    # better is indeterminate, since the failure is worth nothing; unfailed comes first
    assert decided(read) == [("c1", "fail", "unfailed", None, True)]


def test_a_later_gate_cannot_compensate(write: Write, read: Read) -> None:
    write(replace(FULL, gates=[{**BETTER, "threshold": 9.0}, COVERED]))
    assert decided(read) == [("c1", "fail", "better", 2.0, True)]


def test_nothing_is_decided_while_coordinates_are_pending(write: Write, read: Read) -> None:
    # the pair found is already too bad for any fill, and yet the decision waits
    write(replace(FULL, cases={"a": {}, "b": {}}, gates=[{**BETTER, "threshold": 9.0}], metrics=[Metric("m", 1, 0, 4)]))
    assert decided(read) == [("c1", "indeterminate", "better", 2.0, False)]
    assert read("select message from decisions") == [{"message": "pending coordinates: 2"}]


def test_a_cancelled_campaign_says_so_where_coordinates_stayed_pending(write: Write, read: Read) -> None:
    write(replace(FULL, cases={"a": {}, "b": {}}, ending={"reason": "no budget left"}))
    assert decided(read) == [("c1", "indeterminate", "covered", 2.0, False)]
    message = "cancelled; coordinates that were never run: 2"
    assert read("select message from decisions") == [{"message": message}]


def test_nothing_is_decided_where_the_projections_are_not_whole(write: Write, read: Read, root: Path) -> None:
    write(FULL, segment_events=3)
    sorted(root.glob("cells/campaign=[!n]*/*.parquet"))[-1].unlink()
    assert decided(read) == [("c1", "indeterminate", "covered", None, False)]


def test_a_candidate_that_is_not_registered_is_not_final(write: Write, read: Read) -> None:
    write(replace(FULL, registered=[]))
    assert decided(read) == [("c1", "pass", None, 2.0, False)]


def test_a_policy_without_gates_passes_what_is_complete(write: Write, read: Read) -> None:
    write(replace(FULL, gates=[], preference=None))
    assert decided(read) == [("c1", "pass", None, None, True)]


def test_a_gate_put_before_the_others_never_turns_a_fail_into_a_pass(write: Write, read: Read) -> None:
    write(replace(FULL, gates=[COVERED, {**BETTER, "threshold": 9.0}]))
    write(replace(FULL, gates=[{**BETTER, "threshold": 9.0}], name="without"))
    assert [row[1] for row in decided(read)] == ["fail", "fail"]
