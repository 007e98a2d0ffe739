"""Operations in another process: as if they were here, and every misbehaviour an outcome that names the plugin."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opfield.core import Status, seal
from opfield.core.execution import Execution, Observation
from opfield.core.operation import OperationDescriptor, read_descriptor
from opfield.errors import DeclarationError, ProtocolError
from opfield.interpret import execute
from opfield.isolate import Host, HostLimits
from opfield.plan import tensor
from opfield.plugin import Cancellation, Operation, Plugin, Registry, Terms
from tests.isolate.served import plugin as served

ROOT = Path(__file__).parents[2]
ECHO = OperationDescriptor("served.next/v1", "served", "1", ("served.number/v1",), ("served.number/v1",))
NUMBER = seal("served.number/v1", 1)


def proxied(host: Host) -> Registry:
    """Return a registry in which every operation of the worker stands for itself."""
    return Registry().register(Plugin(served.manifest, served.schemas, list(host.operations())))


def run(registry: Registry, name: str, value: int = 1) -> Execution:
    """Return what an operation makes of a number."""
    operation = registry.operations[f"served.{name}/v1"]
    return execute(operation.plan, registry, [seal("served.number/v1", value)])


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = [sys.executable, "-m", "opfield.isolate.worker", "tests.isolate.served:plugin"]
    with Host(command, "served", HostLimits(call_s=2)) as made:
        yield made


def test_operations_elsewhere_declare_and_answer_what_they_do_here(host: Host) -> None:
    here, there = Registry().register(served), proxied(host)
    assert there.descriptors == here.descriptors
    for name in ("next", "refuse"):
        one, other = run(here, name, 3), run(there, name, 3)
        assert replace(one, seconds=0) == replace(other, seconds=0)
    plan = tensor(*[there.operations["served.next/v1"].plan] * 8)
    with ThreadPoolExecutor(4) as threads:
        done = execute(plan, there, [NUMBER] * 8, threads)
    assert [each.payload for each in done.outputs] == [2] * 8
    with pytest.raises(ProtocolError, match="lives in another process"):
        there.operations["served.next/v1"](3)


def test_a_crash_and_a_hang_are_outcomes_and_the_next_call_finds_a_new_worker(host: Host) -> None:
    registry = proxied(host)
    died = run(registry, "die")
    assert died.status is Status.INFRASTRUCTURE_FAILURE
    assert died.failure is not None
    assert died.failure.message.startswith(
        "operation served.die/v1 of plugin served: its worker ended with code 7 before it answered"
    )
    started = time.monotonic()
    slept = run(registry, "sleep", 60)
    assert time.monotonic() - started < 20
    assert slept.failure is not None
    assert "gave no whole answer within 2 s" in slept.failure.message
    assert run(registry, "next", 4).outputs[0].payload == 5


def worker(tmp_path: Path, body: str, **limits: Any) -> Host:
    """Return the host of a worker that greets well and then does as `body` says, with `key` and `send` at hand."""
    ready = {"kind": "ready", "protocol": "opfield/worker/v1", "operations": [ECHO.as_json()]}
    path = tmp_path / "worker.py"
    path.write_text(
        "import json, sys, time, os\n"
        "def send(value): print(json.dumps(value), flush=True)\n"
        "def done(**more): send({'kind': 'done', 'id': key, 'status': 'success', 'outputs': [good],\n"
        "    'observations': [], 'failure': None} | more)\n"
        f"good = json.loads({json.dumps(seal('served.number/v1', 2).as_json())!r})\n"
        f"input(); send(json.loads({json.dumps(ready)!r}))\n"
        "for line in sys.stdin:\n"
        "    key = json.loads(line)['id']\n" + "".join(f"    {each}\n" for each in body.splitlines())
    )
    return Host([sys.executable, str(path)], "served", HostLimits(**{"call_s": 5, **limits}))


MISBEHAVIOURS = {
    "garbage": ("print('{]', flush=True)", "its worker answered what is no JSON"),
    "not an object": ("send([])", "an answer is an object with exactly the members"),
    "another request": ("done(id='sha256:' + '0' * 64)", "to another request than the one that was made"),
    "an unknown status": ("done(status='splendid')", "'splendid' is not a valid Status"),
    "success with a failure": (
        "done(failure={'code': 'x', 'message': 'y', 'is_retryable': False})",
        "answered success with a failure",
    ),
    "failure without one": ("done(status='domain_failure')", "answered domain_failure with no failure"),
    "an altered envelope": ("done(outputs=[good | {'payload': 3}])", "it was altered after it was sealed"),
    "too few outputs": ("done(outputs=[])", "declares (served.number/v1), gave ()"),
    "too many outputs": ("done(outputs=[good, good])", "gave (served.number/v1, served.number/v1)"),
    "a lie about the schema": (f"done(outputs=[json.loads({json.dumps(seal('served.number/v1', 'two').as_json())!r})])",
                               "payload of served.number/v1 does not fit int"),
    "another schema": (f"done(outputs=[json.loads({json.dumps(seal('served.word/v1', 'x').as_json())!r})])",
                       "gave (served.word/v1)"),
    "an observation of nothing": ("done(observations=[{'name': 3, 'value': 1}])",
                                  "the name of an observation is no text"),
    "NaN": ("done(observations=[{'name': 'x', 'value': float('nan')}])", "its worker answered what is no JSON"),
    "a flood": ("sys.stdout.write('x' * 300_000); sys.stdout.flush(); time.sleep(9)",
                "an answer of more than 200,000 bytes"),
    "half an answer": ("sys.stdout.write('{'); sys.stdout.flush(); time.sleep(9)", "no whole answer within 1 s"),
    "a failure of no name": ("done(status='domain_failure', outputs=[], "
                             "failure={'code': 'a\\x1b[31m', 'message': 'y', 'is_retryable': False})",
                             "the code of a failure is a short name"),
    "closed output": ("os.close(1); time.sleep(9)", "closed its streams before it answered"),
    "an end": ("sys.stderr.write('out of memory\\n'); sys.exit(3)", "ended with code 3 before it answered"),
    "deep nesting": ("print('[' * 100_000, flush=True)", "its worker answered what is no JSON"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_a_worker_that_misbehaves_is_an_outcome_that_names_the_plugin(name: str, tmp_path: Path) -> None:
    body, message = MISBEHAVIOURS[name]
    limits = {"answer_bytes": 200_000, **({"call_s": 1.0} if name == "half an answer" else {})}
    with worker(tmp_path, body, **limits) as host:
        done = run(proxied(host), "next")
        assert (done.status, done.outputs) == (Status.INFRASTRUCTURE_FAILURE, ())
        assert done.failure is not None
        assert done.failure.message.startswith("operation served.next/v1 of plugin served: ")
        assert message in done.failure.message


def test_a_worker_that_talks_out_of_turn_is_found_at_the_next_call(tmp_path: Path) -> None:
    with worker(tmp_path, "done(); time.sleep(0.1); done()") as host:
        registry = proxied(host)
        assert run(registry, "next").status is Status.SUCCESS
        time.sleep(0.5)
        done = run(registry, "next")  # the second answer is one to this request, too
        assert done.failure is not None
        assert "talked out of turn" in done.failure.message


def test_a_worker_that_answers_well_is_believed(tmp_path: Path) -> None:
    with worker(tmp_path, "done()") as host:
        registry = proxied(host)
        assert [run(registry, "next", n).outputs[0].payload for n in range(3)] == [2, 2, 2]


#: Ways to have a process that outlives a call; each writes its id, and sleeps.
CHILDREN = {
    "a child": "if os.fork() == 0: note()",
    "a child in a session of its own": "if os.fork() == 0: os.setsid(); note()",
    "an orphan in a session of its own": (
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: note()\n    os._exit(0)"
    ),
}
ENDINGS = {"well": "done()", "in a crash": "os._exit(7)", "in a hang": "time.sleep(60)"}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", CHILDREN)
def test_whatever_a_worker_started_ends_with_it(name: str, ending: str, tmp_path: Path) -> None:
    if sys.platform != "linux" and name != "a child":
        pytest.skip("what leaves the process group of a worker lives on here")
    note = tmp_path / "child"
    body = (
        f"def note():\n    open({str(note)!r} + '~', 'w').write(str(os.getpid()))\n"
        f"    os.rename({str(note)!r} + '~', {str(note)!r})\n    time.sleep(60)\n"
        f"{CHILDREN[name]}\nwhile not os.path.exists({str(note)!r}): time.sleep(0.001)\n{ENDINGS[ending]}"
    )
    with worker(tmp_path, body, call_s=1.0) as host:
        assert (run(proxied(host), "next").status is Status.SUCCESS) == (ending == "well")
        child = int(note.read_text())
    deadline = time.monotonic() + 5
    while _is_running(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _is_running(child)


def _is_running(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_a_call_that_is_asked_to_stop_ends_the_worker_and_the_next_one_finds_a_new_one(tmp_path: Path) -> None:
    body = "if os.path.exists('once'): done()\nelse: open('once', 'w').close(); time.sleep(60)"
    with worker(tmp_path, f"os.chdir({str(tmp_path)!r})\n{body}", call_s=60) as host:
        registry, stop, started = proxied(host), Cancellation(), time.monotonic()
        threading.Timer(0.2, stop.cancel, ["no more money"]).start()
        done = execute(registry.operations["served.next/v1"].plan, registry, [NUMBER], terms=Terms(stop))
        assert time.monotonic() - started < 30
        assert done.status is Status.CANCELLED
        assert done.failure is not None
        assert done.failure.message == (
            "operation served.next/v1 of plugin served: its worker was ended: no more money"
        )
        assert run(registry, "next").status is Status.SUCCESS


def test_a_call_past_the_deadline_of_a_plan_ends_the_worker(host: Host) -> None:
    registry = proxied(host)
    plan = registry.operations["served.sleep/v1"].plan
    done = execute(plan, registry, [seal("served.number/v1", 60)], terms=Terms(deadline_s=0.3))
    assert done.failure is not None
    assert (done.failure.code, done.failure.is_retryable) == ("timeout", True)
    started = time.monotonic()
    assert run(registry, "next").status is Status.SUCCESS
    assert time.monotonic() - started < 20


@pytest.mark.skipif(sys.platform != "linux", reason="there is no keeper here: a worker that hangs outlives its host")
def test_a_worker_ends_with_a_host_that_is_killed(tmp_path: Path) -> None:
    note, script = tmp_path / "child", tmp_path / "host.py"
    host = worker(tmp_path, f"open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)", call_s=60)
    script.write_text(
        "from opfield.core import seal\nfrom opfield.isolate import Host, HostLimits\n"
        f"host = Host({list(host._command)!r}, 'served', HostLimits(call_s=60))\n"
        "host.operations()\nhost.call('served.next/v1', [seal('served.number/v1', 1)])\n"
    )
    with subprocess.Popen([sys.executable, str(script)]) as killed:
        deadline = time.monotonic() + 30
        while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
            time.sleep(0.01)
        killed.kill()
    child = int(note.read_text())
    while _is_running(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _is_running(child)


def test_a_forked_process_starts_a_worker_of_its_own(host: Host) -> None:
    registry = proxied(host)
    assert run(registry, "next").status is Status.SUCCESS
    mine = host._process
    assert mine is not None
    with warnings.catch_warnings():
        # Threads of the test runner make a fork unsafe in general; this one only asks its worker.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        outcome = 1
        try:
            outcome = 0 if run(registry, "next", 4).outputs[0].payload == 5 else 2
            host.close()
        finally:
            os._exit(outcome)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert run(registry, "next", 6).outputs[0].payload == 7
    assert host._process is mine
    assert mine.poll() is None


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["/no/such/program"], "cannot be started"),
        ([sys.executable, "-c", "input(); print('hello', flush=True); input()"], "JSON"),
        ([sys.executable, "-c", "import sys; sys.exit(1)"], "ended with code 1"),
        (
            [sys.executable, "-c", 'input(); print(\'{"kind":"ready","protocol":"x/v9","operations":[]}\')'],
            "speaks 'x/v9', not opfield/worker/v1",
        ),
    ],
)
def test_a_worker_that_does_not_greet_is_refused(command: list[str], message: str) -> None:
    with Host(command, "served") as host, pytest.raises(ProtocolError, match=message):
        host.operations()


def test_a_worker_of_another_plugin_is_refused(tmp_path: Path) -> None:
    host = worker(tmp_path, "done()")
    with Host(host._command, "other") as foreign, pytest.raises(ProtocolError, match="serves operations of served"):
        foreign.operations()


def test_a_new_worker_that_declares_other_operations_is_not_believed(tmp_path: Path) -> None:
    with worker(tmp_path, "done(); os._exit(0)") as host:
        registry = proxied(host)
        assert run(registry, "next").status is Status.SUCCESS
        text = (tmp_path / "worker.py").read_text()
        (tmp_path / "worker.py").write_text(text.replace('"version": "1"', '"version": "2"'))
        time.sleep(0.3)
        done = run(registry, "next")
        assert done.failure is not None
        assert "declares other operations than when it was registered" in done.failure.message


@pytest.mark.parametrize(
    "change",
    [
        {"id": 3},
        {"in": "a"},
        {"effects": ["telepathy"]},
        {"cost": {}},
        {"more": 1},
        {"deterministic": 1},
        {"cost": {"work": float("nan"), "critical_path": 0, "memory_bytes": 0}},
        {"certifies": "x"},
    ],
)
def test_a_descriptor_that_is_none_is_refused(change: dict[str, Any]) -> None:
    assert read_descriptor(ECHO.as_json()) == ECHO
    with pytest.raises(DeclarationError):
        read_descriptor({**ECHO.as_json(), **change})


def test_an_operation_here_that_answers_envelopes_is_checked_alike() -> None:
    liar = Operation(ECHO, lambda n: n, None, lambda *_: Execution(Status.SUCCESS, (seal("served.word/v1", "x"),)))
    registry = Registry().register(Plugin(served.manifest, served.schemas, [liar]))
    done = run(registry, "next")
    assert done.failure is not None
    assert done.failure.code == "invalid_output"


@pytest.mark.parametrize(
    "answer",
    [
        3,
        Execution(Status.SUCCESS, (), ("seen",)),  # type: ignore[arg-type]  # a lie
        Execution(Status.SUCCESS, (), (Observation("seen", float("nan")),)),
        Execution(Status.DOMAIN_FAILURE, failure="bad"),  # type: ignore[arg-type]  # a lie
    ],
)
def test_an_answer_that_is_no_outcome_is_a_failure(answer: Any) -> None:
    liar = Operation(ECHO, lambda n: n, None, lambda *_: answer)
    done = run(Registry().register(Plugin(served.manifest, served.schemas, [liar])), "next")
    assert done.failure is not None
    assert done.failure.message.startswith("operation served.next/v1 of plugin served: ")


@pytest.mark.parametrize(
    ("arguments", "said", "message"),
    [
        ([], "", "usage: python -m opfield.isolate.worker PACKAGE.MODULE:PLUGIN"),
        (["no.such:plugin"], "", "no.such:plugin cannot be served: No module named 'no'"),
        (["tests.isolate.served"], "", "tests.isolate.served cannot be served: "),
        (["tests.isolate.served:after"], "", "tests.isolate.served:after is of type Operation, not a Plugin"),
        (["tests.isolate.served:plugin"], "{", "a request is no JSON: "),
        (["tests.isolate.served:plugin"], "[]", "a request is an object of kind hello, or of kind execute"),
        (["tests.isolate.served:plugin"], '{"kind": "execute"}', "a request is an object of kind hello, or of kind"),
    ],
)
def test_the_reference_worker_says_why_it_cannot_serve(arguments: list[str], said: str, message: str) -> None:
    command = [sys.executable, "-m", "opfield.isolate.worker", *arguments]
    done = subprocess.run(command, input=f"{said}\n", capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stderr.startswith(message)
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert done.returncode == (1 if said else 2)
