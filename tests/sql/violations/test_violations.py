from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings

from opfield.campaign.reducer import fold
from opfield.errors import HistoryError
from opfield.warehouse.ledger import Event
from tests.sql.build import Campaign, Metric, Trial, at, write_empty, write_events
from tests.sql.conftest import Read, Write
from tests.sql.histories import BREAKAGES, lawful_payloads, lawful_rows

WHOLE = Campaign(
    cases={"a": {}},
    metrics=[Metric("m")],
    trials=[Trial("base", "a", 0, {"m": 1.0}), Trial("c1", "a", 0, {"m": 2.0})],
    records=[
        ("comparison.recorded", {"candidate_id": "c1", "comparisons": []}),
        ("decision.recorded", {"candidate_id": "c1", "decision": "pass"}),
    ],
    ending={"selected": "c1", "outcome": "selected", "score": 1.0},
)

quick = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def laws_broken(views: duckdb.DuckDBPyConnection, tmp_path: Path) -> Any:
    """Return the laws that SQL finds broken in a ledger."""
    root = write_empty(tmp_path / "ledger")

    def run(rows: Any) -> Any:
        for folder in root.glob("events/campaign=[!n]*"):
            shutil.rmtree(folder)
        write_events(root, rows)
        return {law for (law,) in at(views, root).execute("select law from violations").fetchall()}

    return run


def refused(rows: Any) -> Any:
    """Return whether the reducer refuses a ledger."""
    try:
        fold(Event(**row) for row in rows)
    except HistoryError:
        return True
    return False


@given(payloads=lawful_payloads())
@quick
def test_a_lawful_history_breaks_no_law(laws_broken: Any, payloads: Any) -> None:
    rows = lawful_rows(payloads)
    assert laws_broken(rows) == set()
    assert not refused(rows)


@pytest.mark.parametrize("name", BREAKAGES)
def test_each_breakage_shows_as_its_law(laws_broken: Any, name: Any) -> None:
    law, breakage = BREAKAGES[name]
    broken = breakage(lawful_rows(WHOLE.payloads()))
    assert broken is not None
    assert law in laws_broken(broken)
    assert refused(broken)


@given(payloads=lawful_payloads())
@settings(quick, max_examples=6)
def test_sql_and_reducer_agree_on_every_breakage_of_generated_histories(laws_broken: Any, payloads: Any) -> None:
    rows = lawful_rows(payloads)
    for law, breakage in BREAKAGES.values():
        broken = breakage(rows)
        if broken is not None:
            assert law in laws_broken(broken)
            assert refused(broken)


def test_an_offence_names_its_event(write: Write, read: Read, root: Path) -> None:
    write(WHOLE)
    assert read("from violations") == []
    rows = lawful_rows(WHOLE.payloads())
    shutil.rmtree(next(root.glob("events/campaign=[!n]*")))
    broken = BREAKAGES["it selects a stranger"][1](rows)
    assert broken is not None
    write_events(root, broken)
    assert read("from violations") == [
        {
            "sequence": len(rows),
            "law": "completion",
            "detail": "selected stranger is neither a candidate nor the baseline",
        }
    ]
