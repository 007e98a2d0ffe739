"""Identity and outcomes: canonical JSON, domain-separated digests, envelopes, statuses."""

from opfield.core.canonical import canonical_json, parse_json
from opfield.core.digest import digest, digest_hex
from opfield.core.envelope import (
    Envelope,
    check_envelope,
    decode_payload,
    encode_payload,
    envelope_digest,
    open_envelope,
    read_envelope,
    seal,
)
from opfield.core.label import check_label
from opfield.core.outcome import Failure, MissingReason, Status, scrub

__all__ = [
    "Envelope",
    "Failure",
    "MissingReason",
    "Status",
    "canonical_json",
    "check_envelope",
    "check_label",
    "decode_payload",
    "digest",
    "digest_hex",
    "encode_payload",
    "envelope_digest",
    "open_envelope",
    "parse_json",
    "read_envelope",
    "scrub",
    "seal",
]
