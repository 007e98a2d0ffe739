"""Content identities of the practice records: SHA-256 over canonical JSON, in bare hexadecimal (ADR-0232 §15).

The rule is the decision record's own: a digest has no prefix and no domain. For what stands in these records (text,
whole numbers, lists, null, and objects whose keys are ASCII names) its JSON has the bytes of RFC 8785.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

#: Member that explains a record to people; outside every identity.
EXPLANATION: Final = "explanation"

_CANONICAL: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def canonical_id(payload: Any) -> str:
    """Return the identity of a JSON value: 64 lowercase hexadecimal digits.

    >>> canonical_id({"b": 1, "a": ["ä", None]})[:16]
    '1dcbffebb4da091e'
    """
    return hashlib.sha256(_CANONICAL.encode(payload).encode("utf-8")).hexdigest()
