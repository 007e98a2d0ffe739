from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from opfield.campaign import checkpoint
from opfield.campaign.attempts import Attempt, record_attempt
from opfield.campaign.audit import audit
from opfield.campaign.engine import run
from opfield.campaign.writer import open_writer
from opfield.core import Failure
from opfield.experiment import Coordinate
from opfield.warehouse.files import OUTSIDE_MEANING, Finding
from opfield.warehouse.layout import FIRST, MARKER, digests_folder
from opfield.warehouse.material import artifact_files
from opfield.warehouse.seal import seal_campaign
from tests.custody.campaigns import IS_WHOLE, history, weighted
from tests.custody.replay import Told, rows_of

#: Flips in each of two warehouses.
FLIPS = 250 if IS_WHOLE else 20


@pytest.fixture(scope="module")
def warehouses(told: Told, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One campaign in five segments, and the same campaign sealed; with a checkpoint and attempts on record."""
    root = told.empty(tmp_path_factory.mktemp("flips") / "open")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "WORTH_IT", 0)
        told.tell(root, segment_events=4)
    for number in range(3):
        failure = Failure("timeout", f"no answer, {number}", is_retryable=True)
        attempt = Attempt(Coordinate("c", "candidate", "case", number), 1, failure, "2026-01-01T00:00:00Z")
        record_attempt(root, told.campaign_id, attempt)
    sealed = Path(shutil.copytree(root, root.with_name("sealed")))
    with open_writer(sealed, told.campaign_id), closing(duckdb.connect()) as con:
        seal_campaign(sealed, told.campaign_id, con)
    for each in (root, sealed):
        assert audit(each).findings == audit(each).notes == ()
    return {"open": root, "sealed": sealed}


def files_of(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def flipped(content: bytes, place: int, bit: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def check_is_named(root: Path, path: Path, findings: tuple[Finding, ...], notes: tuple[Finding, ...]) -> None:
    """The file is named; or it is outside meaning:

    - `locks/`: words for people; who holds the lock is what the kernel knows. A flip there changes a message at most.
    - `checkpoints/`: a cache; one that is not what was written is ignored (test_checkpoint.py), and audit reads none.
    - `attempts/`: a record beside the ledger, which nothing is computed from but how often a pending coordinate was
      tried; its lines carry sums, so a flip becomes a note that names file and line.

    Nothing else is: every other file stands under a digest of its own bytes.
    """
    name = path.relative_to(root).as_posix()
    kind = name.split("/")[0]
    if kind not in OUTSIDE_MEANING:
        assert name in {finding.file for finding in findings}
        return
    assert findings == ()
    assert (name in {note.file for note in notes}) == (kind == "attempts")


@pytest.mark.parametrize("state", ["open", "sealed"])
def test_a_flipped_byte_anywhere_is_named(warehouses: dict[str, Path], state: str) -> None:
    root = warehouses[state]
    chance = random.Random(state)
    files = files_of(root)
    for turn in range(FLIPS):
        # Every other place is drawn by size, so that large files get their share.
        weights = [path.stat().st_size for path in files] if turn % 2 else None
        (path,) = chance.choices([each for each in files if each.stat().st_size], weights)
        content = path.read_bytes()
        path.write_bytes(flipped(content, chance.randrange(len(content)), chance.randrange(8)))
        report = audit(root)
        path.write_bytes(content)
        check_is_named(root, path, report.findings, report.notes)


@pytest.mark.parametrize("state", ["open", "sealed"])
@pytest.mark.parametrize("kind", ["locks", "checkpoints", "attempts"])
def test_what_is_outside_meaning_changes_no_answer(
    tmp_path: Path, told: Told, warehouses: dict[str, Path], state: str, kind: str
) -> None:
    root = Path(shutil.copytree(warehouses[state], tmp_path / "copy"))
    (path,) = (root / kind).iterdir()
    path.write_bytes(flipped(path.read_bytes(), 40, 3))
    assert audit(root).findings == ()
    outcome = run(weighted(cases=2), root, executor="inline")
    assert (outcome.state, outcome.appended) == ("completed", 0)
    assert rows_of(root, told.campaign_id) == rows_of(warehouses[state], told.campaign_id)


def truncated(path: Path, _: Path) -> list[Path]:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return [path]


def emptied(path: Path, _: Path) -> list[Path]:
    path.write_bytes(b"")
    return [path]


def deleted(path: Path, _: Path) -> list[Path]:
    path.unlink()
    return [path]


def doubled(path: Path, _: Path) -> list[Path]:
    copy = path.with_name(f"{'9' * 12}{path.suffix}")
    shutil.copyfile(path, copy)
    return [copy]


def swapped(path: Path, other: Path) -> list[Path]:
    content = path.read_bytes()
    if content == other.read_bytes():
        return []
    path.write_bytes(other.read_bytes())
    other.write_bytes(content)
    return [path, other]


@pytest.mark.parametrize("state", ["open", "sealed"])
@pytest.mark.parametrize("harm", [truncated, emptied, deleted, doubled, swapped])
def test_a_harmed_file_is_named(
    tmp_path: Path, told: Told, warehouses: dict[str, Path], state: str, harm: Callable[[Path, Path], list[Path]]
) -> None:
    pristine = warehouses[state]
    root = Path(shutil.copytree(pristine, tmp_path / "copy"))
    folders = {path.parent for path in files_of(root) if path.relative_to(root).parts[0] not in OUTSIDE_MEANING}
    chance = random.Random(f"{state} {harm.__name__}")
    for folder in sorted(folders) if IS_WHOLE else chance.sample(sorted(folders), 4):
        files = [path for path in folder.iterdir() if path.is_file()]
        path = chance.choice(sorted(files))
        harmed = harm(path, chance.choice(sorted(files_of(root))))
        if harmed:
            findings = audit(root).findings
            expected = {each.relative_to(root).as_posix() for each in harmed}
            # A campaign's zero-row file that is gone takes nothing with it, and the next writer puts it back.
            expected = {name for name in expected if (root / name).exists() or not name.endswith("/" + FIRST)}
            expected = {name for name in expected if name.split("/")[0] not in OUTSIDE_MEANING}
            # A record that is gone is told as the one of its segment; what every warehouse has is known by the marker
            # alone.
            gone = {name for name in expected if name.startswith("digests/") and not (root / name).exists()}
            assert not gone or {finding.law for finding in findings} & {"projection", "missing"}
            if MARKER in expected:
                expected = {MARKER, *(name for name in expected if f"campaign={told.campaign_id[7:]}" in name)}
            assert {finding.file for finding in findings} >= expected - gone
        shutil.rmtree(root)
        shutil.copytree(pristine, root)


@pytest.mark.parametrize(
    "stray",
    [
        "notes.txt",
        "events/stray.parquet",
        "cells/campaign=none/more.parquet",
        f"cells/campaign={'0' * 64}/000000000001.parquet",
        f"digests/campaign={'0' * 64}/000000000001.json",
        "cells/{campaign}/stray.parquet",
        "cells/{campaign}/.hidden.parquet",
        "events/{campaign}/stray",
        "artifacts/{campaign}/stray.parquet",
        "artifacts/{campaign}/stray",
        "digests/{campaign}/stray.json",
        "digests/{campaign}/000000000002.json",
        "blobs/ab/abc",
        "blobs/stray",
    ],
)
def test_a_file_that_nobody_wrote_is_named(tmp_path: Path, told: Told, warehouses: dict[str, Path], stray: str) -> None:
    root = Path(shutil.copytree(warehouses["open"], tmp_path / "copy"))
    path = root / stray.format(campaign=f"campaign={told.campaign_id[7:]}")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"{}")
    named = {finding.file for finding in audit(root).findings}
    assert named & {path.relative_to(root).as_posix(), path.parent.relative_to(root).as_posix()}


@pytest.mark.parametrize("state", ["open", "sealed"])
def test_an_artifact_file_that_is_gone_is_named(
    tmp_path: Path, told: Told, warehouses: dict[str, Path], state: str
) -> None:
    root = Path(shutil.copytree(warehouses[state], tmp_path / "copy"))
    for path in artifact_files(root, told.campaign_id):
        content = path.read_bytes()
        path.unlink()
        assert path.relative_to(root).as_posix() in {finding.file for finding in audit(root).findings}
        path.write_bytes(content)


def test_a_record_of_digests_under_another_name_is_named(
    tmp_path: Path, told: Told, warehouses: dict[str, Path]
) -> None:
    root = Path(shutil.copytree(warehouses["open"], tmp_path / "copy"))
    record = min(digests_folder(root, told.campaign_id).iterdir())
    copy = record.with_name("000000000002.json")
    shutil.copyfile(record, copy)
    assert {finding.file for finding in audit(root).findings} == {copy.relative_to(root).as_posix()}


def test_folders_of_two_campaigns_that_changed_places_are_named(tmp_path: Path, told: Told) -> None:
    root = told.empty(tmp_path)
    told.tell(root)
    other = run(weighted(cases=1), root, executor="inline").campaign_id
    for table in ("events", "cells", "measurements", "cases", "candidates", "metrics", "artifacts", "digests"):
        one, two = (root / table / f"campaign={each[7:]}" for each in (told.campaign_id, other))
        spare = root / "spare"
        one.rename(spare)
        two.rename(one)
        spare.rename(two)
    findings = audit(root).findings
    assert {finding.file.split("/")[1][9:] for finding in findings if finding.law == "history"} == {
        told.campaign_id[7:],
        other[7:],
    }
    with pytest.raises(Exception, match="history law 'campaign' broken at event 1"), open_writer(root, other):
        pass
    assert len(history(root, other)) == len(told.events)
