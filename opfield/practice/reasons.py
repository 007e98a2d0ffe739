"""Why an attempt cannot be bound: one code for each rule, in the order in which a refusal reports them.

The order is that of the checks: what was handed over, policies, identities, the chain, the attempt, its membership, its
budget, its evidence, its versions (ADR-0232 §9, §10, §14, §18).
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import Final


class BindingReason(StrEnum):
    """A rule that is violated; `MEANINGS` says which in words."""

    BINDING_INPUT_MALFORMED = "binding_input_malformed"
    ORIGINAL_RUN_NOT_A_RUN = "original_run_not_a_run"
    ORIGINAL_RUN_MALFORMED = "original_run_malformed"
    OPERATOR_RESULT_NOT_A_RESULT = "operator_result_not_a_result"
    OPERATOR_RESULT_MALFORMED = "operator_result_malformed"
    CANDIDATE_ATTEMPT_MALFORMED = "candidate_attempt_malformed"
    CANDIDATE_RECONSTRUCTION_MALFORMED = "candidate_reconstruction_malformed"
    BUDGET_DECISION_MALFORMED = "budget_decision_malformed"
    GATE_DECISION_MALFORMED = "gate_decision_malformed"
    EVIDENCE_SPANS_MALFORMED = "evidence_spans_malformed"
    NUMBER_MALFORMED = "number_malformed"
    DIGEST_MALFORMED = "digest_malformed"
    TEXT_MALFORMED = "text_malformed"
    ENTRIES_TOO_MANY = "entries_too_many"

    BINDING_POLICY_UNSUPPORTED = "binding_policy_unsupported"
    RUN_POLICY_UNSUPPORTED = "run_policy_unsupported"
    BUDGET_POLICY_UNSUPPORTED = "budget_policy_unsupported"
    GATE_POLICY_UNSUPPORTED = "gate_policy_unsupported"

    INPUT_DIGEST_UNREPRODUCED = "input_digest_unreproduced"
    RUN_ID_UNREPRODUCED = "run_id_unreproduced"
    EXISTING_ATTEMPT_ID_UNREPRODUCED = "existing_attempt_id_unreproduced"
    OPERATOR_RESULT_ID_UNREPRODUCED = "operator_result_id_unreproduced"
    ATTEMPT_ID_UNREPRODUCED = "attempt_id_unreproduced"
    CANDIDATE_DIGEST_UNREPRODUCED = "candidate_digest_unreproduced"
    RECONSTRUCTION_DIGEST_UNREPRODUCED = "reconstruction_digest_unreproduced"
    BUDGET_ID_UNREPRODUCED = "budget_id_unreproduced"
    GATE_DECISION_ID_UNREPRODUCED = "gate_decision_id_unreproduced"

    INPUT_RUN_MISMATCH = "input_run_mismatch"
    INPUT_RESULT_MISMATCH = "input_result_mismatch"
    RUN_ID_MISMATCH = "run_id_mismatch"
    OPERATOR_SET_ID_MISMATCH = "operator_set_id_mismatch"
    OPERATOR_SET_VERSION_MISMATCH = "operator_set_version_mismatch"
    GATE_DECISION_ID_MISMATCH = "gate_decision_id_mismatch"
    BUDGET_ID_MISMATCH = "budget_id_mismatch"
    RESIDUAL_IDS_MISMATCH = "residual_ids_mismatch"
    PROBLEM_FRAME_MISMATCH = "problem_frame_mismatch"
    ASSESSMENT_ID_MISMATCH = "assessment_id_mismatch"
    BUDGET_DECISION_MISMATCH = "budget_decision_mismatch"
    GATE_DECISION_MISMATCH = "gate_decision_mismatch"

    ATTEMPT_ID_MISMATCH = "attempt_id_mismatch"
    ATTEMPT_INDEX_MISMATCH = "attempt_index_mismatch"
    ATTEMPT_CANDIDATE_MISMATCH = "attempt_candidate_mismatch"
    RECONSTRUCTION_CANDIDATE_MISMATCH = "reconstruction_candidate_mismatch"
    RECONSTRUCTION_DIGEST_MISMATCH = "reconstruction_digest_mismatch"
    RECONSTRUCTION_FRAME_MISMATCH = "reconstruction_frame_mismatch"
    REPLAY_NOT_PENDING = "replay_not_pending"
    REPLAY_BLOCKERS_PRESENT = "replay_blockers_present"

    EXISTING_ATTEMPTS_AMBIGUOUS = "existing_attempts_ambiguous"
    ATTEMPT_INDEX_NEGATIVE = "attempt_index_negative"
    ATTEMPT_INDEX_DUPLICATE = "attempt_index_duplicate"
    ATTEMPT_INDEX_UNSUPPORTED = "attempt_index_unsupported"
    ATTEMPT_ID_DUPLICATE = "attempt_id_duplicate"
    CANDIDATE_DIGEST_DUPLICATE = "candidate_digest_duplicate"

    RUN_BUDGET_NEGATIVE = "run_budget_negative"
    PARALLELISM_UNSUPPORTED = "parallelism_unsupported"
    CHARGE_MISMATCH = "charge_mismatch"
    CANDIDATE_CHARGE_NOT_POSITIVE = "candidate_charge_not_positive"
    CANDIDATE_CHARGE_EXCEEDS_RUN = "candidate_charge_exceeds_run"
    STEP_CHARGE_NOT_POSITIVE = "step_charge_not_positive"
    STEP_CHARGE_EXCEEDS_RUN = "step_charge_exceeds_run"
    STEP_INDEX_NEGATIVE = "step_index_negative"
    STEP_INDEX_EXCEEDS_RUN = "step_index_exceeds_run"
    DEPTH_NEGATIVE = "depth_negative"
    DEPTH_EXCEEDS_RUN = "depth_exceeds_run"

    EVIDENCE_SPAN_REVERSED = "evidence_span_reversed"
    EVIDENCE_SPAN_EMPTY = "evidence_span_empty"
    EVIDENCE_SPAN_OUTSIDE_SOURCE = "evidence_span_outside_source"
    EVIDENCE_SPAN_INEXACT = "evidence_span_inexact"
    EVIDENCE_SPANS_OVERLAP = "evidence_spans_overlap"
    ATTEMPT_SPANS_MISMATCH = "attempt_spans_mismatch"
    RECONSTRUCTION_SPANS_MISMATCH = "reconstruction_spans_mismatch"

    SCHEMA_VERSIONS_NOT_CANONICAL = "schema_versions_not_canonical"
    SCHEMA_VERSIONS_CONFLICT = "schema_versions_conflict"
    POLICY_VERSIONS_NOT_CANONICAL = "policy_versions_not_canonical"
    POLICY_VERSIONS_CONFLICT = "policy_versions_conflict"


_R = BindingReason
MEANINGS: Final = MappingProxyType(
    {
        _R.BINDING_INPUT_MALFORMED: "the binding input is none, or a field of it holds what it may not",
        _R.ORIGINAL_RUN_NOT_A_RUN: "the run is no GeometricSearchRun",
        _R.ORIGINAL_RUN_MALFORMED: "a field of the run holds what it may not",
        _R.OPERATOR_RESULT_NOT_A_RESULT: "the operator result is no CandidateOperatorResult",
        _R.OPERATOR_RESULT_MALFORMED: "a field of the operator result holds what it may not",
        _R.CANDIDATE_ATTEMPT_MALFORMED: "the attempt is none, or a field of it holds what it may not",
        _R.CANDIDATE_RECONSTRUCTION_MALFORMED: "the reconstruction is none, or a field of it holds what it may not",
        _R.BUDGET_DECISION_MALFORMED: "the budget decision is none, or a field of it holds what it may not",
        _R.GATE_DECISION_MALFORMED: "the gate decision is none, or a field of it holds what it may not",
        _R.EVIDENCE_SPANS_MALFORMED: "the evidence spans are no spans, or a field of one holds what it may not",
        _R.NUMBER_MALFORMED: "where a whole number stands, something else does",
        _R.DIGEST_MALFORMED: "where 64 lowercase hexadecimal digits stand, something else does",
        _R.TEXT_MALFORMED: "a text is empty, too long or not Unicode",
        _R.ENTRIES_TOO_MANY: "a tuple has too many entries",
        _R.BINDING_POLICY_UNSUPPORTED: "the input asks for another binding policy than this one",
        _R.RUN_POLICY_UNSUPPORTED: "the run was recorded under a policy that is not known here",
        _R.BUDGET_POLICY_UNSUPPORTED: "the budget was decided under a policy that is not known here",
        _R.GATE_POLICY_UNSUPPORTED: "the gate was decided under a policy that is not known here",
        _R.INPUT_DIGEST_UNREPRODUCED: "the input's digest is not that of its content",
        _R.RUN_ID_UNREPRODUCED: "the run's id is not that of its content",
        _R.EXISTING_ATTEMPT_ID_UNREPRODUCED: "an attempt of the run has an id that is not that of its content",
        _R.OPERATOR_RESULT_ID_UNREPRODUCED: "the operator result's id is not that of its content",
        _R.ATTEMPT_ID_UNREPRODUCED: "the attempt's id is not that of its content",
        _R.CANDIDATE_DIGEST_UNREPRODUCED: "the candidate's digest is not that of the roles that it fills",
        _R.RECONSTRUCTION_DIGEST_UNREPRODUCED: "the reconstruction's digest is not that of its content",
        _R.BUDGET_ID_UNREPRODUCED: "the budget decision's id is not that of its content",
        _R.GATE_DECISION_ID_UNREPRODUCED: "the gate decision's id is not that of its content",
        _R.INPUT_RUN_MISMATCH: "the input does not tell of this run",
        _R.INPUT_RESULT_MISMATCH: "the input does not tell of this operator result",
        _R.RUN_ID_MISMATCH: "the operator result was made for another run",
        _R.OPERATOR_SET_ID_MISMATCH: "the operator result comes from another set of operators than the run's",
        _R.OPERATOR_SET_VERSION_MISMATCH: "the operator result comes from another version of the run's operators",
        _R.GATE_DECISION_ID_MISMATCH: "the operator result started from another gate decision than the run",
        _R.BUDGET_ID_MISMATCH: "the operator result started from another budget decision than the run",
        _R.RESIDUAL_IDS_MISMATCH: "the operator result started from other residuals than the run, or another order",
        _R.PROBLEM_FRAME_MISMATCH: "the operator result started from another problem than the run",
        _R.ASSESSMENT_ID_MISMATCH: "the operator result started from another assessment than the run",
        _R.BUDGET_DECISION_MISMATCH: "the budget decision is not the one whose ceilings the run copied",
        _R.GATE_DECISION_MISMATCH: "the gate decision is not the one that let the run begin",
        _R.ATTEMPT_ID_MISMATCH: "the operator result names another attempt than it holds",
        _R.ATTEMPT_INDEX_MISMATCH: "the operator result names another position than its attempt",
        _R.ATTEMPT_CANDIDATE_MISMATCH: "the attempt is at another candidate than the operator result names",
        _R.RECONSTRUCTION_CANDIDATE_MISMATCH: "the reconstruction is of another candidate than the result names",
        _R.RECONSTRUCTION_DIGEST_MISMATCH: "the operator result names another reconstruction than it holds",
        _R.RECONSTRUCTION_FRAME_MISMATCH: "the reconstruction is for another problem than the operator result",
        _R.REPLAY_NOT_PENDING: "the attempt's replay is not pending",
        _R.REPLAY_BLOCKERS_PRESENT: "something keeps the attempt from being replayed",
        _R.EXISTING_ATTEMPTS_AMBIGUOUS: "the run's own attempts leave their order or their identity open",
        _R.ATTEMPT_INDEX_NEGATIVE: "the attempt's position is below 0",
        _R.ATTEMPT_INDEX_DUPLICATE: "an attempt of the run has this position already",
        _R.ATTEMPT_INDEX_UNSUPPORTED: "the run's index policy does not support this position",
        _R.ATTEMPT_ID_DUPLICATE: "the run holds this attempt already",
        _R.CANDIDATE_DIGEST_DUPLICATE: "the run holds an attempt at this candidate already",
        _R.RUN_BUDGET_NEGATIVE: "the run's budget holds a number below 0",
        _R.PARALLELISM_UNSUPPORTED: "the run's parallelism is not 1",
        _R.CHARGE_MISMATCH: "the attempt's charge is not the one that the operator declares",
        _R.CANDIDATE_CHARGE_NOT_POSITIVE: "the attempt charges no candidate",
        _R.CANDIDATE_CHARGE_EXCEEDS_RUN: "the attempt charges more candidates than the run has left",
        _R.STEP_CHARGE_NOT_POSITIVE: "the attempt charges no step",
        _R.STEP_CHARGE_EXCEEDS_RUN: "the attempt charges more steps than the run has left",
        _R.STEP_INDEX_NEGATIVE: "the attempt begins before step 0",
        _R.STEP_INDEX_EXCEEDS_RUN: "the attempt ends behind the run's last step",
        _R.DEPTH_NEGATIVE: "the attempt's depth is below 0",
        _R.DEPTH_EXCEEDS_RUN: "the attempt is deeper than the run may go",
        _R.EVIDENCE_SPAN_REVERSED: "an evidence span ends before it starts",
        _R.EVIDENCE_SPAN_EMPTY: "an evidence span holds no character",
        _R.EVIDENCE_SPAN_OUTSIDE_SOURCE: "an evidence span starts before its source or ends behind it",
        _R.EVIDENCE_SPAN_INEXACT: "an evidence span's text is not as long as the span",
        _R.EVIDENCE_SPANS_OVERLAP: "two different evidence spans share a character, or one place has two texts",
        _R.ATTEMPT_SPANS_MISMATCH: "the attempt's evidence is not that of the result, in its order",
        _R.RECONSTRUCTION_SPANS_MISMATCH: "the reconstruction's evidence is not that of the result, in its order",
        _R.SCHEMA_VERSIONS_NOT_CANONICAL: "schema versions are not sorted by name with each name once",
        _R.SCHEMA_VERSIONS_CONFLICT: "the run and the operator result give one schema two versions",
        _R.POLICY_VERSIONS_NOT_CANONICAL: "policy versions are not sorted by name with each name once",
        _R.POLICY_VERSIONS_CONFLICT: "the run and the operator result give one policy two versions",
    }
)
