"""Generated campaigns: each statistical gate says what the oracle's p-values say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sql.build import at, rows, write_campaign, write_empty
from tests.sql.inferences.drawing import drawn
from tests.sql.oracle_bounds import scopes_of
from tests.sql.statistical_gates.oracle import holm, verdict

KINDS = (
    "superiority", "noninferiority", "equivalence", "harm", "binary_superiority", "binary_noninferiority", "family",
    "reliability", "resource_ratio",
)  # fmt: skip


#: Gates whose line is minus what was declared: the largest loss that is tolerated.
LOSSES = ("noninferiority", "binary_noninferiority", "harm")


def test_generated_verdicts_equal_the_oracle(views: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    root = write_empty(tmp_path / "warehouse")
    chance = Random("verdicts")
    campaigns = [drawn(chance, f"campaign {ix}") for ix in range(36)]
    written = {write_campaign(views, root, campaign): campaign for campaign in campaigns}
    at(views, root)
    told = rows(views, "select * exclude (message) from gate_verdicts")
    seen: Counter[tuple[str, str]] = Counter()
    for row in told:
        campaign = written[row["campaign_id"]]
        status, value = verdict(campaign, row["gate_ix"], row["candidate_id"], row["scope"])
        gate = campaign.gates[row["gate_ix"]]
        assert row["status"] == status, (row, gate, campaign)
        assert row["value"] == (value if value is None else pytest.approx(value, rel=1e-10, abs=1e-12)), (row, campaign)
        assert row["threshold"] == (-1 if gate["kind"] in LOSSES else 1) * gate["threshold"]
        seen[gate["kind"], status] += 1
    expected = sum(
        len(scopes_of(campaign, gate)) * len(campaign.candidates) for campaign in campaigns for gate in campaign.gates
    )
    assert len(told) == expected
    for kind in KINDS:
        for status in ("pass", "fail", "indeterminate"):
            assert seen[kind, status] > 0, seen


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([0.0, 0.001, 0.02, 0.02, 0.3, 1.0]), min_size=1))
def test_the_oracle_of_holm_steps_down(p_values: dict[str, float]) -> None:
    """Against the procedure itself: reject in ascending order while p times the number left is at most alpha."""
    for alpha in (0.0025, 0.045, 0.1, 0.7):
        left = sorted(p_values.items(), key=lambda each: each[1])
        rejected = set()
        while left and left[0][1] * len(left) <= alpha:
            rejected.add(left.pop(0)[0])
        assert {name for name, adjusted in holm(p_values).items() if adjusted <= alpha} == rejected
