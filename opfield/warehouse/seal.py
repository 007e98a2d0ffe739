"""Sealing: a finished campaign's many small files merged into a few sorted ones (DESIGN §5).

Merged files are prepared under names that no reader's glob matches. Then a plan is made durable, and from there on
every step can be repeated. The old files go before the merged ones take their names, and the ledger is exchanged last:
a concurrent reader may see too little for a moment, which the views report as not whole, and never too much. The slots
of the ledger keep zero-row tombstones, since a slot that was ever published must never be published again.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import duckdb

from opfield.core import canonical_json, digest, parse_json
from opfield.errors import DamageError, IdentityError, WarehouseError
from opfield.warehouse import ledger
from opfield.warehouse.columns import empty_table
from opfield.warehouse.contract import arrow_schema
from opfield.warehouse.durable import replace, sync_folder, write_bytes, write_temporary
from opfield.warehouse.layout import FIRST, SEAL_PLAN, SEALED, digests_folder, relative, segment_name, table_folder
from opfield.warehouse.projection import copy_query, digests_bytes, file_digest, read_digests

_PART: Final = ".part"

#: How many files hold the candidates' rows, so that every core of a small machine has one to read.
CANDIDATE_FILES: Final = 2

#: Artifacts of more bytes stay in the files that they are in: merging them earns little and takes their size in memory.
MOST_MERGED: Final = 64 * 2**20

_ORDER: Final = {
    "cells": "case_id, repeat, candidate_id, sequence",
    "measurements": "metric, case_id, repeat, candidate_id",
}

#: Called with the name of each step before it is taken; tests stop there.
Step = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a seal will do.

    Attributes:
        remove: files that go.
        merged: merged files by their final name, which they bear with a suffix until then; value: digest.
        tombstones: slots of the ledger that stay taken.
        ledger: name of the merged ledger; value: digest.
    """

    remove: tuple[str, ...]
    merged: dict[str, str]
    tombstones: tuple[str, ...]
    ledger: dict[str, str]


def is_sealed(root: Path, campaign_id: str) -> bool:
    """Return whether a campaign was sealed."""
    return (digests_folder(root, campaign_id) / SEALED).exists()


def seal_campaign(root: Path, campaign_id: str, con: duckdb.DuckDBPyConnection, step: Step = lambda _: None) -> int:
    """Merge the files of a finished campaign; call it under the lock. Return how many files there were before.

    Args:
        root: warehouse folder.
        campaign_id: a campaign whose history is terminal and projected.
        con: connection to merge with.
        step: called before each step.

    Raises:
        WarehouseError: where the campaign is not finished, or a merged file cannot be written; it is then as it was.
    """
    if is_sealed(root, campaign_id):
        return 0
    last = ledger.last_event(root, campaign_id)
    if last is None or last.type not in ledger.TERMINAL:
        raise WarehouseError(
            f"campaign {campaign_id[:19]}… is not finished: only a finished one never changes. Go on with "
            "`opfield resume`, or end it with `opfield cancel`, then seal it"
        )
    step("prepare")
    remove: list[Path] = []
    merged: list[Path] = []
    for table, order in _ORDER.items():
        old = _data_files(root, table, campaign_id)
        remove += old
        for name, condition in _shares() if old else ():
            target = table_folder(root, table, campaign_id) / name
            _merge(con, old, f"select * from parts where {condition} order by {order}", target)
            merged.append(target)
    old = _data_files(root, "artifacts", campaign_id)
    if len(old) > 1 and sum(path.stat().st_size for path in old) <= MOST_MERGED:
        remove += old
        target = table_folder(root, "artifacts", campaign_id) / "sealed"
        _merge(con, old, "select distinct on (artifact_id) * from parts order by artifact_id", target)
        merged.append(target.with_name(f"{file_digest(_part(target))}.parquet"))
        os.replace(_part(target), _part(merged[-1]))
    slots = ledger.segments(root, campaign_id)
    first = table_folder(root, "events", campaign_id) / segment_name(1)
    _merge(con, slots, "select * from parts order by sequence", first)
    plan = _Plan(
        remove=tuple(relative(root, path) for path in remove),
        merged={relative(root, path): file_digest(_part(path)) for path in merged},
        tombstones=tuple(relative(root, path) for path in slots if path != first),
        ledger={relative(root, first): file_digest(_part(first))},
    )
    step("plan")
    write_bytes(digests_folder(root, campaign_id) / SEAL_PLAN, _plan_bytes(plan))
    finish_seal(root, campaign_id, step)
    return len(remove) + len(slots)


def finish_seal(root: Path, campaign_id: str, step: Step = lambda _: None) -> None:
    """Carry out a planned seal, from wherever it was interrupted; without a plan, remove what a dead one prepared.

    Raises:
        DamageError: where the plan was altered.
    """
    folder = digests_folder(root, campaign_id)
    path = folder / SEAL_PLAN
    if not path.exists():
        for table in (*_ORDER, "artifacts", "events"):
            for part in table_folder(root, table, campaign_id).glob(f"*{_PART}"):
                part.unlink()
        return
    plan = _read_plan(path)
    for name in plan.remove:
        if name not in plan.merged or _part(root / name).exists():
            step(f"remove {name}")
            (root / name).unlink(missing_ok=True)
    _rename(root, plan.merged, step)
    empty = empty_table(arrow_schema("events"))
    for name in plan.tombstones:
        step(f"tombstone {name}")
        target = root / name
        replace(write_temporary(target.parent, lambda out: ledger.write_parquet(empty, out)), target)
    _rename(root, plan.ledger, step)
    records = sorted(folder.glob("[0-9]*.json"))
    if not is_sealed(root, campaign_id):
        step("record")
        kept = {name: value for record in records for name, value in read_digests(record).items()}
        for name in plan.remove:
            kept.pop(name, None)
        tombstones = {name: file_digest(root / name) for name in plan.tombstones}
        write_bytes(folder / SEALED, digests_bytes({**kept, **plan.merged, **tombstones, **plan.ledger}))
    for record in records:
        step(f"forget {record.name}")
        record.unlink()
    step("done")
    path.unlink()
    sync_folder(folder)


def _rename(root: Path, files: Iterable[str], step: Step) -> None:
    for name in files:
        step(f"rename {name}")
        target = root / name
        if _part(target).exists():
            os.replace(_part(target), target)
            sync_folder(target.parent)


def _part(target: Path) -> Path:
    """Return the name of a merged file until it takes its place; no reader's glob matches it."""
    return target.with_name(target.name + _PART)


def _data_files(root: Path, table: str, campaign_id: str) -> list[Path]:
    folder = table_folder(root, table, campaign_id)
    return sorted(path for path in folder.glob("*.parquet") if path.name != FIRST)


def _shares() -> list[tuple[str, str]]:
    """Return file name and condition of each share of a table: the baseline's, then the candidates'."""
    # md5_number_lower gives one value on every DuckDB version, so a share's rows depend on the rows alone.
    return [
        ("sealed-baseline.parquet", "arm = 'baseline'"),
        *(
            (
                f"sealed-{share + 1}.parquet",
                f"arm = 'candidate' and md5_number_lower(case_id) % {CANDIDATE_FILES} = {share}",
            )
            for share in range(CANDIDATE_FILES)
        ),
    ]


def _merge(con: duckdb.DuckDBPyConnection, files: list[Path], query: str, target: Path) -> None:
    """Write what a query gives over `parts`, the rows of some files, beside the final name."""
    listed = ", ".join("'" + glob.escape(str(path)).replace("'", "''") + "'" for path in files)
    parts = f"with parts as (from read_parquet([{listed}], hive_partitioning = false)) "
    copy_query(con, parts + query, _part(target))


def _plan_bytes(plan: _Plan) -> bytes:
    told = asdict(plan)
    return canonical_json({**told, "digest": digest("opfield/seal/v1", canonical_json(told))}) + b"\n"


def _read_plan(path: Path) -> _Plan:
    content = path.read_bytes()
    try:
        told = parse_json(content)
        plan = _Plan(tuple(told["remove"]), told["merged"], tuple(told["tombstones"]), told["ledger"])
        is_intact = content == _plan_bytes(plan)
    except (IdentityError, KeyError, TypeError):
        is_intact = False
    if not is_intact:
        raise DamageError(f"{path} was altered after it was written; put it back from a copy of the warehouse")
    return plan
