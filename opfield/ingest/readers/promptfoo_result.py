"""What one result of promptfoo amounts to: values, status, cost, tokens and the evidence that is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeGuard

from opfield.core import Failure, MissingReason, Status, scrub
from opfield.ingest.kept import without_secrets
from opfield.ingest.readers.promptfoo_format import Row, is_count, is_number
from opfield.metric import MAX_MAGNITUDE

_NO_OUTPUT: Final = "No output"
_TIMED_OUT: Final = "Evaluation timed out after "
_NEVER_RAN: Final = "Evaluation exceeded max duration of "


def measured(row: Row) -> tuple[dict[str, float], dict[str, MissingReason]]:
    """Return the values of a result by metric, and why others are missing."""
    grading = _object(row.result.get("gradingResult"))
    given: dict[str, Any] = {
        "pass": row.result.get("success", grading.get("pass")),
        "score": row.result.get("score", grading.get("score")),
    }
    named = row.result.get("namedScores")
    for name, value in _object(named if isinstance(named, Mapping) else grading.get("namedScores")).items():
        # A test may name a score as the two above are named; it is then told apart by where it stands.
        given[f"namedScores.{name}" if name in ("pass", "score") else name] = value
    unjudged = _unjudged(grading)
    values: dict[str, float] = {}
    missing: dict[str, MissingReason] = {}
    for name, value in given.items():
        if unjudged and (name in ("pass", "score") or name in unjudged):
            missing[name] = MissingReason.JUDGE_FAILED
        elif name == "pass":
            if isinstance(value, bool):
                values[name] = float(value)
            else:
                missing[name] = MissingReason.NOT_EMITTED
        elif isinstance(value, bool) or not isinstance(value, int | float):
            missing[name] = MissingReason.NOT_EMITTED
        elif not abs(value) <= MAX_MAGNITUDE:
            missing[name] = MissingReason.NOT_FINITE
        else:
            values[name] = float(value)
    return values, missing


def _unjudged(grading: Mapping[str, Any]) -> set[str]:
    """Return the names of the scores that a grader could not give, `pass` among them where there is any."""
    names: set[str] = set()
    components = grading.get("componentResults")
    for component in components if isinstance(components, list) else ():
        if _object(_object(component).get("metadata")).get("graderError") is True:
            metric = _object(_object(component).get("assertion")).get("metric")
            names |= {"pass", metric if isinstance(metric, str) else "pass"}
    return names


def outcome(row: Row, errors: Status) -> tuple[Failure | None, Status]:
    """Return what went wrong in a result, if anything, and its status."""
    response = _object(row.result.get("response"))
    error = row.result.get("error") or response.get("error")
    reason = row.result.get("failureReason")
    is_ungraded = not isinstance(row.result.get("gradingResult"), Mapping) and row.result.get("success") is not True
    if reason != 2 and not (reason != 1 and error and error != _NO_OUTPUT and is_ungraded):
        return None, Status.SUCCESS
    message = (
        scrub(error if isinstance(error, str) else "" if error is None else str(error)) or "promptfoo names no error"
    )
    if message.startswith(_NEVER_RAN):
        return Failure("max_duration", message), Status.CANCELLED
    if message.startswith(_TIMED_OUT):
        return Failure("timeout", message), errors
    if response.get("output") is not None and not response.get("error"):
        # The answer stands there, so what failed is what came after it.
        return Failure("grader_error", message), Status.INFRASTRUCTURE_FAILURE
    return Failure("error", message), errors


def cost_usd(row: Row) -> float | None:
    """Return the cost of the answer; 0 only where the response says so, None where it is unknown."""
    for value, zero_is_said in (
        (row.result.get("cost"), False),
        (_object(row.result.get("response")).get("cost"), True),
    ):
        if _is_quantity(value) and (value > 0 or zero_is_said):
            return float(value)
    return None


def tokens(row: Row) -> tuple[int | None, int | None]:
    """Return the tokens sent and received, grading included; None where the file does not tell them apart."""
    grading = _object(_object(row.result.get("gradingResult")).get("tokensUsed"))
    for usage in (_object(row.result.get("response")).get("tokenUsage"), row.result.get("tokenUsage")):
        parts = [_object(usage).get(name) for name in ("prompt", "completion")]
        # Where both are 0 promptfoo filled in what the provider did not say.
        if any(is_count(part) and part > 0 for part in parts):
            judged = [part if is_count(part := grading.get(name)) else 0 for name in ("prompt", "completion")]
            sent, received = (
                int(part) + extra if is_count(part) else None for part, extra in zip(parts, judged, strict=True)
            )
            return sent, received
    return None, None


def seconds(row: Row) -> float | None:
    """Return how long the answer took; None where the file does not say, which promptfoo writes as 0."""
    value = row.result.get("latencyMs")
    return float(value) / 1000 if _is_quantity(value) and value > 0 else None


def content(row: Row) -> dict[str, Any]:
    """Return what is kept of a result as evidence: the answer and how it was graded."""
    response, grading = _object(row.result.get("response")), _object(row.result.get("gradingResult"))
    error = row.result.get("error")
    components = grading.get("componentResults")
    kept = {
        "id": row.result.get("id"),
        "description": row.test.get("description"),
        "error": None if error == grading.get("reason") else error,
        "finish_reason": response.get("finishReason"),
        "is_cached": response.get("cached"),
        "reason": grading.get("reason"),
        "comment": grading.get("comment"),
        "assertions": [
            # What was sent to a grader repeats the answer, and stands in no figure.
            {name: value for name, value in component.items() if name not in ("metadata", "componentResults")}
            for component in (components if isinstance(components, list) else ())
            if isinstance(component, Mapping)
        ],
    }
    evidence: dict[str, Any] = without_secrets({name: value for name, value in kept.items() if value not in (None, [])})
    if response.get("output") is not None:
        evidence["output"] = without_secrets(response["output"], scrubbed=False)
    return evidence


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_quantity(value: Any) -> TypeGuard[float]:
    return is_number(value) and value >= 0
