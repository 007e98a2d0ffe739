"""Digests: the golden vectors bit for bit, and no two different calls that read the same bytes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from opfield.core import digest, digest_hex
from opfield.errors import IdentityError

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "identity.json").read_text())
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
DOMAINS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@pytest.mark.parametrize("vector", GOLDEN["digest"], ids=lambda vector: vector["domain"])
def test_reproduces_the_golden_vectors(vector: dict[str, Any]) -> None:
    assert digest(vector["domain"], *vector["parts"]) == vector["digest"]


@given(DOMAINS, st.lists(TEXTS | st.binary()))
def test_is_sha_256_over_domain_nul_and_length_prefixed_parts(domain: str, parts: list[str | bytes]) -> None:
    written = domain.encode() + b"\0"
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        written += len(content).to_bytes(8, "big") + content
    assert digest(domain, *parts) == "sha256:" + hashlib.sha256(written).hexdigest()


@given(st.tuples(DOMAINS, st.lists(TEXTS)), st.tuples(DOMAINS, st.lists(TEXTS)))
def test_differs_wherever_domain_or_parts_differ(left: tuple[str, list[str]], right: tuple[str, list[str]]) -> None:
    assume(left != right)
    assert digest(left[0], *left[1]) != digest(right[0], *right[1])


def test_refuses_a_domain_that_could_stand_in_for_another() -> None:
    with pytest.raises(IdentityError, match="holds a NUL"):
        digest("a\0" + "\0" * 8)


def test_refuses_text_that_is_not_unicode() -> None:
    for arguments in (("a", "\ud800"), ("\ud800",)):
        with pytest.raises(IdentityError, match="lone surrogate"):
            digest(*arguments)


@given(st.text() | st.from_regex(r"sha256:[0-9a-fA-F]{63,65}\n?", fullmatch=True))
def test_digest_hex_returns_64_plain_digits_or_refuses(text: str) -> None:
    try:
        found = digest_hex(text)
    except IdentityError:
        return
    assert len(found) == 64
    assert set(found) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    "value",
    ["", "sha256:", "sha1:" + "0" * 64, "sha256:" + "A" * 64, "sha256:" + "0" * 64 + "\n", "../x", None],
)
def test_digest_hex_refuses_what_must_not_name_a_file(value: Any) -> None:
    with pytest.raises(IdentityError, match="is not a digest"):
        digest_hex(value)
