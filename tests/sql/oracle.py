"""An independent implementation of the views in polars and Python, for campaigns whose projections are whole."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
from scipy.stats import t

from tests.sql.build import Campaign, Metric

COORDINATE = ("candidate_id", "case_id", "repeat")


def quantile(df: int) -> float:
    """Return the .975 quantile of Student's t."""
    return float(t.ppf(0.975, df))


def judge(campaign: Campaign) -> dict[str, pl.DataFrame]:
    """Return what each view must say about a campaign."""
    cells = _cells(campaign)
    observed = _observed(campaign)
    deltas = _deltas(campaign, observed)
    compared = _compared(deltas, ["candidate_id", "metric"])
    found: dict[str, pl.DataFrame] = {
        "coverage": _coverage(campaign, cells),
        "failures": cells.filter(pl.col("status") != "success")
        .group_by("candidate_id", "arm", "status", "failure_code")
        .agg(pl.len().alias("cells")),
        "pending": _grid(campaign).join(cells, on=COORDINATE, how="anti"),
        "costs": _costs(cells),
        "deltas": deltas.drop("direction", "lower", "upper"),
        "comparisons": compared,
        "strata": _strata(campaign, deltas),
        "bounds": _bounds(deltas, compared),
    }
    found["gate_results"] = _gate_results(campaign, found, cells)
    found["decisions"] = _decisions(campaign, found)
    found["selection"] = _selection(campaign, found["decisions"])
    found["pareto"] = _pareto(campaign, found)
    return found


def _cells(campaign: Campaign) -> pl.DataFrame:
    told = [
        {
            "candidate_id": trial.candidate_id,
            "arm": "baseline" if trial.candidate_id == campaign.baseline else "candidate",
            "case_id": trial.case_id,
            "repeat": trial.repeat,
            "status": trial.status,
            "failure_code": trial.failure_code,
            "cost_usd": trial.cost_usd,
            "duration_s": trial.duration_s,
        }
        for trial in campaign.trials
    ]
    kinds = {
        "candidate_id": pl.String, "arm": pl.String, "case_id": pl.String, "repeat": pl.Int64, "status": pl.String,
        "failure_code": pl.String, "cost_usd": pl.Float64, "duration_s": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(told, schema=kinds)


def _grid(campaign: Campaign) -> pl.DataFrame:
    told = [
        {
            "candidate_id": who,
            "arm": "baseline" if who == campaign.baseline else "candidate",
            "case_id": case,
            "repeat": repeat,
        }
        for who in (campaign.baseline, *campaign.candidates)
        for case in campaign.cases
        for repeat in range(campaign.repeats)
    ]
    return pl.DataFrame(told)


def _worth(metric: Metric) -> float | None:
    if metric.on_domain_failure == "missing":
        return None
    if metric.on_domain_failure == "worst":
        return metric.lower if metric.direction > 0 else metric.upper
    return float(metric.on_domain_failure)


def _observed(campaign: Campaign) -> dict[tuple[str, str, int, str], float]:
    observed = {}
    for trial in campaign.trials:
        for metric in campaign.metrics:
            value = None
            if trial.status == "success":
                value = trial.values.get(metric.metric)
            elif trial.status == "domain_failure":
                value = _worth(metric)
            if value is not None:
                observed[trial.candidate_id, trial.case_id, trial.repeat, metric.metric] = value
    return observed


def _deltas(campaign: Campaign, observed: dict[tuple[str, str, int, str], float]) -> pl.DataFrame:
    told = []
    for candidate in campaign.candidates:
        for case in campaign.cases:
            for repeat in range(campaign.repeats):
                for metric in campaign.metrics:
                    base = observed.get((campaign.baseline, case, repeat, metric.metric))
                    own = observed.get((candidate, case, repeat, metric.metric))
                    told.append(
                        {
                            "candidate_id": candidate, "case_id": case, "repeat": repeat, "metric": metric.metric,
                            "baseline_value": base, "candidate_value": own,
                            "delta": _oriented(metric.direction, own, base),
                            "direction": metric.direction, "lower": metric.lower, "upper": metric.upper,
                        }
                    )  # fmt: skip
    kinds = dict.fromkeys(("baseline_value", "candidate_value", "delta", "lower", "upper"), pl.Float64)
    return pl.DataFrame(told, schema_overrides=kinds)


def _compared(deltas: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    declared = deltas.group_by(keys).agg(pl.len().alias("declared"))
    units = (
        deltas.filter(pl.col("delta").is_not_null())
        .group_by([*keys, "case_id"])
        .agg(
            pl.len().alias("pairs"),
            pl.col("baseline_value", "candidate_value", "delta").mean(),
            pl.col("delta").min().alias("min_delta"),
            pl.col("delta").max().alias("max_delta"),
        )
    )
    means = units.group_by(keys).agg(
        pl.col("pairs").sum(),
        pl.len().alias("cases"),
        pl.col("baseline_value").mean().alias("baseline_mean"),
        pl.col("candidate_value").mean().alias("candidate_mean"),
        pl.col("delta").mean().alias("mean_delta"),
        pl.col("min_delta").min(),
        pl.col("max_delta").max(),
        (pl.col("delta").std() / pl.len().sqrt()).alias("standard_error"),
    )
    half = pl.when(pl.col("cases") > 1).then(pl.col("cases")).map_elements(
        lambda n: quantile(n - 1), return_dtype=pl.Float64
    ) * pl.col("standard_error")
    return (
        declared.join(means, on=keys, how="left")
        .with_columns(pl.col("pairs", "cases").fill_null(0), is_whole=pl.lit(True))
        .with_columns(missing=pl.col("declared") - pl.col("pairs"))
        .with_columns(ci_low=pl.col("mean_delta") - half, ci_high=pl.col("mean_delta") + half)
        .drop("declared")
    )


def _strata(campaign: Campaign, deltas: pl.DataFrame) -> pl.DataFrame:
    told = [
        {"case_id": case, "group_key": key, "group_value": value}
        for case, groups in campaign.cases.items()
        for key, value in groups.items()
    ]
    kinds = {"case_id": pl.String, "group_key": pl.String, "group_value": pl.String}
    members = deltas.join(pl.DataFrame(told, schema=kinds), on="case_id")
    return _compared(members, ["candidate_id", "metric", "group_key", "group_value"])


def _bounds(deltas: pl.DataFrame, compared: pl.DataFrame) -> pl.DataFrame:
    told = []
    for (candidate, metric), group in deltas.group_by("candidate_id", "metric"):
        lows, highs, low_values, high_values = [], [], [], []
        for row in group.to_dicts():
            ends = [row["lower"], row["upper"]]
            worst, best = ends if row["direction"] > 0 else ends[::-1]
            base, own = row["baseline_value"], row["candidate_value"]
            lows.append(
                _oriented(row["direction"], own if own is not None else worst, base if base is not None else best)
            )
            highs.append(
                _oriented(row["direction"], own if own is not None else best, base if base is not None else worst)
            )
            low_values.append(own if own is not None else row["lower"])
            high_values.append(own if own is not None else row["upper"])
        known_highs = [value for value in highs if value is not None]
        told.append(
            {
                "candidate_id": candidate, "metric": metric,
                "mean_delta_low": _mean(lows), "mean_delta_high": _mean(highs),
                "min_delta_low": _least(lows),
                "min_delta_high": min(known_highs, default=None),
                "candidate_mean_low": _mean(low_values), "candidate_mean_high": _mean(high_values),
            }
        )  # fmt: skip
    limits = pl.DataFrame(
        told, schema_overrides={name: pl.Float64 for name in told[0] if name.endswith(("low", "high"))}
    )
    kept = compared.select("candidate_id", "metric", "is_whole", "missing", "candidate_mean", "mean_delta", "min_delta")
    return kept.join(limits, on=["candidate_id", "metric"])


def _oriented(direction: int, own: float | None, base: float | None) -> float | None:
    return None if own is None or base is None else direction * (own - base)


def _least(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return min(known) if len(known) == len(values) else None


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if len(known) == len(values) else None


def _coverage(campaign: Campaign, cells: pl.DataFrame) -> pl.DataFrame:
    declared = {(case, repeat) for case in campaign.cases for repeat in range(campaign.repeats)}
    found: dict[str, list[tuple[str, int]]] = {who: [] for who in (campaign.baseline, *campaign.candidates)}
    for row in cells.to_dicts():
        found[row["candidate_id"]].append((row["case_id"], row["repeat"]))
    base = found[campaign.baseline]
    told = []
    for candidate in campaign.candidates:
        own = found[candidate]
        stray = sum(pair not in declared for pair in [*own, *base])
        complete = declared & set(own) & set(base)
        told.append(
            {
                "candidate_id": candidate, "expected_pairs": len(declared), "complete_pairs": len(complete),
                "missing_baseline": len(declared - set(base)), "missing_candidate": len(declared - set(own)),
                "unexpected_cells": stray, "duplicate_cells": 0, "is_whole": True,
                "is_complete": complete == declared and not stray,
            }
        )  # fmt: skip
    return pl.DataFrame(told)


def _costs(cells: pl.DataFrame) -> pl.DataFrame:
    known = pl.col("cost_usd").count()
    return cells.group_by("candidate_id").agg(
        pl.len().alias("cells"),
        known.alias("known_cost_cells"),
        pl.col("cost_usd").null_count().alias("unknown_cost_cells"),
        pl.when(known > 0).then(pl.col("cost_usd").sum()).alias("known_cost_usd"),
        pl.when(pl.col("duration_s").count() > 0).then(pl.col("duration_s").sum()).alias("duration_s"),
    )


def _gate_results(campaign: Campaign, found: dict[str, pl.DataFrame], cells: pl.DataFrame) -> pl.DataFrame:
    bounds = {(row["candidate_id"], row["metric"]): row for row in found["bounds"].to_dicts()}
    coverage = {row["candidate_id"]: row for row in found["coverage"].to_dicts()}
    counts = {row[:2]: row[2] for row in cells.group_by("candidate_id", "status").len().iter_rows()}
    told: list[dict[str, Any]] = []
    for candidate in campaign.candidates:
        is_reached = True
        for ix, gate in enumerate(campaign.gates):
            options = gate.get("options", {})
            limit = bounds.get((candidate, gate.get("metric")), {})
            if gate["kind"] == "coverage":
                status = "pass" if coverage[candidate]["is_complete"] else "indeterminate"
            elif gate["kind"] == "failures":
                broken = sum(
                    counts.get((who, kind), 0)
                    for who in (candidate, campaign.baseline)
                    for kind in ("infrastructure_failure", "cancelled")
                )
                failed = counts.get((candidate, "domain_failure"), 0)
                status = "fail" if failed > options["max"] else "indeterminate" if broken else "pass"
            elif gate["kind"] == "mean_delta":
                status = _within(limit["mean_delta_low"], limit["mean_delta_high"], gate["threshold"])
            elif gate["kind"] == "worst_delta":
                status = _within(limit["min_delta_low"], limit["min_delta_high"], gate["threshold"])
            else:
                status = _within(limit["candidate_mean_low"], limit["candidate_mean_high"], options["at_least"])
            told.append(
                {
                    "candidate_id": candidate,
                    "gate_ix": ix,
                    "name": gate["name"],
                    "status": status,
                    "is_reached": is_reached,
                }
            )
            is_reached = is_reached and status == "pass"
    kinds = {
        "candidate_id": pl.String,
        "gate_ix": pl.Int64,
        "name": pl.String,
        "status": pl.String,
        "is_reached": pl.Boolean,
    }
    return pl.DataFrame(told, schema=kinds)


def _within(low: float | None, high: float | None, threshold: float) -> str:
    if low is not None and low >= threshold:
        return "pass"
    return "fail" if high is not None and high < threshold else "indeterminate"


def _decisions(campaign: Campaign, found: dict[str, pl.DataFrame]) -> pl.DataFrame:
    scores = {
        row["candidate_id"]: row["mean_delta"]
        for row in found["comparisons"].to_dicts()
        if row["metric"] == campaign.preference
    }
    told = []
    for row in found["coverage"].to_dicts():
        candidate = row["candidate_id"]
        is_pending = row["missing_baseline"] + row["missing_candidate"] > 0
        failing = [
            gate
            for gate in found["gate_results"].to_dicts()
            if gate["candidate_id"] == candidate and gate["status"] != "pass"
        ]
        first = min(failing, key=lambda gate: gate["gate_ix"], default=None)
        decision = "indeterminate" if is_pending else first["status"] if first else "pass"
        told.append(
            {
                "candidate_id": candidate, "label": f"label {candidate}", "decision": decision,
                "gate": first["name"] if first else None, "score": scores.get(candidate), "is_final": not is_pending,
            }
        )  # fmt: skip
    return pl.DataFrame(told, schema_overrides={"gate": pl.String, "score": pl.Float64})


def _selection(campaign: Campaign, decisions: pl.DataFrame) -> pl.DataFrame:
    kinds = {"selected_id": pl.String, "outcome": pl.String, "score": pl.Float64}
    if not decisions["is_final"].all():
        return pl.DataFrame(schema=kinds)
    verdicts = decisions.to_dicts()
    gaining = [
        (-row["score"], row["candidate_id"])
        for row in verdicts
        if row["decision"] == "pass"
        and row["score"] is not None
        and row["score"] > campaign.min_gain
        and row["candidate_id"] not in campaign.twins
    ]
    if gaining:
        score, candidate = min(gaining)
        return pl.DataFrame([(candidate, "selected", -score)], schema=kinds, orient="row")
    told = {row["decision"] for row in verdicts}
    outcome = "undecided" if "indeterminate" in told and "pass" not in told else "kept_baseline"
    return pl.DataFrame([(campaign.baseline, outcome, None)], schema=kinds, orient="row")


def _pareto(campaign: Campaign, found: dict[str, pl.DataFrame]) -> pl.DataFrame:
    means = {(row["candidate_id"], row["metric"]): row["candidate_mean"] for row in found["comparisons"].to_dicts()}
    points: dict[str, list[float] | None] = {}
    for row in found["decisions"].to_dicts():
        if row["decision"] == "pass":
            own = [means[row["candidate_id"], metric.metric] for metric in campaign.metrics]
            oriented = [
                metric.direction * value
                for metric, value in zip(campaign.metrics, own, strict=True)
                if value is not None
            ]
            points[row["candidate_id"]] = oriented if len(oriented) == len(own) else None
    told = []
    for candidate, point in points.items():
        others = [other for other in points.values() if other is not None and other != point]
        is_beaten = point is not None and any(
            all(a >= b for a, b in zip(other, point, strict=True)) for other in others
        )
        told.append((candidate, point is not None, None if point is None else not is_beaten))
    kinds = {"candidate_id": pl.String, "is_rankable": pl.Boolean, "is_front": pl.Boolean}
    return pl.DataFrame(told, schema=kinds, orient="row")
