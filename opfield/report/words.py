"""The verdict in words: one sentence for who decides, and what would change it. Every number is one of the content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opfield.report.text import isolated, number, plural, quoted, signed

Part = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a report says first.

    Attributes:
        standing: selected, kept, undecided, unfinished, awaiting, cancelled or nothing: the class of the verdict.
        headline: two or three words.
        sentence: the verdict in one sentence.
        changes: what would change it, one sentence each.
    """

    standing: str
    headline: str
    sentence: str
    changes: tuple[str, ...]


def verdict_in_words(parts: Mapping[str, Any]) -> Verdict:
    """Return the verdict of a report's parts in words."""
    campaign = _rows(parts, "campaign")[0]
    selection = next(iter(_rows(parts, "selection")), None)
    awaiting = _rows(parts, "awaiting")
    both = _rows(parts, "denominator")[0]
    if campaign["state"] == "cancelled":
        return _cancelled(both)
    if campaign["candidates"] == 0 or not _rows(parts, "standings"):
        return Verdict(
            "nothing",
            "Nothing compared",
            "There is no candidate in this campaign, so nothing is compared and the baseline stays.",
            ("A campaign with at least one candidate.",),
        )
    if campaign["state"] == "running":
        return _awaiting(awaiting) if awaiting else _unfinished(both)
    if selection is None or selection["outcome"] == "undecided":
        return _undecided(parts)
    return _selected(parts, selection) if selection["outcome"] == "selected" else _kept(parts)


def _cancelled(both: Mapping[str, Any]) -> Verdict:
    return Verdict(
        "cancelled",
        "Cancelled",
        f"Cancelled after {number(both['accepted'])} of {plural(both['declared'], 'cell')}: no verdict, and the "
        "baseline stays.",
        ("A new campaign: a cancelled one never goes on.",),
    )


def _unfinished(both: Mapping[str, Any]) -> Verdict:
    return Verdict(
        "unfinished",
        "Not finished",
        f"{plural(both['missing'], 'cell')} of {number(both['declared'])} "
        f"{'is' if both['missing'] == 1 else 'are'} still missing, so no verdict stands yet.",
        ("The missing cells: every figure below is over what is there, and may change with them.",),
    )


def _awaiting(awaiting: Part) -> Verdict:
    named = _listed([quoted(row["label"]) for row in awaiting])
    first = awaiting[0]
    return Verdict(
        "awaiting",
        "Waiting for people",
        f"All is measured, and {named} {'needs' if len(awaiting) == 1 else 'need'} the approval of people before a "
        "verdict stands.",
        (f"{quoted(first['gate'])}: {number(first['approvals'])} of {plural(first['needed'], 'approval')} given.",),
    )


def _selected(parts: Mapping[str, Any], chosen: Mapping[str, Any]) -> Verdict:
    campaign = _rows(parts, "campaign")[0]
    metric = isolated(campaign["preference"] or "the metric")
    moved = f"{metric} goes from {number(chosen['baseline_mean'], 3)} to {number(chosen['candidate_mean'], 3)}"
    is_doubtful = chosen["ci_low"] is not None and chosen["ci_low"] <= 0
    doubt = ", which alone could be chance" if is_doubtful else ""
    changes = []
    if is_doubtful:
        changes.append(
            f"More cases: the 95 % interval of its change, {signed(chosen['ci_low'], 3)} … "
            f"{signed(chosen['ci_high'], 3)}, includes no change at all."
        )
        if chosen["smallest_effect"] is not None:
            shown = number(chosen["smallest_effect"], 3)
            changes[-1] += f" This much evidence would have shown a change of about {shown}."
    changes += _luck(parts, chosen)
    least = number(campaign["min_gain"], 3)
    changes.append(f"A smaller change: it is selected with {signed(chosen['score'], 3)}, and must exceed {least}.")
    return Verdict(
        "selected",
        "Adopt",
        f"Adopt {quoted(chosen['label'])}: it passes every gate, and {moved}{doubt}.",
        tuple(changes),
    )


def _luck(parts: Mapping[str, Any], chosen: Mapping[str, Any]) -> list[str]:
    found = []
    expected, score = chosen["expected_score"], chosen["score"]
    again = f"only {signed(expected, 3)}" if expected is not None and expected > 0 else "nothing"
    if expected is not None and score is not None and expected < score and signed(score, 3) not in again:
        found.append(
            f"A second campaign: {again} of this change is to be expected again, for the best of several is lucky too."
        )
    near = _rows(parts, "contenders")
    if near:
        named = _listed(
            [quoted(row["label"]) for row in near[:4]], more=len(near[4:]) + parts["contenders"]["left_out"]
        )
        found.append(f"More evidence could put another one first: nothing separates {named} from it.")
    return found


def _kept(parts: Mapping[str, Any]) -> Verdict:
    campaign = _rows(parts, "campaign")[0]
    standings = _rows(parts, "standings")
    failing = [row for row in standings if row["decision"] == "fail"]
    passing, failed = _in_decision(standings, "pass"), _in_decision(standings, "fail")
    gained = f"gains more than {number(campaign['min_gain'], 3)} of {isolated(campaign['preference'] or 'a metric')}"
    if passing == 0:
        sentence = (
            f"Keep the baseline: the only candidate, {quoted(standings[0]['example_label'])}, fails."
            if failed == 1
            else f"Keep the baseline: {'both' if failed == 2 else f'all {number(failed)}'} candidates fail."
        )
    else:
        verb = "passes" if passing == 1 else "pass"
        sentence = f"Keep the baseline: {plural(passing, 'candidate')} {verb}, but none {gained}."
    changes = [_blocked(row) for row in failing[:3]]
    if passing:
        changes.insert(0, f"A candidate that passes and {gained}.")
    return Verdict("kept", "Keep the baseline", sentence, tuple(changes))


def _undecided(parts: Mapping[str, Any]) -> Verdict:
    standings = _rows(parts, "standings")
    open_ones = [row for row in standings if row["decision"] == "indeterminate"]
    count, failed = _in_decision(standings, "indeterminate"), _in_decision(standings, "fail")
    also = f", and {number(failed)} {'fails' if failed == 1 else 'fail'}" if failed else ""
    return Verdict(
        "undecided",
        "Not decided",
        f"No decision: the evidence cannot judge {plural(count, 'candidate')}{also}; the baseline stays.",
        tuple(_blocked(row) for row in [*open_ones[:3], *(row for row in standings if row["decision"] == "fail")][:4]),
    )


def _in_decision(standings: Part, decision: str) -> int:
    return next((row["in_decision"] for row in standings if row["decision"] == decision), 0)


def _blocked(row: Mapping[str, Any]) -> str:
    """Return by what gate candidates are kept from passing, and what it says of the first of them."""
    others = row["candidates"] - 1
    named = quoted(row["example_label"]) + (f" and {plural(others, 'other')}" if others else "")
    verb = "fails" if row["decision"] == "fail" else "stays open"
    if others:
        verb = "fail" if row["decision"] == "fail" else "stay open"
    about = f" ({quoted(row['example_label'])})" if others else ""
    return f"{named} {verb} at {row['gate'] or 'coverage'}: {row['example_message']}{about}."


def _listed(names: Sequence[str], more: int = 0) -> str:
    if more > 0:
        return f"{', '.join(names)} and {number(more)} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _rows(parts: Mapping[str, Any], name: str) -> Part:
    return parts[name]["rows"] or ()
