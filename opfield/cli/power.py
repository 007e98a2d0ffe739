"""The command that plans: how many cases and repeats a change needs, from a pilot campaign."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from opfield.campaign.power import FEWEST_UNITS, MOST_CASES, PlannedSize, PowerPlan, PowerQuestion, power
from opfield.cli.options import campaign_argument, json_option, warehouse_option
from opfield.cli.render import out, plural, print_json, print_table, short, visible

#: Pilots of fewer units know their own spread too badly to be silent about it.
_FEW_UNITS: Final = 50


@click.command("power")
@campaign_argument
@click.option("--metric", help="Metric. [default: the one that the policy prefers]")
@click.option("--candidate", help="Label or id of a candidate. [default: the selected, or the one that varies most]")
@click.option("--effect", type=float, help="True change to show, in the metric's unit; 0 where there is a margin.")
@click.option("--margin", type=float, help="Loss that a noninferiority gate tolerates; plans for one.")
@click.option("--power", "chance", type=float, default=0.8, show_default=True, help="Chance that the gate passes.")
@click.option("--alpha", type=float, default=0.025, show_default=True, help="One-sided error rate of the gate.")
@click.option("--repeats", type=int, help="Repeats of each case. [default: several, compared]")
@warehouse_option
@json_option
def power_command(
    campaign: str | None,
    metric: str | None,
    candidate: str | None,
    effect: float | None,
    margin: float | None,
    chance: float,
    alpha: float,
    repeats: int | None,
    warehouse: Path | None,
    as_json: bool,
) -> int:
    """Plan cases and repeats: what a change needs to be shown, from the spread in a pilot campaign.

    The pilot is any campaign with pairs on two cases or more; the latest where none is named. Two repeats let it tell
    the variance between cases from the noise of repeats.
    """
    if effect is None and margin is None:
        raise click.UsageError("say which change is to be shown, with --effect X, or --margin X for noninferiority")
    question = PowerQuestion(effect or 0.0, margin, chance, alpha, repeats)
    plan = power(campaign, warehouse, question, metric=metric, candidate=candidate)
    if as_json:
        print_json({**asdict(plan), "findings": findings(plan)})
        return 0
    pilot, console = plan.pilot, out()
    console.print(
        visible(f"{pilot.name}  {short(pilot.campaign_id)}  {pilot.metric} of {pilot.candidate}: {_aim(question)}"),
        markup=False,
    )
    console.print(
        f"one-sided alpha {alpha:.6g}, power {chance:.6g}; variance between cases {_number(pilot.between)}, "
        f"of a repeat {_number(pilot.within)}",
        markup=False,
    )
    console.print()
    print_table([_row(each) for each in plan.sizes])
    console.print()
    for sentence in findings(plan):
        console.print(visible(sentence), markup=False)
    return 0


def findings(plan: PowerPlan) -> list[str]:
    """Return what a plan says, in sentences: what to run, whether repeats can help, and what it rests on."""
    return [_cheapest_in_words(plan), _repeats_in_words(plan), _pilot_in_words(plan), *_caveats(plan)]


def _row(size: PlannedSize) -> dict[str, Any]:
    return {
        "repeats": "without end" if size.repeats is None else f"{size.repeats:,}",
        "cases needed": f"over {MOST_CASES:,}" if size.cases is None else f"{size.cases:,}",
        "cells": None if size.cells is None else f"{size.cells:,}",
        "power": size.power,
        "smallest effect on the pilot's cases": size.smallest_effect,
    }


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"


def _aim(question: PowerQuestion) -> str:
    if question.margin is None:
        return f"a change of {question.effect:.6g}"
    return f"a true change of {question.effect:.6g} against a margin of {question.margin:.6g}"


def _cheapest_in_words(plan: PowerPlan) -> str:
    best = plan.cheapest
    if best is None:
        return f"No plan of at most {MOST_CASES:,} cases shows {_aim(plan.question)}; ask for a larger change."
    return (
        f"{'Needed' if plan.question.repeats else 'Cheapest'}: {plural(best.cases or 0, 'case')} with "
        f"{plural(best.repeats or 0, 'repeat')}, {plural(best.cells or 0, 'cell')} for the baseline and one candidate, "
        f"at a power of {best.power:.3f}."
    )


def _repeats_in_words(plan: PowerPlan) -> str:
    pilot, least = plan.pilot, plan.sizes[-1].smallest_effect
    if pilot.within is None:
        return (
            "No case was tried twice, so that nothing tells whether repeats would help; a pilot with two repeats can."
        )
    if not pilot.between:
        return (
            "The noise of repeats explains all that varies, so that repeats help as much as cases do: on the pilot's "
            f"cases {plural(plan.repeats_needed or 1, 'repeat')} would be enough."
        )
    cannot = f"repeats cannot bring the smallest effect below {least:.4g}, however many"
    if pilot.within == 0:
        return f"Repeats of a case are all alike: on the pilot's cases {cannot}; only more cases can."
    if plan.repeats_needed is None:
        return f"On the pilot's cases {cannot}; only more cases can."
    return f"On the pilot's cases {plural(plan.repeats_needed, 'repeat')} would be enough; {cannot}."


def _pilot_in_words(plan: PowerPlan) -> str:
    pilot = plan.pilot
    return (
        f"The pilot itself, {plural(pilot.cases, 'case')} of {pilot.repeats:.4g} pairs each, had a power of "
        f"{plan.pilot_power:.3f} for this; the smallest change that it could have shown with a power of "
        f"{plan.question.power:.6g} is {plan.pilot_smallest:.4g}."
    )


def _caveats(plan: PowerPlan) -> list[str]:
    pilot, told, df = plan.pilot, [], plan.pilot.clusters - 1
    if pilot.clusters < _FEW_UNITS:
        # The interval of a variance by the chi-squared distribution, as factors of the standard deviation.
        from scipy.stats import chi2

        low, high = (math.sqrt(df / float(chi2.ppf(each, df))) for each in (0.975, 0.025))
        told.append(
            f"{pilot.clusters} independent units know their standard deviation to within a factor of {low:.2f} to "
            f"{high:.2f} (95 %), and a number of cases to its square."
        )
    if pilot.clusters < pilot.cases:
        told.append("Cases share clusters; the plan is for cases that come in clusters like the pilot's.")
    if any(each.cases is not None and pilot.units(each.cases) <= FEWEST_UNITS for each in plan.sizes):
        told.append(
            f"Fewer than {FEWEST_UNITS} independent units are not planned for: a gate by Student's t does not decide "
            "on them unless its min_cases says so."
        )
    if pilot.missing:
        told.append(
            f"{plural(pilot.missing, 'declared pair')} of the pilot found no value; the plan rests on the rest."
        )
    if pilot.kind == "binary":
        told.append(
            "The metric is binary: these are numbers of Student's t on paired differences, which approximate those of "
            "the score that judges one repeat a case; where few cases change, that score asks for more."
        )
    if pilot.infers_to == "these_cases":
        told.append(
            "The pilot's policy infers to these very cases; the plan is for one that infers to cases like these."
        )
    return told


COMMANDS: Final = (power_command,)
