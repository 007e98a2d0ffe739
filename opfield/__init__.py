"""opfield: an experiment warehouse in a folder. This page lists what a user needs."""

from opfield.campaign.declaration import Campaign, Limits, Proposer, declare
from opfield.campaign.domains import Domain, Option
from opfield.campaign.ending import Outcome
from opfield.campaign.engine import RunOptions, run
from opfield.core import Envelope, Failure, Status, canonical_json, digest, seal
from opfield.decision import (
    Gate,
    Policy,
    binary_noninferiority,
    binary_superiority,
    budget,
    candidate_mean,
    coverage,
    equivalence,
    failures,
    family,
    gate,
    harm,
    mean_delta,
    noninferiority,
    reliability,
    resource_ratio,
    superiority,
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
from opfield.warehouse.session import Warehouse
from opfield.warehouse.session import open_warehouse as open

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
    "Outcome",
    "Patch",
    "Policy",
    "Proposer",
    "RefusedPutError",
    "RunOptions",
    "Seed",
    "Space",
    "Status",
    "TrialRequest",
    "TrialResult",
    "Warehouse",
    "Workload",
    "binary_noninferiority",
    "binary_superiority",
    "budget",
    "candidate_mean",
    "canonical_json",
    "check_laws",
    "compose",
    "coverage",
    "declare",
    "digest",
    "equivalence",
    "failures",
    "family",
    "field",
    "field_space",
    "fields",
    "gate",
    "harm",
    "mean_delta",
    "noninferiority",
    "open",
    "reliability",
    "resource_ratio",
    "run",
    "seal",
    "superiority",
    "worst_delta",
]
