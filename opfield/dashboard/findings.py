"""What is wrong with a campaign that cannot be read, as the audit finds it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from opfield.errors import OpfieldError
from opfield.warehouse.files import UNREADABLE, Finding, check_campaign_files
from opfield.warehouse.lock import holder_of

#: Findings that a page shows, and the characters of each.
MOST_SHOWN: Final = 20


def read_findings(root: Path, campaign_id: str) -> list[Finding]:
    """Return what the audit finds wrong with a campaign, files first: they need no history to be checked.

    While somebody writes the campaign, a file may be exchanged this moment, and what is missing is no finding.
    """
    try:
        found = [each for each in check_campaign_files(root, campaign_id) if each.law in UNREADABLE]
        if found or holder_of(root, campaign_id) is not None:
            return found
        # Loaded where something is wrong: it brings what verifies every byte with it.
        from opfield.campaign.audit import audit

        return list(audit(root, campaign_id).findings)
    except OpfieldError as error:
        return [Finding("", "unreadable", str(error))]


def finding_in_words(root: Path, campaign_id: str, error: OpfieldError) -> str:
    """Return the first finding in a line, or the error itself where the audit finds nothing."""
    found = read_findings(root, campaign_id)
    return f"{found[0].file}: {found[0].law}: {found[0].detail}" if found else str(error)
