"""Gates that count or compare what was found, and infer nothing: they guarantee nothing about error (§24.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from opfield.decision.gate import Gate, Within, finite, within_option
from opfield.errors import DeclarationError


def coverage(*, within: Within = None) -> Gate:
    """Return the gate that passes when every declared pair has both cells; it judges no value.

    Args:
        within: cases that it judges over; all where None.
    """
    return Gate("coverage", options=within_option("coverage", within))


def failures(
    at_most: int | None = None,
    *,
    more_than_baseline: int | None = None,
    codes: Sequence[str] | None = None,
    arms: Literal["candidate", "both"] = "candidate",
    infrastructure: Literal["indeterminate", "count"] = "indeterminate",
    within: Within = None,
) -> Gate:
    """Return the gate over failed cells.

    Args:
        at_most: domain failures of the candidate that are tolerated; 0 unless `more_than_baseline` is given.
        more_than_baseline: how many more domain failures than the baseline's are tolerated; None for no such line.
        codes: failure codes that count; all where None.
        arms: with `both`, a failed baseline cell makes the verdict indeterminate.
        infrastructure: whether infrastructure failures and cancellations leave the verdict open, or count.
        within: cases that it judges over; all where None.

    Raises:
        DeclarationError: for a count that is no whole number of at least 0, or another word than these.
    """
    if at_most is None and more_than_baseline is None:
        at_most = 0
    options: dict[str, Any] = {"arms": arms, "infrastructure": infrastructure, **within_option("failures", within)}
    for name, option, count in (("at_most", "max", at_most), ("more_than_baseline", "excess", more_than_baseline)):
        if count is None:
            continue
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise DeclarationError(f"failures: {name} {count!r} is not a whole number of at least 0")
        options[option] = count
    if codes is not None:
        if isinstance(codes, str) or not codes:
            raise DeclarationError(f"failures: codes is a list of failure codes, got {codes!r}")
        options["codes"] = sorted(set(codes))
    if arms not in ("candidate", "both"):
        raise DeclarationError(f"failures: arms {arms!r} is neither candidate nor both")
    if infrastructure not in ("indeterminate", "count"):
        raise DeclarationError(f"failures: infrastructure {infrastructure!r} is neither indeterminate nor count")
    return Gate("failures", options=options)


def mean_delta(metric: str, at_least: float = 0.0, *, within: Within = None) -> Gate:
    """Return the point gate over the mean oriented change; it says nothing about error.

    Args:
        metric: metric that it judges.
        at_least: least mean change that passes, in the metric's unit, positive where the candidate is better.
        within: cases that it judges over; all where None.

    Raises:
        DeclarationError: where `at_least` is not a finite number.
    """
    return Gate(
        "mean_delta", metric, finite(f"mean_delta({metric!r}): at_least", at_least), within_option("mean_delta", within)
    )


def worst_delta(metric: str, at_least: float = 0.0, *, within: Within = None) -> Gate:
    """Return the point gate over the worst oriented change of any pair; it says nothing about error.

    Args:
        metric: metric that it judges.
        at_least: least change of the worst pair that passes, in the metric's unit, positive where the
            candidate is better.
        within: cases that it judges over; all where None.

    Raises:
        DeclarationError: where `at_least` is not a finite number.
    """
    return Gate(
        "worst_delta",
        metric,
        finite(f"worst_delta({metric!r}): at_least", at_least),
        within_option("worst_delta", within),
    )


def candidate_mean(
    metric: str, *, at_least: float | None = None, at_most: float | None = None, within: Within = None
) -> Gate:
    """Return the point gate over the candidate's own mean, in the metric's unit.

    Args:
        metric: metric that it judges.
        at_least: least mean that passes; None for no such bound.
        at_most: largest mean that passes; None for no such bound.
        within: cases that it judges over; all where None.

    Raises:
        DeclarationError: where no bound is given, one is not a finite number, or nothing lies between them.
    """
    bounds = {
        member: finite(f"candidate_mean({metric!r}): {member}", bound)
        for member, bound in (("at_least", at_least), ("at_most", at_most))
        if bound is not None
    }
    if not bounds:
        raise DeclarationError(f"candidate_mean({metric!r}) needs at_least, at_most, or both")
    if len(bounds) == 2 and bounds["at_least"] > bounds["at_most"]:
        raise DeclarationError(
            f"candidate_mean({metric!r}): no mean is at least {at_least} and at most {at_most}; swap them"
        )
    return Gate("candidate_mean", metric, options={**bounds, **within_option("candidate_mean", within)})


def budget(
    at_most: float,
    of: Literal["cost_usd", "input_tokens", "output_tokens", "tokens", "duration_s"] = "cost_usd",
    *,
    over: Literal["candidate", "campaign"] = "candidate",
    within: Within = None,
) -> Gate:
    """Return the gate over the total use of a resource; what nobody saw is unknown, never zero.

    Args:
        at_most: largest total that passes, in the unit of `of`: US dollars, tokens or seconds.
        of: resource; `tokens` are input and output tokens together.
        over: whether the candidate's own cells count, or those of the whole campaign.
        within: cases that it judges over; all where None.

    Raises:
        DeclarationError: where `at_most` is not a finite number of at least 0, or a word is another than these.
    """
    most = finite("budget: at_most", at_most)
    if most < 0:
        raise DeclarationError(f"budget: at_most is {most}, below 0")
    if of not in ("cost_usd", "input_tokens", "output_tokens", "tokens", "duration_s"):
        raise DeclarationError(
            f"budget: of {of!r} is none of cost_usd, input_tokens, output_tokens, tokens, duration_s"
        )
    if over not in ("candidate", "campaign"):
        raise DeclarationError(f"budget: over {over!r} is neither candidate nor campaign")
    return Gate("budget", options={"of": of, "at_most": most, "over": over, **within_option("budget", within)})
