from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from opfield.campaign.audit import audit
from opfield.campaign.ending import cancel
from opfield.campaign.engine import run
from opfield.campaign.writer import open_writer
from opfield.errors import DamageError, LostRaceError, WarehouseError
from opfield.warehouse import ledger
from opfield.warehouse.durable import publish_new, write_temporary
from opfield.warehouse.layout import SEAL_PLAN, digests_folder, table_folder
from opfield.warehouse.projection import catch_up
from opfield.warehouse.seal import Step, is_sealed, seal_campaign
from opfield.warehouse.session import connect, read_rows
from tests.custody.campaigns import IS_WHOLE, events_of, finished, history, weighted
from tests.custody.reading import Reader, asked, final_rows
from tests.custody.replay import Told, rows_of


class Stopped(BaseException):
    """The process died."""


def seal(root: Path, campaign_id: str, step: Step = lambda _: None) -> int:
    with open_writer(root, campaign_id), closing(duckdb.connect()) as con:
        return seal_campaign(root, campaign_id, con, step)


@pytest.fixture(scope="module")
def small_files(told: Told, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The campaign in five segments, so that there is something to merge."""
    root = told.empty(tmp_path_factory.mktemp("sealable") / "warehouse")
    told.tell(root, segment_events=4)
    return root


def test_a_seal_changes_files_and_no_row(tmp_path: Path, told: Told, small_files: Path) -> None:
    root = Path(shutil.copytree(small_files, tmp_path / "it's [a] *root?*"))
    before, events = rows_of(small_files, told.campaign_id), history(root, told.campaign_id)
    seen = final_rows(small_files)
    assert seal(root, told.campaign_id) > 10
    assert rows_of(small_files, told.campaign_id) == before
    assert history(root, told.campaign_id) == events
    sealed = Path(shutil.copytree(root, tmp_path / "plain"))
    assert final_rows(sealed) == seen
    assert audit(sealed).findings == ()
    names = {path.name for path in table_folder(root, "measurements", told.campaign_id).iterdir()}
    assert names == {"000000000000.parquet", "sealed-baseline.parquet", "sealed-1.parquet", "sealed-2.parquet"}


def test_comparisons_have_the_same_bytes_before_and_after(tmp_path: Path, told: Told, small_files: Path) -> None:
    root = Path(shutil.copytree(small_files, tmp_path / "warehouse"))

    def written(name: str) -> bytes:
        with closing(connect(root, views=asked("comparisons"))) as con:
            con.execute(f"copy (from comparisons order by all) to '{tmp_path / name}' (format parquet)")
        return (tmp_path / name).read_bytes()

    before = written("before")
    seal(root, told.campaign_id)
    assert written("after") == before


def test_a_slot_that_was_published_stays_taken(tmp_path: Path, told: Told, small_files: Path) -> None:
    root = Path(shutil.copytree(small_files, tmp_path / "warehouse"))
    slots = ledger.segments(root, told.campaign_id)
    seal(root, told.campaign_id)
    assert ledger.segments(root, told.campaign_id) == slots
    assert [pq.ParquetFile(path).metadata.num_rows for path in slots] == [len(told.events), 0, 0, 0, 0]
    for path in slots:
        event = told.events[int(path.stem) - 1]
        with pytest.raises(LostRaceError):
            ledger.publish(root, [event])


def test_sealing_twice_is_sealing_once(tmp_path: Path, told: Told, small_files: Path) -> None:
    root = Path(shutil.copytree(small_files, tmp_path / "warehouse"))
    seal(root, told.campaign_id)
    files = {path: path.read_bytes() for path in root.rglob("*.parquet")}
    assert seal(root, told.campaign_id) == 0
    with closing(duckdb.connect()) as con:
        assert catch_up(con, root, told.campaign_id, lambda _: {}) == []
    assert run(weighted(cases=2), root).appended == 0
    assert {path: path.read_bytes() for path in files} == files
    # A history that was told again has no results until somebody opens the campaign.
    assert {path.relative_to(root).parts[0] for path in {*root.rglob("*.parquet")} - files.keys()} == {"results"}


def test_an_unfinished_campaign_is_not_sealed(tmp_path: Path, told: Told) -> None:
    root = told.empty(tmp_path)
    with pytest.raises(WarehouseError, match="not finished"):
        seal(root, told.campaign_id)
    told.tell(root, until=9)
    with pytest.raises(WarehouseError, match="not finished: only a finished one never changes"):
        seal(root, told.campaign_id)
    told.tell(root)
    assert seal(root, told.campaign_id) > 0


def test_a_cancelled_campaign_is_sealed_like_any_other(tmp_path: Path, told: Told) -> None:
    for until in (4, 9):
        root = told.empty(tmp_path / str(until))
        told.tell(root, until=until)
        cancel(root, told.campaign_id, "enough")
        before = rows_of(root, told.campaign_id)
        assert seal(root, told.campaign_id) > 0
        assert rows_of(root, told.campaign_id) == before
        assert audit(root).findings == ()


def steps_of(root: Path, campaign_id: str, folder: Path) -> list[str]:
    steps: list[str] = []
    seal(Path(shutil.copytree(root, folder)), campaign_id, steps.append)
    return steps


def test_death_before_any_step_is_mended_by_the_next_writer(tmp_path: Path, told: Told, small_files: Path) -> None:
    steps = steps_of(small_files, told.campaign_id, tmp_path / "undisturbed")
    before = rows_of(small_files, told.campaign_id)
    kinds = [step.split()[0] for step in steps]
    assert set(kinds) == {"prepare", "plan", "remove", "rename", "tombstone", "record", "forget", "done"}
    chosen = range(len(steps)) if IS_WHOLE else sorted({kinds.index(kind) + (kinds.count(kind) > 1) for kind in kinds})
    for at in chosen:
        root = Path(shutil.copytree(small_files, tmp_path / str(at)))
        left = iter(range(at))

        def die(step: str, left: object = left) -> None:
            if next(left, None) is None:  # type: ignore[call-overload]
                raise Stopped(step)

        with pytest.raises(Stopped):
            seal(root, told.campaign_id, die)
        is_planned = (digests_folder(root, told.campaign_id) / SEAL_PLAN).exists()
        assert is_planned == (at > 1)
        with open_writer(root, told.campaign_id) as writer:
            assert writer.state.terminal == "completed"
        assert is_sealed(root, told.campaign_id) == is_planned
        assert not list(root.rglob("*.part"))
        assert rows_of(root, told.campaign_id) == before, steps[at]
        assert history(root, told.campaign_id) == history(small_files, told.campaign_id)
        assert audit(root).findings == (), steps[at]


def test_no_step_of_a_seal_shows_a_reader_too_much_or_a_wrong_verdict(
    tmp_path: Path, told: Told, small_files: Path
) -> None:
    root = Path(shutil.copytree(small_files, tmp_path / "warehouse"))
    snapshot, lasting = (Reader(root, final_rows(root), is_fresh=is_fresh, is_over=True) for is_fresh in (True, False))

    steps = [""]

    def look(step: str) -> None:
        steps.append(step)
        # Reduced: the first and the last of the steps of each kind and folder, since those between are alike.
        if IS_WHOLE or step.split("/")[0] != steps[-2].split("/")[0] or not step.endswith("0.parquet"):
            snapshot.look()
        if IS_WHOLE or step in ("prepare", "record"):
            lasting.look()

    seal(root, told.campaign_id, look)
    assert snapshot.looks > 20
    # Verdicts were there before and after, and not in between.
    assert 0 < snapshot.verdicts < 4 * snapshot.looks
    assert lasting.verdicts == 4 * 2 or IS_WHOLE


def test_a_seal_that_finds_no_room_leaves_the_campaign_as_it_was(
    tmp_path: Path, told: Told, small_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(shutil.copytree(small_files, tmp_path / "warehouse"))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with open_writer(root, told.campaign_id), closing(duckdb.connect()) as con:
        monkeypatch.setattr("opfield.warehouse.durable.os.fsync", full)
        with pytest.raises(WarehouseError, match="No space left on device"):
            seal_campaign(root, told.campaign_id, con)
        monkeypatch.undo()
    assert rows_of(root, told.campaign_id) == rows_of(small_files, told.campaign_id)
    assert seal(root, told.campaign_id) > 0
    assert audit(root).findings == ()


def test_an_altered_plan_is_refused(tmp_path: Path, told: Told, small_files: Path) -> None:
    root = Path(shutil.copytree(small_files, tmp_path / "warehouse"))

    def die(step: str) -> None:
        if step.startswith("remove"):
            raise Stopped

    with pytest.raises(Stopped):
        seal(root, told.campaign_id, die)
    plan = digests_folder(root, told.campaign_id) / SEAL_PLAN
    plan.write_bytes(plan.read_bytes().replace(b"cells", b"cases", 1))
    with pytest.raises(DamageError, match="altered"), open_writer(root, told.campaign_id):
        pass


def test_ids_with_quotes_are_sealed_as_they_are(tmp_path: Path) -> None:
    campaign = weighted(cases=1)
    root = tmp_path / "o'clock"
    campaign_id = finished(root, campaign)
    before = rows_of(root, campaign_id)
    assert any("'" in str(row) for row in before["cells"])
    seal(root, campaign_id)
    assert rows_of(root, campaign_id) == before
    assert len(history(root, campaign_id)) == events_of(campaign)
    with closing(connect(root, views=asked("duplicates"))) as con:
        assert read_rows(con, "from duplicates") == []


def test_publishing_never_replaces(tmp_path: Path) -> None:
    target = tmp_path / "slot"
    assert publish_new(write_temporary(tmp_path, lambda path: path.touch()), target)
    assert not publish_new(write_temporary(tmp_path, lambda path: path.touch()), target)
    assert list(tmp_path.iterdir()) == [target]
