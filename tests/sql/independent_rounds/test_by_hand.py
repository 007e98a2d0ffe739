"""What a pair is where the arms share nothing, with the arithmetic shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from scipy.stats import ttest_ind

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write
from tests.sql.inferences.drawing import Inferring

RANGE = Metric("m", 1, 0.0, 1.0)
Values = Mapping[str, Mapping[str, Sequence[float | None]]]


def rounds(values: Values, **more: Any) -> Inferring:
    """Return a campaign in which each arm declares as many rounds of a case as values are given, None for no value."""
    cases = list(values["base"])
    return Inferring(
        **{
            "cases": {case: {"half": "first" if case < "b" else "second"} for case in cases},
            "metrics": [RANGE],
            "repeats": max(len(each) for told in values.values() for each in told.values()),
            "coupling": "none",
            "ragged": {case: {who: len(values[who][case]) for who in values} for case in cases},
            "trials": [
                Trial(who, case, repeat, {} if value is None else {"m": value})
                for who, told in values.items()
                for case, each in told.items()
                for repeat, value in enumerate(each)
            ],
            "preference": "m",
            **more,
        }
    )


#: a: 0.375 against 0.75, of which a third is missing; b: 0.5 against 0.25.
UNEQUAL: Values = {"base": {"a": [0.5, 0.25], "b": [0.5]}, "c1": {"a": [1.0, None, 0.5], "b": [0.0, 0.25, 0.5]}}


def test_a_pair_is_a_case_with_the_mean_of_what_either_arm_has(write: Write, read: Read) -> None:
    write(rounds(UNEQUAL))
    pairs = read("select case_id, repeat, baseline_value, candidate_value, delta from pairs order by case_id")
    assert [tuple(row.values()) for row in pairs] == [("a", 0, 0.375, 0.75, 0.375), ("b", 0, 0.5, 0.25, -0.25)]
    (told,) = read("from comparisons")
    # a is a pair, and counts as missing too, since a round of it is
    assert (told["pairs"], told["missing"], told["mean_delta"]) == (2, 1, 0.0625)
    assert (told["min_delta"], told["max_delta"]) == (-0.25, 0.375)
    assert {row["group_value"]: (row["pairs"], row["missing"]) for row in read("from strata")} == {
        "first": (1, 1), "second": (1, 0),
    }  # fmt: skip
    assert [row["delta"] for row in read("from deltas order by case_id, repeat")] == [0.375, -0.25]


def test_a_pair_that_lacks_a_round_is_a_gap_although_it_has_a_value(write: Write, read: Read) -> None:
    write(rounds(UNEQUAL))
    told = {row["case_id"]: row for row in read("from case_bounds")}
    # a: (0.75 * 2 + 0 or 1) / 3 less 0.375
    assert (told["a"]["missing"], told["b"]["missing"]) == (1, 0)
    assert (told["a"]["delta_low"], told["a"]["delta_high"]) == (0.5 - 0.375, pytest.approx(2.5 / 3 - 0.375))
    assert (told["a"]["candidate_low"], told["a"]["candidate_high"]) == (0.5, pytest.approx(2.5 / 3))
    assert (told["b"]["delta_low"], told["b"]["delta_high"]) == (-0.25, -0.25)


def test_a_pair_without_a_value_on_one_arm_is_missing(write: Write, read: Read) -> None:
    write(rounds({"base": {"a": [0.5, 0.25], "b": [0.5]}, "c1": {"a": [None, None], "b": [1.0]}}))
    (told,) = read("from comparisons")
    assert (told["pairs"], told["missing"], told["mean_delta"]) == (1, 1, 0.5)
    assert {row["case_id"]: row["delta"] for row in read("from deltas")} == {"a": None, "b": 0.5}
    assert {row["group_value"]: (row["pairs"], row["missing"]) for row in read("from strata")} == {
        "first": (0, 1), "second": (1, 0),
    }  # fmt: skip


def test_the_order_of_rounds_says_nothing(write: Write, read: Read) -> None:
    values = {"base": {"a": [0.1, 0.9, 0.4], "b": [0.7, 0.2, 0.3]}, "c1": {"a": [0.3, 0.2, 0.8], "b": [0.6, 0.6, 0.1]}}
    turned = {**values, "c1": {case: each[::-1] for case, each in values["c1"].items()}}
    write(rounds(values, name="given"))
    write(rounds(turned, name="turned"))
    numbers = "mean_delta, min_delta, max_delta, standard_error, ci_low, ci_high"
    given, other = read(f"select {numbers} from comparisons")
    assert given == other


def test_a_balanced_whole_campaign_has_the_means_and_interval_of_one_whose_repeats_pair(
    write: Write, read: Read
) -> None:
    chance = Random("balanced")
    values = {
        who: {f"w{ix:02}": [chance.random() for _ in range(3)] for ix in range(12)} for who in ("base", "c1", "c2")
    }
    campaign = rounds(values, candidates=["c1", "c2"])
    write(replace(campaign, ragged=None, name="none"))
    write(replace(campaign, ragged=None, name="seeded", coupling="common_seed"))
    query = """
        select comparisons.* from comparisons inner join campaigns using (campaign_id)
        where name = '{}' order by candidate_id
    """
    for alone, paired in zip(read(query.format("none")), read(query.format("seeded")), strict=True):
        for name in ("baseline_mean", "candidate_mean", "mean_delta", "standard_error", "ci_low", "ci_high"):
            assert alone[name] == pytest.approx(paired[name], rel=1e-12, abs=1e-12), name
        assert (alone["pairs"], alone["cases"], alone["missing"]) == (12, 12, 0)
        assert (paired["pairs"], paired["cases"], paired["missing"]) == (36, 12, 0)
        assert alone["min_delta"] > paired["min_delta"]


def test_the_noise_of_these_cases_is_that_of_two_independent_samples(write: Write, read: Read) -> None:
    base, own = [0.1, 0.9, 0.4], [0.3, 0.2, 0.8, 0.5, 0.1]
    write(rounds({"base": {"a": base}, "c1": {"a": own}}, infers_to="these_cases"))
    (noise,) = read("from case_noise")
    (told,) = read("from comparisons")
    welch = ttest_ind(own, base, equal_var=False)
    limits = welch.confidence_interval()
    assert noise["df"] == pytest.approx(welch.df, rel=1e-12)
    assert told["mean_delta"] / told["standard_error"] == pytest.approx(welch.statistic, rel=1e-12)
    assert told["method"] == "repeats"
    # its quantile is that of degrees of freedom rounded down
    assert told["ci_low"] < limits.low < limits.high < told["ci_high"]


def test_equal_values_have_no_noise_and_a_single_one_shows_none(write: Write, read: Read) -> None:
    write(rounds({"base": {"a": [0.5, 0.5], "b": [0.5]}, "c1": {"a": [0.25, 0.25], "b": [0.5, 0.75]}},
                 infers_to="these_cases"))  # fmt: skip
    assert {row["case_id"]: (row["variance"], row["df"]) for row in read("from case_noise")} == {"a": (0.0, 2.0)}
    assert [row["standard_error"] for row in read("from comparisons")] == [None]


def test_a_gap_is_missing_evidence_for_a_gate_that_infers_to_these_cases(write: Write, read: Read) -> None:
    gate = {"kind": "superiority", "metric": "m", "threshold": 0.0}
    whole: Values = {"base": {"a": [0.1, 0.2]}, "c1": {"a": [0.9, 0.8]}}
    write(rounds(whole, gates=[gate], infers_to="these_cases", name="whole"))
    lacking: Values = {**whole, "c1": {"a": [0.9, 0.8, None]}}
    write(rounds(lacking, gates=[gate], infers_to="these_cases", name="lacking"))
    query = "select campaigns.name, status, message from gate_results inner join campaigns using (campaign_id)"
    told = {row["name"]: row for row in read(query)}
    assert told["whole"]["status"] == "pass"
    assert told["lacking"]["status"] == "indeterminate"
    assert "missing: 1, so that the noise of repeats is unknown" in told["lacking"]["message"]


def test_a_pair_is_covered_once_each_declared_round_of_both_arms_has_a_cell(write: Write, read: Read) -> None:
    whole = rounds(UNEQUAL, gates=[{"kind": "coverage", "options": {"within": "half"}}])
    write(replace(whole, trials=[each for each in whole.trials if (each.candidate_id, each.repeat) != ("c1", 2)]))
    (told,) = read("from coverage")
    assert (told["expected_pairs"], told["complete_pairs"]) == (2, 0)
    assert (told["missing_baseline"], told["missing_candidate"], told["unexpected_cells"]) == (0, 2, 0)
    assert [row["message"] for row in read("from decisions")] == ["pairs with pending coordinates: 2"]
    # without the baseline's round at b, that pair lacks both arms, and is open once
    open_pairs = [
        each for each in whole.trials if each.repeat != 2 and (each.candidate_id, each.case_id) != ("base", "b")
    ]
    write(replace(whole, name="open", trials=open_pairs))
    query = "select message from decisions inner join campaigns using (campaign_id) where name = 'open'"
    assert read(query) == [{"message": "pairs with pending coordinates: 2"}]
    # at a everything is there, at b the single round of the baseline is not
    lacking = [each for each in whole.trials if (each.candidate_id, each.case_id) != ("base", "b")]
    write(replace(whole, name="lacking", trials=lacking))
    query = """
        select scope, value, threshold from gate_verdicts inner join campaigns using (campaign_id)
        where name = 'lacking' order by scope
    """
    assert [tuple(row.values()) for row in read(query)] == [
        ('{"half":"first"}', 1.0, 1.0), ('{"half":"second"}', 0.0, 1.0),
    ]  # fmt: skip


def test_survivors_are_the_means_of_what_an_arm_measured(write: Write, read: Read) -> None:
    # c1 fails once at a, which is worth 0: 0.5 with it, 1.0 without
    campaign = rounds({"base": {"a": [0.5, 0.25]}, "c1": {"a": [1.0, 1.0]}})
    failed = [replace(each, status="domain_failure") if (each.candidate_id, each.repeat) == ("c1", 1) else each
              for each in campaign.trials]  # fmt: skip
    write(replace(campaign, trials=failed, metrics=[replace(RANGE, on_domain_failure="worst")]))
    (told,) = read("from survivorship")
    assert (told["expected_pairs"], told["measured_pairs"], told["counted_pairs"]) == (1, 1, 1)
    assert (told["measured_mean_delta"], told["mean_delta"]) == (1.0 - 0.375, 0.5 - 0.375)


def test_a_resource_is_compared_by_the_means_of_either_arm(write: Write, read: Read) -> None:
    gate = {"kind": "resource_ratio", "threshold": 2.0, "options": {"of": "cost_usd"}}
    costs: Values = {"base": {"a": [1.0, 3.0], "b": [1.0]}, "c1": {"a": [1.0, 2.0, 6.0], "b": [1.0, None]}}
    trials = [
        Trial(who, case, repeat, {"m": 0.5}, cost_usd=each)
        for who, told in costs.items()
        for case, told_of_case in told.items()
        for repeat, each in enumerate(told_of_case)
    ]
    campaign = rounds(costs, gates=[gate])
    trials.append(Trial("base", "b", 2, {"m": 0.5}, cost_usd=9.0))  # off the grid of the baseline
    write(replace(campaign, trials=trials))
    units = {
        row["case_id"]: (row["missing"], row["value"], row["low"], row["high"]) for row in read("from unit_values")
    }
    # a: 2 * 2 - 3; b: 2 * 1 - 1, of which a round is unknown
    assert units == {"a": (0, 1.0, 1.0, 1.0), "b": (1, 1.0, None, None)}


def test_a_reliability_counts_the_tries_that_the_candidate_declares(write: Write, read: Read) -> None:
    gate = {"kind": "reliability", "metric": "m", "threshold": 0.1, "options": {"k": 2}}
    values = {"base": {"a": [1.0, 1.0]}, "c1": {"a": [1.0, 1.0, 0.0]}}
    write(rounds(values, gates=[gate], metrics=[Metric("m", 1, 0.0, 1.0, kind="binary")]))
    (told,) = read("from unit_values")
    # 2 of 3 succeeded: 2/3 * 1/2 that two in a row do
    assert (told["missing"], told["value"]) == (0, pytest.approx(1 / 3))


def test_the_components_of_variance_are_those_of_either_arm_together(write: Write, read: Read) -> None:
    values = {"base": {"a": [0.0, 0.5], "b": [0.25, 0.5]}, "c1": {"a": [0.5, 1.0], "b": [0.0, 0.25]}}
    write(rounds(values))
    (told,) = read("from variance_components")
    # each arm: (2 * 0.25 ** 2 + 2 * 0.125 ** 2) / 2 = 0.078125; deltas of the means are 0.5 and -0.25
    assert told["within_variance"] == pytest.approx(2 * 0.078125)
    assert (told["repeats"], told["within_df"], told["pairs"]) == (2.0, 4, 2)
    assert told["mean_variance"] == pytest.approx(0.375**2)
    assert told["between_variance"] == pytest.approx(2 * 0.375**2 - 0.078125)
    assert told["problem"] is None


def test_a_campaign_whose_repeats_pair_has_no_independent_rounds(write: Write, read: Read) -> None:
    write(Campaign({"a": {}}, [RANGE], [Trial("base", "a", 0, {"m": 0.5}), Trial("c1", "a", 0, {"m": 0.5})]))
    for name in ("independent_repeats", "independent_cells", "arm_spreads"):
        assert read(f"from {name}") == []
