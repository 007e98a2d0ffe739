"""The decision protocol: a policy is an ordered list of gate values; SQL files decide."""

from opfield.decision.counted import budget, candidate_mean, coverage, failures, mean_delta, worst_delta
from opfield.decision.gate import Gate, gate
from opfield.decision.inferred import (
    binary_noninferiority,
    binary_superiority,
    equivalence,
    family,
    harm,
    noninferiority,
    reliability,
    resource_ratio,
    sequential,
    superiority,
)
from opfield.decision.policy import Policy
from opfield.decision.recorded import percentile, review

__all__ = [
    "Gate",
    "Policy",
    "binary_noninferiority",
    "binary_superiority",
    "budget",
    "candidate_mean",
    "coverage",
    "equivalence",
    "failures",
    "family",
    "gate",
    "harm",
    "mean_delta",
    "noninferiority",
    "percentile",
    "reliability",
    "resource_ratio",
    "review",
    "sequential",
    "superiority",
    "worst_delta",
]
