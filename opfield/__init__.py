"""opfield: an experiment warehouse in a folder. This page lists what a user needs."""

from opfield.campaign.declaration import Campaign, Limits, Proposer, declare
from opfield.campaign.domains import Domain, Option
from opfield.core import Envelope, Failure, Status, canonical_json, digest, seal
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
from opfield.errors import OpfieldError
from opfield.experiment import (
    Case,
    Coordinate,
    DomainFailure,
    InfrastructureFailure,
    OpticSpace,
    Patch,
    Space,
    TrialRequest,
    TrialResult,
    Workload,
    field_space,
)
from opfield.metric import Metric
from opfield.optic import Lens, RefusedPutError, check_laws, compose, field, fields
from opfield.prob import Seed

__all__ = [
    "Campaign",
    "Case",
    "Coordinate",
    "Domain",
    "DomainFailure",
    "Envelope",
    "Failure",
    "Gate",
    "InfrastructureFailure",
    "Lens",
    "Limits",
    "Metric",
    "OpfieldError",
    "OpticSpace",
    "Option",
    "Patch",
    "Policy",
    "Proposer",
    "RefusedPutError",
    "Seed",
    "Space",
    "Status",
    "TrialRequest",
    "TrialResult",
    "Workload",
    "declare",
    "candidate_mean",
    "canonical_json",
    "check_laws",
    "compose",
    "coverage",
    "digest",
    "failures",
    "field",
    "field_space",
    "fields",
    "gate",
    "mean_delta",
    "seal",
    "worst_delta",
]
