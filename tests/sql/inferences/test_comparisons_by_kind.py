"""The interval beside each comparison follows the metric's kind, the clusters and what the policy infers to."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy import stats

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write
from tests.sql.inferences.drawing import Inferring
from tests.sql.inferences.oracle import Question, Unit, delta_units, infer, method_of, metric_of, noise, standard_error

Told = dict[str, dict[str, list[dict[str, Any]]]]


def paired(deltas: list[float], base: float = 0.0) -> list[Trial]:
    arms = (("base", [base] * len(deltas)), ("c1", [base + delta for delta in deltas]))
    return [Trial(who, f"w{ix:02}", 0, {"m": value}) for who, values in arms for ix, value in enumerate(values)]


def cases(count: int) -> dict[str, Any]:
    return {f"w{ix:02}": {} for ix in range(count)}


def error_and_df(units: list[Unit], method: str) -> tuple[float | None, float | None]:
    clusters = len({unit.cluster for unit in units})
    if method == "repeats":
        return (None, None) if any(len(unit.pairs) < 2 for unit in units) else noise(units)
    if clusters < 2:
        return None, None
    return (0.0 if method == "constant" else standard_error(units)), clusters - 1


def test_generated_comparisons_equal_the_oracle(told: Told, campaigns: list[Inferring]) -> None:
    methods = set()
    for campaign in campaigns:
        for row in told["comparisons"][campaign.name]:
            metric = metric_of(campaign, row["metric"])
            found = [
                Unit(unit.cluster, 0, unit.found, unit.found, unit.found, unit.pairs)
                for unit in delta_units(campaign, row["candidate_id"], metric.metric, campaign.cases)
                if unit.found is not None
            ]
            if not found:
                assert (row["cases"], row["mean_delta"], row["method"], row["ci_low"]) == (0, None, None, None)
                continue
            is_score = metric.kind == "binary" and campaign.repeats == 1
            method = method_of(found, campaign.infers_to, "by_kind", is_score)
            span = math.nan if metric.lower is None or metric.upper is None else metric.upper - metric.lower
            error, df = error_and_df(found, method)
            expected = infer(found, Question(0.0, 0.025, method, -span, span))
            methods.add((method, len({unit.cluster for unit in found}) < len(found)))
            told_row = {
                "method": method,
                "cases": len(found),
                "clusters": len({unit.cluster for unit in found}),
                "mean_delta": math.fsum(unit.low for unit in found) / len(found),
                "standard_error": error,
                "ci_low": expected.low,
                "ci_high": expected.high,
                "smallest_effect": None
                if not error or df is None
                else float(stats.t.ppf(0.975, df) + stats.t.ppf(0.8, df)) * error,
            }
            for name, value in told_row.items():
                assert row[name] == (pytest.approx(value, rel=1e-8, abs=1e-9) if isinstance(value, float) else value), (
                    name,
                    row,
                    campaign,
                )
    assert methods >= {
        ("t", False), ("t", True), ("score", False), ("constant", False), ("constant", True), ("repeats", False),
    }  # fmt: skip


def test_cases_of_unequal_clusters_count_by_cluster(write: Write, read: Read) -> None:
    deltas = [1.0, 2.0, 3.0, 6.0, 5.0, 10.0]
    clusters = {"w00": "x", "w01": "x", "w02": "y", "w03": "y", "w04": "y"}
    write(Campaign(cases=cases(6), metrics=[Metric("m")], trials=paired(deltas), clusters=clusters))
    (row,) = read("from comparisons")
    # mean 27/6 = 4.5; sums of deviations -3.5 - 2.5 = -6, -1.5 + 1.5 + .5 = .5, 5.5; g/(g-1) = 3/2
    error = math.sqrt(1.5 * (6**2 + 0.5**2 + 5.5**2)) / 6
    assert (row["clusters"], row["method"]) == (3, "t")
    assert row["standard_error"] == pytest.approx(error, rel=1e-14)
    assert row["ci_low"] == pytest.approx(4.5 - stats.t.ppf(0.975, 2) * error, rel=1e-10)


def test_equal_cases_in_a_cluster_are_as_good_as_one(write: Write, read: Read) -> None:
    once, thrice = [0.25, 0.5, -0.25, 0.75], [delta for delta in (0.25, 0.5, -0.25, 0.75) for _ in range(3)]
    write(Campaign(cases=cases(4), metrics=[Metric("m")], trials=paired(once), name="once"))
    clusters = {f"w{ix:02}": f"k{ix // 3}" for ix in range(12)}
    write(Campaign(cases=cases(12), metrics=[Metric("m")], trials=paired(thrice), clusters=clusters))
    first, second = read("select standard_error, ci_low, ci_high from comparisons")
    for name, value in first.items():
        assert second[name] == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(("clusters", "units"), [({}, 6), ({f"w{ix:02}": f"k{ix // 3}" for ix in range(6)}, 2)])
def test_one_value_throughout_rests_on_the_range_and_on_independent_units(
    write: Write, read: Read, clusters: dict[str, str], units: int
) -> None:
    write(
        Campaign(cases=cases(6), metrics=[Metric("m", 1, 0.0, 1.0)], trials=paired([0.5] * 6, 0.25), clusters=clusters)
    )
    (row,) = read("from comparisons")
    # the least delta is -1, 1.5 below .5; a share s lower by that is missed by all units with (1 - s)^units
    assert row["method"] == "constant"
    assert row["ci_low"] == pytest.approx(0.5 - 1.5 * (1 - 0.025 ** (1 / units)), rel=1e-13)
    assert row["ci_high"] == pytest.approx(0.5 + 0.5 * (1 - 0.025 ** (1 / units)), rel=1e-13)


def test_one_value_throughout_without_a_range_has_no_interval(write: Write, read: Read) -> None:
    write(Campaign(cases=cases(6), metrics=[Metric("m")], trials=paired([0.5] * 6)))
    (row,) = read("from comparisons")
    assert (row["method"], row["ci_low"], row["ci_high"]) == ("constant", None, None)


def test_what_subtraction_rounds_is_no_spread(write: Write, read: Read) -> None:
    # .2 - .1, .3 - .2 and .8 - .7 differ in their last bits
    trials = [
        Trial(who, f"w{ix:02}", 0, {"m": base + (0.1 if who == "c1" else 0)})
        for who in ("base", "c1")
        for ix, base in enumerate((0.1, 0.2, 0.7))
    ]
    write(Campaign(cases=cases(3), metrics=[Metric("m", 1, 0.0, 1.0)], trials=trials))
    (row,) = read("from comparisons")
    assert row["min_delta"] < row["max_delta"]
    assert (row["method"], row["standard_error"], row["smallest_effect"]) == ("constant", 0, None)


def test_repeats_that_are_alike_leave_no_doubt_about_these_cases(write: Write, read: Read) -> None:
    trials = [
        Trial(who, case, repeat, {"m": value})
        for who, values in (("base", (0.0, 0.0)), ("c1", (1.0, 3.0)))
        for case, value in zip(cases(2), values, strict=True)
        for repeat in range(2)
    ]
    write(Inferring(cases=cases(2), metrics=[Metric("m")], trials=trials, repeats=2, infers_to="these_cases"))
    (row,) = read("from comparisons")
    assert [row[name] for name in ("method", "standard_error", "ci_low", "ci_high")] == ["repeats", 0, 2, 2]


def test_the_noise_of_repeats_has_the_degrees_of_satterthwaite(write: Write, read: Read) -> None:
    # case 0: deltas 0 and 2, variance 2, of its mean 1; case 1: deltas 1 and 5, variance 8, of its mean 4
    own = {("w00", 0): 0.0, ("w00", 1): 2.0, ("w01", 0): 1.0, ("w01", 1): 5.0}
    trials = [
        Trial(who, case, repeat, {"m": value if who == "c1" else 0.0})
        for who in ("base", "c1")
        for (case, repeat), value in own.items()
    ]
    write(Inferring(cases=cases(2), metrics=[Metric("m")], trials=trials, repeats=2, infers_to="these_cases"))
    (row,) = read("from comparisons")
    # of the mean of two cases (1 + 4) / 4; degrees (1 + 4)² / (1² / 1 + 4² / 1) = 25 / 17, rounded down to 1
    assert row["standard_error"] == pytest.approx(math.sqrt(5) / 2, rel=1e-14)
    assert row["ci_low"] == pytest.approx(2 - stats.t.ppf(0.975, 1) * math.sqrt(5) / 2, rel=1e-10)
