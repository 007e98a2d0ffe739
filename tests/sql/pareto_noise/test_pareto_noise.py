from __future__ import annotations

from typing import Any

import pytest

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

GAIN = Metric("gain", 1, 0.0, 100.0)
LOSS = Metric("loss", -1, 0.0, 100.0)


def dominated(write: Write, read: Read, metrics: Any = (GAIN, LOSS), **values: Any) -> dict[str, Any]:
    """Return dominated_by and is_beyond_noise of candidates with these values, one tuple of them for each metric."""
    cases = "abcdefgh"[: len(next(iter(values.values()))[0])]
    names = [metric.metric for metric in metrics]
    trials = [Trial("base", case, 0, dict.fromkeys(names, 0.0)) for case in cases]
    for who, given in values.items():
        for case, measured in zip(cases, zip(*given, strict=True), strict=True):
            trials.append(Trial(who, case, 0, dict(zip(names, measured, strict=True))))
    write(Campaign(cases={case: {} for case in cases}, metrics=metrics, candidates=list(values), trials=trials))
    return {row["candidate_id"]: (row["dominated_by"], row["is_beyond_noise"]) for row in read("from pareto_noise")}


def test_a_front_member_is_dominated_by_nobody(write: Write, read: Read) -> None:
    found = dominated(write, read, c1=((1.0, 2.0), (5.0, 5.0)), c2=((2.0, 3.0), (7.0, 7.0)))
    assert found == {"c1": (None, None), "c2": (None, None)}


def test_a_dominator_is_beyond_noise_where_it_is_on_every_metric(write: Write, read: Read) -> None:
    # gain: 3, 4, 5 ahead: mean 4, standard error 1 / sqrt(3), low 4 - 4.3027 * .5774 = 1.52
    # loss: 2, 2, 2.5 less: mean 13/6, standard error 1/6, low 2.1667 - 4.3027 / 6 = 1.45
    found = dominated(write, read, c1=((4.0, 5.0, 6.0), (1.0, 1.0, 1.0)), c2=((1.0, 1.0, 1.0), (3.0, 3.0, 3.5)))
    assert found == {"c1": (None, None), "c2": ("c1", True)}


def test_one_metric_within_noise_is_enough_to_doubt(write: Write, read: Read) -> None:
    # loss: 1, 2, 6 less: mean 3, standard error sqrt(7 / 3) = 1.53, low 3 - 4.3027 * 1.53 < 0
    found = dominated(write, read, c1=((4.0, 5.0, 6.0), (1.0, 1.0, 1.0)), c2=((1.0, 1.0, 1.0), (2.0, 3.0, 7.0)))
    assert found["c2"] == ("c1", False)


def test_a_metric_alike_at_every_case_speaks_neither_way(write: Write, read: Read) -> None:
    found = dominated(write, read, c1=((4.0, 5.0, 6.0), (1.0, 2.0, 3.0)), c2=((1.0, 1.0, 1.0), (1.0, 2.0, 3.0)))
    assert found["c2"] == ("c1", True)


def test_a_metric_of_equal_means_that_differs_by_case_is_noise(write: Write, read: Read) -> None:
    found = dominated(write, read, c1=((4.0, 5.0, 6.0), (1.0, 2.0, 3.0)), c2=((1.0, 1.0, 1.0), (3.0, 2.0, 1.0)))
    assert found["c2"] == ("c1", False)


@pytest.mark.parametrize(
    ("metric", "cases", "beyond"),
    [
        # 1 ahead at every case, within [-1, 1]: 1 - 2 (1 - .025^(1/n)), which is below 0 at 3 cases, above at 8
        (Metric("gain", 1, 0.0, 1.0), 3, False),
        (Metric("gain", 1, 0.0, 1.0), 8, True),
        (Metric("gain"), 8, None),
    ],
)
def test_differences_all_alike_are_no_certainty(write: Write, read: Read, metric: Any, cases: Any, beyond: Any) -> None:
    found = dominated(write, read, [metric], c1=((1.0,) * cases,), c2=((0.0,) * cases,))
    assert found["c2"] == ("c1", beyond)


def test_a_missing_value_leaves_it_unknown(write: Write, read: Read) -> None:
    found = dominated(
        write, read,
        c1=((4.0, 5.0, 6.0, 5.0), (1.0, 1.0, 1.0, 1.0)),
        c2=((1.0, 1.0, 1.0, None), (3.0, 3.0, 3.5, 3.0)),
    )  # fmt: skip
    assert found["c2"] == ("c1", None)


def test_one_unknown_interval_leaves_it_unknown(write: Write, read: Read) -> None:
    # the loss is 1 less at every case, and has no range from which that could be judged
    values = {"c1": ((4.0, 5.0, 6.0), (1.0, 1.0, 1.0)), "c2": ((1.0, 1.0, 1.0), (2.0, 2.0, 2.0))}
    assert dominated(write, read, [GAIN, Metric("loss", -1)], **values)["c2"] == ("c1", None)


def test_doubt_stands_whatever_is_missing(write: Write, read: Read) -> None:
    found = dominated(
        write, read,
        c1=((4.0, 5.0, 6.0, 5.0), (1.0, 1.0, 1.0, 1.0)),
        c2=((1.0, 1.0, 1.0, None), (2.0, 2.0, 9.0, 9.0)),
    )  # fmt: skip
    assert found["c2"] == ("c1", False)


def test_the_dominator_is_the_smallest_id_on_the_front(write: Write, read: Read) -> None:
    # c4 is dominated by c1, which is off the front, and by c2 and c3, which are on it
    found = dominated(
        write, read,
        c1=((2.0, 2.5), (5.0, 5.0)),
        c2=((4.0, 5.0), (4.0, 4.0)),
        c3=((5.0, 6.0), (5.0, 5.0)),
        c4=((1.0, 1.0), (5.5, 5.0)),
    )  # fmt: skip
    assert {who: by for who, (by, _) in found.items()} == {"c1": "c2", "c2": None, "c3": None, "c4": "c2"}


def test_a_candidate_that_cannot_be_ranked_is_listed(write: Write, read: Read) -> None:
    found = dominated(write, read, c1=((None, None), (1.0, 1.0)), c2=((4.0, 5.0), (1.0, 1.0)))
    assert found == {"c1": (None, None), "c2": (None, None)}


def test_no_candidates_no_rows(write: Write, read: Read) -> None:
    write(Campaign(cases={"a": {}}, metrics=[GAIN], candidates=[]))
    assert read("from pareto_noise") == []
