"""Labels: any Unicode text is kept exactly, everything else is refused with the remedy."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.core import check_label
from opfield.errors import DeclarationError


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=200))
def test_text_is_accepted(text: str) -> None:
    check_label("case id", text)


@pytest.mark.parametrize("text", ["/", "..", "../../etc", "a:b", "a\nb", "\t", " ", "\U0001f600", "e" * 1024])
def test_awkward_text_is_accepted(text: str) -> None:
    check_label("case id", text)


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        (1, "of type int, not text; .* write '1'"),
        (None, "of type NoneType, not text"),
        (b"a", "of type bytes, not text"),
        ("", "a case id is empty"),
        ("a\0b", "holds a NUL"),
        ("\ud83d", "lone surrogate"),
        ("x" * 10_240, "10240 bytes long, at most 1024"),
        ("\u00e9" * 513, "1026 bytes long, at most 1024"),
    ],
)
def test_what_is_no_label_is_refused(label: Any, reason: str) -> None:
    with pytest.raises(DeclarationError, match=reason):
        check_label("case id", label)
