from __future__ import annotations

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

TINY = Campaign(cases={"a": {}, "b": {}}, metrics=[Metric("m")], repeats=2, trials=[Trial("base", "a", 1)])


def test_coordinates_are_candidates_and_baseline_times_cases_times_repeats(write: Write, read: Read) -> None:
    write(TINY)
    grid = read("select candidate_id, arm, case_id, repeat from coordinates order by all")
    assert len(grid) == (1 + 1) * 2 * 2
    assert grid[0] == {"candidate_id": "base", "arm": "baseline", "case_id": "a", "repeat": 0}
    assert grid[-1] == {"candidate_id": "c1", "arm": "candidate", "case_id": "b", "repeat": 1}


def test_pending_is_the_grid_less_accepted_cells_whatever_their_status(write: Write, read: Read) -> None:
    write(TINY.with_trials(Trial("c1", "b", 0, status="infrastructure_failure")))
    todo = {(row["candidate_id"], row["case_id"], row["repeat"]) for row in read("from pending")}
    assert todo == {
        ("base", "a", 0),
        ("base", "b", 0),
        ("base", "b", 1),
        ("c1", "a", 0),
        ("c1", "a", 1),
        ("c1", "b", 1),
    }


def test_a_declared_candidate_is_pending_before_it_is_registered(write: Write, read: Read) -> None:
    write(Campaign(cases={"a": {}}, metrics=[], candidates=["c1", "c2"], registered=["c1"]))
    assert [row["candidate_id"] for row in read("from pending order by candidate_id")] == ["base", "c1", "c2"]
    assert read("select candidate_id, label from declared_candidates where not is_registered") == [
        {"candidate_id": "c2", "label": "c2"}
    ]


def test_an_empty_warehouse_has_nothing_pending(read: Read) -> None:
    assert read("from pending") == []
