"""The gate over failures: how many more than the baseline's are allowed, and which codes count."""

from __future__ import annotations

from typing import Any

from tests.sql.build import Campaign, Trial
from tests.sql.conftest import Read, Write


def judged(write: Write, read: Read, *asked: tuple[Any, Any, Any]) -> list[Any]:
    """Return status, message, value and threshold for each (options, codes of the baseline, codes of the candidate).

    Each arm has the failure code of each cell: None is a success, and `!` begins that of an infrastructure failure.
    """
    names = []
    for ix, (options, base, candidate) in enumerate(asked):
        trials = []
        for who, codes in (("base", base), ("c1", candidate)):
            for case, code in zip("abcd", codes, strict=False):
                kind = "success" if code is None else "infrastructure_failure" if code[0] == "!" else "domain_failure"
                trials.append(Trial(who, case, 0, {}, kind, code))
        cases: dict[str, Any] = {case: {} for case in "abcd"[: len(base)]}
        gates = [{"kind": "failures", "options": options}]
        names.append(write(Campaign(cases=cases, metrics=[], gates=gates, trials=trials, name=f"{ix}")))
    query = "select campaign_id as judged, status, message, value, threshold from gate_results"
    found = {row.pop("judged"): tuple(row.values()) for row in read(query)}
    return [found[name] for name in names]


def statuses(write: Write, read: Read, *asked: tuple[Any, Any, Any]) -> list[str]:
    return [status for status, *_ in judged(write, read, *asked)]


def test_excess_is_what_the_candidate_may_fail_beyond_the_baseline(write: Write, read: Read) -> None:
    table: list[Any] = [
        ({"excess": 0}, ["x", None], [None, "x"], ("pass", 1, 1)),
        ({"excess": 0}, [None, None], [None, "x"], ("fail", 1, 0)),
        ({"excess": 1}, [None, None], [None, "x"], ("pass", 1, 1)),
        ({"excess": 1}, ["x", None, None], ["x", "x", "x"], ("fail", 3, 2)),
        # both lines are given: the lower one holds
        ({"excess": 2, "max": 1}, ["x", None], ["x", "x"], ("fail", 2, 1)),
        ({"excess": 0, "max": 2}, [None, None], [None, "x"], ("fail", 1, 0)),
        ({"excess": 1, "max": 2}, ["x", None], ["x", "x"], ("pass", 2, 2)),
        ({"excess": None}, ["x", None], [None, "x"], ("fail", 1, 0)),
    ]
    found = judged(write, read, *(row[:3] for row in table))
    assert [(status, value, threshold) for status, _, value, threshold in found] == [row[3] for row in table]


def test_the_message_says_what_the_baseline_has_where_it_matters(write: Write, read: Read) -> None:
    base, candidate = ["x", None, None], ["x", "x", "x"]
    found = judged(write, read, ({"excess": 1}, base, candidate), ({"max": 2}, base, candidate))
    assert [message for _, message, *_ in found] == [
        "failures of the candidate: 3, 2 allowed (the baseline has 1)",
        "failures of the candidate: 3, 2 allowed",
    ]


def test_a_broken_baseline_leaves_an_excess_open_but_not_the_maximum(write: Write, read: Read) -> None:
    counted = {"excess": 1, "infrastructure": "count"}
    assert statuses(
        write,
        read,
        # the baseline's cell that broke down might have failed, and then two failures would be within the excess
        ({"excess": 1}, ["!down", None], ["x", "x"]),
        ({"excess": 1, "max": 1}, ["!down", None], ["x", "x"]),
        # counted, it is a failure of its arm like any other
        (counted, ["!down", None], ["x", "x"]),
        (counted, ["x", None], ["!down", "!down"]),
        (counted, [None, None], ["!down", "!down"]),
    ) == ["indeterminate", "fail", "pass", "pass", "fail"]


def test_only_the_codes_named_count(write: Write, read: Read) -> None:
    three = ["unsafe", "slow", "empty"]
    table: list[Any] = [
        (["unsafe"], ["unsafe", "slow", "unsafe"], 2),
        (["unsafe", "slow"], three, 2),
        (["safe"], three, 0),  # a code is a whole name
        ([], three, 0),
        (['a, "b"'], ['a, "b"', "a", "b"], 1),
        (None, three, 3),
    ]
    found = judged(write, read, *(({"codes": codes}, [None] * 3, own) for codes, own, _ in table))
    assert [(status, value) for status, _, value, _ in found] == [
        ("fail" if failed else "pass", failed) for *_, failed in table
    ]


def test_codes_count_on_both_arms(write: Write, read: Read) -> None:
    options = {"codes": ["unsafe"], "excess": 0}
    both = {"codes": ["unsafe"], "arms": "both"}
    assert statuses(
        write,
        read,
        (options, ["unsafe", "slow"], ["unsafe", "slow"]),
        (options, ["slow", "slow"], ["unsafe", "slow"]),
        (both, ["slow", None], [None, None]),
        (both, ["unsafe", None], [None, None]),
    ) == ["pass", "fail", "pass", "indeterminate"]


def test_what_broke_down_is_not_chosen_by_code(write: Write, read: Read) -> None:
    counted = {"codes": ["unsafe"], "infrastructure": "count"}
    asked = [(options, [None], ["!down"]) for options in ({"codes": ["unsafe"]}, counted)]
    assert statuses(write, read, *asked) == ["indeterminate", "fail"]


def test_an_option_that_is_not_understood_leaves_the_verdict_open(write: Write, read: Read) -> None:
    excesses = [{"excess": -1}, {"excess": 0.5}, {"excess": "few"}]
    codes = [{"codes": "unsafe"}, {"codes": {"unsafe": 1}}, {"codes": 3}]
    for status, message, *_ in judged(write, read, *((options, [None], [None]) for options in [*excesses, *codes])):
        assert status == "indeterminate"
        assert message.startswith("an option is not understood: max and excess are whole numbers, codes a list")
