"""Looking at any time: bets on the first cases of the order, against plain products in NumPy."""

from __future__ import annotations

import math
import re
from random import Random
from typing import Any

import duckdb
import pytest

from tests.sql.build import Campaign, Metric, Trial, at, rows, write_campaign, write_empty
from tests.sql.conftest import Read, Write
from tests.sql.sequential.looking import bet, gate, registered, wealth_path

ORDER = registered([f"w{ix}" for ix in range(60)])
BETS: dict[str, Any] = {"spending": "e_process"}
GAP = math.nan


def campaign(deltas: list[float | None], gates: list[dict[str, Any]] | None = None, **more: Any) -> Campaign:
    """A candidate with these deltas at the first cases; a gap where it failed for want of infrastructure."""
    trials = []
    for case, delta in zip(ORDER, deltas, strict=False):
        if delta is not None:
            is_gap = math.isnan(delta)
            trials.append(Trial("base", case, 0, {"m": 0.5}))
            trials.append(
                Trial("c1", case, 0, {}, status="infrastructure_failure")
                if is_gap
                else Trial("c1", case, 0, {"m": 0.5 + delta})
            )
    declared: dict[str, Any] = {
        "cases": {case: {} for case in sorted(ORDER)},
        "metrics": [Metric("m", 1, 0, 1)],
        "gates": gates or [gate(**BETS)],
        "trials": trials,
    }
    return Campaign(**{**declared, **more})


def wealths(message: str) -> tuple[int, float, float]:
    """Return the cases, the wealth and the wealth of the opposite that a message tells."""
    found = re.fullmatch(
        r"mean oriented delta of (\d+) cases tried: wealth (\S+) times the stake at its best \(\S+ asked\), "
        r"of the opposite (\S+); more than \S+ asked",
        message,
    )
    assert found, message
    return int(found[1]), float(found[2]), float(found[3])


def test_verdict_and_wealth_are_those_of_the_mixture_over_the_first_cases(
    views: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = write_empty(tmp_path_factory.mktemp("bets") / "warehouse")
    drawn = {}
    for seed in range(40):
        chance = Random(seed)
        mean, threshold, alpha = (
            chance.choice([-0.4, -0.2, 0, 0.2, 0.4]),
            chance.choice([0, 0.05]),
            chance.choice([0.025, 0.2]),
        )
        gap_rate = chance.choice([0, 0, 0.03])
        deltas: list[float | None] = [
            GAP if chance.random() < gap_rate else min(0.5, max(-0.5, chance.gauss(mean, 0.3)))
            for _ in range(chance.choice([5, 30, 45, 60]))
        ]
        whole = len(deltas)
        if chance.random() < 0.3:
            # One case is not there yet; the cells after it do not count.
            whole = chance.randrange(len(deltas))
            deltas[whole] = None
        named = campaign(deltas, [gate(threshold, alpha=alpha, **BETS)], name=f"drawn {seed}")
        drawn[write_campaign(views, root, named)] = (
            [each for each in deltas[:whole] if each is not None],
            threshold,
            alpha,
        )
    found = rows(at(views, root), "from gate_sequential")
    assert len(found) == len(drawn)
    seen = set()
    for row in found:
        first, threshold, alpha = drawn[row["campaign_id"]]
        if not first:
            assert row["status"] == "indeterminate"
            continue
        # A failed candidate may be worth anything from 0 to 1, against a baseline of 0.5.
        low = [-0.5 if math.isnan(each) else each for each in first]
        high = [0.5 if math.isnan(each) else each for each in first]
        assert row["status"] == bet(low, high, threshold, 1, alpha)[0], row
        counted, wealth, opposite = wealths(row["message"])
        assert counted == len(first)
        assert wealth == pytest.approx(wealth_path(low, -1, threshold).max(), rel=1e-5)
        assert opposite == pytest.approx(wealth_path([-each for each in high], -1, -threshold).max(), rel=1e-5)
        seen.add((row["status"], any(map(math.isnan, first))))
    assert seen >= {("pass", False), ("fail", False), ("indeterminate", False), ("pass", True), ("fail", True)}


def test_the_wealth_that_was_reached_once_counts_and_the_side_that_reached_it_first(write: Write, read: Read) -> None:
    rise, fall = [0.4, 0.5] * 8, [-0.4, -0.5] * 22
    for name, deltas in {"up": [*rise, *fall], "down": [*fall[:16], *rise, *rise, *rise[:12]]}.items():
        write(campaign([*deltas], name=name))
        low = deltas
        passed, failed = (
            next((ix for ix, each in enumerate(wealth_path(sample, -1, 0)) if each >= 40), None)
            for sample in (low, [-each for each in low])
        )
        # Both sides reach it, one after the other: the later one comes too late.
        assert passed is not None
        assert failed is not None
        assert (passed < failed) == (name == "up")
    found = read("select name, status from gate_sequential inner join declarations using (campaign_id) order by name")
    assert [tuple(row.values()) for row in found] == [("down", "fail"), ("up", "pass")]


def test_each_further_case_leaves_a_verdict_as_it_was(
    views: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory
) -> None:
    deltas: list[float | None] = [*[0.1, -0.1] * 3, *[0.4, 0.5] * 8, *[-0.5] * 20]
    root = write_empty(tmp_path_factory.mktemp("bets") / "warehouse")
    lengths = {
        write_campaign(views, root, campaign(deltas[:length], name=str(length))): length
        for length in range(4, len(deltas) + 1, 2)
    }
    found = rows(at(views, root), "from gate_sequential")
    statuses = [row["status"] for row in sorted(found, key=lambda row: lengths[row["campaign_id"]])]
    decided = statuses.index("pass")
    assert decided > 0
    assert statuses == ["indeterminate"] * decided + ["pass"] * (len(statuses) - decided)


def test_the_estimate_is_that_of_the_last_look_that_was_reached(write: Write, read: Read) -> None:
    write(campaign([*[0.4, 0.5] * 5, *[0.2, 0.3] * 8], [gate(looks=[10, 20, 30], **BETS)]))
    (row,) = read("select status, value, message from gate_sequential")
    assert (row["status"], row["value"]) == ("pass", pytest.approx(0.35))
    assert wealths(row["message"])[0] == 26


def test_cases_that_share_a_cluster_cannot_be_bet_on_wherever_they_stand(write: Write, read: Read) -> None:
    deltas: list[float | None] = [0.4, 0.5] * 30
    late = {ORDER[30]: "k", ORDER[31]: "k"}
    for name, clusters in {"late": late, "alone": {ORDER[3]: "k"}, "early": {ORDER[0]: "k", ORDER[1]: "k"}}.items():
        write(campaign(deltas, [gate(looks=[10, 60], **BETS)], clusters=clusters, name=name))
    found = {
        row["name"]: row
        for row in read("select name, status, message from gate_sequential inner join declarations using (campaign_id)")
    }
    assert {name: row["status"] for name, row in found.items()} == {
        "late": "indeterminate",
        "alone": "pass",
        "early": "indeterminate",
    }
    assert found["late"]["message"] == (
        "an e-process needs independent cases, and some share a cluster; more than 0 asked"
    )


def test_no_range_no_bets(write: Write, read: Read) -> None:
    for name, metric in {"open": Metric("m"), "below": Metric("m", 1, 0), "above": Metric("m", -1, None, 1)}.items():
        write(campaign([0.4, 0.5] * 30, metrics=[metric], name=name))
    assert read("select distinct status, message from gate_results") == [
        {
            "status": "indeterminate",
            "message": "the gate cannot be judged as declared: an e-process needs a metric with both ends of its range "
            "declared; more than 0 asked",
        }
    ]


def test_nothing_tried_is_nothing_shown(write: Write, read: Read) -> None:
    write(campaign([None, 0.5, 0.5]))
    (row,) = read("select status, message, value from gate_sequential")
    assert row["status"] == "indeterminate"
    assert row["message"].startswith("mean oriented delta of 0 cases tried: wealth unknown ")
