"""A finished campaign's history told again to a writer: an engine without its cost, for tests of what it writes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from opfield.campaign.writer import CampaignWriter, open_writer
from opfield.warehouse import ledger
from opfield.warehouse.artifacts import Artifact
from opfield.warehouse.ledger import Event
from opfield.warehouse.material import artifact_files, read_artifacts
from opfield.warehouse.projection import projected_tables
from opfield.warehouse.session import connect_snapshot, read_rows
from opfield.warehouse.store import create_store
from tests.custody.campaigns import finished, history, weighted


@dataclass(frozen=True)
class Told:
    """A finished campaign, to be told again."""

    root: Path
    template: Path
    campaign_id: str
    events: tuple[Event, ...]
    artifacts: tuple[Artifact, ...]

    def tell(self, root: Path, segment_events: int = 4, until: int | None = None) -> None:
        """Append what the history in `root` lacks, up to an event."""
        with open_writer(root, self.campaign_id) as writer:
            self.go_on(writer, segment_events, until)

    def go_on(self, writer: CampaignWriter, segment_events: int, until: int | None = None) -> None:
        for event in self.events[writer.state.sequence : until]:
            writer.accept(event.type, orjson.loads(event.payload), self._named(event))
            if event.sequence % segment_events == 0:
                writer.flush()
        writer.flush()

    def _named(self, event: Event) -> Sequence[Artifact]:
        if event.type == ledger.CAMPAIGN_STARTED:
            return [each for each in self.artifacts if each.schema != "opfield.trial/v1"]
        told = orjson.loads(event.payload)
        return [each for each in self.artifacts if each.artifact_id == told.get("artifact_id")]

    def is_told(self, root: Path, until: int | None = None) -> bool:
        """Return whether the history in `root` says the same, up to an event."""
        events = history(root, self.campaign_id)
        same = [(event.type, event.payload) for event in self.events[:until]]
        return [(event.type, event.payload) for event in events] == same

    def empty(self, root: Path) -> Path:
        """Make a warehouse in which only the large artifacts stand, and return it."""
        return Path(shutil.copytree(self.template, root, dirs_exist_ok=True))


def told_campaign(root: Path, cases: int = 2) -> Told:
    """Run a small campaign and return it to be told again."""
    campaign_id = finished(root, weighted(cases=cases))
    artifacts = [each for path in artifact_files(root, campaign_id) for each in read_artifacts(path)]
    template = create_store(root.with_name("template")).root
    shutil.copytree(root / "blobs", template / "blobs")
    return Told(root, template, campaign_id, tuple(history(root, campaign_id)), tuple(artifacts))


def rows_of(root: Path, campaign_id: str) -> dict[str, list[tuple[str, ...]]]:
    """Return the rows of every projected table, sorted."""
    con = connect_snapshot(root, campaign_id, ())
    tables = {}
    for table in projected_tables():
        tables[table] = sorted(tuple(map(str, row.values())) for row in read_rows(con, f"from {table}"))
    con.close()
    return tables
