"""Samples of an Inspect log as trials: what was asked, what it is worth, how it ended, what it used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from opfield.core import Failure, MissingReason, Status, check_label
from opfield.errors import DeclarationError
from opfield.ingest.readers.inspect_header import key_of, text_of
from opfield.ingest.readers.inspect_scores import Survey, is_finite, is_judge_failure, parts_of, scores_of, worth
from opfield.ingest.records import CaseRef, Refused, Sample

#: Members that tell of every step, or that only they refer to; they can be many times as large as the rest.
_PROCESS: Final = frozenset(
    {"events", "events_data", "message_pool", "call_pool", "transcript", "timelines", "attachments"}
)
#: Prefixes by which a text stands for an attachment; the second is of logs of 2024.
_ATTACHMENT: Final = ("attachment://", "tc://")
#: How a message begins when what stopped a sample was a cancellation of its surroundings, as Inspect tells it.
_CANCELLATION: Final = ("CancelledError(", "Cancelled(")
_LONGEST_GROUP: Final = 200


@dataclass(frozen=True, slots=True)
class Setting:
    """What all samples of a log share.

    Attributes:
        system: key of the system.
        suite: what ids are unique in.
        survey: what the scorers of the log gave.
        only_scorer: name of the scorer where a sample does not name it.
        has_scorers: whether the log scored anything, or was to.
        is_finished: whether the run came to its end.
        error_status: what a sample is that Inspect recorded an error of.
        groups: groups of every sample.
        group_keys: metadata that are groups too.
        keeps_events: whether the evidence holds the steps as well.
    """

    system: str
    suite: str
    survey: Survey
    only_scorer: str
    has_scorers: bool
    is_finished: bool
    error_status: Status
    groups: Mapping[str, str] = field(default_factory=dict)
    group_keys: tuple[str, ...] = ()
    keeps_events: bool = False


@dataclass(slots=True)
class Tally:
    """What is counted over the samples of a log, for its notes.

    Attributes:
        limits: samples that hit a limit and were scored, by kind of limit.
        texts: values of a metric that are text and no number.
        example: such a text, by metric.
        invalidated: samples that somebody marked as invalid.
        ungrouped: samples without a usable value of a group, by metadata key.
    """

    limits: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)
    example: dict[str, Any] = field(default_factory=dict)
    invalidated: int = 0
    ungrouped: Counter[str] = field(default_factory=Counter)


def sample_of(raw: Any, place: str, setting: Setting, tally: Tally) -> Sample | Refused:
    """Return a sample of a log as a trial, or why it cannot be one."""
    if not isinstance(raw, Mapping):
        return Refused(place, f"a sample is an object, got a {type(raw).__name__}", "leave it out")
    key, epoch = key_of(raw.get("id")), key_of(raw.get("epoch"))
    if key is None:
        return Refused(place, f"id {raw.get('id')!r:.80} is neither text nor a whole number", "give it one")
    try:
        check_label("sample id", str(key))
    except DeclarationError as error:
        return Refused(place, str(error), "give the sample another id, and write the log again")
    if not isinstance(epoch, int):
        return Refused(place, f"epoch {raw.get('epoch')!r:.80} is no whole number", "give the sample its epoch")
    values: dict[str, float] = {}
    missing: dict[str, MissingReason] = {}
    for metric, value, reason in _measured(raw, setting, tally):
        if metric in values or metric in missing:
            return Refused(place, f"two scores would be metric {metric!r}", "rename one of the scorers")
        if reason is None:
            values[metric] = value
        else:
            missing[metric] = reason
    is_scored = bool(values or missing)
    status, failure = _ended(raw, setting, is_scored)
    _count(raw, status, is_scored, tally)
    if status is Status.SUCCESS and is_scored:
        lacking = setting.survey.shapes.keys() - values.keys() - missing.keys()
        missing |= dict.fromkeys(sorted(lacking), MissingReason.NOT_EMITTED)
    cost, received, sent = _used(raw)
    return Sample(
        setting.system,
        CaseRef(key, setting.suite),
        place,
        epoch,
        input=asked_of(raw),
        values=values,
        missing=missing,
        status=status,
        failure=failure,
        groups={**setting.groups, **_groups(raw, setting, tally)},
        cost_usd=cost,
        input_tokens=sent,
        output_tokens=received,
        duration_s=_duration(raw),
        started_at=text_of(raw.get("started_at")) or None,
        finished_at=text_of(raw.get("completed_at")) or None,
        attempts=1 + (len(raw["error_retries"]) if isinstance(raw.get("error_retries"), list) else 0),
        content=dict(raw) if setting.keeps_events else {k: v for k, v in raw.items() if k not in _PROCESS},
    )


def asked_of(raw: Mapping[str, Any]) -> Any:
    """Return what a sample asked, attachments put back in their place.

    Text is itself, as is the text of a list that holds one message of the user's; another list of messages is reduced
    to their roles and contents. The choices of a multiple choice question are not part of it.
    """
    asked = raw.get("input")
    transcript = raw.get("transcript")
    attachments = raw.get("attachments") or (transcript.get("content") if isinstance(transcript, Mapping) else None)
    if isinstance(attachments, Mapping) and attachments:
        asked = _resolved(asked, attachments)
    if not isinstance(asked, list):
        return asked
    messages = [
        {"role": message.get("role"), "content": _plain_content(message.get("content"))}
        for message in asked
        if isinstance(message, Mapping)
    ]
    if len(messages) == 1 and messages[0]["role"] == "user" and isinstance(messages[0]["content"], str):
        return messages[0]["content"]
    return messages


def _plain_content(content: Any) -> Any:
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], Mapping):
        only = content[0]
        if only.get("type") == "text" and isinstance(only.get("text"), str):
            return only["text"]
    return content


def _resolved(value: Any, attachments: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        for prefix in _ATTACHMENT:
            if value.startswith(prefix):
                return attachments.get(value[len(prefix) :], value)
        return value
    if isinstance(value, list):
        return [_resolved(item, attachments) for item in value]
    if isinstance(value, Mapping):
        return {key: _resolved(item, attachments) for key, item in value.items()}
    return value


def _measured(
    raw: Mapping[str, Any], setting: Setting, tally: Tally
) -> Iterator[tuple[str, float, MissingReason | None]]:
    for scorer, score in scores_of(raw, setting.only_scorer):
        judge_failed = is_judge_failure(score)
        for metric, value in parts_of(scorer, score):
            found, shape = worth(value)
            if not isinstance(found, MissingReason):
                yield metric, found, None
                continue
            reason = MissingReason.JUDGE_FAILED if judge_failed else found
            if shape == "text":
                tally.texts[metric] += 1
                tally.example.setdefault(metric, value)
            # A scorer of several values that gave none of them says so once, in their place.
            is_whole = shape == "nothing" and metric == scorer and metric not in setting.survey.shapes
            for name in sorted(setting.survey.parts.get(scorer, {metric})) if is_whole else (metric,):
                yield name, 0.0, reason


def _ended(raw: Mapping[str, Any], setting: Setting, is_scored: bool) -> tuple[Status, Failure | None]:
    if raw.get("error"):
        message = _message(raw["error"])
        if message.startswith(_CANCELLATION):
            return Status.CANCELLED, Failure("cancelled", message)
        return setting.error_status, Failure("error", message)
    if raw.get("invalidation"):
        return Status.INFRASTRUCTURE_FAILURE, Failure("invalidated", _message(raw["invalidation"]))
    if is_scored:
        return Status.SUCCESS, None
    if limit := _limit(raw):
        status = Status.CANCELLED if limit == "operator" else Status.DOMAIN_FAILURE
        return status, Failure(f"limit_{limit}", f"the sample hit its {limit} limit and was not scored")
    if not setting.is_finished:
        return Status.CANCELLED, Failure("interrupted", "the run ended before the sample was scored")
    if setting.has_scorers:
        return Status.INFRASTRUCTURE_FAILURE, Failure("unscored", "the log has scorers, but none scored the sample")
    return Status.SUCCESS, None


def _count(raw: Mapping[str, Any], status: Status, is_scored: bool, tally: Tally) -> None:
    if status is Status.SUCCESS and is_scored and (limit := _limit(raw)):
        tally.limits[limit] += 1
    tally.invalidated += bool(raw.get("invalidation"))


def _limit(raw: Mapping[str, Any]) -> str:
    limit = raw.get("limit")
    return text_of(limit.get("type")) or "unnamed" if isinstance(limit, Mapping) else text_of(limit)


def _message(stated: Any) -> str:
    if isinstance(stated, Mapping):
        parts = [text_of(stated.get(name)) for name in ("message", "author", "reason")]
        return ": ".join(part for part in parts if part) or "no message"
    return str(stated)


def _used(raw: Mapping[str, Any]) -> tuple[float | None, int | None, int | None]:
    """Return cost, tokens received and tokens sent over all models of a sample, those that grade it included.

    `input_tokens` leaves out what was read from or written to a cache, except in older logs of some providers. The
    total tells which: where it is input and output alone, the cache is inside; else the cache is added. Output
    includes reasoning. Cost is known where every model has one.
    """
    usage = raw.get("model_usage")
    models = [use for use in usage.values() if isinstance(use, Mapping)] if isinstance(usage, Mapping) else []
    if not models:
        return None, None, None
    costs = [float(cost) for use in models if is_finite(cost := use.get("total_cost"))]
    cost = sum(costs) if len(costs) == len(models) else None
    sent = received = 0
    for use in models:
        given, out, total = (_tokens(use, name) for name in ("input_tokens", "output_tokens", "total_tokens"))
        cached = _tokens(use, "input_tokens_cache_read") + _tokens(use, "input_tokens_cache_write")
        sent += given if total == given + out else given + cached
        received += out
    return cost, received, sent


def _tokens(use: Mapping[str, Any], name: str) -> int:
    value = use.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _duration(raw: Mapping[str, Any]) -> float | None:
    for name in ("total_time", "working_time"):
        if is_finite(seconds := raw.get(name)):
            return float(seconds)
    return None


def _groups(raw: Mapping[str, Any], setting: Setting, tally: Tally) -> dict[str, str]:
    if not setting.group_keys:
        return {}
    metadata = raw.get("metadata")
    groups: dict[str, str] = {}
    for key in setting.group_keys:
        value = metadata.get(key) if isinstance(metadata, Mapping) else None
        text = str(value).lower() if isinstance(value, bool) else str(value)
        is_short = isinstance(value, str | int | float) and 0 < len(text) <= _LONGEST_GROUP and "\0" not in text
        if is_short:
            groups[key] = text
        else:
            tally.ungrouped[key] += 1
    return groups
