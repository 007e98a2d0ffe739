"""Trials over the worker protocol: what a runner is asked and what it answers, as payloads of two schemas.

A runner elsewhere is an operation like any other: `PLUGIN.run/v1`, from `PLUGIN.request/v1` to `PLUGIN.result/v1`.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, TypeAlias

from opfield.core import Status, canonical_json, digest
from opfield.core.operation import Effect
from opfield.errors import IdentityError
from opfield.experiment import Coordinate, DomainFailure, InfrastructureFailure, Runner, TrialRequest, TrialResult
from opfield.plugin import Plugin
from opfield.prob import Seed

#: What a runner may do is not known from here, as for a runner in the campaign's own process.
_ANYTHING: Final = tuple(Effect)


_Odd: TypeAlias = Literal["NaN", "Infinity", "-Infinity"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A `TrialRequest` as a payload.

    Attributes:
        campaign_id: campaign of the trial.
        candidate_id: candidate of its coordinate.
        arm: `baseline` or `candidate`.
        case_id: case of its coordinate.
        repeat: repeat of its coordinate.
        attempt: 1 for the first attempt.
        seed: 16 hexadecimal digits.
        spec: specification under test.
        spec_digest: digest of the specification's envelope.
        case: input of the case.
        groups: strata of the case.
    """

    campaign_id: str
    candidate_id: str
    arm: str
    case_id: str
    repeat: int
    attempt: int
    seed: str
    spec: Any
    spec_digest: str
    case: Any
    groups: dict[str, str]


@dataclass(frozen=True, slots=True)
class Left:
    """An artifact that a runner leaves.

    Attributes:
        content: its bytes in base64; a JSON value is left as its canonical form.
        media_type: its media type.
        schema: what it means; None where that is not said.
    """

    content: str
    media_type: str
    schema: str | None


@dataclass(frozen=True, slots=True)
class Answered:
    """A successful `TrialResult` as a payload; a failure is one of the protocol.

    Attributes:
        metrics: value by metric; null for one that could not be given; numbers that JSON does not have by their names.
        missing: reason by metric, for those without a value.
        output: the native evidence, where no artifact is; null for none.
        observations: what was noticed.
        cost_usd: money spent; null where unknown.
        input_tokens: tokens sent to models; null where unknown.
        output_tokens: tokens received from models; null where unknown.
        artifacts: what was left.
        artifact_id: the one that is the native evidence; null for none.
    """

    metrics: dict[str, bool | int | float | _Odd | None]
    missing: dict[str, str] = field(default_factory=dict)
    output: Any = None
    observations: dict[str, Any] = field(default_factory=dict)
    cost_usd: float | int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    artifacts: tuple[Left, ...] = ()
    artifact_id: str | None = None


def trial_schemas(plugin: Plugin) -> None:
    """Define the two schemas of a plugin that is a runner."""
    id = plugin.manifest.id
    plugin.schema(f"{id}.request/v1", Asked, description="One trial to run.")
    plugin.schema(f"{id}.result/v1", Answered, description="What a trial ended as.")


def runner_plugin(id: str, version: str, runner: Runner) -> Plugin:
    """Return the plugin by which a worker serves a runner.

    Args:
        id: identity of the runner.
        version: version of the runner.
        runner: runs one trial.

    Raises:
        DeclarationError: where id or version is no name.
    """
    plugin = Plugin.named(id, version, "A runner.")
    trial_schemas(plugin)

    def run(asked: Any) -> Any:
        kept = _Kept()
        answer: Any = runner(_request(asked, kept))
        if hasattr(type(answer), "__await__"):
            answer = asyncio.run(_awaited(answer))
        return _answered(answer, kept)

    run.__annotations__ = {
        "asked": Annotated[Asked, f"{id}.request/v1"],
        "return": Annotated[Answered, f"{id}.result/v1"],
    }
    plugin.operation(f"{id}.run/v1", effects=_ANYTHING, is_deterministic=False)(run)
    return plugin


def asked_of(request: TrialRequest) -> Asked:
    """Return a request as a payload says it."""
    coordinate = request.coordinate
    return Asked(
        request.campaign_id,
        coordinate.candidate_id,
        str(coordinate.arm),
        coordinate.case_id,
        coordinate.repeat,
        request.attempt,
        request.seed.hex,
        request.spec,
        request.spec_digest,
        request.case,
        dict(request.groups),
    )


def result_of(answered: Answered, request: TrialRequest) -> TrialResult:
    """Return a result, with what was left of it retained here.

    Raises:
        IdentityError: where an artifact is no base64, or the evidence that is named was not left.
        InfrastructureFailure: where an artifact cannot be kept.
    """
    left: set[str] = set()
    for each in answered.artifacts:
        try:
            content = base64.b64decode(each.content, validate=True)
        except binascii.Error as error:
            raise IdentityError(f"an artifact that was left is no base64: {error}") from None
        left.add(request.artifacts.put(content, media_type=each.media_type, schema=each.schema))
    if answered.artifact_id is not None and answered.artifact_id not in left:
        raise IdentityError(f"it names {answered.artifact_id!r} as its evidence, which it has not left")
    return TrialResult(
        # Numbers that are none are the campaign's to refuse, as those of a runner here.
        {name: float(value) if isinstance(value, str) else value for name, value in answered.metrics.items()},
        missing=answered.missing,
        artifact_id=answered.artifact_id,
        output=answered.output,
        observations=answered.observations,
        cost_usd=answered.cost_usd,
        input_tokens=answered.input_tokens,
        output_tokens=answered.output_tokens,
    )


class _Kept:
    """The retainer of a trial that runs elsewhere: what it keeps goes with the answer, under the identity it has."""

    def __init__(self) -> None:
        self.left: dict[str, Left] = {}

    def put(self, content: Any, *, media_type: str = "application/json", schema: str | None = None) -> str:
        """Retain bytes, text or a JSON value and return its artifact id."""
        if isinstance(content, bytes | bytearray | memoryview):
            told = bytes(content)
        else:
            told = content.encode() if isinstance(content, str) else canonical_json(content)
        id = digest("opfield/artifact/v1", media_type, schema or "", told)
        self.left[id] = Left(base64.b64encode(told).decode(), media_type, schema)
        return id


def _request(asked: Asked, kept: _Kept) -> TrialRequest:
    return TrialRequest(
        Coordinate(asked.candidate_id, asked.arm, asked.case_id, asked.repeat),
        asked.spec,
        asked.case,
        Seed(int(asked.seed, 16)),
        asked.campaign_id,
        asked.spec_digest,
        kept,
        asked.groups,
        asked.attempt,
    )


def _answered(answer: Any, kept: _Kept) -> Answered:
    """Return an answer as a payload says it; a failure is raised as one."""
    result = TrialResult(metrics=answer) if isinstance(answer, Mapping) else answer
    if not isinstance(result, TrialResult):
        raise InfrastructureFailure("invalid_answer", f"the runner answered a {type(answer).__name__}")
    failure = result.failure
    if result.status is not Status.SUCCESS or failure is not None:
        code, message = ("unknown", "no failure was told") if failure is None else (failure.code, failure.message)
        if result.status is Status.DOMAIN_FAILURE:
            raise DomainFailure(code, message)
        raise InfrastructureFailure(code, message, is_retryable=failure is not None and failure.is_retryable)
    return Answered(
        {name: _told(value) for name, value in result.metrics.items()},
        dict(result.missing),
        result.output,
        dict(result.observations),
        result.cost_usd,
        result.input_tokens,
        result.output_tokens,
        tuple(kept.left.values()),
        result.artifact_id,
    )


def _told(value: Any) -> Any:
    """Return a metric's value as JSON has it."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


async def _awaited(answer: Any) -> Any:
    return await answer
