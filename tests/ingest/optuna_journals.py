"""Makes journals in the shape that Optuna writes, operation by operation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RUNNING, COMPLETE, PRUNED, FAIL, WAITING = range(5)
X = {"name": "FloatDistribution", "attributes": {"step": None, "low": 0.0, "high": 9.0, "log": False}}
N = {"name": "IntDistribution", "attributes": {"log": False, "step": 1, "low": 0, "high": 9}}
C = {"name": "CategoricalDistribution", "attributes": {"choices": ["a", None, 3]}}


def op(code: int, **members: Any) -> dict[str, Any]:
    return {"op_code": code, "worker_id": "w", **members}


def study(name: str = "tune", directions: tuple[int, ...] = (1,)) -> dict[str, Any]:
    return op(0, study_name=name, directions=list(directions))


def trial(
    number: int,
    state: int,
    values: list[float] | None = None,
    *,
    study_id: int = 0,
    params: dict[str, tuple[float, dict[str, Any]]] | None = None,
    attrs: dict[str, Any] | None = None,
    reports: tuple[float, ...] = (),
) -> list[dict[str, Any]]:
    """Return the operations of one trial; `number` counts trials of the whole journal."""
    started = f"2024-06-07T10:00:{number % 60:02}.000000"
    made = [op(4, study_id=study_id, datetime_start=started)]
    for name, (value, drawn) in (params or {}).items():
        made.append(op(5, trial_id=number, param_name=name, param_value_internal=value, distribution=json.dumps(drawn)))
    made += [op(7, trial_id=number, step=step, intermediate_value=value) for step, value in enumerate(reports)]
    made += [op(8, trial_id=number, user_attr={name: value}) for name, value in (attrs or {}).items()]
    if state != RUNNING:
        ended = f"2024-06-07T10:01:{number % 60:02}.500000"
        made.append(op(6, trial_id=number, state=state, values=values, datetime_complete=ended))
    return made


def write(path: Path, *parts: dict[str, Any] | list[dict[str, Any]]) -> Path:
    operations = [each for part in parts for each in (part if isinstance(part, list) else [part])]
    path.write_text("".join(json.dumps(each) + "\n" for each in operations))
    return path
