"""The budget gate: hand-written cases with their arithmetic."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.sql.build import Metric, Trial
from tests.sql.conftest import Read, Write
from tests.sql.gate_budget.charging import Spending

NOT_WHOLE = "the projections do not hold what the ledger accepted; look again, or run an audit"
NO_CASE = "no case of the workload belongs to this scope"


def campaign(options: Any, *trials: Trial, **more: Any) -> Spending:
    """Return a campaign of the cases a and b, whose baseline spends 8 on each."""
    base = [Trial("base", case, 0, {}, cost_usd=8.0, input_tokens=8, output_tokens=8) for case in "ab"]
    gate = {"kind": "budget", "options": options}
    declared: dict[str, Any] = {"cases": {"a": {}, "b": {}}, "trials": [*base, *trials], **more}
    return Spending(metrics=[Metric("m")], gates=[gate], **declared)


def judged(write: Write, read: Read, declared: Spending, candidate: str = "c1") -> Any:
    """Return status, message, value and threshold of the campaign's only gate."""
    write(declared)
    (row,) = read(f"select status, message, value, threshold from gate_results where candidate_id = '{candidate}'")
    return tuple(row.values())


def costing(a: float | None, b: float | None) -> tuple[Trial, Trial]:
    return Trial("c1", "a", cost_usd=a), Trial("c1", "b", cost_usd=b)


@pytest.mark.parametrize(
    ("costs", "at_most", "expected"),
    [
        ((0.25, 0.5), 1, ("pass", "cost_usd of the candidate is 0.75, at most 1 asked", 0.75, 1.0)),
        ((0.25, 0.75), 1, ("pass", "cost_usd of the candidate is 1, at most 1 asked", 1.0, 1.0)),  # no slack, no less
        ((0.5, 0.75), 1, ("fail", "cost_usd of the candidate is 1.25, at most 1 asked", 1.25, 1.0)),
        ((0.0, 0.0), 0, ("pass", "cost_usd of the candidate is 0, at most 0 asked", 0.0, 0.0)),
        (
            (0.25, None),
            1,
            (
                "indeterminate",
                "cost_usd of the candidate is at least 0.25, at most 1 asked; cells that do not know all of theirs: 1",
                0.25,
                1.0,
            ),
        ),
        (
            (1.25, None),  # what the other cell spent can only make it worse
            1,
            (
                "fail",
                "cost_usd of the candidate is at least 1.25, at most 1 asked; cells that do not know all of theirs: 1",
                1.25,
                1.0,
            ),
        ),
        (
            (None, None),
            0,
            (
                "indeterminate",
                "cost_usd of the candidate is unknown, at most 0 asked; cells that do not know all of theirs: 2",
                None,
                0.0,
            ),
        ),
    ],
)
def test_unknown_is_never_zero(write: Write, read: Read, costs: Any, at_most: float, expected: Any) -> None:
    assert judged(write, read, campaign({"at_most": at_most}, *costing(*costs))) == expected


@pytest.mark.parametrize("status", ["success", "domain_failure", "infrastructure_failure", "cancelled"])
@pytest.mark.parametrize(("cost", "expected"), [(0.75, "pass"), (0.875, "fail"), (None, "indeterminate")])
def test_a_cell_of_any_status_counts(write: Write, read: Read, status: str, cost: Any, expected: str) -> None:
    trials = (Trial("c1", "a", cost_usd=0.25), Trial("c1", "b", status=status, cost_usd=cost))
    assert judged(write, read, campaign({"at_most": 1}, *trials))[0] == expected  # 0.25 + 0.75 = 1


@pytest.mark.parametrize(
    ("resource", "at_most", "expected"),
    [
        ("input_tokens", 30, ("pass", 30.0)),  # 10 + 20
        ("input_tokens", 29, ("fail", 30.0)),
        ("output_tokens", 5, ("indeterminate", 5.0)),  # 5 + unknown
        ("output_tokens", 4, ("fail", 5.0)),
        ("tokens", 35, ("indeterminate", 35.0)),  # 10 + 5 + 20 + unknown
        ("tokens", 34, ("fail", 35.0)),  # what is known of a cell counts, although the rest of it is not
        ("duration_s", 2, ("pass", 2.0)),  # 1.5 + 0.5
        ("duration_s", 1.75, ("fail", 2.0)),
    ],
)
def test_each_resource(write: Write, read: Read, resource: str, at_most: float, expected: Any) -> None:
    trials = (
        Trial("c1", "a", input_tokens=10, output_tokens=5, duration_s=1.5),
        Trial("c1", "b", input_tokens=20, duration_s=0.5),
    )
    status, message, value, threshold = judged(write, read, campaign({"of": resource, "at_most": at_most}, *trials))
    assert (status, value, threshold) == (*expected, at_most)
    assert message.startswith(f"{resource} of the candidate is ")


def test_tokens_are_known_where_both_kinds_are(write: Write, read: Read) -> None:
    trials = [Trial("c1", case, input_tokens=10, output_tokens=5) for case in "ab"]
    assert judged(write, read, campaign({"of": "tokens", "at_most": 30}, *trials))[0] == "pass"  # 2 · (10 + 5)


def test_a_retried_cell_knows_what_its_attempts_cost_but_not_how_long_they_took(write: Write, read: Read) -> None:
    trials = [Trial("c1", case, cost_usd=0.5, duration_s=1.0) for case in "ab"]
    retried = campaign({"of": "duration_s", "at_most": 2}, *trials, attempts={("c1", "b", 0): 3})
    assert judged(write, read, retried) == (
        "indeterminate",
        "duration_s of the candidate is at least 2, at most 2 asked; cells that do not know all of theirs: 1",
        2.0,
        2.0,
    )
    money = campaign({"at_most": 1}, *trials, attempts={("c1", "b", 0): 3})
    write(replace(money, name="money"))
    assert [row["status"] for row in read("from gate_budget order by threshold")] == ["pass", "indeterminate"]


def test_a_coordinate_without_a_cell_is_unknown(write: Write, read: Read) -> None:
    assert judged(write, read, campaign({"at_most": 1}, Trial("c1", "a", cost_usd=0.5), repeats=2)) == (
        "indeterminate",
        # Of 2 cases · 2 repeats one has its cell.
        "cost_usd of the candidate is at least 0.5, at most 1 asked; declared coordinates without a cell: 3",
        0.5,
        1.0,
    )


@pytest.mark.parametrize(
    ("at_most", "more", "expected"),
    [
        (17.5, (), "indeterminate"),  # c2 has no cell on b
        (17.5, (Trial("c2", "b", cost_usd=0.0),), "pass"),  # 8 + 8 of the baseline, 0.5 + 0.5 of c1, 0.5 + 0 of c2
        (17.25, (), "fail"),
    ],
)
def test_the_whole_campaign_holds_the_baseline_and_every_candidate(
    write: Write, read: Read, at_most: float, more: Any, expected: str
) -> None:
    trials = (*costing(0.5, 0.5), Trial("c2", "a", cost_usd=0.5), *more)
    declared = campaign({"at_most": at_most, "over": "campaign"}, *trials, candidates=("c1", "c2"))
    write(declared)
    found = read("select candidate_id, status, value, message from gate_results order by candidate_id")
    assert [(row["candidate_id"], row["status"], row["value"]) for row in found] == [
        ("c1", expected, 17.5),
        ("c2", expected, 17.5),
    ]
    assert all(row["message"].startswith("cost_usd of the campaign is ") for row in found)


GROUPS = {"a": {"role": "admin"}, "b": {"role": "user"}}


@pytest.mark.parametrize(
    ("within", "cases", "expected"),
    [
        ({"role": "admin"}, GROUPS, ("pass", "in role = admin: cost_usd of the candidate is 1, at most 1 asked")),
        ({"role": "user"}, GROUPS, ("fail", "in role = user: cost_usd of the candidate is 3, at most 1 asked")),
        (
            "role",
            GROUPS,
            (
                "fail",
                "in role = user, which decides of 2: cost_usd of the candidate is 3, at most 1 asked",
            ),
        ),
        ({"role": "nobody"}, GROUPS, ("indeterminate", f"in role = nobody: {NO_CASE}")),
        (
            "role",
            {"a": {"role": "admin"}, "b": {}},
            ("indeterminate", f"in role = (none), which decides of 2: {NO_CASE}"),
        ),
    ],
)
def test_a_budget_of_some_cases(write: Write, read: Read, within: Any, cases: Any, expected: Any) -> None:
    declared = campaign({"at_most": 1, "within": within}, *costing(1.0, 3.0), cases=cases)
    assert judged(write, read, declared)[:2] == expected


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"at_most": None},
        {"at_most": "much"},
        {"at_most": -0.5},
        {"at_most": "nan"},
        {"at_most": "inf"},
        {"at_most": [1]},
        {"at_most": True},
        {"at_most": 1, "of": "money"},
        {"at_most": 1, "of": ["cost_usd"]},
        {"at_most": 1, "over": "baseline"},
        {"at_most": 1, "over": 3},
    ],
)
def test_an_option_that_is_not_understood_leaves_the_verdict_open(write: Write, read: Read, options: Any) -> None:
    status, message, value, _ = judged(write, read, campaign(options, *costing(64.0, 64.0)))
    assert (status, value) == ("indeterminate", None)
    assert message == (
        "an option is not understood: at_most is a finite number of at least 0, of is cost_usd, input_tokens, "
        "output_tokens, tokens or duration_s, over is candidate or campaign"
    )


@pytest.mark.parametrize(
    ("over", "expected"),
    [("candidate", ["pass", NOT_WHOLE]), ("campaign", [NOT_WHOLE, NOT_WHOLE])],
)
def test_what_is_not_whole_is_not_judged(write: Write, read: Read, root: Path, over: str, expected: Any) -> None:
    trials = [Trial(who, case, 0, {"m": 1.0}, cost_usd=0.5) for who in ("c1", "c2") for case in "ab"]
    write(campaign({"at_most": 64, "over": over}, *trials, candidates=("c1", "c2")))
    (path,) = root.glob("measurements/campaign=[!n]*/*.parquet")
    kept = pq.read_table(path)
    pq.write_table(kept.filter(pc.not_equal(kept["candidate_id"], "c2")), path)
    found = read("select status, message, value from gate_results order by candidate_id")
    assert [row["status"] if row["status"] == "pass" else row["message"] for row in found] == expected
    assert [row["value"] for row in found if row["status"] == "indeterminate"] == [None] * expected.count(NOT_WHOLE)


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -4.0])
def test_a_cost_that_is_none_is_unknown(write: Write, read: Read, root: Path, cost: float) -> None:
    write(campaign({"at_most": 1}, *costing(0.5, 0.25)))
    (path,) = root.glob("cells/campaign=[!n]*/*.parquet")
    kept = pq.read_table(path)
    is_last = pc.and_(pc.equal(kept["candidate_id"], "c1"), pc.equal(kept["case_id"], "b"))
    place = kept.schema.get_field_index("cost_usd")
    spoilt = pc.if_else(is_last, pa.scalar(cost), kept["cost_usd"])
    pq.write_table(kept.set_column(place, kept.schema.field("cost_usd"), spoilt), path)
    (row,) = read("select status, value from gate_results")
    assert row == {"status": "indeterminate", "value": 0.5}
