"""Failure messages are kept, credentials in them are not."""

from __future__ import annotations

import pytest

from opfield.core import MissingReason, Status, scrub


def test_statuses_and_reasons_are_the_words_of_the_tables() -> None:
    assert set(Status) == {"success", "domain_failure", "infrastructure_failure", "cancelled"}
    assert set(MissingReason) == {"not_applicable", "judge_failed", "not_finite", "not_emitted"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer ***"),
        ("Proxy-Authorization: Basic dXNlcjpwdw==", "Proxy-Authorization: Basic ***"),
        ("got bearer abcdef123", "got bearer ***"),
        ('{"api_key": "abcd1234", "k": 1}', '{"api_key": "***", "k": 1}'),
        ("MY_SERVICE_TOKEN=abcdefgh and more", "MY_SERVICE_TOKEN=*** and more"),
        ("password: hunter22", "password: ***"),
        ("key sk-proj-abcdefghijkl is wrong", "key *** is wrong"),
        ("ghp_abcdefghijkl1234", "***"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.sig", "***"),
        ("redis://:pw@host/0 and https://me:pw@host", "redis://***@host/0 and https://***@host"),
    ],
)
def test_credentials_are_scrubbed(text: str, left: str) -> None:
    assert scrub(text) == left


@pytest.mark.parametrize(
    "text",
    ["skateboarding skillfulness", "12 tokens: fine", "https://host:80/a@b", "bearer of bad news", "sk-1"],
)
def test_other_words_stay(text: str) -> None:
    assert scrub(text) == text


def test_given_secrets_are_removed_word_for_word_longest_first() -> None:
    assert scrub("x swordfish y swordfish99 z", ("swordfish", "swordfish99")) == "x *** y *** z"
    assert scrub("a.c abc", ("a.c1", "", "abc")) == "a.c abc"
