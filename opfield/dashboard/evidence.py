"""Artifacts of the cells that a page shows: verified, as text, cut with their length stated."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from opfield.errors import OpfieldError
from opfield.report.evidence import MOST_BYTES, as_text
from opfield.warehouse.artifacts import read_content
from opfield.warehouse.material import artifact_files, read_artifacts

#: Artifacts that one page shows.
MOST_SHOWN: Final = 12


def read_evidence(root: Path, campaign_id: str, artifact_ids: Iterable[str | None]) -> dict[str, dict[str, Any]]:
    """Return the first of these artifacts by id, each with `media_type`, `size_bytes`, and `text` or `problem`."""
    wanted = list(dict.fromkeys(each for each in artifact_ids if each is not None))[:MOST_SHOWN]
    found: dict[str, dict[str, Any]] = {}
    for path in artifact_files(root, campaign_id) if wanted else ():
        if len(found) == len(wanted):
            break
        try:
            kept = [each for each in read_artifacts(path) if each.artifact_id in wanted]
        except OpfieldError:
            # Which artifact stood in it cannot be told any more: each that is not found says so below.
            continue
        for artifact in kept:
            told: dict[str, Any] = {"media_type": artifact.media_type, "size_bytes": artifact.size_bytes}
            if artifact.size_bytes > MOST_BYTES:
                told["problem"] = f"its {artifact.size_bytes:,} bytes are too many for a page; `opfield show` prints it"
            else:
                try:
                    told["text"] = as_text(read_content(root, artifact))
                except OpfieldError as error:
                    told["problem"] = str(error)
            found[artifact.artifact_id] = told
    lost = {"media_type": None, "size_bytes": None, "problem": "it is gone or damaged; `opfield audit` says more"}
    return {each: found.get(each, lost) for each in wanted}
