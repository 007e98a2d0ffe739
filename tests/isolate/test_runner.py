"""Runners in another process: a campaign's trials as if the runner were here, and every fault a failure with a name."""

from __future__ import annotations

import json
import pickle
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opfield.campaign.boundary import run_trial
from opfield.campaign.evidence import TrialEvidence
from opfield.core import Failure, Status, seal
from opfield.errors import DeclarationError
from opfield.experiment import runner_identity
from opfield.isolate import HostLimits, IsolatedRunner
from tests.campaign.runners import context_of, task_of
from tests.isolate.served_runner import later, plugin, run

ROOT = Path(__file__).parents[2]
WORKER = (sys.executable, "-m", "opfield.isolate.worker")


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Iterator[IsolatedRunner]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with IsolatedRunner([*WORKER, "tests.isolate.served_runner:plugin"], "served", "1", HostLimits(call_s=2)) as made:
        yield made


def evidence(runner: Any, case: int = 0) -> TrialEvidence:
    """Return the evidence of one trial, without its times."""
    told = run_trial(context_of(runner), task_of(case))
    return replace(told, duration_s=0.0, started_at="", finished_at="")


def failure_of(told: TrialEvidence) -> Failure:
    assert told.failure is not None
    return told.failure


def test_a_runner_elsewhere_gives_the_evidence_that_it_gives_here(runner: IsolatedRunner) -> None:
    for case in (0, 1):
        assert evidence(runner, case) == evidence(run, case)
    assert evidence(runner).cost_usd == 0.25
    assert len(evidence(runner).artifacts) == 2
    assert (runner_identity(runner).id, runner_identity(runner).version) == ("served", "1")


def test_what_the_system_or_the_runner_fails_in_keeps_its_kind_and_code(runner: IsolatedRunner) -> None:
    for case, status in ((2, Status.DOMAIN_FAILURE), (3, Status.INFRASTRUCTURE_FAILURE)):
        here, there = evidence(run, case), evidence(runner, case)
        assert there.status is here.status is status
        assert failure_of(there).code == failure_of(here).code
        assert failure_of(there).is_retryable == failure_of(here).is_retryable
        assert failure_of(there).message.startswith("operation served.run/v1 of plugin served: ")


def test_a_crash_and_a_hang_are_failures_of_their_trial_that_another_attempt_may_mend(runner: IsolatedRunner) -> None:
    started = time.monotonic()
    for case, message in (
        (4, "its worker ended with code 7 before"),
        (5, "its worker gave no whole answer within 2 s"),
    ):
        told = evidence(runner, case)
        assert told.status is Status.INFRASTRUCTURE_FAILURE
        assert (failure_of(told).code, failure_of(told).is_retryable) == ("worker", True)
        assert f"operation served.run/v1 of plugin served: {message}" in failure_of(told).message
    assert time.monotonic() - started < 30
    assert evidence(runner).status is Status.SUCCESS


def test_trials_that_run_at_once_have_a_worker_each_and_a_coroutine_is_run_to_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with IsolatedRunner([*WORKER, "tests.isolate.served_runner:coroutine"], "served") as made:
        again = pickle.loads(pickle.dumps(made))
        with ThreadPoolExecutor(2) as threads:
            told = list(threads.map(lambda case: evidence(made, case), range(6)))
        assert told == [evidence(later, case) for case in range(6)]
        assert 1 <= len(made._idle) <= 2
        with again:
            assert evidence(again, 3) == told[3]


REQUEST, RESULT = "served.request/v1", "served.result/v1"
RUN = next(iter(plugin.operations)).descriptor
GOOD: dict[str, Any] = {
    "metrics": {"recall": 0.5}, "missing": {}, "output": None, "observations": {}, "cost_usd": None,
    "input_tokens": None, "output_tokens": None, "artifacts": [], "artifact_id": None,
}  # fmt: skip
LEFT = {"content": "!!", "media_type": "text/plain", "schema": None}


def scripted(tmp_path: Path, body: str, **change: Any) -> IsolatedRunner:
    """Return a runner in no language of opfield's: a script that greets, and then does as `body` says."""
    ready = {"kind": "ready", "protocol": "opfield/worker/v1", "operations": [{**RUN.as_json(), **change}]}
    path = tmp_path / "worker.py"
    path.write_text(
        "import json, os, sys, time\n"
        "def send(value): print(json.dumps(value), flush=True)\n"
        "def done(output): send({'kind': 'done', 'id': key, 'status': 'success', 'outputs': [output],\n"
        "    'observations': [], 'failure': None})\n"
        f"input(); send(json.loads({json.dumps(ready)!r}))\n"
        "for line in sys.stdin:\n"
        f"    key = json.loads(line)['id']\n    {body}\n"
    )
    limits = HostLimits(call_s=1.0, answer_bytes=200_000)
    return IsolatedRunner([sys.executable, str(path)], "served", "1", limits)


def answering(schema: str = RESULT, **change: Any) -> str:
    """Return the line of a script that answers."""
    return f"done(json.loads({json.dumps(seal(schema, {**GOOD, **change}).as_json())!r}))"


def test_a_runner_in_another_language_needs_the_protocol_alone(tmp_path: Path) -> None:
    with scripted(tmp_path, answering()) as made:
        told = evidence(made)
        assert told.status is Status.SUCCESS
        assert [each.value for each in told.measurements if each.metric == "recall"] == [0.5]


MISBEHAVIOURS: dict[str, tuple[str, str]] = {
    "garbage": ("print('{]', flush=True)", "its worker answered what is no JSON"),
    "a flood": ("sys.stdout.write('x' * 300_000); sys.stdout.flush(); time.sleep(9)", "more than 200,000 bytes"),
    "a hang": ("time.sleep(60)", "gave no whole answer within 1 s"),
    "a crash": ("os.abort()", "before it answered"),
    "another schema": (answering(REQUEST), "declares (served.result/v1), gave (served.request/v1)"),
    "a lie about the schema": (answering(metrics={"recall": "high"}), "payload of served.result/v1 does not fit"),
    "a member too many": (answering(more=1), "payload of served.result/v1 does not fit"),
    "an artifact that is none": (answering(artifacts=[LEFT]), "an artifact that was left is no base64"),
    "evidence that is not there": (answering(artifact_id="sha256:00"), "which it has not left"),
}


@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_a_runner_that_misbehaves_is_a_failure_that_names_the_plugin(name: str, tmp_path: Path) -> None:
    body, message = MISBEHAVIOURS[name]
    with scripted(tmp_path, body) as made:
        told = evidence(made)
    assert told.status is Status.INFRASTRUCTURE_FAILURE
    assert "of plugin served: " in failure_of(told).message
    assert message in failure_of(told).message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": "2"}, "its worker serves served.run/v1 of version 2, and not served.run/v1 of version 1"),
        ({"id": "served.go/v1"}, "its worker serves served.go/v1 of version 1, and not"),
        ({"plugin": "other"}, "serves operations of other, not of served"),
        ({"out": ["served.request/v1"]}, "and not served.run/v1 of version 1"),
    ],
)
def test_a_worker_that_serves_another_runner_is_not_believed(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with scripted(tmp_path, answering(), **change) as made:
        told = failure_of(evidence(made))
    assert told.message.startswith("runner of plugin served: ")
    assert message in told.message


def test_a_program_that_is_not_there_is_a_failure_of_each_trial() -> None:
    with IsolatedRunner(["/no/such/program"], "served") as made:
        assert failure_of(evidence(made)).message.startswith("runner of plugin served: cannot be started: there is no")
    with pytest.raises(DeclarationError):
        IsolatedRunner(["true"], "")
