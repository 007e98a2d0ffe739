from __future__ import annotations

import socket
from collections import Counter
from pathlib import Path

import orjson

from opfield.campaign.audit import audit
from opfield.campaign.prepare import prepare
from opfield.warehouse.views import load_views
from tests.custody.campaigns import events_of, history, weighted
from tests.custody.processes import go, start, told

PROCESSES = 8
CAMPAIGN = weighted(repeats=2, pause_s=0.002)


def raced(root: Path, locking: str) -> list[dict[str, object]]:
    """Let eight processes begin one campaign in a warehouse that none of them has made yet."""
    processes = [start(root, "threads", locking) for _ in range(PROCESSES)]
    for process in processes:
        go(process)
    answers = [told(process) for process in processes]
    for answer in answers:
        answer["pids"] = [process.pid for process in processes]
    return answers


def check_one_history(root: Path) -> None:
    campaign_id = prepare(CAMPAIGN, load_views()).campaign_id
    events = history(root, campaign_id)
    assert len(events) == events_of(CAMPAIGN)
    cells = Counter(
        (trial["candidate_id"], trial["case_id"], trial["repeat"])
        for trial in (orjson.loads(event.payload) for event in events if event.type == "trial.completed")
    )
    assert max(cells.values()) == 1
    assert audit(root).findings == ()


def test_of_eight_processes_one_writes_and_the_others_are_told_who(tmp_path: Path) -> None:
    answers = raced(tmp_path, "hold")
    completed = [answer for answer in answers if answer.get("state") == "completed"]
    refused = [answer for answer in answers if answer.get("error") == "HeldError"]
    assert len(completed) + len(refused) == PROCESSES
    assert sum(answer["appended"] == events_of(CAMPAIGN) for answer in completed) == 1
    for answer in refused:
        named = [pid for pid in answer["pids"] if f"process {pid} on {socket.gethostname()}" in str(answer["message"])]  # type: ignore[attr-defined]
        assert len(named) == 1
    check_one_history(tmp_path)


def test_without_a_lock_the_slots_alone_give_one_history(tmp_path: Path) -> None:
    answers = raced(tmp_path, "no_lock")
    assert Counter(str(answer.get("state")) for answer in answers) == {"completed": PROCESSES}, answers
    assert len({str(answer["selected"]) for answer in answers}) == 1
    check_one_history(tmp_path)
    campaign_id = prepare(CAMPAIGN, load_views()).campaign_id
    fences = [event.fence for event in history(tmp_path, campaign_id)]
    assert fences == sorted(fences)
