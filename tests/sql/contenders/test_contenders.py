from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import t

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

GATE = {"kind": "mean_delta", "metric": "m", "threshold": -10.0}
TOLD = "difference, standard_error, ci_low, ci_high, is_separated"


def contending(write: Write, values: Any, metric: Any = None, **changes: Any) -> None:
    """Write a campaign whose baseline is 0 everywhere; candidates have these values at the cases a, b, c and on."""
    cases = "abcdefgh"[: max(map(len, values.values()), default=1)]
    fields = {
        "cases": {case: {} for case in cases},
        "metrics": [metric or Metric("m")],
        "gates": [GATE],
        "preference": "m",
        "candidates": list(values),
        "trials": [
            *(Trial("base", case, 0, {"m": 0.0}) for case in cases),
            *(
                Trial(who, case, 0, {"m": value})
                for who, given in values.items()
                for case, value in zip(cases, given, strict=True)
            ),
        ],
    }
    write(Campaign(**(fields | changes)))


def told(read: Read, columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in read(f"select {columns} from contenders order by candidate_id")]


def test_a_contender_is_paired_with_the_selected_one_case_by_case(write: Write, read: Read) -> None:
    contending(write, {"c1": (3.0, 4.0, 5.0), "c2": (1.0, 3.0, 2.0)})
    # differences 2, 1, 3: mean 2, sd 1, standard error 1 / sqrt(3); t(.975, 2) = 4.3026527
    error = 3**-0.5
    half = 4.302652729749462 * error
    assert told(read, f"candidate_id, {TOLD}") == [
        ("c1", None, None, None, None, None),
        ("c2", 2.0, pytest.approx(error), pytest.approx(2 - half), pytest.approx(2 + half), False),
    ]


def test_the_selected_one_is_listed_with_its_score_and_cases(write: Write, read: Read) -> None:
    contending(write, {"c1": (3.0, 4.0, 5.0), "c2": (1.0, 3.0, 2.0)})
    assert told(read, "candidate_id, label, is_selected, score, cases, missing") == [
        ("c1", "label c1", True, 4.0, 3, 0),
        ("c2", "label c2", False, 2.0, 3, 0),
    ]


def test_the_level_is_shared_by_all_contenders(write: Write, read: Read) -> None:
    contending(write, {"c1": (3.0, 4.0, 5.0), "c2": (1.0, 3.0, 2.0), "c3": (0.0, 0.0, 0.5), "c4": (-99.0,) * 3})
    # c4 fails its gate, so that two contend: t(1 - .025 / 2, 2); c3 differs by 3, 4, 4.5, whose sd is sqrt(7 / 12)
    quantile = t.ppf(1 - 0.025 / 2, 2)
    low2, low3 = 2 - quantile / 3**0.5, 23 / 6 - quantile * (7 / 36) ** 0.5
    assert told(read, "candidate_id, ci_low, is_separated") == [
        ("c1", None, None),
        ("c2", pytest.approx(low2), False),
        ("c3", pytest.approx(low3), True),
    ]


def test_less_is_better_where_the_metric_says_so(write: Write, read: Read) -> None:
    contending(write, {"c1": (-3.0, -5.0), "c2": (-1.0, -1.0)}, Metric("m", -1))
    assert told(read, "candidate_id, score, difference") == [("c1", 4.0, None), ("c2", 1.0, 3.0)]


@pytest.mark.parametrize(
    ("metric", "low"),
    [
        # every case differs by 1, within [-1, 1]: 1 - (1 + 1)(1 - .025^(1/3))
        (Metric("m", 1, 0.0, 1.0), 1 - 2 * (1 - 0.025 ** (1 / 3))),
        (Metric("m", 1, 0.0), None),
        (Metric("m"), None),
    ],
)
def test_differences_all_alike_are_no_certainty(write: Write, read: Read, metric: Any, low: Any) -> None:
    contending(write, {"c1": (1.0, 1.0, 1.0), "c2": (0.0, 0.0, 0.0)}, metric)
    expected = None if low is None else pytest.approx(low)
    assert told(read, "ci_low, is_separated")[1] == (expected, None if low is None else False)


def test_differences_alike_at_many_cases_are_separated(write: Write, read: Read) -> None:
    contending(write, {"c1": (1.0,) * 8, "c2": (0.0,) * 8}, Metric("m", 1, 0.0, 1.0))
    # 1 - 2 (1 - .025^(1/8)) = 0.2611
    assert told(read, "ci_low, ci_high, is_separated")[1] == (pytest.approx(0.2611, abs=1e-4), 1.0, True)


def test_rounding_is_no_spread(write: Write, read: Read) -> None:
    contending(write, {"c1": (0.3, 0.4, 0.9), "c2": (0.1, 0.2, 0.7)})  # 0.3 - 0.1 is not 0.4 - 0.2
    assert told(read, "ci_low, is_separated")[1] == (None, None)


def test_candidates_alike_everywhere_are_not_separated(write: Write, read: Read) -> None:
    contending(write, {"c1": (1.0, 0.5), "c2": (1.0, 0.5)}, Metric("m", 1, 0.0, 1.0))
    assert told(read, "difference, standard_error, is_separated")[1] == (0.0, 0.0, False)


def test_a_missing_value_keeps_a_contender_from_being_set_aside(write: Write, read: Read) -> None:
    values = {"c1": (3.0, 4.1, 5.0, 4.0), "c2": (1.0, 2.0, 3.0, None), "c3": (1.0, 2.0, 3.0, 2.0)}
    contending(write, values, gates=[])
    # c2 and c3 are 2, 2.1, 2 behind; only of c3 are all cases known
    assert told(read, "candidate_id, cases, missing, ci_low > 0, is_separated") == [
        ("c1", 4, 0, None, None),
        ("c2", 3, 1, True, None),
        ("c3", 4, 0, True, True),
    ]


def test_one_common_case_tells_no_spread(write: Write, read: Read) -> None:
    contending(write, {"c1": (3.0, None), "c2": (1.0, 1.0)}, gates=[])
    assert told(read, f"candidate_id, cases, {TOLD}")[1] == ("c2", 1, 2.0, None, None, None, None)


def test_without_a_common_case_nothing_is_known(write: Write, read: Read) -> None:
    contending(write, {"c1": (3.0, None), "c2": (None, 1.0)}, gates=[])
    assert told(read, f"candidate_id, score, cases, missing, {TOLD}")[1] == ("c2", 1.0, 0, 2, *(None,) * 5)


def test_repeats_of_a_case_are_one_unit(write: Write, read: Read) -> None:
    trials = [
        Trial(who, case, repeat, {"m": values[repeat]})
        for who, values in {"base": (0.0, 0.0), "c1": (2.0, 4.0), "c2": (0.0, 1.0)}.items()
        for case in "ab"
        for repeat in range(2)
    ]
    contending(write, {"c1": (0.0, 0.0), "c2": (0.0, 0.0)}, trials=trials, repeats=2)
    assert told(read, "candidate_id, cases, difference, standard_error")[1] == ("c2", 2, 2.5, 0.0)


def test_where_the_baseline_is_kept_candidates_stand_beside_it(write: Write, read: Read) -> None:
    contending(write, {"c1": (-1.0, -2.0), "c2": (0.5, 0.25)}, min_gain=1.0)
    # 0 less -1 and -2: mean 1.5, standard error sqrt(.5 / 2) = .5
    assert told(read, "candidate_id, is_selected, cases, missing, difference, standard_error, is_separated") == [
        ("c1", False, 2, 0, 1.5, 0.5, False),
        ("c2", False, 2, 0, -0.375, 0.125, False),
    ]


def test_a_single_passing_candidate_has_no_contender(write: Write, read: Read) -> None:
    contending(write, {"c1": (1.0, 2.0)})
    assert told(read, f"candidate_id, is_selected, {TOLD}") == [("c1", True, *(None,) * 5)]


def test_without_a_preference_differences_are_unknown(write: Write, read: Read) -> None:
    contending(write, {"c1": (1.0, 2.0)}, preference=None)
    assert told(read, f"candidate_id, score, cases, missing, {TOLD}") == [("c1", None, 0, None, *(None,) * 5)]


def test_nothing_contends_while_anything_is_open(write: Write, read: Read) -> None:
    contending(write, {"c1": (1.0, 2.0), "c2": (1.0, 2.0)}, registered=["c1"])
    assert told(read, "*") == []


def test_candidates_that_do_not_pass_do_not_contend(write: Write, read: Read) -> None:
    contending(write, {"c1": (-99.0, -99.0), "c2": (None, None)})
    assert told(read, "*") == []
