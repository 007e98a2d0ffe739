from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

FULL = Campaign(
    cases={"a": {}, "b": {}},
    metrics=[Metric("m")],
    candidates=["c1", "c2"],
    trials=[Trial(who, case, 0, {"m": 1.0}) for who in ("base", "c1", "c2") for case in "ab"],
)


def whole(read: Read) -> Any:
    return {row["candidate_id"]: row["is_comparable"] for row in read("from integrity")}


def test_projections_of_every_segment_are_whole(write: Write, read: Read) -> None:
    write(FULL, segment_events=3)
    assert whole(read) == {"base": True, "c1": True, "c2": True}
    assert read("select cells, announced_measurements, measurements from integrity where candidate_id = 'c1'") == [
        {"cells": 2, "announced_measurements": 2, "measurements": 2}
    ]


@pytest.mark.parametrize("table", ["cells", "cases", "metrics"])
def test_a_table_whose_projection_is_missing_leaves_nobody_whole(
    write: Write, read: Read, root: Path, table: Any
) -> None:
    write(FULL)
    for file in root.glob(f"{table}/campaign=[!n]*/*.parquet"):
        file.unlink()
    assert not any(whole(read).values())


@pytest.mark.parametrize("damage", ["lost", "doubled"])
def test_measurements_that_the_cells_did_not_announce_spoil_those_candidates_only(
    write: Write, read: Read, root: Path, damage: Any
) -> None:
    write(FULL, segment_events=8)  # the last segment holds the last cell, one of c2
    last = sorted(root.glob("measurements/campaign=[!n]*/*.parquet"))[-1]
    if damage == "lost":
        last.unlink()
    else:
        shutil.copy(last, last.with_name("copy.parquet"))
    assert whole(read) == {"base": True, "c1": True, "c2": False}


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("cells", {"base": False, "c1": False, "c2": False}),
        ("measurements", {"base": True, "c1": True, "c2": False}),
    ],
)
def test_a_lost_and_a_doubled_file_do_not_cancel_out(
    write: Write, read: Read, root: Path, table: Any, expected: Any
) -> None:
    write(FULL, segment_events=1)  # the last two files hold one cell each, both of c2
    *_, other, last = sorted(root.glob(f"{table}/campaign=[!n]*/*.parquet"))
    shutil.copy(other, last)
    assert whole(read) == expected
    numbers = read("select mean_delta, missing from comparisons where candidate_id = 'c2'")
    assert numbers == [{"mean_delta": None, "missing": None}]


def test_lost_and_doubled_repeats_of_a_case_do_not_cancel_out(write: Write, read: Read, root: Path) -> None:
    trials = [Trial(who, "a", repeat, {"m": 1.0}) for who in ("base", "c1") for repeat in (0, 1)]
    write(Campaign(cases={"a": {}}, metrics=[Metric("m")], repeats=2, trials=trials), segment_events=1)
    *_, other, last = sorted(root.glob("measurements/campaign=[!n]*/*.parquet"))
    shutil.copy(other, last)
    assert whole(read) == {"base": True, "c1": False}


def test_a_metric_that_stands_twice_leaves_nobody_whole(write: Write, read: Read, root: Path) -> None:
    write(replace(FULL, metrics=[Metric("m"), Metric("n")]))
    (file,) = root.glob("metrics/campaign=[!n]*/*.parquet")
    with duckdb.connect() as con:
        con.execute(f"create table kept as select * replace ('m' as metric) from '{file}'; copy kept to '{file}'")
    assert not any(whole(read).values())


def test_a_baseline_that_is_not_whole_leaves_nobody_comparable(write: Write, read: Read, root: Path) -> None:
    write(
        Campaign(
            cases={"a": {}},
            metrics=[Metric("m")],
            trials=[Trial("c1", "a", 0, {"m": 1.0}), Trial("base", "a", 0, {"m": 1.0})],
        ),
        3,
    )
    sorted(root.glob("measurements/campaign=[!n]*/*.parquet"))[-1].unlink()
    assert read("select candidate_id, is_whole, is_comparable from integrity order by candidate_id") == [
        {"candidate_id": "base", "is_whole": False, "is_comparable": False},
        {"candidate_id": "c1", "is_whole": True, "is_comparable": False},
    ]
