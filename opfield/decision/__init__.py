"""The decision protocol: a policy is an ordered list of gate values; SQL files decide."""

from opfield.decision.policy import (
    Gate,
    Policy,
    candidate_mean,
    coverage,
    failures,
    gate,
    mean_delta,
    worst_delta,
)

__all__ = ["Gate", "Policy", "candidate_mean", "coverage", "failures", "gate", "mean_delta", "worst_delta"]
