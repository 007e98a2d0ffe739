from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

from opfield.campaign.writer import open_writer
from opfield.warehouse import session, snapshot
from opfield.warehouse.seal import seal_campaign
from tests.custody.campaigns import IS_WHOLE, finished, weighted
from tests.custody.crash import Crashed, counting
from tests.custody.processes import go, start
from tests.custody.reading import VIEWS, Reader, final_rows
from tests.custody.replay import Told


def test_no_durable_step_of_a_run_shows_a_reader_half_a_cell_or_a_wrong_verdict(tmp_path: Path, told: Told) -> None:
    root = told.empty(tmp_path)
    told.tell(root, until=1)
    final = final_rows(told.root)
    # The campaign was told again, so that its times and digests are others.
    final["campaigns"] = [{"campaign_id": told.campaign_id}]
    reader = Reader(root, final, is_fresh=True)
    seen = iter(range(10**6))

    def look() -> None:
        if IS_WHOLE or next(seen) % 5 == 0:
            reader.look()

    with counting(between=look):
        told.tell(root, segment_events=4)
    reader.look()
    assert reader.means > 0
    assert reader.verdicts > 0


class Interrupted:
    """A connection before whose n-th statement something else happens."""

    def __init__(self, con: duckdb.DuckDBPyConnection, at: int, happen: Callable[[], None]) -> None:
        self.con = con
        self.left = at
        self.happen = happen

    def execute(self, *given: Any) -> Any:
        if self.left == 0:
            self.happen()
        self.left -= 1
        return self.con.execute(*given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.con, name)


def interrupted(at: int, happen: Callable[[], None]) -> Callable[..., Interrupted]:
    """Return what opens connections, before whose `at`-th statement something happens."""
    real = snapshot.connected
    return lambda *given: Interrupted(real(*given), at, happen)


def happening(root: Path, told: Told, what: str) -> Callable[[], None]:
    """Return what happens between two statements of a reader."""

    def stop(step: str) -> None:
        if what == "half a seal" and step.endswith("sealed-1.parquet"):
            raise Crashed

    def seal() -> None:
        with suppress(Crashed), open_writer(root, told.campaign_id) as writer, closing(duckdb.connect()) as con:
            if writer.state.terminal:
                seal_campaign(root, told.campaign_id, con, stop)

    return (lambda: told.tell(root)) if what == "a publication" else seal


@pytest.mark.parametrize("what", ["a publication", "a seal", "half a seal"])
def test_what_happens_between_two_statements_of_a_snapshot_makes_no_wrong_verdict(
    tmp_path: Path, told: Told, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    final = final_rows(told.root) | {"campaigns": [{"campaign_id": told.campaign_id}]}
    for at in range(40) if IS_WHOLE else (3, 8, 11, 14, 17, 20):
        root = told.empty(tmp_path / str(at))
        told.tell(root, segment_events=3, until=9 if what == "a publication" else None)
        reader = Reader(root, final, is_fresh=True)
        with monkeypatch.context() as patch:
            patch.setattr(session, "connected", interrupted(at, happening(root, told, what)))
            reader.look(("selection", "decisions", "comparisons"))
        if what != "half a seal":
            reader.look()
            assert reader.verdicts


def sealed_by_another(root: Path, campaign_id: str) -> None:
    """Seal in a thread of its own, so that readers read meanwhile."""
    with open_writer(root, campaign_id), closing(duckdb.connect()) as con:
        seal_campaign(root, campaign_id, con, lambda _: time.sleep(0.02))


@pytest.mark.parametrize("turn", range(10 if IS_WHOLE else 1))
def test_readers_of_a_run_and_a_seal_never_see_what_the_end_contradicts(tmp_path: Path, turn: int) -> None:
    campaign = weighted(repeats=2, pause_s=0.002)
    whole = tmp_path / "whole"
    campaign_id = finished(whole, campaign)
    final = final_rows(whole)
    root = tmp_path / "warehouse"
    process = start(root)
    go(process)
    while not list(root.glob("measurements/campaign=[!n]*/*[1-9].parquet")):
        assert process.poll() is None
    readers = [Reader(root, final, is_fresh=is_fresh) for is_fresh in (True, False)]
    poll(readers, lambda: process.poll() is None)
    process.communicate()
    sealing = threading.Thread(target=sealed_by_another, args=(root, campaign_id))
    sealing.start()
    poll(readers, sealing.is_alive)
    sealing.join()
    poll(readers, lambda: False)
    assert all(reader.looks > 2 and reader.verdicts > 0 for reader in readers)


def poll(readers: list[Reader], is_going_on: Callable[[], bool]) -> None:
    """Read by turns until it is over, and once more."""
    is_last = False
    while not is_last:
        is_last = not is_going_on()
        for reader in readers:
            reader.look(VIEWS if IS_WHOLE else ("comparisons", "decisions", "selection", "duplicates"))
