"""Trials: what a runner is asked and what it answers (§21.4, §23)."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import FunctionType
from typing import Any, Protocol

from opfield.core import Failure, Status, check_label
from opfield.errors import DeclarationError
from opfield.prob import Seed


class Arm(StrEnum):
    """Side of a pair."""

    BASELINE = "baseline"
    CANDIDATE = "candidate"


@dataclass(frozen=True, slots=True, order=True)
class Coordinate:
    """Where one terminal result belongs inside a campaign (§12.3)."""

    candidate_id: str
    arm: str
    case_id: str
    repeat: int

    def __str__(self) -> str:
        """Return the coordinate in words."""
        return f"{self.arm} {self.candidate_id[:15]}… case {self.case_id!r} repeat {self.repeat}"


class Retainer(Protocol):
    """Where a runner leaves native evidence during a trial; it is kept under its digest."""

    def put(
        self, content: bytes | str | Any, *, media_type: str = "application/json", schema: str | None = None
    ) -> str:
        """Retain bytes, text or a JSON value and return its artifact id."""
        ...


@dataclass(frozen=True, slots=True)
class TrialRequest:
    """One trial to run.

    Attributes:
        coordinate: where the result belongs.
        spec: specification under test, a JSON value; the candidate's or the baseline's.
        case: input of the case, a JSON value.
        seed: shared by both arms of the pair.
        campaign_id: campaign of the trial.
        spec_digest: digest of the specification's envelope.
        groups: strata of the case.
        attempt: 1 for the first attempt at the coordinate.
        artifacts: where native evidence is left.
    """

    coordinate: Coordinate
    spec: Any
    case: Any
    seed: Seed
    campaign_id: str
    spec_digest: str
    artifacts: Retainer
    groups: Mapping[str, str] = field(default_factory=dict)
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What a trial ended as.

    Attributes:
        metrics: metric name to value; None for one that could not be given.
        status: terminal status.
        failure: what went wrong; None on success.
        missing: metric name to reason, for metrics without a value (`not_applicable`, `judge_failed`, …).
        artifact_id: artifact that holds the native evidence, as `TrialRequest.artifacts.put` returned it.
        output: JSON value to retain as the native evidence, where the runner left none itself.
        observations: typed trace facts to retain beside the output, such as cache hits.
        cost_usd: money spent; None where unknown, never 0 for unknown.
        input_tokens: tokens sent to models; None where unknown.
        output_tokens: tokens received from models; None where unknown.
        coordinate: coordinate that the runner believes it ran; checked where given.
    """

    metrics: Mapping[str, float | int | None] = field(default_factory=dict)
    status: Status = Status.SUCCESS
    failure: Failure | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    artifact_id: str | None = None
    output: Any = None
    observations: Mapping[str, Any] = field(default_factory=dict)
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    coordinate: Coordinate | None = None


class DomainFailure(Exception):  # noqa: N818 - a statement about the trial, raised by runners
    """Raised by a runner: the system under test failed on this case. Evidence against the arm that failed.

    Args:
        code: short stable name.
        message: words for people.
        cost_usd: money spent before it failed; None where unknown, never 0 for unknown.
        input_tokens: tokens sent to models before it failed; None where unknown.
        output_tokens: tokens received from models before it failed; None where unknown.
    """

    def __init__(
        self,
        code: str,
        message: str = "",
        *,
        cost_usd: float | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
    ) -> None:
        """Keep code, message and what was spent."""
        super().__init__(f"{code}: {message}" if message else code)
        self.code = code
        self.message = message or code
        self.cost_usd = cost_usd
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens


class InfrastructureFailure(Exception):  # noqa: N818 - a statement about the trial, raised by runners
    """Raised by a runner: something around the system failed. No evidence about quality.

    Args:
        code: short stable name.
        message: words for people.
        is_retryable: whether another attempt might succeed; the cell then accepted answers for what all attempts spent.
        cost_usd: money spent before it failed; None where unknown, never 0 for unknown.
        input_tokens: tokens sent to models before it failed; None where unknown.
        output_tokens: tokens received from models before it failed; None where unknown.
    """

    def __init__(
        self,
        code: str,
        message: str = "",
        *,
        is_retryable: bool = False,
        cost_usd: float | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
    ) -> None:
        """Keep code, message, whether another attempt might succeed, and what was spent."""
        super().__init__(f"{code}: {message}" if message else code)
        self.code = code
        self.message = message or code
        self.is_retryable = is_retryable
        self.cost_usd = cost_usd
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens


Answer = TrialResult | Mapping[str, float | int | None]

#: A runner: any callable of one trial, plain or coroutine, an instance of a class too; it may carry `id` and
#: `version`.
Runner = Callable[[TrialRequest], Answer | Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class RunnerIdentity:
    """Identity of a runner: material to the campaign's identity (DESIGN §4)."""

    id: str
    version: str


def runner_identity(runner: Any) -> RunnerIdentity:
    """Return the runner's declared `id` and `version`, or its import path and version 1.

    A script that is run gives the same path as the module that is imported.

    An import path is an identity only where it says everything: two runners of one path would pass for one, and
    the second campaign would be answered with the verdict of the first. So without an `id`, these are refused: a
    `functools.partial`; an instance that holds state, and its methods; what a function makes anew each time it is
    called, where that takes values along, as a closure, an argument's default or a class. A decorated function is a
    closure too, but one that stands under its own import path, `@retry(3)` above a `def`, is what that path says.

    Raises:
        DeclarationError: for a runner whose import path does not tell it from others, or an `id` or `version` that
            is no label.

    >>> def answer(trial): ...
    >>> runner_identity(answer).version
    '1'
    """
    name = runner_name(runner)
    hidden = None if hasattr(runner, "id") else _hidden_values(runner)
    if hidden is not None:
        remedy = "on an instance whose `__call__` runs the trial" if inspect.ismethod(runner) else "as attributes of it"
        raise DeclarationError(
            f"{hidden}, which its import path {name} does not tell; give it an `id` and `version` that tell it from "
            f"others, {remedy}"
        )
    version = getattr(runner, "version", "1")
    check_label("runner id", name)
    check_label("runner version", version)
    return RunnerIdentity(name, version)


def runner_name(runner: Any) -> Any:
    """Return what a runner is called in messages: its declared `id`, whatever that is, or its import path."""
    if hasattr(runner, "id"):
        return runner.id
    if inspect.ismethod(runner):
        # By the class it is bound to: an inherited method has the name of the class that defines it.
        owner = _class_of(runner)
        return f"{_module_name(owner.__module__)}:{owner.__qualname__}.{runner.__name__}"
    named = runner if hasattr(runner, "__qualname__") else type(runner)
    return f"{_module_name(named.__module__)}:{named.__qualname__}"


def _hidden_values(runner: Any) -> str | None:
    """Return what a runner holds that its import path does not tell, in words; None where that tells all."""
    if isinstance(runner, functools.partial):
        return "a functools.partial holds arguments"
    if _is_at_import_path(runner):
        return None
    if inspect.isfunction(runner):
        return _captured(runner)
    holder = runner.__self__ if inspect.ismethod(runner) else runner
    if not inspect.isclass(holder) and (state := _state(holder)):
        return f"an instance of {type(holder).__qualname__} holds state ({', '.join(state)})"
    return _local_class(_class_of(runner))


def _class_of(runner: Any) -> Any:
    holder = runner.__self__ if inspect.ismethod(runner) else runner
    return holder if inspect.isclass(holder) else type(holder)


def _state(instance: object) -> list[str]:
    # What `object` itself would pickle: the members of the dictionary and of the slots, by name.
    found: Any = object.__getstate__(instance)
    parts = found if isinstance(found, tuple) else (found,)
    return sorted({str(name) for part in parts for name in part or ()} - {"version"})


def _local_class(kind: type) -> str | None:
    if "<locals>" in kind.__qualname__:
        return f"the class {kind.__name__} is made anew by each call of a function and holds values of that call"
    return None


def _captured(function: FunctionType) -> str | None:
    """Return what a function took along from where it was made."""
    names = function.__code__.co_freevars
    if names:
        return f"{function.__name__} is a closure and holds values ({', '.join(names)})"
    if function.__defaults__ or function.__kwdefaults__:
        return f"{function.__name__} holds defaults of its arguments"
    return None


def _is_at_import_path(runner: Any) -> bool:
    """Return whether looking up the runner's import path gives the runner itself."""
    if inspect.ismethod(runner) or not hasattr(runner, "__qualname__"):
        return False
    found: Any = sys.modules.get(runner.__module__)
    for part in runner.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is runner


def _module_name(name: str) -> str:
    if name != "__main__":
        return name
    main = sys.modules["__main__"]
    if main.__spec__ is not None:  # run as `python -m package.module`
        return main.__spec__.name
    path = getattr(main, "__file__", None)
    return Path(path).stem if path else name
