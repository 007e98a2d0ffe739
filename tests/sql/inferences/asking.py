"""What a gate asks of a campaign: its units, and the question about their mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tests.sql.inferences.drawing import Inferring
from tests.sql.inferences.oracle import Question, Unit, delta_units, method_of, metric_of, pass_units, ratio_units
from tests.sql.oracle_bounds import cases_of


def units_of(campaign: Inferring, gate: Mapping[str, Any], candidate: str, scope: str) -> list[Unit]:
    """Return the units that a gate's mean is over."""
    cases, options = cases_of(campaign, scope), gate["options"]
    if gate["kind"] == "reliability":
        return pass_units(campaign, candidate, gate["metric"], options["k"], cases)
    if gate["kind"] == "resource_ratio":
        return ratio_units(campaign, candidate, options["of"], gate["threshold"], cases)
    return delta_units(campaign, candidate, gate["metric"], cases)


def lines_of(gate: Mapping[str, Any]) -> list[float]:
    """Return the lines that a gate compares its mean with."""
    kind, threshold = gate["kind"], gate["threshold"]
    if kind == "equivalence":
        return [-threshold, threshold]
    if kind in ("noninferiority", "binary_noninferiority", "harm"):
        return [-threshold]
    return [0.0] if kind == "resource_ratio" else [threshold]


def question_of(campaign: Inferring, gate: Mapping[str, Any], units: Sequence[Unit], line: float) -> Question | None:
    """Return what a gate asks about the mean of these units; None where it asks what cannot be answered."""
    kind, options = gate["kind"], gate["options"]
    asked = "bounded" if options.get("method") == "bounded" else "by_kind"
    is_delta = kind not in ("reliability", "resource_ratio")
    is_binary = False
    lower, upper = math.nan, math.nan
    if is_delta:
        metric = metric_of(campaign, gate["metric"])
        is_binary = metric.kind == "binary" and campaign.repeats == 1
        if metric.lower is not None and metric.upper is not None:
            lower, upper = metric.lower - metric.upper, metric.upper - metric.lower
    elif kind == "reliability":
        lower, upper = 0.0, 1.0
    if kind.startswith("binary_") and campaign.repeats > 1:
        return None
    if asked == "bounded" and math.isnan(lower):
        return None
    if campaign.infers_to == "these_cases" and (asked == "bounded" or not is_delta or kind.startswith("binary_")):
        return None
    if not units:
        return None
    method = method_of(units, campaign.infers_to, asked, is_binary)
    min_cases = options.get("min_cases", 2 if kind == "harm" else 20)
    return Question(line, options["alpha"], method, lower, upper, min_cases)
