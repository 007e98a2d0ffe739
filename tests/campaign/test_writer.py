from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from opfield.campaign import attempts, checkpoint, writer
from opfield.campaign.attempts import Attempt, read_attempts, record_attempt
from opfield.campaign.checkpoint import load_state, save_state
from opfield.campaign.reducer import fold
from opfield.campaign.writer import CampaignWriter, open_writer
from opfield.core import Failure
from opfield.errors import HistoryError, LostRaceError, UnknownNameError, WarehouseError
from opfield.experiment import Coordinate
from opfield.warehouse import ledger
from opfield.warehouse.artifacts import retain
from opfield.warehouse.layout import attempts_file, checkpoint_file
from opfield.warehouse.ledger import read_events, segments
from opfield.warehouse.lock import no_lock
from opfield.warehouse.material import artifact_files, find_artifact, find_artifacts
from opfield.warehouse.store import create_store
from tests.campaign.test_reducer import CAMPAIGN, trial, whole
from tests.custody.crash import counting

WORKLOAD = retain({"workload_id": "w", "cases": []}, schema="opfield.workload/v1")
SPEC = retain({"patch": None, "spec": {"payload": {}, "digest": "sha256:base"}}, schema="opfield.candidate/v1")


def told() -> list[tuple[str, dict[str, Any]]]:
    """A whole history whose events name artifacts and carry what projections need."""
    events = []
    for kind, payload in whole():
        if kind == ledger.CAMPAIGN_STARTED:
            payload = {**payload, "baseline_artifact": SPEC.artifact_id, "workload_artifact": WORKLOAD.artifact_id}
        if kind == ledger.CANDIDATE_REGISTERED:
            payload = {**payload, "artifact_id": SPEC.artifact_id}
        if kind == ledger.TRIAL_COMPLETED:
            payload = {**payload, "seed": "00", "attempts": 1}
        events.append((kind, payload))
    return events


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return create_store(tmp_path / "warehouse").root


def write(root: Path, until: int | None = None, start: int = 0) -> None:
    with open_writer(root, CAMPAIGN) as opened:
        for kind, payload in told()[start:until]:
            opened.accept(kind, payload, (WORKLOAD, SPEC))
        opened.flush()


def test_a_segment_closes_at_its_number_of_events(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "SEGMENT_EVENTS", 6)
    write(root)
    assert [pq.ParquetFile(path).metadata.num_rows for path in segments(root, CAMPAIGN)] == [6, 6, 6, 2]
    assert fold(read_events(root, CAMPAIGN)).terminal == "completed"


def test_a_segment_closes_at_its_age(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "SEGMENT_SECONDS", 0.2)
    with open_writer(root, CAMPAIGN) as opened:
        opened.accept(*told()[0], (WORKLOAD, SPEC))
        assert segments(root, CAMPAIGN) == []
        deadline = time.monotonic() + 10
        while not segments(root, CAMPAIGN):
            # Nobody calls the writer meanwhile: whoever accepts may be busy with a long trial.
            time.sleep(0.01)
            assert time.monotonic() < deadline


def test_what_waits_is_not_accepted_until_it_is_flushed(root: Path) -> None:
    with open_writer(root, CAMPAIGN) as opened:
        opened.accept(*told()[0], (WORKLOAD, SPEC))
    assert segments(root, CAMPAIGN) == []
    write(root)
    assert len(list(read_events(root, CAMPAIGN))) == len(told())


def test_an_event_that_breaks_a_law_is_refused_and_the_writer_goes_on(root: Path) -> None:
    write(root, until=4)
    with open_writer(root, CAMPAIGN) as opened:
        with pytest.raises(HistoryError, match="law 'coordinate'"):
            opened.accept(*told()[3])
        opened.accept(*told()[4])
        opened.flush()
    assert [event.sequence for event in read_events(root, CAMPAIGN)] == [1, 2, 3, 4, 5]


def test_the_loser_of_a_race_is_told_and_nothing_of_its_tail_is_published(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, until=3)
    monkeypatch.setattr(writer, "SEGMENT_EVENTS", 2)
    with open_writer(root, CAMPAIGN, no_lock) as slow, open_writer(root, CAMPAIGN, no_lock) as quick:
        assert slow._fence == quick._fence == 2
        quick.accept(*told()[3])
        quick.flush()
        with pytest.raises(LostRaceError, match="another writer recorded event 4"):
            _tell(slow, told()[3:11])
        with pytest.raises(LostRaceError):
            slow.accept(*told()[12])
    with open_writer(root, CAMPAIGN, no_lock) as again:
        assert again.state.sequence == 4
        assert again._fence == 3
    assert [event.sequence for event in read_events(root, CAMPAIGN)] == [1, 2, 3, 4]


def test_a_writer_without_a_lock_never_knows_cells_that_the_tables_lack(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, until=4)
    real = vars(writer)["catch_up"]

    def overtaken(*given: Any) -> Any:
        """Another writer publishes, and has not projected yet, just after this one has caught up."""
        behind = real(*given)
        monkeypatch.setattr(writer, "catch_up", real)
        with open_writer(root, CAMPAIGN, no_lock) as other, monkeypatch.context() as patch:
            patch.setattr(writer, "project", lambda *_: None)
            other.accept(*told()[4])
            other.flush()
        return behind

    monkeypatch.setattr(writer, "catch_up", overtaken)
    with open_writer(root, CAMPAIGN, no_lock) as opened:
        found = sum(pq.ParquetFile(path).metadata.num_rows for path in root.glob("cells/*/*.parquet"))
        assert opened.state.cells <= found == 1


def test_a_failed_publication_poisons_the_writer(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, until=3)
    monkeypatch.setattr(writer, "SEGMENT_EVENTS", 1)
    with open_writer(root, CAMPAIGN) as opened:
        with monkeypatch.context() as patch:
            patch.setattr(ledger, "publish", _refuse)
            with pytest.raises(WarehouseError, match="the disk said no"):
                _tell(opened, told()[3:4])
        for _ in range(2):
            with pytest.raises(WarehouseError, match="the disk said no"):
                opened.accept(*told()[4])
        with pytest.raises(WarehouseError, match="the disk said no"):
            opened.flush()
    assert len(list(read_events(root, CAMPAIGN))) == 3


def _tell(opened: CampaignWriter, events: list[tuple[str, dict[str, Any]]]) -> None:
    for kind, payload in events:
        opened.accept(kind, payload)
    opened.flush()


def _refuse(*_: object) -> None:
    raise WarehouseError("the disk said no")


def test_who_accepts_waits_when_the_disk_is_behind(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "SEGMENT_EVENTS", 1)
    real = ledger.publish

    def slowly(*given: Any) -> Any:
        time.sleep(0.02)
        return real(*given)

    monkeypatch.setattr(ledger, "publish", slowly)
    with open_writer(root, CAMPAIGN) as opened:
        for kind, payload in told():
            opened.accept(kind, payload, (WORKLOAD, SPEC))
            waiting = opened.state.sequence - len(list(read_events(root, CAMPAIGN)))
            assert waiting <= writer.PUBLICATIONS + 1
        opened.flush()
    assert len(list(read_events(root, CAMPAIGN))) == len(told())


def test_a_clock_set_back_leaves_the_history_legal(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock(datetime):
        """Goes backwards, an hour with every look."""

        looks = 0

        @classmethod
        def now(cls, _tz: Any = None) -> Clock:
            cls.looks += 1
            return cls(2026, 1, 1, tzinfo=UTC) - timedelta(hours=cls.looks)

    monkeypatch.setattr(ledger, "datetime", Clock)
    write(root)
    events = list(read_events(root, CAMPAIGN))
    assert all(later.recorded_at < earlier.recorded_at for earlier, later in pairwise(events))
    assert fold(events).terminal == "completed"


def test_an_artifact_is_kept_once_and_found(root: Path) -> None:
    write(root)
    assert len(artifact_files(root, CAMPAIGN)) == 1
    found = find_artifacts(root, CAMPAIGN, {WORKLOAD.artifact_id, SPEC.artifact_id})
    assert found == {WORKLOAD.artifact_id: WORKLOAD.content, SPEC.artifact_id: SPEC.content}
    with pytest.raises(UnknownNameError, match="retained no artifact sha256:00"):
        find_artifact(root, CAMPAIGN, "sha256:00")


# Checkpoints


@pytest.fixture
def kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A history of seventeen events with a checkpoint at the fourteenth."""
    monkeypatch.setattr(checkpoint, "WORTH_IT", 1)
    write(root, until=14)
    monkeypatch.setattr(checkpoint, "WORTH_IT", 10**9)
    write(root, until=17, start=14)
    return root


def loaded(root: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[object, list[int]]:
    """Return the loaded state and the sequences that were folded for it."""
    folded: list[int] = []
    real = vars(checkpoint)["fold"]

    def watched(events: Any, state: Any) -> Any:
        listed = list(events)
        folded.extend(event.sequence for event in listed)
        return real(listed, state)

    monkeypatch.setattr(checkpoint, "fold", watched)
    return load_state(root, CAMPAIGN), folded


def test_a_checkpoint_gives_the_state_that_folding_everything_gives(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, folded = loaded(kept, monkeypatch)
    assert state == fold(read_events(kept, CAMPAIGN))
    assert folded == [15, 16, 17]


@pytest.mark.parametrize("until", [1, 3, 4, 15, 16, 20])
def test_every_state_comes_back_whole(root: Path, monkeypatch: pytest.MonkeyPatch, until: int) -> None:
    monkeypatch.setattr(checkpoint, "WORTH_IT", 1)
    write(root, until=until)
    state, folded = loaded(root, monkeypatch)
    assert state == fold(read_events(root, CAMPAIGN))
    assert folded == []


def test_a_damaged_checkpoint_is_ignored(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = checkpoint_file(kept, CAMPAIGN)
    content = path.read_bytes()
    expected = fold(read_events(kept, CAMPAIGN))
    harmed = [
        content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :] for place in range(0, len(content), 97)
    ]
    for harm in [*harmed, b"", content[:64], content[:65], content[:-1], content + b"x"]:
        path.write_bytes(harm)
        state, folded = loaded(kept, monkeypatch)
        assert state == expected
        assert folded == list(range(1, 18))
        monkeypatch.undo()


def test_a_checkpoint_of_another_history_is_ignored(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = fold(read_events(kept, CAMPAIGN))
    monkeypatch.setattr(checkpoint, "WORTH_IT", 1)
    for change in ({"digest": "sha256:00"}, {"sequence": 999}, {"sequence": 3}):
        other = fold(read_events(kept, CAMPAIGN))
        for name, value in change.items():
            setattr(other, name, value)
        save_state(kept, other)
        state, folded = loaded(kept, monkeypatch)
        assert state == expected
        assert folded == list(range(1, 18))
    foreign = fold(read_events(kept, CAMPAIGN))
    foreign.campaign_id = "sha256:" + "00" * 32
    save_state(kept, foreign)
    checkpoint_file(kept, foreign.campaign_id).replace(checkpoint_file(kept, CAMPAIGN))
    assert loaded(kept, monkeypatch) == (expected, list(range(1, 18)))


def test_a_checkpoint_that_cannot_be_written_is_no_failure(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "WORTH_IT", 1)
    (root / "checkpoints").write_text("in the way")
    write(root)
    assert fold(read_events(root, CAMPAIGN)).terminal == "completed"


def test_a_writer_that_adds_nothing_writes_no_checkpoint(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "WORTH_IT", 1)
    write(root)
    path = checkpoint_file(root, CAMPAIGN)
    path.unlink()
    with open_writer(root, CAMPAIGN), counting() as steps:
        pass
    assert not path.exists()
    assert steps == []


def test_a_long_run_keeps_checkpoints_on_its_way(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (checkpoint, writer):
        monkeypatch.setattr(module, "WORTH_IT", 2)
    monkeypatch.setattr(writer, "SEGMENT_EVENTS", 1)
    saved: list[int] = []
    monkeypatch.setattr(writer, "save_state", lambda _, state: saved.append(state.sequence))
    write(root)
    assert saved == [3, 4, 5, 7, 9, 12, 15, 19, 20]  # each at least a quarter longer than the last, and the end


# Attempts


def attempt(number: int) -> Attempt:
    failure = Failure("timeout", f"no answer, {number} ☃\n", is_retryable=True)
    return Attempt(Coordinate("c1", "candidate", "a\nb", number), number, failure, "2026-01-01T00:00:00Z")


def test_attempts_are_read_as_they_were_recorded(root: Path) -> None:
    assert read_attempts(root, CAMPAIGN) == ([], [])
    for number in range(3):
        record_attempt(root, CAMPAIGN, attempt(number))
    assert read_attempts(root, CAMPAIGN) == ([attempt(number) for number in range(3)], [])


def test_a_torn_line_takes_no_other_with_it(root: Path) -> None:
    record_attempt(root, CAMPAIGN, attempt(0))
    record_attempt(root, CAMPAIGN, attempt(1))
    path = attempts_file(root, CAMPAIGN)
    path.write_bytes(path.read_bytes()[:-20])
    record_attempt(root, CAMPAIGN, attempt(2))
    found, torn = read_attempts(root, CAMPAIGN)
    assert found == [attempt(0), attempt(2)]
    assert len(torn) == 1


def test_an_altered_line_is_told(root: Path) -> None:
    record_attempt(root, CAMPAIGN, attempt(0))
    path = attempts_file(root, CAMPAIGN)
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert read_attempts(root, CAMPAIGN)[0] == []
        assert read_attempts(root, CAMPAIGN)[1] != []


def test_attempts_that_cannot_be_recorded_say_why(root: Path) -> None:
    (root / "attempts").write_text("in the way")
    with pytest.raises(WarehouseError, match=r"cannot write .*attempts"):
        record_attempt(root, CAMPAIGN, attempt(0))
    assert attempts.read_attempts(root, CAMPAIGN) == ([], [])


def test_a_trial_of_a_case_that_no_id_can_spoil(root: Path) -> None:
    write(root, until=3)
    odd = ["1", "", "x" * 10_000, "a/../b", "c:\\d", "e\nf", "g\0h", "☃", "'; drop table cells; --"]
    with open_writer(root, CAMPAIGN) as opened:
        for case in odd:
            opened.accept(ledger.TRIAL_COMPLETED, trial("c1", case, 0, seed="00", attempts=1))
        opened.flush()
    state = load_state(root, CAMPAIGN)
    assert state.accepted["c1"] == {(case, 0) for case in odd}
    files = {path.name for path in root.rglob("*") if path.is_file()}
    assert all(name.isascii() and len(name) < 80 for name in files)
