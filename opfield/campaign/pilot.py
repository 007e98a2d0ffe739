"""Pilots: what a campaign knows about the spread of a candidate's deltas, to plan another one by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from opfield.errors import OpfieldError, unknown_name
from opfield.warehouse.session import Warehouse


@dataclass(frozen=True, slots=True)
class Pilot:
    """What a pilot campaign knows about the spread of a candidate's deltas.

    Attributes:
        campaign_id: identity of the campaign.
        name: its name.
        candidate: label of the candidate.
        metric: metric.
        kind: continuous, binary or count.
        infers_to: what its policy infers to.
        cases: cases with a pair.
        clusters: independent units among them, at least 2.
        repeats: mean number of pairs of a case (the harmonic one).
        missing: declared pairs that were not found.
        mean_delta: mean oriented delta.
        between: variance of the true deltas of cases; None where no case was tried twice.
        within: variance of a single delta about that of its case; None where no case was tried twice.
        mean_variance: variance of the mean delta.
    """

    campaign_id: str
    name: str
    candidate: str
    metric: str
    kind: str
    infers_to: str
    cases: int
    clusters: int
    repeats: float
    missing: int
    mean_delta: float
    between: float | None
    within: float | None
    mean_variance: float

    def variance_of_case(self, repeats: float) -> float | None:
        """Return the variance that one case adds to a mean over cases; None where the pilot cannot tell."""
        if self.between is not None and self.within is not None:
            return self.between + self.within / repeats
        return self.cases * self.mean_variance if repeats == self.repeats else None

    def units(self, cases: int) -> int:
        """Return the independent units among so many cases, clustered as those of the pilot."""
        return cases * self.clusters // self.cases


_PILOTS: Final = """
select
    campaigns.campaign_id,
    campaigns.name,
    candidates.candidate_id,
    candidates.label,
    variance_components.metric,
    metrics.kind,
    declarations.infers_to,
    variance_components.cases,
    variance_components.clusters,
    variance_components.repeats,
    comparisons.missing,
    variance_components.mean_delta,
    variance_components.between_variance,
    variance_components.within_variance,
    variance_components.mean_variance,
    variance_components.problem,
from variance_components
inner join comparisons using (campaign_id, candidate_id, metric)
inner join campaigns using (campaign_id)
inner join declarations using (campaign_id)
inner join candidates using (campaign_id, candidate_id)
inner join metrics using (campaign_id, metric)
where campaign_id = ? and variance_components.metric = ?
order by
    variance_components.candidate_id = campaigns.selected_id desc nulls last,
    variance_components.mean_variance desc nulls last,
    variance_components.candidate_id
"""


def read_pilot(opened: Warehouse, campaign_id: str, metric: str | None = None, candidate: str | None = None) -> Pilot:
    """Return what a campaign knows about the spread of a candidate's deltas.

    Args:
        opened: the warehouse.
        campaign_id: the campaign.
        metric: as for `power`.
        candidate: as for `power`.

    Raises:
        UnknownNameError: where the campaign has no such metric or candidate.
        OpfieldError: where it shows nothing of the spread.
    """
    chosen = _metric(opened, campaign_id, metric)
    rows = opened.rows(_PILOTS, [campaign_id, chosen])
    if not rows:
        raise OpfieldError(f"campaign {campaign_id[7:19]} has no candidate yet, so there is no pilot to plan from")
    row = rows[0] if candidate is None else _meant(rows, candidate)
    about = f"campaign {row['name']!r} is no pilot for {chosen!r} and candidate {row['label']!r}"
    if row["mean_variance"] is None:
        remedy = "run it on more cases" if row["cases"] else "let it run first; `opfield status` says how far it is"
        raise OpfieldError(f"{about}: {row['problem']}; {remedy}")
    if row["mean_variance"] == 0 and not row["within_variance"]:
        raise OpfieldError(
            f"{about}: all {row['cases']} cases gave the same change, {row['mean_delta']:.6g}, which says nothing of "
            "how far others lie from it; take a metric that varies, or cases that do"
        )
    return Pilot(
        campaign_id=row["campaign_id"],
        name=row["name"],
        candidate=row["label"],
        metric=chosen,
        kind=row["kind"],
        infers_to=row["infers_to"],
        cases=row["cases"],
        clusters=row["clusters"],
        repeats=row["repeats"],
        missing=row["missing"],
        mean_delta=row["mean_delta"],
        between=row["between_variance"],
        within=row["within_variance"],
        mean_variance=row["mean_variance"],
    )


def _meant(rows: list[dict[str, Any]], candidate: str) -> dict[str, Any]:
    """Return the row of the candidate that a label, or the beginning of an id, means."""
    bare = candidate.removeprefix("sha256:")
    fits = [row for row in rows if row["label"] == candidate]
    fits = fits or [row for row in rows if bare and row["candidate_id"].removeprefix("sha256:").startswith(bare)]
    if len(fits) != 1:
        raise unknown_name("candidate", candidate, (row["label"] for row in rows))
    return fits[0]


def _metric(opened: Warehouse, campaign_id: str, metric: str | None) -> str:
    rows = opened.rows("select metric from metrics where campaign_id = ? order by metric", [campaign_id])
    known = [row["metric"] for row in rows]
    if metric is not None:
        if metric not in known:
            raise unknown_name("metric", metric, known)
        return metric
    preferred = opened.rows("select preference from campaigns where campaign_id = ?", [campaign_id])[0]["preference"]
    if preferred is None and len(known) != 1:
        raise OpfieldError(f"the pilot's policy prefers no metric; name one of its metrics: {', '.join(known)}")
    return str(preferred or known[0])
