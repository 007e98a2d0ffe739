from __future__ import annotations

from typing import Any

import pytest

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write


def expecting(write: Write, read: Read, values: Any, base: Any = None, **changes: Any) -> Any:
    """Return the rows about candidates with these values at the cases a, b and on; the baseline is 0 unless given."""
    cases = "abcdefgh"[: max(map(len, values.values()))]
    arms = {"base": base or (0.0,) * len(cases), **values}
    fields = {
        "cases": {case: {} for case in cases},
        "metrics": [Metric("m")],
        "preference": "m",
        "candidates": list(values),
        "trials": [
            Trial(who, case, 0, {"m": value})
            for who, given in arms.items()
            for case, value in zip(cases, given, strict=True)
        ],
    }
    write(Campaign(**(fields | changes)))
    return [tuple(row.values()) for row in read("from shrinkage order by candidate_id")]


def test_scores_are_pulled_towards_their_mean(write: Write, read: Read) -> None:
    # scores 6, 2, 1: mean 3, spread (9 + 1 + 4) / 2 = 7. From its candidate's mean a is -1 0 -1 away, b 1 0 1; the case
    # means of that are -2/3 and 2/3, so that residuals are -1/3 2/3 -1/3 and 1/3 -2/3 1/3, whose squares sum to 4/3.
    # Over (2 - 1)(3 - 1) degrees of freedom: 2/3 a case, 1/3 for the mean of two. The prior variance is 7 - 1/3 = 20/3,
    # and 20/3 / (20/3 + 1/3) = 20/21 of each deviation stands.
    kept = 20 / 21
    assert expecting(write, read, {"c1": (5.0, 7.0), "c2": (2.0, 2.0), "c3": (0.0, 2.0)}) == [
        ("c1", 6.0, pytest.approx(3 + 3 * kept), pytest.approx(3 - 3 * kept)),
        ("c2", 2.0, pytest.approx(3 - kept), pytest.approx(-1 + kept)),
        ("c3", 1.0, pytest.approx(3 - 2 * kept), pytest.approx(-2 + 2 * kept)),
    ]


def test_noise_that_all_candidates_share_shrinks_nothing(write: Write, read: Read) -> None:
    # the baseline is 5 lower at a and 5 higher at b: every delta moves with it, and no candidate against another
    kept = 20 / 21
    found = expecting(write, read, {"c1": (5.0, 7.0), "c2": (2.0, 2.0), "c3": (0.0, 2.0)}, base=(-5.0, 5.0))
    assert [row[2] for row in found] == pytest.approx([3 + 3 * kept, 3 - kept, 3 - 2 * kept])


def test_differences_within_noise_are_all_luck(write: Write, read: Read) -> None:
    # scores 2, 2, 2.5: their spread is 1/12, the noise of a mean far more
    found = expecting(write, read, {"c1": (0.0, 4.0), "c2": (4.0, 0.0), "c3": (2.0, 3.0)})
    assert [row[2] for row in found] == pytest.approx([13 / 6] * 3)
    assert [row[3] for row in found] == pytest.approx([-1 / 6, -1 / 6, 1 / 3])


def test_without_noise_scores_stand(write: Write, read: Read) -> None:
    found = expecting(write, read, {"c1": (3.0, 4.0), "c2": (1.0, 2.0), "c3": (0.0, 1.0)})
    assert [row[2] for row in found] == pytest.approx([3.5, 1.5, 0.5])


def test_equal_scores_stay_where_they_are(write: Write, read: Read) -> None:
    assert expecting(write, read, {f"c{ix}": (1.0, 3.0) for ix in range(3)}) == [
        (f"c{ix}", 2.0, 2.0, 0.0) for ix in range(3)
    ]


def test_two_candidates_tell_nothing_about_their_spread(write: Write, read: Read) -> None:
    assert expecting(write, read, {"c1": (5.0, 7.0), "c2": (2.0, 2.0)}) == [
        ("c1", 6.0, None, None),
        ("c2", 2.0, None, None),
    ]


def test_a_candidate_without_a_score_has_no_row_and_counts_for_nothing(write: Write, read: Read) -> None:
    found = expecting(write, read, {"c1": (5.0, 7.0), "c2": (2.0, 2.0), "c3": (None, None)})
    assert found == [("c1", 6.0, None, None), ("c2", 2.0, None, None)]


def test_one_case_tells_nothing_about_noise(write: Write, read: Read) -> None:
    found = expecting(write, read, {"c1": (5.0,), "c2": (2.0,), "c3": (0.0,)})
    assert found == [("c1", 5.0, None, None), ("c2", 2.0, None, None), ("c3", 0.0, None, None)]


def test_candidates_without_a_common_case_tell_nothing_about_noise(write: Write, read: Read) -> None:
    values = {"c1": (5.0, None, None), "c2": (None, 2.0, None), "c3": (None, None, 0.0)}
    assert [row[2] for row in expecting(write, read, values)] == [None] * 3


def test_fewer_cases_are_pulled_more(write: Write, read: Read) -> None:
    values = {"c1": (6.0, 8.0, 7.5, 8.5), "c2": (2.0, 2.5, 2.0, 3.0), "c3": (7.0, 8.0, None, None)}
    found = expecting(write, read, values)
    centre = sum(row[1] for row in found) / 3
    kept = {row[0]: (row[2] - centre) / (row[1] - centre) for row in found}
    assert kept["c1"] == pytest.approx(kept["c2"])
    assert 0 < kept["c3"] < kept["c1"] < 1


def test_without_a_preference_there_is_no_score(write: Write, read: Read) -> None:
    assert expecting(write, read, {"c1": (5.0, 7.0), "c2": (2.0, 2.0), "c3": (0.0, 2.0)}, preference=None) == []
