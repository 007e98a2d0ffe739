"""Optuna's journal: one operation a line, replayed as Optuna itself does, without Optuna."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from opfield.core.number import is_number
from opfield.ingest import files
from opfield.ingest.readers.optuna_study import DIRECTIONS, ENDED, STATES, State, Study, Trial
from opfield.ingest.records import IngestError, Note, Source

_REMEDY: Final = "copy the journal again, or read it with the version of Optuna that wrote it"


class _MalformedError(Exception):
    """An operation is not what Optuna writes; the message says what is wrong with it."""


@dataclass(slots=True)
class _Held:
    """A study under replay.

    Attributes:
        study: the study.
        first: parameter to the number of the first trial that has it, and what that drew it from.
    """

    study: Study
    first: dict[str, tuple[int, Mapping[str, Any]]] = field(default_factory=dict)


@dataclass(slots=True)
class _Replay:
    """What the operations so far amount to.

    Attributes:
        studies: studies that exist, by id.
        trials: every trial that was ever created, by id, with its study.
        created: studies that were ever created.
        deleted: studies that were deleted.
        idle: operations that change nothing, such as those on trials that had ended.
        discarded: operations that Optuna itself passes over.
    """

    studies: dict[int, _Held] = field(default_factory=dict)
    trials: list[tuple[_Held, Trial]] = field(default_factory=list)
    created: int = 0
    deleted: int = 0
    idle: int = 0
    discarded: int = 0


def read_journal(source: Source, advance: files.Advance) -> tuple[list[Study], list[Note]]:
    """Return the studies that a journal amounts to, and what is to be told of it.

    Raises:
        IngestError: where a line is no operation of a journal.
    """
    replay, count = _Replay(), 0
    notes: list[Note] = []
    for number, operation in _operations(source, advance, notes):
        count += 1
        place = f"{source.name}: line {number}"
        try:
            _apply(replay, operation, place)
        except _MalformedError as error:
            raise IngestError(f"{place} is no operation of an Optuna journal: {error}; {_REMEDY}") from None
    if not count:
        raise IngestError(f"{source.name} is empty, and no journal of Optuna; copy it again, or leave it out")
    for found, what in (
        (replay.deleted, "studies were deleted, and their trials are left out, as in Optuna"),
        (replay.idle, "operations change nothing, as in Optuna: what they speak of had ended, or is not there"),
        (replay.discarded, "operations that discard trials are passed over, as in Optuna"),
    ):
        if found:
            notes.append(Note(f"{what}: {found:,}", source.name))
    return [held.study for held in replay.studies.values()], notes


def _operations(source: Source, advance: files.Advance, notes: list[Note]) -> Iterator[tuple[int, Any]]:
    """Yield the operations; a last line that is cut off was being written, and is told of."""
    held: tuple[int, bytes] | None = None
    for line in files.lines(source, advance):
        if held is not None:
            yield held[0], files.json_value(held[1], f"{source.name}: line {held[0]}")
        held = line
    if held is None:
        return
    number, content = held
    try:
        operation = files.json_value(content, source.name)
    except IngestError:
        if number == 1 or content.endswith(b"}"):  # nothing before it, or whole and yet no JSON
            raise
        text = "the last line is cut off, as when a writer was stopped, and is left out, as in Optuna"
        notes.append(Note(text, f"{source.name}: line {number}"))
        return
    yield number, operation


def _apply(replay: _Replay, told: Any, place: str) -> None:
    code = told.get("op_code") if isinstance(told, dict) else None
    if not isinstance(code, int) or isinstance(code, bool):
        raise _MalformedError("it has no op_code")
    if code == 0:
        _create_study(replay, told, place)
    elif code in (1, 2, 3):
        _change_study(replay, code, told)
    elif code == 4:
        _create_trial(replay, told, place)
    elif 5 <= code <= 9:
        _change_trial(replay, code, told)
    elif code == 10:
        replay.discarded += 1
    else:
        raise _MalformedError(f"op_code {code} is unknown, so that a newer version of Optuna may have written it")


def _create_study(replay: _Replay, told: Mapping[str, Any], place: str) -> None:
    name, directions = told.get("study_name"), told.get("directions")
    if not isinstance(name, str):
        raise _MalformedError(f"study_name is {name!r}")
    if not isinstance(directions, list) or not directions or not all(_is_index(each, 3) for each in directions):
        raise _MalformedError(f"directions are {str(directions)[:60]}, not a list of 1 (minimize) and 2 (maximize)")
    if any(held.study.name == name for held in replay.studies.values()):
        replay.idle += 1
        return
    replay.studies[replay.created] = _Held(Study(name, place, tuple(DIRECTIONS[each] for each in directions)))
    replay.created += 1


def _change_study(replay: _Replay, code: int, told: Mapping[str, Any]) -> None:
    key = told.get("study_id")
    held = replay.studies.get(key) if isinstance(key, int) else None
    if held is None:
        replay.idle += 1
    elif code == 1:
        del replay.studies[int(told["study_id"])]
        replay.deleted += 1
    elif code == 2:
        held.study.user_attrs.update(_object(told, "user_attr"))
    else:
        held.study.system_attrs.update(_object(told, "system_attr"))


def _create_trial(replay: _Replay, told: Mapping[str, Any], place: str) -> None:
    key = told.get("study_id")
    held = replay.studies.get(key) if isinstance(key, int) else None
    if held is None:
        replay.idle += 1
        return
    drawn = {name: _distribution(each) for name, each in _object(told, "distributions").items()}
    params = _object(told, "params")
    if not set(params) <= set(drawn):
        raise _MalformedError("a parameter has no distribution")
    value = told.get("value")
    trial = Trial(
        number=len(held.study.trials),
        place=place,
        state=_state(told.get("state", 0)),
        params={name: _as_seen(drawn[name], each) for name, each in params.items()},
        distributions=drawn,
        values=_values(told.get("values") if value is None else [value]),
        intermediate=_object(told, "intermediate_values"),
        user_attrs=_object(told, "user_attrs"),
        system_attrs=_object(told, "system_attrs"),
        started_at=_instant(told.get("datetime_start")),
        finished_at=_instant(told.get("datetime_complete")),
    )
    for name in trial.params:
        _remember(held, name, trial)
    held.study.trials.append(trial)
    replay.trials.append((held, trial))


def _change_trial(replay: _Replay, code: int, told: Mapping[str, Any]) -> None:
    key = told.get("trial_id")
    if not _is_index(key, len(replay.trials)) or replay.trials[int(key or 0)][1].state in ENDED:
        replay.idle += 1
        return
    held, trial = replay.trials[int(key or 0)]
    if code == 5:
        name, drawn = told.get("param_name"), _distribution(told.get("distribution"))
        if not isinstance(name, str):
            raise _MalformedError(f"param_name is {name!r}")
        if name in held.first and not _agree(held.first[name][1], drawn):
            replay.idle += 1
            return
        trial.params[name] = _as_seen(drawn, told.get("param_value_internal"))
        trial.distributions[name] = drawn
        _remember(held, name, trial)
    elif code == 6:
        state = _state(told.get("state"))
        if state == trial.state == "RUNNING":  # another worker took it first
            replay.idle += 1
            return
        if state == "RUNNING":
            trial.started_at = _instant(told.get("datetime_start"))
        if state in ENDED:
            trial.finished_at = _instant(told.get("datetime_complete"))
        trial.state = state
        trial.values = trial.values if told.get("values") is None else _values(told["values"])
    elif code == 7:
        step, value = told.get("step"), told.get("intermediate_value")
        if not isinstance(step, int) or not is_number(value):
            raise _MalformedError(f"step {step!r} has the intermediate value {str(value)[:60]}")
        trial.intermediate[str(step)] = value
    elif code == 8:
        trial.user_attrs.update(_object(told, "user_attr"))
    else:
        trial.system_attrs.update(_object(told, "system_attr"))


def _remember(held: _Held, name: str, trial: Trial) -> None:
    """Keep what a parameter is drawn from in the first trial that has it: later ones are held to it."""
    if name not in held.first or trial.number <= held.first[name][0]:
        held.first[name] = trial.number, trial.distributions[name]


def _agree(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether one parameter may be drawn from both: kind, scale and choices are the same, bounds may move."""
    if one["name"] != other["name"]:
        return False
    ones, others = one["attributes"], other["attributes"]
    if one["name"] == "CategoricalDistribution":
        mine, theirs = ones["choices"], others["choices"]
        return len(mine) == len(theirs) and all(
            a == b or (a != a and b != b) for a, b in zip(mine, theirs, strict=True)
        )
    return bool(ones.get("log", False)) == bool(others.get("log", False))


def _distribution(told: Any) -> dict[str, Any]:
    """Return a distribution by name and attributes; the abbreviated form of it is written out."""
    read: Any = None
    if isinstance(told, str):
        try:
            read = files.json_value(told.encode("utf-8", "replace"), "it")
        except IngestError as error:
            raise _MalformedError(f"its distribution is no JSON ({error})") from None
    if isinstance(read, dict) and "name" not in read and "type" in read:
        written_out = {name: value for name, value in read.items() if name != "type"}
        read = {"name": f"{str(read['type']).capitalize()}Distribution", "attributes": written_out}
    attributes = read.get("attributes") if isinstance(read, dict) else None
    if not isinstance(read, dict) or not isinstance(read.get("name"), str) or not isinstance(attributes, dict):
        raise _MalformedError(f"distribution is {str(told)[:60]!r}")
    if not read["name"].endswith("Distribution"):
        raise _MalformedError(f"distribution {read['name'][:60]!r} is unknown")
    if read["name"] == "CategoricalDistribution" and not isinstance(attributes.get("choices"), list):
        raise _MalformedError("a categorical distribution has no choices")
    return {"name": read["name"], "attributes": attributes}


def _as_seen(drawn: Mapping[str, Any], value: Any) -> Any:
    """Return a parameter as the objective saw it: journals keep choices by position, and integers as floats."""
    if not is_number(value):
        raise _MalformedError(f"param_value_internal is {str(value)[:60]!r}, no number")
    if drawn["name"] == "CategoricalDistribution":
        choices = drawn["attributes"]["choices"]
        if not (math.isfinite(value) and _is_index(int(value), len(choices))):
            raise _MalformedError(f"choice {value} of {len(choices)} choices")
        return choices[int(value)]
    if drawn["name"].startswith("Int") and math.isfinite(value):
        return int(value)
    return float(value)


def _values(told: Any) -> list[float] | None:
    if told is None:
        return None
    if not isinstance(told, list) or not all(is_number(each) for each in told):
        raise _MalformedError(f"values are {str(told)[:60]}, no list of numbers")
    return list(told)


def _state(told: Any) -> State:
    if not _is_index(told, len(STATES)):
        raise _MalformedError(f"state is {told!r}, none of 0 … {len(STATES) - 1}")
    return STATES[int(told)]


def _object(told: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = told.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _MalformedError(f"{name} is {str(value)[:60]!r}, no object")
    return dict(value)


def _instant(told: Any) -> str | None:
    return told if isinstance(told, str) else None


def _is_index(told: Any, count: int) -> bool:
    return isinstance(told, int) and not isinstance(told, bool) and 0 <= told < count
