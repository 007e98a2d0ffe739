"""One intake is one campaign, all or nothing, once; what it records is what the files hold."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

import opfield as of
from opfield.campaign.audit import audit
from opfield.errors import WarehouseError
from opfield.ingest import commit
from opfield.ingest.records import IngestError
from tests.ingest.toy import results, taken, write_rows

BASE = results({"a": 0.1, "b": 0.2, "c": 0.3})
NEW = results({"a": 0.2, "b": 0.4, "c": 0.6})
OTHER = results({"a": 0.3, "b": 0.5, "c": 0.9})


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return write_rows(tmp_path / "base.jsonl", BASE), write_rows(tmp_path / "new.jsonl", NEW)


def rows(root: Path, query: str) -> list[dict[str, Any]]:
    return list(of.open(root).sql(query).pl().to_dicts())


def test_cells_hold_what_the_files_hold(tmp_path: Path) -> None:
    base: list[dict[str, Any]] = [
        {"case": "a", "score": 0.5, "cost": 0.25, "started": "2026-01-01T12:00:00+02:00"},
        {"case": "b", "status": "infrastructure_failure", "code": "boom"},
        {"case": "c", "score": None, "started": "2026-01-01T12:00:00"},
    ]
    files = write_rows(tmp_path / "base.jsonl", base), write_rows(tmp_path / "new.jsonl", NEW)
    told = taken(tmp_path / "warehouse", *files)
    found = rows(
        told.root,
        """
        select case_id, cells.status, failure_code, cost_usd, started_at::varchar as started, value, missing_reason
        from cells left join measurements using (campaign_id, candidate_id, case_id, repeat)
        where cells.arm = 'baseline' order by case_id
        """,
    )
    assert [tuple(row.values()) for row in found] == [
        ("a", "success", None, 0.25, "2026-01-01 10:00:00", 0.5, None),
        ("b", "infrastructure_failure", "boom", None, None, None, None),
        ("c", "success", None, None, None, None, "not_emitted"),
    ]
    assert any("no zone and are no instants: 1" in text for _, text in told.notes)


def test_a_system_is_an_envelope_of_what_its_file_says_under_an_ingested_patch(
    tmp_path: Path, files: tuple[Path, Path]
) -> None:
    told = taken(tmp_path / "warehouse", *files)
    found = rows(told.root, "select label, optic, spec from candidates order by is_baseline desc")
    assert [row["optic"] for row in found] == [None, "ingested"]
    assert ['"model":"base.jsonl"' in found[0]["spec"], '"model":"new.jsonl"' in found[1]["spec"]] == [True, True]


def test_the_same_files_append_nothing_the_second_time(tmp_path: Path, files: tuple[Path, Path]) -> None:
    first = taken(tmp_path / "warehouse", *files)
    before = rows(first.root, "from events order by sequence")
    again = taken(tmp_path / "warehouse", *reversed(files))
    assert (first.appended, again.appended, again.campaign_id) == (len(before), 0, first.campaign_id)
    assert rows(first.root, "from events order by sequence") == before


def test_another_byte_in_a_file_is_another_campaign(tmp_path: Path, files: tuple[Path, Path]) -> None:
    first = taken(tmp_path / "warehouse", *files)
    with files[1].open("a") as file:
        file.write("\n")
    assert taken(tmp_path / "warehouse", *files).campaign_id != first.campaign_id


def test_a_campaign_taken_in_passes_the_audit(tmp_path: Path, files: tuple[Path, Path]) -> None:
    told = taken(tmp_path / "warehouse", *files)
    assert not audit(told.root).findings


def test_nothing_is_left_where_something_stands_in_the_way(tmp_path: Path, files: tuple[Path, Path]) -> None:
    write_rows(files[1], [*NEW, {"case": "a", "score": 0.9}])
    with pytest.raises(IngestError):
        taken(tmp_path / "warehouse", *files)
    assert rows(tmp_path / "warehouse", "from events") == []
    assert list((tmp_path / "warehouse" / ".staging").iterdir()) == []


class Killed(BaseException):
    """What stands for the end of the process."""


#: Moves before which an intake ends, and whether that ends the process too: the ledger's move is the last, number 7.
STEPS: Final = (
    [(stop, is_abrupt) for stop in range(9) for is_abrupt in (False, True)]
    if os.environ.get("OPFIELD_TEST_WHOLE")
    else [(3, True), (7, True), (7, False)]
)


@pytest.mark.parametrize(("stop", "is_abrupt"), STEPS)
def test_an_intake_that_is_killed_at_any_step_is_there_whole_or_not_at_all(
    tmp_path: Path, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, stop: int, is_abrupt: bool
) -> None:
    root = tmp_path / "warehouse"
    steps = 0

    def stopping(move: Callable[..., None]) -> Callable[..., None]:
        def run(*arguments: Any) -> None:
            nonlocal steps
            if steps == stop:
                raise Killed
            steps += 1
            move(*arguments)

        return run

    with monkeypatch.context() as patch:
        patch.setattr(commit, "_move", stopping(commit._move))
        if is_abrupt:  # nothing is cleaned up
            patch.setattr(commit.shutil, "rmtree", lambda *_, **__: None)  # type: ignore[attr-defined]
        with suppress(Killed):
            taken(root, *files)
    campaigns = rows(root, "select state, is_whole, pairs from comparisons inner join campaigns using (campaign_id)")
    assert campaigns in ([], [{"state": "completed", "is_whole": True, "pairs": 3}])
    write_rows(tmp_path / "other.jsonl", OTHER)
    taken(root, files[0], tmp_path / "other.jsonl")
    assert not audit(root).findings  # what was left behind is swept by an intake of other files too
    told = taken(root, *files)
    assert (told.appended == 0) == bool(campaigns)
    assert rows(root, "select is_whole, pairs from comparisons") == [{"is_whole": True, "pairs": 3}] * 2
    assert not audit(told.root).findings


def test_what_a_killed_intake_left_in_staging_is_swept(tmp_path: Path, files: tuple[Path, Path]) -> None:
    taken(tmp_path / "warehouse", *files)
    left, living = (tmp_path / "warehouse" / ".staging" / name for name in ("left", "living"))
    for folder in (left, living):
        folder.mkdir()
        (folder / "lock").touch()
    with (living / "lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        taken(tmp_path / "warehouse", *files)
        assert (left.exists(), living.exists()) == (False, True)


def test_a_warehouse_that_cannot_be_written_says_so(
    tmp_path: Path, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(WarehouseError, match="No space left"):
        taken(tmp_path / "warehouse", *files)


def test_the_audit_holds_uneven_repeats_to_the_campaigns_identity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows_of = [{"case": "a", "score": 0.1 * repeat, "repeat": repeat} for repeat in range(3)]
    files = write_rows(tmp_path / "base.jsonl", rows_of), write_rows(tmp_path / "new.jsonl", rows_of[:2])
    told = taken(tmp_path / "warehouse", *files)
    assert not audit(told.root).findings
    monkeypatch.setattr("opfield.campaign.audit.uneven_repeats_digest", lambda _workload: "sha256:other")
    assert [each.detail for each in audit(told.root).findings] == [
        "the kept cases declare other repeats than the campaign's identity"
    ]
