"""The whole loop on one small problem, from contract assessment to sealed trace (ADR-0232 §1)."""

from __future__ import annotations

from dataclasses import dataclass

from opfield.practice import (
    CandidateAttemptRunBinding,
    CandidateAttemptRunBindingOutcome,
    CandidateOperatorResult,
    ComputeBudgetDecision,
    ContractAssessment,
    ContractResidual,
    GeometricSearchRun,
    ReplayAdapterInput,
    ReplayAdapterRefusal,
    ReplayAdapterResult,
    SealedPracticeTrace,
    SealedPracticeTraceRefusal,
    SearchGateDecision,
    bind_candidate_attempt,
    binding_input_for,
    build_replay_adapter_input,
    seal_practice_trace,
)
from opfield_practice.downstream import replay_contract
from opfield_practice.frame import Contract, ProblemFrame, TypedCue, span_of
from opfield_practice.missing_role import build_missing_role_candidate
from opfield_practice.upstream import (
    assess_contract,
    decide_compute_budget,
    decide_search_gate,
    initialize_geometric_search_run,
    project_contract_residuals,
)

_TEXT = "Please book a seat for Ada from Oslo to Bergen on Friday."

CONTRACT = Contract(
    "seat_booking.v1",
    (("passenger", "person"), ("origin", "city"), ("destination", "city"), ("day", "weekday")),
)
FRAME = ProblemFrame(
    text=_TEXT,
    filled_roles=(("passenger", "Ada"), ("origin", "Oslo"), ("day", "Friday")),
    cues=(TypedCue("city", span_of(_TEXT, "Oslo")), TypedCue("city", span_of(_TEXT, "Bergen"))),
)


@dataclass(frozen=True, slots=True)
class Episode:
    """Every record of one walk through the loop, in order; results, outcomes and replays correspond by position."""

    assessment: ContractAssessment
    residuals: tuple[ContractResidual, ...]
    gate: SearchGateDecision
    budget: ComputeBudgetDecision
    run: GeometricSearchRun
    results: tuple[CandidateOperatorResult, ...]
    outcomes: tuple[CandidateAttemptRunBindingOutcome, ...]
    replays: tuple[ReplayAdapterResult | ReplayAdapterRefusal, ...]
    trace: SealedPracticeTrace | SealedPracticeTraceRefusal


def walk(contract: Contract = CONTRACT, frame: ProblemFrame = FRAME, max_candidates: int = 2) -> Episode:
    """Walk through the loop: one attempt for each cue that could fill the first missing role, bound and replayed."""
    assessment = assess_contract(contract, frame)
    residuals = project_contract_residuals(assessment)
    gate = decide_search_gate(assessment, residuals)
    budget = decide_compute_budget(gate, max_candidates)
    run = initialize_geometric_search_run(assessment, gate, budget)
    role_type = dict(contract.role_types)
    fitting = [cue for cue in frame.cues if residuals and cue.cue_type == role_type[residuals[0].role]]
    results = tuple(
        build_missing_role_candidate(run, contract, residuals[0], cue, index) for index, cue in enumerate(fitting)
    )
    outcomes = tuple(
        bind_candidate_attempt(
            binding_input_for(run, result),
            run,
            result,
            compute_budget_decision=budget,
            search_gate_decision=gate,
        )
        for result in results
    )
    replays = tuple(
        _replayed(run, result, outcome, contract, frame)
        for result, outcome in zip(results, outcomes, strict=True)
        if isinstance(outcome, CandidateAttemptRunBinding)
    )
    bindings = [each for each in outcomes if isinstance(each, CandidateAttemptRunBinding)]
    trace = seal_practice_trace(run, results, bindings, replays)
    return Episode(assessment, residuals, gate, budget, run, results, outcomes, replays, trace)


def _replayed(
    run: GeometricSearchRun,
    result: CandidateOperatorResult,
    binding: CandidateAttemptRunBinding,
    contract: Contract,
    frame: ProblemFrame,
) -> ReplayAdapterResult | ReplayAdapterRefusal:
    reconstruction = result.candidate_reconstruction
    replay_input = build_replay_adapter_input(run, binding, result.candidate_attempt, reconstruction, result)
    if isinstance(replay_input, ReplayAdapterInput):
        return replay_contract(replay_input, reconstruction, contract, frame)
    return replay_input
