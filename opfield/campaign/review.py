"""Reviews: what a person says of a compared candidate before it is decided, signed where the policy asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from opfield.campaign.ending import AWAITING_REVIEW, Outcome, finish, outcome_of
from opfield.campaign.judge import review_gates
from opfield.campaign.reducer import CampaignState
from opfield.campaign.signatures import public_key_of, read_key, sign_review
from opfield.campaign.writer import open_writer
from opfield.core import check_label, digest_hex
from opfield.errors import OpfieldError, UnknownNameError, unknown_name
from opfield.warehouse import ledger
from opfield.warehouse.lock import Locking, hold

VERDICTS: Final = ("approve", "reject")
#: Longest comment in UTF-8 bytes; the ledger is no place for a document.
MAX_COMMENT: Final = 16_384


@dataclass(frozen=True, slots=True)
class Review:
    """What a person says of a candidate.

    Attributes:
        candidate: label of the candidate, its id, or the beginning of its id.
        verdict: approve or reject.
        by: name of the reviewer; white space around it is dropped.
        comment: why, in words; None where nothing is said.
        key: file of the Ed25519 private key to sign with; None leaves the review unsigned.
    """

    candidate: str
    verdict: str
    by: str
    comment: str | None = None
    key: Path | None = None


def record_review(root: Path, campaign_id: str, review: Review, locking: Locking = hold) -> Outcome:
    """Record a review, and finish the campaign where no further one is awaited.

    Args:
        root: warehouse folder.
        campaign_id: campaign of the candidate.
        review: what is said.
        locking: how the campaign is taken for writing.

    Raises:
        UnknownNameError: where no candidate, or several, are meant; listing the labels.
        DeclarationError: where the reviewer's name is empty, or name or comment cannot be kept.
        OpfieldError: where the review cannot be recorded or could not count; nothing was recorded.
        HeldError: where another process is writing this campaign.
    """
    if review.verdict not in VERDICTS:
        raise OpfieldError(f"verdict {review.verdict!r} is neither approve nor reject")
    reviewer = review.by.strip()
    check_label("reviewer", reviewer)
    if review.comment:
        check_label("comment", review.comment, limit=MAX_COMMENT)
    with open_writer(root, campaign_id, locking) as writer:
        before = writer.state.sequence
        candidate = _reviewable(writer.state, campaign_id, review.candidate)
        payload: dict[str, Any] = {
            "candidate_id": candidate,
            "verdict": review.verdict,
            "by": reviewer,
            "comment": review.comment or None,
            "comparison": writer.state.compared[candidate],
            "public_key": None,
            "signature": None,
        }
        key = None if review.key is None else read_key(review.key)
        _check_counts(writer.state, None if key is None else public_key_of(key))
        if key is not None:
            payload |= sign_review(key, campaign_id, payload)
        writer.accept(ledger.REVIEW_RECORDED, payload)
        awaited = finish(writer)
        state = AWAITING_REVIEW if awaited else writer.state.terminal
        return outcome_of(writer, state, awaited, writer.state.sequence - before, 0)


def _reviewable(state: CampaignState, campaign_id: str, named: str) -> str:
    """Return the id of the candidate that is meant, where it can be reviewed now."""
    name = digest_hex(campaign_id)[:12]
    if not state.sequence:
        raise OpfieldError(f"campaign {name} has no history, so there is nothing to review")
    if not review_gates(state.started):
        kinds = ", ".join(gate["kind"] for gate in state.started["identity"]["policy"]["gates"])
        raise OpfieldError(
            f"the policy of campaign {name} asks for no review: its gates are {kinds}. Declare a policy with a gate of "
            "the kind review; that is a campaign of its own"
        )
    candidate = _candidate(state, named)
    label = state.registered[candidate]
    if candidate in state.decided or state.terminal:
        end = state.decided.get(candidate, state.terminal)
        raise OpfieldError(f"candidate {label!r} is decided already ({end}), and a decision is never changed")
    if candidate not in state.compared:
        missing = state.declared_cells - state.cells
        raise OpfieldError(
            f"candidate {label!r} is not compared yet ({missing} cells pending); "
            f"go on with `opfield resume {name}` first"
        )
    return candidate


def _candidate(state: CampaignState, named: str) -> str:
    fits = [each for each, label in state.registered.items() if label == named]
    bare = named.removeprefix("sha256:")
    if not fits and bare:
        fits = [each for each in state.registered if each.removeprefix("sha256:").startswith(bare)]
    if len(fits) > 1:
        listed = ", ".join(f"{each} ({state.registered[each]})" for each in fits)
        raise UnknownNameError(f"several candidates fit {named!r}; say more of the id: {listed}")
    if not fits:
        raise unknown_name("candidate", named, state.registered.values())
    return fits[0]


def _check_counts(state: CampaignState, public_key: str | None) -> None:
    """Refuse a review that no review gate of the policy would count."""
    listed = [gate["options"].get("keys") for gate in review_gates(state.started)]
    if not all(keys and isinstance(keys, list) for keys in listed) or any(public_key in keys for keys in listed):
        return
    problem = "this review is unsigned" if public_key is None else f"the key given is {public_key}"
    known = ", ".join(sorted({str(key) for keys in listed for key in keys}))
    raise OpfieldError(f"the policy counts only reviews signed by one of its keys, and {problem}; known: {known}")
