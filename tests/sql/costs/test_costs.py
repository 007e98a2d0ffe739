from __future__ import annotations

import pytest

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write


def told(write: Write, read: Read, *trials: Trial) -> object:
    """Return successes and cost per success of the candidate c1."""
    write(Campaign(cases={name: {} for name in "abc"}, metrics=[Metric("m")], trials=trials))
    (row,) = read("select successes, cost_per_success_usd from costs where candidate_id = 'c1'")
    return tuple(row.values())


def test_unknown_costs_are_counted_and_never_zero(write: Write, read: Read) -> None:
    write(
        Campaign(
            cases={"a": {}, "b": {}},
            metrics=[Metric("m")],
            trials=[
                Trial("base", "a"),
                Trial("c1", "a", cost_usd=0.25, input_tokens=10, output_tokens=5, duration_s=1.5),
                Trial("c1", "b", cost_usd=None, input_tokens=20, duration_s=0.5),
            ],
        )
    )
    assert read("from costs order by candidate_id") == [
        {
            "candidate_id": "base", "cells": 1, "known_cost_cells": 0, "unknown_cost_cells": 1, "known_cost_usd": None,
            "known_token_cells": 0, "input_tokens": None, "output_tokens": None, "duration_s": None,
            "successes": 1, "cost_per_success_usd": None,
        },
        {
            "candidate_id": "c1", "cells": 2, "known_cost_cells": 1, "unknown_cost_cells": 1, "known_cost_usd": 0.25,
            "known_token_cells": 1, "input_tokens": 30, "output_tokens": 5, "duration_s": 2.0,
            "successes": 2, "cost_per_success_usd": None,
        },
    ]  # fmt: skip


@pytest.mark.parametrize("status", ["domain_failure", "infrastructure_failure", "cancelled"])
def test_a_success_pays_for_the_cells_that_failed(write: Write, read: Read, status: str) -> None:
    trials = (
        Trial("c1", "a", cost_usd=0.25),
        Trial("c1", "b", cost_usd=0.5),
        Trial("c1", "c", status=status, cost_usd=1.25),
        Trial("base", "a", cost_usd=64.0),
    )
    assert told(write, read, *trials) == (2, 1.0)  # (0.25 + 0.5 + 1.25) / 2


def test_a_failed_cell_of_unknown_cost_leaves_the_cost_of_a_success_unknown(write: Write, read: Read) -> None:
    trials = (Trial("c1", "a", cost_usd=0.25), Trial("c1", "b", status="domain_failure"))
    assert told(write, read, *trials) == (1, None)


def test_without_a_success_there_is_no_cost_of_one(write: Write, read: Read) -> None:
    assert told(write, read, Trial("c1", "a", status="domain_failure", cost_usd=0.25)) == (0, None)


def test_successes_that_cost_nothing_are_known_to(write: Write, read: Read) -> None:
    assert told(write, read, Trial("c1", "a", cost_usd=0.0)) == (1, 0.0)
