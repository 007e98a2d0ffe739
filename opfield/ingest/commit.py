"""One intake, one campaign, all or nothing: staged beside the warehouse's tables, then published by one rename.

A staged campaign is a small warehouse of its own, written by the writer that writes every campaign. Publishing moves
everything else first and its ledger last: that one step makes the campaign exist, and whole. What an intake that was
killed before it left behind belongs to no campaign, and the next intake sweeps it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb
import orjson

from opfield.campaign.ending import Look, finish
from opfield.campaign.prepare import Prepared
from opfield.campaign.progress import Progress, Silence
from opfield.campaign.provenance import provenance
from opfield.campaign.results import ALL_RESULTS, lay_out
from opfield.campaign.writer import CampaignWriter, open_writer
from opfield.core import MissingReason, Status
from opfield.errors import OpfieldError
from opfield.experiment.space import BASELINE_LABEL
from opfield.ingest.declare import declared
from opfield.ingest.intake import Intake, open_intake
from opfield.ingest.request import Request
from opfield.ingest.spool import read_samples
from opfield.prob import Seed, coordinate_seed
from opfield.warehouse import ledger
from opfield.warehouse.artifacts import retain
from opfield.warehouse.contract import TABLE_NAMES
from opfield.warehouse.durable import make_folder, storage_error, sync_folder
from opfield.warehouse.layout import EMPTY, NO_CAMPAIGN, partition, table_folder
from opfield.warehouse.lock import hold
from opfield.warehouse.results import RESULTS
from opfield.warehouse.seal import seal_campaign
from opfield.warehouse.store import create_store, default_root
from opfield.warehouse.views import installed_views

#: Folder of a warehouse in which intakes are staged; its names begin with a dot, so that no reader's glob matches.
STAGING: Final = ".staging"
#: File of a staging folder that names the campaign whose parts are being moved into the warehouse.
_PUBLISHING: Final = "publishing"
#: Segments above which a campaign is sealed before it is published.
_MOST_SEGMENTS: Final = 8
#: What a cell of the grid without a sample says, by why it may be missing.
_ABSENT: Final = {
    "missing": "the files hold no result of it",
    "not_finished": "the run ended before it",
}


@dataclass(frozen=True, slots=True)
class Taken:
    """What an intake came to.

    Attributes:
        campaign_id: identity of the campaign.
        root: the warehouse.
        appended: events that were recorded; 0 where the same files had been taken in before.
        cells: cells of the campaign.
        notes: what the user should know, each with its place.
    """

    campaign_id: str
    root: Path
    appended: int
    cells: int
    notes: tuple[tuple[str, str], ...]


def ingest(
    request: Request,
    warehouse: Path | str | None = None,
    *,
    advance: Callable[[int], None] = lambda _bytes: None,
    progress: Progress | None = None,
    look: Look | None = None,
) -> Taken:
    """Take results of other tools in as one campaign; the same files a second time append nothing.

    Args:
        request: what is to be taken in.
        warehouse: warehouse folder, made where it is not there; `$OPFIELD_WAREHOUSE` or `./warehouse` where None.
        advance: told how many bytes were read since the last call.
        progress: who is told how many cells are recorded.
        look: what reads the verdict where it is computed; nothing where the files had been taken in before.

    Raises:
        IngestError: listing everything that stands in the way; nothing was recorded.
        OpfieldError: where the request, or the warehouse, cannot be.
    """
    root = create_store(Path(warehouse) if warehouse is not None else default_root()).root
    with _staging(root) as staging, open_intake(request, _folder(staging / "read"), advance) as intake:
        prepared = declared(intake, installed_views())
        campaign_id = prepared.campaign_id
        notes = tuple((note.place, note.text) for note in intake.notes)
        appended = 0
        if not _is_there(root, campaign_id):
            with hold(root, campaign_id):
                if not _is_there(root, campaign_id):
                    stage = _stage(root, staging)
                    appended = _record(stage, prepared, intake, progress or Silence(), look)
                    (staging / _PUBLISHING).write_text(campaign_id)
                    _publish(stage, root, campaign_id)
        cells = int(intake.rows("select sum(repeats) as cells from grid")[0]["cells"])
    return Taken(campaign_id, root, appended, cells, notes)


def _is_there(root: Path, campaign_id: str) -> bool:
    return ledger.last_event(root, campaign_id) is not None


@contextmanager
def _staging(root: Path) -> Iterator[Path]:
    """Make a folder for one intake, and remove it; what a killed intake left is removed as well.

    Where the warehouse cannot be written the folder is elsewhere: what it holds already can still be answered for.
    """
    above = root / STAGING
    try:
        make_folder(above)
        _sweep(root, above)
        staging = Path(tempfile.mkdtemp(dir=above))
    except OSError:
        staging = Path(tempfile.mkdtemp(prefix="opfield-"))
    try:
        # Held for as long as this process lives, whatever ends it and wherever it runs.
        with _locked(staging) as is_mine:
            assert is_mine
            yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def _locked(staging: Path) -> Iterator[bool]:
    """Hold the lock of a staging folder; give False where another process holds it."""
    handle = os.open(staging / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def _sweep(root: Path, above: Path) -> None:
    """Remove what intakes that are dead left: their folders, and what they published of a campaign but its ledger."""
    for left in above.iterdir():
        with suppress(OSError, OpfieldError), _locked(left) as is_dead:
            if is_dead:
                if (left / _PUBLISHING).exists():
                    campaign_id = (left / _PUBLISHING).read_text()
                    with hold(root, campaign_id):
                        _unpublish(root, campaign_id)
                shutil.rmtree(left, ignore_errors=True)


def _unpublish(root: Path, campaign_id: str) -> None:
    """Remove the parts of a campaign that were published without its ledger."""
    if not _is_there(root, campaign_id):
        for table in (*TABLE_NAMES, "digests", RESULTS):
            shutil.rmtree(root / table / partition(campaign_id), ignore_errors=True)


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


def _stage(root: Path, staging: Path) -> Path:
    """Return a warehouse inside the staging folder, with the zero-row files of the real one."""
    stage = staging / "warehouse"
    for table in TABLE_NAMES:
        name = Path(table) / NO_CAMPAIGN / EMPTY
        (stage / name).parent.mkdir(parents=True)
        shutil.copyfile(root / name, stage / name)
    return stage


def _record(stage: Path, prepared: Prepared, intake: Intake, progress: Progress, look: Look | None) -> int:
    """Write the campaign's whole history into the stage, and return the number of its events."""
    campaign_id = prepared.campaign_id
    with open_writer(stage, campaign_id) as writer:
        told = provenance(prepared.campaign.runner, None, {})
        writer.accept(ledger.CAMPAIGN_STARTED, {**prepared.started, "provenance": told}, prepared.artifacts)
        for payload in prepared.registered:
            writer.accept(ledger.CANDIDATE_REGISTERED, payload)
        progress.begin(prepared.campaign.name, writer.state.declared_cells, 0)
        try:
            _accept_cells(writer, prepared, intake, progress, stage)
            finish(writer, look=look)
        finally:
            progress.end()
        appended = writer.state.sequence
        is_finished = bool(writer.state.terminal)
    segments = len(list(table_folder(stage, "events", campaign_id).glob("*.parquet")))
    if is_finished and segments > _MOST_SEGMENTS:
        with hold(stage, campaign_id), closing(duckdb.connect(config={"memory_limit": "600MB"})) as con:
            con.execute("set temp_directory = $1", [str(stage.parent / "spill")])
            seal_campaign(stage, campaign_id, con)
        lay_out(stage, campaign_id, prepared.started, ALL_RESULTS)
    return appended


def _accept_cells(writer: CampaignWriter, prepared: Prepared, intake: Intake, progress: Progress, stage: Path) -> None:
    labels = {arm.system.key: arm.campaign_label for arm in intake.arms}
    ids = {each.label: each.id for each in (prepared.baseline, *prepared.candidates)}
    arms = {key: (ids[label], "baseline" if label == BASELINE_LABEL else "candidate") for key, label in labels.items()}
    schemas = {key: f"opfield.sample/{name}" for key, name in intake.told.readers.items()}
    seed_root = prepared.campaign.seed_root
    names = sorted(metric.name for metric in intake.metrics)
    places = intake.con.execute("select sample_ix, case_id, repeat from placed_samples order by sample_ix")
    place = places.fetchone()
    columns = ["sample_ix", "system", "body", "content"]
    for sample in read_samples(intake.folder, columns):
        if place is None or sample["sample_ix"] != place[0]:
            continue  # an exact duplicate
        candidate_id, arm = arms[sample["system"]]
        body = orjson.loads(sample["body"])
        artifacts = []
        if sample["content"] is not None:
            artifacts.append(retain(sample["content"], schema=schemas[sample["system"]], root=stage))
        writer.accept(
            ledger.TRIAL_COMPLETED,
            {
                "candidate_id": candidate_id,
                "arm": arm,
                "case_id": place[1],
                "repeat": place[2],
                "seed": coordinate_seed(seed_root, place[1], place[2]).hex,
                "measurements": _measurements(body, names),
                "artifact_id": artifacts[0].artifact_id if artifacts else None,
                "worker": "",
                **{member: body[member] for member in _MEMBERS},
            },
            artifacts,
        )
        progress.accepted(Status(body["status"]))
        place = places.fetchone()
    for row in intake.rows("from missing_cells order by system, case_id, repeat"):
        candidate_id, arm = arms[row["system"]]
        writer.accept(
            ledger.TRIAL_COMPLETED, _absent(candidate_id, arm, row["case_id"], row["repeat"], row["absence"], seed_root)
        )
        progress.accepted(Status.CANCELLED)


_MEMBERS: Final = (
    "status",
    "failure",
    "cost_usd",
    "input_tokens",
    "output_tokens",
    "duration_s",
    "started_at",
    "finished_at",
    "attempts",
)


def _measurements(body: dict[str, Any], names: list[str]) -> list[dict[str, Any]]:
    """Return the measurements of a sample: one for each metric where it succeeded, what it carries otherwise."""
    found = []
    for name in names:
        value = body["values"].get(name)
        reason = body["missing"].get(name)
        if value is None and reason is None:
            if body["status"] != Status.SUCCESS.value:
                continue
            reason = MissingReason.NOT_EMITTED.value
        found.append({"metric": name, "value": value, "missing_reason": None if value is not None else reason})
    return found


def _absent(candidate_id: str, arm: str, case_id: str, repeat: int, absence: str, seed_root: Seed) -> dict[str, Any]:
    return {
        "candidate_id": candidate_id,
        "arm": arm,
        "case_id": case_id,
        "repeat": repeat,
        "seed": coordinate_seed(seed_root, case_id, repeat).hex,
        "measurements": [],
        "artifact_id": None,
        "worker": "",
        "status": Status.CANCELLED.value,
        "failure": {"code": absence, "message": _ABSENT[absence], "is_retryable": False},
        "cost_usd": None,
        "input_tokens": None,
        "output_tokens": None,
        "duration_s": None,
        "started_at": None,
        "finished_at": None,
        "attempts": 0,
    }


def _publish(stage: Path, root: Path, campaign_id: str) -> None:
    """Move a staged campaign into the warehouse; the move of its ledger is the step that makes it exist."""
    name = partition(campaign_id)
    try:
        _move_blobs(stage, root)
        for table in (*(table for table in TABLE_NAMES if table != "events"), "digests", RESULTS, "events"):
            # Results are there unless they could not be written; `opfield seal` lays them out then.
            if table != RESULTS or (stage / table / name).exists():
                _move(stage, root, table, name)
    except BaseException as error:
        _unpublish(root, campaign_id)
        if isinstance(error, OSError):
            raise storage_error(root, error) from error
        raise


def _move(stage: Path, root: Path, table: str, name: str) -> None:
    source, target = stage / table / name, root / table / name
    if target.exists():
        # What an intake that was killed before its ledger was published left behind.
        shutil.rmtree(target)
    make_folder(target.parent)
    os.rename(source, target)
    sync_folder(target.parent)


def _move_blobs(stage: Path, root: Path) -> None:
    for path in sorted((stage / "blobs").glob("*/*")):
        target = root / path.relative_to(stage)
        make_folder(target.parent)
        os.replace(path, target)
        sync_folder(target.parent)
