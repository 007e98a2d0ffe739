"""The ledger: events chained by digest, in segments that are published put-if-absent (DESIGN §5)."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from opfield.errors import DamageError, LostRaceError
from opfield.warehouse.columns import empty_table, table_of
from opfield.warehouse.contract import arrow_schema
from opfield.warehouse.durable import publish_new, write_temporary
from opfield.warehouse.layout import FIRST, segment_name, table_folder

if TYPE_CHECKING:
    # Loaded where it is used: that takes longer than a small question to DuckDB.
    import pyarrow as pa
    import pyarrow.parquet as pq

SCHEMA_VERSION: Final = 1

CAMPAIGN_STARTED: Final = "campaign.started"
CANDIDATE_REGISTERED: Final = "candidate.registered"
TRIAL_COMPLETED: Final = "trial.completed"
PLAN_CLOSED: Final = "plan.closed"
EVIDENCE_RECORDED: Final = "evidence.recorded"
COMPARISON_RECORDED: Final = "comparison.recorded"
REVIEW_RECORDED: Final = "review.recorded"
DECISION_RECORDED: Final = "decision.recorded"
CAMPAIGN_COMPLETED: Final = "campaign.completed"
CAMPAIGN_CANCELLED: Final = "campaign.cancelled"
#: Types after which nothing follows.
TERMINAL: Final = frozenset({CAMPAIGN_COMPLETED, CAMPAIGN_CANCELLED})


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a campaign's history; a row of the table `events`.

    Attributes:
        campaign_id: campaign of the history.
        sequence: 1, 2, 3 … without gaps.
        type: one of the types above.
        schema_version: version of the payload's schema.
        recorded_at: UTC, naive, to the microsecond.
        fence: claim under which it was written.
        payload: canonical JSON.
        digest: over the previous event's digest and all of the above.
    """

    campaign_id: str
    sequence: int
    type: str
    schema_version: int
    recorded_at: datetime
    fence: int
    payload: str
    digest: str


def chained(
    previous_digest: str,
    *,
    campaign_id: str,
    sequence: int,
    type: str,
    fence: int,
    payload: bytes,
    recorded_at: datetime | None = None,
) -> Event:
    """Return the event that follows `previous_digest` (empty for the first one), its digest computed."""
    moment = recorded_at or datetime.now(UTC).replace(tzinfo=None)
    text = payload.decode("utf-8")
    found = event_digest(previous_digest, campaign_id, sequence, type, SCHEMA_VERSION, moment, fence, text)
    return Event(campaign_id, sequence, type, SCHEMA_VERSION, moment, fence, text, found)


_DOMAIN = hashlib.sha256(b"opfield/event/v1\0")


def event_digest(
    previous_digest: str,
    campaign_id: str,
    sequence: int,
    type: str,
    schema_version: int,
    recorded_at: datetime,
    fence: int,
    payload: str,
) -> str:
    """Return the digest of an event: `digest("opfield/event/v1", …)` over its members in this order.

    Written out rather than called, since a history of a million events is verified with it.
    """
    moment = recorded_at.isoformat(timespec="microseconds") + "Z"
    framed = bytearray()
    for part in (previous_digest, campaign_id, str(sequence), type, str(schema_version), moment, str(fence), payload):
        content = part.encode("utf-8")
        framed += len(content).to_bytes(8, "big")
        framed += content
    state = _DOMAIN.copy()
    state.update(framed)
    return "sha256:" + state.hexdigest()


@cache
def _schema() -> pa.Schema:
    return arrow_schema("events")


def as_table(events: Sequence[Event]) -> pa.Table:
    """Return events as rows of the table `events`."""
    schema = _schema()
    return table_of({name: [getattr(event, name) for event in events] for name in schema.names}, schema)


def publish(root: Path, events: Sequence[Event]) -> pa.Table:
    """Publish consecutive events as one segment, and return its rows; they are accepted when this returns.

    Raises:
        LostRaceError: where the slot is taken; nothing was written.
        WarehouseError: where the file cannot be written; nothing was accepted.
    """
    first = events[0]
    folder = table_folder(root, "events", first.campaign_id)
    target = folder / segment_name(first.sequence)
    table = as_table(events)
    temporary = write_temporary(folder, lambda path: write_parquet(table, path))
    if not publish_new(temporary, target):
        raise LostRaceError(
            f"another writer recorded event {first.sequence} of campaign {first.campaign_id[:19]}… first; "
            "reload the history and decide again"
        )
    return table


def write_parquet(table: pa.Table, path: Path | io.BytesIO) -> None:
    """Write rows as the warehouse's Parquet files are written."""
    import pyarrow.parquet as pq

    pq.write_table(table, path, compression="zstd")


def segments(root: Path, campaign_id: str) -> list[Path]:
    """Return a campaign's segments in order; tombstones of a sealed campaign included, its zero-row file not."""
    folder = table_folder(root, "events", campaign_id)
    names = sorted(path.name for path in folder.glob("[0-9]" * 12 + ".parquet"))
    return [folder / name for name in names if name != FIRST]


def read_segment(path: Path, after: int = 0) -> Iterator[Event]:
    """Yield a segment's events with a sequence above `after`.

    Raises:
        DamageError: where the file is no whole segment.
    """
    schema = _schema()
    with _reading(path, schema.names) as file:
        groups = [ix for ix in range(file.num_row_groups) if _may_hold(file.metadata.row_group(ix), after)]
        for batch in file.iter_batches(row_groups=groups, columns=schema.names):
            later = _later(batch, after) if after else batch
            columns = [column.to_pylist() for column in later.select(schema.names).cast(schema).columns]
            yield from (Event(*row) for row in zip(*columns, strict=True))


def _later(batch: pa.RecordBatch, after: int) -> pa.RecordBatch:
    """Return the rows with a sequence above `after`."""
    # Loaded where it is used: that takes longer than reading a small segment.
    import pyarrow.compute as pc

    return batch.filter(pc.greater(batch.column("sequence"), after))


def read_events(root: Path, campaign_id: str, after: int = 0) -> Iterator[Event]:
    """Yield a campaign's events with a sequence above `after`, segment by segment.

    Raises:
        DamageError: where a segment cannot be read.
    """
    # A sequence above `after` can stand in the last segment that starts at or before it.
    names = segments(root, campaign_id)
    start = max((i for i, path in enumerate(names) if path.name <= segment_name(after)), default=0)
    for path in names[start:]:
        yield from read_segment(path, after)


def read_history(root: Path, campaign_id: str) -> pa.Table:
    """Return a campaign's events as rows of the table `events`.

    Raises:
        DamageError: where a segment cannot be read.
    """
    import pyarrow as pa

    tables = [read_table(path, "events") for path in segments(root, campaign_id)]
    return pa.concat_tables([empty_table(_schema()), *tables])


def last_event(root: Path, campaign_id: str) -> Event | None:
    """Return the last event of a campaign; None where it has none.

    Raises:
        DamageError: where a segment cannot be read.
    """
    # The segments behind the first one of a sealed campaign are empty.
    for path in reversed(segments(root, campaign_id)):
        *_, last = (None, *read_segment(path))
        if last is not None:
            return last
    return None


def read_table(path: Path, table: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read one file of a table, whole or some of its columns, with the types of the contract.

    Raises:
        DamageError: where it is cut short or altered beyond reading.
    """
    import pyarrow as pa

    schema = arrow_schema(table)
    chosen = schema if columns is None else pa.schema([schema.field(name) for name in columns])
    # Not through a dataset: a partition folder in the path must not become a column.
    with _reading(path, chosen.names) as file:
        return file.read(chosen.names).select(chosen.names).cast(chosen)


@contextmanager
def _reading(path: Path, columns: Sequence[str]) -> Iterator[pq.ParquetFile]:
    """Open a file that has these columns, and turn what reading it raises into the error that names it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            missing = set(columns) - set(file.schema_arrow.names)
            if missing:
                raise ValueError(f"it lacks the columns {', '.join(sorted(missing))}")
            yield file
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DamageError(
            f"{path} is cut short or altered and cannot be read ({str(error)[:200]}); put back the file from a copy "
            "of the warehouse: every other file still stands"
        ) from error


def _may_hold(group: pq.RowGroupMetaData, after: int) -> bool:
    """Return whether a row group can hold a sequence above `after`."""
    statistics = group.column(_schema().names.index("sequence")).statistics
    return after == 0 or statistics is None or not statistics.has_min_max or statistics.max > after
