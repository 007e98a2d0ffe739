from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from opfield.core import digest
from opfield.errors import DamageError, LostRaceError
from opfield.warehouse import ledger
from opfield.warehouse.layout import segment_name, table_folder
from opfield.warehouse.ledger import Event, chained, last_event, publish, read_events, read_history, segments

CAMPAIGN = "sha256:" + "ab" * 32


def events(count: int) -> list[Event]:
    told: list[Event] = []
    for ix in range(count):
        previous = told[-1].digest if told else ""
        payload = f'{{"ix":{ix}}}'.encode()
        told.append(chained(previous, campaign_id=CAMPAIGN, sequence=ix + 1, type="t", fence=1, payload=payload))
    return told


def test_the_digest_is_the_one_that_the_design_states() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 6)
    event = chained("", campaign_id=CAMPAIGN, sequence=1, type="t", fence=3, payload=b"{}", recorded_at=moment)
    stated = digest("opfield/event/v1", "", CAMPAIGN, "1", "t", "1", "2026-01-02T03:04:05.000006Z", "3", "{}")
    assert event.digest == stated


def test_what_was_published_is_read_again(tmp_path: Path) -> None:
    told = events(10)
    publish(tmp_path, told[:4])
    publish(tmp_path, told[4:])
    for after in range(12):
        assert list(read_events(tmp_path, CAMPAIGN, after)) == told[after:]
    assert [path.name for path in segments(tmp_path, CAMPAIGN)] == [segment_name(1), segment_name(5)]
    assert read_history(tmp_path, CAMPAIGN).column("sequence").to_pylist() == list(range(1, 11))
    assert last_event(tmp_path, CAMPAIGN) == told[-1]


def test_only_row_groups_that_can_hold_what_is_asked_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = table_folder(tmp_path, "events", CAMPAIGN)
    folder.mkdir(parents=True)
    pq.write_table(ledger.as_table(events(100)), folder / segment_name(1), row_group_size=10)
    asked: list[bool] = []
    real = ledger._may_hold

    def watched(group: pq.RowGroupMetaData, after: int) -> bool:
        asked.append(real(group, after))
        return asked[-1]

    monkeypatch.setattr(ledger, "_may_hold", watched)
    assert [event.sequence for event in read_events(tmp_path, CAMPAIGN, after=95)] == [96, 97, 98, 99, 100]
    assert asked == [False] * 9 + [True]


def test_a_taken_slot_is_lost_and_leaves_nothing_behind(tmp_path: Path) -> None:
    first, second = events(3), events(2)
    publish(tmp_path, first)
    with pytest.raises(LostRaceError, match="another writer recorded event 1"):
        publish(tmp_path, second)
    assert list(read_events(tmp_path, CAMPAIGN)) == first
    assert len(list(table_folder(tmp_path, "events", CAMPAIGN).iterdir())) == 1


def test_a_campaign_without_events_has_none(tmp_path: Path) -> None:
    assert list(read_events(tmp_path, CAMPAIGN)) == []
    assert last_event(tmp_path, CAMPAIGN) is None
    assert read_history(tmp_path, CAMPAIGN).num_rows == 0


@pytest.mark.parametrize("cut", [0, 3, 100, -1])
def test_a_truncated_segment_is_named_and_the_ones_before_it_stand(tmp_path: Path, cut: int) -> None:
    told = events(9)
    for first in (0, 3, 6):
        publish(tmp_path, told[first : first + 3])
    path = segments(tmp_path, CAMPAIGN)[1]
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DamageError, match=f"{path} is cut short or altered"):
        list(read_events(tmp_path, CAMPAIGN))
    reading = read_events(tmp_path, CAMPAIGN)
    assert [next(reading) for _ in range(3)] == told[:3]


def test_a_parquet_file_of_something_else_is_no_segment(tmp_path: Path) -> None:
    folder = table_folder(tmp_path, "events", CAMPAIGN)
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"sequence": [1]}), folder / segment_name(1))
    with pytest.raises(DamageError, match=r"cannot be read .it lacks the columns campaign_id, digest"):
        list(read_events(tmp_path, CAMPAIGN))


def test_files_of_other_names_are_no_segments(tmp_path: Path) -> None:
    publish(tmp_path, events(1))
    (table_folder(tmp_path, "events", CAMPAIGN) / "000000000001 copy.parquet").write_bytes(b"x")
    (table_folder(tmp_path, "events", CAMPAIGN) / "5.parquet").write_bytes(b"x")
    assert [path.name for path in segments(tmp_path, CAMPAIGN)] == [segment_name(1)]
