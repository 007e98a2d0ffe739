"""A runner that the reference worker serves: what it does with a trial depends on the number of the case."""

from __future__ import annotations

import os
import time
from typing import Any

import opfield as of
from opfield.isolate import runner_plugin


def run(trial: of.TrialRequest) -> Any:
    """Answer in as many ways as there are cases."""
    print("a runner may talk")
    match trial.case["number"]:
        case 0:
            first = trial.artifacts.put({"k": trial.spec["k"]}, schema="served.spec/v1")
            last = trial.artifacts.put(
                f"{first} {trial.seed.hex} {trial.attempt} {dict(trial.groups)}", media_type="text/plain"
            )
            return of.TrialResult({"recall": 0.5, "hit": 1}, artifact_id=last, cost_usd=0.25, input_tokens=7)
        case 1:
            return {"recall": float("nan"), "latency": float("-inf"), "words": 3, "hit": True}
        case 2:
            raise of.DomainFailure("odd", "it is odd")
        case 3:
            return of.TrialResult(status=of.Status.INFRASTRUCTURE_FAILURE, failure=of.Failure("busy", "later", True))
        case 4:
            os._exit(7)
    time.sleep(60)
    return {}


async def later(trial: of.TrialRequest) -> dict[str, float]:
    """Answer as a coroutine does."""
    return {"recall": trial.case["number"] / 8}


plugin = runner_plugin("served", "1", run)
coroutine = runner_plugin("served", "1", later)
