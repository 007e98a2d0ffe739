"""Pilot campaigns from the values that their candidates gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.sql.build import Campaign, Metric, Trial


def measured(values: Mapping[str, Mapping[str, Any]], **more: Any) -> Campaign:
    """A campaign whose baseline is always 0; `values` is by candidate, then case, one value a repeat."""
    cases = dict.fromkeys(case for by_case in values.values() for case in by_case)
    told = {"base": {case: [0.0] * 9 for case in cases}, **values}
    repeats = max(len(each) for by_case in values.values() for each in by_case.values())
    return Campaign(
        cases={case: {} for case in cases},
        metrics=more.pop("metrics", [Metric("score")]),
        candidates=list(values),
        repeats=repeats,
        trials=[
            Trial(who, case, repeat, {"score": value})
            for who, by_case in told.items()
            for case, repeated in by_case.items()
            for repeat, value in enumerate(repeated[:repeats])
        ],
        **{"preference": "score", **more},
    )
