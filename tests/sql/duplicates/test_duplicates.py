from __future__ import annotations

import shutil
from pathlib import Path

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

FULL = Campaign(
    cases={"a": {}}, metrics=[Metric("m")], trials=[Trial("base", "a", 0, {"m": 1.0}), Trial("c1", "a", 0, {"m": 2.0})]
)


def test_a_lawful_campaign_has_none(write: Write, read: Read) -> None:
    write(FULL)
    assert read("from duplicates") == []


def test_a_copied_file_shows_every_row_that_stands_twice(write: Write, read: Read, root: Path) -> None:
    write(FULL, segment_events=3)
    for table in ("cells", "measurements"):
        last = sorted(root.glob(f"{table}/campaign=[!n]*/*.parquet"))[-1]
        shutil.copy(last, last.with_name("copy.parquet"))
    coordinate = {"candidate_id": "c1", "arm": "candidate", "case_id": "a", "repeat": 0}
    assert read("from duplicates order by relation") == [
        {"relation": "cells", **coordinate, "metric": None, "rows": 2},
        {"relation": "measurements", **coordinate, "metric": "m", "rows": 2},
    ]
