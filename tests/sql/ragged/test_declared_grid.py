from __future__ import annotations

from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from opfield.campaign.reducer import fold
from opfield.warehouse.ledger import Event
from tests.sql.build import Campaign, Metric, Trial, at, chained, rows, write_campaign, write_empty
from tests.sql.conftest import Read, Write

#: base runs a three times and b twice, c1 runs a once and b as often as all, that is three times.
RAGGED = Campaign(
    cases={"a": {"kind": "x"}, "b": {}},
    metrics=[Metric("m")],
    repeats=3,
    coupling="none",
    ragged={"a": {"c1": 1}, "b": {"base": 2}},
)


def declared(read: Read) -> dict[tuple[str, str], int]:
    told = read("from declared_repeats")
    assert {(row["candidate_id"], row["arm"]) for row in told} == {("base", "baseline"), ("c1", "candidate")}
    return {(row["candidate_id"], row["case_id"]): row["repeats"] for row in told}


def test_a_case_runs_as_often_as_it_states_for_each_arm_and_else_as_often_as_all(write: Write, read: Read) -> None:
    write(RAGGED)
    assert declared(read) == {("base", "a"): 3, ("c1", "a"): 1, ("base", "b"): 2, ("c1", "b"): 3}


def test_a_case_runs_once_at_least_on_every_arm(write: Write, read: Read) -> None:
    # one that an arm never ran is missing there, and the number of coordinates that says otherwise is not the grid's
    write(replace(RAGGED, ragged={"a": {"c1": 0}}))
    assert declared(read)["c1", "a"] == 1
    assert {row["is_whole"] for row in read("from integrity")} == {False}


def test_the_grid_has_the_repeats_that_each_arm_declares(write: Write, read: Read) -> None:
    write(RAGGED.with_trials(Trial("base", "b", 1), Trial("c1", "a", 0)))
    grid = {(row["candidate_id"], row["case_id"], row["repeat"]) for row in read("from coordinates")}
    assert grid == {
        *(("base", "a", repeat) for repeat in range(3)), ("base", "b", 0), ("base", "b", 1),
        ("c1", "a", 0), *(("c1", "b", repeat) for repeat in range(3)),
    }  # fmt: skip
    todo = {(row["candidate_id"], row["case_id"], row["repeat"]) for row in read("from pending")}
    assert todo == grid - {("base", "b", 1), ("c1", "a", 0)}


def test_what_cases_state_counts_only_where_the_campaign_declares_its_coordinates(write: Write, read: Read) -> None:
    plain = [(kind, dict(payload)) for kind, payload in RAGGED.payloads()]
    plain[0][1].pop("coordinates")

    class Silent(Campaign):
        def payloads(self) -> list[tuple[str, dict[str, Any]]]:
            return plain

    write(Silent(**{name: getattr(RAGGED, name) for name in RAGGED.__dataclass_fields__}))
    assert set(declared(read).values()) == {3}


def test_where_repeats_pair_the_baselines_number_holds_for_every_arm(write: Write, read: Read) -> None:
    write(replace(RAGGED, coupling="common_seed", ragged={"a": {"base": 1, "c1": 1}}))
    assert declared(read) == {("base", "a"): 1, ("c1", "a"): 1, ("base", "b"): 3, ("c1", "b"): 3}
    assert [(row["case_id"], row["repeat"]) for row in read("from declared_pairs order by all")] == [
        ("a", 0), ("b", 0), ("b", 1), ("b", 2),
    ]  # fmt: skip


def test_stated_repeats_are_no_stratum(write: Write, read: Read) -> None:
    write(RAGGED)
    assert {(row["group_key"], row["group_value"]) for row in read("from strata")} == {("kind", "x")}


@pytest.mark.parametrize("stated", [{"a": {"base": 1, "c1": 2}}, {"a": {"base": 0}}, {"a": {"base": 4}}])
def test_a_grid_that_is_not_the_declared_one_is_not_whole(write: Write, read: Read, stated: Any) -> None:
    # repeats that pair differ between the arms; none at all; more than the campaign allows
    write(replace(RAGGED, coupling="common_seed", ragged=stated))
    assert {row["is_whole"] for row in read("from integrity")} == {False}
    figures = {row["figure"]: row["agrees"] for row in read("from reconciliation")}
    assert figures["coordinates"] is False


def test_the_declared_number_of_coordinates_is_reconciled(write: Write, read: Read) -> None:
    write(RAGGED)
    figures = {row["figure"]: (row["recorded"], row["found"]) for row in read("from reconciliation")}
    assert figures["coordinates"] == ("9", "9")
    assert {row["is_whole"] for row in read("from integrity")} == {True}


def test_a_plain_campaign_has_no_coordinates_to_reconcile(write: Write, read: Read) -> None:
    write(replace(RAGGED, ragged=None))
    assert "coordinates" not in {row["figure"] for row in read("from reconciliation")}
    assert read("from stated_repeats") == []


def test_only_a_repeat_that_no_arm_declares_breaks_the_law_of_trials(write: Write, read: Read) -> None:
    # c1 declares a single repeat of a: repeat 2 is off its grid, but lawful, since the baseline has one
    write(RAGGED.with_trials(Trial("c1", "a", 2), Trial("base", "a", 3)))
    assert [row["law"] for row in read("from violations")] == ["trial"]


@st.composite
def ragged_campaigns(draw: st.DrawFn) -> Campaign:
    """Draw what a ragged campaign declares."""
    candidates = [f"c{ix}" for ix in range(draw(st.integers(1, 3)))]
    cases = [f"w{ix}" for ix in range(draw(st.integers(1, 4)))]
    repeats = draw(st.integers(1, 4))
    is_coupled = draw(st.booleans())
    arms = ["base", *candidates]
    ragged = {}
    for case in cases:
        if draw(st.booleans()):
            counts = draw(st.lists(st.integers(1, repeats), min_size=len(arms), max_size=len(arms)))
            ragged[case] = dict.fromkeys(arms, counts[0]) if is_coupled else dict(zip(arms, counts, strict=True))
    return Campaign(
        cases={case: {} for case in cases},
        metrics=[Metric("m")],
        candidates=candidates,
        repeats=repeats,
        coupling="common_seed" if is_coupled else "none",
        ragged=ragged,
        name=str(draw(st.integers(0, 2**60))),
    )


@given(drawn=st.lists(ragged_campaigns(), min_size=8, max_size=8, unique_by=lambda each: each.name))
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_reducer_and_the_views_count_the_same_coordinates(
    views: Any, tmp_path_factory: pytest.TempPathFactory, drawn: list[Campaign]
) -> None:
    root = write_empty(tmp_path_factory.mktemp("ragged"))
    states = {
        write_campaign(views, root, each): fold(
            Event(**row) for row in chained(each.campaign_id, each.payloads())
        ).declared_cells
        for each in drawn
    }
    at(views, root)
    counted = rows(views, "select campaign_id, count(*) as cells from coordinates group by campaign_id")
    assert {row["campaign_id"]: row["cells"] for row in counted} == states
    assert rows(views, "from integrity where not is_whole") == []
    assert rows(views, "from violations") == []
