"""Which logs of Inspect are of one system."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from opfield.core import canonical_json
from opfield.ingest.readers.inspect_header import model_of, model_says, place_of, run_of, task_of, task_says, text_of
from opfield.ingest.readers.inspect_log import Log
from opfield.ingest.records import Refused, System


def systems_of(logs: Sequence[Log], by: str) -> tuple[list[System | Refused], list[str]]:
    """Return the systems of logs, and for each log the key of its own.

    Args:
        logs: the logs.
        by: `file`, each log its own system; or `model`, logs of one model that say the same of it, and of each task
            that they share, are one.
    """
    return _by_model(logs) if by == "model" else _by_file(logs)


def _by_file(logs: Sequence[Log]) -> tuple[list[System | Refused], list[str]]:
    systems: list[System | Refused] = []
    keys: list[str] = []
    for log in logs:
        name = log.source.name
        key = name if name not in keys else f"{name} ({len(keys) + 1})"
        keys.append(key)
        said = {**model_says(log), **task_says(log)}
        systems.append(System(key, name, place_of(log), said, _aliases(log, name), run_of(log)))
    return systems, keys


def _by_model(logs: Sequence[Log]) -> tuple[list[System | Refused], list[str]]:
    parties: list[list[Log]] = []
    belongs: list[int] = []
    for log in logs:
        for index, party in enumerate(parties):
            if all(_agree(log, other) for other in party):
                party.append(log)
                belongs.append(index)
                break
        else:
            parties.append([log])
            belongs.append(len(parties) - 1)
    systems = [_party_system(index, party) for index, party in enumerate(parties)]
    return [*systems, *_runs_alike(logs)], [systems[index].key for index in belongs]


def _agree(one: Log, other: Log) -> bool:
    is_one_model = canonical_json(model_says(one)) == canonical_json(model_says(other))
    return is_one_model and (
        task_of(one) != task_of(other) or canonical_json(task_says(one)) == canonical_json(task_says(other))
    )


def _party_system(index: int, party: Sequence[Log]) -> System:
    first = party[0]
    label = model_of(first) or first.source.name
    tasks: dict[str, Any] = {task_of(log): task_says(log) for log in party}
    aliases = dict.fromkeys(alias for log in party for alias in (log.source.name, *_aliases(log, label)))
    return System(
        f"{index + 1}:{label}",
        label,
        place_of(first),
        {**model_says(first), "tasks": dict(sorted(tasks.items()))},
        tuple(alias for alias in aliases if alias != label),
        run_of(first) if len(party) == 1 else None,
    )


def _runs_alike(logs: Sequence[Log]) -> list[Refused]:
    """Refuse two logs of one run, which a system of several runs has no place to show."""
    places: dict[str, str] = {}
    refused: list[Refused] = []
    for log in logs:
        run = run_of(log)
        if run is not None and run in places:
            reason = f"it is of the run {run}, as is {places[run]}"
            refused.append(Refused(place_of(log), reason, "name one of the two logs"))
        elif run is not None:
            places[run] = place_of(log)
    return refused


def _aliases(log: Log, label: str) -> tuple[str, ...]:
    spec = log.header["eval"]
    names = (
        model_of(log),
        text_of(spec.get("eval_id")),
        text_of(spec.get("run_id")),
        task_of(log),
        PurePath(log.source.name).name,
        PurePath(log.source.name).stem,
    )
    return tuple(name for name in dict.fromkeys(names) if name and name != label)
