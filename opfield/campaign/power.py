"""Power: from a pilot campaign, how many cases and repeats a change needs to be shown (DESIGN §10).

A plan, no verdict: it rests on the view `variance_components` and on the noncentral t distribution of a mean over
independent units, which is what the gates by Student's t compare with their quantile.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from opfield.campaign.damage import meant_campaign, undamaged
from opfield.campaign.pilot import Pilot, read_pilot
from opfield.decision.gate import finite
from opfield.errors import DeclarationError, OpfieldError
from opfield.warehouse.notebook import Shown, facts_html, table_html
from opfield.warehouse.session import Warehouse, open_warehouse

#: What there is not where the pilot is damaged.
_LACKING: Final = "plan"
#: Repeats that are planned for where none are asked.
REPEATS: Final = (1, 2, 3, 5, 10, 20)
#: Fewest independent units on which a gate by Student's t decides, unless it is declared otherwise.
FEWEST_UNITS: Final = 20
#: Most cases that a plan looks for.
MOST_CASES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class PowerQuestion:
    """What a campaign is to show, and how surely.

    Attributes:
        effect: true mean oriented change, in the metric's unit; above 0 unless there is a margin. Where a superiority
            gate asks for more than 0, it is what the change exceeds that by.
        margin: largest loss that a noninferiority gate tolerates, above 0; None to plan for superiority.
        power: chance with which the gate is to pass, above `alpha` and below 1.
        alpha: one-sided error rate of the gate, above 0 and below 0.5.
        repeats: repeats of each case; None compares several numbers of them.
    """

    effect: float
    margin: float | None = None
    power: float = 0.8
    alpha: float = 0.025
    repeats: int | None = None

    def __post_init__(self) -> None:
        """Refuse a question that has no answer.

        Raises:
            DeclarationError: naming the member, the value and the bound.
        """
        effect = finite("effect", self.effect)
        alpha, power = finite("alpha", self.alpha), finite("power", self.power)
        if not 0 < alpha < 0.5:
            raise DeclarationError(f"alpha is {alpha}, not above 0 and below 0.5")
        if not alpha < power < 1:
            raise DeclarationError(f"power is {power}, not above alpha, {alpha}, and below 1")
        if self.margin is None and effect <= 0:
            raise DeclarationError(f"effect is {effect}, not above 0; for a loss that is tolerated give a margin")
        if self.margin is not None and finite("margin", self.margin) <= 0:
            raise DeclarationError(f"margin is {self.margin}, not above 0")
        if self.margin is not None and effect + self.margin <= 0:
            raise DeclarationError(f"effect is {effect}, a loss not smaller than the margin of {self.margin}")
        if self.repeats is not None and (
            isinstance(self.repeats, bool) or not isinstance(self.repeats, int) or self.repeats < 1
        ):
            raise DeclarationError(f"repeats {self.repeats!r} is not a whole number above 0")

    @property
    def shift(self) -> float:
        """How far the true change lies above the line that it is compared with."""
        return float(self.effect + (self.margin or 0.0))


@dataclass(frozen=True, slots=True)
class PlannedSize:
    """A size of campaign that shows the effect.

    Attributes:
        repeats: repeats of each case; None for without end.
        cases: fewest cases; None where more than `MOST_CASES` are needed.
        cells: cells of the baseline and one candidate; None where there are no cases or repeats.
        power: power of that many cases; None where there are none.
        smallest_effect: smallest effect that the pilot's cases show with so many repeats.
    """

    repeats: int | None
    cases: int | None
    cells: int | None
    power: float | None
    smallest_effect: float


@dataclass(frozen=True, slots=True)
class PowerPlan:
    """How many cases and repeats an effect needs.

    Attributes:
        question: what was asked.
        pilot: what the answer rests on.
        sizes: a size for each number of repeats, the last one without end where the pilot can tell.
        cheapest: the size with the fewest cells, and of several the one with the fewest repeats; None where none is
            enough.
        pilot_power: chance with which the pilot itself would have shown the effect.
        pilot_smallest: smallest effect that the pilot itself would have shown with the power asked.
        repeats_needed: repeats with which the pilot's cases would show the effect; None where no number of them would,
            or the pilot cannot tell.
    """

    question: PowerQuestion
    pilot: Pilot
    sizes: tuple[PlannedSize, ...]
    cheapest: PlannedSize | None
    pilot_power: float
    pilot_smallest: float
    repeats_needed: int | None

    def _repr_html_(self) -> str:
        told = {name: getattr(self, name) for name in ("pilot_power", "pilot_smallest", "repeats_needed")}
        sizes = [tuple(asdict(size).values()) for size in self.sizes]
        names = tuple(each.name for each in fields(PlannedSize))
        question = facts_html("power", {**asdict(self.question), **told})
        return question + table_html(Shown("sizes that show the effect", names, tuple(sizes), len(sizes)))


def power(
    campaign: str | None = None,
    warehouse: Warehouse | Path | str | None = None,
    question: PowerQuestion | None = None,
    *,
    metric: str | None = None,
    candidate: str | None = None,
    **more: Any,
) -> PowerPlan:
    """Return how many cases and repeats an effect needs, from what a pilot campaign shows of the spread.

    Args:
        campaign: the pilot, by id, beginning of it, or name; the latest campaign where None.
        warehouse: the warehouse, or its folder; `$OPFIELD_WAREHOUSE` or `./warehouse` where None.
        question: what is to be shown; made from `more` where None.
        metric: metric; the one that the pilot's policy prefers, or its only one, where None.
        candidate: label of the candidate, or the beginning of its id; the selected one, or the one whose mean delta
            varies most, where None.
        **more: members of `PowerQuestion`.

    Raises:
        DeclarationError: where the question has no answer.
        UnknownNameError: where the pilot has no such metric or candidate.
        DamageError: where files of the pilot are not what was written.
        OpfieldError: where the pilot shows nothing of the spread; saying what would.
    """
    asked = replace(question, **more) if question is not None else PowerQuestion(**more)
    opened = warehouse if isinstance(warehouse, Warehouse) else open_warehouse(warehouse, is_snapshot=True)
    campaign_id = meant_campaign(opened, campaign, _LACKING)
    with undamaged(opened.root, campaign_id, _LACKING):
        return plan_for(asked, read_pilot(opened, campaign_id, metric, candidate))


def plan_for(question: PowerQuestion, pilot: Pilot) -> PowerPlan:
    """Return how many cases and repeats the effect asked about needs.

    Raises:
        OpfieldError: where the question names repeats, and the pilot cannot tell what they would bring.
    """
    if pilot.within is None and question.repeats not in (None, 1):
        raise OpfieldError(
            f"campaign {pilot.name!r} tried no case twice, so that it cannot tell what {question.repeats} repeats "
            "bring; run a pilot with two repeats or more, or leave the repeats out"
        )
    sizes = [_size(question, pilot, each) for each in _repeats_asked(question, pilot)]
    enough = [each for each in sizes if each.cells is not None]
    if pilot.within is not None:
        sizes.append(_size(question, pilot, None))
    df = pilot.clusters - 1
    error = math.sqrt(pilot.mean_variance)
    return PowerPlan(
        question=question,
        pilot=pilot,
        sizes=tuple(sizes),
        cheapest=min(enough, key=lambda each: (each.cells, each.repeats), default=None),
        pilot_power=power_of(question.shift, error, df, question.alpha),
        pilot_smallest=smallest_shift(error, df, question) - (question.margin or 0.0),
        repeats_needed=_repeats_needed(question, pilot),
    )


def power_of(shift: float, standard_error: float, df: int, alpha: float) -> float:
    """Return the chance that a one-sided test by Student's t at level `alpha` refutes its line.

    With true mean `shift` above the line, t follows the noncentral t distribution with noncentrality shift /
    standard_error (Lehmann and Romano, Testing Statistical Hypotheses, 5.2).

    >>> round(power_of(0.5, 0.5, 19, 0.025), 4), power_of(1.0, 0.0, 19, 0.025)
    (0.1563, 1.0)
    """
    # SciPy's distributions take a third of a second to load, which only a plan should pay.
    from scipy.stats import nct, norm, t

    if standard_error == 0:
        return 1.0 if shift > 0 else 0.0
    critical, noncentrality = float(t.isf(alpha, df)), shift / standard_error
    found = float(nct.sf(critical, df, noncentrality))
    # Far out the series underflow; the normal distribution is exact there to what a double holds.
    return min(1.0, max(0.0, found)) if math.isfinite(found) else float(norm.sf(critical - noncentrality))


def smallest_shift(standard_error: float, df: int, question: PowerQuestion) -> float:
    """Return how far above its line a mean must lie to be shown with the power asked; the minimum detectable effect."""
    from scipy.optimize import brentq

    upper = 1.0
    while power_of(upper, 1.0, df, question.alpha) < question.power:
        upper *= 2
    found = brentq(lambda each: power_of(each, 1.0, df, question.alpha) - question.power, 0.0, upper, xtol=1e-12)
    return float(found) * standard_error


def _repeats_asked(question: PowerQuestion, pilot: Pilot) -> list[int]:
    if question.repeats is not None:
        return [question.repeats]
    return list(REPEATS) if pilot.within is not None else [1]


def _size(question: PowerQuestion, pilot: Pilot, repeats: int | None) -> PlannedSize:
    variance = pilot.variance_of_case(repeats if repeats is not None else math.inf)
    assert variance is not None  # only numbers of repeats that the pilot can tell of are asked for
    cases = _fewest_cases(question, pilot, variance)
    return PlannedSize(
        repeats=repeats,
        cases=cases,
        cells=None if cases is None or repeats is None else cases * repeats * 2,
        power=None if cases is None else _power_of_cases(question, pilot, variance, cases),
        smallest_effect=smallest_shift(math.sqrt(variance / pilot.cases), pilot.clusters - 1, question)
        - (question.margin or 0.0),
    )


def _power_of_cases(question: PowerQuestion, pilot: Pilot, variance: float, cases: int) -> float:
    return power_of(question.shift, math.sqrt(variance / cases), pilot.units(cases) - 1, question.alpha)


def _fewest_cases(question: PowerQuestion, pilot: Pilot, variance: float) -> int | None:
    """Return the fewest cases with the power asked, by bisection: power grows with the number of cases."""

    def is_enough(cases: int) -> bool:
        return _power_of_cases(question, pilot, variance, cases) >= question.power

    low, high = -(-FEWEST_UNITS * pilot.cases // pilot.clusters), MOST_CASES
    if is_enough(low):
        return low
    if low >= high or not is_enough(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _repeats_needed(question: PowerQuestion, pilot: Pilot) -> int | None:
    """Return with how many repeats the pilot's own cases show the effect; None where with none, or it cannot tell."""
    if pilot.between is None or pilot.within is None:
        return None
    allowed = pilot.cases * (question.shift / smallest_shift(1.0, pilot.clusters - 1, question)) ** 2
    if allowed <= pilot.between:
        return None if pilot.within or allowed < pilot.between else 1
    needed = pilot.within / (allowed - pilot.between)
    return max(1, math.ceil(needed)) if math.isfinite(needed) else None
