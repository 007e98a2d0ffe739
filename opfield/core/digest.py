"""Domain-separated digests: one role, one domain, so that no digest can stand in for another."""

from __future__ import annotations

import hashlib
import re

from opfield.errors import IdentityError

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def digest(domain: str, *parts: str | bytes) -> str:
    """Return `sha256:<hex>` over the domain, one NUL, then each part behind its length (DESIGN §4).

    Args:
        domain: role of the digest, such as `opfield/envelope/v1`.
        parts: byte strings; text is encoded as UTF-8.

    >>> digest("opfield/seed/v1", "ab", "c") == digest("opfield/seed/v1", "a", "bc")
    False
    """
    state = hashlib.sha256(domain.encode() + b"\0")
    for part in parts:
        content = part.encode("utf-8") if isinstance(part, str) else part
        state.update(len(content).to_bytes(8, "big"))
        state.update(content)
    return "sha256:" + state.hexdigest()


def digest_hex(value: str) -> str:
    """Return the hexadecimal part of a digest, checked before it names a file or a folder.

    Raises:
        IdentityError: where `value` is not `sha256:` and 64 lowercase hexadecimal digits.

    >>> digest_hex("sha256:" + "0" * 64) == "0" * 64
    True
    """
    if not _DIGEST.fullmatch(value):
        raise IdentityError(f"{value!r} is not a digest: expected sha256: and 64 lowercase hexadecimal digits")
    return value.removeprefix("sha256:")
