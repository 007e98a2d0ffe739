"""What comes before an operator: assessment, residuals, gate, budget, and the run that it works for (ADR-0232 §5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from opfield.practice import (
    COMPUTE_BUDGET_POLICY_VERSION,
    CONTRACT_ASSESSMENT_POLICY_VERSION,
    CONTRACT_RESIDUAL_POLICY_VERSION,
    GEOMETRIC_SEARCH_RUN_POLICY_VERSION,
    SEARCH_GATE_POLICY_VERSION,
    SEARCH_PERMITTED,
    AttemptIndexPolicy,
    BudgetConsumed,
    ComputeBudgetDecision,
    ContractAssessment,
    ContractResidual,
    GeometricSearchRun,
    SearchGateDecision,
    canonical_id,
    sealed,
)
from opfield_practice.frame import Contract, ProblemFrame

OPERATOR_SET_ID: Final = "opfield_practice.operators"
OPERATOR_SET_VERSION: Final = "1"
MISSING_ROLE: Final = "missing_role"

_SCHEMA_VERSIONS: Final = (("candidate_attempt", "1"), ("geometric_search_run", "1"))
_POLICY_VERSIONS: Final = (
    ("compute_budget", COMPUTE_BUDGET_POLICY_VERSION),
    ("search_gate", SEARCH_GATE_POLICY_VERSION),
)


def assess_contract(contract: Contract, frame: ProblemFrame) -> ContractAssessment:
    """Compare what a contract asks for with what a problem tells."""
    return sealed(
        ContractAssessment(
            assessment_id="",
            assessment_policy_version=CONTRACT_ASSESSMENT_POLICY_VERSION,
            contract_id=contract.contract_id,
            problem_frame_digest=frame.digest,
            missing_roles=contract.open_roles(frame.filled_roles),
            evidence_spans=tuple(cue.span for cue in frame.cues),
        )
    )


def project_contract_residuals(assessment: ContractAssessment) -> tuple[ContractResidual, ...]:
    """Read one residual off the assessment for each role that is missing."""
    return tuple(
        sealed(
            ContractResidual(
                residual_id="",
                residual_policy_version=CONTRACT_RESIDUAL_POLICY_VERSION,
                original_contract_assessment_id=assessment.assessment_id,
                residual_kind=MISSING_ROLE,
                role=role,
                evidence_spans=assessment.evidence_spans,
            )
        )
        for role in assessment.missing_roles
    )


def decide_search_gate(assessment: ContractAssessment, residuals: tuple[ContractResidual, ...]) -> SearchGateDecision:
    """Let a search begin where something is missing that an operator knows how to look for."""
    return sealed(
        SearchGateDecision(
            gate_decision_id="",
            gate_policy_version=SEARCH_GATE_POLICY_VERSION,
            original_contract_assessment_id=assessment.assessment_id,
            problem_frame_digest=assessment.problem_frame_digest,
            residual_ids=tuple(each.residual_id for each in residuals),
            gate_disposition=SEARCH_PERMITTED if residuals else "search_refused",
            reason_codes=("missing_roles",) if residuals else ("nothing_missing",),
            explanation=f"{len(residuals)} roles are missing",
        )
    )


def decide_compute_budget(
    gate: SearchGateDecision, max_candidates: int = 2, max_steps: int = 4
) -> ComputeBudgetDecision:
    """Allow a handful of candidates, one at a time, none of them built on another."""
    return sealed(
        ComputeBudgetDecision(
            budget_id="",
            budget_policy_version=COMPUTE_BUDGET_POLICY_VERSION,
            gate_decision_id=gate.gate_decision_id,
            max_candidates=max_candidates,
            max_depth=1,
            max_steps=max_steps,
            max_parallelism=1,
            reason_codes=("toy_budget",),
            explanation=f"{max_candidates} candidates in {max_steps} steps",
        )
    )


def initialize_geometric_search_run(
    assessment: ContractAssessment, gate: SearchGateDecision, budget: ComputeBudgetDecision
) -> GeometricSearchRun:
    """Record the run that a search begins with: nothing tried, nothing used."""
    run = GeometricSearchRun(
        run_id="",
        run_policy_version=GEOMETRIC_SEARCH_RUN_POLICY_VERSION,
        input_digest="",
        original_contract_assessment_id=assessment.assessment_id,
        problem_frame_digest=assessment.problem_frame_digest,
        residual_ids=gate.residual_ids,
        gate_decision_id=gate.gate_decision_id,
        budget_id=budget.budget_id,
        operator_set_id=OPERATOR_SET_ID,
        operator_set_version=OPERATOR_SET_VERSION,
        attempt_index_policy=AttemptIndexPolicy.DECLARED,
        candidate_attempts=(),
        budget_consumed=BudgetConsumed(
            candidates_considered=0,
            depth_reached=0,
            steps_used=0,
            max_candidates=budget.max_candidates,
            max_depth=budget.max_depth,
            max_steps=budget.max_steps,
            max_parallelism=budget.max_parallelism,
        ),
        run_disposition="initialized",
        exhaustion_code=None,
        schema_versions=_SCHEMA_VERSIONS,
        policy_versions=_POLICY_VERSIONS,
        explanation="nothing tried yet",
    )
    started_with = [assessment.assessment_id, gate.gate_decision_id, budget.budget_id]
    return sealed(replace(run, input_digest=canonical_id(started_with)))
