"""Trials: arms, coordinates, what a runner may raise, and who it is."""

from __future__ import annotations

import copy
import functools
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from opfield.errors import DeclarationError
from opfield.experiment import (
    Arm,
    Coordinate,
    DomainFailure,
    InfrastructureFailure,
    RunnerIdentity,
    TrialResult,
    runner_identity,
)


def answer(trial: Any) -> dict[str, float]:
    return {"m": float(trial is not None)}


async def answer_later(trial: Any) -> dict[str, float]:
    return answer(trial)


class Judge:
    id = "judge"
    version = 3

    def __call__(self, trial: Any) -> dict[str, float]:
        return answer(trial)

    def other(self, trial: Any) -> dict[str, float]:
        return answer(trial)


class Plain:
    def __call__(self, trial: Any) -> dict[str, float]:
        return answer(trial)


@pytest.mark.parametrize(
    ("runner", "name", "version"),
    [
        (answer, "answer", "1"),
        (answer_later, "answer_later", "1"),
        (Plain(), "Plain", "1"),
        (Plain().__call__, "Plain.__call__", "1"),
    ],
)
def test_a_runner_without_an_id_is_named_by_its_import_path(runner: Any, name: str, version: str) -> None:
    assert runner_identity(runner) == RunnerIdentity(f"{__name__}:{name}", version)


def test_a_runner_may_declare_its_identity() -> None:
    assert runner_identity(Judge()) == RunnerIdentity("judge", "3")
    assert runner_identity(Judge) == RunnerIdentity("judge", "3")


def test_a_partial_needs_an_id_since_its_arguments_are_not_in_its_name() -> None:
    runner = functools.partial(answer)
    with pytest.raises(DeclarationError, match=r"a functools\.partial has no name"):
        runner_identity(runner)
    runner.id = "mine"  # type: ignore[attr-defined]
    assert runner_identity(runner) == RunnerIdentity("mine", "1")


@pytest.mark.parametrize("wrong", ["", "\ud800", "a\0"])
def test_an_identity_is_plain_text(wrong: str) -> None:
    runner = Plain()
    runner.id = wrong  # type: ignore[attr-defined]
    with pytest.raises(DeclarationError, match="runner id"):
        runner_identity(runner)
    runner.id, runner.version = "fine", wrong  # type: ignore[attr-defined]
    with pytest.raises(DeclarationError, match="runner version"):
        runner_identity(runner)


def test_a_script_that_is_run_has_the_identity_of_the_module_that_is_imported(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from opfield.experiment import runner_identity\ndef run(trial): ...\nprint(runner_identity(run).id)\n"
    )
    root = str(Path(__file__).parents[2])
    for arguments in (["mine.py"], ["-m", "mine"], ["-c", "import mine"]):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={"PYTHONPATH": f"{tmp_path}:{root}"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "mine:run\n"


def test_arms_and_coordinates_are_plain_values() -> None:
    assert set(Arm) == {"baseline", "candidate"}
    left, right = Coordinate("sha256:a", Arm.BASELINE, "x", 0), Coordinate("sha256:a", "baseline", "x", 0)
    assert left == right
    assert hash(left) == hash(right)
    assert sorted([Coordinate("c", "candidate", "x", 1), Coordinate("c", "candidate", "x", 0)])[0].repeat == 0
    assert str(Coordinate("sha256:" + "a" * 64, "candidate", "x\n", 2)) == (
        "candidate sha256:aaaaaaaa… case 'x\\n' repeat 2"
    )


@pytest.mark.parametrize(
    "failure",
    [
        DomainFailure("refused"),
        DomainFailure("c", "why"),
        InfrastructureFailure("c", "why", is_retryable=True),
    ],
)
def test_a_raised_failure_keeps_its_members_between_processes(failure: Exception) -> None:
    again = pickle.loads(pickle.dumps(failure))
    assert vars(again) == vars(failure)
    assert str(again) == str(failure)


def test_a_failure_says_code_and_message() -> None:
    assert (str(DomainFailure("refused")), DomainFailure("refused").message) == ("refused", "refused")
    assert str(InfrastructureFailure("down", "no route")) == "down: no route"
    assert not InfrastructureFailure("down").is_retryable


def test_a_result_without_more_is_an_unqualified_success() -> None:
    result = TrialResult({"m": 1})
    assert (result.status, result.failure, result.cost_usd, result.input_tokens) == (
        "success",
        None,
        None,
        None,
    )
    assert copy.deepcopy(result) == result
