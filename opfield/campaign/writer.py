"""The one writer of a campaign: events accepted in order, published in groups, projected after the commit."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import duckdb

from opfield.campaign.checkpoint import WORTH_IT, load_state, save_state
from opfield.campaign.reducer import CampaignState, reduce
from opfield.campaign.signatures import check_signature
from opfield.core import canonical_json
from opfield.errors import OpfieldError, WarehouseError
from opfield.warehouse import ledger
from opfield.warehouse.artifacts import Artifact, read_content
from opfield.warehouse.contract import TABLE_NAMES
from opfield.warehouse.durable import sweep
from opfield.warehouse.layout import digests_folder, relative, table_folder
from opfield.warehouse.ledger import Event
from opfield.warehouse.lock import Locking, hold, no_lock
from opfield.warehouse.material import artifact_ids, find_artifacts, write_artifacts
from opfield.warehouse.projection import catch_up, project
from opfield.warehouse.seal import finish_seal
from opfield.warehouse.store import open_partition

#: A segment closes at this many events, or when its first one is this old (group commit).
SEGMENT_EVENTS: Final = 1024
SEGMENT_SECONDS: Final = 0.5
#: Segments that may wait for the disk before the one who accepts waits as well.
PUBLICATIONS: Final = 4


class CampaignWriter:
    """Accepts events into a campaign's history.

    `accept` applies the laws at once; the event is durable, and so accepted for the world, when its segment is
    published: at the latest after `flush`. A publication that fails poisons the writer: what followed it was never
    accepted.

    Attributes:
        root: warehouse folder.
        campaign_id: campaign of the history.
        state: the history so far, what waits for publication included.
    """

    def __init__(self, root: Path, campaign_id: str) -> None:
        """Load the history and catch up its projections; call `open_writer` instead, which takes the lock first."""
        self.root = root
        self.campaign_id = campaign_id
        self._process = os.getpid()
        self._known = artifact_ids(root, campaign_id)
        self._contents: dict[str, Artifact] = {}
        # The state before the projections: without a lock another writer may publish in between, and then the views
        # know more cells than the state, never fewer, so that nothing accepted counts as pending.
        self.state: CampaignState = load_state(root, campaign_id)
        # One thread publishes, in order; it opens its database while the first events are accepted.
        self._publisher = ThreadPoolExecutor(1, thread_name_prefix="opfield-publisher")
        self._opening = self._publisher.submit(duckdb.connect, config={"threads": 1})
        if self.state.sequence:
            catch_up(self._opening.result(), root, campaign_id, self._read_artifacts)
        # Two openings never publish under one fence: whoever publishes first takes the other's slot.
        self._fence = self.state.fence + 1
        self._checkpointed = self.state.sequence
        self._waiting: list[Event] = []
        self._retained: list[Artifact] = []
        self._first_waited = 0.0
        self._publications: list[Future[None]] = []
        self._failure: BaseException | None = None
        # Whoever accepts may be busy with a long trial, so a thread of its own sees to it that segments close by age.
        self._turn = threading.RLock()
        self._closed = threading.Event()
        threading.Thread(target=self._close_by_age, name="opfield-closer", daemon=True).start()

    def accept(self, type: str, payload: Mapping[str, Any], artifacts: Iterable[Artifact] = ()) -> Event:
        """Append one event; the artifacts that it names are made durable before it.

        Raises:
            HistoryError: where it breaks a law, or bears a signature that is not its own; nothing changed.
            LostRaceError: where another writer got in between; reload and decide again.
            WarehouseError: where an earlier publication failed.
        """
        with self._turn:
            self._raise_failed()
            if type == ledger.REVIEW_RECORDED:
                check_signature(self.campaign_id, payload)
            event = ledger.chained(
                self.state.digest,
                campaign_id=self.campaign_id,
                sequence=self.state.sequence + 1,
                type=type,
                fence=self._fence,
                payload=canonical_json(payload),
            )
            reduce(self.state, event, dict(payload) if type == ledger.TRIAL_COMPLETED else None)
            for artifact in artifacts:
                if artifact.artifact_id not in self._known:
                    self._known.add(artifact.artifact_id)
                    self._retained.append(artifact)
                    if artifact.content is not None and type != ledger.TRIAL_COMPLETED:
                        self._contents[artifact.artifact_id] = artifact
            if not self._waiting:
                self._first_waited = time.monotonic()
            self._waiting.append(event)
            if len(self._waiting) >= SEGMENT_EVENTS:
                self._close_segment()
            return event

    def flush(self) -> None:
        """Publish what waits and return when it is durable and projected.

        Raises:
            LostRaceError: where another writer got in between.
            WarehouseError: where it cannot be written.
        """
        with self._turn:
            self._close_segment()
            for publication in self._publications:
                publication.result()
            self._publications.clear()

    def close(self) -> None:
        """Let running publications end and give the resources back; what was not flushed is not accepted."""
        self._closed.set()
        with self._turn:
            self._publisher.shutdown(wait=True)
        self._opening.result().close()
        if self._failure is None and not self._waiting:
            self._keep_checkpoint(self._checkpointed + 1)

    def _close_by_age(self) -> None:
        """Close the segment whenever its first event has waited long enough; a failure shows at the next `accept`."""
        while not self._closed.wait(SEGMENT_SECONDS / 5):
            with self._turn, suppress(OpfieldError, RuntimeError):
                if self._waiting and time.monotonic() - self._first_waited >= SEGMENT_SECONDS:
                    self._close_segment()

    def _close_segment(self) -> None:
        self._raise_failed()
        if not self._waiting:
            return
        events, artifacts = self._waiting, self._retained
        self._waiting, self._retained = [], []
        self._publications = [each for each in self._publications if not each.done()]
        self._publications.append(self._publisher.submit(self._publish, events, artifacts))
        if len(self._publications) > PUBLICATIONS:
            self._publications[0].result()
        # Each is a quarter longer than the last, so that a killed campaign folds at most a fifth of its history anew.
        if 4 * self.state.sequence >= 5 * max(self._checkpointed, WORTH_IT):
            self.flush()
            self._keep_checkpoint(self.state.sequence)

    def _keep_checkpoint(self, least: int) -> None:
        """Keep the state, which is published, where it has reached a sequence; a checkpoint is worth no failure."""
        if self.state.sequence >= least:
            with suppress(WarehouseError):
                save_state(self.root, self.state)
            self._checkpointed = self.state.sequence

    def _publish(self, events: list[Event], artifacts: list[Artifact]) -> None:
        # One thread publishes in order, so a failed segment must stop the ones behind it.
        if self._failure is not None:
            raise self._failure
        try:
            self._publish_segment(events, artifacts)
        except BaseException as error:
            self._failure = error
            raise

    def _publish_segment(self, events: list[Event], artifacts: list[Artifact]) -> None:
        retained: dict[str, str] = {}
        if artifacts:
            path = write_artifacts(self.root, self.campaign_id, artifacts)
            retained[relative(self.root, path)] = path.stem
        table = ledger.publish(self.root, events)
        con = self._opening.result()
        project(con, self.root, self.campaign_id, events[0].sequence, table, self._read_artifacts, retained)

    def _read_artifacts(self, artifact_ids: Collection[str]) -> dict[str, bytes]:
        """Return the verified contents of artifacts of this campaign."""
        fresh = {each: self._contents[each] for each in artifact_ids if each in self._contents}
        found = {each: read_content(self.root, artifact) for each, artifact in fresh.items()}
        return {**found, **find_artifacts(self.root, self.campaign_id, set(artifact_ids) - found.keys())}

    def _raise_failed(self) -> None:
        if os.getpid() != self._process:
            raise WarehouseError("a process forked by a runner cannot write its parent's campaign; let it end")
        if self._failure is not None:
            raise self._failure


@contextmanager
def open_writer(root: Path, campaign_id: str, locking: Locking = hold) -> Iterator[CampaignWriter]:
    """Take the campaign for writing: under its lock, with projections caught up and an interrupted seal finished.

    Raises:
        HeldError: where another process is writing it.
        DamageError: where its history cannot be read.
    """
    with locking(root, campaign_id):
        open_partition(root, campaign_id)
        if locking is not no_lock:
            for folder in (
                *(table_folder(root, table, campaign_id) for table in TABLE_NAMES),
                digests_folder(root, campaign_id),
            ):
                sweep(folder)
            finish_seal(root, campaign_id)
        writer = CampaignWriter(root, campaign_id)
        try:
            yield writer
        finally:
            writer.close()
