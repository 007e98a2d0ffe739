"""What each statistical gate must say, from the oracle's p-values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.sql.inferences.asking import lines_of, question_of, units_of
from tests.sql.inferences.drawing import Inferring
from tests.sql.inferences.oracle import Inference, Unit, infer, trials_of, used
from tests.sql.oracle_bounds import cases_of, scopes_of

Verdict = tuple[str, float | None]
"""Status, and what was compared."""


def verdict(campaign: Inferring, gate_ix: int, candidate: str, scope: str) -> Verdict:
    """Return what a gate says about a candidate over a scope."""
    gate = campaign.gates[gate_ix]
    units = units_of(campaign, gate, candidate, scope)
    asked = [question_of(campaign, gate, units, line) for line in lines_of(gate)]
    if asked[0] is None:
        return "indeterminate", None
    found = [Inference() if each is None else infer(units, each) for each in asked]
    value = _ratio(campaign, gate, candidate, scope) if gate["kind"] == "resource_ratio" else _estimate(units)
    alpha = gate["options"]["alpha"]
    first, last = found[0], found[-1]
    if gate["kind"] == "equivalence":
        if _is_shown(first.p_above, alpha) and _is_shown(last.p_below, alpha):
            return "pass", value
        is_outside = _is_shown(first.p_below, alpha) or _is_shown(last.p_above, alpha)
        return "fail" if is_outside else "indeterminate", value
    if gate["kind"].startswith("binary_") and asked[0].method != "score":
        return "indeterminate", value
    if gate["kind"] == "harm":
        if _is_shown(first.p_below, alpha):
            return "fail", value
        is_all_told = not any(unit.missing for unit in units) or _is_shown(first.p_above, 0.5)
        is_too_few = len({unit.cluster for unit in units}) < asked[0].min_cases
        is_tried = first.p_below is not None or is_too_few
        return "pass" if is_tried and is_all_told else "indeterminate", value
    p_pass = first.p_above
    if gate["kind"] == "family" and p_pass is not None:
        p_pass = holm(_hypotheses(campaign, gate))[candidate]
    if _is_shown(p_pass, alpha):
        return "pass", value
    return "fail" if _is_shown(first.p_below, alpha) else "indeterminate", value


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return Holm's adjusted p-values: the least rate at which stepping down rejects each hypothesis."""
    adjusted = {}
    for name, own in p_values.items():
        # rejected once every p-value up to its own is: the greatest of those, each times how many are left at it
        smaller = [each for each in p_values.values() if each <= own]
        adjusted[name] = min(1.0, max(each * sum(other >= each for other in p_values.values()) for each in smaller))
    return adjusted


def _hypotheses(campaign: Inferring, gate: Mapping[str, Any]) -> dict[str, float]:
    """Return a p-value for each candidate: the largest of the gate's scopes, 1 where one is unknown."""
    told = {}
    for candidate in campaign.candidates:
        p_values = []
        for scope in scopes_of(campaign, gate):
            units = units_of(campaign, gate, candidate, scope)
            asked = question_of(campaign, gate, units, gate["threshold"])
            p_values.append(None if asked is None else infer(units, asked).p_above)
        known = [each for each in p_values if each is not None]
        told[candidate] = max(known) if len(known) == len(p_values) else 1.0
    return told


def _ratio(campaign: Inferring, gate: Mapping[str, Any], candidate: str, scope: str) -> float | None:
    """Return the mean use of the candidate over that of the baseline, repeats averaged inside their case."""
    base, own = trials_of(campaign, campaign.baseline), trials_of(campaign, candidate)
    means = []
    for case in cases_of(campaign, scope):
        pairs = [
            (
                used(base.get((case, repeat)), gate["options"]["of"]),
                used(own.get((case, repeat)), gate["options"]["of"]),
            )
            for repeat in range(campaign.repeats)
        ]
        known = [(left, right) for left, right in pairs if left is not None and right is not None]
        if known:
            means.append([math.fsum(side) / len(known) for side in zip(*known, strict=True)])
    if not means:
        return None
    left, right = (math.fsum(side) for side in zip(*means, strict=True))
    return right / left


def _estimate(units: Sequence[Unit]) -> float | None:
    found = [unit.found for unit in units if unit.found is not None]
    return math.fsum(found) / len(found) if found else None


def _is_shown(p_value: float | None, rate: float) -> bool:
    return p_value is not None and p_value <= rate


def without(campaign: Inferring, lost: Sequence[tuple[str, str, int]]) -> Inferring:
    """Return the campaign without the cells at these coordinates (candidate, case, repeat)."""
    kept = [each for each in campaign.trials if (each.candidate_id, each.case_id, each.repeat) not in lost]
    return replace(campaign, trials=kept)
