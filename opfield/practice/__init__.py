"""The run-binding boundary (ADR-0232): an attempt joins an immutable run by a record of membership, or is refused.

Pure values and functions over them. `bind_candidate_attempt` is the boundary; the records before it are what it takes,
`replay` and `trace` are what may follow. Nothing here is stored; `opfield bind` lands what comes out in a warehouse.
"""

from opfield.practice.attempt import CandidateAttempt, CandidateReplayStatus
from opfield.practice.bind import bind_candidate_attempt, bind_operator_result
from opfield.practice.binding import (
    CANDIDATE_ATTEMPT_RUN_BINDING_POLICY_VERSION,
    STRUCTURALLY_BOUND,
    CandidateAttemptRunBinding,
    CandidateAttemptRunBindingInput,
    CandidateAttemptRunBindingOutcome,
    CandidateAttemptRunBindingRefusal,
    binding_input_for,
    input_digest_of,
)
from opfield.practice.budget import (
    COMPUTE_BUDGET_POLICY_VERSION,
    BudgetCharge,
    BudgetConsumed,
    ComputeBudgetDecision,
)
from opfield.practice.identity import canonical_id
from opfield.practice.operator_result import CandidateOperatorResult
from opfield.practice.reasons import MEANINGS, BindingReason
from opfield.practice.reconstruction import CandidateReconstruction, candidate_digest
from opfield.practice.record import as_json, identity_of, is_valid, read_record, record_from, sealed
from opfield.practice.replay import (
    REPLAY_ADAPTER_POLICY_VERSION,
    ReplayAdapterInput,
    ReplayAdapterRefusal,
    ReplayAdapterResult,
    ReplayDisposition,
    ReplayReason,
    build_replay_adapter_input,
    classify_replay_result,
)
from opfield.practice.residual import (
    CONTRACT_ASSESSMENT_POLICY_VERSION,
    CONTRACT_RESIDUAL_POLICY_VERSION,
    SEARCH_GATE_POLICY_VERSION,
    SEARCH_PERMITTED,
    ContractAssessment,
    ContractResidual,
    SearchGateDecision,
)
from opfield.practice.run import GEOMETRIC_SEARCH_RUN_POLICY_VERSION, AttemptIndexPolicy, GeometricSearchRun
from opfield.practice.schema import SCHEMAS, enveloped
from opfield.practice.span import SourceSpan
from opfield.practice.trace import (
    SEALED_PRACTICE_TRACE_POLICY_VERSION,
    EpisodeDisposition,
    SealedPracticeTrace,
    SealedPracticeTraceRefusal,
    TraceReason,
    seal_practice_trace,
)

__all__ = [
    "CANDIDATE_ATTEMPT_RUN_BINDING_POLICY_VERSION",
    "COMPUTE_BUDGET_POLICY_VERSION",
    "CONTRACT_ASSESSMENT_POLICY_VERSION",
    "CONTRACT_RESIDUAL_POLICY_VERSION",
    "GEOMETRIC_SEARCH_RUN_POLICY_VERSION",
    "MEANINGS",
    "REPLAY_ADAPTER_POLICY_VERSION",
    "SCHEMAS",
    "SEALED_PRACTICE_TRACE_POLICY_VERSION",
    "SEARCH_GATE_POLICY_VERSION",
    "SEARCH_PERMITTED",
    "STRUCTURALLY_BOUND",
    "AttemptIndexPolicy",
    "BindingReason",
    "BudgetCharge",
    "BudgetConsumed",
    "CandidateAttempt",
    "CandidateAttemptRunBinding",
    "CandidateAttemptRunBindingInput",
    "CandidateAttemptRunBindingOutcome",
    "CandidateAttemptRunBindingRefusal",
    "CandidateOperatorResult",
    "CandidateReconstruction",
    "CandidateReplayStatus",
    "ComputeBudgetDecision",
    "ContractAssessment",
    "ContractResidual",
    "EpisodeDisposition",
    "GeometricSearchRun",
    "ReplayAdapterInput",
    "ReplayAdapterRefusal",
    "ReplayAdapterResult",
    "ReplayDisposition",
    "ReplayReason",
    "SealedPracticeTrace",
    "SealedPracticeTraceRefusal",
    "SearchGateDecision",
    "SourceSpan",
    "TraceReason",
    "as_json",
    "bind_candidate_attempt",
    "bind_operator_result",
    "binding_input_for",
    "build_replay_adapter_input",
    "candidate_digest",
    "canonical_id",
    "classify_replay_result",
    "enveloped",
    "identity_of",
    "input_digest_of",
    "is_valid",
    "read_record",
    "record_from",
    "seal_practice_trace",
    "sealed",
]
