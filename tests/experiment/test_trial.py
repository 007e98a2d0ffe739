"""Trials: arms, coordinates, what a runner may raise, and who it is."""

from __future__ import annotations

import copy
import functools
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opfield.errors import DeclarationError
from opfield.experiment import (
    Arm,
    Coordinate,
    DomainFailure,
    InfrastructureFailure,
    Runner,
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
    version = "3"

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


def make(factor: float, extra: float = 0) -> Any:
    def run(trial: Any) -> dict[str, float]:
        return {"m": factor + extra}

    return run


def make_with_default(factor: float) -> Any:
    def run(trial: Any, factor: float = factor) -> dict[str, float]:
        return {"m": factor}

    return run


def make_class(factor: float) -> Any:
    class Local:
        def __call__(self, _trial: Any) -> dict[str, float]:
            return {"m": factor}

    return Local()


def make_plain() -> Any:
    def run(trial: Any) -> dict[str, float]:
        return {"m": 1.0}

    return run


def times(count: int) -> Callable[[Runner], Runner]:
    def decorated(runner: Runner) -> Runner:
        @functools.wraps(runner)
        def run(trial: Any) -> Any:
            return [runner(trial) for _ in range(count)][-1]

        return run

    return decorated


@times(3)
def decorated(trial: Any) -> dict[str, float]:
    return answer(trial)


@functools.lru_cache
def cached(trial: Any) -> dict[str, float]:
    return answer(trial)


at_module_level = lambda _trial: {"m": 1.0}  # noqa: E731 - what is tested


class Stateful:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, _trial: Any) -> dict[str, float]:
        return {"m": self.factor}

    def other(self, _trial: Any) -> dict[str, float]:
        return {"m": self.factor}


class Slotted:
    __slots__ = ("__factor",)

    def __init__(self, factor: float) -> None:
        self.__factor = factor

    def __call__(self, _trial: Any) -> dict[str, float]:
        return {"m": self.__factor}


class SlottedBelow(Slotted):
    __slots__ = ()


class Inherits(Plain):
    pass


@pytest.mark.parametrize(
    ("runner", "said"),
    [
        (functools.partial(answer), "a functools.partial holds arguments"),
        (make(2), r"run is a closure and holds values \(extra, factor\)"),
        (make_with_default(2), "run holds defaults of its arguments"),
        (make_class(2), "the class Local is made anew by each call of a function"),
        (Stateful(2), r"an instance of Stateful holds state \(factor\)"),
        (Stateful(2).other, r"Stateful holds state \(factor\).*on an instance whose `__call__` runs the trial"),
        (Slotted(2), r"an instance of Slotted holds state"),
        (SlottedBelow(2), r"an instance of SlottedBelow holds state"),
        (times(2)(answer), "answer is a closure"),
        (functools.lru_cache(make(2)), "holds state"),
    ],
)
def test_a_runner_that_holds_values_needs_an_id_since_its_name_does_not_tell_them(runner: Any, said: str) -> None:
    with pytest.raises(DeclarationError, match="give it an `id` and `version` that tell it from others") as refused:
        runner_identity(runner)
    assert re.search(said, str(refused.value))


@pytest.mark.parametrize("runner", [functools.partial(answer), make(2), make_class(2), Stateful(2)])
def test_a_runner_that_holds_values_is_named_by_its_id(runner: Any) -> None:
    runner.id = "mine"
    assert runner_identity(runner) == RunnerIdentity("mine", "1")


@pytest.mark.parametrize(
    ("runner", "name"),
    [
        (make_plain(), "make_plain.<locals>.run"),
        (at_module_level, "<lambda>"),
        (decorated, "decorated"),
        (cached, "cached"),
        (Inherits().__call__, "Inherits.__call__"),
        (Plain, "Plain"),
    ],
)
def test_a_runner_whose_import_path_says_everything_needs_no_id(runner: Any, name: str) -> None:
    assert runner_identity(runner) == RunnerIdentity(f"{__name__}:{name}", "1")


def test_a_version_is_no_state() -> None:
    runner = Plain()
    runner.version = "2"  # type: ignore[attr-defined]
    assert runner_identity(runner).version == "2"


class MethodId:
    def id(self) -> str:
        return "judge"

    def __call__(self, trial: Any) -> dict[str, float]:
        return answer(trial)


def test_an_id_that_is_no_text_is_refused_rather_than_shown() -> None:
    with pytest.raises(DeclarationError, match=r"runner id <bound method.*not text; write text"):
        runner_identity(MethodId())
    runner = Plain()
    runner.version = 2  # type: ignore[attr-defined]
    with pytest.raises(DeclarationError, match=r"runner version 2 is of type int, not text.*write '2'"):
        runner_identity(runner)


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
