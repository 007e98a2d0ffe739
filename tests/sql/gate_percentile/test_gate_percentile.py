"""The gate `percentile`: what the recorded limits decide, and what leaves it open."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

OPEN = "indeterminate"
Limits = tuple[float, float, float] | None


def judged(options: dict[str, Any], quantile: Limits, ratio: Limits = None, reason: str | None = None) -> Campaign:
    results = []
    for measure, limits in (("quantile", quantile), ("ratio", ratio)):
        estimate, low, high = limits or (None, None, None)
        members = {"estimate": estimate, "low": low, "high": high, "p_value": None, "reason": reason}
        results.append({"candidate_id": "c1", "measure": measure, **members})
    payload = {"name": "slow", "gate_ix": 0, "results": results}
    return Campaign(
        cases={"a": {}},
        metrics=[Metric("m")],
        gates=[{"kind": "percentile", "name": "slow", "metric": "m", "options": options}],
        trials=[Trial("base", "a", 0, {"m": 1.0}), Trial("c1", "a", 0, {"m": 2.0})],
        records=[("evidence.recorded", payload)],
    )


@pytest.mark.parametrize(
    ("options", "quantile", "ratio", "status"),
    [
        ({"at_most": 5}, (4, 3, 5), None, "pass"),
        ({"at_most": 5}, (4, 3, 5.1), None, OPEN),
        ({"at_most": 5}, (6, 5, 7), None, OPEN),
        ({"at_most": 5}, (6, 5.1, 7), None, "fail"),
        ({"at_most": 0}, (0, 0, 0), None, "pass"),
        ({"ratio_at_most": 2}, (9, 8, 10), (1.5, 1.2, 2), "pass"),
        ({"ratio_at_most": 2}, (9, 8, 10), (1.5, 1.2, 2.5), OPEN),
        ({"ratio_at_most": 2}, (9, 8, 10), (3, 2.1, 4), "fail"),
        ({"at_most": 5, "ratio_at_most": 2}, (4, 3, 5), (1.5, 1.2, 2), "pass"),
        ({"at_most": 5, "ratio_at_most": 2}, (4, 3, 5), (1.5, 1.2, 2.5), OPEN),
        ({"at_most": 5, "ratio_at_most": 2}, (4, 3, 5), (3, 2.1, 4), "fail"),
        ({"at_most": 5, "ratio_at_most": 2}, (6, 5.1, 7), (1.5, 1.2, 2), "fail"),
        ({"at_most": 5}, None, None, OPEN),
        ({"at_most": 5, "ratio_at_most": 2}, (4, 3, 5), None, OPEN),
    ],
)
def test_a_limit_beyond_the_bound_decides(
    write: Write, read: Read, options: dict[str, Any], quantile: Limits, ratio: Limits, status: str
) -> None:
    write(judged(options, quantile, ratio))
    (row,) = read("from gate_percentile")
    assert row["status"] == status
    alone = "at_most" in options
    estimated = quantile if alone else ratio
    assert (row["value"], row["threshold"]) == (
        estimated[0] if estimated else None,
        options["at_most"] if alone else options["ratio_at_most"],
    )


def verdict(read: Read) -> tuple[str, str]:
    (row,) = read("select status, message from gate_percentile")
    return row["status"], row["message"]


def test_a_verdict_says_the_figures_it_rests_on(write: Write, read: Read) -> None:
    write(judged({"at_most": 5, "ratio_at_most": 2, "q": 0.9}, (4, 3, 5), (1.5, 1.25, 2)))
    assert verdict(read)[1] == (
        "the 0.9 quantile of m is 4, between 3 and 5, at most 5 asked; "
        "the 0.9 quantile of m is 1.5 times the baseline's, between 1.25 and 2, at most 2 asked"
    )


def test_a_reason_is_told(write: Write, read: Read) -> None:
    write(judged({"at_most": 5}, None, reason="too few"))
    status, message = verdict(read)
    assert status == OPEN
    assert message.endswith("; too few")


def test_nothing_is_decided_before_it_is_computed(write: Write, read: Read) -> None:
    write(replace(judged({"at_most": 5}, None), records=[]))
    status, message = verdict(read)
    assert status == OPEN
    assert message.endswith("; the bootstrap is not recorded yet")


def test_an_unknown_value_leaves_it_open_whatever_is_recorded(write: Write, read: Read) -> None:
    campaign = judged({"at_most": 5}, (4, 3, 5))
    write(replace(campaign, trials=[campaign.trials[0], Trial("c1", "a", 0, {"m": None})]))
    assert verdict(read) == (OPEN, "the 0.95 quantile of m is not known: cells without a value: 1 of 1")


def test_an_option_that_is_not_understood_leaves_it_open(write: Write, read: Read) -> None:
    write(judged({"at_most": 5, "q": 2}, (4, 3, 5)))
    assert verdict(read) == (OPEN, "an option is not understood: q is a number above 0 and below 1")
