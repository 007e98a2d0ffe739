"""Running a domain's trials without a warehouse: the runner, its answer, and what it retained."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import opfield as of
from opfield.experiment import baseline_candidate, propose_all
from opfield.prob import coordinate_seed


@dataclass
class Kept:
    """A retainer in memory: schema and bytes by id."""

    artifacts: dict[str, tuple[str | None, bytes]] = field(default_factory=dict)

    def put(self, content: Any, *, media_type: str = "application/json", schema: str | None = None) -> str:
        encoded = of.canonical_json(content)
        identity = hashlib.sha256(f"{media_type}\0{schema}\0".encode() + encoded).hexdigest()
        self.artifacts[identity] = (schema, encoded)
        return identity

    def read(self, identity: str | None) -> dict[str, Any]:
        assert identity is not None
        value: dict[str, Any] = json.loads(self.artifacts[identity][1])
        return value

    def ids_of(self, schema: str) -> list[str]:
        return [identity for identity, (found, _) in self.artifacts.items() if found == schema]


@dataclass(frozen=True)
class Trials:
    """Answers by label, case and repeat, with what was retained."""

    campaign: of.Campaign
    results: Mapping[tuple[str, str, int], of.TrialResult]
    kept: Kept

    def values(self, label: str, metric: str) -> list[float]:
        found = []
        for (at, _, _), result in self.results.items():
            if at == label:
                value = result.metrics[metric]
                assert value is not None
                found.append(float(value))
        return found

    def mean(self, label: str, metric: str) -> float:
        values = self.values(label, metric)
        return sum(values) / len(values)

    def evidence(self, label: str, case: str) -> dict[str, Any]:
        return self.kept.read(self.results[label, case, 0].artifact_id)


def run_one(campaign: of.Campaign, spec: of.Envelope, case: of.Case, kept: Kept, repeat: int = 0) -> of.TrialResult:
    request = of.TrialRequest(
        coordinate=of.Coordinate("sha256:none", "candidate", case.id, repeat),
        spec=spec.payload,
        case=case.input,
        seed=coordinate_seed(campaign.seed_root, case.id, repeat),
        campaign_id="sha256:none",
        spec_digest=spec.digest,
        artifacts=kept,
    )
    answer = campaign.runner(request)
    if isinstance(answer, Mapping):
        answer = of.TrialResult(answer)
    assert isinstance(answer, of.TrialResult)
    return answer


def run_trials(campaign: of.Campaign) -> Trials:
    kept = Kept()
    results = {
        (candidate.label, case.id, repeat): run_one(campaign, candidate.spec, case, kept, repeat)
        for candidate in (baseline_candidate(campaign.space), *propose_all(campaign.space))
        for case in campaign.workload.cases
        for repeat in range(campaign.repeats)
    }
    refusals = [
        refusal
        for result in results.values()
        for metric in campaign.metrics
        if (refusal := metric.refusal(float(result.metrics[metric.name] or 0)))
    ]
    assert refusals == []
    assert all(set(result.metrics) == {m.name for m in campaign.metrics} for result in results.values())
    return Trials(campaign, results, kept)
