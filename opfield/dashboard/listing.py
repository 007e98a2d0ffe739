"""The list of campaigns: read at once, kept in memory, and read anew for those alone that went on."""

from __future__ import annotations

import threading
from collections.abc import Collection
from pathlib import Path
from typing import Final

from opfield.campaign.damage import in_words, read_findings
from opfield.dashboard.address import Address
from opfield.dashboard.snapshot import Row, Snapshot, take
from opfield.errors import OpfieldError, UnknownNameError, WarehouseError
from opfield.warehouse.files import check_ledgers
from opfield.warehouse.layout import FIRST, partition, table_folder
from opfield.warehouse.lock import holder_of
from opfield.warehouse.projection import campaigns_on_disk

#: Campaigns on one page.
PAGE_ROWS: Final = 50

#: As many may have changed for reading them alone to be less than reading all.
_FEW: Final = 16

_PAGE: Final = """
select
    *,
    count(*) over () as in_all,
from part_listed
where (contains(lower(name), lower($1)) or starts_with(replace(campaign_id, 'sha256:', ''), lower($1)))
    and ($2 = '' or coalesce(outcome, if(is_awaiting, 'awaiting_review', state)) = $2)
order by started_at desc nulls last, campaign_id
limit $3 offset $4
"""

_STATES: Final = """
select
    coalesce(outcome, if(is_awaiting, 'awaiting_review', state)) as state,
    count(*) as campaigns,
from part_listed
group by all
order by all
"""

_FITS: Final = """
select
    campaign_id,
    name,
from part_listed
where campaign_id = $1 or name = $1 or (length($1) >= 4 and starts_with(replace(campaign_id, 'sha256:', ''), $1))
-- An id counts before a name, and a name before the beginning of an id.
qualify rank() over (order by campaign_id = $1 desc, name = $1 desc) = 1
order by started_at desc nulls last, campaign_id
limit 12
"""


class Listing:
    """All campaigns of a warehouse, as far as they were when last looked at.

    Attributes:
        root: warehouse folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lock = threading.Lock()
        self._rows: Snapshot | None = None
        self._marks: dict[str, tuple[int, ...]] = {}
        #: Campaigns that can still go on: an ending is the last event there is.
        self._open: set[str] = set()
        self._folder_mark = 0
        self._version = 0

    def refresh(self) -> int:
        """Read what changed since the last time, and return a number that is another one where something did."""
        with self._lock:
            changed = self._changed()
            if self._rows is None or len(changed) > _FEW:
                self._read_all()
            elif changed:
                self._replace(changed, _read(self.root, changed))
            return self._version

    def page(self, address: Address) -> list[Row]:
        """Return one page of the campaigns that an address asks for, the latest first."""
        rows = self._asked(_PAGE, [address.q, address.state, PAGE_ROWS, (address.page - 1) * PAGE_ROWS])
        return [{**row, "is_written": row["state"] == "running" and self._is_written(row)} for row in rows]

    def states(self) -> list[Row]:
        """Return how many campaigns are in each state, or ended with each outcome."""
        return self._asked(_STATES, [])

    def campaign_id(self, reference: str) -> str:
        """Return the campaign that is meant by an id, the beginning of one, or a name.

        Raises:
            UnknownNameError: where none or several fit; listing known ones.
        """
        # A campaign that is known stays known: what it did since is no matter here.
        rows = self._known(reference) if self._rows is not None else []
        if not rows:
            self.refresh()
            rows = self._known(reference)
        if len(rows) == 1:
            return str(rows[0]["campaign_id"])
        known = rows or self._asked(_PAGE, ["", "", 12, 0])
        listed = ", ".join(f"{row['campaign_id'].removeprefix('sha256:')[:12]} ({row['name']})" for row in known)
        problem = "several campaigns fit" if rows else "unknown campaign"
        raise UnknownNameError(f"{problem} {reference[:200]!r}; known: {listed or 'none'}")

    def _known(self, reference: str) -> list[Row]:
        return self._kept(_FITS, [reference])

    def _asked(self, query: str, parameters: list[str | int]) -> list[Row]:
        self.refresh()
        return self._kept(query, parameters)

    def _kept(self, query: str, parameters: list[str | int]) -> list[Row]:
        with self._lock:
            assert self._rows is not None
            return self._rows.rows(query, parameters)

    def _is_written(self, row: Row) -> bool:
        return holder_of(self.root, row["campaign_id"]) is not None

    def _changed(self) -> set[str]:
        """Return the campaigns of which files came or went, and take note of it."""
        events = self.root / "events"
        try:
            folder_mark = events.stat().st_mtime_ns
        except OSError as error:
            raise WarehouseError(f"{events} cannot be read: {error.strerror}; `opfield audit` says more") from error
        watched = set(self._open)
        if folder_mark != self._folder_mark:
            watched |= set(campaigns_on_disk(self.root)) ^ self._marks.keys()
            self._folder_mark = folder_mark
        marks = {each: campaign_mark(self.root, each, ("events", "cells", "candidates")) for each in watched}
        changed = {each for each, mark in marks.items() if self._marks.get(each) != mark}
        self._marks.update(marks)
        return changed

    def _read_all(self) -> None:
        try:
            fresh = take(self.root, "listing", None)
        except WarehouseError:
            fresh = take(self.root, "listing", [])
            damaged = _read(self.root, self._marks.keys() | _lost(self.root))
        else:
            listed = {row["campaign_id"] for row in fresh.rows("select campaign_id from part_listed")}
            damaged = _without_beginning(self.root, (self._marks.keys() | _lost(self.root)) - listed)
        if self._rows is not None:
            self._rows.close()
        self._rows = fresh
        _insert(fresh, damaged)
        self._note()

    def _replace(self, changed: Collection[str], rows: list[Row]) -> None:
        assert self._rows is not None
        for each in sorted(changed):
            self._rows.rows("delete from part_listed where campaign_id = ?", [each])
        _insert(self._rows, rows)
        self._note()

    def _note(self) -> None:
        assert self._rows is not None
        self._version += 1
        ended = self._rows.rows("select campaign_id from part_listed where state not in ('running', 'damaged')")
        self._open = self._marks.keys() - {row["campaign_id"] for row in ended}


def campaign_mark(root: Path, campaign_id: str, tables: Collection[str]) -> tuple[int, ...]:
    """Return what changes whenever a file of one of these tables of a campaign comes, goes or is exchanged."""
    marks = []
    for table in tables:
        try:
            marks.append((root / table / partition(campaign_id)).stat().st_mtime_ns)
        except OSError:
            marks.append(0)
    return tuple(marks)


def _read(root: Path, campaigns: Collection[str]) -> list[Row]:
    """Return the rows of some campaigns; one that cannot be read has a row that says so."""
    chosen = sorted(campaigns)
    if not chosen:
        return []
    try:
        snapshot = take(root, "listing", chosen)
        rows = snapshot.rows("from part_listed")
        snapshot.close()
    except OpfieldError as error:
        if len(chosen) == 1:
            found = read_findings(root, chosen[0])
            return [_damaged(chosen[0], in_words(found[0]) if found else str(error))]
        # Which one it is shows by halves: as few questions as there are halvings of the whole.
        middle = len(chosen) // 2
        return _read(root, chosen[:middle]) + _read(root, chosen[middle:])
    return rows + _without_beginning(root, set(chosen) - {row["campaign_id"] for row in rows})


def _without_beginning(root: Path, campaigns: Collection[str]) -> list[Row]:
    """Return the rows of campaigns without a first event, except for those whose folder was only just made."""
    lost = _lost(root) if campaigns else {}
    return [
        _damaged(each, lost.get(each, "its history does not begin"))
        for each in sorted(campaigns)
        if each in lost or any(path.name != FIRST for path in table_folder(root, "events", each).glob("*.parquet"))
    ]


def _lost(root: Path) -> dict[str, str]:
    """Return the campaigns whose ledger is gone, with what the audit says of each."""
    return {f"sha256:{each.file.partition('=')[2]}": in_words(each) for each in check_ledgers(root)}


def _damaged(campaign_id: str, problem: str) -> Row:
    return {"campaign_id": campaign_id, "name": "", "state": "damaged", "problem": problem}


def _insert(snapshot: Snapshot, rows: list[Row]) -> None:
    for row in rows:
        names = ", ".join(row)
        marks = ", ".join("?" for _ in row)
        snapshot.rows(f"insert into part_listed ({names}) values ({marks})", list(row.values()))
