"""Sealing: a finished campaign's many small files merged into a few sorted ones (DESIGN §5).

Merged files are prepared under names that no reader's glob matches. Then a plan is made durable, and from there on every
step can be repeated: first the old files go, then the merged ones take their names, so that a concurrent reader may
see too little for a moment, which the views report as not whole, and never too much. The slots of the ledger keep
zero-row tombstones, since a slot that was ever published must never be published again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb

from opfield.core import canonical_json, digest, parse_json
from opfield.errors import DamageError, IdentityError, WarehouseError
from opfield.warehouse import ledger
from opfield.warehouse.contract import arrow_schema
from opfield.warehouse.durable import replace, sync_folder, write_bytes, write_temporary
from opfield.warehouse.layout import FIRST, SEALED, digests_folder, relative, segment_name, table_folder
from opfield.warehouse.projection import digests_bytes, file_digest

_PART: Final = ".part"
_PLAN: Final = "seal-plan.json"

#: How many files hold the candidates' rows, so that every core of a small machine has one to read.
CANDIDATE_FILES: Final = 2

_ORDER: Final = {
    "cells": "case_id, repeat, candidate_id, sequence",
    "measurements": "metric, case_id, repeat, candidate_id",
}

#: Called with the name of each step before it is taken; tests stop there.
Step = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a seal will do: files that go, files that come, slots that stay taken."""

    remove: tuple[str, ...]
    rename: dict[str, str]
    tombstones: tuple[str, ...]
    digests: dict[str, str]


def is_sealed(root: Path, campaign_id: str) -> bool:
    """Return whether a campaign was sealed."""
    return (digests_folder(root, campaign_id) / SEALED).exists()


def seal_campaign(
    root: Path, campaign_id: str, con: duckdb.DuckDBPyConnection, step: Step = lambda name: None
) -> int:
    """Merge the files of a finished campaign; call it under the lock. Return how many files there were before.

    Args:
        root: warehouse folder.
        campaign_id: a campaign whose history is terminal and projected.
        con: connection to merge with.
        step: called before each step.

    Raises:
        WarehouseError: where a merged file cannot be written; the campaign is then as it was.
    """
    if is_sealed(root, campaign_id):
        return 0
    remove: list[Path] = []
    rename: dict[str, str] = {}
    step("prepare")
    for table, order in _ORDER.items():
        old = _data_files(root, table, campaign_id)
        remove += old
        if old:
            for name, condition in _shares():
                target = table_folder(root, table, campaign_id) / name
                _merge(con, old, condition, order, target)
                rename[relative(root, target) + _PART] = relative(root, target)
    old = _data_files(root, "artifacts", campaign_id)
    if len(old) > 1:
        remove += old
        target = table_folder(root, "artifacts", campaign_id) / "sealed.parquet"
        _merge(con, old, "true", "artifact_id", target, distinct_on="artifact_id")
        part = target.with_name(target.name + _PART)
        target = target.with_name(f"{file_digest(part)}.parquet")
        rename[relative(root, part)] = relative(root, target)
    slots = ledger.segments(root, campaign_id)
    first = table_folder(root, "events", campaign_id) / segment_name(1)
    _merge(con, slots, "true", "sequence", first)
    rename[relative(root, first) + _PART] = relative(root, first)
    plan = _Plan(
        tuple(relative(root, path) for path in remove),
        rename,
        tuple(relative(root, path) for path in slots if path != first),
        {final: file_digest(root / part) for part, final in rename.items()},
    )
    step("plan")
    write_bytes(digests_folder(root, campaign_id) / _PLAN, _plan_bytes(plan))
    finish_seal(root, campaign_id, step)
    return len(remove) + len(slots)


def finish_seal(root: Path, campaign_id: str, step: Step = lambda name: None) -> None:
    """Carry out a planned seal, from wherever it was interrupted; without a plan, remove what a dead one prepared.

    Raises:
        DamageError: where the plan was altered.
    """
    folder = digests_folder(root, campaign_id)
    path = folder / _PLAN
    if not path.exists():
        for table in (*_ORDER, "artifacts", "events"):
            for part in table_folder(root, table, campaign_id).glob(f"*{_PART}"):
                part.unlink()
        return
    plan = _read_plan(path)
    for name in plan.remove:
        step(f"remove {name}")
        (root / name).unlink(missing_ok=True)
    empty = arrow_schema("events").empty_table()
    for name in plan.tombstones:
        step(f"tombstone {name}")
        target = root / name
        replace(write_temporary(target.parent, lambda out: ledger.write_parquet(empty, out)), target)
    for part, final in plan.rename.items():
        step(f"rename {final}")
        if (root / part).exists():
            os.replace(root / part, root / final)
            sync_folder((root / final).parent)
    step("record")
    records = [each for each in folder.glob("[0-9]*.json")]
    kept = _kept_files(root, plan, records)
    tombstones = {name: file_digest(root / name) for name in plan.tombstones}
    write_bytes(folder / SEALED, digests_bytes({**kept, **plan.digests, **tombstones}))
    step("forget")
    for record in records:
        record.unlink(missing_ok=True)
    path.unlink()
    sync_folder(folder)


def _kept_files(root: Path, plan: _Plan, records: list[Path]) -> dict[str, str]:
    """Return the digests of files that the seal leaves as they are, from the segments' records."""
    gone = {*plan.remove, *plan.tombstones, *plan.digests}
    kept: dict[str, str] = {}
    for record in records:
        try:
            kept.update(parse_json(record.read_bytes())["files"])
        except (IdentityError, KeyError, TypeError, ValueError):
            raise DamageError(f"{record} was altered after it was written") from None
    return {name: value for name, value in kept.items() if name not in gone and (root / name).exists()}


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


def _merge(
    con: duckdb.DuckDBPyConnection,
    files: list[Path],
    condition: str,
    order: str,
    target: Path,
    distinct_on: str = "",
) -> None:
    """Write the chosen rows of some files, sorted, beside their final name."""
    listed = ", ".join("'" + str(path).replace("'", "''") + "'" for path in files)
    distinct = f"distinct on ({distinct_on})" if distinct_on else ""
    query = (
        f"select {distinct} * from read_parquet([{listed}], hive_partitioning = false) "
        f"where {condition} order by {order}"
    )

    def fill(temporary: Path) -> None:
        quoted = str(temporary).replace("'", "''")
        try:
            con.execute(f"copy ({query}) to '{quoted}' (format parquet, compression zstd)")
        except duckdb.IOException as error:
            raise WarehouseError(f"cannot merge into {target}: {error}; the campaign is as it was") from error

    replace(write_temporary(target.parent, fill), target.with_name(target.name + _PART))


def _plan_bytes(plan: _Plan) -> bytes:
    told: dict[str, Any] = {
        "remove": list(plan.remove),
        "rename": plan.rename,
        "tombstones": list(plan.tombstones),
        "digests": plan.digests,
    }
    return canonical_json({**told, "digest": digest("opfield/seal/v1", canonical_json(told))}) + b"\n"


def _read_plan(path: Path) -> _Plan:
    content = path.read_bytes()
    try:
        told = parse_json(content)
        plan = _Plan(tuple(told["remove"]), told["rename"], tuple(told["tombstones"]), told["digests"])
    except (IdentityError, KeyError, TypeError):
        raise DamageError(f"{path} is no plan of a seal any more") from None
    if content != _plan_bytes(plan):
        raise DamageError(f"{path} was altered after it was written")
    return plan
