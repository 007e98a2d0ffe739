"""The reducer: a campaign's history folded into its state, refusing every event that breaks a law (§15.2, §46.11).

Pure and deterministic: it reads events and nothing else. The same laws stand as SQL in the view `violations`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from opfield.core import Status
from opfield.errors import HistoryError
from opfield.warehouse import ledger
from opfield.warehouse.ledger import Event, event_digest

_STATUSES: Final = frozenset(status.value for status in Status)


@dataclass(slots=True)
class CampaignState:
    """What a history amounts to.

    Attributes:
        campaign_id: campaign of the history; empty before the first event where any is welcome.
        sequence: last sequence seen.
        digest: last digest seen; the root once terminal.
        fence: greatest fence seen.
        started: payload of `campaign.started`.
        declared: candidates that may be registered; None where a proposer brings them as it goes.
        registered: candidate id to label, in order of registration.
        accepted: candidate id, the baseline's too, to the (case, repeat) pairs accepted.
        planned: cases that are tried where a sequential gate closed the plan early; None while all are.
        evidenced: positions of the gates whose computed evidence is recorded.
        compared: candidate id to the digest of the event that recorded its comparison.
        decided: candidate id to its recorded decision.
        terminal: `completed`, `cancelled`, or empty while events may follow.
        completed: payload of the terminal event.
    """

    campaign_id: str = ""
    sequence: int = 0
    digest: str = ""
    fence: int = 0
    started: dict[str, Any] = field(default_factory=dict)
    declared: frozenset[str] | None = frozenset()
    registered: dict[str, str] = field(default_factory=dict)
    accepted: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    planned: int | None = None
    evidenced: set[int] = field(default_factory=set)
    compared: dict[str, str] = field(default_factory=dict)
    decided: dict[str, str] = field(default_factory=dict)
    terminal: str = ""
    completed: dict[str, Any] = field(default_factory=dict)

    @property
    def cells(self) -> int:
        """Number of accepted cells."""
        return sum(len(pairs) for pairs in self.accepted.values())

    @property
    def declared_cells(self) -> int:
        """Number of coordinates of the declared grid.

        A ragged campaign, whose cases run differently often, declares it; a proposer's candidates are declared as they
        are registered.
        """
        if not self.started:
            return 0
        stated = self.started.get("coordinates")
        if stated is not None:
            return int(stated)
        candidates = self.registered if self.declared is None else self.declared
        cases = self.started["cases"] if self.planned is None else self.planned
        return int(cases * self.started["identity"]["repeats"] * (1 + len(candidates)))


def reduce(state: CampaignState, event: Event, own: dict[str, Any] | None = None) -> CampaignState:
    """Apply one event to the state, in place, and return it.

    Args:
        state: what came before.
        event: what comes next.
        own: the payload, where the caller has just chained the event to this state from it: then neither the digest nor
            the payload need be worked out a second time.

    Raises:
        HistoryError: naming the law, the sequence and what stood there; the state is then unchanged.
    """
    payload = _check_frame(state, event, own)
    handler = _HANDLERS.get(event.type)
    if handler is None:
        raise _breach("type", event, f"unknown event type {event.type!r}; this history needs a newer opfield")
    try:
        handler(state, event, payload)
    except (KeyError, TypeError, AttributeError) as error:
        raise _breach("payload", event, f"lacks what its type demands, or holds something else: {error}") from None
    state.campaign_id = event.campaign_id
    state.sequence = event.sequence
    state.digest = event.digest
    state.fence = event.fence
    return state


def fold(events: Iterable[Event], state: CampaignState | None = None) -> CampaignState:
    """Fold a history, from the start or from a state; folding a prefix and then the rest is folding it all (§15.3)."""
    state = state if state is not None else CampaignState()
    for event in events:
        reduce(state, event)
    return state


def _breach(law: str, event: Event, detail: str) -> HistoryError:
    return HistoryError(f"history law {law!r} broken at event {event.sequence} ({event.type}): {detail}")


def _check_frame(state: CampaignState, event: Event, own: dict[str, Any] | None) -> Any:
    """Check what every event owes, whatever its type, and return its payload."""
    if state.terminal:
        raise _breach("terminal", event, f"the campaign was {state.terminal} at event {state.sequence}")
    if event.sequence != state.sequence + 1:
        raise _breach("sequence", event, f"expected sequence {state.sequence + 1}")
    if state.campaign_id and event.campaign_id != state.campaign_id:
        raise _breach("campaign", event, f"belongs to {event.campaign_id}, the history to {state.campaign_id}")
    if (state.sequence == 0) != (event.type == ledger.CAMPAIGN_STARTED):
        raise _breach("start", event, "campaign.started is the first event and only the first")
    if event.fence < state.fence:
        raise _breach("fence", event, f"fence {event.fence} is older than {state.fence}")
    if own is None:
        expected = event_digest(
            state.digest,
            event.campaign_id,
            event.sequence,
            event.type,
            event.schema_version,
            event.recorded_at,
            event.fence,
            event.payload,
        )
        if event.digest != expected:
            raise _breach("digest", event, f"bears {event.digest}, but content and predecessor give {expected}")
    if event.schema_version > ledger.SCHEMA_VERSION:
        raise _breach("version", event, f"schema version {event.schema_version} needs a newer opfield")
    if own is not None:
        return own
    try:
        payload = orjson.loads(event.payload)
    except orjson.JSONDecodeError as error:
        raise _breach("payload", event, f"is not JSON: {error}") from None
    if not isinstance(payload, dict):
        raise _breach("payload", event, "is not a JSON object")
    return payload


def _started(state: CampaignState, event: Event, payload: dict[str, Any]) -> None:
    baseline_id, cases, identity = payload["baseline_id"], payload["cases"], payload["identity"]
    repeats, declared = identity["repeats"], identity["candidates"]
    if not (isinstance(baseline_id, str) and type(cases) is int and type(repeats) is int):
        raise _breach("payload", event, "states no baseline, or no number of cases or repeats")
    candidates = None if declared is None else frozenset(declared)
    if payload.get("coordinates") is not None:
        _check_ragged(event, payload, candidates)
    state.declared = candidates
    state.started = payload
    state.accepted = {baseline_id: set()}


def _check_ragged(event: Event, payload: dict[str, Any], candidates: frozenset[str] | None) -> None:
    """Check the number of coordinates that a ragged campaign declares: each case runs on each arm at least once."""
    coordinates, identity = payload["coordinates"], payload["identity"]
    if candidates is None:
        raise _breach("grid", event, "states coordinates, but its candidates come as it goes")
    if any(gate["kind"] == "sequential" for gate in identity["policy"]["gates"]):
        raise _breach("grid", event, "states coordinates, but a sequential gate may close its plan")
    least, repeats = payload["cases"] * (1 + len(candidates)), identity["repeats"]
    if type(coordinates) is not int or not 1 <= least <= coordinates <= least * repeats:
        raise _breach("grid", event, f"{coordinates} coordinates are not {least} times 1 to {repeats}")


def _registered(state: CampaignState, event: Event, payload: dict[str, Any]) -> None:
    candidate = payload["candidate_id"]
    if candidate in state.accepted:
        raise _breach("candidate", event, f"{candidate} is registered already, or the baseline")
    if state.declared is not None and candidate not in state.declared:
        raise _breach("candidate", event, f"{candidate} is not among the campaign's candidates")
    state.registered[candidate] = payload.get("label", candidate)
    state.accepted[candidate] = set()


def _trial(state: CampaignState, event: Event, payload: dict[str, Any]) -> None:
    candidate = payload["candidate_id"]
    if candidate not in state.accepted:
        raise _breach("trial", event, f"candidate {candidate} is not registered")
    arm = "baseline" if candidate == state.started["baseline_id"] else "candidate"
    if payload["arm"] != arm:
        raise _breach("trial", event, f"arm {payload['arm']!r} of a cell that belongs to the {arm}")
    if payload["status"] not in _STATUSES:
        raise _breach("trial", event, f"status {payload['status']!r} is not terminal")
    case_id, repeat = payload["case_id"], payload["repeat"]
    if type(repeat) is not int or not 0 <= repeat < state.started["identity"]["repeats"]:
        raise _breach("trial", event, f"repeat {repeat} is outside the declared repeats")
    if not isinstance(case_id, str):
        raise _breach("trial", event, f"case id {case_id!r} is no text")
    if candidate in state.compared or (arm == "baseline" and state.compared):
        raise _breach("trial", event, "a comparison over these cells is recorded already")
    if state.planned is not None:
        raise _breach("trial", event, f"the plan was closed at {state.planned} cases")
    if state.evidenced:
        raise _breach("trial", event, "computed evidence over these cells is recorded already")
    accepted = state.accepted[candidate]
    pair = (case_id, repeat)
    if pair in accepted:
        raise _breach("coordinate", event, f"{arm} {candidate} {pair} is accepted already")
    accepted.add(pair)


def _plan_closed(state: CampaignState, event: Event, payload: dict[str, Any]) -> None:
    cases = payload["cases"]
    gates = [gate for gate in state.started["identity"]["policy"]["gates"] if gate["kind"] == "sequential"]
    named = [gate["options"].get("looks") for gate in gates]
    looks = [each for listed in named if isinstance(listed, list) for each in listed if type(each) is int]
    if type(cases) is not int or not 1 <= cases < state.started["cases"]:
        raise _breach("plan", event, f"closed at {cases} of {state.started['cases']} cases")
    if cases not in looks and None not in named:
        raise _breach("plan", event, f"no sequential gate looks at {cases} cases")
    if state.planned is not None or state.evidenced or state.compared:
        raise _breach("plan", event, "the plan is closed, or judged, already")
    tried = {case_id for pairs in state.accepted.values() for case_id, _ in pairs}
    if len(tried) != cases or state.cells * state.started["cases"] != cases * state.declared_cells:
        raise _breach("plan", event, f"{cases} cases do not make {state.cells} cells of {len(tried)}")
    state.planned = cases


def _evidence(state: CampaignState, event: Event, payload: dict[str, Any]) -> None:
    gate_ix, gates = payload["gate_ix"], state.started["identity"]["policy"]["gates"]
    if type(gate_ix) is not int or not 0 <= gate_ix < len(gates) or payload["name"] != gates[gate_ix]["name"]:
        raise _breach("evidence", event, f"gate {gate_ix} {payload['name']!r} is none of the policy's")
    if not isinstance(payload["results"], list):
        raise _breach("evidence", event, "holds no list of results")
    if gate_ix in state.evidenced:
        raise _breach("evidence", event, f"evidence for gate {gate_ix} is recorded already")
    if state.compared:
        raise _breach("evidence", event, "a comparison is recorded already")
    if state.cells < state.declared_cells:
        raise _breach("evidence", event, f"coordinates pending: {state.declared_cells - state.cells}")
    state.evidenced.add(gate_ix)


def _comparison(state: CampaignState, event: Event, payload: dict[str, Any]) -> None:
    candidate = payload["candidate_id"]
    if candidate not in state.registered:
        raise _breach("comparison", event, f"candidate {candidate} is not registered")
    if candidate in state.compared:
        raise _breach("comparison", event, f"candidate {candidate} is compared already")
    state.compared[candidate] = event.digest


def _review(state: CampaignState, event: Event, payload: dict[str, Any]) -> None:
    candidate, reviewer = payload["candidate_id"], payload["by"]
    if candidate not in state.registered:
        raise _breach("review", event, f"candidate {candidate} is not registered")
    if candidate not in state.compared:
        raise _breach("review", event, f"candidate {candidate} has no recorded comparison")
    if candidate in state.decided:
        raise _breach("review", event, f"candidate {candidate} is decided already")
    if payload["comparison"] != state.compared[candidate]:
        raise _breach("review", event, "the comparison reviewed is not the one recorded")
    if payload["verdict"] not in ("approve", "reject"):
        raise _breach("review", event, f"verdict {payload['verdict']!r} is neither approve nor reject")
    if not isinstance(reviewer, str) or not reviewer:
        raise _breach("review", event, "names nobody as the reviewer")


def _decision(state: CampaignState, event: Event, payload: dict[str, Any]) -> None:
    candidate = payload["candidate_id"]
    if candidate not in state.compared:
        raise _breach("decision", event, f"candidate {candidate} has no recorded comparison")
    if candidate in state.decided:
        raise _breach("decision", event, f"candidate {candidate} is decided already")
    if payload["decision"] not in ("pass", "fail", "indeterminate"):
        raise _breach("decision", event, f"decision {payload['decision']!r} is no verdict")
    state.decided[candidate] = payload["decision"]


def _completed(state: CampaignState, event: Event, payload: dict[str, Any]) -> None:
    declared = state.registered.keys() if state.declared is None else state.declared
    undecided = declared - state.decided.keys()
    if undecided:
        raise _breach("completion", event, f"candidates not decided: {len(undecided)}")
    if payload["selected"] not in state.accepted:
        raise _breach("completion", event, f"selected {payload['selected']} is neither a candidate nor the baseline")
    state.terminal = "completed"
    state.completed = payload


def _cancelled(state: CampaignState, _event: Event, payload: dict[str, Any]) -> None:
    state.terminal = "cancelled"
    state.completed = payload


_HANDLERS: Final[dict[str, Callable[[CampaignState, Event, dict[str, Any]], None]]] = {
    ledger.CAMPAIGN_STARTED: _started,
    ledger.CANDIDATE_REGISTERED: _registered,
    ledger.TRIAL_COMPLETED: _trial,
    ledger.PLAN_CLOSED: _plan_closed,
    ledger.EVIDENCE_RECORDED: _evidence,
    ledger.COMPARISON_RECORDED: _comparison,
    ledger.REVIEW_RECORDED: _review,
    ledger.DECISION_RECORDED: _decision,
    ledger.CAMPAIGN_COMPLETED: _completed,
    ledger.CAMPAIGN_CANCELLED: _cancelled,
}
