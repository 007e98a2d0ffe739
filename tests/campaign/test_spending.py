"""What trials spend: a raised failure tells it, a retry does not lose it, and unknown is never zero."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import opfield as of
from opfield.campaign.attempts import Attempt, EarlierAttempts, read_attempts, record_attempt
from opfield.campaign.audit import audit
from opfield.campaign.engine import run
from opfield.campaign.evidence import TrialEvidence, failure_evidence
from opfield.campaign.spending import UNKNOWN, Spending, together
from opfield.core import Failure, Status, canonical_json
from opfield.experiment import Coordinate, DomainFailure, InfrastructureFailure
from opfield.prob import Seed
from opfield.warehouse.layout import attempts_file
from opfield.warehouse.projection import campaigns_on_disk
from opfield.warehouse.session import open_warehouse
from tests.campaign.campaigns import answer, small
from tests.campaign.runners import task_of
from tests.campaign.trials import assert_valid, failure_of, raised

CAMPAIGN = "sha256:" + "0" * 64
HERE = Coordinate("c1", "candidate", "a", 0)
ELSEWHERE = Coordinate("c1", "candidate", "b", 0)
BUSY = Failure("busy", "later", is_retryable=True)


# What a raised failure tells


def spending_of(evidence: TrialEvidence) -> Spending:
    return Spending(evidence.cost_usd, evidence.input_tokens, evidence.output_tokens)


@pytest.mark.parametrize("kind", [DomainFailure, InfrastructureFailure])
def test_a_raised_failure_tells_what_it_spent(kind: Any) -> None:
    evidence = raised(kind("busy", "later", cost_usd=0.25, input_tokens=10, output_tokens=0))
    assert spending_of(evidence) == Spending(0.25, 10, 0)
    assert failure_of(evidence) == Failure("busy", "later")
    assert evidence.artifacts[-1].content is not None
    assert b"Traceback" in evidence.artifacts[-1].content
    assert_valid(evidence)


@pytest.mark.parametrize(
    "error",
    [
        DomainFailure("no_answer"),
        InfrastructureFailure("busy", is_retryable=True),
        ConnectionError("down"),
        ExceptionGroup("two", [DomainFailure("x", cost_usd=0.25), DomainFailure("y", cost_usd=0.5)]),
    ],
)
def test_what_no_failure_tells_is_unknown(error: BaseException) -> None:
    assert spending_of(raised(error)) == UNKNOWN


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"cost_usd": -0.1}, "cost_usd is -0.1"),
        ({"cost_usd": math.nan}, "cost_usd is nan"),
        ({"cost_usd": "free"}, "cost_usd is 'free'"),
        ({"input_tokens": 1.5}, "input_tokens is 1.5"),
        ({"output_tokens": -1}, "output_tokens is -1"),
    ],
)
def test_spending_that_is_none_is_refused_as_in_an_answer(told: Any, said: str) -> None:
    evidence = raised(DomainFailure("no_answer", "it said nothing", **told))
    assert evidence.status is Status.INFRASTRUCTURE_FAILURE
    assert failure_of(evidence).code == "invalid_answer"
    assert said in failure_of(evidence).message
    assert "the runner stated no_answer: it said nothing" in failure_of(evidence).message
    assert spending_of(evidence) == UNKNOWN
    assert_valid(evidence)


class Careless(InfrastructureFailure):
    """Never calls the constructor that it inherits."""

    def __init__(self) -> None:
        self.code, self.message, self.is_retryable = "busy", "later", True


class Broken(DomainFailure):
    """Cannot say what it spent."""

    def __getattribute__(self, name: str) -> Any:
        if name == "input_tokens":
            raise RuntimeError("no count")
        return super().__getattribute__(name)


def test_a_subclass_that_cannot_say_what_it_spent_still_says_what_failed() -> None:
    assert failure_of(raised(Careless())) == BUSY
    evidence = raised(Broken("no_answer", "nothing", cost_usd=0.5, input_tokens=1))
    assert (failure_of(evidence).code, spending_of(evidence)) == ("no_answer", Spending(0.5))


# Sums


@given(st.lists(st.builds(Spending, st.none() | st.floats(0, 1e9), st.none() | st.integers(0, 9), st.integers(0, 9))))
def test_a_sum_is_unknown_where_a_part_is_and_exact_otherwise(parts: list[Spending]) -> None:
    total = together(parts)
    for member in Spending._fields:
        amounts = [getattr(part, member) for part in parts]
        assert getattr(total, member) == (None if None in amounts else math.fsum(amounts))
    assert together(reversed(parts)) == total


def test_a_sum_that_the_ledger_cannot_hold_is_unknown() -> None:
    most = Spending(1e100, 2**53 - 1, 1)
    assert together([most]) == most
    assert together([most, Spending(1e90, 1, 1)]) == Spending(None, None, 2)
    canonical_json(together([most, most])._asdict())


# Attempts at a coordinate


def attempt(number: int, spent: Spending, coordinate: Coordinate = HERE) -> Attempt:
    return Attempt(coordinate, number, BUSY, "2026-01-01T00:00:00Z", spent)


def accepted(number: int, spent: Spending) -> TrialEvidence:
    told = failure_evidence(task_of(attempt=number), Failure("quota", "used up"))
    changes = {"coordinate": HERE, "duration_s": 1.5, **spent._asdict()}
    return TrialEvidence(**{**{name: getattr(told, name) for name in TrialEvidence.__slots__}, **changes})


@pytest.mark.parametrize("spent", [Spending(0.25, 10, 0), Spending(1.0, None, 7), UNKNOWN])
def test_the_record_keeps_what_an_attempt_spent(tmp_path: Path, spent: Spending) -> None:
    record_attempt(tmp_path, CAMPAIGN, attempt(1, spent))
    (found,), torn = read_attempts(tmp_path, CAMPAIGN)
    assert (found, torn) == (attempt(1, spent), [])
    assert found.spent.cost_usd is None or type(found.spent.cost_usd) is float


def test_a_record_that_never_asked_for_spending_leaves_it_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Spending, "_asdict", lambda _: {})
    record_attempt(tmp_path, CAMPAIGN, attempt(1, Spending(0.25, 10, 0)))
    assert read_attempts(tmp_path, CAMPAIGN) == ([attempt(1, UNKNOWN)], [])


def test_a_cell_answers_for_every_attempt_at_its_coordinate() -> None:
    earlier = EarlierAttempts([attempt(1, Spending(0.25, 10, 1)), attempt(1, Spending(9.0), ELSEWHERE)], is_whole=True)
    earlier.add(attempt(2, Spending(0.5, 20, 2)))
    charged = earlier.charged_to(accepted(3, Spending(1.0, 40, 4)))
    assert spending_of(charged) == Spending(1.75, 70, 7)  # 0.25 + 0.5 + 1, 10 + 20 + 40, 1 + 2 + 4
    assert charged.duration_s == 1.5
    assert earlier.spent(HERE, 2) == Spending(0.75, 30, 3)


def test_a_first_attempt_answers_for_itself() -> None:
    evidence = accepted(1, Spending(1.0, 40, 4))
    assert EarlierAttempts([attempt(1, UNKNOWN, ELSEWHERE)], is_whole=True).charged_to(evidence) == evidence


@pytest.mark.parametrize(
    ("recorded", "is_whole", "expected"),
    [
        ([attempt(1, UNKNOWN)], True, UNKNOWN),
        ([attempt(1, Spending(0.25, None, 1))], True, Spending(1.25, None, 5)),
        ([], True, UNKNOWN),  # the first attempt is on no record
        ([attempt(1, Spending(0.25, 10, 1))], False, UNKNOWN),  # a line that cannot be read may be of this coordinate
    ],
)
def test_what_one_attempt_does_not_know_the_cell_does_not(recorded: Any, is_whole: bool, expected: Any) -> None:
    charged = EarlierAttempts(recorded, is_whole=is_whole).charged_to(accepted(2, Spending(1.0, 40, 4)))
    assert spending_of(charged) == expected


def test_after_a_line_that_cannot_be_read_even_a_first_attempt_is_unknown() -> None:
    assert spending_of(EarlierAttempts([], is_whole=False).charged_to(accepted(1, Spending(1.0)))) == UNKNOWN


# Campaigns


def flaky(trial: of.TrialRequest) -> of.TrialResult:
    """On case b the provider is busy two times, and charges for it; on case c it does not say what for."""
    if trial.coordinate.case_id == "b" and trial.attempt < 3:
        spent: dict[str, Any] = {"cost_usd": 0.25 * trial.attempt, "input_tokens": 10, "output_tokens": 1}
        raise of.InfrastructureFailure("busy", is_retryable=True, **spent)
    if trial.coordinate.case_id == "c" and trial.attempt < 2:
        raise ConnectionError("reset")
    return of.TrialResult(answer(trial), cost_usd=1.0, input_tokens=20, output_tokens=2)


def busy(trial: of.TrialRequest) -> of.TrialResult:
    """Answers, rather than raises, that the provider was busy, the first time on case b."""
    if trial.coordinate.case_id == "b" and trial.attempt == 1:
        return of.TrialResult(status=Status.INFRASTRUCTURE_FAILURE, failure=BUSY, cost_usd=0.5)
    return of.TrialResult(answer(trial), cost_usd=1.0)


def limits(attempts: int) -> of.Limits:
    return of.Limits(attempts=attempts, backoff_s=0.001, pause_after=50)


def told(root: Path) -> list[tuple[Any, ...]]:
    """Return what cells tell, by case."""
    query = (
        "select distinct case_id, attempts, cost_usd, input_tokens, output_tokens from cells where status = 'success' "
        "order by all"
    )
    return [tuple(row.values()) for row in open_warehouse(root, is_snapshot=True).rows(query)]


EVERY_ATTEMPT = [
    ("a", 1, 1.0, 20, 2),
    ("b", 3, 1.75, 40, 4),  # 0.25 + 0.5 + 1, 10 + 10 + 20, 1 + 1 + 2
    ("c", 2, None, None, None),
]


def test_a_retried_cell_tells_what_all_its_attempts_spent(tmp_path: Path) -> None:
    assert run(small(run=flaky, limits=limits(3), repeats=1), tmp_path, executor="inline").state == "completed"
    assert told(tmp_path) == EVERY_ATTEMPT
    assert audit(tmp_path).findings == ()


def test_spending_is_remembered_from_one_opening_to_the_next(tmp_path: Path) -> None:
    declared = small(run=flaky, limits=limits(1), repeats=1, seed_root=Seed(7))
    states = [run(declared, tmp_path, executor="inline").state for _ in range(3)]
    assert states == ["pending", "pending", "completed"]
    assert told(tmp_path) == EVERY_ATTEMPT


def test_a_torn_record_leaves_the_cells_still_to_come_unknown(tmp_path: Path) -> None:
    declared = small(run=flaky, limits=limits(2), repeats=1, seed_root=Seed(7))
    assert run(declared, tmp_path, executor="inline").state == "pending"
    path = attempts_file(tmp_path, campaigns_on_disk(tmp_path)[0])
    path.write_bytes(path.read_bytes()[:-9])
    assert run(declared, tmp_path, executor="inline").state == "completed"
    found = told(tmp_path)
    assert found[0] == EVERY_ATTEMPT[0]
    assert {row[2:] for row in found if row[0] == "b"} == {(None, None, None)}


def test_a_retryable_answer_is_charged_like_a_raised_failure(tmp_path: Path) -> None:
    run(small(run=busy, limits=limits(2), repeats=1), tmp_path, executor="inline")
    assert [row[:3] for row in told(tmp_path)] == [("a", 1, 1.0), ("b", 2, 1.5), ("c", 1, 1.0)]
