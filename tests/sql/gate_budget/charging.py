"""Campaigns whose cells spend, and the budget gate once more in plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests.sql.build import Campaign

PARTS = {
    "cost_usd": ("cost_usd",),
    "input_tokens": ("input_tokens",),
    "output_tokens": ("output_tokens",),
    "tokens": ("input_tokens", "output_tokens"),
    "duration_s": ("duration_s",),
}


@dataclass(frozen=True)
class Spending(Campaign):
    """A campaign whose cells took several attempts; `attempts` maps (candidate, case, repeat) to how many, 1 else."""

    attempts: Mapping[tuple[str, str, int], int] = field(default_factory=dict)

    def payloads(self) -> list[tuple[str, dict[str, Any]]]:
        """Return type and payload of every event, in order."""
        return [
            (kind, told | {"attempts": self.tried(told["candidate_id"], told["case_id"], told["repeat"])})
            if kind == "trial.completed"
            else (kind, told)
            for kind, told in super().payloads()
        ]

    def tried(self, candidate: str, case: str, repeat: int) -> int:
        """Return how many attempts a cell took."""
        return self.attempts.get((candidate, case, repeat), 1)


def verdict(campaign: Spending, candidate: str, options: Mapping[str, Any], cases: set[str]) -> tuple[str, Any, int]:
    """Return status, known spending and number of unknown cells and pending coordinates, over some cases."""
    resource = options.get("of", "cost_usd")
    everybody = (campaign.baseline, *campaign.candidates)
    payers = everybody if options.get("over") == "campaign" else (candidate,)
    found = {(each.candidate_id, each.case_id, each.repeat): each for each in campaign.trials}
    known: list[Fraction] = []
    unknown = 0
    for who in payers:
        for case in cases:
            for repeat in range(campaign.repeats):
                trial = found.get((who, case, repeat))
                parts = [getattr(trial, part) for part in PARTS[resource]] if trial else [None]
                known += [Fraction(part) for part in parts if part is not None]
                is_cut = resource == "duration_s" and campaign.tried(who, case, repeat) > 1
                unknown += None in parts or is_cut
    spent = sum(known, Fraction(0))
    if not cases:
        return "indeterminate", None, 0
    open_verdict = "indeterminate" if unknown else "pass"
    status = "fail" if known and spent > Fraction(options["at_most"]) else open_verdict
    return status, float(spent) if known else None, unknown
