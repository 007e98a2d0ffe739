from __future__ import annotations

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

CASES: dict[str, dict[str, str]] = {"easy": {}, "plain": {}, "hard": {}}


def campaign(on_domain_failure: str) -> Campaign:
    values = {
        ("base", "easy"): 0.5,
        ("base", "plain"): 0.5,
        ("base", "hard"): 0.5,
        ("c1", "easy"): 0.75,
        ("c1", "plain"): 0.5,
    }
    trials = [Trial(who, case, 0, {"m": value}) for (who, case), value in values.items()]
    failed = Trial("c1", "hard", 0, {}, "domain_failure", "crash")
    return Campaign(
        cases=CASES,
        metrics=[Metric("m", 1, 0, 1, on_domain_failure=on_domain_failure)],
        trials=[*trials, failed],
    )


def test_survivors_look_better_than_what_failures_are_worth(write: Write, read: Read) -> None:
    write(campaign("worst"))
    # Measured: (0.25 + 0) / 2. Counted, the hard case being worth 0: (0.25 + 0 - 0.5) / 3.
    (row,) = read("from survivorship")
    assert (row["expected_pairs"], row["measured_pairs"], row["counted_pairs"]) == (3, 2, 3)
    assert row["measured_mean_delta"] == 0.125
    assert row["mean_delta"] == -0.25 / 3
    assert row["gain_of_survivors"] == 0.125 + 0.25 / 3


def test_a_failure_without_a_worth_leaves_both_alike(write: Write, read: Read) -> None:
    write(campaign("missing"))
    (row,) = read("from survivorship")
    assert (row["expected_pairs"], row["measured_pairs"], row["counted_pairs"]) == (3, 2, 2)
    assert row["gain_of_survivors"] == 0
