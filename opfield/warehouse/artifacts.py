"""Artifacts: immutable retained material, named by a digest over what it is (§18.5).

Small content stands inline in the `artifacts` table; large content is a file of its own under `blobs/`, named by the
digest of its bytes and shared by all campaigns of the warehouse.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from opfield.core import canonical_json, digest
from opfield.errors import DamageError, WarehouseError
from opfield.warehouse.durable import write_bytes_once

#: Content up to this many bytes stands inline in the table.
INLINE_LIMIT: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Artifact:
    """One retained artifact: a row of the table `artifacts`, less the campaign.

    Attributes:
        artifact_id: digest over media type, schema and content.
        media_type: such as `application/json`.
        schema: schema of the content; None where it has none.
        size_bytes: size of the content.
        content: the bytes, where small.
        location: path below the warehouse, where large.
    """

    artifact_id: str
    media_type: str
    schema: str | None
    size_bytes: int
    content: bytes | None
    location: str | None


def artifact_id(content: bytes, media_type: str, schema: str | None) -> str:
    """Return the identity of an artifact."""
    return digest("opfield/artifact/v1", media_type, schema or "", content)


def encode_content(content: Any) -> bytes:
    """Return bytes as they are, text as UTF-8, anything else as canonical JSON."""
    if isinstance(content, bytes | bytearray | memoryview):
        return bytes(content)
    return content.encode("utf-8") if isinstance(content, str) else canonical_json(content)


def retain(
    content: Any,
    *,
    media_type: str = "application/json",
    schema: str | None = None,
    root: Path | None = None,
) -> Artifact:
    """Return the artifact of `content`; large content is written durably below `root` before this returns.

    Args:
        content: bytes, text, or a JSON value.
        media_type: media type of the content.
        schema: schema of the content.
        root: warehouse folder; None keeps any size inline.

    Raises:
        IdentityError: where a JSON value has no canonical form.
        WarehouseError: where the file cannot be written.
    """
    encoded = encode_content(content)
    identity = artifact_id(encoded, media_type, schema)
    if root is None or len(encoded) <= INLINE_LIMIT:
        return Artifact(identity, media_type, schema, len(encoded), encoded, None)
    name = hashlib.sha256(encoded).hexdigest()
    location = f"blobs/{name[:2]}/{name}"
    if not (root / location).exists():
        write_bytes_once(root / location, encoded)
    return Artifact(identity, media_type, schema, len(encoded), None, location)


def read_content(root: Path, artifact: Artifact) -> bytes:
    """Return the verified content of an artifact.

    Raises:
        WarehouseError: where the material was expired or its file is gone.
        DamageError: where the content is not what the identity names.
    """
    if artifact.content is not None:
        content = artifact.content
    elif artifact.location is not None:
        path = (root / artifact.location).resolve()
        if not path.is_relative_to((root / "blobs").resolve()):
            raise DamageError(f"artifact {artifact.artifact_id} points outside blobs/: {artifact.location!r}")
        try:
            content = path.read_bytes()
        except OSError as error:
            raise WarehouseError(
                f"artifact {artifact.artifact_id}: {artifact.location} cannot be read ({error.strerror})"
            ) from None
    else:
        raise WarehouseError(f"artifact {artifact.artifact_id} was expired: its content is no longer kept")
    if artifact_id(content, artifact.media_type, artifact.schema) != artifact.artifact_id:
        where = artifact.location or "the artifacts table"
        raise DamageError(f"artifact {artifact.artifact_id} in {where} does not hold what its identity names")
    return content
