"""Policies: ordered gate values that can be kept and compared, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.core import canonical_json, parse_json
from opfield.decision import (
    Gate,
    Policy,
    candidate_mean,
    coverage,
    failures,
    gate,
    mean_delta,
    worst_delta,
)
from opfield.errors import DeclarationError, UnknownNameError

FINITE = st.floats(allow_nan=False, allow_infinity=False)
KINDS = ("coverage", "failures", "mean_delta", "worst_delta", "candidate_mean")


def test_the_shipped_gates_are_what_the_ledger_keeps() -> None:
    kept = Policy((coverage(), failures(2, arms="both"), mean_delta("m", 1)), "m", 0.5).as_json("sha256:0")
    assert parse_json(canonical_json(kept)) == {
        "gates": [
            {"kind": "coverage", "name": "coverage", "metric": None, "threshold": None, "options": {}},
            {
                "kind": "failures",
                "name": "failures",
                "metric": None,
                "threshold": None,
                "options": {"max": 2, "arms": "both", "infrastructure": "indeterminate"},
            },
            {"kind": "mean_delta", "name": "mean_delta(m)", "metric": "m", "threshold": 1, "options": {}},
        ],
        "preference": "m",
        "min_gain": 0.5,
        "infers_to": "cases_like_these",
        "sql": "sha256:0",
    }


@given(FINITE, FINITE)
def test_every_finite_line_can_be_kept(line: float, other: float) -> None:
    low, high = sorted((line, other))
    gates = (
        mean_delta("m", line),
        worst_delta("m", line),
        candidate_mean("m", at_least=low, at_most=high),
        gate("mine", "m", line, window=[1, {"k": other}]),
    )
    kept = Policy(gates, "m", other).as_json("")
    assert parse_json(canonical_json(kept)) == kept


def test_whole_and_float_lines_mean_the_same() -> None:
    assert Policy((mean_delta("m", 1), candidate_mean("m", at_most=5)), min_gain=0) == Policy(
        (mean_delta("m", 1.0), candidate_mean("m", at_most=5.0)), min_gain=0.0
    )


def test_the_order_of_gates_is_kept() -> None:
    assert Policy((coverage(), failures())).as_json("") != Policy((failures(), coverage())).as_json("")
    listed: Any = [coverage(), failures()]
    assert Policy(listed).gates == (coverage(), failures())


def test_a_later_change_of_the_options_does_not_reach_the_gate() -> None:
    options: dict[str, Any] = {"window": [1]}
    made = Gate("mine", options=options)
    options["window"].append(2)
    assert made.options == {"window": [1]}


@pytest.mark.parametrize("line", [math.nan, math.inf, -math.inf, "0", None, True, 10**400, [0]])
def test_a_line_is_a_finite_number(line: Any) -> None:
    makers: list[Callable[[], object]] = [
        lambda: mean_delta("m", line),
        lambda: worst_delta("m", line),
        lambda: Policy((coverage(),), min_gain=line),
    ]
    if line is not None:
        makers += [
            lambda: gate("mine", "m", line),
            lambda: candidate_mean("m", at_least=line),
            lambda: candidate_mean("m", at_most=line),
        ]
    for maker in makers:
        with pytest.raises(DeclarationError, match=r"not a (finite )?number"):
            maker()


@pytest.mark.parametrize("at_most", [-1, 0.5, 1.0, True, "1", math.nan])
def test_tolerated_failures_are_a_count(at_most: Any) -> None:
    with pytest.raises(DeclarationError, match="whole number of at least 0"):
        failures(at_most)


def test_failures_takes_its_own_words_only() -> None:
    word: Any = "baseline"
    with pytest.raises(DeclarationError, match="arms 'baseline' is neither candidate nor both"):
        failures(arms=word)
    with pytest.raises(DeclarationError, match="infrastructure 'baseline' is neither indeterminate nor count"):
        failures(infrastructure=word)


def test_candidate_mean_needs_bounds_that_leave_room() -> None:
    with pytest.raises(DeclarationError, match="needs at_least, at_most, or both"):
        candidate_mean("m")
    with pytest.raises(DeclarationError, match="no mean is at least 2 and at most 1"):
        candidate_mean("m", at_least=2, at_most=1)
    assert candidate_mean("m", at_least=1, at_most=1).options == {"at_least": 1, "at_most": 1}


@pytest.mark.parametrize("options", [{"k": math.nan}, {"k": {1}}, {"k": "\ud800"}, {1: 2}, 5, "ab"])
def test_options_must_have_a_json_form(options: Any) -> None:
    with pytest.raises(DeclarationError, match="gate mine: options cannot be kept"):
        Gate("mine", options=options)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"kind": ""}, "gate kind is empty"),
        ({"kind": 5}, "gate kind 5 is of type int"),
        ({"metric": 5}, "metric 5 is of type int"),
        ({"metric": ""}, "metric is empty"),
        ({"name": 5}, "name 5 is of type int"),
        ({"name": "\ud800"}, "lone surrogate"),
    ],
)
def test_a_gate_is_named_in_plain_text(members: dict[str, Any], reason: str) -> None:
    with pytest.raises(DeclarationError, match=reason):
        Gate(**{"kind": "mine", **members})


def test_a_policy_needs_gates() -> None:
    with pytest.raises(DeclarationError, match=r"would pass anything; start with coverage\(\)"):
        Policy(())


@pytest.mark.parametrize("gates", [coverage(), "coverage", ("coverage",), (coverage(), None), None, 5, (coverage,)])
def test_gates_are_a_tuple_of_gates(gates: Any) -> None:
    with pytest.raises(DeclarationError, match="a policy's gates are a tuple"):
        Policy(gates)


def test_two_gates_of_one_name_are_refused_and_a_name_helps() -> None:
    with pytest.raises(DeclarationError, match=r"two gates are called 'mean_delta\(m\)'"):
        Policy((mean_delta("m"), coverage(), mean_delta("m", 1)))
    named = gate("mean_delta", "m", 1, name="a real gain")
    assert [each.name for each in Policy((mean_delta("m"), named)).gates] == ["mean_delta(m)", "a real gain"]


@pytest.mark.parametrize("prefer", ["", 5, "\ud800"])
def test_what_is_preferred_is_a_name(prefer: Any) -> None:
    with pytest.raises(DeclarationError, match="metric to prefer"):
        Policy((coverage(),), prefer)


def test_unknown_names_list_the_known_ones() -> None:
    metrics = ("recall", "mrr")
    Policy((coverage(), mean_delta("recall")), "mrr").check(metrics, KINDS)
    for policy, reason in (
        (
            Policy((gate("coverag"),)),
            "unknown gate kind 'coverag'; did you mean 'coverage'.*candidate_mean, coverage",
        ),
        (
            Policy((mean_delta("recal"),)),
            r"metric in gate mean_delta\(recal\): 'recal'; did you mean .*known: mrr, recall",
        ),
        (Policy((coverage(),), "mmr"), "metric to prefer: 'mmr'; did you mean 'mrr'.*known: mrr, recall"),
    ):
        with pytest.raises(UnknownNameError, match=reason):
            policy.check(metrics, KINDS)


def test_a_gate_names_what_its_kind_cannot_judge_without() -> None:
    needs = {"mean_delta": (("metric",), ("threshold",)), "candidate_mean": (("metric",), ("at_least", "at_most"))}
    Policy((coverage(), mean_delta("m"), candidate_mean("m", at_most=0)), "m").check(("m",), KINDS, needs)
    for lacking, reason in (
        (gate("mean_delta", threshold=0.0), r"gate mean_delta: kind mean_delta cannot judge without metric"),
        (gate("mean_delta", "m"), r"gate mean_delta\(m\): .* without threshold; .*gate\('mean_delta', threshold=…\)"),
        (gate("candidate_mean", at_least=0), r"without metric"),
        (gate("candidate_mean", "m", 0.5), r"without at_least or at_most"),
        (gate("candidate_mean", "m", at_most=None), r"without at_least or at_most"),
    ):
        policy = Policy((lacking,))
        policy.check(("m",), KINDS)
        with pytest.raises(DeclarationError, match=reason):
            policy.check(("m",), KINDS, needs)
