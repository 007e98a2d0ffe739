"""Artifacts that a report keeps in itself: verified, as text, cut with their length stated."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson

from opfield.core import parse_json
from opfield.errors import IdentityError, OpfieldError
from opfield.warehouse.artifacts import read_content
from opfield.warehouse.material import artifact_files, read_artifacts

#: Artifacts that one report keeps, the characters of each, and the size beyond which none is read.
MOST_KEPT: Final = 60
MOST_CHARACTERS: Final = 4000
MOST_BYTES: Final = 8 << 20


def read_evidence(root: Path, campaign_id: str, parts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the artifacts that the cases with the largest changes and the failing cells name, in that order.

    Returns:
        For each `artifact_id`, `media_type`, `size_bytes`, the `text` of it, cut, and the `problem` that kept it from
        being shown; one of the two is None.
    """
    named = _named(parts)
    found: dict[str, dict[str, Any]] = {}
    wanted = set(named[:MOST_KEPT])
    for path in artifact_files(root, campaign_id) if wanted else ():
        for artifact in read_artifacts(path):
            if artifact.artifact_id not in wanted or artifact.artifact_id in found:
                continue
            text, problem = None, None
            if artifact.size_bytes > MOST_BYTES:
                problem = f"its {artifact.size_bytes} bytes are too many for a report; `opfield show` prints it"
            else:
                try:
                    text = as_text(read_content(root, artifact))
                except OpfieldError as error:
                    problem = str(error)
            found[artifact.artifact_id] = {
                "artifact_id": artifact.artifact_id,
                "media_type": artifact.media_type,
                "size_bytes": artifact.size_bytes,
                "text": text,
                "problem": problem,
            }
    return [found[each] for each in named[:MOST_KEPT] if each in found]


def _named(parts: Mapping[str, Any]) -> list[str]:
    """Return the ids of the artifacts that rows name, each once, in the order of the rows."""
    asked = (
        row[member]
        for part, members in (
            ("extremes", ("candidate_artifact", "baseline_artifact")),
            ("failing_cells", ("artifact_id",)),
        )
        for row in parts[part]["rows"] or ()
        for member in members
    )
    return list(dict.fromkeys(each for each in asked if each is not None))


def as_text(content: bytes) -> str:
    """Return content as text, cut with its length stated: JSON indented, and bytes that are no text by their number."""
    try:
        told = content.decode("utf-8")
    except UnicodeDecodeError:
        return f"({len(content)} bytes that are no text)"
    with suppress(IdentityError, orjson.JSONEncodeError):
        told = orjson.dumps(parse_json(told), option=orjson.OPT_INDENT_2).decode()
    return told if len(told) <= MOST_CHARACTERS else f"{told[:MOST_CHARACTERS]}… ({len(told)} characters)"
