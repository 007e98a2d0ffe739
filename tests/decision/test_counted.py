"""Gates that count or compare what was found: what the ledger keeps of them, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import pytest

from opfield.decision import budget, candidate_mean, coverage, failures, mean_delta, worst_delta
from opfield.errors import DeclarationError


def test_failures_tolerate_none_unless_told_otherwise() -> None:
    assert failures().options["max"] == 0
    assert "excess" not in failures().options
    relative = failures(more_than_baseline=2).options
    assert relative["excess"] == 2
    assert "max" not in relative
    both = failures(3, more_than_baseline=0).options
    assert (both["max"], both["excess"]) == (3, 0)


@pytest.mark.parametrize("excess", [-1, 0.5, True, "1", math.nan])
def test_what_exceeds_the_baseline_is_a_count(excess: Any) -> None:
    with pytest.raises(DeclarationError, match=r"more_than_baseline .* is not a whole number of at least 0"):
        failures(more_than_baseline=excess)


def test_failure_codes_are_a_set() -> None:
    assert failures(codes=["b", "a", "b"]).options["codes"] == ["a", "b"]
    lists: list[Any] = ["timeout", [], ()]
    for wrong in lists:
        with pytest.raises(DeclarationError, match="codes is a list of failure codes"):
            failures(codes=wrong)


@pytest.mark.parametrize("at_most", [-0.01, math.nan, math.inf, "1", None, True])
def test_a_budget_is_a_finite_amount(at_most: Any) -> None:
    with pytest.raises(DeclarationError, match=r"budget: at_most is .*(below 0|not a (finite )?number)"):
        budget(at_most)


def test_a_budget_is_of_a_known_resource_over_a_known_spender() -> None:
    assert budget(0).options == {"of": "cost_usd", "at_most": 0, "over": "candidate"}
    wrong: Any = "money"
    with pytest.raises(DeclarationError, match="of 'money' is none of cost_usd, input_tokens"):
        budget(1, wrong)
    with pytest.raises(DeclarationError, match="over 'money' is neither candidate nor campaign"):
        budget(1, over=wrong)


def test_each_can_be_restricted_to_a_scope() -> None:
    within = {"role": "admin"}
    for made in (
        coverage(within=within),
        failures(within=within),
        mean_delta("m", within=within),
        worst_delta("m", within=within),
        candidate_mean("m", at_least=0, within=within),
        budget(1, within=within),
    ):
        assert made.options["within"] == within
    with pytest.raises(DeclarationError, match=r"coverage: within \{\} is neither a group key"):
        coverage(within={})
