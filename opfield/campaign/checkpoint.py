"""Checkpoints: a reduced history kept beside the ledger, so that opening folds the rest only (§25.4).

Disposable and never trusted blindly: one that does not match its own digest or the ledger's is ignored, and audit
ignores all of them.
"""

from __future__ import annotations

import hashlib
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from opfield.campaign.reducer import CampaignState, fold
from opfield.warehouse import ledger
from opfield.warehouse.durable import write_bytes
from opfield.warehouse.layout import checkpoint_file

if TYPE_CHECKING:
    # Loaded where it is used: that takes longer than a small question to DuckDB.
    import pyarrow as pa

#: Histories below this many events are folded faster than a checkpoint is read.
WORTH_IT: Final = 20_000
_KEY: Final = b"opfield.checkpoint"


def load_state(root: Path, campaign_id: str) -> CampaignState:
    """Return the state of a campaign: from its checkpoint and the events after it, or from all of them.

    Raises:
        DamageError: where a segment cannot be read.
        HistoryError: where the history breaks a law.
    """
    state = _read(root, campaign_id)
    if state is not None:
        at = next(ledger.read_events(root, campaign_id, after=state.sequence - 1), None)
        if at is None or at.digest != state.digest:
            state = None
    state = state or CampaignState(campaign_id)
    return fold(ledger.read_events(root, campaign_id, after=state.sequence), state)


def save_state(root: Path, state: CampaignState) -> None:
    """Keep a state as the campaign's checkpoint, where the history is long enough to gain from it."""
    if state.sequence < WORTH_IT:
        return
    import pyarrow as pa

    pairs = [pair for accepted in state.accepted.values() for pair in accepted]
    told = {
        "campaign_id": state.campaign_id,
        "sequence": state.sequence,
        "digest": state.digest,
        "fence": state.fence,
        "started": state.started,
        "registered": list(state.registered.items()),
        "accepted": [(candidate, len(accepted)) for candidate, accepted in state.accepted.items()],
        "planned": state.planned,
        "evidenced": sorted(state.evidenced),
        "compared": list(state.compared.items()),
        "decided": list(state.decided.items()),
        "terminal": state.terminal,
        "completed": state.completed,
    }
    rows = pa.record_batch(
        {
            "case_id": pa.array([case_id for case_id, _ in pairs], pa.string()).dictionary_encode(),
            "repeat": pa.array([repeat for _, repeat in pairs], pa.int32()),
        },
        metadata={_KEY: orjson.dumps(told)},
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_batch(rows)
    body = sink.getvalue().to_pybytes()
    write_bytes(checkpoint_file(root, state.campaign_id), _sum(body) + b"\n" + body)


def _read(root: Path, campaign_id: str) -> CampaignState | None:
    """Return the state that the checkpoint holds; None where there is none, or not a whole one of this campaign."""
    import pyarrow as pa

    try:
        head, _, body = checkpoint_file(root, campaign_id).read_bytes().partition(b"\n")
        if head != _sum(body):
            return None
        rows = pa.ipc.open_stream(body).read_next_batch()
        told: dict[str, Any] = orjson.loads(rows.schema.metadata[_KEY])
        if told["campaign_id"] != campaign_id:
            return None
        return _restored(told, rows)
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return None


def _restored(told: dict[str, Any], rows: pa.RecordBatch) -> CampaignState:
    cases = rows["case_id"].dictionary.to_pylist()
    case_ids = map(cases.__getitem__, rows["case_id"].indices.to_numpy().tolist())
    pairs = zip(case_ids, rows["repeat"].to_numpy().tolist(), strict=True)
    declared = told["started"]["identity"]["candidates"]
    return CampaignState(
        campaign_id=told["campaign_id"],
        sequence=told["sequence"],
        digest=told["digest"],
        fence=told["fence"],
        started=told["started"],
        declared=None if declared is None else frozenset(declared),
        registered=dict(told["registered"]),
        accepted={candidate: set(islice(pairs, count)) for candidate, count in told["accepted"]},
        planned=told["planned"],
        evidenced=set(told["evidenced"]),
        compared=dict(told["compared"]),
        decided=dict(told["decided"]),
        terminal=told["terminal"],
        completed=told["completed"],
    )


def _sum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()
