"""The sealed trace of an episode: what was searched, tried, bound and replayed, closed by replays alone (ADR-0232 §12).

A binding is membership evidence. An attempt that is bound and was not replayed is pending, and where a replay is asked
for a binding is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from opfield.practice.binding import CandidateAttemptRunBinding
from opfield.practice.form import Digest, Text, well_formed
from opfield.practice.operator_result import CandidateOperatorResult
from opfield.practice.record import as_json, bears_its_identity, sealed
from opfield.practice.replay import ReplayAdapterRefusal, ReplayAdapterResult, ReplayDisposition
from opfield.practice.run import GeometricSearchRun

SEALED_PRACTICE_TRACE_POLICY_VERSION: Final = "sealed_practice_trace.v1"


class TraceReason(StrEnum):
    """Why a trace cannot be sealed, in the order in which a refusal reports it."""

    RUN_MALFORMED = "run_malformed"
    OPERATOR_RESULT_MALFORMED = "operator_result_malformed"
    BINDING_MALFORMED = "binding_malformed"
    REPLAY_MALFORMED = "replay_malformed"
    BINDING_IS_NO_REPLAY = "binding_is_no_replay"
    IDENTITY_UNREPRODUCED = "identity_unreproduced"
    RECORD_OF_ANOTHER_RUN = "record_of_another_run"
    BINDING_WITHOUT_OPERATOR_RESULT = "binding_without_operator_result"
    REPLAY_WITHOUT_BINDING = "replay_without_binding"
    RECORD_TWICE = "record_twice"


class EpisodeDisposition(StrEnum):
    """How an episode stands, told by its replays alone."""

    MEMBERSHIP_PENDING = "membership_pending"
    REPLAY_REFUSED = "replay_refused"
    REPLAY_OPEN = "replay_open"
    REPLAY_CLOSED = "replay_closed"


@dataclass(frozen=True, slots=True)
class SealedPracticeTrace:
    """An episode as it was, by the identities of its records.

    Attributes:
        trace_id: identity of the trace.
        trace_policy_version: `sealed_practice_trace.v1`.
        original_run_id: the run.
        trace_records: (kind, identity) pairs: the run, operator results, bindings, replays, each in its given order.
        episode_disposition: how the episode stands.
    """

    trace_id: Digest
    trace_policy_version: str
    original_run_id: Digest
    trace_records: tuple[tuple[str, Digest], ...]
    episode_disposition: EpisodeDisposition


@dataclass(frozen=True, slots=True)
class SealedPracticeTraceRefusal:
    """Why an episode cannot be sealed.

    Attributes:
        trace_refusal_id: identity of the refusal.
        trace_policy_version: `sealed_practice_trace.v1`.
        reason_codes: every rule that is violated, in the order of `TraceReason`.
        explanation: words for people; outside the identity.
    """

    trace_refusal_id: Digest
    trace_policy_version: str
    reason_codes: tuple[str, ...]
    explanation: Text


def seal_practice_trace(
    original_run: object,
    operator_results: Sequence[object],
    bindings: Sequence[object],
    replays: Sequence[object],
) -> SealedPracticeTrace | SealedPracticeTraceRefusal:
    """Seal an episode, or say why it cannot be; total over any values in the sequences.

    Args:
        original_run: the `GeometricSearchRun`.
        operator_results: `CandidateOperatorResult` values made for it.
        bindings: `CandidateAttemptRunBinding` values of these results.
        replays: `ReplayAdapterResult` and `ReplayAdapterRefusal` values of these bindings.
    """
    wrong = set(_malformed(original_run, operator_results, bindings, replays))
    records = (original_run, *operator_results, *bindings, *replays)
    if not wrong:
        wrong |= set(_contradictions(records))
    if wrong:
        codes = tuple(each.value for each in TraceReason if each in wrong)
        return sealed(
            SealedPracticeTraceRefusal(
                trace_refusal_id="",
                trace_policy_version=SEALED_PRACTICE_TRACE_POLICY_VERSION,
                reason_codes=codes,
                explanation="not sealed: " + ", ".join(codes),
            )
        )
    return sealed(
        SealedPracticeTrace(
            trace_id="",
            trace_policy_version=SEALED_PRACTICE_TRACE_POLICY_VERSION,
            original_run_id=_identity(original_run),
            trace_records=tuple((type(each).__name__, _identity(each)) for each in records),
            episode_disposition=_disposition(replays),
        )
    )


def _malformed(
    run: object, results: Sequence[object], bindings: Sequence[object], replays: Sequence[object]
) -> Iterator[TraceReason]:
    if well_formed(run, GeometricSearchRun) is None:
        yield TraceReason.RUN_MALFORMED
    if any(well_formed(each, CandidateOperatorResult) is None for each in results):
        yield TraceReason.OPERATOR_RESULT_MALFORMED
    if any(well_formed(each, CandidateAttemptRunBinding) is None for each in bindings):
        yield TraceReason.BINDING_MALFORMED
    for each in replays:
        if type(each) is CandidateAttemptRunBinding:
            yield TraceReason.BINDING_IS_NO_REPLAY
        elif well_formed(each, ReplayAdapterResult) is None and well_formed(each, ReplayAdapterRefusal) is None:
            yield TraceReason.REPLAY_MALFORMED


def _contradictions(records: Sequence[object]) -> Iterator[TraceReason]:
    """Yield what well-formed records contradict each other in."""
    identities = [_identity(each) for each in records]
    if not all(bears_its_identity(each) for each in records):
        yield TraceReason.IDENTITY_UNREPRODUCED
    if len(set(identities)) < len(identities):
        yield TraceReason.RECORD_TWICE
    results = {each.operator_result_id for each in records if isinstance(each, CandidateOperatorResult)}
    bound = {each.binding_id for each in records if isinstance(each, CandidateAttemptRunBinding)}
    for each in records:
        if _run_of(each) != identities[0]:
            yield TraceReason.RECORD_OF_ANOTHER_RUN
        if isinstance(each, CandidateAttemptRunBinding) and each.operator_result_id not in results:
            yield TraceReason.BINDING_WITHOUT_OPERATOR_RESULT
        if isinstance(each, ReplayAdapterResult | ReplayAdapterRefusal) and each.binding_id not in bound:
            yield TraceReason.REPLAY_WITHOUT_BINDING


def _run_of(record: object) -> str | None:
    if isinstance(record, GeometricSearchRun):
        return record.run_id
    if isinstance(record, CandidateOperatorResult):
        return record.geometric_search_run_id
    assert isinstance(record, CandidateAttemptRunBinding | ReplayAdapterResult | ReplayAdapterRefusal)
    return record.original_run_id


def _identity(record: object) -> str:
    return str(next(iter(as_json(record).values())))


def _disposition(replays: Sequence[object]) -> EpisodeDisposition:
    """Return the furthest that a replay came; membership alone is pending."""
    found = [each.replay_disposition for each in replays if isinstance(each, ReplayAdapterResult)]
    if ReplayDisposition.CONTRACT_CLOSED in found:
        return EpisodeDisposition.REPLAY_CLOSED
    if found:
        return EpisodeDisposition.REPLAY_OPEN
    return EpisodeDisposition.REPLAY_REFUSED if replays else EpisodeDisposition.MEMBERSHIP_PENDING
