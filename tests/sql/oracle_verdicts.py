"""An independent implementation of gates, decisions, selection and the Pareto front."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tests.sql.build import Campaign
from tests.sql.oracle_bounds import cases_of, scopes_of

Verdict = tuple[str, float | None, float | None]
"""Status, what was compared, and what it was compared with."""


def judge(campaign: Campaign, found: Mapping[str, pl.DataFrame], cells: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return what the views of verdicts must say, given what those of the evidence do."""
    verdicts = _gate_verdicts(campaign, found, cells)
    told = {"gate_verdicts": verdicts, "gate_results": _gate_results(campaign, verdicts)}
    told["decisions"] = _decisions(campaign, {**found, **told})
    told["selection"] = _selection(campaign, told["decisions"])
    told["pareto"] = _pareto(campaign, {**found, **told})
    return told


def _gate_verdicts(campaign: Campaign, found: Mapping[str, pl.DataFrame], cells: pl.DataFrame) -> pl.DataFrame:
    bounds = {(row["candidate_id"], row["metric"], row["scope"]): row for row in found["bounds"].to_dicts()}
    told = []
    for candidate in campaign.candidates:
        (grid,) = found["coverage"].filter(pl.col("candidate_id") == candidate).to_dicts()
        for ix, gate in enumerate(campaign.gates):
            for scope in scopes_of(campaign, gate):
                limits = bounds.get((candidate, gate.get("metric"), scope), {})
                options = gate.get("options", {})
                if gate["kind"] == "coverage":
                    verdict = _coverage(campaign, cells, candidate, scope, grid["unexpected_cells"])
                elif gate["kind"] == "failures":
                    verdict = _failures(campaign, cells, candidate, scope, options)
                elif gate["kind"] == "candidate_mean":
                    verdict = _candidate_mean(limits["candidate_mean_low"], limits["candidate_mean_high"], options)
                else:
                    name = {"mean_delta": "mean_delta", "worst_delta": "min_delta"}[gate["kind"]]
                    status = _between(limits[f"{name}_low"], limits[f"{name}_high"], gate["threshold"])
                    verdict = (status, limits[name], gate["threshold"])
                told.append((candidate, ix, scope, *verdict))
    kinds = {
        "candidate_id": pl.String, "gate_ix": pl.Int64, "scope": pl.String, "status": pl.String, "value": pl.Float64,
        "threshold": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(told, schema=kinds, orient="row")


def _coverage(campaign: Campaign, cells: pl.DataFrame, candidate: str, scope: str, unexpected: int) -> Verdict:
    declared = {(case, repeat) for case in cases_of(campaign, scope) for repeat in range(campaign.repeats)}
    complete = declared.copy()
    for who in (campaign.baseline, candidate):
        complete &= set(cells.filter(pl.col("candidate_id") == who).select("case_id", "repeat").iter_rows())
    is_complete = len(declared) > 0 and complete == declared and not unexpected
    return "pass" if is_complete else "indeterminate", float(len(complete)), float(len(declared))


def _failures(
    campaign: Campaign, cells: pl.DataFrame, candidate: str, scope: str, options: Mapping[str, Any]
) -> Verdict:
    cases = cases_of(campaign, scope)
    codes = options.get("codes")
    failed = {}
    broken = {}
    for who in (campaign.baseline, candidate):
        own = [row for row in cells.to_dicts() if row["candidate_id"] == who and row["case_id"] in cases]
        failed[who] = sum(
            row["status"] == "domain_failure" and (codes is None or row["failure_code"] in codes) for row in own
        )
        broken[who] = sum(row["status"] in ("infrastructure_failure", "cancelled") for row in own)
        if options.get("infrastructure") == "count":
            failed[who], broken[who] = failed[who] + broken[who], 0
    most = options.get("max", None if "excess" in options else 0)
    lines = [] if most is None else [most]
    if "excess" in options:
        lines.append(failed[campaign.baseline] + options["excess"])
    if not cases:
        status = "indeterminate"
    elif most is not None and failed[candidate] > most:
        status = "fail"
    elif any(broken.values()):
        status = "indeterminate"
    elif failed[candidate] > min(lines):
        status = "fail"
    else:
        is_open = options.get("arms") == "both" and failed[campaign.baseline] > 0
        status = "indeterminate" if is_open else "pass"
    return status, float(failed[candidate]), float(min(lines))


def _candidate_mean(low: float | None, high: float | None, options: Mapping[str, Any]) -> Verdict:
    at_least, at_most = options.get("at_least"), options.get("at_most")
    sides = []
    if at_least is not None:
        sides.append(_between(low, high, at_least))
    if at_most is not None:
        sides.append(_between(None if high is None else -high, None if low is None else -low, -at_most))
    status = "fail" if "fail" in sides else "indeterminate" if "indeterminate" in sides else "pass"
    return status, low if low == high else None, at_least if at_most is None else at_most


def _between(low: float | None, high: float | None, threshold: float) -> str:
    if low is not None and low >= threshold:
        return "pass"
    return "fail" if high is not None and high < threshold else "indeterminate"


def _gate_results(campaign: Campaign, verdicts: pl.DataFrame) -> pl.DataFrame:
    told: list[dict[str, Any]] = []
    for candidate in campaign.candidates:
        is_reached = True
        for ix, gate in enumerate(campaign.gates):
            own = verdicts.filter((pl.col("candidate_id") == candidate) & (pl.col("gate_ix") == ix)).to_dicts()
            deciding = min(own, key=lambda row: (["fail", "indeterminate", "pass"].index(row["status"]), row["scope"]))
            told.append(
                {
                    "candidate_id": candidate, "gate_ix": ix, "name": gate["name"], "kind": gate["kind"],
                    "metric": gate.get("metric"), "status": deciding["status"], "is_reached": is_reached,
                    "value": deciding["value"], "threshold": deciding["threshold"],
                }
            )  # fmt: skip
            is_reached = is_reached and deciding["status"] == "pass"
    kinds = {
        "candidate_id": pl.String, "gate_ix": pl.Int64, "name": pl.String, "kind": pl.String, "metric": pl.String,
        "status": pl.String, "is_reached": pl.Boolean, "value": pl.Float64, "threshold": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(told, schema=kinds)


def _decisions(campaign: Campaign, found: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
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


def _pareto(campaign: Campaign, found: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
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
