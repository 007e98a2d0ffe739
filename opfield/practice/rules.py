"""The rules between well-formed records: chain, attempt, membership, budget, evidence, versions (ADR-0232 §9–§14).

Each function yields the reasons of its group. A rule whose operands are not well-formed says nothing: that they are
malformed is reported already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

from opfield.practice.attempt import CandidateAttempt, CandidateReplayStatus
from opfield.practice.binding import (
    CANDIDATE_ATTEMPT_RUN_BINDING_POLICY_VERSION,
    CandidateAttemptRunBindingInput,
    binding_input_for,
)
from opfield.practice.budget import COMPUTE_BUDGET_POLICY_VERSION, BudgetConsumed, ComputeBudgetDecision
from opfield.practice.examine import Examined
from opfield.practice.reasons import BindingReason
from opfield.practice.residual import SEARCH_GATE_POLICY_VERSION, SEARCH_PERMITTED, SearchGateDecision
from opfield.practice.run import GEOMETRIC_SEARCH_RUN_POLICY_VERSION, AttemptIndexPolicy, GeometricSearchRun
from opfield.practice.span import SourceSpan, spans_overlap

_R = BindingReason
Pairs = tuple[tuple[str, str], ...]

#: Fields of the input that tell of the run; the others tell of the operator result.
_OF_RUN: Final = (
    "original_run_id",
    "original_run_policy_version",
    "original_run_input_digest",
    "operator_set_id",
    "operator_set_version",
    "budget_id",
    "gate_decision_id",
    "residual_ids",
    "problem_frame_digest",
    "original_contract_assessment_id",
)
_OF_RESULT: Final = (
    "operator_result_id",
    "operator_policy_version",
    "candidate_attempt_id",
    "attempt_index",
    "candidate_digest",
    "candidate_reconstruction_digest",
    "schema_versions",
    "policy_versions",
)

#: Fields of the chain by which an operator result names what its run started from, and the reason where one differs.
_CHAIN: Final = (
    ("operator_set_id", _R.OPERATOR_SET_ID_MISMATCH),
    ("operator_set_version", _R.OPERATOR_SET_VERSION_MISMATCH),
    ("gate_decision_id", _R.GATE_DECISION_ID_MISMATCH),
    ("budget_id", _R.BUDGET_ID_MISMATCH),
    ("residual_ids", _R.RESIDUAL_IDS_MISMATCH),
    ("problem_frame_digest", _R.PROBLEM_FRAME_MISMATCH),
    ("original_contract_assessment_id", _R.ASSESSMENT_ID_MISMATCH),
)


def violated(given: Examined) -> Iterator[BindingReason]:
    """Yield every rule that is violated, in no particular order; some may come twice."""
    for rule in _RULES:
        yield from rule(given)


def _policies(given: Examined) -> Iterator[BindingReason]:
    stated = (
        (given.asked, "binding_policy_version", CANDIDATE_ATTEMPT_RUN_BINDING_POLICY_VERSION),
        (given.run, "run_policy_version", GEOMETRIC_SEARCH_RUN_POLICY_VERSION),
        (given.budget, "budget_policy_version", COMPUTE_BUDGET_POLICY_VERSION),
        (given.gate, "gate_policy_version", SEARCH_GATE_POLICY_VERSION),
    )
    reasons = (
        _R.BINDING_POLICY_UNSUPPORTED,
        _R.RUN_POLICY_UNSUPPORTED,
        _R.BUDGET_POLICY_UNSUPPORTED,
        _R.GATE_POLICY_UNSUPPORTED,
    )
    for (record, member, known), reason in zip(stated, reasons, strict=True):
        if record is not None and getattr(record, member) != known:
            yield reason


def _input(given: Examined) -> Iterator[BindingReason]:
    if given.asked is None or given.run is None or given.result is None:
        return
    told = binding_input_for(given.run, given.result)
    if _differ(given.asked, told, _OF_RUN):
        yield _R.INPUT_RUN_MISMATCH
    if _differ(given.asked, told, _OF_RESULT):
        yield _R.INPUT_RESULT_MISMATCH


def _differ(
    one: CandidateAttemptRunBindingInput, other: CandidateAttemptRunBindingInput, names: tuple[str, ...]
) -> bool:
    return any(getattr(one, name) != getattr(other, name) for name in names)


def _chain(given: Examined) -> Iterator[BindingReason]:
    run, result = given.run, given.result
    if run is None:
        return
    if result is not None:
        if result.geometric_search_run_id != run.run_id:
            yield _R.RUN_ID_MISMATCH
        for member, reason in _CHAIN:
            if getattr(result, member) != getattr(run, member):
                yield reason
    if given.budget is not None and not _is_budget_of(given.budget, run):
        yield _R.BUDGET_DECISION_MISMATCH
    if given.gate is not None and not _is_gate_of(given.gate, run):
        yield _R.GATE_DECISION_MISMATCH


def _is_budget_of(budget: ComputeBudgetDecision, run: GeometricSearchRun) -> bool:
    ceilings = ("max_candidates", "max_depth", "max_steps", "max_parallelism")
    return (budget.budget_id, budget.gate_decision_id) == (run.budget_id, run.gate_decision_id) and all(
        getattr(budget, each) == getattr(run.budget_consumed, each) for each in ceilings
    )


def _is_gate_of(gate: SearchGateDecision, run: GeometricSearchRun) -> bool:
    members = ("gate_decision_id", "original_contract_assessment_id", "problem_frame_digest", "residual_ids")
    return gate.gate_disposition == SEARCH_PERMITTED and all(
        getattr(gate, each) == getattr(run, each) for each in members
    )


def _attempt(given: Examined) -> Iterator[BindingReason]:
    result, attempt, reconstruction = given.result, given.attempt, given.reconstruction
    if result is not None and attempt is not None:
        if attempt.attempt_id != result.attempt_id:
            yield _R.ATTEMPT_ID_MISMATCH
        if attempt.attempt_index != result.attempt_index:
            yield _R.ATTEMPT_INDEX_MISMATCH
        if attempt.candidate_digest != result.candidate_digest:
            yield _R.ATTEMPT_CANDIDATE_MISMATCH
    if result is not None and reconstruction is not None:
        if reconstruction.candidate_digest != result.candidate_digest:
            yield _R.RECONSTRUCTION_CANDIDATE_MISMATCH
        if reconstruction.candidate_reconstruction_digest != result.candidate_reconstruction_digest:
            yield _R.RECONSTRUCTION_DIGEST_MISMATCH
        if reconstruction.problem_frame_digest != result.problem_frame_digest:
            yield _R.RECONSTRUCTION_FRAME_MISMATCH
    if attempt is not None:
        if attempt.replay_status is not CandidateReplayStatus.REPLAY_PENDING:
            yield _R.REPLAY_NOT_PENDING
        if attempt.replay_blockers:
            yield _R.REPLAY_BLOCKERS_PRESENT


def _membership(given: Examined) -> Iterator[BindingReason]:
    run, attempt = given.run, given.attempt
    if run is not None and not _is_order_clear(run):
        yield _R.EXISTING_ATTEMPTS_AMBIGUOUS
    if attempt is None:
        return
    index = attempt.attempt_index
    if index < 0:
        yield _R.ATTEMPT_INDEX_NEGATIVE
    if run is None:
        return
    if any(each.attempt_index == index for each in run.candidate_attempts):
        yield _R.ATTEMPT_INDEX_DUPLICATE
    elif index >= 0 and not _supports(run, index):
        yield _R.ATTEMPT_INDEX_UNSUPPORTED
    if any(each.attempt_id == attempt.attempt_id for each in run.candidate_attempts):
        yield _R.ATTEMPT_ID_DUPLICATE
    if any(each.candidate_digest == attempt.candidate_digest for each in run.candidate_attempts):
        yield _R.CANDIDATE_DIGEST_DUPLICATE


def _is_order_clear(run: GeometricSearchRun) -> bool:
    """Return whether the run's own attempts are different ones, at the positions that its index policy asks for."""
    positions = [each.attempt_index for each in run.candidate_attempts]
    if len({each.attempt_id for each in run.candidate_attempts}) < len(positions):
        return False
    if run.attempt_index_policy is AttemptIndexPolicy.CONTIGUOUS:
        return positions == list(range(len(positions)))
    return all(each >= 0 for each in positions) and all(one < other for one, other in pairwise(positions))


def _supports(run: GeometricSearchRun, index: int) -> bool:
    if run.attempt_index_policy is AttemptIndexPolicy.CONTIGUOUS:
        return index == len(run.candidate_attempts)
    return index < run.budget_consumed.max_candidates


def _budget(given: Examined) -> Iterator[BindingReason]:
    run, result, attempt = given.run, given.result, given.attempt
    if run is not None:
        if min(_numbers(run.budget_consumed)) < 0:
            yield _R.RUN_BUDGET_NEGATIVE
        if run.budget_consumed.max_parallelism != 1:
            yield _R.PARALLELISM_UNSUPPORTED
    if attempt is None:
        return
    if result is not None and attempt.budget_charge != result.budget_charge:
        yield _R.CHARGE_MISMATCH
    yield from _signs(attempt)
    if run is not None:
        yield from _excesses(attempt, run.budget_consumed)


def _numbers(used: BudgetConsumed) -> tuple[int, ...]:
    return (
        used.candidates_considered,
        used.depth_reached,
        used.steps_used,
        used.max_candidates,
        used.max_depth,
        used.max_steps,
        used.max_parallelism,
    )


def _signs(attempt: CandidateAttempt) -> Iterator[BindingReason]:
    if attempt.budget_charge.candidates <= 0:
        yield _R.CANDIDATE_CHARGE_NOT_POSITIVE
    if attempt.budget_charge.steps <= 0:
        yield _R.STEP_CHARGE_NOT_POSITIVE
    if attempt.step_index < 0:
        yield _R.STEP_INDEX_NEGATIVE
    if attempt.depth < 0:
        yield _R.DEPTH_NEGATIVE


def _excesses(attempt: CandidateAttempt, used: BudgetConsumed) -> Iterator[BindingReason]:
    charge = attempt.budget_charge
    if used.candidates_considered + charge.candidates > used.max_candidates:
        yield _R.CANDIDATE_CHARGE_EXCEEDS_RUN
    if used.steps_used + charge.steps > used.max_steps:
        yield _R.STEP_CHARGE_EXCEEDS_RUN
    if attempt.step_index + charge.steps > used.max_steps:
        yield _R.STEP_INDEX_EXCEEDS_RUN
    if max(used.depth_reached, attempt.depth) > used.max_depth:
        yield _R.DEPTH_EXCEEDS_RUN


def _evidence(given: Examined) -> Iterator[BindingReason]:
    streams = [each.evidence_spans for each in (given.result, given.attempt, given.reconstruction) if each is not None]
    for stream in dict.fromkeys(streams):
        for span in stream:
            yield from _span(span)
        if spans_overlap(stream):
            yield _R.EVIDENCE_SPANS_OVERLAP
    if given.result is None:
        return
    if given.attempt is not None and given.attempt.evidence_spans != given.result.evidence_spans:
        yield _R.ATTEMPT_SPANS_MISMATCH
    if given.reconstruction is not None and given.reconstruction.evidence_spans != given.result.evidence_spans:
        yield _R.RECONSTRUCTION_SPANS_MISMATCH


def _span(span: SourceSpan) -> Iterator[BindingReason]:
    if span.end < span.start:
        yield _R.EVIDENCE_SPAN_REVERSED
    elif span.end == span.start:
        yield _R.EVIDENCE_SPAN_EMPTY
    elif len(span.text) != span.end - span.start:
        yield _R.EVIDENCE_SPAN_INEXACT
    if min(span.start, span.end) < 0 or max(span.start, span.end) > span.source_length:
        yield _R.EVIDENCE_SPAN_OUTSIDE_SOURCE


def _versions(given: Examined) -> Iterator[BindingReason]:
    records = [each for each in (given.asked, given.run, given.result) if each is not None]
    if not all(_is_canonical(each.schema_versions) for each in records):
        yield _R.SCHEMA_VERSIONS_NOT_CANONICAL
    if not all(_is_canonical(each.policy_versions) for each in records):
        yield _R.POLICY_VERSIONS_NOT_CANONICAL
    if given.run is None or given.result is None:
        return
    if _do_conflict(given.run.schema_versions, given.result.schema_versions):
        yield _R.SCHEMA_VERSIONS_CONFLICT
    if _do_conflict(given.run.policy_versions, given.result.policy_versions):
        yield _R.POLICY_VERSIONS_CONFLICT


def _is_canonical(pairs: Pairs) -> bool:
    return all(one < other for (one, _), (other, _) in pairwise(pairs))


def _do_conflict(one: Pairs, other: Pairs) -> bool:
    known = dict(one)
    return any(known.get(name, version) != version for name, version in other)


_RULES: Final[tuple[Callable[[Examined], Iterator[BindingReason]], ...]] = (
    _policies,
    _input,
    _chain,
    _attempt,
    _membership,
    _budget,
    _evidence,
    _versions,
)
