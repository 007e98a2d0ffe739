"""From a declaration to an identified campaign: candidates applied, identity computed, material at hand (§25.1, §35.1).

Nothing is written here: an invalid declaration fails before the first event.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from opfield.campaign.declaration import Campaign
from opfield.campaign.evidence import TrialContext
from opfield.campaign.judgeable import check_judgeable
from opfield.core import canonical_json, digest
from opfield.errors import DeclarationError, IdentityError, unknown_name
from opfield.experiment import Candidate, baseline_candidate, runner_identity, uneven_repeats_digest, workload_digest
from opfield.warehouse.artifacts import Artifact, retain
from opfield.warehouse.views import ViewSet


@dataclass(frozen=True, slots=True)
class Ingested:
    """What a campaign of results that are there already declares beside what any campaign does.

    Attributes:
        repeats: case id to label (`baseline` included) to repeats, for cases whose repeats are not the campaign's.
        coordinates: declared cells over all arms, where some case stands in `repeats`.
        stated: figures that files state, each with the `label` that it is about.
        report: JSON value that says what was read, and how; retained as an artifact.
    """

    repeats: Mapping[str, Mapping[str, int]]
    coordinates: int
    stated: tuple[Mapping[str, Any], ...]
    report: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A campaign with its identity and everything its first events name.

    Attributes:
        campaign: the declaration.
        campaign_id: identity of the campaign.
        baseline: the baseline as a candidate.
        candidates: candidates, ordered by identity.
        identity: what the campaign id is computed over.
        started: payload of `campaign.started`, less its provenance.
        registered: payloads of `candidate.registered`, in order.
        artifacts: what these payloads name.
    """

    campaign: Campaign
    campaign_id: str
    baseline: Candidate
    candidates: tuple[Candidate, ...]
    identity: Mapping[str, Any]
    started: Mapping[str, Any]
    registered: tuple[Mapping[str, Any], ...]
    artifacts: tuple[Artifact, ...]


def prepare(campaign: Campaign, views: ViewSet, ingested: Ingested | None = None) -> Prepared:
    """Apply the candidates and compute the campaign's identity.

    Args:
        campaign: the declaration.
        views: the relations that will judge; their SQL is part of the policy's identity.
        ingested: what is declared of results that are there already; None for a campaign that is run.

    Raises:
        DeclarationError: where a patch is refused, an input cannot be kept, nothing is to be compared, or a gate could
            never be judged.
        UnknownNameError: where the policy names an unknown metric or gate kind.
    """
    names = (metric.name for metric in campaign.metrics)
    campaign.policy.check(names, views.gate_kinds, views.gate_needs, views.gate_takes)
    campaign.policy.check_scopes([case.groups for case in campaign.workload.cases])
    baseline = baseline_candidate(campaign.space)
    candidates = _proposed(campaign, baseline)
    workload = campaign.workload.as_json()
    kinds = {gate.kind for gate in campaign.policy.gates}
    runner = runner_identity(campaign.runner)
    identity = {
        "name": campaign.name,
        "repeats": campaign.repeats,
        "space": campaign.space.id,
        "proposer": campaign.proposer.id,
        "workload": workload_digest(workload),
        "runner": {"id": runner.id, "version": runner.version},
        "metrics": [metric.as_json() for metric in sorted(campaign.metrics, key=lambda each: each.name)],
        "policy": campaign.policy.as_json(policy_digest(views, kinds)),
        "coupling": campaign.coupling,
        "baseline": baseline.spec.digest,
        "seed_root": campaign.seed_root.hex,
        "candidates": [candidate.id for candidate in candidates],
    }
    if campaign.confirms is not None:
        identity["confirms"] = campaign.confirms.as_json()
    bindings = _bindings(campaign, candidates)
    if bindings:
        identity["bindings"] = [{"candidate_id": each, "binding_id": bindings[each]} for each in sorted(bindings)]
    uneven = _uneven_repeats(ingested, baseline, candidates)
    if uneven:
        for case in workload["cases"]:
            if case["case_id"] in uneven:
                case["repeats"] = uneven[case["case_id"]]
        identity["uneven_repeats"] = uneven_repeats_digest(workload)
    try:
        campaign_id = digest("opfield/campaign/v1", canonical_json(identity))
    except IdentityError as error:
        raise DeclarationError(f"campaign {campaign.name!r} cannot be identified: {error}") from None
    kept_views = views.restricted(kinds)
    workload_artifact = retain(workload, schema="opfield.workload/v1")
    baseline_artifact = retain(baseline.as_json(), schema="opfield.candidate/v1")
    policy_artifact = retain(kept_views.sources(), schema="opfield.views/v1")
    candidate_artifacts = [retain(each.as_json(), schema="opfield.candidate/v1") for each in candidates]
    started: dict[str, Any] = {
        "identity": identity,
        "reproducibility": campaign.reproducibility,
        "baseline_id": baseline.id,
        "baseline_artifact": baseline_artifact.artifact_id,
        "workload_id": campaign.workload.name,
        "workload_artifact": workload_artifact.artifact_id,
        "cases": len(campaign.workload.cases),
        "policy_artifact": policy_artifact.artifact_id,
    }
    report_artifacts: tuple[Artifact, ...] = ()
    if ingested is not None:
        ids = {each.label: each.id for each in (baseline, *candidates)}
        report_artifacts = (retain(ingested.report, schema="opfield.intake/v1"),)
        started["intake_artifact"] = report_artifacts[0].artifact_id
        started["stated"] = [
            {"candidate_id": ids[each["label"]], **{key: each[key] for key in each if key != "label"}}
            for each in ingested.stated
        ]
        if uneven:
            started["coordinates"] = ingested.coordinates
    check_judgeable(campaign_id, started, views)
    registered = tuple(
        {
            "candidate_id": candidate.id,
            "label": candidate.label,
            "baseline": candidate.baseline.digest,
            "spec": candidate.spec.digest,
            "artifact_id": artifact.artifact_id,
            **({"binding_id": bindings[candidate.id]} if candidate.id in bindings else {}),
        }
        for candidate, artifact in zip(candidates, candidate_artifacts, strict=True)
    )
    return Prepared(
        campaign,
        campaign_id,
        baseline,
        candidates,
        identity,
        started,
        registered,
        (workload_artifact, baseline_artifact, policy_artifact, *candidate_artifacts, *report_artifacts),
    )


def _proposed(campaign: Campaign, baseline: Candidate) -> tuple[Candidate, ...]:
    """Return the proposer's candidates by identity, each once, none of them the baseline itself."""
    proposed = sorted(campaign.proposer.propose(campaign.space), key=lambda each: each.id)
    if not proposed:
        raise DeclarationError(f"proposer {campaign.proposer.id} gave no candidate, so there is nothing to compare")
    for told in ([each.id for each in proposed], [each.label for each in proposed]):
        twice = sorted({each for each in told if told.count(each) > 1}) if len(set(told)) < len(told) else []
        if twice:
            raise DeclarationError(f"proposer {campaign.proposer.id} gave {twice[0]!r} more than once")
    if any(each.id == baseline.id for each in proposed):
        raise DeclarationError(f"proposer {campaign.proposer.id} gave the baseline itself as a candidate")
    return tuple(proposed)


def _bindings(campaign: Campaign, candidates: tuple[Candidate, ...]) -> dict[str, str]:
    """Return the declared bindings by candidate id."""
    ids = {each.label: each.id for each in candidates}
    for label in campaign.bindings:
        if label not in ids:
            raise unknown_name("candidate with a binding", label, ids)
    return {ids[label]: binding_id for label, binding_id in campaign.bindings.items()}


def _uneven_repeats(
    ingested: Ingested | None, baseline: Candidate, candidates: tuple[Candidate, ...]
) -> dict[str, dict[str, int]]:
    """Return repeats by case id and candidate id, for the cases whose repeats are not the campaign's."""
    ids = {each.label: each.id for each in (baseline, *candidates)}
    told = {} if ingested is None else ingested.repeats
    return {case_id: {ids[label]: count for label, count in arms.items()} for case_id, arms in told.items()}


def policy_digest(views: ViewSet, kinds: Collection[str]) -> str:
    """Return the digest of the SQL that judges under gates of these kinds."""
    return digest("opfield/policy/v1", canonical_json(views.policy_digest_sources(kinds)))


def trial_context(prepared: Prepared, root: str | None) -> TrialContext:
    """Return what a worker needs to run any trial of the campaign; sent to each worker once."""
    campaign = prepared.campaign
    return TrialContext(
        campaign_id=prepared.campaign_id,
        runner=campaign.runner,
        metrics=campaign.metrics,
        specs={each.id: each.spec for each in (prepared.baseline, *prepared.candidates)},
        cases={case.id: case for case in campaign.workload.cases},
        secrets=campaign.secrets,
        root=root,
    )


def differing_members(recorded: Mapping[str, Any], declared: Mapping[str, Any]) -> list[str]:
    """Return the members in which two identities differ, for a message to people."""
    return sorted(key for key in {*recorded, *declared} if recorded.get(key) != declared.get(key))
