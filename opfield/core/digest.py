"""Domain-separated digests: one role, one domain, so that no digest can stand in for another."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from opfield.errors import IdentityError

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


def digest(domain: str, *parts: str | bytes) -> str:
    """Return `sha256:<hex>` over the domain, one NUL, then each part behind its length (DESIGN §4).

    Args:
        domain: role of the digest, such as `opfield/envelope/v1`; holds no NUL.
        parts: byte strings; text is encoded as UTF-8.

    Raises:
        IdentityError: for text with a lone surrogate, or a domain with a NUL.

    >>> digest("opfield/seed/v1", "ab", "c") == digest("opfield/seed/v1", "a", "bc")
    False
    """
    if "\0" in domain:
        raise IdentityError(f"digest domain {domain!r} holds a NUL, which marks where a domain ends; remove it")
    try:
        state = hashlib.sha256(domain.encode() + b"\0")
        for part in parts:
            content = part.encode() if isinstance(part, str) else part
            state.update(len(content).to_bytes(8, "big"))
            state.update(content)
    except UnicodeEncodeError:
        raise IdentityError("text with a lone surrogate is not Unicode and has no digest; remove it") from None
    return "sha256:" + state.hexdigest()


def digest_hex(value: str) -> str:
    """Return the 64 hexadecimal digits of a digest, checked before they name a file or a folder.

    Raises:
        IdentityError: where `value` is not `sha256:` and 64 lowercase hexadecimal digits.

    >>> digest_hex("sha256:" + "0" * 64) == "0" * 64
    True
    """
    if not isinstance(value, str) or not _DIGEST.fullmatch(value):
        raise IdentityError(f"{value!r} is not a digest: expected sha256: and 64 lowercase hexadecimal digits")
    return value.removeprefix("sha256:")
