from __future__ import annotations

from typing import Any

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

GATES = [{"kind": "percentile", "name": "slow"}]


def result(candidate: str, **members: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("measure", "estimate", "low", "high", "p_value", "reason"))
    return {"candidate_id": candidate, **empty, **members}


def told(*results: Any) -> Campaign:
    payload = {
        "name": "slow",
        "gate_ix": 0,
        "method": "by hand",
        "parameters": {"q": 0.5},
        "seed": "0123456789abcdef",
        "input_digest": "sha256:rows",
        "software": {},
        "results": list(results),
    }
    trials = [Trial("base", "a", 0, {"m": 1.0}), Trial("c1", "a", 0, {"m": 2.0})]
    return Campaign(
        cases={"a": {}}, metrics=[Metric("m")], gates=GATES, trials=trials, records=[("evidence.recorded", payload)]
    )


def test_each_result_is_a_row_beside_what_it_takes_to_repeat_it(write: Write, read: Read) -> None:
    write(
        told(
            result("c1", measure="quantile", estimate=3.5, low=3, high=4.25),
            result("c2", measure="quantile", reason="nobody knows"),
        )
    )
    # 1 start, 1 registration, 2 cells: the evidence is event 5.
    common = {
        "sequence": 5,
        "gate_ix": 0,
        "name": "slow",
        "method": "by hand",
        "parameters": '{"q":0.5}',
        "seed": "0123456789abcdef",
        "input_digest": "sha256:rows",
    }
    first = {"candidate_id": "c1", "measure": "quantile", "estimate": 3.5, "low": 3.0, "high": 4.25}
    second = {"candidate_id": "c2", "measure": "quantile", "estimate": None, "low": None, "high": None}
    assert read("from evidence order by candidate_id") == [
        {**common, **first, "p_value": None, "reason": None},
        {**common, **second, "p_value": None, "reason": "nobody knows"},
    ]
    assert read("from violations") == []


def test_what_is_no_finite_number_is_unknown(write: Write, read: Read) -> None:
    # A NaN would compare as the greatest number of all.
    write(told(result("c1", estimate="nan", low="inf", high=[1], p_value="small"), "not an object"))
    rows = read("select candidate_id, estimate, low, high, p_value from evidence order by candidate_id nulls last")
    assert [list(row.values()) for row in rows] == [["c1", None, None, None, None], [None] * 5]


def test_results_that_are_no_list_are_no_rows(write: Write, read: Read) -> None:
    campaign = told()
    campaign.records[0][1]["results"] = {"c1": 1}  # type: ignore[index]
    write(campaign)
    assert read("from evidence") == []
    assert [row["law"] for row in read("from violations")] == ["evidence"]
