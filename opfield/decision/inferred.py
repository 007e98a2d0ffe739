"""Gates that infer a mean from a sample of cases, each wrong in at most a declared share of campaigns (§47.5).

What each assumes, its formula and its measured error rate stand in docs/reference/gates.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from opfield.decision.gate import Gate, Within, finite, within_option
from opfield.errors import DeclarationError

Resource = Literal["duration_s", "cost_usd", "input_tokens", "output_tokens", "tokens"]

RESOURCES = ("duration_s", "cost_usd", "input_tokens", "output_tokens", "tokens")


def superiority(
    metric: str,
    by: float = 0.0,
    *,
    alpha: float = 0.025,
    method: Literal["by_kind", "bounded"] = "by_kind",
    min_cases: int | None = None,
    within: Within = None,
) -> Gate:
    """Return the gate that passes where the candidate is shown to be better by more than `by`.

    Args:
        metric: metric that it judges.
        by: what the mean oriented change must exceed, in the metric's unit; at least 0.
        alpha: one-sided error rate, above 0 and below 0.5.
        method: `by_kind` follows the metric's kind; `bounded` bets within its declared range and holds for any
            distribution in it.
        min_cases: fewest independent units on which Student's t may decide; 20 where None.
        within: cases that it judges over; all where None.

    Raises:
        DeclarationError: naming the argument that is out of its range.
    """
    line = _at_least_0(f"superiority({metric!r}): by", by)
    return Gate("superiority", metric, line, _options("superiority", alpha, method, min_cases, within))


def noninferiority(
    metric: str,
    margin: float,
    *,
    alpha: float = 0.025,
    method: Literal["by_kind", "bounded"] = "by_kind",
    min_cases: int | None = None,
    within: Within = None,
) -> Gate:
    """Return the gate that passes where the candidate is shown to be worse by less than `margin`.

    Args:
        metric: metric that it judges.
        margin: largest loss that is tolerated, in the metric's unit; above 0.
        alpha: as for `superiority`.
        method: as for `superiority`.
        min_cases: as for `superiority`.
        within: as for `superiority`.

    Raises:
        DeclarationError: naming the argument that is out of its range.
    """
    line = _above_0(f"noninferiority({metric!r}): margin", margin)
    return Gate("noninferiority", metric, line, _options("noninferiority", alpha, method, min_cases, within))


def binary_superiority(metric: str, by: float = 0.0, *, alpha: float = 0.025, within: Within = None) -> Gate:
    """Return `superiority` for a binary metric tried once a case: Tango's score with McNemar's exact test as a veto.

    Args:
        metric: metric that it judges, of kind binary.
        by: what the difference of the paired proportions must exceed; at least 0.
        alpha: as for `superiority`.
        within: as for `superiority`.

    Raises:
        DeclarationError: naming the argument that is out of its range.
    """
    line = _at_least_0(f"binary_superiority({metric!r}): by", by)
    return Gate("binary_superiority", metric, line, _options("binary_superiority", alpha, within=within))


def binary_noninferiority(metric: str, margin: float, *, alpha: float = 0.025, within: Within = None) -> Gate:
    """Return `noninferiority` for a binary metric tried once a case, by Tango's score.

    Args:
        metric: metric that it judges, of kind binary.
        margin: largest loss of the proportion that is tolerated; above 0.
        alpha: as for `superiority`.
        within: as for `superiority`.

    Raises:
        DeclarationError: naming the argument that is out of its range.
    """
    line = _above_0(f"binary_noninferiority({metric!r}): margin", margin)
    return Gate("binary_noninferiority", metric, line, _options("binary_noninferiority", alpha, within=within))


def equivalence(
    metric: str,
    margin: float,
    *,
    alpha: float = 0.025,
    method: Literal["by_kind", "bounded"] = "by_kind",
    min_cases: int | None = None,
    within: Within = None,
) -> Gate:
    """Return the gate that passes where the candidate is shown to be neither better nor worse by `margin` or more.

    Args:
        metric: metric that it judges.
        margin: change that matters, in the metric's unit; above 0.
        alpha: error rate of each of the two one-sided tests.
        method: as for `superiority`.
        min_cases: as for `superiority`.
        within: as for `superiority`.

    Raises:
        DeclarationError: naming the argument that is out of its range.
    """
    line = _above_0(f"equivalence({metric!r}): margin", margin)
    return Gate("equivalence", metric, line, _options("equivalence", alpha, method, min_cases, within))


def harm(
    metric: str,
    beyond: float = 0.0,
    *,
    alpha: float = 0.025,
    method: Literal["by_kind", "bounded"] = "by_kind",
    within: Within = None,
) -> Gate:
    """Return the gate that fails only where harm is shown, and otherwise says that none is shown.

    Args:
        metric: metric that it judges.
        beyond: loss that is tolerated, in the metric's unit; at least 0.
        alpha: as for `superiority`.
        method: as for `superiority`.
        within: as for `superiority`.

    Raises:
        DeclarationError: naming the argument that is out of its range.
    """
    line = _at_least_0(f"harm({metric!r}): beyond", beyond)
    return Gate("harm", metric, line, _options("harm", alpha, method, within=within))


def family(
    metric: str,
    by: float = 0.0,
    *,
    alpha: float = 0.025,
    method: Literal["holm", "max_t", "bounded"] = "holm",
    min_cases: int | None = None,
    within: Within = None,
) -> Gate:
    """Return `superiority` for many candidates at once: wrong about any of them in at most `alpha` of all campaigns.

    Args:
        metric: metric that it judges.
        by: what the mean oriented change must exceed, in the metric's unit; below 0 for a loss that is tolerated.
        alpha: error rate of the whole family of declared candidates.
        method: `holm` adjusts the p-values of the candidates, `bounded` those of bets within the metric's range;
            `max_t` permutes signs alike for all candidates, and finds more where they are alike.
        min_cases: as for `superiority`.
        within: as for `superiority`.

    Raises:
        DeclarationError: naming the argument that is out of its range.
    """
    if method not in ("holm", "max_t", "bounded"):
        raise DeclarationError(f"family({metric!r}): method {method!r} is none of holm, max_t, bounded")
    line = finite(f"family({metric!r}): by", by)
    return Gate("family", metric, line, {**_options("family", alpha, None, min_cases, within), "method": method})


def sequential(
    metric: str,
    by: float = 0.0,
    *,
    looks: Sequence[int] | None = None,
    spending: Literal["obrien_fleming", "even", "e_process"] = "obrien_fleming",
    alpha: float = 0.025,
    method: Literal["by_kind", "bounded"] = "by_kind",
    min_cases: int | None = None,
) -> Gate:
    """Return `superiority` that looks at the evidence as it comes, and lets the campaign stop as soon as it is settled.

    The campaign stops early only where no other gate of the policy infers over all cases: judged wherever this one
    stops, such a gate would err more often than it says.

    Args:
        metric: metric that it judges.
        by: what the mean oriented change must exceed, in the metric's unit; at least 0.
        looks: numbers of cases at which it looks, rising; the cases come in an order registered beforehand. An
            `e_process` without looks may stop at each tenth of the cases.
        spending: how `alpha` is spread over the looks: `obrien_fleming` spends little early, `even` alike at each;
            `e_process` bets within the metric's declared range and holds at any time.
        alpha: error rate of all looks together.
        method: as for `superiority`.
        min_cases: as for `superiority`, at each look.

    Raises:
        DeclarationError: naming the argument that is out of its range.
    """
    what = f"sequential({metric!r})"
    if spending not in ("obrien_fleming", "even", "e_process"):
        raise DeclarationError(f"{what}: spending {spending!r} is none of obrien_fleming, even, e_process")
    if looks is None and spending != "e_process":
        raise DeclarationError(f"{what}: name the looks, such as looks=(50, 100, 200), or use spending='e_process'")
    options = {**_options("sequential", alpha, method, min_cases), "spending": spending}
    if looks is not None:
        listed = list(looks)
        if not listed or not all(isinstance(each, int) and not isinstance(each, bool) for each in listed):
            raise DeclarationError(f"{what}: looks {looks!r} are not whole numbers of cases")
        if listed[0] < 1 or listed != sorted(set(listed)):
            raise DeclarationError(f"{what}: looks {listed} do not rise from at least 1")
        options["looks"] = listed
    return Gate("sequential", metric, _at_least_0(f"{what}: by", by), options)


def reliability(
    metric: str,
    at_least: float,
    k: int,
    *,
    alpha: float = 0.025,
    method: Literal["by_kind", "bounded"] = "by_kind",
    min_cases: int | None = None,
    within: Within = None,
) -> Gate:
    """Return the gate that passes where the candidate is shown to succeed `k` times in a row on enough cases.

    Args:
        metric: metric that it judges, of kind binary.
        at_least: what the mean of pass^k over cases must exceed, between 0 and 1.
        k: tries that must all succeed; at most the campaign's repeats.
        alpha: as for `superiority`.
        method: as for `superiority`.
        min_cases: as for `superiority`.
        within: as for `superiority`.

    Raises:
        DeclarationError: naming the argument that is out of its range.
    """
    what = f"reliability({metric!r})"
    floor = finite(f"{what}: at_least", at_least)
    if not 0 <= floor <= 1:
        raise DeclarationError(f"{what}: at_least is {floor}, not between 0 and 1")
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise DeclarationError(f"{what}: k {k!r} is not a whole number of at least 1")
    return Gate("reliability", metric, floor, {**_options("reliability", alpha, method, min_cases, within), "k": k})


def resource_ratio(
    of: Resource, at_most: float, *, alpha: float = 0.025, min_cases: int | None = None, within: Within = None
) -> Gate:
    """Return the gate that passes where the candidate is shown to use less than `at_most` times the baseline's.

    Args:
        of: resource: duration_s, cost_usd, input_tokens, output_tokens or tokens (both). Failed cells count.
        at_most: largest ratio of the mean uses; above 0.
        alpha: as for `superiority`.
        min_cases: as for `superiority`.
        within: as for `superiority`.

    Raises:
        DeclarationError: naming the argument that is out of its range.
    """
    if of not in RESOURCES:
        raise DeclarationError(f"resource_ratio: of {of!r} is none of {', '.join(RESOURCES)}")
    line = _above_0(f"resource_ratio({of!r}): at_most", at_most)
    options = {**_options("resource_ratio", alpha, None, min_cases, within), "of": of}
    return Gate("resource_ratio", None, line, options, f"resource_ratio({of})")


def rate(what: str, alpha: object) -> float:
    """Return a one-sided error rate.

    Raises:
        DeclarationError: where it is not above 0 and below 0.5.
    """
    number = finite(f"{what}: alpha", alpha)
    if not 0 < number < 0.5:
        raise DeclarationError(f"{what}: alpha is {number}, not above 0 and below 0.5")
    return number


def _options(
    what: str, alpha: float, method: str | None = None, min_cases: int | None = None, within: Within = None
) -> dict[str, Any]:
    options: dict[str, Any] = {"alpha": rate(what, alpha), **within_option(what, within)}
    if method is not None:
        if method not in ("by_kind", "bounded"):
            raise DeclarationError(f"{what}: method {method!r} is neither by_kind nor bounded")
        options["method"] = method
    if min_cases is not None:
        if isinstance(min_cases, bool) or not isinstance(min_cases, int) or min_cases < 2:
            raise DeclarationError(f"{what}: min_cases {min_cases!r} is not a whole number of at least 2")
        options["min_cases"] = min_cases
    return options


def _at_least_0(what: str, value: object) -> float:
    number = finite(what, value)
    if number < 0:
        raise DeclarationError(f"{what} is {number}, below 0; a loss that is tolerated is the margin of noninferiority")
    return number


def _above_0(what: str, value: object) -> float:
    number = finite(what, value)
    if number <= 0:
        raise DeclarationError(f"{what} is {number}, not above 0")
    return number
