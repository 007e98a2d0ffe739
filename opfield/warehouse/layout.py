"""Names inside a warehouse folder. Identities from outside never become names: only checked digests and numbers do."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from opfield.core import digest_hex

MARKER: Final = "warehouse.json"
OPEN_SQL: Final = "open.sql"
EMPTY: Final = "empty.parquet"
#: Partition that holds each table's zero-row file, so that the table opens when nothing ran yet.
NO_CAMPAIGN: Final = "campaign=none"
#: Folder of what belongs to no campaign: the tables of the run-binding boundary, and the digests of their files.
PRACTICE: Final = "practice"
#: Folder in it that holds what landed, one file a landing; all else there follows from these.
LANDINGS: Final = "landings"
#: Name of a campaign's zero-row file in each table.
FIRST: Final = "000000000000.parquet"
#: Record of a sealed campaign's file digests; where it stands, the campaign is sealed.
SEALED: Final = "sealed.json"
#: Plan of a seal under way; where it stands, the next writer finishes the seal.
SEAL_PLAN: Final = "seal-plan.json"


def partition(campaign_id: str) -> str:
    """Return the partition folder's name of a campaign."""
    return f"campaign={digest_hex(campaign_id)}"


def table_folder(root: Path, table: str, campaign_id: str) -> Path:
    """Return where a campaign's files of a table lie."""
    return root / table / partition(campaign_id)


def practice_folder(root: Path, table: str) -> Path:
    """Return where the files of a table of the run-binding boundary lie."""
    return root / PRACTICE / table


def segment_name(first_sequence: int) -> str:
    """Return the name of the segment that starts at a sequence; it sorts as the sequence does."""
    return f"{first_sequence:012d}.parquet"


def digests_folder(root: Path, campaign_id: str) -> Path:
    """Return where the digests of a campaign's files lie, one JSON file for each segment."""
    return root / "digests" / partition(campaign_id)


def lock_file(root: Path, campaign_id: str) -> Path:
    """Return the file that a campaign's writer holds locked."""
    return root / "locks" / f"{digest_hex(campaign_id)}.lock"


def attempts_file(root: Path, campaign_id: str) -> Path:
    """Return the operational record of attempts that did not become cells."""
    return root / "attempts" / f"{digest_hex(campaign_id)}.jsonl"


def checkpoint_file(root: Path, campaign_id: str) -> Path:
    """Return the disposable checkpoint of a campaign's reduced history."""
    return root / "checkpoints" / f"{digest_hex(campaign_id)}.checkpoint"


def relative(root: Path, path: Path) -> str:
    """Return a path as the warehouse names it: relative to the root, with forward slashes."""
    return path.relative_to(root).as_posix()
