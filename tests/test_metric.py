"""Metrics: what a definition may say, and which numbers it admits."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.core import canonical_json, parse_json
from opfield.errors import DeclarationError
from opfield.metric import MAX_MAGNITUDE, Metric

NUMBERS = st.floats() | st.integers() | st.integers(-(10**400), 10**400)


@given(NUMBERS)
def test_admits_exactly_the_finite_numbers_within_the_magnitude(value: float) -> None:
    assert (Metric("m").refusal(value) is None) == (abs(value) <= MAX_MAGNITUDE)


@given(NUMBERS, st.floats(-1e6, 1e6), st.floats(0.001, 1e6))
def test_admits_exactly_what_lies_between_its_bounds(value: float, lower: float, width: float) -> None:
    metric = Metric("m", lower=lower, upper=lower + width)
    assert (metric.refusal(value) is None) == (lower <= value <= lower + width)
    assert metric.refusal(lower) is None
    assert metric.refusal(lower + width) is None
    assert metric.refusal(math.nextafter(lower, -math.inf)) is not None


@given(NUMBERS)
def test_a_binary_metric_admits_0_and_1_only(value: float) -> None:
    assert (Metric("m", kind="binary").refusal(value) is None) == (value in (0, 1))


@given(NUMBERS)
def test_a_count_admits_whole_numbers_from_0_only(value: float) -> None:
    is_count = 0 <= value <= MAX_MAGNITUDE and value == int(value)
    assert (Metric("m", kind="count").refusal(value) is None) == is_count


@pytest.mark.parametrize(
    ("metric", "value", "reason"),
    [
        (Metric("m"), math.nan, "metric 'm' is nan, which is not finite"),
        (Metric("m"), -math.inf, "metric 'm' is -inf, which is not finite"),
        (Metric("m"), 10**400, "metric 'm' is an integer of 1329 bits, beyond the largest magnitude 1e+100"),
        (
            Metric("m", upper=1.0),
            1.0000000000000002,
            "metric 'm' is 1.0000000000000002, above its declared upper bound 1.0",
        ),
        (Metric("m", lower=0), -0.5, "metric 'm' is -0.5, below its declared lower bound 0"),
        (Metric("m", kind="binary"), 0.5, "metric 'm' is 0.5, but a binary metric is 0 or 1"),
        (Metric("m", kind="count"), 0.5, "metric 'm' is 0.5, but a count is a whole number"),
    ],
)
def test_a_refusal_says_what_stood_there_and_what_was_declared(metric: Metric, value: float, reason: str) -> None:
    assert metric.refusal(value) == reason


def test_the_kind_implies_bounds() -> None:
    assert (Metric("m", kind="binary").lower, Metric("m", kind="binary").upper) == (0, 1)
    assert (Metric("m", kind="count").lower, Metric("m", kind="count").upper) == (0, None)
    assert Metric("m", kind="count", lower=3).lower == 3


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"name": ""}, "text of 1 to 200 characters"),
        ({"name": "  "}, "text of 1 to 200 characters"),
        ({"name": "x" * 201}, "text of 1 to 200 characters"),
        ({"name": 5}, "text of 1 to 200 characters"),
        ({"name": "\ud800"}, "lone surrogate"),
        ({"name": "a\0"}, "NUL"),
        ({"direction": "up"}, "'up' is neither maximize nor minimize"),
        ({"direction": 1}, "1 is neither maximize nor minimize"),
        ({"kind": "ordinal"}, "'ordinal' is none of"),
        ({"kind": []}, r"\[\] is none of"),
        ({"unit": 5}, "unit 5 is of type int"),
        ({"evaluator": "\ud800"}, "evaluator .* lone surrogate"),
        ({"description": ""}, "description is empty"),
        ({"lower": math.nan}, "lower is not finite"),
        ({"lower": -math.inf}, "lower is not finite"),
        ({"upper": 1e101}, "upper is not finite within"),
        ({"upper": 10**400}, "upper is not finite within"),
        ({"lower": "0"}, "lower '0' is not a number"),
        ({"lower": True}, "lower True is not a number"),
        ({"lower": 1, "upper": 1}, "lower 1 is not below upper 1"),
        ({"lower": 2, "upper": 1}, "lower 2 is not below upper 1"),
        ({"kind": "binary", "upper": 5}, r"a binary metric lies in 0 … 1"),
        ({"kind": "binary", "lower": -1}, r"a binary metric lies in 0 … 1"),
        ({"kind": "count", "lower": -1}, "a count is never below 0"),
        ({"on_domain_failure": "worst"}, "no lower is declared"),
        ({"on_domain_failure": "worst", "direction": "minimize", "lower": 0}, "no upper is declared"),
        ({"on_domain_failure": "best"}, "'best' is neither"),
        ({"on_domain_failure": True}, "True is neither"),
        ({"on_domain_failure": None}, "None is neither"),
        ({"on_domain_failure": math.nan}, "not finite"),
        ({"on_domain_failure": -1, "lower": 0}, "below its declared lower bound 0"),
        ({"on_domain_failure": 0.5, "kind": "binary"}, "a binary metric is 0 or 1"),
        ({"on_domain_failure": 10**400}, "largest magnitude"),
    ],
)
def test_a_definition_that_no_view_could_read_is_refused(members: dict[str, Any], reason: str) -> None:
    with pytest.raises(DeclarationError, match=reason):
        Metric(**{"name": "m", **members})


@pytest.mark.parametrize(
    ("worth", "text"),
    [("missing", "missing"), ("worst", "worst"), (0, "0.0"), (0.25, "0.25"), (1e-7, "1e-07")],
)
def test_the_worth_of_a_failure_is_kept_as_text(worth: Any, text: str) -> None:
    assert Metric("m", lower=0, on_domain_failure=worth).as_json()["on_domain_failure"] == text


def test_the_ledger_keeps_every_member() -> None:
    metric = Metric("m", "minimize", "s", 0, 10.5, "continuous", "missing", "judge/v1", "how long")
    kept = parse_json(canonical_json(metric.as_json()))
    assert kept == {
        "metric": "m",
        "direction": -1,
        "unit": "s",
        "lower": 0,
        "upper": 10.5,
        "kind": "continuous",
        "on_domain_failure": "missing",
        "evaluator": "judge/v1",
        "description": "how long",
    }
    assert Metric("m").as_json()["direction"] == 1


def test_whole_bounds_mean_the_same_as_floats() -> None:
    left, right = Metric("m", lower=0, upper=1), Metric("m", lower=0.0, upper=1.0)
    assert canonical_json(left.as_json()) == canonical_json(right.as_json())
