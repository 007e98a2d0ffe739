"""What an assessment left open, and the gate that lets a search for it begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from opfield.practice.form import Digest, Text
from opfield.practice.span import SourceSpan

CONTRACT_ASSESSMENT_POLICY_VERSION: Final = "contract_assessment.v1"
CONTRACT_RESIDUAL_POLICY_VERSION: Final = "contract_residual.v1"
SEARCH_GATE_POLICY_VERSION: Final = "search_gate.v1"

#: What a gate decision says that lets a search begin.
SEARCH_PERMITTED: Final = "search_permitted"


@dataclass(frozen=True, slots=True)
class ContractAssessment:
    """What a contract asks for and a problem does not tell.

    Attributes:
        assessment_id: identity of the assessment.
        assessment_policy_version: rule by which it was assessed.
        contract_id: the contract.
        problem_frame_digest: identity of the problem as it was read.
        missing_roles: roles that the contract asks for and nothing fills, in the contract's order.
        evidence_spans: places that tell so.
    """

    assessment_id: Digest
    assessment_policy_version: str
    contract_id: str
    problem_frame_digest: Digest
    missing_roles: tuple[str, ...]
    evidence_spans: tuple[SourceSpan, ...]


@dataclass(frozen=True, slots=True)
class ContractResidual:
    """One thing that an assessment left open.

    Attributes:
        residual_id: identity of the residual.
        residual_policy_version: rule by which it was read off the assessment.
        original_contract_assessment_id: the assessment.
        residual_kind: what kind of gap, such as `missing_role`.
        role: role that is open.
        evidence_spans: places that bear on it.
    """

    residual_id: Digest
    residual_policy_version: str
    original_contract_assessment_id: Digest
    residual_kind: str
    role: str
    evidence_spans: tuple[SourceSpan, ...]


@dataclass(frozen=True, slots=True)
class SearchGateDecision:
    """Whether a search for some residuals may begin.

    Attributes:
        gate_decision_id: identity of the decision.
        gate_policy_version: rule by which it was decided.
        original_contract_assessment_id: assessment that the residuals come from.
        problem_frame_digest: identity of the problem as it was read.
        residual_ids: residuals that were weighed, in order.
        gate_disposition: `search_permitted` or `search_refused`.
        reason_codes: why, as codes.
        explanation: why, in words; outside the identity.
    """

    gate_decision_id: Digest
    gate_policy_version: str
    original_contract_assessment_id: Digest
    problem_frame_digest: Digest
    residual_ids: tuple[Digest, ...]
    gate_disposition: str
    reason_codes: tuple[str, ...]
    explanation: Text
