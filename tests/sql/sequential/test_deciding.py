"""At which look a sequential gate decides, and on which cases: against SciPy, and with the arithmetic shown."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from tests.sql.build import Campaign, Metric, Trial, at, rows, write_campaign, write_empty
from tests.sql.conftest import Read, Write
from tests.sql.sequential.looking import gate, looked, registered, spent

ORDER = registered([f"w{ix}" for ix in range(12)])


def campaign(gates: list[dict[str, Any]], deltas: Sequence[float | None], **more: Any) -> Campaign:
    """A candidate with these deltas at the cases of the registered order; None where neither arm has a cell."""
    return Campaign(
        cases={case: {} for case in sorted(ORDER)},
        metrics=[Metric("m")],
        gates=gates,
        trials=[
            Trial(who, case, 0, {"m": 1.0 + (delta if who == "c1" else 0.0)})
            for case, delta in zip(ORDER, deltas, strict=False)
            if delta is not None
            for who in ("base", "c1")
        ],
        **more,
    )


def judged(read: Read) -> tuple[str, str]:
    (row,) = read("select status, message from gate_sequential")
    return row["status"], row["message"]


UP = [2.0, 4.0, 2.0, 4.0]
"""Mean 3 and standard deviation 1.1547, so that t is 5.196 with 3 degrees of freedom: p is .00692."""


def test_the_first_look_that_decides_decides_whatever_comes_after(write: Write, read: Read) -> None:
    write(campaign([gate(looks=[4, 8, 12], spending="even")], [*UP, *[-9.0, -8.0] * 4]))
    status, message = judged(read)
    assert status == "pass"
    assert message.startswith("look 1 of 3, at 4 cases: mean oriented delta is 3, at a one-sided 0.00833333 between ")
    assert message.endswith("; more than 0 asked")
    (row,) = read("select value, threshold from gate_sequential")
    assert tuple(row.values()) == (3.0, 0.0)


def test_what_one_look_may_not_spend_a_later_one_may(write: Write, read: Read) -> None:
    # O'Brien and Fleming leave 1.04e-4 to the first look at a third, and 5.9e-3 to the second: p is then 4.6e-5.
    write(campaign([gate(looks=[4, 8, 12])], UP * 3))
    assert judged(read)[1].startswith("look 2 of 3, at 8 cases: ")
    assert judged(read)[0] == "pass"


def test_the_opposite_shown_is_a_fail_at_once(write: Write, read: Read) -> None:
    gates = [gate(looks=[4, 8, 12], spending="even"), gate(6, name="more", looks=[4, 8, 12], spending="even")]
    write(campaign(gates, [*[-each for each in UP], *[90.0, 80.0] * 4]))
    assert [row["status"] for row in read("from gate_sequential order by gate_ix")] == ["fail", "fail"]
    assert all(row["message"].startswith("look 1 of 3") for row in read("from gate_sequential"))


def test_a_gain_below_the_threshold_fails_though_it_is_a_gain(write: Write, read: Read) -> None:
    write(campaign([gate(6, looks=[4, 8, 12], spending="even")], UP * 3))
    assert judged(read)[0] == "fail"


def test_the_last_look_may_leave_it_open(write: Write, read: Read) -> None:
    write(campaign([gate(looks=[4, 8, 12])], [1.0, -1.0, 2.0, -2.0] * 3))
    status, message = judged(read)
    assert (status, message[:27]) == ("indeterminate", "look 3 of 3, at 12 cases: m")


def test_cells_that_happened_to_finish_do_not_count(write: Write, read: Read) -> None:
    # Eleven cases are there and would decide; the second of the order is not.
    write(campaign([gate(looks=[4, 8, 12], spending="even")], [2.0, None, *[2.0, 4.0] * 5]))
    assert judged(read) == (
        "indeterminate",
        "cases tried in the registered order: 1, first look at 4; more than 0 asked",
    )


def test_one_arm_or_one_repeat_alone_is_not_tried(write: Write, read: Read) -> None:
    whole = campaign([gate(looks=[4, 8, 12], spending="even")], UP * 3)
    twice = [*whole.trials, *(Trial(each.candidate_id, each.case_id, 1, each.values) for each in whole.trials)]
    for lacking in ("base", "c1"):
        kept = [each for each in whole.trials if (each.candidate_id, each.case_id) != (lacking, ORDER[2])]
        write(Campaign(**{**vars(whole), "trials": kept, "name": lacking}))
        kept = [each for each in twice if (each.candidate_id, each.case_id, each.repeat) != (lacking, ORDER[2], 1)]
        write(Campaign(**{**vars(whole), "trials": kept, "name": f"a repeat of {lacking}", "repeats": 2}))
    told = "cases tried in the registered order: 2, first look at 4; more than 0 asked"
    assert read("select status, message from gate_sequential") == [{"status": "indeterminate", "message": told}] * 4


def test_it_looks_the_same_once_the_plan_is_closed(write: Write, read: Read) -> None:
    still_open = campaign([gate(looks=[4, 8, 12], spending="even")], UP)
    write(still_open)
    before = judged(read)
    write(Campaign(**{**vars(still_open), "name": "closed", "records": [("plan.closed", {"cases": 4})]}))
    found = [tuple(row.values()) for row in read("select status, message from gate_sequential")]
    assert found == [before] * 2
    assert before[0] == "pass"


@pytest.mark.parametrize("min_cases", [8, 9])
def test_fewer_units_than_asked_decide_nothing(write: Write, read: Read, min_cases: int) -> None:
    write(campaign([gate(looks=[4, 8], spending="even", min_cases=min_cases)], UP * 2))
    status, message = judged(read)
    assert status == ("pass" if min_cases == 8 else "indeterminate")
    assert message.startswith("look 2 of 2, at 8 cases: ")


class Drawn:
    """A campaign drawn by chance, with what SciPy says about it by candidate and gate."""

    def __init__(self, seed: int) -> None:
        chance = Random(seed)
        cases = registered([f"w{ix}" for ix in range(chance.randint(6, 30))])
        repeats, direction = chance.choice([1, 2]), chance.choice([1, -1])
        clean = chance.random() < 0.5
        gates, asked = [], []
        for ix in range(3):
            looks = sorted(chance.sample(range(5, len(cases) + 1), min(chance.randint(1, 4), len(cases) - 4)))
            alpha, threshold = chance.choice([0.025, 0.2]), chance.choice([0.0, 0.1])
            spending = chance.choice(["obrien_fleming", "even"])
            gates.append(gate(threshold, name=f"g{ix}", looks=looks, alpha=alpha, spending=spending))
            asked.append((threshold, looks, spent(alpha, looks, spending)))
        values: dict[tuple[str, str, int], float | None] = {}
        for who in ("base", "c1", "c2"):
            mean = 0.5 + (0 if who == "base" else direction * chance.choice([0.25, 0.1, 0.0, -0.25]))
            for case in cases:
                for repeat in range(repeats):
                    measured = min(1.0, max(0.0, chance.gauss(mean, 0.12)))
                    values[who, case, repeat] = measured if clean or chance.random() < 0.97 else None
        # The cells from one place of the order on came as they came: each may be there or not.
        whole = chance.randint(0, len(cases))
        kept = [
            key
            for key in values
            if cases.index(key[1]) < whole or (cases.index(key[1]) > whole and chance.random() < 0.9)
        ]
        self.campaign = Campaign(
            cases={case: {} for case in sorted(cases)},
            metrics=[Metric("m", direction, 0, 1)],
            gates=gates,
            candidates=["c1", "c2"],
            repeats=repeats,
            name=f"drawn {seed}",
            trials=[
                Trial(*key, {"m": values[key]} if values[key] is not None else {},
                      status="success" if values[key] is not None else "infrastructure_failure")
                for key in chance.sample(kept, len(kept))
            ],
        )  # fmt: skip
        self.asked = asked
        self.low: dict[str, list[float]] = {}
        self.high: dict[str, list[float]] = {}
        for who in ("c1", "c2"):
            bounds = [
                [filled(values[who, case, ix], values["base", case, ix], direction) for ix in range(repeats)]
                for case in cases[:whole]
            ]
            self.low[who] = [sum(each for each, _ in pairs) / repeats for pairs in bounds]
            self.high[who] = [sum(each for _, each in pairs) / repeats for pairs in bounds]

    def has_gaps(self, who: str, cases: int) -> bool:
        return self.low[who][:cases] != self.high[who][:cases]


def filled(candidate: float | None, baseline: float | None, direction: int) -> tuple[float, float]:
    """Return the least and the greatest oriented delta that a pair within 0 and 1 could have."""
    candidates = [0.0, 1.0] if candidate is None else [candidate]
    baselines = [0.0, 1.0] if baseline is None else [baseline]
    deltas = [direction * (mine - its) for mine in candidates for its in baselines]
    return min(deltas), max(deltas)


@pytest.fixture(scope="module")
def drawn(views: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Drawn]]:
    root = write_empty(tmp_path_factory.mktemp("drawn") / "warehouse")
    each = [Drawn(seed) for seed in range(60)]
    return root, {write_campaign(views, root, one.campaign): one for one in each}


def test_every_verdict_is_that_of_scipy_on_the_first_cases(
    views: duckdb.DuckDBPyConnection, drawn: tuple[Path, dict[str, Drawn]]
) -> None:
    root, campaigns = drawn
    found = rows(at(views, root), "from gate_sequential")
    assert len(found) == len(campaigns) * 2 * 3
    seen = set()
    for row in found:
        one, who = campaigns[row["campaign_id"]], row["candidate_id"]
        threshold, looks, alphas = one.asked[row["gate_ix"]]
        low, high = one.low[who], one.high[who]
        if not one.has_gaps(who, looks[-1]):
            status, cases = looked(low, threshold, looks, alphas)
            assert (row["status"], one.campaign.name) == (status, one.campaign.name), row
            assert cases is None or f", at {cases} cases: " in row["message"], row
        elif row["status"] != "indeterminate":
            # What a look with gaps decides it decides whatever the missing values are.
            look = int(row["message"].split()[1])
            assert looks[look - 1] <= len(low)
            chance = Random(row["campaign_id"])
            fills = [low, high, *([chance.uniform(*each) for each in zip(low, high, strict=True)] for _ in range(9))]
            for fill in fills:
                found_at = looked(fill, threshold, looks[look - 1 : look], alphas[look - 1 : look])
                assert found_at == (row["status"], looks[look - 1]), row
        if row["status"] != "indeterminate":
            seen.add((row["status"], row["message"][:6], "missing" in row["message"]))
    # Both verdicts, at first and at later looks, with and without gaps: the draw covers what it is for.
    assert {(status, gaps) for status, _, gaps in seen} == {
        (status, gaps) for status in ("pass", "fail") for gaps in (0, 1)
    }
    assert {look for _, look, _ in seen} >= {"look 1", "look 2"}


def test_the_threads_change_no_byte(views: duckdb.DuckDBPyConnection, drawn: tuple[Path, dict[str, Drawn]]) -> None:
    at(views, drawn[0])
    found = []
    for threads in (1, 2):
        views.execute(f"set threads = {threads}")
        found.append(
            [
                repr(row)
                for view, key in (("inferences", "look"), ("gate_sequential", "scope"))
                for row in rows(views, f"from {view} order by campaign_id, candidate_id, gate_ix, {key}")
            ]
        )
    assert found[0] == found[1]


def test_later_cells_change_no_verdict(views: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Once a look decided, each further case, in its order, leaves status and message as they are."""
    deltas = [*UP, 2.0, 4.0, *[-9.0, -8.0] * 3]
    said = set()
    for count in range(4, 13):
        root = write_empty(tmp_path / "warehouse")
        write_campaign(views, root, campaign([gate(looks=[4, 8, 12], spending="even")], list(deltas[:count])))
        said.add(at(views, root).execute("select status, message, value from gate_sequential").fetchall()[0])
        shutil.rmtree(root)
    assert len(said) == 1
