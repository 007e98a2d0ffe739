"""Hand-written campaigns with reviews: each bears the digest of its candidate's comparison unless told otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tests.sql.build import Campaign, chained


@dataclass(frozen=True)
class Said:
    """One review; `comparison` None stands for the recorded one."""

    candidate_id: str
    verdict: str
    by: str
    key: str | None = None
    comment: str | None = None
    comparison: str | None = None
    is_signed: bool = True


def with_reviews(campaign: Campaign, said: Sequence[Said]) -> Campaign:
    """Return the campaign with a comparison of every candidate, then the reviews, after what it records already."""
    records = [*campaign.records, *(("comparison.recorded", {"candidate_id": each}) for each in campaign.candidates)]
    rows = chained(campaign.campaign_id, replace(campaign, records=records, ending=None).payloads())
    digests = dict(zip(campaign.candidates, [row["digest"] for row in rows[-len(campaign.candidates) :]], strict=True))
    for each in said:
        payload = {
            "candidate_id": each.candidate_id,
            "verdict": each.verdict,
            "by": each.by,
            "comment": each.comment,
            "comparison": each.comparison or digests[each.candidate_id],
            "public_key": each.key,
            "signature": "00" * 64 if each.key and each.is_signed else None,
        }
        records.append(("review.recorded", payload))
    return replace(campaign, records=records)
