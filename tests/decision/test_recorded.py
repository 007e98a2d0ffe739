"""Gates over what is recorded beside the cells: reviewers and their keys, and quantiles."""

from __future__ import annotations

import math
from typing import Any

import pytest

from opfield.decision import percentile, review
from opfield.errors import DeclarationError

KEYS = ("a" * 64, "b" * 64)


def test_a_review_keeps_its_keys_once_and_in_order() -> None:
    assert review().options == {"approvals": 1}
    assert review(2, keys=(KEYS[1], KEYS[0].upper(), KEYS[0])).options == {"approvals": 2, "keys": list(KEYS)}


@pytest.mark.parametrize("approvals", [0, -1, 1.0, True, "1", None])
def test_approvals_are_counted(approvals: Any) -> None:
    with pytest.raises(DeclarationError, match=r"approvals .* is not a whole number of at least 1"):
        review(approvals)


def test_no_more_approvals_than_keys_can_give() -> None:
    with pytest.raises(DeclarationError, match="2 approvals cannot come from 1 keys"):
        review(2, keys=(KEYS[0], KEYS[0].upper()))


@pytest.mark.parametrize("keys", ["a" * 64, ["a" * 63], ["g" * 64], [5], [b"a" * 64], [""]])
def test_a_key_is_64_hex_digits(keys: Any) -> None:
    with pytest.raises(DeclarationError, match="keys are public keys of 64 hex digits"):
        review(keys=keys)


def test_a_percentile_is_of_a_resource_or_of_a_metric() -> None:
    made = percentile("duration_s", at_most=2)
    assert (made.metric, made.options) == (None, {"q": 0.95, "alpha": 0.025, "at_most": 2, "of": "duration_s"})
    assert percentile(metric="m", ratio_at_most=1.5).metric == "m"
    ways: list[dict[str, Any]] = [{}, {"of": "tokens", "metric": "m"}]
    for names in ways:
        with pytest.raises(DeclarationError, match="name a resource or a metric, and not both"):
            percentile(at_most=1, **names)
    unknown: Any = "money"
    with pytest.raises(DeclarationError, match="of 'money' is none of duration_s"):
        percentile(unknown, at_most=1)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"q": 0, "at_most": 1}, "q is 0, not between 0 and 1"),
        ({"q": 1, "at_most": 1}, "q is 1, not between 0 and 1"),
        ({"q": 95, "at_most": 1}, "q is 95, not between 0 and 1"),
        ({"q": math.nan, "at_most": 1}, "not a finite number"),
        ({"alpha": 0.5, "at_most": 1}, "alpha is 0.5, not above 0 and below 0.5"),
        ({"at_most": math.inf}, "at_most is inf, not a finite number"),
        ({"ratio_at_most": "2"}, "ratio_at_most is '2', not a number"),
        ({}, "needs at_most, ratio_at_most, or both"),
    ],
)
def test_a_percentile_needs_bounds_that_can_be_met(wrong: Any, reason: str) -> None:
    with pytest.raises(DeclarationError, match=reason):
        percentile("duration_s", **wrong)
