"""What a storage of Optuna holds, as values: studies and their trials, whichever way they were read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

State = Literal["RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING"]
#: States by the number that storages write.
STATES: Final[tuple[State, ...]] = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
ENDED: Final[frozenset[State]] = frozenset(("COMPLETE", "PRUNED", "FAIL"))

Direction = Literal["minimize", "maximize"]
#: Directions by the number that storages write; 0 is a study that was never optimized.
DIRECTIONS: Final[tuple[Direction | None, ...]] = (None, "minimize", "maximize")
#: System attribute of a study under which Optuna keeps the names of its objectives.
METRIC_NAMES: Final = "study:metric_names"


@dataclass(slots=True)
class Trial:
    """One trial as it stands at the end of its storage.

    Attributes:
        number: its number in its study, from 0.
        place: where it stands.
        state: how far it came.
        params: parameter to value, as the objective saw it.
        distributions: parameter to what it was drawn from: name of the distribution and its attributes.
        values: objective values; None where there are none. A pruned trial has its last report here.
        intermediate: step to value reported.
        user_attrs: attributes that the user set.
        system_attrs: attributes that Optuna set.
        started_at: ISO 8601 text, usually naive; None where it never started.
        finished_at: likewise; None where it never ended.
    """

    number: int
    place: str
    state: State = "RUNNING"
    params: dict[str, Any] = field(default_factory=dict)
    distributions: dict[str, Any] = field(default_factory=dict)
    values: list[float] | None = None
    intermediate: dict[str, Any] = field(default_factory=dict)
    user_attrs: dict[str, Any] = field(default_factory=dict)
    system_attrs: dict[str, Any] = field(default_factory=dict)
    started_at: str | None = None
    finished_at: str | None = None


@dataclass(slots=True)
class Study:
    """One study.

    Attributes:
        name: its name, unique in its storage.
        place: where it stands.
        directions: direction of each objective; None where it was never set.
        user_attrs: attributes that the user set.
        system_attrs: attributes that Optuna set.
        trials: its trials, by number.
    """

    name: str
    place: str
    directions: tuple[Direction | None, ...]
    user_attrs: dict[str, Any] = field(default_factory=dict)
    system_attrs: dict[str, Any] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)


def objectives(study: Study) -> tuple[str, ...]:
    """Return the names of a study's objectives: those that it was given, else `objective`, numbered where several."""
    count = len(study.directions)
    names = study.system_attrs.get(METRIC_NAMES)
    if (
        isinstance(names, Sequence)
        and len(names) == count
        and all(isinstance(name, str) for name in names)
        and len(set(names)) == count
    ):
        return tuple(names)
    return ("objective",) if count == 1 else tuple(f"objective_{index}" for index in range(count))


def native(study: Study, trial: Trial) -> Mapping[str, Any]:
    """Return everything that a storage holds of a trial, as JSON to keep."""
    return {
        "study": study.name,
        "study_user_attrs": study.user_attrs,
        "directions": list(study.directions),
        "number": trial.number,
        "state": trial.state,
        "params": trial.params,
        "distributions": trial.distributions,
        "values": trial.values,
        "intermediate_values": trial.intermediate,
        "user_attrs": trial.user_attrs,
        "system_attrs": trial.system_attrs,
        "datetime_start": trial.started_at,
        "datetime_complete": trial.finished_at,
    }
