"""The board: what each address shows, read when it is asked for and kept for as long as no file of it changes."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from opfield.campaign.damage import FoundDamageError, findings_told, in_words, undamaged
from opfield.campaign.judge import judging_views
from opfield.campaign.reducer import fold
from opfield.dashboard.address import Address
from opfield.dashboard.evidence import read_evidence
from opfield.dashboard.listing import PAGE_ROWS, Listing, campaign_mark
from opfield.dashboard.snapshot import Row, Snapshot, first_event_row, take
from opfield.errors import OpfieldError, UnknownNameError, WarehouseError, unknown_name
from opfield.warehouse.contract import TABLE_NAMES
from opfield.warehouse.files import check_ledgers
from opfield.warehouse.ledger import Event
from opfield.warehouse.lock import holder_of
from opfield.warehouse.store import default_root, open_store
from opfield.warehouse.views import ViewSet

#: Snapshots that are kept: those of the pages that are looked at.
_MOST_KEPT: Final = 12

#: Candidates on one page of a campaign: each is a line of a table, of the forest, of coverage and of costs.
CANDIDATE_ROWS: Final = 25

#: While a campaign runs, its verdict is read anew for at most this share of the time.
_VERDICT_SHARE: Final = 0.2

Mark = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class View:
    """What one address shows at one time.

    Attributes:
        address: the address.
        kind: the address's kind, or `problem`.
        mark: another one whenever the view would be another one.
        told: what the template of this kind speaks of.
    """

    address: Address
    kind: str
    mark: Mark
    told: Mapping[str, Any] = field(repr=False)


@dataclass(slots=True)
class _Verdict:
    """The verdict on a campaign as it was last read, and the reading that is under way."""

    mark: Mark = ()
    snapshot: Snapshot | None = None
    sequence: int = 0
    read_at: float = float("-inf")
    problem: str | None = None
    waiting: Future[None] | None = None


class Board:
    """Views over one warehouse; safe to ask from many threads.

    Attributes:
        root: warehouse folder.
        patience_s: how long a view waits for the first verdict on a campaign, before it is shown without.
        listing: its campaigns.
    """

    def __init__(self, root: Path, patience_s: float = 0.5) -> None:
        self.root = root
        self.patience_s = patience_s
        self.listing = Listing(root)
        self._snapshots: OrderedDict[tuple[str, ...], tuple[Mark, Snapshot]] = OrderedDict()
        self._verdicts: OrderedDict[str, _Verdict] = OrderedDict()
        self._views: dict[str, ViewSet] = {}
        self._lock = threading.RLock()
        self._reader = ThreadPoolExecutor(1, "opfield-verdict")

    def mark(self, address: Address) -> Mark:
        """Return what changes whenever `view` would give another answer; costs a few questions to the file system."""
        try:
            if address.kind == "campaigns":
                return (self.listing.refresh(), *(row["is_written"] for row in self.listing.page(address)))
            return self._mark_of(self.listing.campaign_id(address.campaign))
        except OpfieldError as error:
            return (str(error),)

    def view(self, address: Address) -> View:
        """Return what an address shows; what cannot be shown is a view of kind `problem`."""
        mark = self.mark(address)
        try:
            if address.kind == "campaigns":
                return View(address, "campaigns", mark, self._campaigns(address))
            campaign_id = self.listing.campaign_id(address.campaign)
        except OpfieldError as error:
            # A campaign whose ledger is gone is known by nothing but its records.
            findings = [each.as_json() for each in check_ledgers(self.root)]
            return View(address, "problem", mark, {"problem": str(error), "findings": findings})
        try:
            with self._lock, findings_told(self.root, campaign_id, "page"):
                told = self._told(address, campaign_id)
            return View(address, address.kind, mark, told)
        except FoundDamageError as error:
            findings = [each.as_json() for each in error.findings]
            return View(address, "problem", mark, {"problem": "the warehouse is damaged", "findings": findings})
        except OpfieldError as error:
            return View(address, "problem", mark, {"problem": str(error), "findings": []})

    def _mark_of(self, campaign_id: str) -> Mark:
        verdict = self._verdicts.get(campaign_id)
        state = None if verdict is None else (verdict.sequence, verdict.problem, verdict.snapshot is None)
        return (self._files_mark(campaign_id), holder_of(self.root, campaign_id) is not None, state)

    def _files_mark(self, campaign_id: str) -> Mark:
        return campaign_mark(self.root, campaign_id, TABLE_NAMES)

    def _campaigns(self, address: Address) -> dict[str, Any]:
        rows = self.listing.page(address)
        return {
            "rows": rows,
            "page_rows": PAGE_ROWS,
            "in_all": rows[0]["in_all"] if rows else 0,
            "states": self.listing.states(),
        }

    def _told(self, address: Address, campaign_id: str) -> dict[str, Any]:
        standing = self._snapshot("standing", campaign_id)
        facts = standing.rows("from part_facts")
        if not facts:
            raise WarehouseError("its history does not begin")
        is_written = holder_of(self.root, campaign_id) is not None
        told: dict[str, Any] = {"facts": facts[0], "campaign_id": campaign_id, "is_written": is_written}
        if address.kind == "case":
            return told | self._case(address, campaign_id, standing)
        verdict = self._verdict(campaign_id, facts[0])
        told |= {"verdict_of": verdict.sequence, "verdict_problem": verdict.problem}
        told["has_verdict"] = verdict.snapshot is not None
        if address.kind == "candidate":
            return told | self._candidate(address, campaign_id, standing, verdict.snapshot)
        return told | self._campaign(address, standing, verdict.snapshot)

    def _campaign(self, address: Address, standing: Snapshot, verdict: Snapshot | None) -> dict[str, Any]:
        page = [CANDIDATE_ROWS, (address.page - 1) * CANDIDATE_ROWS]
        told: dict[str, Any] = {
            "page_rows": CANDIDATE_ROWS,
            "arms": standing.rows("from part_arms order by position limit ? offset ?", page),
            "arms_in_all": standing.rows("select count(*) as arms from part_arms")[0]["arms"],
            "failures": standing.rows("from part_failures"),
            "latest": standing.rows("from part_latest order by sequence desc"),
            "coverage": standing.rows("from part_coverage order by position, bin"),
            "costs": standing.rows("from part_costs order by position limit ? offset ?", page),
            "verdicts": [],
            "in_all": 0,
        }
        if verdict is None:
            return told
        rows = verdict.rows("from part_verdicts order by position limit ? offset ?", page)
        ladder = verdict.rows(_LADDER, page)
        told |= {
            "focus": verdict.rows("from focus")[0],
            "verdicts": [
                {**row, "gates": [each for each in ladder if each["candidate_id"] == row["candidate_id"]]}
                for row in rows
            ],
            "in_all": verdict.rows("select count(*) as candidates from part_verdicts")[0]["candidates"],
            "forest": verdict.rows(_FOREST, page),
            "margins": verdict.rows("select name, value from part_margins semi join focus using (metric)"),
            "conclusion": verdict.rows("from part_conclusion")[0],
        }
        return told

    def _candidate(
        self, address: Address, campaign_id: str, standing: Snapshot, verdict: Snapshot | None
    ) -> dict[str, Any]:
        arm = _candidate_of(standing, address.candidate)
        chosen = self._snapshot("candidate", campaign_id, {"asked_candidate": arm["candidate_id"]})
        described = chosen.rows("from part_described")
        page = [PAGE_ROWS, (address.page - 1) * PAGE_ROWS]
        told: dict[str, Any] = {
            "page_rows": PAGE_ROWS,
            "arm": arm,
            "described": described[0] if described else None,
            "focus": chosen.rows("from focus")[0],
            "slopes": chosen.rows("from part_slopes"),
            "cases": chosen.rows(
                "from part_cases_changed order by mean_delta nulls first, failed desc, case_id limit ? offset ?", page
            ),
            "in_all": chosen.rows("select count(*) as cases from part_cases_changed")[0]["cases"],
            "gates": [],
            "changes": [],
        }
        if verdict is not None:
            named = [arm["candidate_id"]]
            rows = verdict.rows("from part_verdicts where candidate_id = ?", named)
            told["verdict"] = rows[0] if rows else None
            told["gates"] = verdict.rows("from part_ladder where candidate_id = ? order by gate_ix", named)
            told["changes"] = verdict.rows("from part_changes where candidate_id = ? order by metric_ix", named)
        return told

    def _case(self, address: Address, campaign_id: str, standing: Snapshot) -> dict[str, Any]:
        chosen = self._snapshot("case", campaign_id, {"asked_case": address.case})
        facts = chosen.rows("from part_case_facts")
        cells = chosen.rows("from part_case_cells")
        if not facts and not cells:
            raise UnknownNameError(f"the campaign declares no case {address.case[:200]!r}; its page lists cases")
        if address.candidate:
            arm = _candidate_of(standing, address.candidate)
            cells = [each for each in cells if each["position"] == 0 or each["candidate_id"] == arm["candidate_id"]]
        return {
            "case": facts[0] if facts else None,
            "cells": cells,
            "in_all": cells[0]["in_all"] if cells else 0,
            "changes": chosen.rows("from part_case_changes"),
            "focus": chosen.rows("from focus")[0],
            "evidence": read_evidence(self.root, campaign_id, [each["artifact_id"] for each in cells]),
        }

    def _snapshot(self, reading: str, campaign_id: str, asked: Mapping[str, str] | None = None) -> Snapshot:
        """Return the kept snapshot, or another one where files changed since."""
        key = (reading, campaign_id, *(asked or {}).values())
        mark = self._files_mark(campaign_id)
        with self._lock:
            kept = self._snapshots.get(key)
            if kept is not None and kept[0] == mark:
                self._snapshots.move_to_end(key)
                return kept[1]
            # How far a campaign is can be told without what judges it.
            with undamaged(self.root, campaign_id, "page"):
                views = None if reading == "standing" else self._judging(campaign_id)
                fresh = take(self.root, reading, [campaign_id], asked, views)
            self._snapshots[key] = (mark, fresh)
            self._snapshots.move_to_end(key)
            while len(self._snapshots) > _MOST_KEPT:
                self._snapshots.popitem(last=False)
            return fresh

    def _judging(self, campaign_id: str) -> ViewSet:
        """Return the relations by which a campaign is judged, which its first event fixes."""
        if campaign_id not in self._views:
            row = first_event_row(self.root, campaign_id)
            if row is None:
                raise WarehouseError("its history does not begin")
            self._views[campaign_id] = judging_views(self.root, campaign_id, fold([Event(**row)]).started)
        return self._views[campaign_id]

    def _verdict(self, campaign_id: str, facts: Row) -> _Verdict:
        """Return the verdict as far as it is read: that is done in the background, for cells must not wait for it."""
        verdict = self._verdicts.setdefault(campaign_id, _Verdict())
        self._verdicts.move_to_end(campaign_id)
        while len(self._verdicts) > _MOST_KEPT:
            self._verdicts.popitem(last=False)
        mark = self._files_mark(campaign_id)
        if verdict.mark != mark and (verdict.waiting is None or verdict.waiting.done()):
            is_open = facts["state"] == "running"
            cost_s = verdict.snapshot.cost_s if verdict.snapshot is not None and is_open else 0.0
            if time.monotonic() - verdict.read_at >= cost_s / _VERDICT_SHARE:
                verdict.waiting = self._reader.submit(self._read_verdict, verdict, campaign_id, mark, facts["events"])
        if verdict.snapshot is None and verdict.waiting is not None:
            wait([verdict.waiting], self.patience_s)
            if verdict.waiting.done():
                # What is no OpfieldError is a fault of ours, and must not vanish in a thread.
                verdict.waiting.result()
        return verdict

    def _read_verdict(self, verdict: _Verdict, campaign_id: str, mark: Mark, events: int) -> None:
        try:
            with undamaged(self.root, campaign_id):
                verdict.snapshot = take(self.root, "verdict", [campaign_id], views=self._judging(campaign_id))
            verdict.problem = None
        except FoundDamageError as error:
            # What was read before is of files that stand no more.
            verdict.snapshot, verdict.problem = None, f"the warehouse is damaged: {in_words(error.findings[0])}"
        except OpfieldError as error:
            verdict.problem = f"the SQL that judges this campaign cannot answer: {error}"
        verdict.sequence, verdict.mark, verdict.read_at = events, mark, time.monotonic()


_LADDER: Final = """
select part_ladder.*
from part_ladder
semi join (from part_verdicts order by position limit $1 offset $2) as shown_verdicts using (candidate_id)
order by candidate_id, gate_ix
"""

_FOREST: Final = """
select
    label,
    decision,
    mean_delta,
    ci_low,
    ci_high,
from part_verdicts
order by position
limit $1 offset $2
"""

_CANDIDATES: Final = """
from part_arms
where candidate_id = $1 or label = $1 or (length($1) >= 4 and starts_with(replace(candidate_id, 'sha256:', ''), $1))
order by candidate_id = $1 desc, label = $1 desc, position
limit 2
"""


def _candidate_of(standing: Snapshot, reference: str) -> Row:
    rows = standing.rows(_CANDIDATES, [reference])
    if not rows or (len(rows) > 1 and reference not in (rows[0]["candidate_id"], rows[0]["label"])):
        known = standing.rows("select label from part_arms order by position limit 20")
        raise unknown_name("candidate", reference[:200], (row["label"] for row in known))
    return rows[0]


@cache
def board(root: Path | None = None) -> Board:
    """Return the board over a warehouse, one for the whole process, so that pages share what was read.

    Args:
        root: warehouse folder; `$OPFIELD_WAREHOUSE`, or `./warehouse` where None.

    Raises:
        WarehouseError: where there is no warehouse.
    """
    return Board(open_store(root or default_root()).root)
