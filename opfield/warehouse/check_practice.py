"""Auditing the run-binding boundary: every landed file, envelope and identity verified, every pair bound again.

What follows from the landings is recomputed: the tables by the contract's SQL, the outcomes by the boundary itself, the
laws of admission by `broken_memberships`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import duckdb

from opfield.core import canonical_json, parse_json
from opfield.core.envelope import envelope_digest
from opfield.errors import OpfieldError
from opfield.practice import (
    SCHEMAS,
    CandidateAttemptRunBinding,
    CandidateAttemptRunBindingRefusal,
    CandidateOperatorResult,
    GeometricSearchRun,
    as_json,
    bind_operator_result,
    is_valid,
    record_from,
)
from opfield.warehouse.admission import ADMISSION_SCHEMA
from opfield.warehouse.contract import PRACTICE_TABLE_NAMES, load_practice_contract, projection_query
from opfield.warehouse.files import Finding
from opfield.warehouse.landing import landed_query, landing_file, landing_numbers, landing_record
from opfield.warehouse.layout import EMPTY, LANDINGS, PRACTICE, relative
from opfield.warehouse.projection import file_digest, read_digests
from opfield.warehouse.session import Warehouse, read_rows

_KINDS: Final[dict[str, Any]] = {
    SCHEMAS[kind]: kind
    for kind in (
        GeometricSearchRun,
        CandidateOperatorResult,
        CandidateAttemptRunBinding,
        CandidateAttemptRunBindingRefusal,
    )
}
_LAWS: Final = "from broken_memberships order by all limit 20"
_BATCH: Final = 1_000

_PAIRS: Final = """
    select
        bindings.row_key,
        bindings.payload,
        runs.payload as run,
        operator_results.payload as operator_result,
    from bindings
    left join runs on bindings.run_digest = runs.digest
    left join operator_results on bindings.operator_result_digest = operator_results.digest
"""


def check_practice(root: Path) -> list[Finding]:
    """Return what is not as it landed; nothing where nothing ever landed."""
    numbers = landing_numbers(root)
    found = [*_check_files(root, numbers)]
    if not numbers or found:
        # Nothing can be recomputed from files that are not what was written.
        return found
    folder = f"{PRACTICE}/{LANDINGS}"
    try:
        with closing(Warehouse(root).connection(_LAWS)) as con:
            con.execute(
                "create temp table landed as " + " union all ".join(landed_query(root, each) for each in numbers)
            )
            for check in (_check_envelopes, _check_tables, _check_outcomes, _check_laws):
                found += check(con)
    except (OpfieldError, duckdb.Error) as error:
        found.append(Finding(folder, "unreadable", str(error)))
    return found


def _check_files(root: Path, numbers: list[int]) -> Iterator[Finding]:
    """Check the files of every landing against the digests recorded when they were written, and for any besides."""
    known = {f"{PRACTICE}/{table}/{EMPTY}" for table in PRACTICE_TABLE_NAMES}
    if numbers != list(range(1, len(numbers) + 1)):
        yield Finding(
            f"{PRACTICE}/{LANDINGS}", "gap", f"landings are counted from 1 without a gap, but {numbers} stand"
        )
    for number in numbers:
        record = landing_record(root, number)
        known |= {relative(root, record), relative(root, landing_file(root, number))}
        try:
            digests = read_digests(record)
        except FileNotFoundError:
            digests = {}
            yield Finding(relative(root, record), "projection", "not projected yet; the next `opfield bind` catches up")
        except (OpfieldError, OSError) as error:
            digests = {}
            yield Finding(relative(root, record), "digests", str(error))
        known |= digests.keys()
        for name, expected in digests.items():
            try:
                is_as_written = file_digest(root / name) == expected
            except OSError as error:
                yield Finding(name, "missing", f"it landed and is gone ({error.strerror}); put it back from a copy")
            else:
                if not is_as_written:
                    yield Finding(name, "altered", "its bytes are not those that landed; put it back from a copy")
    for path in sorted((root / PRACTICE).rglob("*")):
        name = relative(root, path)
        if path.is_file() and not path.name.startswith(".") and name not in known:
            yield Finding(name, "unexpected", "no landing names this file; remove it")


def _check_envelopes(con: duckdb.DuckDBPyConnection) -> Iterator[Finding]:
    """Recompute each envelope's digest, and what is told of its record."""
    cursor = con.execute("select schema, payload, digest, is_valid, landing, position from landed")
    while rows := cursor.fetchmany(_BATCH):
        for schema, payload, digest, valid, landing, position in rows:
            told = parse_json(payload)
            kind = _KINDS.get(schema)
            is_whole = envelope_digest(schema, payload.encode()) == digest and canonical_json(told) == payload.encode()
            is_known = schema == ADMISSION_SCHEMA or kind is not None
            if not is_whole or not is_known or (kind is not None and valid != is_valid(kind, record_from(kind, told))):
                yield Finding(
                    f"{PRACTICE}/{LANDINGS}", "envelope", f"record {position} of landing {landing} is not itself"
                )


def _check_tables(con: duckdb.DuckDBPyConnection) -> Iterator[Finding]:
    """Project every landing again and compare the rows with those of the tables, both ways."""
    for table, contract in load_practice_contract().items():
        columns = ", ".join(column.name for column in contract.columns)
        expected = f"select {columns} from ({projection_query(contract)})"
        for law, left, right in (("missing", expected, f"from {table}"), ("unexpected", f"from {table}", expected)):
            (count,) = con.execute(f"select count(*) from (({left}) except all ({right}))").fetchall()[0]
            if count:
                yield Finding(f"{PRACTICE}/{table}", law, f"{count} rows are not those that the landings yield")


def _check_outcomes(con: duckdb.DuckDBPyConnection) -> Iterator[Finding]:
    """Bind every pair again and compare the outcome with what landed."""
    cursor = con.execute(_PAIRS)
    while rows := cursor.fetchmany(_BATCH):
        for row_key, payload, run, result in rows:
            outcome = bind_operator_result(_record(GeometricSearchRun, run), _record(CandidateOperatorResult, result))
            if canonical_json(as_json(outcome)) != payload.encode():
                detail = f"{row_key} is not what binding the pair again gives"
                yield Finding(f"{PRACTICE}/bindings", "outcome", detail)


def _record(kind: Any, payload: str | None) -> object:
    return None if payload is None else record_from(kind, parse_json(payload))


def _check_laws(con: duckdb.DuckDBPyConnection) -> Iterator[Finding]:
    """Read the audit view, which states the laws between the records in SQL."""
    for row in read_rows(con, _LAWS):
        yield Finding(f"{PRACTICE}/{row['relation']}", row["law"], row["row_key"])
