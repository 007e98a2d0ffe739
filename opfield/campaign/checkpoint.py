"""Checkpoints: a reduced history kept beside the ledger, so that opening folds the rest only (§25.4).

Disposable and never trusted blindly: one that does not match its own digest or the ledger's is ignored, and audit ignores
all of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from opfield.campaign.reducer import CampaignState, fold
from opfield.core import canonical_json, digest
from opfield.warehouse import ledger
from opfield.warehouse.durable import replace, write_temporary
from opfield.warehouse.layout import checkpoint_file

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
        at = next(iter(ledger.read_events(root, campaign_id, after=state.sequence - 1)), None)
        if at is None or at.digest != state.digest:
            state = None
    return fold(ledger.read_events(root, campaign_id, after=state.sequence if state else 0), state)


def save_state(root: Path, state: CampaignState) -> None:
    """Keep a state as the campaign's checkpoint, where the history is long enough to gain from it."""
    if state.sequence < WORTH_IT:
        return
    candidates, cases, repeats = [], [], []
    for candidate, pairs in state.accepted.items():
        for case_id, repeat in sorted(pairs):
            candidates.append(candidate)
            cases.append(case_id)
            repeats.append(repeat)
    table = pa.table(
        {
            "candidate_id": pa.array(candidates).dictionary_encode(),
            "case_id": pa.array(cases).dictionary_encode(),
            "repeat": pa.array(repeats, pa.int32()),
        }
    )
    told = {
        "campaign_id": state.campaign_id,
        "sequence": state.sequence,
        "digest": state.digest,
        "fence": state.fence,
        "started": state.started,
        "registered": list(state.registered.items()),
        "compared": sorted(state.compared),
        "decided": list(state.decided.items()),
        "terminal": state.terminal,
        "completed": state.completed,
        "rows": _rows_digest(table),
    }
    signed = canonical_json({**told, "self": digest("opfield/checkpoint/v1", canonical_json(told))})
    table = table.replace_schema_metadata({_KEY: signed})
    path = checkpoint_file(root, state.campaign_id)
    replace(write_temporary(path.parent, lambda temporary: pq.write_table(table, temporary)), path)


def _read(root: Path, campaign_id: str) -> CampaignState | None:
    try:
        table = pq.ParquetFile(checkpoint_file(root, campaign_id)).read()
        told: dict[str, Any] = orjson.loads(table.schema.metadata[_KEY])
        signed = told.pop("self")
        if signed != digest("opfield/checkpoint/v1", canonical_json(told)):
            return None
        if told["campaign_id"] != campaign_id or told["rows"] != _rows_digest(table):
            return None
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return None
    accepted: dict[str, set[tuple[str, int]]] = {told["started"]["baseline_id"]: set()}
    accepted.update({candidate: set() for candidate, _ in told["registered"]})
    for candidate in accepted:
        rows = table.filter(pa.compute.equal(table["candidate_id"], candidate))
        accepted[candidate] = set(zip(rows["case_id"].to_pylist(), rows["repeat"].to_pylist(), strict=True))
    return CampaignState(
        campaign_id=campaign_id,
        sequence=told["sequence"],
        digest=told["digest"],
        fence=told["fence"],
        started=told["started"],
        registered=dict(told["registered"]),
        accepted=accepted,
        compared=set(told["compared"]),
        decided=dict(told["decided"]),
        terminal=told["terminal"],
        completed=told["completed"],
    )


def _rows_digest(table: pa.Table) -> str:
    """Return a digest over the rows, whatever their encoding in the file."""
    plain = table.replace_schema_metadata(None).combine_chunks()
    columns = [plain.column(name) for name in plain.column_names]
    decoded = [column.cast(pa.string()) for column in columns[:2]] + [columns[2]]
    sink = pa.BufferOutputStream()
    flat = pa.table(decoded, names=plain.column_names).combine_chunks()
    with pa.ipc.new_stream(sink, flat.schema) as stream:
        stream.write_table(flat)
    return digest("opfield/checkpoint/rows/v1", sink.getvalue().to_pybytes())
