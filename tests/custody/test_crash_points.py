from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from opfield.campaign.audit import audit
from opfield.campaign.engine import run
from opfield.warehouse import ledger, projection
from opfield.warehouse.files import check_artifacts, check_campaign_files, check_strays
from opfield.warehouse.layout import segment_name, table_folder
from opfield.warehouse.material import artifact_files
from tests.custody.campaigns import IS_WHOLE, history, weighted
from tests.custody.crash import Crashed, counting
from tests.custody.replay import Told, rows_of


def test_death_at_any_durable_step_loses_nothing_accepted(tmp_path: Path, told: Told) -> None:
    told.empty(tmp_path / "undisturbed")
    with counting() as steps:
        told.tell(tmp_path / "undisturbed")
    expected = rows_of(tmp_path / "undisturbed", told.campaign_id)
    for at in range(0, len(steps), 1 if IS_WHOLE else 7):
        root = told.empty(tmp_path / str(at))
        with counting(at), pytest.raises(Crashed):
            told.tell(root)
        accepted = [event.digest for event in history(root, told.campaign_id)]
        told.tell(root)
        events = history(root, told.campaign_id)
        assert [event.digest for event in events][: len(accepted)] == accepted, at
        assert told.is_told(root), at
        assert rows_of(root, told.campaign_id) == expected, at
        assert not list(root.rglob(".tmp-*")), at
        checks = (
            check_campaign_files(root, told.campaign_id),
            check_artifacts(root, told.campaign_id),
            check_strays(root),
        )
        assert [finding for check in checks for finding in check] == [], at


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (ledger, "write_temporary"),
        (ledger, "publish_new"),
        (projection, "register_segment"),
        (projection, "copy_query"),
        (projection, "record_digests"),
    ],
)
def test_what_failed_before_the_commit_is_not_accepted_and_what_failed_after_it_is(
    tmp_path: Path, told: Told, module: object, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = told.empty(tmp_path)
    told.tell(root, until=5)
    real, calls = getattr(module, name), []

    def second_fails(*arguments: object) -> object:
        calls.append(name)
        if len(calls) > 1:
            raise Crashed
        return real(*arguments)

    monkeypatch.setattr(module, name, second_fails)
    with pytest.raises(Crashed):
        told.tell(root)
    monkeypatch.undo()
    assert len(history(root, told.campaign_id)) == (8 if module is ledger else 12 if name != "copy_query" else 8)
    told.tell(root)
    assert told.is_told(root)
    assert audit(root).findings == ()


def test_artifacts_are_durable_before_the_event_that_names_them(tmp_path: Path, told: Told) -> None:
    root = told.empty(tmp_path)

    def check() -> None:
        kept = {path.name for path in artifact_files(root, told.campaign_id)}
        for path in ledger.segments(root, told.campaign_id):
            assert kept or path.name != segment_name(1)

    with counting(between=check):
        told.tell(root)


@pytest.mark.parametrize("length", range(0, 19, 1 if IS_WHOLE else 4))
def test_every_prefix_of_a_history_resumes_to_the_same_end(tmp_path: Path, told: Told, length: int) -> None:
    root = told.empty(tmp_path)
    told.tell(root, until=length)
    outcome = run(weighted(cases=2), root, executor="inline")
    end = told.events[-1]
    assert outcome.state == "completed"
    assert outcome.appended == len(told.events) - length
    last = history(root, told.campaign_id)[-1]
    assert (last.sequence, last.payload) == (end.sequence, end.payload)
    assert audit(root).findings == ()


def test_a_finished_campaign_appends_nothing(tmp_path: Path, told: Told) -> None:
    root = tmp_path / "copy"
    shutil.copytree(told.root, root)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and path.parent.name != "locks"}
    outcome = run(weighted(cases=2), root, executor="inline")
    after = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and path.parent.name != "locks"}
    assert (outcome.state, outcome.appended) == ("completed", 0)
    assert before == after


def test_a_projection_that_is_gone_is_written_again_by_the_next_writer(tmp_path: Path, told: Told) -> None:
    root = told.empty(tmp_path)
    told.tell(root, until=11)
    whole = rows_of(root, told.campaign_id)
    victims = {table: sorted(table_folder(root, table, told.campaign_id).glob("*[1-9].parquet")) for table in whole}
    assert all(victims.values())
    for paths in victims.values():
        paths[-1].unlink()
    missing = {finding.file for finding in audit(root).findings if finding.law == "missing"}
    assert missing == {path.relative_to(root).as_posix() for paths in victims.values() for path in paths[-1:]}
    told.tell(root)
    assert told.is_told(root)
    assert audit(root).findings == ()
