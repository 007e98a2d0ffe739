"""The registered order of cases: nobody's choice, the same for everyone, and what a closed plan keeps of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write
from tests.sql.sequential.looking import SEED, Seeded, closing, gate, registered

NAMES = [*(f"w{ix}" for ix in range(12)), "it's", 'a "b"', "日本 ü", "case w1", "cluster k1", " ", "W1"]
CLUSTERS = {"w0": "k1", "w1": "k1", "it's": "k1", "w2": "w3", "W1": "w3", "日本 ü": "alone", "w5": "case w6"}


def declared(names: list[str], clusters: Mapping[str, str] | None = None, seed: str = SEED, **more: Any) -> Campaign:
    return Seeded(
        cases={name: {} for name in names}, metrics=[Metric("m")], clusters=clusters or {}, seed_root=seed, **more
    )


def order(read: Read, campaign_id: str) -> list[str]:
    rows = read(f"select case_id, position from planned_cases where campaign_id = '{campaign_id}' order by position")
    assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))
    return [row["case_id"] for row in rows]


def test_the_order_is_that_of_the_hashes_under_the_seed(write: Write, read: Read) -> None:
    for clusters in ({}, CLUSTERS):
        for seed in (SEED, "ffffffffffffffff"):
            campaign_id = write(declared(NAMES, clusters, seed))
            assert order(read, campaign_id) == registered(NAMES, clusters, seed)


def test_a_known_order_stays_what_it_is(write: Write, read: Read) -> None:
    assert order(read, write(declared([f"w{ix}" for ix in range(6)]))) == ["w1", "w3", "w0", "w5", "w4", "w2"]


def test_neither_the_listing_nor_repeats_nor_other_campaigns_move_a_case(write: Write, read: Read) -> None:
    plain = write(declared(NAMES, CLUSTERS))
    others = [
        write(declared(NAMES[::-1], CLUSTERS, name="listed backwards")),
        write(declared(sorted(NAMES), CLUSTERS, name="sorted", repeats=3, candidates=["c1", "c2"])),
    ]
    assert all(order(read, each) == order(read, plain) for each in others)


def test_a_case_less_leaves_the_others_in_their_order(write: Write, read: Read) -> None:
    whole, fewer = write(declared(NAMES)), write(declared(NAMES[3:]))
    assert order(read, fewer) == [case for case in order(read, whole) if case in NAMES[3:]]


def test_the_cases_of_a_cluster_stay_together(write: Write, read: Read) -> None:
    found = order(read, write(declared(NAMES, CLUSTERS)))
    for cluster in set(CLUSTERS.values()):
        places = [found.index(case) for case in CLUSTERS if CLUSTERS[case] == cluster]
        assert max(places) - min(places) == len(places) - 1


def test_another_seed_gives_another_order(write: Write, read: Read) -> None:
    orders = {tuple(order(read, write(declared(NAMES, seed=f"{ix:016x}")))) for ix in range(5)}
    assert len(orders) == 5


def tried(names: list[str], cases: list[str], *records: Any, **more: Any) -> Campaign:
    return declared(
        names,
        candidates=["c1", "c2"],
        repeats=2,
        gates=[gate(looks=[4, 12]), {"kind": "coverage"}],
        trials=[
            Trial(who, case, repeat, {"m": 1.0}) for case in cases for repeat in (0, 1) for who in ("base", "c1", "c2")
        ],
        records=records,
        **more,
    )


def test_a_closed_plan_keeps_the_first_cases_on_every_arm_and_misses_nothing(write: Write, read: Read) -> None:
    names = [f"w{ix}" for ix in range(12)]
    first = registered(names)[:4]
    closed = write(tried(names, first, closing(4)))
    still_open = write(tried(names, first, name="open"))
    assert order(read, closed) == first
    assert len(order(read, still_open)) == 12
    pairs = read(f"from declared_pairs where campaign_id = '{closed}' order by all")
    assert [tuple(row.values()) for row in pairs] == [(case, repeat) for case in sorted(first) for repeat in (0, 1)]
    by_arm = read(
        "select candidate_id, list((case_id, repeat) order by case_id, repeat) as cells from coordinates "
        f"where campaign_id = '{closed}' group by candidate_id"
    )
    assert len(by_arm) == 3
    assert all(row["cells"] == [tuple(pair.values()) for pair in pairs] for row in by_arm)
    assert read(f"from pending where campaign_id = '{closed}'") == []
    assert len(read(f"from pending where campaign_id = '{still_open}'")) == 8 * 2 * 3
    columns = "expected_pairs, complete_pairs, missing_baseline, missing_candidate, not_planned, unexpected_cells"
    rows = read(f"select campaign_id, {columns}, is_complete from coverage order by campaign_id = '{closed}'")
    assert [tuple(row.values()) for row in rows] == [(24, 8, 16, 16, 0, 0, False)] * 2 + [(8, 8, 0, 0, 16, 0, True)] * 2
    assert read(f"select cases, planned_cases from campaigns where campaign_id = '{closed}'") == [
        {"cases": 12, "planned_cases": 4}
    ]
    scopes = read(f"select case_id from scope_cases where campaign_id = '{closed}' and scope = ''")
    assert {row["case_id"] for row in scopes} == set(first)
    missing = read(f"select distinct pairs, missing from comparisons where campaign_id = '{closed}'")
    assert missing == [{"pairs": 8, "missing": 0}]


def test_cells_outside_a_closed_plan_are_unexpected(write: Write, read: Read) -> None:
    names = [f"w{ix}" for ix in range(12)]
    write(tried(names, registered(names)[1:5], closing(4)))
    rows = read("select complete_pairs, missing_candidate, unexpected_cells, is_complete from coverage")
    assert [tuple(row.values()) for row in rows] == [(6, 2, 4, False)] * 2
    assert {row["status"] for row in read("select status from gate_results")} == {"indeterminate"}


@pytest.mark.parametrize("cases", ["many", None, [4]])
def test_a_closing_that_cannot_be_read_plans_all_and_breaks_no_view(write: Write, read: Read, cases: Any) -> None:
    names = [f"w{ix}" for ix in range(12)]
    write(tried(names, registered(names)[:4], closing(cases)))
    assert len(read("from planned_cases")) == 12
    assert [row["planned_cases"] for row in read("select planned_cases from campaigns")] == [12]
    assert {row["law"] for row in read("select law from violations")} == {"plan"}
