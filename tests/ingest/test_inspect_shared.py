"""Logs that users of Inspect published."""

from __future__ import annotations

import pytest

from opfield.ingest.readers.inspect import reader
from opfield.ingest.records import (
    IngestError,
    Refused,
    Sample,
    Stated,
)
from tests.ingest.reading import SHARED, needs_shared, only, read

LOGS = sorted(path for path in (SHARED / "inspect").rglob("*") if path.is_file())
#: One is cut off; the other is of a version that nobody knows.
REFUSED = ("log_invalid.txt", "log_version_3.txt")


@needs_shared
def test_every_public_log_is_read_or_refused_with_a_remedy() -> None:
    counts: dict[str, int] = {}
    for path in LOGS:
        if path.name in REFUSED:
            with pytest.raises(IngestError, match="; "):
                read(reader, path)
            continue
        records = read(reader, path)
        assert not only(Refused, records), path
        counts[path.name] = len(only(Sample, records))
    assert (sum(counts.values()), len(counts)) == (67, 33)
    assert counts["data_arc_sonnet.json"] == 5


@needs_shared
def test_means_of_whole_public_logs_are_what_they_state() -> None:
    compared = 0
    for path in LOGS:
        if path.name in REFUSED:
            continue
        records = read(reader, path)
        samples = only(Sample, records)
        total = [s.value for s in only(Stated, records) if s.figure == "samples"]
        if total != [len(samples)]:
            continue
        for stated in only(Stated, records):
            if stated.figure == "mean" and stated.metric is not None:
                values = [s.values[stated.metric] for s in samples if stated.metric in s.values]
                assert sum(values) / len(values) == pytest.approx(stated.value), path
                compared += 1
    assert compared == 24
