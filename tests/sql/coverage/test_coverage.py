from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

FULL = Campaign(
    cases={"a": {}, "b": {}},
    metrics=[Metric("m")],
    trials=[Trial(who, case, 0, {"m": 1.0}) for who in ("base", "c1") for case in "ab"],
)
COUNTS = (
    "expected_pairs",
    "complete_pairs",
    "missing_baseline",
    "missing_candidate",
    "unexpected_cells",
    "duplicate_cells",
)


def counts(row: Any) -> Any:
    return tuple(row[name] for name in COUNTS)


def test_every_accepted_cell_completes_its_coordinate_whatever_its_status(write: Write, read: Read) -> None:
    write(
        Campaign(
            cases={"a": {}, "b": {}},
            metrics=[Metric("m")],
            trials=[
                Trial("base", "a"),
                Trial("base", "b", status="domain_failure"),
                Trial("c1", "a", status="cancelled"),
                Trial("c1", "b", status="infrastructure_failure"),
            ],
        )
    )
    (row,) = read("from coverage")
    assert counts(row) == (2, 2, 0, 0, 0, 0)
    assert row["is_complete"]


def test_a_pair_is_complete_only_with_both_arms(write: Write, read: Read) -> None:
    write(
        Campaign(
            cases={"a": {}, "b": {}, "c": {}},
            metrics=[],
            trials=[Trial("base", "a"), Trial("c1", "a"), Trial("c1", "b")],
        )
    )
    (row,) = read("from coverage")
    # a: both; b: candidate only; c: neither
    assert counts(row) == (3, 1, 2, 1, 0, 0)
    assert not row["is_complete"]


@pytest.mark.parametrize(
    "stray",
    [
        Trial("c1", "unknown case"),
        Trial("c1", "a", repeat=1),
        Trial("c1", "a", arm="baseline"),
        Trial("base", "unknown case"),
        Trial("base", "a", arm="candidate"),
    ],
)
def test_a_cell_off_the_grid_is_unexpected(write: Write, read: Read, stray: Any) -> None:
    write(FULL.with_trials(stray))
    (row,) = read("from coverage")
    assert counts(row) == (2, 2, 0, 0, 1, 0)
    assert not row["is_complete"]


def test_an_undeclared_candidate_has_a_row_that_says_so(write: Write, read: Read) -> None:
    write(FULL.with_trials(Trial("stranger", "a")))
    declared, stranger = read("from coverage order by candidate_id")
    assert counts(declared) == (2, 2, 0, 0, 0, 0)
    assert stranger["candidate_id"] == "stranger"
    assert counts(stranger) == (0, 0, 0, 0, 1, 0)
    assert not stranger["is_complete"]


def test_a_coordinate_accepted_twice_counts_once_and_shows(write: Write, read: Read) -> None:
    write(FULL.with_trials(Trial("c1", "a"), Trial("base", "b")))
    (row,) = read("from coverage")
    assert counts(row) == (2, 2, 0, 0, 0, 2)
    assert not row["is_complete"]


def test_a_copied_file_is_not_whole(write: Write, read: Read, root: Path) -> None:
    write(FULL)
    (row,) = read("from coverage")
    assert row["is_whole"]
    (file,) = root.glob("cells/campaign=[!n]*/*.parquet")
    shutil.copy(file, file.with_name("copy.parquet"))
    (row,) = read("from coverage")
    assert not row["is_whole"]
    assert not row["is_complete"]
