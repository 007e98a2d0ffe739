"""Damaged evidence: one rule for whatever shows what a campaign came to (DESIGN §5).

Every file that a verdict is read from has a digest on record. Who shows a verdict checks these digests first, each
time: size and time of a file prove nothing, and reading a file costs less than judging what stands in it. A file that
does not hold what was written, or that nothing vouches for, is told as the audit tells it, and nothing else is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import duckdb

from opfield.errors import DamageError, OpfieldError, UnknownNameError, WarehouseError
from opfield.warehouse.files import UNREADABLE, Finding, check_ledgers, check_read_files
from opfield.warehouse.lock import holder_of
from opfield.warehouse.session import Warehouse

#: Laws of findings that keep nothing from being read.
HARMLESS: Final = frozenset({"unexpected", "projection"})

#: Laws of findings that a writer at work gives rise to for a moment: it exchanges files, and records them last.
_PASSING: Final = frozenset({"missing", "unrecorded"})

#: Findings that a message lists.
_MOST_LISTED: Final = 8


class FoundDamageError(DamageError):
    """Files of a campaign are not what was written. `opfield audit` lists every finding."""

    def __init__(self, findings: list[Finding], lacking: str) -> None:
        """Keep the findings, and say what there is not because of them."""
        self.findings = findings
        listed = "".join(f"\n  {each}" for each in map(in_words, findings[:_MOST_LISTED]))
        more = f"\n  and {len(findings) - _MOST_LISTED} more" if len(findings) > _MOST_LISTED else ""
        super().__init__(f"the warehouse is damaged, so there is no {lacking}; `opfield audit` finds:{listed}{more}")


def in_words(finding: Finding) -> str:
    """Return a finding in a line."""
    return ": ".join(each for each in (finding.file, finding.law, finding.detail) if each)


def damaged_files(root: Path, campaign_id: str) -> list[Finding]:
    """Return what is wrong with the files that a campaign's verdict is read from; nothing where they stand.

    While somebody writes the campaign, files are exchanged, and what is missing this moment is no finding.
    """
    found: list[Finding] = []
    for _ in range(2):  # a writer may have come and gone while the files were read
        is_written = _is_written(root, campaign_id)
        told = list(check_read_files(root, campaign_id))
        found = [each for each in told if each.law in UNREADABLE]
        if found:
            # Of a seal that was interrupted, files may be gone by plan.
            found = [*(each for each in told if each.law == "seal"), *found]
        if is_written or _is_written(root, campaign_id):
            found = [each for each in found if each.law not in _PASSING]
        if not found:
            break
    return found


def _is_written(root: Path, campaign_id: str) -> bool:
    return holder_of(root, campaign_id) is not None


def refuse_damaged(root: Path, campaigns: Iterable[str], lacking: str) -> None:
    """Check the files of campaigns, but for one that somebody writes: a writer puts right what it finds as it begins.

    Raises:
        FoundDamageError: where files are not what was written; with all that is found.
    """
    still = (each for each in campaigns if not _is_written(root, each))
    found = [each for campaign_id in still for each in damaged_files(root, campaign_id)]
    if found:
        # What stands beside all campaigns is found with each of them.
        raise FoundDamageError(list(dict.fromkeys(found)), lacking)


def refuse_lost(root: Path, lacking: str) -> None:
    """Refuse where a campaign was written whose ledger is gone: it would be left out without a word.

    Raises:
        FoundDamageError: where digests vouch for a ledger of which no file is there; with each of them.
    """
    lost = list(check_ledgers(root))
    if lost:
        raise FoundDamageError(lost, lacking)


def meant_campaign(opened: Warehouse, reference: str | None, lacking: str = "verdict") -> str:
    """Return the campaign that is meant, as `Warehouse.campaign_id` does, where none that may be meant was lost.

    Raises:
        FoundDamageError: where a ledger is gone, and the latest campaign or one that is not known is asked for.
        UnknownNameError: where none or several fit.
    """
    if reference is None:
        refuse_lost(opened.root, lacking)
    try:
        return opened.campaign_id(reference)
    except OpfieldError:
        refuse_lost(opened.root, lacking)
        raise


@contextmanager
def undamaged(root: Path, campaign_id: str, lacking: str = "verdict") -> Iterator[None]:
    """Check a campaign's files, then tell whatever goes wrong in the block as the audit tells it.

    Args:
        root: warehouse folder.
        campaign_id: the campaign.
        lacking: what cannot be shown where something is found, in a word.

    Raises:
        FoundDamageError: where files are not what was written.
    """
    refuse_damaged(root, [campaign_id], lacking)
    with findings_told(root, campaign_id, lacking):
        yield


@contextmanager
def findings_told(root: Path, campaign_id: str, lacking: str = "verdict") -> Iterator[None]:
    """Turn what goes wrong in the block into what the audit finds; it stays as it is where the audit finds nothing."""
    try:
        yield
    except (FoundDamageError, UnknownNameError, duckdb.InterruptException):
        raise
    except Exception as error:
        # A flipped bit may come up anywhere, as any error: a column that is not there, text that is no text.
        if isinstance(error, OpfieldError) and not isinstance(error, WarehouseError):
            found = damaged_files(root, campaign_id)
        else:
            found = read_findings(root, campaign_id)
        if found:
            raise FoundDamageError(found, lacking) from error
        if isinstance(error, duckdb.Error):
            raise OpfieldError(str(error)) from error
        raise


def read_findings(root: Path, campaign_id: str) -> list[Finding]:
    """Return what the audit finds wrong with a campaign, files first: they need no history to be checked."""
    try:
        found = damaged_files(root, campaign_id)
        if found or _is_written(root, campaign_id):
            return found
        # Loaded where something is wrong: it brings what verifies every byte with it.
        from opfield.campaign.audit import audit

        return [each for each in audit(root, campaign_id).findings if each.law not in HARMLESS]
    except OpfieldError as error:
        return [Finding("", "unreadable", str(error))]
