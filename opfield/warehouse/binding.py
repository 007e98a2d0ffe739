"""Binding what stands in files: runs and operator results as JSON lines, paired by the run that a result names.

The boundary itself reads and writes nothing; this is the caller that lands what it returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from opfield.core import canonical_json, parse_json
from opfield.core.envelope import envelope_digest
from opfield.errors import IdentityError, OpfieldError, unknown_name
from opfield.practice import (
    SCHEMAS,
    CandidateOperatorResult,
    GeometricSearchRun,
    as_json,
    bind_operator_result,
    is_valid,
    record_from,
)
from opfield.warehouse.admission import decide_admissions
from opfield.warehouse.contract import load_practice_contract, projection_query
from opfield.warehouse.landing import Envelope, Landing, open_landing
from opfield.warehouse.session import read_rows

#: Longest line that is read, in bytes.
LONGEST_LINE: Final = 64 * 2**20

_READ: Final[dict[str, Any]] = {SCHEMAS[kind]: kind for kind in (GeometricSearchRun, CandidateOperatorResult)}
#: Operator results that are bound before what came of them is added to the landing.
BATCH: Final = 10_000

_MEMBERS: Final = {"schema", "payload"}

#: Told after each operator result that was bound or refused.
Told = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Handed:
    """A record as it was handed over.

    Attributes:
        envelope: its envelope.
        kind: class of the record that its schema asks for.
        run_id: run that it claims to be, or to be made for; None where it claims none.
        place: file and line that it was read from, or that it stood in the warehouse.
    """

    envelope: Envelope
    kind: Any
    run_id: str | None
    place: str

    @property
    def record(self) -> object:
        """What the payload says, checked by whoever takes it; built anew each time, since many are kept at once."""
        return record_from(self.kind, parse_json(self.envelope.payload))


def read_handed(paths: Iterable[Path]) -> Iterator[Handed]:
    """Read runs and operator results: one envelope {schema, payload} a line, with or without its digest.

    Raises:
        OpfieldError: naming the line that is no such envelope, or whose digest is not that of its content.
    """
    for path in paths:
        try:
            with path.open("rb") as lines:
                yield from (_handed(line, f"{path}:{number}") for number, line in _numbered(lines, path))
        except OSError as error:
            raise OpfieldError(f"{path} cannot be read: {error.strerror}; name a file of JSON lines") from None


def bind_handed(root: Path, handed: Iterable[Handed], *, is_admitting: bool, told: Told) -> list[dict[str, Any]]:
    """Bind or refuse each operator result, land all that is new, and return the rows of `bindings` in their order.

    Args:
        root: a warehouse folder that stands.
        handed: runs and operator results, in any order.
        is_admitting: also ask for each binding to be admitted to its run.
        told: called after each operator result.

    Returns:
        The rows of this call's pairs, new or not, each with its `admission` and `admission_reasons`; NULL where nobody
        asked.
    """
    listed = list(handed)
    with open_landing(root) as landing:
        results = _settled(
            landing, "operator_results", [each for each in listed if each.kind is CandidateOperatorResult]
        )
        runs = _settled(landing, "runs", [each for each in listed if each.kind is GeometricSearchRun])
        of_id: dict[str | None, list[tuple[str, object]]] = {}
        known = {each.run_id for each in runs if each.envelope.is_valid}
        for each in (*runs, *_landed_runs(landing, {each.run_id for each in results} - known)):
            of_id.setdefault(each.run_id, []).append((each.envelope.digest, each.record))
        landing.add([each.envelope for each in runs])
        landing.con.execute("create temp table asked (row_key varchar)")
        projected = projection_query(load_practice_contract()["bindings"])
        for first in range(0, len(results), BATCH):
            outcomes: list[Envelope] = []
            for each in results[first : first + BATCH]:
                found = of_id.get(each.run_id, ()) if each.run_id is not None else ()
                outcomes += _outcomes(found or ((None, None),), each)
                told()
            landing.add([*(each.envelope for each in results[first : first + BATCH]), *outcomes])
            landing.con.execute(f"insert into asked select row_key from ({projected})")
        if is_admitting:
            decide_admissions(landing, [row["binding_id"] for row in _rows(landing) if row["outcome"] == "bound"])
        return _rows(landing)


def _numbered(lines: Any, path: Path) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := lines.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise OpfieldError(f"{path}:{number} is longer than {LONGEST_LINE:,} bytes; write one record a line")
        if line.strip():
            yield number, line


def _handed(line: bytes, place: str) -> Handed:
    try:
        told = parse_json(line.strip())
        if not isinstance(told, dict) or told.keys() - {"digest"} != _MEMBERS:
            raise OpfieldError("it is no JSON object with the members schema and payload, and digest or not")
        schema, payload = told["schema"], told["payload"]
        if not isinstance(schema, str) or schema not in _READ:
            raise unknown_name("schema", str(schema)[:100], _READ)
        canonical = canonical_json(payload)
    except OpfieldError as error:
        raise OpfieldError(f"{place} cannot be read: {error}") from None
    # Judged in the form in which it is kept: a whole number written as 2.0 is 2.
    payload = parse_json(canonical)
    digest = envelope_digest(schema, canonical)
    if told.get("digest", digest) != digest:
        raise IdentityError(f"{place} bears digest {told['digest']!r}, its content has {digest}; it was altered")
    kind = _READ[schema]
    name = "run_id" if kind is GeometricSearchRun else "geometric_search_run_id"
    claimed = payload.get(name) if isinstance(payload, dict) else None
    return Handed(
        Envelope(schema, canonical.decode(), digest, is_valid(kind, record_from(kind, payload))),
        kind,
        claimed if isinstance(claimed, str) else None,
        place,
    )


def _settled(landing: Landing, table: str, handed: Iterable[Handed]) -> list[Handed]:
    """Return the records as they stand or will stand in a table: of several with one identity, the one that came first.

    Such records differ in their explanation alone. What is not valid has no identity but its digest.
    """
    import pyarrow as pa

    keyed = {_row_key(each): each for each in reversed(list(handed))}
    landing.con.register("keyed", pa.table({"row_key": pa.array(list(keyed), pa.string())}))
    landed = read_rows(
        landing.con, f"select row_key, payload, digest, is_valid from {table} semi join keyed using (row_key)"
    )
    landing.con.unregister("keyed")
    for row in landed:
        stood = keyed[row["row_key"]]
        if row["digest"] != stood.envelope.digest:
            keyed[row["row_key"]] = _stood(stood.kind, row, stood.run_id)
    return list(reversed(keyed.values()))


def _row_key(handed: Handed) -> str:
    """Return the key of the row that a run or operator result will have, as the contract's projections give it."""
    return next(iter(as_json(handed.record).values())) if handed.envelope.is_valid else handed.envelope.digest


def _landed_runs(landing: Landing, run_ids: set[str | None]) -> list[Handed]:
    """Return the runs among these that landed before."""
    import pyarrow as pa

    missing = sorted(each for each in run_ids if each is not None)
    landing.con.register("missing", pa.table({"run_id": pa.array(missing, pa.string())}))
    rows = read_rows(landing.con, "select run_id, payload, digest, is_valid from runs semi join missing using (run_id)")
    landing.con.unregister("missing")
    return [_stood(GeometricSearchRun, row, row["run_id"]) for row in rows]


def _stood(kind: Any, row: dict[str, Any], run_id: str | None) -> Handed:
    """Return a record that landed before as if it were handed over."""
    envelope = Envelope(SCHEMAS[kind], row["payload"], row["digest"], row["is_valid"])
    return Handed(envelope, kind, run_id, "landed before")


def _outcomes(runs: Iterable[tuple[str | None, object]], result: Handed) -> Iterator[Envelope]:
    """Yield what comes of a result with each of these runs, which stand beside the digests of their envelopes."""
    record = result.record
    for run_digest, run in runs:
        outcome = bind_operator_result(run, record)
        schema, payload = SCHEMAS[type(outcome)], canonical_json(as_json(outcome))
        digest = envelope_digest(schema, payload)
        yield Envelope(schema, payload.decode(), digest, True, run_digest, result.envelope.digest)


def _rows(landing: Landing) -> list[dict[str, Any]]:
    """Return the rows of the pairs that are asked about, landed now or before."""
    return read_rows(
        landing.con,
        """
        select
            bindings.outcome,
            bindings.binding_id,
            bindings.binding_refusal_id,
            bindings.run_id,
            bindings.operator_result_id,
            bindings.attempt_index,
            bindings.reason_codes,
            admissions.admission,
            admissions.reason_codes as admission_reasons,
        from bindings
        semi join asked using (row_key)
        left join admissions using (binding_id)
        order by bindings.landing, bindings.position
        """,
    )
