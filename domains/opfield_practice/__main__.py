"""Walk through the loop and show it, or with `--records` print it as JSON lines that `opfield bind` reads."""

from __future__ import annotations

import sys

import opfield as of
from opfield.practice import (
    CandidateAttemptRunBinding,
    ReplayAdapterResult,
    SealedPracticeTrace,
    enveloped,
)
from opfield_practice.loop import FRAME, Episode, walk


def shown(episode: Episode) -> list[str]:
    """Return one line for each record of an episode, for people."""
    lines = [
        f"problem      {FRAME.text}",
        f"assessment   {episode.assessment.assessment_id[:12]}  missing: {', '.join(episode.assessment.missing_roles)}",
        *(f"residual     {each.residual_id[:12]}  {each.residual_kind} {each.role}" for each in episode.residuals),
        f"gate         {episode.gate.gate_decision_id[:12]}  {episode.gate.gate_disposition}",
        f"budget       {episode.budget.budget_id[:12]}  {episode.budget.explanation}",
        f"run          {episode.run.run_id[:12]}  {episode.run.run_disposition}",
    ]
    for result, outcome in zip(episode.results, episode.outcomes, strict=True):
        lines.append(f"attempt {result.attempt_index}    {result.attempt_id[:12]}  {result.explanation}")
        if isinstance(outcome, CandidateAttemptRunBinding):
            lines.append(f"  binding    {outcome.binding_id[:12]}  {outcome.run_attempt_membership}")
        else:
            lines.append(f"  refusal    {outcome.binding_refusal_id[:12]}  {', '.join(outcome.reason_codes)}")
    for replay in episode.replays:
        if isinstance(replay, ReplayAdapterResult):
            lines.append(f"  replay     {replay.replay_result_id[:12]}  {replay.replay_disposition}")
    if isinstance(episode.trace, SealedPracticeTrace):
        lines.append(f"trace        {episode.trace.trace_id[:12]}  {episode.trace.episode_disposition}")
    return lines


def records(episode: Episode) -> list[str]:
    """Return the run and the operator results as JSON lines."""
    return [of.canonical_json(enveloped(each).as_json()).decode() for each in (episode.run, *episode.results)]


if __name__ == "__main__":
    print("\n".join(records(walk()) if "--records" in sys.argv[1:] else shown(walk())))
