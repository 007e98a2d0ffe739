"""The practice loop: from contract assessment to sealed trace, with attempts that join their run by a binding."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import opfield as of
from opfield.practice import CandidateAttemptRunBinding, ReplayAdapterResult, SealedPracticeTrace
from opfield_practice import CONTRACT, FRAME, ProblemFrame, TypedCue, build_missing_role_candidate, span_of, walk


def test_each_fitting_cue_is_one_attempt_that_is_bound_replayed_and_traced() -> None:
    episode = walk()
    assert [each.candidate_reconstruction.role_assignments for each in episode.results] == [
        (("destination", "Oslo"),),
        (("destination", "Bergen"),),
    ]
    assert all(isinstance(each, CandidateAttemptRunBinding) for each in episode.outcomes)
    found = [each.replay_disposition for each in episode.replays if isinstance(each, ReplayAdapterResult)]
    assert found == ["contract_open", "contract_closed"]
    assert isinstance(episode.trace, SealedPracticeTrace)
    assert episode.trace.episode_disposition == "replay_closed"
    assert len(episode.trace.trace_records) == 1 + 2 + 2 + 2
    assert episode.run.candidate_attempts == ()


def test_an_attempt_beyond_the_budget_is_refused_and_stays_out_of_the_replays() -> None:
    episode = walk(max_candidates=1)
    assert [each.reason_codes for each in episode.outcomes] == [
        ("structurally_admissible",),
        ("attempt_index_unsupported",),
    ]
    assert len(episode.replays) == 1


def test_a_cue_of_another_type_or_a_foreign_residual_makes_no_candidate() -> None:
    episode = walk()
    cue = TypedCue("weekday", span_of(FRAME.text, "Friday"))
    with pytest.raises(of.OpfieldError, match="takes a cue of type 'city', not 'weekday'"):
        build_missing_role_candidate(episode.run, CONTRACT, episode.residuals[0], cue)
    elsewhere = walk(CONTRACT, of_another_problem())
    with pytest.raises(of.OpfieldError, match="none of the run's"):
        build_missing_role_candidate(episode.run, CONTRACT, elsewhere.residuals[0], cue)


def of_another_problem() -> ProblemFrame:
    return ProblemFrame("a seat", (), ())


def test_the_loop_is_shown_and_its_records_are_printed(tmp_path: Path) -> None:
    def printed(*arguments: str) -> list[str]:
        command = [sys.executable, "-m", "opfield_practice", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()

    assert printed()[-1].endswith("replay_closed")
    lines = [json.loads(line) for line in printed("--records")]
    assert [each["schema"] for each in lines] == [
        "opfield.geometric_search_run/v1",
        *["opfield.candidate_operator_result/v1"] * 2,
    ]
