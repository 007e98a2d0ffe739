"""The decision table and what its outcome means for the exit code; every figure is read from a view."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from contextlib import closing, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from opfield.campaign.damage import undamaged
from opfield.campaign.judge import awaited_reviews, connect_judging, judging_views
from opfield.campaign.reducer import fold
from opfield.cli.questions import CONTENDERS, DECISIONS, DISAGREEING, EXPECTED, FAILURES, OLDER, STRONGEST
from opfield.cli.render import cell, out, plural, print_json, print_table, say, short
from opfield.errors import OpfieldError
from opfield.warehouse.lock import holder_of
from opfield.warehouse.session import first_event, read_rows, take_snapshot

if TYPE_CHECKING:
    from opfield.campaign.confirm import Confirmed
    from opfield.warehouse.snapshot import Snapshot

#: Exit code by `outcome` of a finished campaign; anything unfinished is open.
EXIT_CODES: Final = {"selected": 0, "kept_baseline": 3, "undecided": 4}
EXIT_OPEN: Final = 4

#: Decisions that `--fail-on` can name, with the exit code of each, the weightier first; `none` names none of them.
FAIL_ON: Final = {"fail": 3, "indeterminate": EXIT_OPEN}

#: Reasons of a conclusion whose remedy is told; that of an unfinished campaign is told with the command to give.
_REMEDIED: Final = frozenset({"no_preference", "no_evidence"})

#: Longest sentence; it may hold names and codes that users chose.
_MOST_WORDS: Final = 600

#: How many candidates are named that nothing separates from the selected one.
_NAMED: Final = 5

#: Views that a verdict is read from.
VERDICT_NAMES: Final = (
    "campaigns",
    "decisions",
    "coverage",
    "comparisons",
    "selection",
    "conclusions",
    "pending",
    "failures",
)

#: Views that say how sure a selection is; a campaign that is judged by older ones lacks them.
_CAVEATS: Final = ("contenders", "shrinkage")


def read_strongest(root: Path, verdict: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the pair that changed most, of the selected candidate where there is one; None without pairs."""
    campaign_id = verdict["campaign"]["campaign_id"]
    asked = {
        "preference": verdict["campaign"]["preference"],
        "selected": (verdict["selection"] or {}).get("selected_id"),
    }
    with closing(connect_judging(root, campaign_id, _started(root, campaign_id), ["deltas"])) as con:
        rows = read_rows(con, STRONGEST, asked)
    return rows[0] if rows else None


def verdict_rows(snapshot: Snapshot) -> dict[str, Any]:
    """Return what the views say of a campaign.

    Returns:
        What `read_verdict` gives, less what is known outside of the views: who writes the campaign, what it confirms.
    """
    snapshot.ask(VERDICT_NAMES)
    con, known = snapshot.con, snapshot.views.named
    has_effects = "smallest_effect" in known["comparisons"].sql + known["comparison_of"].sql
    campaign = read_rows(con, "from campaigns")[0]
    selection = read_rows(
        con,
        "select selection.*, candidates.label from selection left join candidates "
        "on candidates.candidate_id = selection.selected_id",
    )
    conclusion = read_rows(con, "from conclusions")[0]
    is_selected = bool(selection) and selection[0]["outcome"] == "selected"
    has_caveats = is_selected and all(each in known for each in _CAVEATS)
    if has_caveats:
        # A tenth of a verdict's time, and nothing to say where none is selected.
        snapshot.ask(_CAVEATS)
    expected = read_rows(con, EXPECTED) if has_caveats else []
    return {
        "campaign": campaign,
        "pending": read_rows(con, "select count(*) as pending from pending")[0]["pending"],
        "failures": read_rows(con, FAILURES),
        "decisions": read_rows(con, DECISIONS if has_effects else DECISIONS.replace(*OLDER)),
        "selection": selection[0] if selection else None,
        "conclusion": {each: conclusion[each] for each in ("standing", "reason", "message", "remedy")},
        "expected_score": expected[0]["expected_score"] if expected else None,
        "is_lucky": bool(expected) and expected[0]["is_lucky"],
        "contenders": read_rows(con, CONTENDERS) if has_caveats else [],
        "disagreeing": read_rows(con, DISAGREEING) if campaign["state"] == "completed" else [],
    }


def read_verdict(root: Path, campaign_id: str, rows: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the campaign, its decision table and its selection, from the views that judge it.

    Args:
        root: warehouse folder.
        campaign_id: the campaign.
        rows: its `verdict_rows`, where they were read already.

    Raises:
        DamageError: where files of the campaign are not what was written; with the audit's findings.
    """
    with undamaged(root, campaign_id) if rows is None else nullcontext():
        return _read_verdict(root, campaign_id, rows)


def _read_verdict(root: Path, campaign_id: str, rows: dict[str, Any] | None) -> dict[str, Any]:
    started = _started(root, campaign_id)
    if rows is None:
        views = judging_views(root, campaign_id, started)
        snapshot = take_snapshot(root, campaign_id, VERDICT_NAMES, views)
        with closing(snapshot.con):
            rows = verdict_rows(snapshot)
    campaign = rows["campaign"]
    writer = holder_of(root, campaign_id)
    is_awaiting = campaign["state"] == "running" and not rows["pending"]
    awaited = _awaited_labels(root, campaign_id, started) if is_awaiting else []
    confirmed = _confirmed(root, started["identity"])
    return {
        "campaign": campaign,
        "state": state_in_words(campaign["state"], writer, is_awaiting=bool(awaited)),
        "writer": writer,
        "awaiting_review": awaited,
        "confirms": None if confirmed is None else asdict(confirmed),
        **rows,
    }


def read_awaited(root: Path, campaign_id: str) -> list[str]:
    """Return the labels of the candidates that only people can decide now, from the views that judge the campaign."""
    return _awaited_labels(root, campaign_id, _started(root, campaign_id))


def _confirmed(root: Path, identity: Mapping[str, Any]) -> Confirmed | None:
    if "confirms" not in identity:
        return None
    # Loaded for a campaign that confirms another one: it brings what runs campaigns with it.
    from opfield.campaign.confirm import read_confirmed

    return read_confirmed(root, identity)


def _awaited_labels(root: Path, campaign_id: str, started: Mapping[str, Any]) -> list[str]:
    return [row["label"] for row in awaited_reviews(root, campaign_id, started)]


def confirmation_in_words(verdict: dict[str, Any]) -> str | None:
    """Return what a campaign confirms, with the change found there and here; None where it confirms nothing."""
    confirmed = verdict["confirms"]
    if confirmed is None:
        return None
    # A confirmation has one candidate.
    here = next(iter(verdict["decisions"]), {"candidate": None, "oriented_change": None})
    name = f"confirms {short(confirmed['campaign_id'])} ({cell(here['candidate'])})"
    if not confirmed["is_found"]:
        return f"{name}, which this warehouse does not hold as it was"
    return f"{name}, selected there with {_signed(confirmed['score'])}; here {_signed(here['oriented_change'])}"


def _signed(change: float | None) -> str:
    return "no known change" if change is None else f"{change:+.6g}"


def _started(root: Path, campaign_id: str) -> dict[str, Any]:
    first = first_event(root, campaign_id)
    if first is None:
        raise OpfieldError(f"campaign {campaign_id} has no history in {root}")
    return fold([first]).started


def state_in_words(state: str, writer: str | None, *, is_awaiting: bool = False) -> str:
    """Return the state of a campaign for people: an unfinished one runs, or waits for them or to be resumed."""
    if state != "running" or writer is not None:
        return state
    return "awaiting review" if is_awaiting else "unfinished"


def has_verdict(verdict: Mapping[str, Any]) -> bool:
    """Return whether a campaign has ended with a verdict."""
    return verdict["campaign"]["state"] == "completed" and verdict["selection"] is not None


def exit_code(verdict: dict[str, Any], fail_on: Collection[str] | None = None) -> int:
    """Return the exit code of a verdict.

    Args:
        verdict: as `read_verdict` gives it.
        fail_on: decisions of `FAIL_ON` that any candidate may not have; the campaign's outcome counts where None. A
            campaign without a verdict is indeterminate.
    """
    if fail_on is not None:
        found = {row["decision"] for row in verdict["decisions"]}
        if not has_verdict(verdict):
            found.add("indeterminate")
        return next((code for decision, code in FAIL_ON.items() if decision in found & set(fail_on)), 0)
    return EXIT_CODES[verdict["selection"]["outcome"]] if has_verdict(verdict) else EXIT_OPEN


def print_verdict(verdict: dict[str, Any], as_json: bool) -> None:
    """Print a verdict."""
    if as_json:
        print_json(verdict)
        return
    campaign = verdict["campaign"]
    name = short(campaign["campaign_id"])
    cases = campaign.get("planned_cases", campaign["cases"])
    metric = campaign["preference"] or next((row["metric"] for row in verdict["decisions"] if row["metric"]), "metric")
    console = out()
    console.print(
        f"{cell(campaign['name'])}  {name}  {verdict['state']}: "
        f"{plural(campaign['candidates'], 'candidate')} × {plural(cases, 'case')} × "
        f"{plural(campaign['repeats'], 'repeat')}, {plural(verdict['pending'], 'cell')} "
        + ("never run" if campaign["state"] == "cancelled" else "pending"),
        markup=False,
    )
    console.print(
        f"coupling {campaign['coupling']}, reproducibility {campaign['reproducibility']} (as declared)",
        markup=False,
    )
    confirmation = confirmation_in_words(verdict)
    if confirmation is not None:
        console.print(confirmation, markup=False)
    console.print()
    print_table(
        [
            {**row, "pairs": f"{cell(row['pairs'])}/{cell(row['expected_pairs'])}", **_interval(row)}
            for row in verdict["decisions"]
        ],
        {
            "candidate": "candidate",
            "decision": "decision",
            "deciding_gate": "deciding gate",
            "pairs": "pairs",
            "baseline_mean": f"{metric} before",
            "candidate_mean": "after",
            "oriented_change": "oriented change",
            "interval": "95 % interval",
        },
    )
    for row in verdict["decisions"]:
        if row["decision"] != "pass" and row["message"]:
            say(f"  {row['candidate']}: {row['message']}")
    if verdict["failures"]:
        console.print()
        print_table(
            verdict["failures"],
            {"status": "status", "failure_code": "code", "cells": "cells"},
            "failed cells",
        )
    console.print()
    console.print(_sentence(verdict), markup=False)
    if verdict["conclusion"]["reason"] in _REMEDIED:
        console.print(f"what would change it: {cell(verdict['conclusion']['remedy'], limit=_MOST_WORDS)}", markup=False)
    for line in _caveats(verdict):
        console.print(line, markup=False)
    for row in verdict["disagreeing"]:
        of_whom = "" if row["candidate"] is None else f" of {cell(row['candidate'])}"
        say(
            f"the recorded {row['figure']}{of_whom} is {cell(row['recorded'])}, but computed again from the files "
            f"it is {cell(row['found'])}; `opfield audit` tells why"
        )
    if not all(row["is_whole"] for row in verdict["decisions"]):
        say("the files do not hold what the ledger accepted; say `opfield audit` for what is damaged or missing")
    elif verdict["awaiting_review"] and not verdict["writer"]:
        say(
            f"review with: opfield review {shlex.quote(verdict['awaiting_review'][0])} {name} --approve --by NAME, "
            "or --reject; with --key FILE where the policy demands a key"
        )
    elif campaign["state"] == "running" and not verdict["writer"]:
        say(f"go on with: opfield resume {name}")


def _sentence(verdict: dict[str, Any]) -> str:
    """Return what the campaign comes to; why, in the words of the view `conclusions`."""
    told = verdict["conclusion"]
    if told["standing"] == "selected":
        chosen = verdict["selection"]
        change = f"oriented change of {cell(verdict['campaign']['preference'])} {cell(chosen['score'])}"
        return f"selected: {cell(chosen['label'])}, {change}"
    if verdict["awaiting_review"]:
        return f"awaiting review: {', '.join(map(cell, verdict['awaiting_review']))}"
    message = cell(told["message"], limit=_MOST_WORDS)
    ends = {"kept": f"kept: the baseline; {message}", "undecided": f"undecided: {message}; the baseline stays"}
    return ends.get(told["standing"]) or (message if told["standing"] == "cancelled" else f"undecided: {message}")


def _caveats(verdict: dict[str, Any]) -> list[str]:
    """Return what a selection leaves open: how much of its lead is luck, and what nothing separates from it."""
    lines = []
    gaps = sum(row["pairs"] < row["expected_pairs"] for row in verdict["decisions"] if row["pairs"] is not None)
    if gaps:
        lines.append(
            f"the table is over the pairs found; {plural(gaps, 'candidate')} "
            f"{'lacks' if gaps == 1 else 'lack'} some, and gates take the worst for them"
        )
    campaign = verdict["campaign"]
    planned = campaign.get("planned_cases", campaign["cases"])
    if planned < campaign["cases"]:
        lines.append(
            f"stopped early: {planned} of {campaign['cases']} cases planned, the rest not needed; "
            "the table's intervals do not know that"
        )
    score = (verdict["selection"] or {}).get("score") if campaign["state"] == "completed" else None
    if score is not None and verdict["is_lucky"]:
        again = cell(verdict["expected_score"]) if verdict["expected_score"] > 0 else "nothing"
        lines.append(f"of that {again} is to be expected again: the best of several is lucky too")
    near = verdict["contenders"] if score is not None else []
    if near:
        named = ", ".join(cell(row["label"]) for row in near[:_NAMED])
        more = f" and {len(near) - _NAMED} more" if len(near) > _NAMED else ""
        lines.append(f"nothing separates from it: {named}{more} (`from contenders`)")
    effects = [row["smallest_effect"] for row in verdict["decisions"] if row["smallest_effect"] is not None]
    if effects:
        lines.append(
            f"smallest change that such evidence would have shown: {min(effects):.3g} … {max(effects):.3g} "
            "(one-sided 2.5 %, power 80 %)"
            if min(effects) < max(effects)
            else f"smallest change that such evidence would have shown: {effects[0]:.3g} (one-sided 2.5 %, power 80 %)"
        )
    return lines


def _interval(row: dict[str, Any]) -> dict[str, Any]:
    if row["ci_low"] is None or row["ci_high"] is None:
        return {"interval": None}
    return {"interval": f"{row['ci_low']:.3g} … {row['ci_high']:.3g}"}
