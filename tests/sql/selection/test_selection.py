from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

GATE = {"kind": "mean_delta", "metric": "m", "threshold": 0.0}


def selected(write: Write, read: Read, scores: Any, **changes: Any) -> Any:
    """Return the selection among candidates with these oriented deltas; None is a value that is missing."""
    fields = {
        "cases": {"a": {}},
        "metrics": [Metric("m")],
        "gates": [GATE],
        "preference": "m",
        "candidates": list(scores),
        "trials": [
            Trial("base", "a", 0, {"m": 0.0}),
            *(Trial(name, "a", 0, {"m": score}) for name, score in scores.items()),
        ],
    }
    write(Campaign(**(fields | changes)))
    return [tuple(row.values()) for row in read("select selected_id, outcome, score from selection")]


def test_the_greatest_gain_is_selected(write: Write, read: Read) -> None:
    assert selected(write, read, {"c1": 1.0, "c2": 3.0, "c3": 2.0}) == [("c2", "selected", 3.0)]


def test_a_tie_goes_to_the_smaller_id(write: Write, read: Read) -> None:
    assert selected(write, read, {"c2": 1.0, "c1": 1.0}) == [("c1", "selected", 1.0)]


def test_a_gain_must_exceed_what_the_policy_asks(write: Write, read: Read) -> None:
    assert selected(write, read, {"c1": 1.0}, min_gain=1.0) == [("base", "kept_baseline", None)]


def test_a_passing_candidate_without_gain_keeps_the_baseline(write: Write, read: Read) -> None:
    assert selected(write, read, {"c1": 0.0}) == [("base", "kept_baseline", None)]


def test_where_every_candidate_fails_the_baseline_is_kept(write: Write, read: Read) -> None:
    assert selected(write, read, {"c1": -1.0, "c2": -2.0}) == [("base", "kept_baseline", None)]


def test_where_none_passes_and_one_is_open_nothing_is_decided(write: Write, read: Read) -> None:
    assert selected(write, read, {"c1": -1.0, "c2": None}) == [("base", "undecided", None)]


def test_an_open_candidate_does_not_keep_a_passing_one_from_selection(write: Write, read: Read) -> None:
    assert selected(write, read, {"c1": 1.0, "c2": None}) == [("c1", "selected", 1.0)]


def test_a_candidate_with_the_specification_of_the_baseline_earns_nothing(write: Write, read: Read) -> None:
    assert selected(write, read, {"c1": 5.0, "c2": 1.0}, twins=["c1"]) == [("c2", "selected", 1.0)]


def test_an_unknown_score_never_wins(write: Write, read: Read) -> None:
    assert selected(write, read, {"c1": None}, gates=[]) == [("base", "kept_baseline", None)]


def test_nothing_is_selected_while_anything_is_pending(write: Write, read: Read) -> None:
    assert (
        selected(
            write,
            read,
            {"c1": 1.0, "c2": 2.0},
            trials=[Trial("base", "a", 0, {"m": 0.0}), Trial("c1", "a", 0, {"m": 1.0})],
        )
        == []
    )


def test_nothing_is_selected_while_a_candidate_is_not_registered(write: Write, read: Read) -> None:
    assert selected(write, read, {"c1": 1.0, "c2": 2.0}, registered=["c1"]) == []


def test_nothing_is_selected_while_the_projections_are_not_whole(write: Write, read: Read, root: Path) -> None:
    assert selected(write, read, {"c1": 1.0}) == [("c1", "selected", 1.0)]
    for file in root.glob("measurements/campaign=[!n]*/*.parquet"):
        file.unlink()
    assert read("from selection") == []


def test_a_campaign_without_candidates_keeps_the_baseline(write: Write, read: Read) -> None:
    assert selected(write, read, {}) == [("base", "kept_baseline", None)]
