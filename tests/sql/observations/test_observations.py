from __future__ import annotations

from typing import Any

import duckdb
import pytest

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write


def test_only_successful_cells_give_what_they_measured(write: Write, read: Read) -> None:
    write(
        Campaign(
            cases={"a": {}, "b": {}, "c": {}},
            metrics=[Metric("m")],
            trials=[
                Trial("c1", "a", 0, {"m": 0.5}),
                Trial("c1", "b", 0, {"m": 0.75}, status="infrastructure_failure"),
                Trial("c1", "c", 0, {"m": None}),
            ],
        )
    )
    assert [(row["case_id"], row["value"], row["is_imputed"]) for row in read("from observations")] == [
        ("a", 0.5, False)
    ]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (Metric("m", on_domain_failure="missing", lower=0, upper=1), []),
        (Metric("m", 1, lower=0, upper=1, on_domain_failure="worst"), [0.0]),
        (Metric("m", -1, lower=0, upper=9, on_domain_failure="worst"), [9.0]),
        (Metric("m", 1, upper=1, on_domain_failure="worst"), []),  # the worst end is not declared
        (Metric("m", on_domain_failure="-2.5"), [-2.5]),
        (Metric("m", on_domain_failure="nan"), []),  # nothing that is not finite gets through
        (Metric("m", on_domain_failure="rubbish"), []),
    ],
)
def test_a_domain_failure_is_worth_what_the_metric_says(write: Write, read: Read, metric: Any, expected: Any) -> None:
    write(
        Campaign(cases={"a": {}}, metrics=[metric], trials=[Trial("c1", "a", 0, {"m": 0.5}, status="domain_failure")])
    )
    assert [row["value"] for row in read("from observations where is_imputed")] == expected
    assert read("from observations where not is_imputed") == []


def test_values_beyond_the_bound_of_the_arithmetic_are_missing(write: Write, read: Read) -> None:
    cases: dict[str, Any] = {name: {} for name in "abc"}
    values = {"a": 1e141, "b": -1e100, "c": 1e100}
    write(
        Campaign(
            cases=cases,
            metrics=[Metric("m")],
            trials=[Trial("c1", case, 0, {"m": value}) for case, value in values.items()],
        )
    )
    assert sorted(row["value"] for row in read("from observations")) == [-1e100, 1e100]


@pytest.mark.parametrize("value", ["'nan'::double", "'infinity'::double", "'-infinity'::double", "null::double"])
def test_nothing_that_is_not_finite_is_usable(views: duckdb.DuckDBPyConnection, value: Any) -> None:
    assert views.execute(f"select count(*) from (select 1) where is_usable({value})").fetchall() == [(0,)]
