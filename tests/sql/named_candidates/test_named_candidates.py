"""What pages call candidates: never two alike."""

from __future__ import annotations

from dataclasses import replace

from tests.sql.build import Campaign, Metric
from tests.sql.conftest import Read, Write

TINY = Campaign(cases={"a": {}}, metrics=[Metric("m")], candidates=["c1", "c2"])


def test_a_candidate_has_its_label_and_its_id_while_it_is_not_registered(write: Write, read: Read) -> None:
    write(replace(TINY, registered=["base", "c1"]))
    rows = read("select candidate_id, arm, label from named_candidates order by candidate_id")
    assert [tuple(row.values()) for row in rows] == [
        ("base", "baseline", "baseline"),
        ("c1", "candidate", "label c1"),
        ("c2", "candidate", "c2…"),
    ]


def test_labels_that_are_alike_as_far_as_they_are_shown_bear_their_ids(write: Write, read: Read) -> None:
    long = "c" * 130
    write(replace(TINY, candidates=[f"{long}1", f"{long}2", "c3"]))
    rows = read("select label from named_candidates where arm = 'candidate' order by candidate_id")
    shown = f"label {'c' * 114}… (137 characters)"
    assert [row["label"] for row in rows] == ["label c3", *[f"{shown} ({'c' * 12})"] * 2]
