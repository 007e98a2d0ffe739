"""What the header of an Inspect log says of the system, of the samples that were to be, and of its own results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeGuard

from opfield.core import scrub
from opfield.core.canonical import MAX_INTEGER
from opfield.ingest.readers.inspect_log import Log, stated_scores
from opfield.ingest.readers.inspect_scores import Survey, is_finite
from opfield.ingest.records import Key, Note, Stated

#: Settings of a run that change what the system can do, and so belong to it.
_LIMITS: Final = (
    "message_limit",
    "max_messages",
    "token_limit",
    "token_limit_type",
    "turn_limit",
    "time_limit",
    "working_limit",
    "cost_limit",
)
#: Reducers that leave the value of a single epoch as it is.
_IDLE_REDUCERS: Final = frozenset({None, "mean", "mode", "median", "max"})
#: What Inspect calls the trials that were to be, and those that it counted.
_COUNTS: Final[tuple[tuple[Literal["samples", "scored"], str], ...]] = (
    ("samples", "total_samples"),
    ("scored", "completed_samples"),
)
_DEEPEST: Final = 200


def place_of(log: Log) -> str:
    """Return where a log's header stands."""
    return f"{log.source.name}: header"


def task_of(log: Log) -> str:
    """Return the name of a log's task; empty where it has none."""
    return text_of(log.header["eval"].get("task"))


def model_of(log: Log) -> str:
    """Return the name of a log's model; empty where it has none."""
    return text_of(log.header["eval"].get("model"))


def text_of(value: Any) -> str:
    """Return text as it is, and anything else as no text."""
    return value if isinstance(value, str) else ""


def model_says(log: Log) -> dict[str, Any]:
    """Return what a log says of the model, whatever the task."""
    spec = log.header["eval"]
    url = spec.get("model_base_url")
    said: dict[str, Any] = _said(
        {
            "tool": "inspect_ai",
            "model": spec.get("model"),
            "model_args": spec.get("model_args"),
            "model_base_url": scrub(url) if isinstance(url, str) else None,
            "model_roles": spec.get("model_roles"),
            "generate_config": spec.get("model_generate_config"),
        }
    )
    return said


def task_says(log: Log) -> dict[str, Any]:
    """Return what a log says of the task, of how it is solved, and of the version of Inspect that ran it.

    Nothing of the run is in it, such as times and ids.
    """
    spec, plan = log.header["eval"], _mapping(log.header.get("plan"))
    config = _mapping(spec.get("config"))
    said: dict[str, Any] = _said(
        {
            "version": _mapping(spec.get("packages")).get("inspect_ai"),
            "task": spec.get("task"),
            "task_version": spec.get("task_version"),
            "task_args": spec.get("task_args"),
            "solver": spec.get("solver"),
            "solver_args": spec.get("solver_args"),
            "plan": {"steps": plan.get("steps"), "finish": plan.get("finish"), "config": plan.get("config")},
            "dataset": _mapping(spec.get("dataset")).get("name"),
            "limits": {name: config[name] for name in _LIMITS if config.get(name) is not None},
        }
    )
    return said


def run_of(log: Log) -> str | None:
    """Return the identity of the run: `eval_id`, or in older logs those of the run and of its task together."""
    spec = log.header["eval"]
    if eval_id := text_of(spec.get("eval_id")):
        return eval_id
    parts = [part for part in (text_of(spec.get("run_id")), text_of(spec.get("task_id"))) if part]
    return "/".join(parts) or None


def epochs_of(log: Log) -> int:
    """Return how many epochs a log declares of each sample.

    Where it does not say, the total that it states decides if it is a multiple of its samples, since Inspect defines
    that total as their product; else one, as Inspect takes it.
    """
    epochs = _mapping(log.header["eval"].get("config")).get("epochs")
    if _is_count(epochs):
        return int(epochs)
    ids, total = declared_ids(log), _mapping(log.header.get("results")).get("total_samples")
    if epochs is None and ids and _is_count(total) and total % len(ids) == 0:
        return int(total) // len(ids)
    return 1


def declared_ids(log: Log) -> list[Key]:
    """Return the ids of the samples that a log declares, each once; none where it does not list them."""
    ids = _mapping(log.header["eval"].get("dataset")).get("sample_ids")
    if not isinstance(ids, list):
        return []
    keys = (key_of(value) for value in ids)
    return list({(type(key), key): key for key in keys if key is not None}.values())


def key_of(value: Any) -> Key | None:
    """Return an id with its type; None for what Inspect would not take as one."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def is_finished(log: Log) -> bool:
    """Return whether a log says that its run came to its end."""
    return bool(log.header.get("status") == "success")


def has_scorers(log: Log) -> bool:
    """Return whether a log names a scorer, or holds a score."""
    return bool(log.header["eval"].get("scorers") or stated_scores(log.header) or log.survey.shapes)


def metric_stated(survey: Survey, score: Mapping[str, Any]) -> str:
    """Return which metric a stated result is of: the scorer itself, or one of the several values that it gives."""
    name = text_of(score.get("name"))
    scorer = text_of(score.get("scorer")) or name
    part = f"{scorer}/{name}"
    return part if name != scorer or (part in survey.shapes and name not in survey.shapes) else name


def figures_of(log: Log, system: str) -> Iterator[Stated | Note]:
    """Yield the figures that a log states: means of its scorers, samples declared, samples counted.

    `accuracy` and `mean` are means over cases, each reduced over its epochs first; they are stated where the reducer
    is the mean, or leaves one epoch as it is. With another reducer over several epochs they are no such mean.
    """
    place = f"{place_of(log)} results"
    results = _mapping(log.header.get("results"))
    for figure, name in _COUNTS:
        if is_finite(value := results.get(name)):
            yield Stated(system, figure, float(value), place, name=name)
    epochs = epochs_of(log)
    reducers = _mapping(log.header["eval"].get("config")).get("epochs_reducer")
    for score in stated_scores(log.header):
        reducer = score.get("reducer")
        is_mean = reducer == "mean" or (reducer is None and reducers in (None, ["mean"]))
        if not is_mean and not (epochs == 1 and isinstance(reducer, str | None) and reducer in _IDLE_REDUCERS):
            continue
        for name, told in _mapping(score.get("metrics")).items():
            if name.rpartition("/")[2] not in ("accuracy", "mean") or not isinstance(told, Mapping):
                continue
            if told.get("group") is not None:
                continue
            metric, value = metric_stated(log.survey, score), told.get("value")
            if is_finite(value):
                yield Stated(system, "mean", float(value), place, metric, name)
            elif value is not None:
                yield Note(f"{name} of {metric} is stated as {value}, so that it is not set beside the samples", place)


def planned_samples(log: Log) -> tuple[int, str] | None:
    """Return how many samples a log says there were to be, and where it says so; None where it does not say."""
    total = _mapping(log.header.get("results")).get("total_samples")
    if _is_count(total):
        return int(total), "results.total_samples"
    spec = log.header["eval"]
    size, limit = _mapping(spec.get("dataset")).get("samples"), _mapping(spec.get("config")).get("limit")
    if not _is_count(size) or declared_ids(log):
        return None  # the ids say it, and the size of the dataset is another thing
    if isinstance(limit, list) and len(limit) == 2 and all(isinstance(end, int) for end in limit):
        size = max(0, min(size, limit[1]) - limit[0])
    elif _is_count(limit):
        size = min(size, limit)
    return int(size) * epochs_of(log), "eval.dataset.samples"


def is_shuffled(log: Log) -> bool:
    """Return whether a log says that its dataset was shuffled."""
    return bool(_mapping(log.header["eval"].get("dataset")).get("shuffled"))


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_INTEGER


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _said(value: Any, room: int = _DEEPEST) -> Any:
    """Return a JSON value without empty members, with what has no canonical form as text."""
    if isinstance(value, Mapping):
        if not room:
            return str(value)
        said = {key: _said(item, room - 1) for key, item in value.items()}
        return {key: item for key, item in said.items() if item is not None and item != {} and item != []}
    if isinstance(value, list):
        return [_said(item, room - 1) for item in value] if room else str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        return hex(value)
    return value
