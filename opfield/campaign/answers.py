"""Answers of runners, read without trust: what is valid is kept, the rest becomes named refusals (§23.3)."""

from __future__ import annotations

import math
import numbers
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from opfield.campaign.evidence import Measurement
from opfield.campaign.failures import safe_text
from opfield.core import Failure, MissingReason, Status
from opfield.core.canonical import MAX_INTEGER
from opfield.errors import WarehouseError, unknown_name
from opfield.experiment import Coordinate, InfrastructureFailure, TrialResult
from opfield.metric import MAX_MAGNITUDE, Metric
from opfield.warehouse.artifacts import Artifact, retain

#: Schema of the native evidence that is written where the runner gave an output but left no artifact.
TRIAL_SCHEMA: Final = "opfield.trial/v1"

# Unknown metrics that one message explains; each costs a search for the nearest declared name.
_EXPLAINED: Final = 3
_STATUSES: Final = {status.value: status for status in Status}
_REASONS: Final = {reason.value: reason.value for reason in MissingReason}


@dataclass(slots=True)
class Outcome:
    """What an attempt ended as, less its time and place; members as in `TrialEvidence`."""

    status: Status
    failure: Failure | None = None
    measurements: tuple[Measurement, ...] = ()
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    artifact_id: str | None = None


class Shelf:
    """The retainer of one trial: keeps what it was given, once for each identity.

    Attributes:
        artifacts: artifact by id, in the order in which they were left.
        last: id of the one left last; None while there is none.
    """

    __slots__ = ("_root", "artifacts", "last")

    def __init__(self, root: str | None) -> None:
        """Start empty; large content goes below the warehouse folder `root`."""
        self._root = root
        self.artifacts: dict[str, Artifact] = {}
        self.last: str | None = None

    def put(self, content: Any, *, media_type: str = "application/json", schema: str | None = None) -> str:
        """Retain content and return its artifact id.

        Raises:
            InfrastructureFailure: `unserialisable_output` for content without a canonical form, `storage`
                where it cannot be written now.
        """
        root = None if self._root is None else Path(self._root)
        try:
            kind, meaning = str.__str__(media_type), None if schema is None else str.__str__(schema)
            artifact = retain(content, media_type=kind, schema=meaning, root=root)
        except (WarehouseError, OSError) as error:
            raise InfrastructureFailure("storage", str(error), is_retryable=True) from error
        except Exception as error:
            message = f"an output or artifact cannot be kept: {safe_text(error)}"
            raise InfrastructureFailure("unserialisable_output", message) from error
        self.artifacts[artifact.artifact_id] = artifact
        self.last = artifact.artifact_id
        return artifact.artifact_id


def read_answer(answer: Any, coordinate: Coordinate, declared: Mapping[str, Metric], shelf: Shelf) -> Outcome:
    """Return what an answer says, checked against every rule.

    An answer that breaks a rule is an infrastructure failure: its code is that of the first rule broken, its
    message names them all, and its valid measurements stand. A refused value leaves its metric missing, as
    `not_finite` where it was that and as `not_emitted` otherwise. An unknown metric is in the message only.

    Args:
        answer: whatever the runner returned.
        coordinate: where the result belongs.
        declared: metric by name, in the order of names.
        shelf: what the runner retained; an output without an artifact is put there.

    Raises:
        BaseException: whatever code of the runner's own raises while the answer is read, such as a property.
    """
    return _Reader(coordinate, declared, shelf).read(answer)


class _Reader:
    """One reading of one answer; collects the refusals."""

    __slots__ = ("_coordinate", "_declared", "_refusals", "_shelf")

    def __init__(self, coordinate: Coordinate, declared: Mapping[str, Metric], shelf: Shelf) -> None:
        self._coordinate, self._declared, self._shelf = coordinate, declared, shelf
        self._refusals: list[Failure] = []

    def read(self, answer: Any) -> Outcome:
        result = self._result(answer)
        if result.coordinate is not None and result.coordinate != self._coordinate:
            self._refuse("wrong_coordinate", f"the runner ran {result.coordinate}; it was asked for {self._coordinate}")
        status = self._status(result.status)
        outcome = Outcome(
            status,
            self._failure(status, result.failure),
            self._measurements(result, claims_success=status is Status.SUCCESS),
            self._cost(result.cost_usd),
            self._tokens("input_tokens", result.input_tokens),
            self._tokens("output_tokens", result.output_tokens),
            self._native_evidence(result),
        )
        return self._refused(outcome) if self._refusals else outcome

    def _result(self, answer: Any) -> TrialResult:
        if isinstance(answer, TrialResult):
            return answer
        if isinstance(answer, Mapping):
            return TrialResult(metrics=answer)
        self._refuse(
            "invalid_answer",
            f"the runner answered {shown(answer)}, a {type(answer).__name__}; "
            "return a mapping of metric to value, or a TrialResult",
        )
        return TrialResult(status=Status.INFRASTRUCTURE_FAILURE)

    def _refuse(self, code: str, message: str, *, is_retryable: bool = False) -> None:
        self._refusals.append(Failure(code, message, is_retryable))

    def _refused(self, outcome: Outcome) -> Outcome:
        words = [refusal.message for refusal in self._refusals]
        if outcome.failure is not None:
            stated = outcome.failure
            words.append(f"the runner stated {safe_text(stated.code)}: {safe_text(stated.message)}")
        outcome.status = Status.INFRASTRUCTURE_FAILURE
        outcome.failure = Failure(
            self._refusals[0].code,
            "; ".join(words),
            all(refusal.is_retryable for refusal in self._refusals),
        )
        return outcome

    def _status(self, stated: Any) -> Status:
        if type(stated) is Status:
            return stated
        if isinstance(stated, str) and stated in _STATUSES:
            return _STATUSES[stated]
        self._refuse("invalid_answer", f"status {shown(stated)} is none of {', '.join(Status)}")
        return Status.INFRASTRUCTURE_FAILURE

    def _failure(self, status: Status, stated: Any) -> Failure | None:
        if stated is None:
            return None if status is Status.SUCCESS else Failure("unspecified", f"{status}, for no stated reason")
        if not isinstance(stated, Failure):
            kind = type(stated).__name__
            self._refuse("invalid_answer", f"the failure is {shown(stated)}, a {kind}, not a Failure")
            return None
        if status is Status.SUCCESS:
            self._refuse("invalid_answer", "the status is success, but there is a failure")
        return stated

    def _measurements(self, result: TrialResult, *, claims_success: bool) -> tuple[Measurement, ...]:
        answered = self._members("metrics", result.metrics)
        reasons = self._members("missing", result.missing) if result.missing else {}
        found = []
        for name, metric in self._declared.items():
            given = answered.get(name)
            if given is not None:
                if type(given) is float and metric.refusal(given) is None:
                    found.append(Measurement(name, given))
                else:
                    found.append(self._measurement(metric, given))
                if name in reasons:
                    self._refuse("invalid_answer", f"metric {name!r} has both a value and a missing reason")
            elif name in reasons:
                found.append(Measurement(name, None, self._reason(name, reasons[name])))
            elif claims_success or name in answered:
                found.append(Measurement(name, None, MissingReason.NOT_EMITTED.value))
        return tuple(found)

    def _members(self, member: str, given: Any) -> dict[str, Any]:
        """Return the members of `metrics` or `missing`, refusing names that the campaign does not declare."""
        if not isinstance(given, Mapping):
            kind = type(given).__name__
            self._refuse("invalid_answer", f"{member} is {shown(given)}, a {kind}, not a mapping")
            return {}
        # Copied once: a mapping of the runner's own making may answer otherwise the next time it is asked.
        members = dict(given)
        if members.keys() <= self._declared.keys():
            return members
        unknown = [name for name in members if name not in self._declared]
        for name in unknown[:_EXPLAINED]:
            told = unknown_name("metric", name[:200] if isinstance(name, str) else shown(name), self._declared)
            self._refuse("unknown_metric", f"{told}; {member} has {shown(members[name])} for it")
        if len(unknown) > _EXPLAINED:
            self._refuse("unknown_metric", f"and {len(unknown) - _EXPLAINED} unknown metrics more")
        return members

    def _measurement(self, metric: Metric, given: Any) -> Measurement:
        value = self._number(metric, given)
        if value is None:
            return Measurement(metric.name, None, MissingReason.NOT_EMITTED.value)
        refusal = metric.refusal(value)
        if refusal is None:
            return Measurement(metric.name, value)
        is_finite = math.isfinite(value)
        self._refuse("out_of_range" if is_finite else "not_finite", refusal)
        reason = MissingReason.NOT_EMITTED if is_finite else MissingReason.NOT_FINITE
        return Measurement(metric.name, None, reason.value)

    def _number(self, metric: Metric, given: Any) -> float | None:
        if not isinstance(given, numbers.Real) and hasattr(given, "item"):
            given = given.item()  # a scalar of an array library
        if isinstance(given, bool) and metric.kind == "binary":
            return float(given)
        number = _real(given)
        if number is None:
            kind = type(given).__name__
            remedy = "only a binary metric takes one" if kind == "bool" else "not an int or float"
            self._refuse("not_a_number", f"metric {metric.name!r} is {shown(given)}, a {kind}, {remedy}")
        return number

    def _reason(self, name: str, given: Any) -> str:
        if isinstance(given, str) and given in _REASONS:
            return _REASONS[given]
        known = ", ".join(_REASONS)
        self._refuse("invalid_answer", f"metric {name!r} is missing as {shown(given)}, which is none of {known}")
        return MissingReason.NOT_EMITTED.value

    def _cost(self, given: Any) -> float | None:
        if given is None:
            return None
        cost = _real(given)
        if cost is not None and 0 <= cost <= MAX_MAGNITUDE:
            return cost
        self._refuse("invalid_answer", f"cost_usd is {shown(given)}, not a finite number from 0; None is unknown")
        return None

    def _tokens(self, member: str, given: Any) -> int | None:
        if given is None:
            return None
        if isinstance(given, numbers.Integral) and not isinstance(given, bool):
            tokens = int(given)
            if 0 <= tokens <= MAX_INTEGER:
                return tokens
        self._refuse("invalid_answer", f"{member} is {shown(given)}, not a whole number from 0; None is unknown")
        return None

    def _native_evidence(self, result: TrialResult) -> str | None:
        left, named = self._shelf.last, result.artifact_id
        if named is not None:
            artifact = self._shelf.artifacts.get(named) if isinstance(named, str) else None
            if artifact is not None:
                return artifact.artifact_id
            self._refuse(
                "invalid_answer",
                f"artifact {shown(named)} was not retained in this trial; give what artifacts.put returned",
            )
        if result.output is None and not result.observations:
            return left
        try:
            # The coordinate is no part of it, so that equal outputs share one artifact.
            content = {"output": result.output, "observations": result.observations}
            return self._shelf.put(content, schema=TRIAL_SCHEMA)
        except InfrastructureFailure as failure:
            self._refuse(failure.code, failure.message, is_retryable=failure.is_retryable)
            return left


def shown(value: Any) -> str:
    """Return a short text of any value; never raises an `Exception`."""
    try:
        return reprlib.repr(value)
    except Exception:
        return f"a {type(value).__name__}"


def _real(given: Any) -> float | None:
    """Return a real number as a double, an integer too large for one as infinity; None for anything else."""
    if isinstance(given, bool) or not isinstance(given, numbers.Real):
        return None
    try:
        return float(given)
    except OverflowError:
        return math.inf
