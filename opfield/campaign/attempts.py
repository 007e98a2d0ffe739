"""Attempts that did not become cells: an operational record beside the ledger, never authority (DESIGN §5, §9)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opfield.core import Failure, canonical_json, parse_json
from opfield.errors import IdentityError
from opfield.experiment import Coordinate
from opfield.warehouse.durable import make_folder, storage_error
from opfield.warehouse.layout import attempts_file


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a coordinate that ended in a retryable infrastructure failure.

    Attributes:
        coordinate: where it was made.
        attempt: 1 for the first one at the coordinate.
        failure: what went wrong.
        finished_at: UTC, ISO 8601.
    """

    coordinate: Coordinate
    attempt: int
    failure: Failure
    finished_at: str


def record_attempt(root: Path, campaign_id: str, attempt: Attempt) -> None:
    """Append one attempt to the campaign's record.

    Raises:
        WarehouseError: where the file cannot be written.
    """
    told = {
        "candidate_id": attempt.coordinate.candidate_id,
        "arm": attempt.coordinate.arm,
        "case_id": attempt.coordinate.case_id,
        "repeat": attempt.coordinate.repeat,
        "attempt": attempt.attempt,
        "code": attempt.failure.code,
        "message": attempt.failure.message,
        "finished_at": attempt.finished_at,
    }
    path = attempts_file(root, campaign_id)
    try:
        make_folder(path.parent)
        with path.open("ab") as record:
            # The line break comes first: what a crash tore must not take the next line with it.
            record.write(b"\n" + canonical_json({**told, "sum": _sum(told)}))
    except OSError as error:
        raise storage_error(path, error) from error


def read_attempts(root: Path, campaign_id: str) -> tuple[list[Attempt], list[int]]:
    """Return the recorded attempts, and the numbers of the lines that cannot be read (a crash tears one)."""
    attempts: list[Attempt] = []
    torn: list[int] = []
    for number, line in _lines(attempts_file(root, campaign_id)):
        try:
            told = parse_json(line)
            if told.pop("sum") != _sum(told) or canonical_json({**told, "sum": _sum(told)}) != line:
                raise IdentityError("altered")
            coordinate = Coordinate(told["candidate_id"], told["arm"], told["case_id"], told["repeat"])
            failure = Failure(told["code"], told["message"], is_retryable=True)
            attempts.append(Attempt(coordinate, told["attempt"], failure, told["finished_at"]))
        except (IdentityError, KeyError, TypeError, AttributeError):
            torn.append(number)
    return attempts, torn


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return
    yield from ((number, line) for number, line in enumerate(content.split(b"\n"), 1) if line)


def _sum(told: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json(told)).hexdigest()[:16]
