from __future__ import annotations

from typing import Any

import duckdb
import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from opfield.warehouse.views import load_views
from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

DIMENSIONS = 8


@pytest.fixture(scope="module")
def kernel() -> Any:
    """The view over a table of points given by hand."""
    con = duckdb.connect(config={"threads": 2})
    columns = ", ".join(f"m{ix} double" for ix in range(DIMENSIONS))
    con.execute(f"create table pareto_points (campaign_id varchar, candidate_id varchar, {columns})")
    views = load_views().relations
    con.execute(views["dominates"].sql)
    con.execute(f"create view pareto as {views['pareto'].sql}")
    yield con
    con.close()


def ranked(
    con: duckdb.DuckDBPyConnection, points: dict[tuple[str, str], tuple[Any, ...]]
) -> dict[tuple[str, str], Any]:
    con.execute("delete from pareto_points")
    for key, values in points.items():
        filled = (*values, *(0.0,) * (DIMENSIONS - len(values)))
        con.execute(f"insert into pareto_points values (?, ?{', ?' * DIMENSIONS})", [*key, *filled])
    found = con.execute("select campaign_id, candidate_id, is_rankable, is_front from pareto").fetchall()
    assert len(found) == len(points)
    return {
        (campaign, candidate): front if rankable else "unrankable" for campaign, candidate, rankable, front in found
    }


def test_a_dominated_point_is_not_on_the_front(kernel: Any) -> None:
    assert ranked(kernel, {("k", "a"): (1, 2), ("k", "b"): (2, 2), ("k", "c"): (0, 3)}) == {
        ("k", "a"): False,
        ("k", "b"): True,
        ("k", "c"): True,
    }


def test_equal_points_do_not_dominate_each_other(kernel: Any) -> None:
    assert set(ranked(kernel, {("k", "a"): (1, 2), ("k", "b"): (1, 2)}).values()) == {True}


def test_a_point_with_an_unknown_dimension_is_listed_and_left_out(kernel: Any) -> None:
    assert ranked(kernel, {("k", "a"): (None, 9), ("k", "b"): (1, 1)}) == {("k", "a"): "unrankable", ("k", "b"): True}


def test_campaigns_do_not_dominate_each_other(kernel: Any) -> None:
    assert set(ranked(kernel, {("k", "a"): (1, 1), ("l", "a"): (2, 2)}).values()) == {True}


def test_no_points_have_no_front(kernel: Any) -> None:
    assert ranked(kernel, {}) == {}


def dominates(left: Any, right: Any) -> Any:
    return all(a >= b for a, b in zip(left, right, strict=True)) and left != right


@given(
    points=st.dictionaries(
        st.tuples(st.sampled_from("kl"), st.integers(0, 999).map(str)),
        st.tuples(*[st.one_of(st.none(), st.integers(0, 4).map(float), st.just(1e100))] * 3),
        max_size=40,
    )
)
@settings(max_examples=30, deadline=None)
def test_the_front_is_what_nothing_dominates(kernel: Any, points: Any) -> None:
    known = {key: values for key, values in points.items() if None not in values}
    expected = {
        key: not any(dominates(other, values) for (campaign, _), other in known.items() if campaign == key[0])
        if key in known
        else "unrankable"
        for key, values in points.items()
    }
    assert ranked(kernel, points) == expected


def test_points_of_many_blocks_are_ranked_as_one(kernel: Any) -> None:
    # a diagonal of 300 on the front, and 300 points just below it
    front = {("k", f"f{ix}"): (ix, 299 - ix, 0.5) for ix in range(300)}
    below = {("k", f"b{ix}"): (ix, 299 - ix, 0.25) for ix in range(300)}
    found = ranked(kernel, front | below)
    assert {key for key, is_front in found.items() if is_front} == set(front)


def scored(**means: Any) -> Any:
    """A campaign of one case: candidate to its values on the metrics gain (more) and loss (less is better)."""
    base = Trial("base", "a", 0, {"gain": 0.0, "loss": 0.0})
    trials = [Trial(name, "a", 0, {"gain": gain, "loss": loss}) for name, (gain, loss) in means.items()]
    return {
        "cases": {"a": {}},
        "metrics": [Metric("gain", 1), Metric("loss", -1)],
        "candidates": list(means),
        "trials": [base, *trials],
    }


def test_metrics_are_oriented_and_only_passing_candidates_compete(write: Write, read: Read) -> None:
    gate = {"kind": "mean_delta", "metric": "gain", "threshold": 0.0}
    write(Campaign(**scored(c1=(1.0, 5.0), c2=(2.0, 7.0), c3=(1.0, 6.0), c4=(-1.0, 0.0)), gates=[gate]))
    # c3 has c1's gain and more loss; c4 fails its gate
    assert [tuple(row.values()) for row in read("from pareto order by candidate_id")] == [
        ("c1", True, True),
        ("c2", True, True),
        ("c3", True, False),
    ]


def test_a_candidate_with_an_unknown_mean_is_unrankable(write: Write, read: Read) -> None:
    write(Campaign(**scored(c1=(1.0, None), c2=(2.0, 7.0))))
    assert [tuple(row.values()) for row in read("from pareto order by candidate_id")] == [
        ("c1", False, None),
        ("c2", True, True),
    ]


def test_more_than_eight_metrics_rank_nobody(write: Write, read: Read) -> None:
    names = [f"m{ix}" for ix in range(9)]
    trials = [Trial(who, "a", 0, dict.fromkeys(names, 1.0)) for who in ("base", "c1")]
    write(Campaign(cases={"a": {}}, metrics=[Metric(name) for name in names], trials=trials))
    assert [tuple(row.values()) for row in read("from pareto")] == [("c1", False, None)]


def test_an_empty_campaign_has_no_front(write: Write, read: Read) -> None:
    write(Campaign(cases={"a": {}}, metrics=[Metric("m")], candidates=[]))
    assert read("from pareto") == []
