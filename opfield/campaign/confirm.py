"""Confirmation: the selected candidate of a campaign against its baseline again, on cases not seen before (§42.5).

A selection among many candidates favours those that were lucky on its cases. What one candidate shows on fresh cases,
under the same gates, does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from opfield.campaign.checkpoint import load_state
from opfield.campaign.damage import meant_campaign, undamaged
from opfield.campaign.declaration import Campaign, Confirms, Proposer
from opfield.campaign.ending import Outcome
from opfield.campaign.engine import RunOptions, run
from opfield.campaign.prepare import differing_members, prepare
from opfield.campaign.reducer import CampaignState
from opfield.core import parse_json
from opfield.errors import DeclarationError
from opfield.experiment import Candidate, baseline_candidate
from opfield.warehouse.ledger import CAMPAIGN_COMPLETED
from opfield.warehouse.material import find_artifact
from opfield.warehouse.session import Warehouse, open_warehouse
from opfield.warehouse.views import installed_views

#: Identity of what proposes the one candidate of a confirmation.
PROPOSER: Final = "opfield.confirm/v1"
#: What there is not where the campaign that is to be confirmed is damaged.
_LACKING: Final = "confirmation"
#: Cases that are named where they are not fresh.
_MOST_NAMED: Final = 10


def confirm(
    first: str,
    campaign: Campaign,
    warehouse: Warehouse | Path | str | None = None,
    options: RunOptions | None = None,
    *,
    name: str | None = None,
    **more: Any,
) -> Outcome:
    """Run the selected candidate of a completed campaign again, on fresh cases, or go on where it was interrupted.

    Args:
        first: the completed campaign, by id, beginning of it, or name.
        campaign: declaration whose workload gives the fresh cases; baseline, policy, metrics and runner are those of
            the first campaign, and the selected candidate is among its candidates.
        warehouse: the warehouse that holds the first campaign, or its folder; `$OPFIELD_WAREHOUSE` or `./warehouse`
            where None.
        options: how it is carried out.
        name: name of the confirming campaign; that of the first with `-confirm` where None.
        **more: members of `RunOptions`, as for `run`.

    Raises:
        DeclarationError: as for `confirming`.
        OpfieldError: as for `run`.
    """
    opened = warehouse if isinstance(warehouse, Warehouse) else open_warehouse(warehouse, is_snapshot=True)
    return run(confirming(first, campaign, opened, name=name), opened.root, options, **more)


def confirming(
    first: str, campaign: Campaign, warehouse: Warehouse | Path | str | None = None, *, name: str | None = None
) -> Campaign:
    """Return the campaign that confirms another one: its selected candidate only, on the workload of `campaign`.

    Args:
        first: as for `confirm`.
        campaign: as for `confirm`.
        warehouse: as for `confirm`.
        name: as for `confirm`.

    Raises:
        DeclarationError: where the first campaign selected nothing, where `campaign` has another baseline, policy,
            metric or runner, or lacks the selected candidate, and where a case is not fresh.
        DamageError: where files of the first campaign are not what was written.
        UnknownNameError: where the warehouse holds no such campaign.
    """
    opened = warehouse if isinstance(warehouse, Warehouse) else open_warehouse(warehouse, is_snapshot=True)
    first_id = meant_campaign(opened, first, _LACKING)
    with undamaged(opened.root, first_id, _LACKING):
        return _confirming(opened.root, first_id, campaign, name)


def _confirming(root: Path, first_id: str, campaign: Campaign, name: str | None) -> Campaign:
    state = load_state(root, first_id)
    selected = _selected(state)
    chosen = _chosen(state, campaign, selected)
    linked = replace(
        campaign,
        name=name if name is not None else f"{state.started['identity']['name']}-confirm",
        proposer=Proposer(PROPOSER, lambda _space: (chosen,)),
        confirms=Confirms(first_id, state.digest, selected),
        bindings={label: each for label, each in campaign.bindings.items() if label == chosen.label},
    )
    _check_same(state, linked)
    _check_fresh(root, state, linked)
    return linked


def confirming_again(campaign: Campaign, identity: Mapping[str, Any], warehouse: Warehouse) -> Campaign:
    """Return the campaign that a started one was declared as: `campaign` itself, or what it confirms another one by.

    Args:
        campaign: what the target of the started campaign declares.
        identity: identity of the started campaign.
        warehouse: the warehouse that holds it.

    Raises:
        DeclarationError: as for `confirming`.
        UnknownNameError: where the warehouse does not hold the campaign that is confirmed.
    """
    link = identity.get("confirms")
    if link is None:
        return campaign
    return confirming(link["campaign_id"], campaign, warehouse, name=identity["name"])


def _short(state: CampaignState) -> str:
    return f"{state.started['identity']['name']!r} ({state.campaign_id[7:19]})"


def _selected(state: CampaignState) -> str:
    """Return the selected candidate of a completed campaign."""
    name = _short(state)
    if state.terminal != "completed":
        remedy = "a cancelled campaign selects nothing" if state.terminal else "let `opfield resume` complete it first"
        raise DeclarationError(f"campaign {name} is {state.terminal or 'not completed'}: {remedy}")
    if state.completed["outcome"] != "selected":
        raise DeclarationError(
            f"campaign {name} selected no candidate (its outcome is {state.completed['outcome']}), so that there is "
            "nothing to confirm"
        )
    return str(state.completed["selected"])


def _chosen(state: CampaignState, campaign: Campaign, selected: str) -> Candidate:
    """Return the selected candidate as the declaration has it."""
    baseline = baseline_candidate(campaign.space).spec.digest
    before = state.started["identity"]["baseline"]
    if baseline != before:
        raise DeclarationError(
            f"the baseline of {campaign.name!r} is {baseline}, that of campaign {_short(state)} was {before}; confirm "
            "against the same baseline"
        )
    candidates = campaign.proposer.propose(campaign.space)
    found = [each for each in candidates if each.id == selected]
    if not found:
        labels = ", ".join(sorted(each.label for each in candidates))
        raise DeclarationError(
            f"campaign {_short(state)} selected {state.registered[selected]!r}, {selected}, which is none of the "
            f"candidates of {campaign.name!r}: {labels}. Declare it there as it was"
        )
    return found[0]


def _check_same(state: CampaignState, linked: Campaign) -> None:
    """Refuse a declaration that would judge another way, or measure something else."""
    before, now = state.started["identity"], prepare(linked, installed_views()).identity
    changed = [each for each in differing_members(before, now) if each in ("metrics", "runner")]
    # The SQL by which gates of one kind judge may be that of a newer opfield; what they ask may not change.
    changed += [f"policy.{each}" for each in differing_members(before["policy"], now["policy"]) if each != "sql"]
    if changed:
        raise DeclarationError(
            f"{linked.name!r} differs from campaign {_short(state)} in {', '.join(changed)}; a confirmation keeps "
            "policy, metrics and runner, and changes the cases"
        )


def _check_fresh(root: Path, state: CampaignState, linked: Campaign) -> None:
    """Refuse a workload with cases that the first campaign saw."""
    kept = parse_json(find_artifact(root, state.campaign_id, state.started["workload_artifact"]))
    seen = {case["case_digest"] for case in kept["cases"]}
    cases = linked.workload.as_json()["cases"]
    stale = [case["case_id"] for case in cases if case["case_digest"] in seen]
    if stale:
        listed = ", ".join(stale[:_MOST_NAMED]) + (", …" if len(stale) > _MOST_NAMED else "")
        raise DeclarationError(
            f"{len(stale)} of {len(cases)} cases were in campaign {_short(state)} already, by their input, and are not "
            f"fresh: {listed}. Take cases that it has not seen"
        )


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The campaign that another one confirms, as the warehouse holds it now.

    Attributes:
        campaign_id: identity of the campaign that is confirmed.
        candidate_id: candidate that was selected there.
        is_found: whether the warehouse holds it, ended by the event that the confirmation was declared after.
        score: oriented change for which the candidate was selected there; None where not found.
    """

    campaign_id: str
    candidate_id: str
    is_found: bool
    score: float | None


def read_confirmed(root: Path, identity: Mapping[str, Any]) -> Confirmed | None:
    """Return what a campaign of this identity confirms; None where it confirms nothing."""
    link = identity.get("confirms")
    if link is None:
        return None
    rows = Warehouse(root, is_snapshot=True, only=link["campaign_id"]).rows(
        "select payload from events where campaign_id = ? and type = ? and digest = ?",
        [link["campaign_id"], CAMPAIGN_COMPLETED, link["root"]],
    )
    score = parse_json(rows[0]["payload"])["score"] if rows else None
    return Confirmed(link["campaign_id"], link["candidate_id"], bool(rows), score)
