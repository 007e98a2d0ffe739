"""Signatures of reviews: Ed25519 over the canonical form of what was reviewed and said (RFC 8032).

The message is framed under a domain of its own, so that no signature of anything else can stand in for one. Keys are
made and read in the PEM form of PKCS #8, without a password. `cryptography` is imported where a key or a signature is
at hand: most campaigns have none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from opfield.core import canonical_json
from opfield.errors import HistoryError, OpfieldError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_DOMAIN: Final = b"opfield/review/v1\0"
#: Members of a review's payload that its signature covers, beside the campaign.
_COVERED: Final = ("candidate_id", "verdict", "by", "comment", "comparison")
_KEY: Final = re.compile(r"[0-9a-f]{64}")
_SIGNATURE: Final = re.compile(r"[0-9a-f]{128}")


def write_new_key(path: Path) -> str:
    """Write a new private key to a file that only its owner may read; return the public key as 64 hex digits.

    Raises:
        OpfieldError: where the file stands already or cannot be written.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = Ed25519PrivateKey.generate()
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            # The mode above is cut by the umask, which may take even the owner's right away.
            os.fchmod(handle, 0o600)
            file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    except FileExistsError:
        raise OpfieldError(f"{path} stands already; a key is never overwritten, so name another file") from None
    except OSError as error:
        raise OpfieldError(f"cannot write the key to {path}: {error.strerror or error}") from error
    return public_key_of(key)


def read_key(path: Path) -> Ed25519PrivateKey:
    """Return the private key that a file holds.

    Raises:
        OpfieldError: where the file cannot be read, or holds no Ed25519 key in PEM form without a password. Nothing of
            its content is in the message.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise OpfieldError(f"the key {path} cannot be read: {error.strerror or error}") from error
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise OpfieldError(
            f"{path} holds no Ed25519 private key in PEM form without a password; "
            "`opfield review --new-key FILE` makes one"
        )
    return key


def public_key_of(key: Ed25519PrivateKey) -> str:
    """Return the public key as 64 hex digits: the form in which a policy lists it."""
    return key.public_key().public_bytes_raw().hex()


def sign_review(key: Ed25519PrivateKey, campaign_id: str, payload: Mapping[str, Any]) -> dict[str, str]:
    """Return the members `public_key` and `signature` of a review's payload."""
    return {"public_key": public_key_of(key), "signature": key.sign(review_message(campaign_id, payload)).hex()}


def review_message(campaign_id: str, payload: Mapping[str, Any]) -> bytes:
    """Return the bytes that a review's signature covers: the domain, a NUL, and canonical JSON of what was said."""
    told = {member: payload.get(member) for member in _COVERED}
    return _DOMAIN + canonical_json({"campaign_id": campaign_id, **told})


def check_signature(campaign_id: str, payload: Mapping[str, Any]) -> None:
    """Refuse a review that bears a signature which is not its own; one without key and signature is unsigned.

    Raises:
        HistoryError: where key or signature lacks the other, is not hexadecimal, or does not fit what was said.
    """
    public_key, signature = payload.get("public_key"), payload.get("signature")
    if public_key is None and signature is None:
        return
    whose = f"the review of {payload.get('candidate_id')} by {payload.get('by')!r}"
    if not (isinstance(public_key, str) and _KEY.fullmatch(public_key)):
        raise HistoryError(f"{whose} is signed by {public_key!r}, which is no public key of 64 lower-case hex digits")
    if not (isinstance(signature, str) and _SIGNATURE.fullmatch(signature)):
        raise HistoryError(f"{whose} names a key, but its signature is not 128 lower-case hex digits")
    if not _is_signed_by(public_key, signature, review_message(campaign_id, payload)):
        raise HistoryError(f"the signature of {whose} does not fit what it says; review again with the key itself")


def _is_signed_by(public_key: str, signature: str, message: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key)).verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True
