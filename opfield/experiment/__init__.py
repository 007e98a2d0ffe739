"""The experiment protocol: spaces, candidates, workloads, trials."""

from opfield.experiment.space import (
    Candidate,
    OpticSpace,
    Patch,
    Space,
    baseline_candidate,
    candidate_id,
    field_space,
    propose_all,
)
from opfield.experiment.trial import (
    Arm,
    Coordinate,
    DomainFailure,
    InfrastructureFailure,
    Retainer,
    Runner,
    RunnerIdentity,
    TrialRequest,
    TrialResult,
    runner_identity,
    runner_name,
)
from opfield.experiment.workload import Case, Workload, cases_of, uneven_repeats_digest, workload_digest

__all__ = [
    "Arm",
    "Candidate",
    "Case",
    "Coordinate",
    "DomainFailure",
    "InfrastructureFailure",
    "OpticSpace",
    "Patch",
    "Retainer",
    "Runner",
    "RunnerIdentity",
    "Space",
    "TrialRequest",
    "TrialResult",
    "Workload",
    "baseline_candidate",
    "candidate_id",
    "cases_of",
    "field_space",
    "propose_all",
    "runner_identity",
    "runner_name",
    "uneven_repeats_digest",
    "workload_digest",
]
