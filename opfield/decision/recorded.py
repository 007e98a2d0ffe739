"""Gates over what the ledger records beside the cells: human reviews, and computed evidence (§14.5)."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any, Final

from opfield.decision.gate import Gate, finite
from opfield.decision.inferred import RESOURCES, Resource, rate
from opfield.errors import DeclarationError

_KEY_DIGITS: Final = 64
_LEAST_ALPHA: Final = 0.001


def review(approvals: int = 1, *, keys: Sequence[str] = ()) -> Gate:
    """Return the gate that people decide: the campaign waits for `opfield review` before it can end.

    Args:
        approvals: how many different reviewers must approve; one rejection fails.
        keys: Ed25519 public keys, 64 hex digits each, as `opfield review --new-key` prints them. Where there are any,
            only reviews that one of them signed count.

    Raises:
        DeclarationError: where `approvals` is no whole number from 1 to the number of keys, or a key is none.
    """
    if isinstance(keys, str) or not all(_is_key(key) for key in keys):
        raise DeclarationError(f"review: keys are public keys of {_KEY_DIGITS} hex digits each, got {keys!r}")
    listed = sorted({key.lower() for key in keys})
    if isinstance(approvals, bool) or not isinstance(approvals, int) or approvals < 1:
        raise DeclarationError(f"review: approvals {approvals!r} is not a whole number of at least 1")
    if listed and approvals > len(listed):
        raise DeclarationError(f"review: {approvals} approvals cannot come from {len(listed)} keys")
    options: dict[str, Any] = {"approvals": approvals}
    if listed:
        options["keys"] = listed
    return Gate("review", options=options)


def percentile(
    of: Resource | None = None,
    *,
    metric: str | None = None,
    q: float = 0.95,
    at_most: float | None = None,
    ratio_at_most: float | None = None,
    alpha: float = 0.025,
) -> Gate:
    """Return the gate over a quantile of all of the candidate's cells, failed ones too, such as the p95 of latency.

    The interval is a bootstrap over cases, computed once and recorded as evidence; below 50 cases (72
    for a q of .95) it is indeterminate.

    Args:
        of: resource whose quantile is judged; None where a metric is given.
        metric: metric whose quantile is judged; None where a resource is given.
        q: which quantile, between 0 and 1.
        at_most: largest quantile that passes, in the unit of what is ranked; None for no such bound.
        ratio_at_most: largest ratio to the baseline's quantile; None for no such bound.
        alpha: error rate at each end of the interval, above 0 and below 0.5.

    Raises:
        DeclarationError: naming the argument that is out of its range, or that is missing.
    """
    if (of is None) == (metric is None):
        raise DeclarationError("percentile: name a resource or a metric, and not both")
    what = f"percentile({of or metric})"
    if of is not None and of not in RESOURCES:
        raise DeclarationError(f"{what}: of {of!r} is none of {', '.join(RESOURCES)}")
    if not 0 < finite(f"{what}: q", q) < 1:
        raise DeclarationError(f"{what}: q is {q}, not between 0 and 1")
    bounds = {
        name: finite(f"{what}: {name}", bound)
        for name, bound in (("at_most", at_most), ("ratio_at_most", ratio_at_most))
        if bound is not None
    }
    if bounds.get("ratio_at_most", 1.0) <= 0:
        raise DeclarationError(f"{what}: ratio_at_most is {ratio_at_most}, not above 0")
    if not bounds:
        raise DeclarationError(f"{what} needs at_most, ratio_at_most, or both")
    if rate(what, alpha) < _LEAST_ALPHA:
        raise DeclarationError(f"{what}: alpha is {alpha}, below {_LEAST_ALPHA}, which the resamples cannot tell")
    options: dict[str, Any] = {"q": float(q), "alpha": float(alpha), **bounds}
    if of is not None:
        options["of"] = of
    return Gate("percentile", metric, options=options, name=what)


def _is_key(key: object) -> bool:
    return isinstance(key, str) and len(key) == _KEY_DIGITS and set(key) <= set(string.hexdigits)
