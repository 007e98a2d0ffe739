"""Which values a percentile is taken of: every declared coordinate has a row, and what is unknown is NULL."""

from __future__ import annotations

from typing import Any

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write


def gate(**options: Any) -> dict[str, Any]:
    return {"kind": "percentile", "metric": options.pop("metric", None), "options": {"at_most": 1, **options}}


CAMPAIGN = Campaign(
    cases={"a": {}, "b": {}},
    metrics=[Metric("m", on_domain_failure="worst", lower=0, upper=9), Metric("n")],
    clusters={"b": "two"},
    repeats=2,
    gates=[gate(metric="m"), {**gate(of="tokens"), "name": "t"}, {**gate(of="nothing"), "name": "x"}],
    trials=[
        Trial("base", "a", 0, {"m": 1.0}, input_tokens=1, output_tokens=10),
        Trial("base", "a", 1, {"m": 2.0}, input_tokens=2, output_tokens=20),
        Trial("base", "b", 0, {"m": None}, input_tokens=3),
        Trial("base", "b", 1, {"m": 4.0}, input_tokens=4, output_tokens=40),
        Trial("c1", "a", 0, {}, status="domain_failure", input_tokens=5, output_tokens=50),
        Trial("c1", "a", 1, {"m": 6.0}, status="infrastructure_failure", input_tokens=6, output_tokens=60),
        Trial("c1", "b", 0, {"m": 7.0}, input_tokens=7, output_tokens=70),
    ],
)


def test_failed_cells_count_and_what_is_unknown_is_null(write: Write, read: Read) -> None:
    write(CAMPAIGN)
    query = "select value from percentile_cells where gate_ix = {} order by candidate_id, case_id, repeat"
    # A domain failure is worth the worst of the range, for a maximized metric 0; an infrastructure failure nothing.
    assert [row["value"] for row in read(query.format(0))] == [1, 2, None, 4, 0, None, 7, None]
    # What a cell used counts however it ended; the last coordinate has no cell yet.
    assert [row["value"] for row in read(query.format(1))] == [11, 22, None, 44, 55, 66, 77, None]
    assert read(query.format(2)) == []


def test_the_unit_is_the_declared_cluster_else_the_case(write: Write, read: Read) -> None:
    write(CAMPAIGN)
    rows = read("select distinct candidate_id, arm, case_id, cluster from percentile_cells order by all")
    assert [list(row.values()) for row in rows] == [
        ["base", "baseline", "a", "case a"],
        ["base", "baseline", "b", "cluster two"],
        ["c1", "candidate", "a", "case a"],
        ["c1", "candidate", "b", "cluster two"],
    ]


def test_a_gate_says_what_keeps_it_from_being_judged(write: Write, read: Read) -> None:
    wrong = {
        "it is of a metric or of a resource": [gate(), gate(metric="m", of="tokens")],
        "the metric is not one of the campaign's": [gate(metric="other")],
        "of is duration_s, cost_usd, input_tokens, output_tokens or tokens": [gate(of="apples")],
        "q is a number above 0 and below 1": [gate(metric="m", q=each) for each in (0, 1, -1, "most", "nan")],
        "alpha is a number from .001 up to below .5": [gate(metric="m", alpha=each) for each in (0, 0.5, "x", 1e-4)],
        "at_most or ratio_at_most is given": [gate(metric="m", at_most=None)],
        "at_most is a finite number": [gate(metric="m", at_most="fast"), gate(metric="m", at_most="inf")],
        "ratio_at_most is a finite number above 0": [gate(metric="m", ratio_at_most=each) for each in (0, -1, "x")],
    }
    listed = [(problem, each) for problem, gates in wrong.items() for each in gates]
    named = [{**each, "name": str(ix)} for ix, (_, each) in enumerate(listed)]
    write(Campaign(cases={"a": {}}, metrics=[Metric("m")], gates=[*named, {**gate(metric="m"), "name": "right"}]))
    assert [row["problem"] for row in read("from percentile_gates order by gate_ix")] == [
        *(problem for problem, _ in listed),
        None,
    ]
    assert read("select q, at_most, ratio_at_most, alpha from percentile_gates where problem is null") == [
        {"q": 0.95, "at_most": 1.0, "ratio_at_most": None, "alpha": 0.025}
    ]
