"""Evidence that allows no inference: indeterminate, with the reason in words, and never NaN anywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.sql.build import Metric, Trial
from tests.sql.conftest import Read, Write
from tests.sql.inferences.drawing import Inferring

UNIT = Metric("m", 1, 0.0, 1.0)
KINDS = ("superiority", "noninferiority", "equivalence", "harm", "family")


def gate(kind: str, line: float = 0.05, metric: str | None = "m", **options: Any) -> Mapping[str, Any]:
    return {"kind": kind, "name": f"{kind} {options}", "metric": metric, "threshold": line, "options": options}


def campaign(
    deltas: list[float | None], gates: list[Mapping[str, Any]], metric: Metric = UNIT, base: float = 0.5, **more: Any
) -> Inferring:
    cases = {f"w{ix:02}": {} for ix in range(len(deltas))}
    trials = [Trial("base", case, 0, {"m": base}) for case in cases]
    trials += [
        Trial("c1", case, 0, {"m": base + delta}) for case, delta in zip(cases, deltas, strict=True) if delta is not None
    ]
    return Inferring(**{"cases": cases, "metrics": [metric], "trials": trials, "gates": gates, **more})


@pytest.fixture
def judged(write: Write, read: Read) -> Callable[[Inferring], list[dict[str, Any]]]:
    """Write a campaign and return its gate results, once no number of any view is NaN or infinite."""

    def judge(declared: Inferring) -> list[dict[str, Any]]:
        write(declared)
        for view in ("comparisons", "strata", "inferences", "gate_results", "decisions", "selection"):
            for row in read(f"from {view}"):
                wrong = {name: x for name, x in row.items() if isinstance(x, float) and not math.isfinite(x)}
                assert not wrong, (view, row)
                assert "nan" not in str(row.get("message")).split(), row
        return read("select kind, status, message, value from gate_results order by gate_ix")

    return judge


Judged = Callable[[Inferring], list[dict[str, Any]]]


def test_without_a_range_one_value_throughout_says_nothing_about_other_cases(judged: Judged) -> None:
    rows = judged(campaign([0.25] * 24, [gate(kind) for kind in KINDS], Metric("m")))
    for row in rows:
        assert row["status"] == ("pass" if row["kind"] == "harm" else "indeterminate")
        assert "every case gave one value" in row["message"]
        assert row["value"] == 0.25


@pytest.mark.parametrize("size", [1, 24])
def test_zero_deltas_within_a_range_are_told_by_the_range(judged: Judged, size: int) -> None:
    rows = judged(campaign([0.0] * size, [gate(kind, 0.5) for kind in KINDS]))
    # of 24 cases the mean is above -.5 with (1/2)^24 and not above .5 with the same; of one case with 1/2
    told = {row["kind"]: row["status"] for row in rows}
    assert told == {
        1: dict.fromkeys(KINDS, "indeterminate") | {"harm": "pass"},
        24: {"superiority": "fail", "noninferiority": "pass", "equivalence": "pass", "harm": "pass", "family": "fail"},
    }[size]


def test_one_case_without_a_range_allows_no_inference(judged: Judged) -> None:
    for row in judged(campaign([0.25], [gate(kind) for kind in KINDS if kind != "harm"], Metric("m"))):
        assert (row["status"], row["value"]) == ("indeterminate", 0.25)


@pytest.mark.parametrize("metric", [UNIT, Metric("m"), Metric("m", 1, 0.0, None)])
def test_without_a_pair_every_gate_is_open(judged: Judged, metric: Metric) -> None:
    rows = judged(campaign([None] * 24, [gate(kind) for kind in KINDS], metric))
    assert [(row["status"], row["value"]) for row in rows] == [("indeterminate", None)] * len(KINDS)
    if metric.upper is None:
        assert all("nothing bounds what they could be worth" in row["message"] for row in rows)


def test_too_few_independent_units_are_told(judged: Judged) -> None:
    deltas: list[float | None] = [0.25 + ix / 100 for ix in range(19)]
    clusters = {f"w{ix:02}": f"k{ix // 2}" for ix in range(19)}
    for declared, units in (
        (campaign(deltas, [gate("superiority")]), 19),
        (campaign(deltas, [gate("superiority")], clusters=clusters, name="clustered"), 10),
    ):
        row = judged(declared)[-1]
        if units == 19:
            assert row["status"] == "indeterminate"
            assert "independent units: 19, at least 20 are asked" in row["message"]
    (enough,) = judged(campaign(deltas, [gate("superiority", min_cases=19)], name="enough"))[-1:]
    assert enough["kind"] == "superiority"


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (gate("noninferiority", 0.0), "a margin is above 0"),
        (gate("noninferiority", -0.1), "a margin is above 0"),
        (gate("equivalence", -0.1), "a margin is above 0"),
        (gate("superiority", -0.1), "the gain asked is not below 0"),
        (gate("harm", -0.1), "the loss tolerated is not below 0"),
        (gate("superiority", alpha=0), "alpha is a number above 0 and below 0.5"),
        (gate("superiority", alpha=0.5), "alpha is a number above 0 and below 0.5"),
        (gate("superiority", alpha=-1), "alpha is a number above 0 and below 0.5"),
        (gate("superiority", alpha="0.0x"), "alpha is a number above 0 and below 0.5"),
        (gate("superiority", alpha="NaN"), "alpha is a number above 0 and below 0.5"),
        (gate("superiority", min_cases=1), "min_cases is a number of at least 2"),
        (gate("superiority", min_cases="many"), "min_cases is a number of at least 2"),
        (gate("superiority", method="best"), "method is by_kind or bounded"),
        (gate("family", method="best"), "method is holm, max_t or bounded"),
        (gate("binary_superiority"), "it takes a binary metric and one repeat"),
        (gate("resource_ratio", 0.0, None, of="duration_s"), "the largest ratio is above 0"),
        (gate("reliability", 0.5, k=2), "2 tries in a row cannot be told from 1 repeats"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_as_declared_is_open_and_says_why(
    judged: Judged, asked: Mapping[str, Any], reason: str
) -> None:
    deltas: list[float | None] = [ix / 100 for ix in range(24)]
    metric = replace(UNIT, kind="binary") if asked["kind"] == "reliability" else UNIT
    (row,) = judged(campaign(deltas, [asked], metric))
    assert (row["status"], row["value"]) == ("indeterminate", None)
    assert "cannot be judged as declared" in row["message"]
    assert reason in row["message"]


def test_what_another_gate_asks_lends_no_value_to_one_that_cannot_be_judged(judged: Judged) -> None:
    deltas: list[float | None] = [ix / 100 for ix in range(24)]
    broken, sound = judged(campaign(deltas, [gate("superiority", alpha=7), gate("superiority")]))
    assert (broken["status"], broken["value"]) == ("indeterminate", None)
    assert sound["value"] == pytest.approx(0.115)


@pytest.mark.parametrize("within", ["nowhere", {"nowhere": "x"}, {"half": "c"}])
def test_a_scope_without_a_case_is_open(judged: Judged, within: Any) -> None:
    for row in judged(campaign([0.1, 0.2, 0.3], [gate(kind, within=within) for kind in KINDS])):
        assert row["status"] == "indeterminate"
        assert "no case of the workload belongs to this scope" in row["message"]


def test_a_binary_metric_that_holds_other_values_is_open(judged: Judged) -> None:
    binary = Metric("m", 1, 0.0, 1.0, kind="binary")
    gates = [*(gate(kind) for kind in KINDS), gate("binary_superiority"), gate("binary_noninferiority")]
    for deltas in ([0.3] * 24, [0.3, None] * 12, [-0.3, 0.3] * 12):
        rows = judged(campaign(deltas, gates, binary, 0.0, name=str(deltas)))
        for row in rows[-len(gates) :]:
            assert row["status"] != "fail" or row["kind"] == "harm"
    told = judged(campaign([0.3] * 24, gates, binary, 0.0, name="once more"))[: len(gates)]
    assert {row["status"] for row in told if row["kind"] != "harm"} == {"indeterminate"}
    assert all("is neither 0 nor 1" in row["message"] for row in told)


def test_a_try_of_another_value_is_no_try(judged: Judged) -> None:
    binary = Metric("m", 1, 0.0, 1.0, kind="binary")
    (row,) = judged(campaign([0.3] * 24, [gate("reliability", 0.5, k=1)], binary, 0.0))
    assert (row["status"], row["value"]) == ("indeterminate", None)


@pytest.mark.parametrize("size", [1e100, 1e140, 1e-100, 1e-150])
@pytest.mark.parametrize("infers_to", ["cases_like_these", "these_cases"])
def test_very_large_and_small_values_are_inferred_from_like_others(
    judged: Judged, size: float, infers_to: str
) -> None:
    gates = [gate("superiority", 0.0, min_cases=2), gate("equivalence", size * 4, min_cases=2)]
    cases: dict[str, Any] = {f"w{ix}": {} for ix in range(3)}
    trials = [
        Trial(who, case, repeat, {"m": size * (who == "c1") * (0.8 + ((ix * 5 + repeat * 3) % 7) / 100)})
        for who in ("base", "c1")
        for ix, case in enumerate(cases)
        for repeat in range(3)
    ]
    rows = judged(
        Inferring(
            cases=cases, metrics=[Metric("m")], trials=trials, repeats=3, gates=gates, infers_to=infers_to
        )
    )
    if size >= 1e-100:
        assert [row["status"] for row in rows] == ["pass", "pass"]


@pytest.mark.parametrize("value", [1e308, -1e308, 1e141])
def test_a_value_beyond_bounds_is_missing(judged: Judged, value: float) -> None:
    deltas: list[float | None] = [0.25 + ix / 100 for ix in range(24)]
    declared = campaign(deltas, [gate(kind) for kind in KINDS], Metric("m"))
    trials = [replace(each, values={"m": value}) if each.case_id == "w00" else each for each in declared.trials]
    for row in judged(replace(declared, trials=trials)):
        assert row["status"] == "indeterminate"
        assert "missing: 1, and nothing bounds what they could be worth" in row["message"]


@pytest.mark.parametrize("number", ["'nan'::double", "'infinity'::double", "-'infinity'::double", "1e308"])
def test_numbers_that_are_none_in_the_tables_are_unknown(
    write: Write, read: Read, judged: Judged, root: Path, number: str
) -> None:
    """As if a file were damaged: written behind the ledger's back, where no boundary can refuse them."""
    gates = [*(gate(kind) for kind in KINDS), gate("resource_ratio", 2.0, None, of="duration_s")]
    deltas: list[float | None] = [0.25 + ix / 100 for ix in range(24)]
    declared = campaign(deltas, gates, Metric("m"))
    trials = [replace(each, duration_s=1.0) for each in declared.trials]
    declared = replace(declared, trials=trials)
    judged(declared)
    with duckdb.connect() as con:
        for table, column in (("measurements", "value"), ("cells", "duration_s")):
            (file,) = root.glob(f"{table}/campaign=[!n]*/*.parquet")
            con.execute(
                f"create or replace table kept as select * replace (if(case_id = 'w03', {number}, {column}) as {column}) "
                f"from '{file}'; copy kept to '{file}'"
            )
    for view in ("comparisons", "inferences", "gate_results", "decisions"):
        for row in read(f"from {view}"):
            assert all(math.isfinite(x) for x in row.values() if isinstance(x, float)), (view, row)
    for row in read("from gate_results"):
        assert row["status"] == "indeterminate", row
        assert "missing: 1" in row["message"]


def test_a_use_below_zero_is_unknown(judged: Judged) -> None:
    declared = campaign([0.0] * 24, [gate("resource_ratio", 2.0, None, of="duration_s")])
    trials = [replace(each, duration_s=-1.0 if each.case_id == "w00" else 1.0) for each in declared.trials]
    (row,) = judged(replace(declared, trials=trials))
    assert row["status"] == "indeterminate"
    assert "missing: 1" in row["message"]


@pytest.mark.parametrize("method", ["by_kind", "bounded"])
@pytest.mark.parametrize("kind", ["continuous", "binary"])
def test_a_margin_as_wide_as_the_range_is_met_by_any_evidence(judged: Judged, method: str, kind: str) -> None:
    metric = Metric("m", 1, 0.0, 1.0, kind=kind)
    deltas: list[float | None] = [float(ix % 2) for ix in range(24)]
    gates = [{**gate("noninferiority", line, method=method), "name": str(line)} for line in (0.9, 1.0, 1.5)]
    assert [row["status"] for row in judged(campaign(deltas, gates, metric, 0.0))] == ["pass"] * 3
