from __future__ import annotations

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write


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
        },
        {
            "candidate_id": "c1", "cells": 2, "known_cost_cells": 1, "unknown_cost_cells": 1, "known_cost_usd": 0.25,
            "known_token_cells": 1, "input_tokens": 30, "output_tokens": 5, "duration_s": 2.0,
        },
    ]  # fmt: skip
