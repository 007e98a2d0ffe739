from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from tests.sql.build import Campaign, Metric, Trial, at, open_views, rows, write_campaign, write_empty
from tests.sql.conftest import Read, Write

COMPONENTS = ("between_variance", "within_variance", "mean_variance")
Deltas = Mapping[str, Sequence[float]]


def campaign(deltas: Deltas, clusters: Mapping[str, str] | None = None, **more: Any) -> Campaign:
    """A campaign whose baseline is always 0, so that the candidate's values are the deltas, by case and repeat."""
    trials = [
        Trial(who, case, repeat, {"m": value if who == "c1" else 0.0})
        for case, values in deltas.items()
        for repeat, value in enumerate(values)
        for who in ("base", "c1")
    ]
    return Campaign(
        cases={case: {} for case in deltas},
        metrics=[Metric("m")],
        repeats=max((len(values) for values in deltas.values()), default=1) or 1,
        trials=trials,
        clusters=clusters or {},
        **more,
    )


def test_components_of_a_balanced_campaign(write: Write, read: Read) -> None:
    write(campaign({"a": (1.0, 3.0), "b": (4.0, 8.0), "c": (10.0, 10.0)}))
    # case means 2, 6, 10, of mean 6; squares within: 2·1² + 2·2² + 0 = 10 on 6 - 3 degrees of freedom
    within = 10 / 3
    # squares between the means: 16 + 0 + 16 = 32 on 2, and 16 = between + within / 2
    assert read("from variance_components") == [
        {
            "candidate_id": "c1", "metric": "m", "cases": 3, "clusters": 3, "pairs": 6, "repeats": 2.0,
            "mean_delta": 6.0, "between_variance": pytest.approx(16 - within / 2, abs=1e-14),
            "within_variance": pytest.approx(within, abs=1e-15), "within_df": 3,
            "mean_variance": pytest.approx(16 / 3, abs=1e-15), "problem": None,
        }
    ]  # fmt: skip


def test_unequal_numbers_of_repeats_weigh_by_their_harmonic_mean(write: Write, read: Read) -> None:
    write(campaign({"a": (0.0,), "b": (4.0, 8.0), "c": (11.0, 12.0, 13.0, 12.0)}))
    (row,) = read("from variance_components")
    # case means 0, 6, 12; within: (4 + 4) + (1 + 0 + 1 + 0) = 10 on 7 - 3; mean of 1/K is (1 + 1/2 + 1/4) / 3 = 7/12
    assert row["repeats"] == pytest.approx(12 / 7, abs=1e-15)
    assert (row["within_variance"], row["within_df"]) == (2.5, 4)
    assert row["between_variance"] == pytest.approx(36 - 2.5 * 7 / 12, abs=1e-13)


def test_a_lowered_direction_flips_the_mean_and_no_variance(write: Write, read: Read) -> None:
    told = campaign({"a": (1.0, 3.0), "b": (4.0, 8.0), "c": (10.0, 10.0)})
    write(told)
    write(Campaign(**{**vars(told), "name": "less", "metrics": [Metric("m", -1)]}))
    more, less = read("from variance_components order by mean_delta desc")
    assert less["mean_delta"] == -more["mean_delta"]
    assert [less[name] for name in COMPONENTS] == [more[name] for name in COMPONENTS]


def test_spread_that_the_noise_explains_leaves_nothing_between_the_cases(write: Write, read: Read) -> None:
    write(campaign({"a": (-5.0, 5.0), "b": (-4.0, 6.0)}))
    (row,) = read("from variance_components")
    # within: (25 + 25) + (25 + 25) on 2 = 50; the means 0 and 1 vary by 1/2, less than 50 / 2
    assert (row["within_variance"], row["between_variance"], row["mean_variance"]) == (50.0, 0.0, 0.25)
    assert row["problem"] is None


def test_repeats_that_are_all_alike_have_no_variance_to_the_last_bit(write: Write, read: Read) -> None:
    write(campaign({"a": (0.1, 0.1, 0.1), "b": (0.7, 0.7, 0.7)}))
    (row,) = read("from variance_components")
    assert row["within_variance"] == 0
    assert row["between_variance"] == pytest.approx(0.18, abs=1e-15)


def test_cases_that_are_all_alike_have_no_variance_to_the_last_bit(write: Write, read: Read) -> None:
    trials = [
        Trial(who, case, 0, {"m": value + (0.1 if who == "c1" else 0)})
        for case, value in {"a": 0.1, "b": 0.2, "c": 0.7}.items()
        for who in ("base", "c1")
    ]
    write(Campaign(cases={"a": {}, "b": {}, "c": {}}, metrics=[Metric("m")], trials=trials))
    (row,) = read("from variance_components")
    assert row["mean_variance"] == 0


def test_cases_of_a_cluster_count_once_for_what_they_share(write: Write, read: Read) -> None:
    deltas = {"a": (1.0, 3.0), "b": (3.0, 5.0), "c": (6.0, 8.0), "d": (9.0, 11.0)}
    write(campaign(deltas, clusters={"a": "x", "b": "x"}))
    (row,) = read("from variance_components")
    # case means 2, 4, 7, 10 of mean 5.75; units {a, b}, c, d deviate by -5.5, 1.25, 4.25 in all
    squares = 5.5**2 + 1.25**2 + 4.25**2
    assert (row["cases"], row["clusters"]) == (4, 3)
    assert row["mean_variance"] == pytest.approx(3 / 2 * squares / 4**2, abs=1e-14)
    # within: 8 · 1² on 4 degrees of freedom = 2
    assert row["between_variance"] == pytest.approx(4 * row["mean_variance"] - 2 / 2, abs=1e-14)


@pytest.mark.parametrize(
    ("deltas", "clusters", "known", "problem"),
    [
        ({"a": (1.0,), "b": (2.0,)}, {}, {"mean_variance"}, "no case was tried twice"),
        ({"a": (1.0, 2.0)}, {}, {"within_variance"}, "one case shows nothing"),
        ({"a": (1.0, 2.0), "b": (3.0, 4.0)}, {"a": "x", "b": "x"}, {"within_variance"}, "one cluster shows nothing"),
        ({"a": ()}, {}, set(), "no pair was found"),
        ({"a": (1e308,), "b": (-1e308,)}, {}, set(), "no pair was found"),
    ],
)
def test_what_cannot_be_told_is_unknown_with_the_reason(
    write: Write, read: Read, deltas: Any, clusters: Any, known: Any, problem: Any
) -> None:
    write(campaign(deltas, clusters))
    (row,) = read("from variance_components")
    assert {name for name in COMPONENTS if row[name] is not None} == known
    assert problem in row["problem"]
    assert not any(isinstance(value, float) and not math.isfinite(value) for value in row.values())


def test_the_greatest_usable_values_have_finite_components(write: Write, read: Read) -> None:
    write(campaign({"a": (1e140, -1e140), "b": (1e140, 0.0), "c": (-1e140, -1e140)}))
    (row,) = read("from variance_components")
    assert all(math.isfinite(row[name]) for name in COMPONENTS)


def test_nothing_is_said_where_the_projections_are_not_whole(write: Write, read: Read, root: Path) -> None:
    write(campaign({"a": (1.0, 3.0), "b": (4.0, 8.0)}), segment_events=3)
    sorted(root.glob("measurements/campaign=[!n]*/*.parquet"))[-1].unlink()
    (row,) = read("from variance_components")
    assert {name for name, value in row.items() if value is not None} == {"candidate_id", "metric", "problem"}


def random_campaign(seed: int) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Deltas of up to 12 cases with up to 5 repeats each, some of them in clusters."""
    rng = np.random.default_rng(seed)
    deltas, clusters = {}, {}
    for case in [f"case {ix}" for ix in range(rng.integers(2, 13))]:
        deltas[case] = [float(value) for value in rng.normal(rng.normal(), 0.7, rng.integers(1, 6))]
        if rng.random() < 0.5:
            clusters[case] = f"cluster {rng.integers(3)}"
    deltas["last"] = [0.25, 0.75]
    return deltas, clusters


def test_components_equal_an_independent_computation(write: Write, read: Read) -> None:
    told = {f"{seed}": random_campaign(seed) for seed in range(12)}
    for name, (deltas, clusters) in told.items():
        write(campaign(deltas, clusters, name=name))
    found = read("select name, variance_components.* from variance_components inner join campaigns using (campaign_id)")
    assert len(found) == len(told)
    for row in found:
        expected = components(*told[row["name"]])
        assert row["clusters"] == expected.pop("clusters")
        for name, value in expected.items():
            assert row[name] == pytest.approx(value, rel=1e-11, abs=1e-12), (row["name"], name)


def components(deltas: Mapping[str, Sequence[float]], clusters: Mapping[str, str]) -> dict[str, float]:
    """The components by matrices: the sandwich estimator of an intercept, and pooled variances of the cases."""
    means = np.array([np.mean(values) for values in deltas.values()])
    members = [clusters.get(case, f"alone {case}") for case in deltas]
    labels = sorted(set(members))
    shares = np.array([[member == label for member in members] for label in labels], dtype=float)
    scores = shares @ (means - means.mean())
    variance = len(labels) / (len(labels) - 1) * scores @ scores / len(means) ** 2
    squares = [np.var(values, ddof=1) * (len(values) - 1) for values in deltas.values() if len(values) > 1]
    within = float(np.sum(squares)) / sum(len(values) - 1 for values in deltas.values())
    noise = within * np.mean([1 / len(values) for values in deltas.values()])
    return {
        "clusters": len(labels),
        "mean_variance": variance,
        "within_variance": within,
        "between_variance": max(0.0, len(means) * variance - noise),
    }


def test_the_estimators_are_unbiased(write: Write, read: Read) -> None:
    rng = np.random.default_rng(5)
    deltas = {}
    for ix in range(600):
        truth = rng.normal(0, 0.3)
        deltas[f"{ix}"] = [float(value) for value in rng.normal(truth, 0.5, 1 + ix % 3)]
    write(campaign(deltas))
    (row,) = read("from variance_components")
    assert row["within_variance"] == pytest.approx(0.25, abs=0.045)  # 3 standard errors of a variance on 600 df
    assert row["between_variance"] == pytest.approx(0.09, abs=0.05)


def test_threads_and_the_order_of_trials_change_no_byte(tmp_path: Path) -> None:
    rng = np.random.default_rng(99)
    # so many of one size that a plain sum rounds otherwise in every other order
    deltas = {f"{ix}": [float(each) for each in rng.normal(size=4)] for ix in range(250)}
    told = campaign(deltas, {case: f"cluster {int(case) % 4}" for case in deltas if int(case) % 5})
    found = []
    for threads, turn in ((1, 1), (2, -7)):
        root = write_empty(tmp_path / f"{threads} {turn}")
        con = open_views(root, duckdb.connect(config={"threads": threads}), ["variance_components"])
        trials = [each for start in range(abs(turn)) for each in told.trials[start :: abs(turn)]]
        write_campaign(con, root, Campaign(**{**vars(told), "trials": trials[:: 1 if turn > 0 else -1]}), 500)
        found.append(rows(at(con, root), "select * exclude (campaign_id) from variance_components"))
        con.close()
    assert found[0] == found[1]


@pytest.mark.parametrize("clusters", [{}, {"a": "x", "b": "x"}])
def test_the_variance_of_the_mean_is_that_of_the_comparison(write: Write, read: Read, clusters: Any) -> None:
    write(campaign({"a": (1.0, 3.0), "b": (4.0, 8.0), "c": (10.0, 10.5)}, clusters))
    ((row,), (compared,)) = read("from variance_components"), read("from comparisons")
    assert row["mean_variance"] == pytest.approx(compared["standard_error"] ** 2, rel=1e-14)
    assert row["mean_delta"] == compared["mean_delta"]
