"""An independent implementation of scopes and of the bounds over them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from tests.sql.build import Campaign

LIMITS = ("delta_low", "delta_high", "min_delta_low", "min_delta_high", "candidate_low", "candidate_high")


def judge(campaign: Campaign, deltas: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return what the views of scopes and bounds must say about a campaign whose deltas are these."""
    judged = _judged_metrics(campaign)
    kept = deltas.filter(pl.col("metric").is_in(sorted(judged)))
    units = [_unit(pairs) for pairs in kept.partition_by("candidate_id", "metric", "case_id")]
    scopes = [(ix, scope) for ix, gate in enumerate(campaign.gates) for scope in scopes_of(campaign, gate)]
    members = [
        {
            "scope": scope,
            "case_id": case,
            "cluster": f"cluster {campaign.clusters[case]}" if case in campaign.clusters else f"case {case}",
            "is_clustered": case in campaign.clusters,
        }
        for scope in sorted({"", *(scope for _, scope in scopes)})
        for case in cases_of(campaign, scope)
    ]
    return {
        "judged_metrics": pl.DataFrame(
            [vars(metric) for metric in campaign.metrics if metric.metric in judged],
            schema={
                "metric": pl.String, "direction": pl.Int64, "lower": pl.Float64, "upper": pl.Float64, "kind": pl.String,
            },
        ),
        "judged_scopes": pl.DataFrame(scopes, schema={"gate_ix": pl.Int64, "scope": pl.String}, orient="row"),
        "scope_cases": pl.DataFrame(members),
        "case_bounds": _frame(units, ["candidate_id", "metric", "case_id"], ["mean_delta", "min_delta", *LIMITS]),
        "bounds": _bounds(campaign, units),
    }  # fmt: skip


def scopes_of(campaign: Campaign, gate: Mapping[str, Any]) -> list[str]:
    """Return the scopes that a gate judges over."""
    within = gate.get("options", {}).get("within")
    if within is None:
        return [""]
    if isinstance(within, str):
        return sorted({_text({within: groups.get(within)}) for groups in campaign.cases.values()})
    return [_text(within)]


def cases_of(campaign: Campaign, scope: str) -> list[str]:
    """Return the cases that belong to a scope."""
    wanted: dict[str, str | None] = json.loads(scope or "{}")
    return [
        case
        for case, groups in campaign.cases.items()
        if all(value is not None and groups.get(key) == value for key, value in wanted.items())
    ]


def _text(wanted: Mapping[str, str | None]) -> str:
    return json.dumps(wanted, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _judged_metrics(campaign: Campaign) -> set[str]:
    named = [campaign.preference, *(gate.get("metric") for gate in campaign.gates)]
    return {name for name in named if name is not None}


def _unit(pairs: pl.DataFrame) -> dict[str, Any]:
    """Return the row of `case_bounds` of one case, from the rows of `deltas` that belong to it."""
    lows: list[float | None] = []
    highs: list[float | None] = []
    low_values: list[float | None] = []
    high_values: list[float | None] = []
    for row in pairs.to_dicts():
        ends = [row["lower"], row["upper"]]
        worst, best = ends if row["direction"] > 0 else ends[::-1]
        base, own = row["baseline_value"], row["candidate_value"]
        for deltas, own_fill, base_fill in ((lows, worst, best), (highs, best, worst)):
            deltas.append(
                oriented(
                    row["direction"], own if own is not None else own_fill, base if base is not None else base_fill
                )
            )
        low_values.append(own if own is not None else row["lower"])
        high_values.append(own if own is not None else row["upper"])
    found = _known(pairs["delta"])
    return {
        **pairs.select("candidate_id", "metric", "case_id").to_dicts()[0],
        "missing": len(pairs) - len(found),
        "mean_delta": _mean(found),
        "min_delta": min(found, default=None),
        "delta_low": _mean(lows),
        "delta_high": _mean(highs),
        "min_delta_low": _least(lows),
        "min_delta_high": min(_known(highs), default=None),
        "candidate_low": _mean(low_values),
        "candidate_high": _mean(high_values),
    }


def _bounds(campaign: Campaign, units: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    asked = {(metric, "") for metric in _judged_metrics(campaign)}
    asked |= {
        (gate["metric"], scope) for gate in campaign.gates if "metric" in gate for scope in scopes_of(campaign, gate)
    }
    told = []
    for candidate in campaign.candidates:
        for metric, scope in asked:
            cases = cases_of(campaign, scope)
            own = [
                unit
                for unit in units
                if (unit["candidate_id"], unit["metric"]) == (candidate, metric) and unit["case_id"] in cases
            ]
            of: dict[str, list[Any]] = {
                name: [unit[name] for unit in own] for name in ("mean_delta", "min_delta", *LIMITS)
            }
            told.append(
                {
                    "candidate_id": candidate, "metric": metric, "scope": scope, "is_whole": True,
                    "cases": len(cases), "missing": sum(unit["missing"] for unit in own),
                    "mean_delta": _mean(_known(of["mean_delta"])),
                    "min_delta": min(_known(of["min_delta"]), default=None),
                    "mean_delta_low": _mean(of["delta_low"]),
                    "mean_delta_high": _mean(of["delta_high"]),
                    "min_delta_low": _least(of["min_delta_low"]),
                    "min_delta_high": min(_known(of["min_delta_high"]), default=None),
                    "candidate_mean_low": _mean(of["candidate_low"]),
                    "candidate_mean_high": _mean(of["candidate_high"]),
                }
            )  # fmt: skip
    numbers = ["mean_delta", "min_delta", "mean_delta_low", "mean_delta_high", "min_delta_low", "min_delta_high"]
    return _frame(told, ["candidate_id", "metric", "scope"], [*numbers, "candidate_mean_low", "candidate_mean_high"])


def _frame(told: Sequence[Mapping[str, Any]], texts: Iterable[str], numbers: Iterable[str]) -> pl.DataFrame:
    kinds = {**dict.fromkeys(texts, pl.String()), **dict.fromkeys(numbers, pl.Float64())}
    return pl.DataFrame(told, schema_overrides=kinds) if told else pl.DataFrame(schema=kinds)


def oriented(direction: int, own: float | None, base: float | None) -> float | None:
    """Return how much better a candidate's value is, or None where either is unknown."""
    return None if own is None or base is None else direction * (own - base)


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _least(values: Sequence[float | None]) -> float | None:
    known = _known(values)
    return min(known) if known and len(known) == len(values) else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = _known(values)
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None
