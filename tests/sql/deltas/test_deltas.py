from __future__ import annotations

from math import copysign

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

TINY = Campaign(
    cases={"a": {}, "b": {}},
    metrics=[Metric("gain", 1), Metric("loss", -1)],
    trials=[
        Trial("base", "a", 0, {"gain": 0.5, "loss": 4.0}),
        Trial("base", "b", 0, {"gain": 1.0, "loss": 2.0}),
        Trial("c1", "a", 0, {"gain": 0.75, "loss": 1.0}),
        Trial("c1", "b", 0, {"gain": None, "loss": 2.0}),
    ],
)


def test_deltas_keep_the_whole_grid_and_positive_is_better(write: Write, read: Read) -> None:
    write(TINY)
    found = read("select case_id, metric, baseline_value, candidate_value, delta from deltas order by case_id, metric")
    assert [tuple(row.values()) for row in found] == [
        ("a", "gain", 0.5, 0.75, 0.25),
        ("a", "loss", 4.0, 1.0, 3.0),  # 4 - 1: less is better
        ("b", "gain", 1.0, None, None),
        ("b", "loss", 2.0, 2.0, 0.0),
    ]
    assert copysign(1.0, found[-1]["delta"]) == 1.0


def test_pairs_hold_only_what_both_arms_have(write: Write, read: Read) -> None:
    write(TINY)
    assert [tuple(row.values()) for row in read("select metric, case_id, delta from pairs order by all")] == [
        ("gain", "a", 0.25),
        ("loss", "a", 3.0),
        ("loss", "b", 0.0),
    ]


def test_a_value_off_the_declared_grid_is_no_pair(write: Write, read: Read) -> None:
    write(TINY.with_trials(*(Trial(who, "a", 7, {"gain": 1.0}) for who in ("base", "c1"))))
    assert len(read("from pairs")) == 3


def test_an_undeclared_metric_is_no_pair(write: Write, read: Read) -> None:
    write(TINY.with_trials(*(Trial(who, "b", 0, {"unheard": 1.0}) for who in ("base", "c1"))))
    assert {row["metric"] for row in read("from pairs")} == {"gain", "loss"}
