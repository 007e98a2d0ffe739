"""Attempts that did not become cells: an operational record beside the ledger, never authority (DESIGN §5, §9)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from opfield.campaign.evidence import TrialEvidence
from opfield.campaign.spending import UNKNOWN, Spending, together
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
        spent: what it alone spent, as far as the runner said.
    """

    coordinate: Coordinate
    attempt: int
    failure: Failure
    finished_at: str
    spent: Spending = UNKNOWN


class EarlierAttempts:
    """What was spent at each coordinate by the attempts that did not become its cell.

    A cell answers for all attempts at its coordinate, so that no retry makes a campaign look cheaper than it was. What
    is on no record is not seen: a trial whose process was stopped before its cell was durable, or a line of the record
    that a power failure took as a whole.
    """

    def __init__(self, recorded: Iterable[Attempt], *, is_whole: bool) -> None:
        """Start from what is on record.

        Args:
            recorded: attempts, as `read_attempts` gives them.
            is_whole: whether every line could be read; one that cannot may be any coordinate's, so that no pending
                coordinate then knows what it spent.
        """
        self._is_whole = is_whole
        self._spent: dict[Coordinate, list[Spending]] = {}
        for attempt in recorded:
            self.add(attempt)

    def add(self, attempt: Attempt) -> None:
        """Count one attempt more."""
        self._spent.setdefault(attempt.coordinate, []).append(attempt.spent)

    def spent(self, coordinate: Coordinate, attempts: int) -> Spending:
        """Return what the first `attempts` attempts at a coordinate spent; unknown where they are not all on record."""
        return together(self._parts(coordinate, attempts))

    def charged_to(self, evidence: TrialEvidence) -> TrialEvidence:
        """Return the evidence of an accepted attempt with the spending of all attempts; its duration stays its own."""
        parts = self._parts(evidence.coordinate, evidence.attempt - 1)
        if not parts:
            return evidence
        own = Spending(evidence.cost_usd, evidence.input_tokens, evidence.output_tokens)
        return replace(evidence, **together([*parts, own])._asdict())

    def _parts(self, coordinate: Coordinate, attempts: int) -> list[Spending]:
        parts = self._spent.get(coordinate, [])
        return parts if self._is_whole and len(parts) == attempts else [UNKNOWN]


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
        **attempt.spent._asdict(),
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
            attempts.append(Attempt(coordinate, told["attempt"], failure, told["finished_at"], _spent(told)))
        except (IdentityError, KeyError, TypeError, AttributeError):
            torn.append(number)
    return attempts, torn


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return
    yield from ((number, line) for number, line in enumerate(content.split(b"\n"), 1) if line)


def _spent(told: dict[str, Any]) -> Spending:
    # A record of a version that did not ask for spending has none of these members.
    cost = told.get("cost_usd")
    return Spending(None if cost is None else float(cost), told.get("input_tokens"), told.get("output_tokens"))


def _sum(told: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json(told)).hexdigest()[:16]
