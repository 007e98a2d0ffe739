from __future__ import annotations

import pytest

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write


def test_each_group_is_compared_by_itself(write: Write, read: Read) -> None:
    cases = {"a": {"lang": "en", "hard": "no"}, "b": {"lang": "en"}, "c": {"lang": "de"}}
    gains = {"a": 1.0, "b": 2.0, "c": 9.0}
    write(
        Campaign(
            cases=cases,
            metrics=[Metric("m")],
            trials=[Trial("base", case, 0, {"m": 0.0}) for case in cases]
            + [Trial("c1", case, 0, {"m": gain}) for case, gain in gains.items() if case != "c"],
        )
    )
    found = read(
        "select group_key, group_value, pairs, missing, cases, mean_delta, standard_error from strata order by all"
    )
    assert [tuple(row.values())[:6] for row in found] == [
        ("hard", "no", 1, 0, 1, 1.0),
        ("lang", "de", 0, 1, 0, None),
        ("lang", "en", 2, 0, 2, 1.5),
    ]
    # sd of (1, 2) is sqrt(1/2), over sqrt(2) cases
    assert [row["standard_error"] for row in found[:2]] == [None, None]
    assert found[2]["standard_error"] == pytest.approx(0.5, abs=1e-15)


def test_one_stratum_over_all_cases_equals_the_comparison(write: Write, read: Read) -> None:
    cases = {name: {"all": "yes"} for name in "abc"}
    trials = [
        Trial(who, case, 0, {"m": ix + (who == "c1") * ix**2})
        for who in ("base", "c1")
        for ix, case in enumerate(cases)
    ]
    write(Campaign(cases=cases, metrics=[Metric("m", -1)], trials=trials))
    (stratum,) = read("select * exclude (group_key, group_value) from strata")
    (whole,) = read("from comparisons")
    assert stratum == whole
