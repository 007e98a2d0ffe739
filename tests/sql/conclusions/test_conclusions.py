"""What a campaign comes to, and why: every reason there is, in the words that people read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb

from tests.sql.build import Campaign, Metric, Trial, rows
from tests.sql.conftest import Read, Write
from tests.sql.reviewing import with_reviews

GATE = {"kind": "mean_delta", "metric": "m", "threshold": 0.0}
ENDING = {"selected": "base", "outcome": "kept_baseline", "score": None}
REVIEW = {"kind": "review", "name": "two of us", "options": {"approvals": 2}}


def campaign(**scores: float | str | None) -> Campaign:
    """A finished campaign of one case, with these values of the candidates; text is a status, None no cell."""
    told = {"base": 0.0, **scores}
    return Campaign(
        cases={"a": {}},
        metrics=[Metric("m")],
        gates=[GATE],
        preference="m",
        candidates=list(scores),
        ending=ENDING,
        trials=[
            Trial(who, "a", 0, {}, value, "no_answer") if isinstance(value, str) else Trial(who, "a", 0, {"m": value})
            for who, value in told.items()
            if value is not None
        ],
    )


BROKEN = "infrastructure_failure"
RUNNING = replace(campaign(c1=1.0), ending=None)
ALL_BROKEN = replace(
    campaign(c1=BROKEN, c2=BROKEN),
    trials=[Trial("base", "a", 0, {}, BROKEN, "x"), *campaign(c1=BROKEN, c2=BROKEN).trials[1:]],
)

REASONS: list[tuple[Campaign, str, str, str, str | None]] = [
    (campaign(c1=1.0), "selected", "selected", "it passes every gate, and its oriented change of m exceeds 0", None),
    (campaign(c1=-1.0), "kept", "all_fail", "the only candidate fails", None),
    (campaign(c1=-1.0, c2=-2.0), "kept", "all_fail", "both candidates fail", None),
    (campaign(c1=-1.0, c2=-2.0, c3=-3.0), "kept", "all_fail", "all 3 candidates fail", None),
    (
        campaign(c1=0.0, c2=-1.0),
        "kept",
        "no_gain",
        "1 candidate passes, but none gains more than 0 of m",
        "a candidate that passes and gains more than 0 of m",
    ),
    (
        replace(campaign(c1=BROKEN, c2=BROKEN), gates=[{"kind": "coverage"}]),
        "kept",
        "no_gain",
        "2 candidates pass, but no change of m is known",
        "a candidate that passes and gains more than 0 of m",
    ),
    (
        replace(campaign(c1=BROKEN, c2=-1.0), gates=[{"kind": "coverage"}]),
        "kept",
        "no_gain",
        "2 candidates pass, but none is known to gain more than 0 of m",
        "a candidate that passes and gains more than 0 of m",
    ),
    (
        replace(campaign(c1=1.0, c2=2.0), preference=None),
        "kept",
        "no_preference",
        "2 candidates pass, but nothing can be selected, since the policy names no preferred metric",
        "`prefer=`",
    ),
    (
        campaign(c1=BROKEN, c2=-1.0),
        "undecided",
        "indeterminate",
        "the evidence cannot judge 1 candidate, and 1 fails",
        None,
    ),
    (
        ALL_BROKEN,
        "undecided",
        "no_evidence",
        "every trial failed for want of infrastructure, most often by no_answer (2 cells), so there is nothing to "
        "judge by",
        "a new campaign",
    ),
    (
        replace(campaign(c1=None), ending=None),
        "unfinished",
        "pending",
        "1 of 2 cells is still missing, so no verdict stands yet",
        "`opfield resume`",
    ),
    (
        RUNNING,
        "unfinished",
        "not_ended",
        "every declared cell is there, but the campaign is not ended, so no verdict stands yet",
        "`opfield resume`",
    ),
    (
        with_reviews(replace(RUNNING, gates=[GATE, REVIEW]), []),
        "awaiting",
        "awaiting_review",
        "everything is measured, and the candidate needs the approval of people before a verdict stands",
        None,
    ),
    (campaign(), "nothing", "no_candidate", "there is no candidate, so nothing is compared", "at least one candidate"),
    (
        replace(RUNNING, records=[("campaign.cancelled", {"reason": "no budget"})]),
        "cancelled",
        "cancelled",
        "cancelled after 2 of 2 cells: no verdict",
        "a new campaign",
    ),
]


def test_every_reason_is_told_in_words_whatever_other_campaigns_there_are(
    write: Write, views: duckdb.DuckDBPyConnection, read: Read
) -> None:
    expected = {
        write(replace(told, name=f"{ix}")): (standing, reason, message, remedy)
        for ix, (told, standing, reason, message, remedy) in enumerate(REASONS)
    }
    assert len(read("from campaigns")) == len(expected)
    found = rows(views, "select campaign_id, standing, reason, message, remedy from conclusions")
    assert len(found) == len(expected)
    for campaign_id, *told, remedy in (row.values() for row in found):
        *asked, part = expected[campaign_id]
        assert told == asked
        assert remedy is None if part is None else part in remedy


def test_of_a_finished_campaign_whose_files_are_not_whole_nothing_stands(write: Write, read: Read, root: Path) -> None:
    write(campaign(c1=1.0))
    for file in root.glob("measurements/campaign=[!n]*/*.parquet"):
        file.unlink()
    (row,) = read("from conclusions")
    assert (row["standing"], row["reason"]) == ("undecided", "not_whole")
    assert "opfield audit" in row["remedy"]
