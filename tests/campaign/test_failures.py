"""Failures: what an exception means, and how its words are kept."""

from __future__ import annotations

import asyncio
import errno
import re
import threading
from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.campaign.boundary import run_trial
from opfield.campaign.evidence import TrialEvidence
from opfield.campaign.failures import printable
from opfield.core import Failure, Status
from opfield.experiment import DomainFailure, InfrastructureFailure, TrialRequest, TrialResult
from tests.campaign import runners
from tests.campaign.runners import context_of, task_of
from tests.campaign.trials import answer, assert_valid, failure_of, raised, scalars


class RateLimitError(Exception):
    pass


class SomeError(Exception):
    pass


class ReadTimeout(SomeError):  # noqa: N818 - the name that a client library gives it
    pass


class HTTPStatusError(Exception):
    def __init__(self, status: Any) -> None:
        super().__init__(f"status {status}")
        self.response = type("Response", (), {"status_code": status})()


class StatusError(Exception):
    def __init__(self, status: Any) -> None:
        super().__init__(f"status {status}")
        self.status_code = status


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")

    @property
    def status_code(self) -> int:
        raise RuntimeError("no status")


class Hollow(DomainFailure):
    @property
    def code(self) -> str:
        raise RuntimeError("no code")

    @code.setter
    def code(self, value: str) -> None:
        pass


@pytest.mark.parametrize(
    ("error", "code", "is_retryable"),
    [
        (TimeoutError(), "timeout", True),
        (ReadTimeout(), "timeout", True),
        (StatusError(408), "timeout", True),
        (ConnectionRefusedError(), "connection", True),
        (BrokenPipeError(), "connection", True),
        (OSError(errno.EHOSTUNREACH, "no route"), "connection", True),
        (OSError(errno.ENOENT, "no file"), "file_not_found_error", False),
        (RateLimitError(), "rate_limit", True),
        (StatusError(429), "rate_limit", True),
        (StatusError(409), "server_error", True),
        (HTTPStatusError(503), "server_error", True),
        (HTTPStatusError(401), "http_status_error", False),
        (StatusError("503"), "status_error", False),
        (InfrastructureFailure("quota", "used up"), "quota", False),
        (InfrastructureFailure("busy", "later", is_retryable=True), "busy", True),
        (InfrastructureFailure("busy", "later", is_retryable="yes"), "busy", False),  # type: ignore[arg-type]
        (MemoryError(), "memory_error", False),
        (RecursionError("too deep"), "recursion_error", False),
        (SystemExit(0), "system_exit", False),
        (GeneratorExit(), "generator_exit", False),
        (asyncio.CancelledError(), "cancelled_error", False),
        (MuteError(), "mute_error", False),
        (Hollow("odd"), "hollow", False),
        (ExceptionGroup("two", [ConnectionResetError(), TimeoutError()]), "connection", True),
        (ExceptionGroup("two", [ConnectionResetError(), ExceptionGroup("in", [KeyError("x")])]), "key_error", False),
        (BaseExceptionGroup("one", [KeyboardInterrupt()]), "keyboard_interrupt", False),
    ],
)  # fmt: skip
def test_what_a_runner_raises_is_an_infrastructure_failure(error: BaseException, code: str, is_retryable: bool) -> None:
    evidence = raised(error)
    assert evidence.status is Status.INFRASTRUCTURE_FAILURE
    assert failure_of(evidence).code == code
    assert failure_of(evidence).is_retryable is is_retryable
    assert_valid(evidence)


def test_a_domain_failure_is_evidence_against_the_arm() -> None:
    evidence = raised(DomainFailure("no_answer", "the system gave none"))
    assert evidence.status is Status.DOMAIN_FAILURE
    assert failure_of(evidence) == Failure("no_answer", "the system gave none")
    assert raised(ExceptionGroup("g", [DomainFailure("x")])).status is Status.DOMAIN_FAILURE


def test_ctrl_c_passes_on_in_the_main_thread_only() -> None:
    with pytest.raises(KeyboardInterrupt):
        run_trial(context_of(runners.interrupting), task_of())
    found: list[TrialEvidence] = []
    thread = threading.Thread(target=lambda: found.append(run_trial(context_of(runners.interrupting), task_of())))
    thread.start()
    thread.join()
    assert failure_of(found[0]).code == "keyboard_interrupt"


def test_the_traceback_is_retained_and_is_the_evidence_where_the_runner_left_none() -> None:
    evidence = run_trial(context_of(runners.raising), task_of(3))
    (artifact,) = evidence.artifacts
    assert artifact.artifact_id == evidence.artifact_id
    assert (artifact.media_type, artifact.schema) == ("text/plain", "opfield.failure/v1")
    text = (artifact.content or b"").decode()
    assert "ValueError: bad input in case 3" in text
    assert "in raising" in text
    assert "in run_trial" not in text


def test_what_the_runner_left_before_it_raised_is_the_evidence() -> None:
    def runner(trial: TrialRequest) -> NoReturn:
        trial.artifacts.put({"ranking": []})
        raise ValueError

    evidence = run_trial(context_of(runner), task_of())
    assert [artifact.media_type for artifact in evidence.artifacts] == ["application/json", "text/plain"]
    assert evidence.artifact_id == evidence.artifacts[0].artifact_id


def test_a_message_is_folded_bounded_scrubbed_and_printable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "tr0ub4dor/&3")
    message = "\x1b[31mred\x1b[0m\nline\ttwo \x00 \udc80 \u202e tr0ub4dor/&3 tr0ub4dor%2F%263 " + "x" * 1000
    evidence = raised(ValueError(message), secrets=("TEST_KEY", "TEST_UNSET"))
    told = failure_of(evidence).message
    assert told.startswith(r"ValueError: red line two \x00 \udc80 \u202e *** *** xxx")
    assert re.search(r"x… \(\d{4} characters\)$", told)
    assert len(told) == 500
    text = (evidence.artifacts[0].content or b"").decode()
    assert "tr0ub4dor" not in text
    assert "x" * 1000 in text
    assert_valid(evidence)


def test_a_stated_message_too_long_for_the_ledger_is_retained_whole() -> None:
    evidence = answer(TrialResult(status=Status.DOMAIN_FAILURE, failure=Failure("long", "word " * 500)))
    assert evidence.artifact_id == evidence.artifacts[0].artifact_id
    assert evidence.artifacts[0].content == b"word " * 500


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([ValueError, DomainFailure, InfrastructureFailure, OSError, RateLimitError]), scalars, scalars)
def test_any_exception_gives_valid_evidence(kind: Callable[[Any, Any], BaseException], first: Any, second: Any) -> None:
    assert_valid(raised(kind(first, second)))


def test_a_message_of_megabytes_is_cut_at_once() -> None:
    text = printable("a" * 99_995 + "SECRET-VALUE" + "b" * 500_000, ("SECRET-VALUE",))
    assert len(text) < 250_000
    assert "characters cut" in text
    assert "SECRET" not in text
