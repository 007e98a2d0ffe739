from __future__ import annotations

import random
import signal
import time
from collections import Counter
from pathlib import Path

import orjson
import pytest

from opfield.campaign.audit import audit
from opfield.campaign.engine import run
from opfield.campaign.prepare import prepare
from opfield.errors import HeldError
from opfield.warehouse.lock import hold, holder_of
from opfield.warehouse.views import load_views
from tests.custody.campaigns import IS_WHOLE, events_of, finished, history, weighted
from tests.custody.processes import go, start, told

CAMPAIGN = weighted(repeats=2, pause_s=0.002)
#: Chains of kills on one warehouse, and kills in each; the last form is 200 kills.
CHAINS, KILLS = (40, 5) if IS_WHOLE else (3, 4)


@pytest.fixture(scope="module")
def selected(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the campaign selects when nobody interrupts it."""
    root = tmp_path_factory.mktemp("whole")
    finished(root, CAMPAIGN)
    chosen = run(CAMPAIGN, root).selected
    assert chosen is not None
    return chosen


@pytest.mark.parametrize("chain", range(CHAINS))
def test_a_campaign_killed_at_random_moments_resumes_to_the_same_end(tmp_path: Path, chain: int, selected: str) -> None:
    moment = random.Random(chain)
    campaign_id = prepare(CAMPAIGN, load_views()).campaign_id
    accepted: list[str] = []
    for kill in range(KILLS):
        process = start(tmp_path, "processes" if (chain + kill) % 4 == 3 else "threads")
        go(process)
        time.sleep(moment.uniform(0.2, 1.5))
        process.kill()
        assert process.wait() in (0, -signal.SIGKILL)
        process.communicate()
        published = [event.digest for event in history(tmp_path, campaign_id)]
        assert published[: len(accepted)] == accepted
        accepted = published
    outcome = run(CAMPAIGN, tmp_path, executor="inline")
    assert (outcome.state, outcome.selected) == ("completed", selected)
    events = history(tmp_path, campaign_id)
    assert [event.digest for event in events][: len(accepted)] == accepted
    assert len(events) == events_of(CAMPAIGN)
    trials = [orjson.loads(event.payload) for event in events if event.type == "trial.completed"]
    cells = Counter((told["candidate_id"], told["case_id"], told["repeat"]) for told in trials)
    assert max(cells.values()) == 1
    assert audit(tmp_path).findings == ()
    # What a dead writer left unfinished is gone, but where other campaigns' writers may be at work as well.
    assert not list(tmp_path.glob(f"*/campaign={campaign_id[7:]}/.tmp-*"))


def test_the_lock_is_free_the_moment_its_holder_is_killed_with_worker_processes_running(tmp_path: Path) -> None:
    root, workers = tmp_path / "warehouse", tmp_path / "workers"
    workers.mkdir()
    process = start(root, "processes", name="lasting", OPFIELD_TEST_WORKERS=str(workers))
    go(process)
    deadline = time.monotonic() + 60
    while not list(workers.iterdir()):
        assert time.monotonic() < deadline, process.poll()
        time.sleep(0.05)
    (lock,) = (root / "locks").iterdir()
    campaign_id = f"sha256:{lock.stem}"
    assert f"process {process.pid} on " in (holder_of(root, campaign_id) or "")
    with pytest.raises(HeldError, match=f"process {process.pid} on "), hold(root, campaign_id):
        pass
    process.kill()
    process.wait()
    assert holder_of(root, campaign_id) is None
    with hold(root, campaign_id):
        pass
    process.communicate()
    # The workers die with their coordinator, since nobody is left to take their results.
    deadline = time.monotonic() + 20
    while any(_is_running(int(worker.name)) for worker in workers.iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_second_run_is_refused_while_the_first_one_runs_and_names_it(tmp_path: Path) -> None:
    first, second = start(tmp_path), start(tmp_path)
    go(first)
    deadline = time.monotonic() + 60
    while not (list((tmp_path / "locks").glob("*")) and list((tmp_path / "cells").glob("*/0*1?.parquet"))):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    go(second)
    refused = told(second)
    assert told(first)["state"] == "completed"
    assert (refused.get("error") == "HeldError" and f"process {first.pid} on " in refused["message"]) or (
        refused.get("appended") == 0
    )


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
