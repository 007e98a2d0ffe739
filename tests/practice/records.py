"""Records for these tests, sealed by a few lines of their own rather than by what they test."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields, replace
from typing import Any, TypeVar, cast

from opfield.practice import (
    AttemptIndexPolicy,
    BudgetCharge,
    BudgetConsumed,
    CandidateAttempt,
    CandidateAttemptRunBindingInput,
    CandidateOperatorResult,
    CandidateReconstruction,
    CandidateReplayStatus,
    ComputeBudgetDecision,
    GeometricSearchRun,
    SearchGateDecision,
    SourceSpan,
)

Record = TypeVar("Record")

SOURCE = "the quick brown fox jumps over the lazy dog"


def sha(payload: Any) -> str:
    """Hash as ADR-0232 §15 says."""
    text = json.dumps(payload, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def named(text: str) -> str:
    """Return a digest that stands for something these tests do not model."""
    return hashlib.sha256(text.encode()).hexdigest()


def own_identity(record: Any) -> str:
    """Hash a record with its first field blanked and its explanation left out."""
    payload = asdict(record)
    payload.pop("explanation", None)
    payload[fields(record)[0].name] = ""
    return sha(payload)


def seal(record: Record) -> Record:
    name = fields(cast(Any, record))[0].name
    changes: dict[str, Any] = {name: own_identity(record)}
    return cast(Record, replace(cast(Any, record), **changes))


def span(start: int, end: int, source: str = SOURCE) -> SourceSpan:
    return SourceSpan(named(source), len(source), start, end, source[start:end])


SPANS = (span(4, 9), span(16, 19), span(4, 9))


def attempt(**changes: Any) -> CandidateAttempt:
    plain = CandidateAttempt(
        attempt_id="",
        attempt_index=1,
        candidate_digest=proposed(),
        replay_status=CandidateReplayStatus.REPLAY_PENDING,
        replay_blockers=(),
        budget_charge=BudgetCharge(1, 2),
        depth=2,
        step_index=3,
        evidence_spans=SPANS,
    )
    return seal(replace(plain, **changes))


def proposed(*assignments: tuple[str, str]) -> str:
    return sha({"problem_frame_digest": named("frame"), "role_assignments": assignments or ROLES})


ROLES = (("animal", "fox"), ("colour", "brown"))


def reconstruction(**changes: Any) -> CandidateReconstruction:
    plain = CandidateReconstruction("", proposed(), named("frame"), ROLES, SPANS)
    return seal(replace(plain, **changes))


def gate(**changes: Any) -> SearchGateDecision:
    plain = SearchGateDecision(
        gate_decision_id="",
        gate_policy_version="search_gate.v1",
        original_contract_assessment_id=named("assessment"),
        problem_frame_digest=named("frame"),
        residual_ids=(named("residual b"), named("residual a")),
        gate_disposition="search_permitted",
        reason_codes=("missing_roles",),
        explanation="two roles are missing",
    )
    return seal(replace(plain, **changes))


def budget(**changes: Any) -> ComputeBudgetDecision:
    plain = ComputeBudgetDecision(
        budget_id="",
        budget_policy_version="compute_budget.v1",
        gate_decision_id=gate().gate_decision_id,
        max_candidates=4,
        max_depth=3,
        max_steps=10,
        max_parallelism=1,
        reason_codes=("small",),
        explanation="a small one",
    )
    return seal(replace(plain, **changes))


def used(**changes: Any) -> BudgetConsumed:
    return replace(BudgetConsumed(1, 1, 2, 4, 3, 10, 1), **changes)


def existing(index: int = 0, **changes: Any) -> CandidateAttempt:
    """An attempt that a run itself made, at a candidate of its own."""
    return attempt(**{"attempt_index": index, "candidate_digest": named(f"candidate {index}"), **changes})


def run(**changes: Any) -> GeometricSearchRun:
    plain = GeometricSearchRun(
        run_id="",
        run_policy_version="geometric_search_run.v1",
        input_digest=named("run input"),
        original_contract_assessment_id=named("assessment"),
        problem_frame_digest=named("frame"),
        residual_ids=gate().residual_ids,
        gate_decision_id=gate().gate_decision_id,
        budget_id=budget().budget_id,
        operator_set_id="operators",
        operator_set_version="1",
        attempt_index_policy=AttemptIndexPolicy.DECLARED,
        candidate_attempts=(existing(),),
        budget_consumed=used(),
        run_disposition="initialized",
        exhaustion_code=None,
        schema_versions=(("attempt", "1"), ("run", "1")),
        policy_versions=(("gate", "1"),),
        explanation="a run",
    )
    return seal(replace(plain, **changes))


def result(
    of: GeometricSearchRun | None = None,
    with_attempt: CandidateAttempt | None = None,
    with_reconstruction: CandidateReconstruction | None = None,
    **changes: Any,
) -> CandidateOperatorResult:
    """An operator result for a run; whatever `changes` says stands in it, sealed."""
    for_run = of or run()
    tried = with_attempt or attempt()
    rebuilt = with_reconstruction or reconstruction()
    plain = CandidateOperatorResult(
        operator_result_id="",
        operator_policy_version="missing_role_candidate.v1",
        geometric_search_run_id=for_run.run_id,
        original_contract_assessment_id=for_run.original_contract_assessment_id,
        problem_frame_digest=for_run.problem_frame_digest,
        residual_ids=for_run.residual_ids,
        gate_decision_id=for_run.gate_decision_id,
        budget_id=for_run.budget_id,
        operator_set_id=for_run.operator_set_id,
        operator_set_version=for_run.operator_set_version,
        attempt_id=tried.attempt_id,
        attempt_index=tried.attempt_index,
        candidate_digest=tried.candidate_digest,
        candidate_reconstruction_digest=rebuilt.candidate_reconstruction_digest,
        budget_charge=tried.budget_charge,
        candidate_attempt=tried,
        candidate_reconstruction=rebuilt,
        evidence_spans=rebuilt.evidence_spans,
        reason_codes=("typed_cue",),
        schema_versions=for_run.schema_versions,
        policy_versions=(("gate", "1"), ("operator", "1")),
        explanation="a fox",
    )
    return seal(replace(plain, **changes))


def asked(of: GeometricSearchRun, by: CandidateOperatorResult, **changes: Any) -> CandidateAttemptRunBindingInput:
    """The input for a pair, with its digest over every other field."""
    plain = CandidateAttemptRunBindingInput(
        input_digest="",
        binding_policy_version="candidate_attempt_run_binding.v1",
        original_run_id=of.run_id,
        original_run_policy_version=of.run_policy_version,
        original_run_input_digest=of.input_digest,
        operator_result_id=by.operator_result_id,
        operator_policy_version=by.operator_policy_version,
        candidate_attempt_id=by.attempt_id,
        attempt_index=by.attempt_index,
        candidate_digest=by.candidate_digest,
        candidate_reconstruction_digest=by.candidate_reconstruction_digest,
        operator_set_id=of.operator_set_id,
        operator_set_version=of.operator_set_version,
        budget_id=of.budget_id,
        gate_decision_id=of.gate_decision_id,
        residual_ids=of.residual_ids,
        problem_frame_digest=of.problem_frame_digest,
        original_contract_assessment_id=of.original_contract_assessment_id,
        schema_versions=by.schema_versions,
        policy_versions=by.policy_versions,
    )
    changed = replace(plain, **changes)
    payload = asdict(changed)
    del payload["input_digest"]
    return replace(changed, input_digest=sha(payload))
