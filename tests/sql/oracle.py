"""An independent implementation of the views in polars and Python, for campaigns whose projections are whole."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
from scipy.stats import t

from tests.sql import oracle_bounds, oracle_verdicts
from tests.sql.build import Campaign, Metric

NUMBERS = ("standard_error", "ci_low", "ci_high")
COORDINATE = ("candidate_id", "case_id", "repeat")


def quantile(df: int) -> float:
    """Return the .975 quantile of Student's t."""
    return float(t.ppf(0.975, df))


def judge(campaign: Campaign) -> dict[str, pl.DataFrame]:
    """Return what each view must say about a campaign."""
    cells = _cells(campaign)
    observed = _observed(campaign)
    deltas = _deltas(campaign, observed)
    compared = _compared(campaign, deltas, ["candidate_id", "metric"])
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
    }
    found |= oracle_bounds.judge(campaign, deltas)
    return found | oracle_verdicts.judge(campaign, found, cells)


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
                            "delta": oracle_bounds.oriented(metric.direction, own, base),
                            "direction": metric.direction, "lower": metric.lower, "upper": metric.upper,
                        }
                    )  # fmt: skip
    kinds = dict.fromkeys(("baseline_value", "candidate_value", "delta", "lower", "upper"), pl.Float64)
    return pl.DataFrame(told, schema_overrides=kinds)


def _compared(campaign: Campaign, deltas: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    declared = deltas.group_by(keys).agg(pl.len().alias("declared"), pl.col("lower", "upper").first())
    units = (
        deltas.filter(pl.col("delta").is_not_null())
        .group_by([*keys, "case_id"])
        .agg(
            pl.len().alias("pairs"),
            pl.col("baseline_value", "candidate_value", "delta").mean(),
            pl.col("delta").min().alias("min_delta"),
            pl.col("delta").max().alias("max_delta"),
        )
        .with_columns(cluster=pl.col("case_id").replace(dict(campaign.clusters)))
    )
    means = units.group_by(keys).agg(
        pl.col("pairs").sum(),
        pl.len().alias("cases"),
        pl.col("cluster").n_unique().alias("clusters"),
        pl.col("baseline_value").mean().alias("baseline_mean"),
        pl.col("candidate_value").mean().alias("candidate_mean"),
        pl.col("delta").mean().alias("mean_delta"),
        pl.col("min_delta").min(),
        pl.col("max_delta").max(),
        (pl.col("delta").max() - pl.col("delta").min() < 1e-12).alias("is_constant"),
    )
    squares = (
        units.join(means, on=keys)
        .group_by([*keys, "cluster"])
        .agg((pl.col("delta") - pl.col("mean_delta")).sum().alias("deviation"))
        .group_by(keys)
        .agg((pl.col("deviation") ** 2).sum().alias("squares"))
    )
    known = declared.join(means, on=keys, how="left").join(squares, on=keys, how="left")
    inferred = [{**{key: row[key] for key in keys}, **_interval(row)} for row in known.to_dicts()]
    kinds = dict.fromkeys([*keys, "method"], pl.String()) | dict.fromkeys(NUMBERS, pl.Float64())
    return (
        known.join(pl.DataFrame(inferred, schema=kinds), on=keys)
        .with_columns(pl.col("pairs", "cases", "clusters").fill_null(0), is_whole=pl.lit(True))
        .with_columns(missing=pl.col("declared") - pl.col("pairs"))
        .drop("declared", "lower", "upper", "is_constant", "squares")
    )


def _interval(row: dict[str, Any]) -> dict[str, Any]:
    """Return how the mean delta of a row is inferred: its method, its standard error, and the ends of its interval.

    Over clusters the variance of the mean is the sandwich estimate g / (g - 1) times the sum of the squared sums of
    deviations, over the squared number of cases (Cameron and Miller, 2015, section II).
    """
    told: dict[str, Any] = dict.fromkeys(("method", *NUMBERS))
    cases, g, mean = row["cases"], row["clusters"], row["mean_delta"]
    if not cases:
        return told
    error = math.sqrt(g / (g - 1) * row["squares"]) / cases if g > 1 else None
    told |= {"method": "constant" if row["is_constant"] else "t", "standard_error": error}
    if row["is_constant"] and None not in (row["lower"], row["upper"]):
        # the chance to see this value alone, .975 of it being left, when the rest is at an end of the range
        share = 1 - 0.025 ** (1 / cases)
        size = row["upper"] - row["lower"]
        return told | {"ci_low": mean - (mean + size) * share, "ci_high": mean + (size - mean) * share}
    if not row["is_constant"] and error:
        half = quantile(g - 1) * error
        return told | {"ci_low": mean - half, "ci_high": mean + half}
    return told


def _strata(campaign: Campaign, deltas: pl.DataFrame) -> pl.DataFrame:
    told = [
        {"case_id": case, "group_key": key, "group_value": value}
        for case, groups in campaign.cases.items()
        for key, value in groups.items()
    ]
    kinds = {"case_id": pl.String, "group_key": pl.String, "group_value": pl.String}
    members = deltas.join(pl.DataFrame(told, schema=kinds), on="case_id")
    return _compared(campaign, members, ["candidate_id", "metric", "group_key", "group_value"])


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
