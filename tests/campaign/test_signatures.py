"""Signatures of reviews: what they cover, and that nothing else passes for one."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.campaign.signatures import (
    check_signature,
    public_key_of,
    read_key,
    review_message,
    sign_review,
    write_new_key,
)
from opfield.core import canonical_json
from opfield.errors import HistoryError, OpfieldError

CAMPAIGN = "sha256:" + "ab" * 32
SAID: dict[str, Any] = {
    "candidate_id": "sha256:" + "01" * 32,
    "verdict": "approve",
    "by": "Ann",
    "comment": None,
    "comparison": "sha256:" + "02" * 32,
}


@pytest.fixture(scope="module")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "ann.pem"
    write_new_key(path)
    return path


def test_a_new_key_is_its_owners_alone_and_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    public_key = write_new_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text().startswith("-----BEGIN PRIVATE KEY-----\n")
    assert public_key_of(read_key(path)) == public_key
    assert len(bytes.fromhex(public_key)) == 32


def test_a_key_is_never_overwritten(key_file: Path) -> None:
    before = key_file.read_bytes()
    with pytest.raises(OpfieldError, match="stands already"):
        write_new_key(key_file)
    assert key_file.read_bytes() == before


def test_a_file_that_holds_no_key_is_refused_without_showing_it(tmp_path: Path) -> None:
    path = tmp_path / "secret.txt"
    path.write_text("hunter2")
    with pytest.raises(OpfieldError, match="holds no Ed25519 private key") as refused:
        read_key(path)
    assert "hunter2" not in str(refused.value)
    with pytest.raises(OpfieldError, match="cannot be read: No such file"):
        read_key(tmp_path / "nothing")


def test_a_key_of_another_kind_or_with_a_password_is_refused(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    locked = ed25519.Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x")
    )
    for content in (other, locked):
        path = tmp_path / "key.pem"
        path.write_bytes(content)
        with pytest.raises(OpfieldError, match="holds no Ed25519 private key"):
            read_key(path)


def test_the_message_is_the_domain_then_canonical_json() -> None:
    # The form is law: another program signs or verifies a review by it.
    told = canonical_json({"campaign_id": CAMPAIGN, **SAID})
    assert review_message(CAMPAIGN, {**SAID, "public_key": "x", "signature": "y"}) == b"opfield/review/v1\0" + told


@settings(max_examples=40, deadline=None)
@given(
    member=st.sampled_from(["campaign_id", *SAID]),
    other=st.one_of(st.none(), st.text(max_size=3), st.sampled_from(["reject", "approve", "Ann "])),
)
def test_a_signature_covers_every_member(key_file: Path, member: str, other: str | None) -> None:
    signed = {**SAID, **sign_review(read_key(key_file), CAMPAIGN, SAID)}
    check_signature(CAMPAIGN, signed)
    told = {"campaign_id": CAMPAIGN, **signed}
    if told[member] == other:
        return
    told[member] = other
    with pytest.raises(HistoryError, match="does not fit what it says"):
        check_signature(told.pop("campaign_id"), told)


def test_a_signature_by_another_key_is_refused(key_file: Path, tmp_path: Path) -> None:
    signed = {**SAID, **sign_review(read_key(key_file), CAMPAIGN, SAID)}
    with pytest.raises(HistoryError, match="does not fit"):
        check_signature(CAMPAIGN, {**signed, "public_key": write_new_key(tmp_path / "bea.pem")})


def test_key_and_signature_come_together_in_hexadecimal(key_file: Path) -> None:
    check_signature(CAMPAIGN, SAID)
    check_signature(CAMPAIGN, {**SAID, "public_key": None, "signature": None})
    signed = {**SAID, **sign_review(read_key(key_file), CAMPAIGN, SAID)}
    for member in ("public_key", "signature"):
        for value in (None, 7, "", signed[member].upper(), signed[member][:-2], signed[member] + "00"):
            with pytest.raises(HistoryError, match="hex digits"):
                check_signature(CAMPAIGN, {**signed, member: value})
