"""Admissions: a bound attempt charges its run's budget, or is refused with what stands in the way.

Binding uses nothing (ADR-0232 §10), so that attempts which fit singly but not together can all be bound. An admission
is decided by the view `admission_checks` under the lock of the boundary's tables, one after the other, and is final.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

from opfield.core import canonical_json
from opfield.core.envelope import envelope_digest
from opfield.errors import DeclarationError
from opfield.warehouse.landing import Envelope, Landing, open_landing
from opfield.warehouse.session import read_rows

ADMISSION_SCHEMA: Final = "opfield.run_admission/v1"
ADMISSION_POLICY_VERSION: Final = "run_admission.v1"

# Of each run, what can be admitted first in the order of landing is admitted, and what cannot be is refused: a budget
# only shrinks, so that it never will be.
_NEXT: Final = """
    select run_id, binding_id, candidates, steps, reason_codes
    from admission_checks
    semi join wanted using (binding_id)
    qualify
        len(reason_codes) > 0
        or row_number() over (partition by run_id, len(reason_codes) = 0 order by landing, position) = 1
    order by landing, position
"""


def decide_admissions(landing: Landing, binding_ids: Collection[str]) -> None:
    """Decide for each of these bindings, in the order in which they landed, and add what is decided to the landing.

    A binding that was decided before keeps its decision.
    """
    import pyarrow as pa

    landing.con.register("wanted", pa.table({"binding_id": pa.array(sorted(binding_ids), pa.string())}))
    while rows := read_rows(landing.con, _NEXT):
        landing.add([_admission(row) for row in rows])
    landing.con.unregister("wanted")


def admit_bindings(root: Path, binding_ids: Collection[str]) -> None:
    """Admit bindings that landed before, all of them or none.

    Raises:
        DeclarationError: where one of them is no binding here, or is refused; nothing was recorded.
        HeldError: where another process keeps writing.
    """
    asked = sorted(set(binding_ids))
    with open_landing(root) as landing:
        known = {
            row["binding_id"]
            for row in read_rows(landing.con, "select binding_id from bindings where outcome = 'bound'")
        }
        for binding_id in asked:
            if binding_id not in known:
                raise DeclarationError(
                    f"{binding_id!r} is no binding of this warehouse; land it with `opfield bind`, or name one of "
                    "`opfield sql \"select binding_id from bindings where outcome = 'bound'\"`"
                )
        decide_admissions(landing, asked)
        refused = [
            row
            for row in read_rows(landing.con, "from admissions where admission = 'refused' order by binding_id")
            if row["binding_id"] in asked
        ]
        if refused:
            why = "; ".join(f"{row['binding_id'][:12]}…: {', '.join(row['reason_codes'])}" for row in refused)
            raise DeclarationError(f"not admitted to the run, so nothing was recorded: {why}")


def _admission(row: dict[str, Any]) -> Envelope:
    payload = canonical_json(
        {
            "admission_policy_version": ADMISSION_POLICY_VERSION,
            "admission": "refused" if row["reason_codes"] else "admitted",
            "original_run_id": row["run_id"],
            "binding_id": row["binding_id"],
            "budget_charge": {"candidates": row["candidates"], "steps": row["steps"]},
            "reason_codes": row["reason_codes"],
        }
    )
    return Envelope(ADMISSION_SCHEMA, payload.decode(), envelope_digest(ADMISSION_SCHEMA, payload), True)
