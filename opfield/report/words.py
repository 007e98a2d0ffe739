"""The verdict in words: one sentence for who decides, and what would change it. Every number is one of the content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from opfield.report.text import isolated, number, plural, quoted, sentence, signed

Part = Sequence[Mapping[str, Any]]

#: Two or three words for each standing of a conclusion.
_HEADLINES: Final = {
    "selected": "Adopt",
    "kept": "Keep the baseline",
    "undecided": "Not decided",
    "unfinished": "Not finished",
    "awaiting": "Waiting for people",
    "cancelled": "Cancelled",
    "nothing": "Nothing compared",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a report says first.

    Attributes:
        standing: selected, kept, undecided, unfinished, awaiting, cancelled or nothing, as in `conclusions`.
        headline: two or three words.
        sentence: the verdict in one sentence.
        changes: what would change it, one sentence each.
    """

    standing: str
    headline: str
    sentence: str
    changes: tuple[str, ...]


def verdict_in_words(parts: Mapping[str, Any]) -> Verdict:
    """Return the verdict of a report's parts in words: those of the relation `conclusions`, and numbers beside them."""
    told = next(iter(_rows(parts, "conclusion")), None)
    if told is None:
        return Verdict("undecided", "Not told", "The SQL that judges this campaign does not say what it comes to.", ())
    standing, message = told["standing"], told["message"]
    remedies: tuple[str, ...] = () if told["remedy"] is None else (sentence(told["remedy"]),)
    chosen = next(iter(_rows(parts, "selection")), None)
    if standing == "selected" and chosen is not None:
        return Verdict(standing, _HEADLINES[standing], _adopted(parts, chosen), _open(parts, chosen))
    standings = _rows(parts, "standings")
    failing = [row for row in standings if row["decision"] == "fail"]
    if standing == "kept":
        told_sentence = f"Keep the baseline: {message}."
        remedies += tuple(_blocked(row) for row in failing[:3])
    elif standing == "undecided":
        told_sentence = f"No decision: {message}; the baseline stays."
        undecided = [row for row in standings if row["decision"] == "indeterminate"]
        remedies += tuple(_blocked(row) for row in [*undecided[:3], *failing][:4])
    else:
        ends = "; the baseline stays" if standing in ("cancelled", "nothing") else ""
        told_sentence = sentence(message + ends)
        remedies += tuple(_asked(row) for row in _rows(parts, "awaiting")[:4])
    return Verdict(standing, _HEADLINES[standing], told_sentence, remedies)


def _asked(row: Mapping[str, Any]) -> str:
    """Return how many approvals a candidate that waits for people has."""
    given = f"{number(row['approvals'])} of {plural(row['needed'], 'approval')} given"
    return f"{quoted(row['label'])} at {quoted(row['gate'])}: {given}."


def _adopted(parts: Mapping[str, Any], chosen: Mapping[str, Any]) -> str:
    metric = isolated(_rows(parts, "campaign")[0]["preference"])
    moved = f"{metric} goes from {number(chosen['baseline_mean'], 3)} to {number(chosen['candidate_mean'], 3)}"
    doubt = ", which alone could be chance" if chosen["is_doubtful"] else ""
    return f"Adopt {quoted(chosen['label'])}: it passes every gate, and {moved}{doubt}."


def _open(parts: Mapping[str, Any], chosen: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what could put another in the place of the selected candidate."""
    changes = []
    if chosen["is_doubtful"]:
        changes.append(
            f"More cases: the 95 % interval of its change, {signed(chosen['ci_low'], 3)} … "
            f"{signed(chosen['ci_high'], 3)}, includes no change at all."
        )
        if chosen["smallest_effect"] is not None:
            shown = number(chosen["smallest_effect"], 3)
            changes[-1] += f" This much evidence would have shown a change of about {shown}."
    changes += _luck(parts, chosen)
    least = number(_rows(parts, "campaign")[0]["min_gain"], 3)
    changes.append(
        f"A change of {least} or less would not be selected; that of {quoted(chosen['label'])} is "
        f"{signed(chosen['score'], 3)}."
    )
    return tuple(changes)


def _luck(parts: Mapping[str, Any], chosen: Mapping[str, Any]) -> list[str]:
    found = []
    if chosen["is_lucky"]:
        expected, score = signed(chosen["expected_score"], 3), signed(chosen["score"], 3)
        again = f"only {expected}" if expected.startswith("+") else "nothing"
        # Where they differ by less than is shown, the sentence would contradict itself.
        if expected != score:
            found.append(
                f"A second campaign: {again} of this change is to be expected again, for the best of several is lucky "
                "too."
            )
    near = _rows(parts, "contenders")
    if near:
        named = _listed(
            [quoted(row["label"]) for row in near[:4]], more=len(near[4:]) + parts["contenders"]["left_out"]
        )
        found.append(f"More evidence could put another one first: nothing separates {named} from it.")
    return found


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
