"""Evidence that allows no inference: indeterminate, with the reason in words, and never NaN anywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import duckdb
import pytest

from tests.sql.build import Metric, Trial, at, rows, write_campaign, write_empty
from tests.sql.inferences.drawing import Inferring

UNIT = Metric("m", 1, 0.0, 1.0)
OPEN = Metric("m")
BINARY = Metric("m", 1, 0.0, 1.0, kind="binary")
KINDS = ("superiority", "noninferiority", "equivalence", "harm", "family")
NUMBERS_OF = ("comparisons", "strata", "inferences", "gate_results", "decisions", "selection")
RISING: tuple[float, ...] = tuple(0.05 + ix / 100 for ix in range(24))

Verdicts = Mapping[str, list[dict[str, Any]]]


def gate(kind: str, line: float = 0.05, metric: str | None = "m", **options: Any) -> Mapping[str, Any]:
    return {"kind": kind, "name": f"{kind} {line} {options}", "metric": metric, "threshold": line, "options": options}


def every_kind(line: float = 0.05, **options: Any) -> list[Mapping[str, Any]]:
    return [gate(kind, line, **options) for kind in KINDS]


def campaign(
    deltas: Sequence[float | None],
    gates: list[Mapping[str, Any]],
    metric: Metric = UNIT,
    base: float = 0.5,
    **more: Any,
) -> Inferring:
    cases = {f"w{ix:02}": {"half": "ab"[ix % 2]} for ix in range(len(deltas))}
    pairs = list(zip(cases, deltas, strict=True))
    trials = [Trial("base", case, 0, {"m": base}, duration_s=1.0) for case in cases]
    trials += [Trial("c1", case, 0, {"m": base + x}, duration_s=1.0) for case, x in pairs if x is not None]
    return Inferring(**{"cases": cases, "metrics": [metric], "trials": trials, "gates": gates, **more})


def sized(size: float, infers_to: str) -> Inferring:
    """Return a campaign of three repeats whose deltas are of this magnitude."""
    cases: dict[str, Any] = {f"w{ix}": {} for ix in range(3)}
    trials = [
        Trial(who, case, repeat, {"m": size * (who == "c1") * (0.8 + ((ix * 5 + repeat * 3) % 7) / 100)})
        for who in ("base", "c1")
        for ix, case in enumerate(cases)
        for repeat in range(3)
    ]
    gates = [gate("superiority", 0.0, min_cases=2), gate("equivalence", size * 4, min_cases=2)]
    return Inferring(cases=cases, metrics=[OPEN], trials=trials, repeats=3, gates=gates, infers_to=infers_to)


def changed(declared: Inferring, **members: Any) -> Inferring:
    """Return the campaign with the trials of its first case changed."""
    trials = [replace(each, **members) if each.case_id == "w00" else each for each in declared.trials]
    return replace(declared, trials=trials)


NOT_AS_DECLARED = {
    "a margin is above 0": [gate("noninferiority", 0.0), gate("noninferiority", -0.1), gate("equivalence", -0.1)],
    "the gain asked is not below 0": [gate("superiority", -0.1)],
    "the loss tolerated is not below 0": [gate("harm", -0.1)],
    "alpha is a number above 0 and below 0.5": [
        gate("superiority", alpha=wrong) for wrong in (0, 0.5, -1, 7, "0.0x", "NaN", "inf", [0.1])
    ],
    "min_cases is a number of at least 2": [gate("superiority", min_cases=wrong) for wrong in (1, -5, "many", "NaN")],
    "method is by_kind or bounded": [gate("superiority", method="best")],
    "method is holm, max_t or bounded": [gate("family", method="best")],
    "it takes a binary metric and one repeat": [gate("binary_superiority"), gate("binary_noninferiority")],
    "the largest ratio is above 0": [gate("resource_ratio", wrong, None, of="duration_s") for wrong in (0.0, -1.0)],
}
RESOURCE = gate("resource_ratio", 2.0, None, of="duration_s")
HALVED = {f"w{ix:02}": f"k{ix // 2}" for ix in range(24)}
TRIES = [gate("reliability", 0.5, k=1), gate("reliability", 0.5, k=2)]
DECLARED: dict[str, Inferring] = {
    "one value without a range": campaign([0.25] * 24, every_kind(), OPEN),
    "no change in one case": campaign([0.0], every_kind(0.5)),
    "no change in 24 cases": campaign([0.0] * 24, every_kind(0.5)),
    "one case without a range": campaign([0.25], every_kind(), OPEN),
    "no pair": campaign([None] * 24, every_kind()),
    "no pair without a range": campaign([None] * 24, every_kind(), OPEN),
    "no pair with half a range": campaign([None] * 24, every_kind(), Metric("m", 1, 0.0, None)),
    "no trial": replace(campaign(RISING, every_kind()), trials=[]),
    "19 units": campaign(RISING[:19], [gate("superiority"), gate("superiority", 0.0, min_cases=19)]),
    "12 clusters": campaign(RISING, [gate("superiority"), gate("superiority", 0.0, min_cases=12)], clusters=HALVED),
    "bounded and clustered": campaign(RISING, [gate("superiority", method="bounded")], clusters=HALVED),
    "binary and clustered": campaign(
        [float(ix % 3 > 0) for ix in range(24)],
        [gate("binary_superiority", 0.0, min_cases=2), gate("binary_noninferiority", 0.1, min_cases=2)],
        BINARY,
        0.0,
        clusters=HALVED,
    ),
    "one sound, one not": campaign(RISING, [gate("superiority", alpha=7), gate("superiority")]),
    "no such scope": campaign(
        RISING, [each for within in ("nowhere", {"nowhere": "x"}, {"half": "c"}) for each in every_kind(within=within)]
    ),
    "not binary": campaign([0.3] * 24, [*every_kind(), gate("binary_superiority")], BINARY, 0.0),
    "not binary, with gaps": campaign([0.3, None] * 12, [*every_kind(), gate("binary_superiority")], BINARY, 0.0),
    "not binary, on both sides": campaign([-0.3, 0.3] * 12, [*every_kind(), gate("binary_superiority")], BINARY, 0.5),
    "tries": campaign([0.3] * 24, TRIES, BINARY, 0.0),
    "a use below 0": changed(campaign(RISING, [RESOURCE]), duration_s=-1.0),
    "a use of 1e308": changed(campaign(RISING, [RESOURCE]), duration_s=1e308),
    "a use unknown": changed(campaign(RISING, [RESOURCE]), duration_s=None),
} | {
    f"declared: {reason}": campaign(RISING, gates) for reason, gates in NOT_AS_DECLARED.items()
} | {
    "declared: a bounded method needs a metric with both ends of its range declared": campaign(
        RISING, [gate(kind, method="bounded") for kind in ("superiority", "family", "harm")], OPEN
    ),
    "declared: one repeat cannot show whether the runner is deterministic": campaign(
        RISING, [gate("superiority")], infers_to="these_cases"
    ),
    "declared: it infers to cases like these, but the policy to these cases": campaign(
        RISING, [RESOURCE, TRIES[0]], BINARY, infers_to="these_cases"
    ),
    "declared: the policy infers to these_cases or to cases_like_these": campaign(
        RISING, [gate("superiority")], infers_to="all_cases"
    ),
    "declared: k is a whole number of at least 1": campaign(
        RISING, [gate("reliability", 0.5, k=wrong) for wrong in (0, 0.5, "two")], BINARY
    ),
    "declared: a reliability lies between 0 and 1": campaign(RISING, [gate("reliability", 1.5, k=1)], BINARY),
    "declared: the metric is not binary": campaign(RISING, [gate("reliability", 0.5, k=1)]),
} | {
    f"a value of {value}": changed(campaign(RISING, every_kind(), OPEN), values={"m": value})
    for value in (1e308, -1e308, 1e141)
} | {
    f"of size {size}, {infers_to}": sized(size, infers_to)
    for size in (1e100, 1e130, 1e-100)
    for infers_to in ("cases_like_these", "these_cases")
} | {
    f"wide margins, {kind}, {method}": campaign(
        [float(ix % 2) for ix in range(24)],
        [gate("noninferiority", line, method=method) for line in (0.9, 1.0, 1.5)]
        + [gate("superiority", 1.5, method=method)],
        replace(UNIT, kind=kind),
        0.0,
    )
    for kind in ("continuous", "binary")
    for method in ("by_kind", "bounded")
}  # fmt: skip
# Written behind the ledger's back, as if a file were damaged, where no boundary can refuse them.
DAMAGES = ("'nan'::double", "'infinity'::double", "-'infinity'::double", "1e308")
DECLARED |= {f"damaged: {number}": campaign(RISING, [*every_kind(), RESOURCE], OPEN) for number in DAMAGES}


@pytest.fixture(scope="module")
def told(views: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdicts]:
    """Return the rows of every view with numbers, by view and campaign."""
    root = write_empty(tmp_path_factory.mktemp("bad") / "warehouse")
    names = {}
    for name, declared in DECLARED.items():
        names[write_campaign(views, root, replace(declared, name=name, preference="m"))] = name
    for number in DAMAGES:
        named = replace(DECLARED[f"damaged: {number}"], name=f"damaged: {number}", preference="m")
        for table, column in (("measurements", "value"), ("cells", "duration_s")):
            (file,) = root.glob(f"{table}/campaign={named.hex}/*.parquet")
            with duckdb.connect() as con:
                con.execute(
                    f"create table kept as select * replace (if(case_id = 'w03', {number}, {column}) as {column}) "
                    f"from '{file}'; copy kept to '{file}'"
                )
    at(views, root)
    told: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for view in NUMBERS_OF:
        told[view] = {name: [] for name in DECLARED}
        order = " order by gate_ix" if view == "gate_results" else ""
        for row in rows(views, f"from {view}{order}"):
            told[view][names[row["campaign_id"]]].append(row)
    return dict(told)


@pytest.fixture(scope="module")
def verdicts(told: dict[str, Verdicts]) -> Verdicts:
    return told["gate_results"]


@pytest.mark.parametrize("view", NUMBERS_OF)
def test_no_number_is_nan_or_infinite(told: dict[str, Verdicts], view: str) -> None:
    for name, found in told[view].items():
        assert found or view in ("selection", "strata"), name
        for row in found:
            wrong = {column: x for column, x in row.items() if isinstance(x, float) and not math.isfinite(x)}
            assert not wrong, (name, row)
            assert not {"nan", "inf", "-inf"} & set(str(row.get("message")).replace(",", "").split()), (name, row)


def test_every_gate_has_a_verdict_with_a_message(verdicts: Verdicts) -> None:
    for name, declared in DECLARED.items():
        assert [row["name"] for row in verdicts[name]] == [each["name"] for each in declared.gates]
        assert all(row["status"] in ("pass", "fail", "indeterminate") and row["message"] for row in verdicts[name])


def test_without_a_range_one_value_throughout_says_nothing_about_other_cases(verdicts: Verdicts) -> None:
    for row in verdicts["one value without a range"]:
        assert row["status"] == "indeterminate"
        assert "every case gave one value" in row["message"]
        assert row["value"] == 0.25


def test_zero_deltas_within_a_range_are_told_by_the_range(verdicts: Verdicts) -> None:
    # of 24 cases the mean is above -.5 but for (1/2)^24, and likewise not above .5; of one case but for 1/2
    one, many = (
        {row["kind"]: row["status"] for row in verdicts[f"no change in {cases}"]} for cases in ("one case", "24 cases")
    )
    assert one == dict.fromkeys(KINDS, "indeterminate") | {"harm": "pass"}
    assert many == {
        "superiority": "fail", "noninferiority": "pass", "equivalence": "pass", "harm": "pass", "family": "fail",
    }  # fmt: skip


def test_one_case_without_a_range_allows_no_inference(verdicts: Verdicts) -> None:
    for row in verdicts["one case without a range"]:
        assert (row["status"], row["value"]) == ("pass" if row["kind"] == "harm" else "indeterminate", 0.25)


@pytest.mark.parametrize("name", ["no pair", "no pair without a range", "no pair with half a range", "no trial"])
def test_without_a_pair_every_gate_is_open(verdicts: Verdicts, name: str) -> None:
    assert [(row["status"], row["value"]) for row in verdicts[name]] == [("indeterminate", None)] * len(KINDS)
    if name.endswith("without a range"):
        open_ended = "nothing bounds what they could be worth; declare both ends of the range of m, for an intake with"
        assert all(open_ended in row["message"] for row in verdicts[name])


@pytest.mark.parametrize(("name", "units"), [("19 units", 19), ("12 clusters", 12)])
def test_too_few_independent_units_are_told(verdicts: Verdicts, name: str, units: int) -> None:
    few, enough = verdicts[name]
    assert few["status"] == "indeterminate"
    assert f"independent units: {units}, at least 20 are asked by Student's t" in few["message"]
    assert enough["status"] == "pass"


def test_a_bounded_method_refuses_clusters(verdicts: Verdicts) -> None:
    (row,) = verdicts["bounded and clustered"]
    assert row["status"] == "indeterminate"
    assert "a bounded method needs independent cases, and some share a cluster" in row["message"]


def test_a_binary_gate_refuses_clusters_and_names_the_remedy(verdicts: Verdicts) -> None:
    for row in verdicts["binary and clustered"]:
        assert row["status"] == "indeterminate"
        remedy = row["kind"].removeprefix("binary_")
        assert row["message"].endswith(f"cases share clusters: use {remedy}")


@pytest.mark.parametrize("name", [each for each in DECLARED if each.startswith("declared: ")])
def test_what_cannot_be_judged_as_declared_is_open_and_says_why(verdicts: Verdicts, name: str) -> None:
    reason = name.removeprefix("declared: ")
    for row in verdicts[name]:
        assert (row["status"], row["value"]) == ("indeterminate", None)
        assert f"the gate cannot be judged as declared: {reason}" in row["message"], row


def test_what_another_gate_asks_lends_no_value_to_one_that_cannot_be_judged(verdicts: Verdicts) -> None:
    broken, sound = verdicts["one sound, one not"]
    assert (broken["status"], broken["value"]) == ("indeterminate", None)
    assert sound["value"] == pytest.approx(sum(RISING) / 24)


def test_a_scope_without_a_case_is_open(verdicts: Verdicts) -> None:
    for row in verdicts["no such scope"]:
        assert row["status"] == "indeterminate"
        assert "no case of the workload belongs to this scope" in row["message"]


@pytest.mark.parametrize("name", ["not binary", "not binary, with gaps", "not binary, on both sides"])
def test_a_binary_metric_that_holds_other_values_is_open(verdicts: Verdicts, name: str) -> None:
    for row in verdicts[name]:
        # Where no test could be made, harm could neither be shown nor said not to show.
        assert row["status"] == "indeterminate", row
        assert "a value of the binary metric is neither 0 nor 1" in row["message"]


def test_a_try_of_another_value_is_no_try_and_k_tries_need_k_repeats(verdicts: Verdicts) -> None:
    once, twice = verdicts["tries"]
    assert (once["status"], once["value"]) == ("indeterminate", None)
    assert (twice["status"], twice["value"]) == ("indeterminate", None)
    assert "2 tries in a row cannot be told from 1 repeats" in twice["message"]


@pytest.mark.parametrize("name", ["a use below 0", "a use of 1e308", "a use unknown"])
def test_a_use_that_is_none_is_unknown(verdicts: Verdicts, name: str) -> None:
    (row,) = verdicts[name]
    assert row["status"] == "indeterminate"
    assert "missing: 1" in row["message"]
    assert "--bounds" not in row["message"]  # a resource has no range to declare


@pytest.mark.parametrize("name", [each for each in DECLARED if each.startswith(("a value of", "damaged:"))])
def test_a_value_beyond_bounds_is_missing(verdicts: Verdicts, name: str) -> None:
    for row in verdicts[name]:
        assert row["status"] == "indeterminate", row
        assert "missing: 1, and nothing bounds what they could be worth" in row["message"], row


@pytest.mark.parametrize("name", [each for each in DECLARED if each.startswith("of size")])
def test_very_large_and_small_values_are_inferred_from_like_others(verdicts: Verdicts, name: str) -> None:
    assert [row["status"] for row in verdicts[name]] == ["pass", "pass"]


@pytest.mark.parametrize("name", [each for each in DECLARED if each.startswith("wide margins")])
def test_a_margin_as_wide_as_the_range_is_met_and_a_gain_beyond_it_never(verdicts: Verdicts, name: str) -> None:
    assert [row["status"] for row in verdicts[name]] == ["pass", "pass", "pass", "fail"]
